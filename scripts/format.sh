#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Wraps the lines of C that are wider than 100 columns with clang-format, in the files named or in
# all; and turns leading blanks into tabs. It touches nothing else, so that a change stays
# readable, and leaves strings whole. Look at what it did.
cd "$(dirname "$0")/.." || exit 1
set -u

[ $# -gt 0 ] || mapfile -t files < <(find src tests \( -path tests/roots -o -path tests/data \) \
	-prune -o -type f -name '*.[ch]' -print)
[ $# -eq 0 ] || files=("$@")
for file in "${files[@]}"; do
	mapfile -t lines < <(expand -t 8 "$file" | awk 'length($0) > 100 { print "--lines=" NR ":" NR }')
	[ ${#lines[@]} -eq 0 ] || clang-format -i "${lines[@]}" "$file"
	! grep -q '^	* \{8\}' "$file" || sed -i ':a;s/^\(\t*\) \{8\}/\1\t/;ta' "$file"
done
