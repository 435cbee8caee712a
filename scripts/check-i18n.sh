#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every string for a user can be extracted for translators, and every catalogue is whole: no
# message is missing, uncertain or out of date, printf directives fit, and what has to stay as it
# is (commands between backquotes, options, addresses) does.
. "$(dirname "$0")/tap.sh"

tap_need xgettext
log=$(${MAKE:-make} -s --no-print-directory pot 2>&1)
tap "xgettext takes the sources" "$log"
tap "strings are found" \
	"$([ "$(grep -c '^msgid' build/gen/cuvet.pot 2>/dev/null)" -gt 1 ] || echo 'none')"
for l in $(sed -e 's/#.*//' po/LINGUAS); do
	merged=$(mktemp)
	log=$(msgmerge -q --no-fuzzy-matching --no-location -o "$merged" "po/$l.po" build/gen/cuvet.pot 2>&1)
	tap "po/$l.po can be brought up to date" "$log"
	# While somebody works a new message may wait for its translators; what lands is whole.
	if [ "${CI:-}" = true ]; then
		tap "no message is missing in po/$l.po (make update-po)" \
			"$(msgattrib --untranslated --no-wrap "$merged" | sed -n 's/^msgid "\(.\+\)"$/\1/p')"
	fi
	tap "no message is uncertain in po/$l.po" \
		"$(msgattrib --only-fuzzy --no-wrap "$merged" | sed -n 's/^msgid "\(.\+\)"$/\1/p')"
	tap "printf directives fit in po/$l.po" \
		"$(msgfmt --check --check-format -o /dev/null "$merged" 2>&1)"
	rm -f "$merged"
	if command -v python3 >/dev/null; then
		tap "what is no prose stays as it is in po/$l.po" "$(python3 scripts/check-po.py "po/$l.po" 2>&1)"
	fi
done
tap_end
