#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What triage sees is read by a rule, what its rules wait for can be seen, and no remedy or finding
# is out of reach (scripts/check-signs.py says how).
. "$(dirname "$0")/tap.sh"

tap_need python3
log=$(python3 -B scripts/check-signs.py 2>&1)
rc=$?
of() { # KIND
	grep -a "^$1: " <<<"$log" | head -n 30
}
tap "a row of the table of signatures is read, or says that it is shown" "$(of row)"
tap "a tag of that table is read, and more than one row has it" "$(of tag)"
tap "the sign of an extractor is read" "$(of sign)"
tap "what a condition names is made by something, and no condition contradicts itself" "$(of term)"
tap "no remedy is hidden by an earlier one of its finding" "$(of hidden)"
tap "every finding is reported by something" "$(of finding)"
tap "nothing else is wrong" "$([ $rc -eq 0 ] || printf '%s\n' "$log" | tail -n 1)"
tap_end
