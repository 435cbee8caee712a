#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The catalogue of findings is whole: no name that others rely on is lost, codes and names are
# unique, every text is there and translatable, and the list of causes has neither holes nor cycles.
# shellcheck disable=SC2016 # the dollars of the awk programs
. "$(dirname "$0")/tap.sh"

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
tap_need "${CC:-cc}"

# The compiler reads both lists, so that they are seen as the program sees them. A text that is
# marked for translation begins with \1.
cat >"$tmp/dump.c" <<'EOF'
#include <stdio.h>
#include <string.h>
#define N_(text) "\1" text
int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
#define EXPLAINS(cause, effect) puts(#cause " " #effect);
#include "rule/cause.def"
		return 0;
	}
#define FINDING(id, code, name, layer, severity, title, means, decided, fix, not_this) \
	printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", #id, code, name, #layer, #severity, \
	       title, means, decided, fix, not_this);
#include "rule/finding.def"
	return 0;
}
EOF
log=$("${CC:-cc}" -std=gnu17 -Isrc -o "$tmp/dump" "$tmp/dump.c" 2>&1 &&
	"$tmp/dump" >"$tmp/rows" && "$tmp/dump" causes >"$tmp/edges" || echo 'cannot be read')
tap "finding.def and cause.def compile" "$log"
[ -z "$log" ] || tap_end

rows() { # awk program over the rows; columns are named
	awk -F '\t' -v id=1 -v code=2 -v name=3 -v layer=4 -v severity=5 -v title=6 -v means=7 \
		-v decided=8 -v fix=9 -v not_this=10 "$1" "$tmp/rows"
}

tap "the lists are not empty" "$([ -s "$tmp/rows" ] && [ -s "$tmp/edges" ] || echo 'no rows')"

# Names that others rely on.
known=tests/data/finding-names.txt
tap "every known name is there, in its layer" "$(
	[ -s "$known" ] || echo "$known: missing"
	rows '{ print $name, tolower($layer) }' | sort >"$tmp/have"
	sed -e '/^#/d' -e '/^$/d' "$known" | sort | comm -23 - "$tmp/have"
)"
tap "the known names are listed once, and all rows are among them" "$(
	sed -e '/^#/d' -e '/^$/d' "$known" | sort | uniq -d
	sed -e '/^#/d' -e '/^$/d' "$known" | sort | comm -13 - "$tmp/have"
)"

# Identity.
for column in id code name; do
	tap "no two findings share their $column" "$(rows "{ print \$$column }" | sort | uniq -d)"
done
tap "a code is CVggnn with the group of its layer" "$(rows '
	BEGIN {
		n = split("HARDWARE KERNEL DRIVER CONTAINER CLUSTER TOOLKIT LIBRARY PYTHON " \
			  "FRAMEWORK BUILD WORKLOAD", l, " ")
		for (i = 1; i <= n; i++)
			group[l[i]] = sprintf("%02d", i)
	}
	$code !~ /^CV[0-9][0-9][0-9][0-9]$/ || substr($code, 3, 2) != group[$layer] {
		print $code, $name, $layer
	}')"
tap "id and name say the same" "$(rows '
	{ want = toupper($name); gsub(/-/, "_", want) } want != $id { print $id, $name }')"
tap "a severity is one of three" "$(rows '$severity !~ /^(ERROR|WARNING|INFO)$/ { print $name }')"

# Texts.
tap "no text is empty, but for what it is not" "$(rows '
	{ for (i = title; i <= fix; i++) if (length($i) < 3) print $name ": column " i }')"
tap "every text is marked for translation" "$(rows '
	{ for (i = title; i <= not_this; i++) if ($i != "" && $i !~ /^\001/) print $name ": column " i }')"
tap "titles are at most 70 characters, without a full stop" "$(rows '
	length($title) > 71 || $title ~ /\.$/ { print $name ": " length($title) - 1 }')"
tap "the other texts are sentences" "$(rows '
	{ for (i = means; i <= not_this; i++) if ($i != "" && $i !~ /\.\)?$/) print $name ": column " i }')"
tap "texts are plain ASCII of single-spaced words" "$(
	grep -nP '[^\x01\t\x20-\x7e]' "$tmp/rows" | cut -c 1-80
	rows '{ for (i = title; i <= not_this; i++) if ($i ~ /  |^\001 | $/) print $name ": column " i }')"
tap "backticks come in pairs" "$(rows '
	{ for (i = title; i <= not_this; i++) if (gsub(/`/, "`", $i) % 2) print $name ": column " i }')"

# Causes.
tap "every cause and effect is a finding" "$(
	tr ' ' '\n' <"$tmp/edges" | sort -u >"$tmp/used"
	rows '{ print $id }' | sort | comm -23 "$tmp/used" -
)"
tap "no finding explains itself" "$(awk '$1 == $2' "$tmp/edges")"
tap "no edge stands twice" "$(sort "$tmp/edges" | uniq -d)"
tap "causes form no cycle" "$(awk '$1 != $2' "$tmp/edges" | tsort 2>&1 >/dev/null)"
tap_end
