#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy with the checks of .clang-tidy; only what has changed since is looked at again.
. "$(dirname "$0")/tap.sh"

tap_need clang-tidy
${MAKE:-make} -s --no-print-directory -k -j"${JOBS:-2}" tidy >/dev/null 2>&1
for src in src/*.c src/*/*.c src/*/*/*.c; do
	[ -e "$src" ] || continue
	stamp=build/tidy/${src#src/}
	stamp=${stamp%.c}
	if [ -e "$stamp.ok" ]; then
		tap "$src" ""
	else
		tap "$src" "$(cat "$stamp.txt" 2>/dev/null || echo 'not looked at')"
	fi
done
tap_end
