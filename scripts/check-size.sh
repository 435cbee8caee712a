#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A source file has at most 600 lines, a function at most 60, from its opening to its closing brace
# in column 1; in tests, being lists of cases, 900 and 150. What is larger needs a line with a
# reason in scripts/size-allow.
. "$(dirname "$0")/tap.sh"

file_max=600 test_max=900 function_max=60 case_max=150
files=$(tap_files -path './src/*.[ch]' -o -path './tests/*.[ch]' -o -name '*.sh' -o -name '*.bats')
sizes=$(mktemp)
trap 'rm -f "$sizes"' EXIT
# "file F lines" and "function F:NAME lines", of everything.
# shellcheck disable=SC2086
awk '
	FNR == 1 && NR > 1 { print "file", last, lines }
	{ last = FILENAME; lines = FNR }
	FILENAME !~ /\.c$/ { next }
	# The header of a function begins in column 1; the name stands before its first "(".
	/^[A-Za-z_].*\(/ && !/^(#|typedef|struct [A-Za-z_]+ \{)/ && !/;[ \t]*$/ {
		name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
	}
	/^\{/ { start = FNR }
	/^\}/ && start {
		if (name != "")
			print "function", FILENAME ":" name, FNR - start + 1
		start = 0; name = ""
	}
	END { print "file", last, lines }' $files >"$sizes"

bad=$(awk -v fm=$file_max -v tm=$test_max -v nm=$function_max -v cm=$case_max '
	FILENAME ~ /size-allow$/ {
		if ($0 ~ /^#/ || NF == 0)
			next
		if (NF < 4)
			print "scripts/size-allow:" FNR ": no reason given"
		allow[$1 " " $2] = $3; needed[$1 " " $2] = 0
		next
	}
	{
		key = $1 " " $2
		test = $2 ~ /^tests\//
		max = $1 == "file" ? (test ? tm : fm) : (test ? cm : nm)
		if ($3 <= max)
			next
		if (key in allow && $3 <= allow[key]) {
			needed[key] = 1
			next
		}
		print $2 ": " $3 " lines, at most " (key in allow ? allow[key] : max)
	}
	END {
		for (key in needed)
			if (!needed[key])
				print "scripts/size-allow: not needed: " key
	}' scripts/size-allow "$sizes")
tap "files and functions stay small ($(wc -l <"$sizes") measured)" "$bad"
tap_end
