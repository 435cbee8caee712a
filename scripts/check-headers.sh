#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every header compiles by itself, twice in a row (its guard holds), and without a warning.
. "$(dirname "$0")/tap.sh"

cc=${CC:-cc}
flags=$(${MAKE:-make} -s --no-print-directory print-cflags) || flags=
[ -n "$flags" ] || { tap "flags of the build" "make print-cflags failed"; tap_end; }
eval "flags=($flags)"
while IFS= read -r header; do
	bad=$(printf '#include "%s"\n#include "%s"\n' "${header#src/}" "${header#src/}" |
		$cc "${flags[@]}" -Werror -fsyntax-only -x c - 2>&1)
	tap "$header" "$bad"
done < <(find src -name '*.h' | sort)
tap_end
