#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every string for a user can be extracted for translators: xgettext takes the sources without a
# warning, and finds the strings.
. "$(dirname "$0")/tap.sh"

tap_need xgettext
grep -rqE '(\b|[^A-Za-z])N?_\("' src || { echo "1..0 # skip no source marks a string yet"; exit 0; }
log=$(${MAKE:-make} -s --no-print-directory pot 2>&1)
tap "xgettext takes the sources" "$log"
tap "strings are found" \
	"$([ "$(grep -c '^msgid' build/gen/cuvet.pot 2>/dev/null)" -gt 1 ] || echo 'none')"
tap_end
