#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs shellcheck over every shell script and every bats file.
. "$(dirname "$0")/tap.sh"

tap_need shellcheck
while IFS= read -r file; do
	# A test of bats is a subshell, and reads what the functions of tests/lib.sh left.
	not=SC1091
	[[ $file != *.bats ]] || not+=,SC2030,SC2031,SC2034,SC2154
	tap "$file" "$(shellcheck -x -P SCRIPTDIR -e "$not" -S warning -f gcc "$file" 2>&1)"
done < <(tap_files -name '*.sh' -o -name '*.bats' -o -path ./.ci/run)
tap_end
