#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The pages and completions that are installed are those of this program, and hold every command,
# finding and table: made anew here and compared with what the build left.
. "$(dirname "$0")/tap.sh"

[ -x build/cuvet ] || { tap "build/cuvet" "not built"; tap_end; }
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
tap "pages are written" "$(sh scripts/gen-cli-docs.sh ./build/cuvet "$new" 2>&1)"
tap "what was built is fresh" "$(for f in "$new"/* "$new"/man/*; do
	[ -f "$f" ] && ! cmp -s "$f" "build/gen/${f#"$new"/}" && echo "${f#"$new"/} differs"
done)"
if command -v scdoc >/dev/null; then
	tap "each page is there, and scdoc takes it" "$(for f in "$new"/man/*.scd; do
		page=${f##*/}
		scdoc <"$f" 2>&1 >/dev/null
		[ -s "build/man/${page%.scd}" ] || echo "build/man/${page%.scd} is missing"
	done)"
fi
# What a name looks like in a page: underscores and dashes may be escaped.
holds() { # page words
	local page=$1
	shift
	for word in "$@"; do
		grep -qF -- "${word//_/\\_}" "$new/man/$page" || echo "$page lacks $word"
	done
}
mapfile -t findings < <(sed -n 's/^FINDING([^,]*, *"\(CV[0-9]*\)".*/\1/p' src/rule/finding.def)
[ ${#findings[@]} -gt 0 ] ||
	mapfile -t findings < <(grep -oE '"CV[0-9]{4}"' src/rule/finding.def | tr -d '"')
tap "cuvet-findings(7) holds all ${#findings[@]} findings" \
	"$(holds cuvet-findings.7.scd "${findings[@]}")"
mapfile -t tables < <(find data/compat -name '*.json' ! -path '*/schema/*' -printf '%f\n' |
	sed 's/\.json$//' | sort)
tap "cuvet-compat(5) holds all ${#tables[@]} tables" \
	"$(holds cuvet-compat.5.scd "${tables[@]/#/## }")"
tap "cuvet(1) names the pages" \
	"$(holds cuvet.1.scd 'cuvet-findings*(7)' 'cuvet-compat*(5)' 'cuvet-guide*(1)')"
tap_end
