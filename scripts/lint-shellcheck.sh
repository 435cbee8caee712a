#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs shellcheck over every shell script and every bats file.
. "$(dirname "$0")/tap.sh"

tap_need shellcheck
while IFS= read -r file; do
	tap "$file" "$(shellcheck -x -P SCRIPTDIR -e SC1091 -f gcc "$file" 2>&1)"
done < <(tap_files -name '*.sh' -o -name '*.bats' -o -path ./.ci/run)
tap_end
