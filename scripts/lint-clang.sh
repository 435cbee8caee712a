#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The sources compile under clang too, without a warning: who has no gcc can build them.
. "$(dirname "$0")/tap.sh"

tap_need clang
flags=$(CC=clang ${MAKE:-make} -s --no-print-directory CC=clang print-cflags) || flags=
[ -n "$flags" ] || { tap "flags of the build" "make print-cflags failed"; tap_end; }
eval "flags=($flags)"
for src in src/*.c src/*/*.c src/*/*/*.c; do
	[ -e "$src" ] || continue
	tap "$src" "$(clang "${flags[@]}" -Werror -fsyntax-only "$src" 2>&1)"
done
tap_end
