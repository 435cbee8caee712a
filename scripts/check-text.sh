#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a reader's editor would stumble over: no licence line, lines over 100 columns (a tab is 8;
# in C and in scripts, not in test cases and recipes),
# blanks at the end, CR, no newline at the end, spaces where C is indented by tabs.
. "$(dirname "$0")/tap.sh"

check() { # name awk-program files
	local name=$1 program=$2
	shift 2
	[ $# -gt 0 ] || return 0
	tap "$name" "$(awk "$program" "$@" | head -n 400)"
}

mapfile -t code < <(tap_files -name '*.[ch]' -o -name '*.def' -o -name '*.S' -o -name '*.sh' \
	-o -name '*.bats' -o -path './tests/*.py' -o -path './scripts/*.py' -o -path ./.ci/run \
	-o -name Makefile)
mapfile -t wide < <(printf '%s\n' "${code[@]}" | grep -E '\.(c|h|def|S|sh)$')
mapfile -t c < <(tap_files -name '*.[ch]' -o -name '*.def')
mapfile -t text < <(tap_files -name '*.[ch]' -o -name '*.def' -o -name '*.sh' -o -name '*.bats' \
	-o -name '*.py' -o -name '*.scd' -o -name '*.md' -o -name Makefile -o -path ./.ci/run)

check "licence line first" '
	FNR <= 3 && /SPDX-License-Identifier: Apache-2\.0/ { seen[FILENAME] = 1 }
	FNR == 1 { file[FILENAME] = 1 }
	END { for (f in file) if (!seen[f]) print f }' "${code[@]}"
check "no blanks at the end of a line, no CR" '/[ \t\r]$/ { print FILENAME ":" FNR }' "${text[@]}"
# shellcheck disable=SC2016
check "at most 100 columns" '
	{
		col = 0; line = $0
		# Up to 132 by what stands in strings, so that a message stays searchable as one.
		if (length(line) <= 132)
			gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
		# Bytes that continue a UTF-8 character take no column.
		gsub(/[\200-\277]/, "", line)
		n = split(line, part, "\t")
		for (i = 1; i <= n; i++) {
			col += length(part[i])
			if (i < n)
				col = int(col / 8) * 8 + 8
		}
		if (col > 100)
			print FILENAME ":" FNR ": " col
	}' "${wide[@]}"
check "C is indented by tabs" '
	/^ +[^ *]/ { print FILENAME ":" FNR }' "${c[@]}"
bad=$(for f in "${text[@]}"; do
	[ -z "$(tail -c 1 "$f")" ] || echo "$f"
done)
tap "a newline at the end" "$bad"
tap_end
