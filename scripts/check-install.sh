#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `make install` puts the program where it says, it runs from there, and `make uninstall` takes away
# every file again and nothing else; neither writes outside DESTDIR.
. "$(dirname "$0")/tap.sh"

make=${MAKE:-make}
dest=$(mktemp -d)
trap 'rm -rf "$dest"' EXIT
mkdir -p "$dest/usr/share/doc"
echo mine >"$dest/usr/share/doc/other"
log=$("$make" --no-print-directory install DESTDIR="$dest" PREFIX=/usr 2>&1) && log=
tap "install" "$log"
tap "the program is there and runs" \
	"$("$dest/usr/bin/cuvet" --version 2>&1 >/dev/null || echo "exit $?")"
log=$("$make" --no-print-directory install-lib DESTDIR="$dest" PREFIX=/usr 2>&1) && log=
tap "install the library" "$log"
if command -v pkg-config >/dev/null; then
	flags=$(PKG_CONFIG_PATH=$dest/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$dest \
		pkg-config --cflags --libs libcuvet 2>&1) || log=$flags
	# shellcheck disable=SC2086
	tap "a program is built and runs with what was installed" "$log$(
		${CC:-cc} -o "$dest/example" docs/examples/check.c $flags 2>&1 &&
		LD_LIBRARY_PATH=$dest/usr/lib "$dest/example" gpu=T4 2>&1 >/dev/null; rc=$?
		[ $rc -le 1 ] || echo "exit $rc"; rm -f "$dest/example")"
fi
log=$("$make" --no-print-directory uninstall DESTDIR="$dest" PREFIX=/usr 2>&1) && log=
tap "uninstall" "$log"
tap "nothing is left" "$(find "$dest" ! -type d ! -path "$dest/usr/share/doc/other";
	find "$dest" -name '*cuvet*')"
tap "what others put there is left" "$([ -e "$dest/usr/share/doc/other" ] || echo gone)"
# What the build makes is below build/ and ignored.
if git rev-parse --git-dir >/dev/null 2>&1 && [ "${CI:-}" = true ]; then
	tap "no untracked file after a build" \
		"$(git status --porcelain --untracked-files=all | head -n 20)"
fi
tap_end
