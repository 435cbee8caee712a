#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# arch.sh: builds the Arch package from the source tarball with makepkg into build/arch, as the user
# nobody when this is root. Outside of Arch what it depends on is not looked up.
set -eu
umask 022
cd "$(dirname "$0")/.."
version=$(cat VERSION)
command -v makepkg >/dev/null || { echo "arch: makepkg is missing" >&2; exit 1; }
pacman=pacman
command -v pacman >/dev/null || pacman=true

# Not below the work tree: another user may not be let in there.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tarball=$(sh packaging/dist.sh "$work")
cp packaging/PKGBUILD "$work/"
TARBALL=$tarball sh packaging/fill.sh "$work/PKGBUILD"
set -- env -i HOME="$work" PATH=/usr/bin:/bin PACMAN=$pacman makepkg -d -f
if [ "$(id -u)" -eq 0 ]; then
	chown -R nobody "$work"
	set -- setpriv --reuid nobody --regid "$(id -g nobody)" --clear-groups "$@"
fi
mkdir -p build/arch
(cd "$work" && "$@") >build/arch/log 2>&1 || { tail -n 15 build/arch/log >&2; exit 1; }
package=$(ls "$work"/cuvet-"$version"-1-*.pkg.tar.*)
tar -xf "$package" -C "$work/pkg" usr/bin/cuvet
"$work/pkg/usr/bin/cuvet" --version | grep -qx "cuvet $version"
cp "$package" build/arch/
echo "arch: builds and runs: build/arch/$(basename "$package")"
