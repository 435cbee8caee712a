#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The tables of data/compat are whole: sorted, unique, dated, with their sources, and every
# reference has its row (scripts/compat/check.py says how).
. "$(dirname "$0")/tap.sh"

tap_need python3
if ! python3 -c 'import jsonschema' 2>/dev/null; then
	[ "${CI:-}" = true ] && { tap "python3-jsonschema is installed" "not found"; tap_end; }
	echo "1..0 # skip python3-jsonschema is not installed"
	exit 0
fi
# A problem is a line that begins with the table's name; what begins otherwise is of all of them.
log=$(python3 -B scripts/compat/check.py 2>&1)
rc=$?
for table in data/compat/*.json; do
	name=$(basename "$table" .json)
	tap "$name" "$(grep -aE "^${name}[: ]" <<<"$log" | head -n 30)"
done
tap "nothing else is wrong" "$([ $rc -eq 0 ] || printf '%s\n' "$log" | tail -n 1)"
tap_end
