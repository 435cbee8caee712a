#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Rules read a snapshot and the tables, nothing else: a program of base, model, compat and rule
# alone links, and judges an empty machine. Run after the release build.
. "$(dirname "$0")/tap.sh"

tap_need "${CC:-cc}"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cat >"$tmp/main.c" <<'EOF'
#include "base/arena.h"
#include "rule/rule.h"
int main(void)
{
	struct arena *a = arena_new(NULL);
	struct snapshot s = { .n_gpus = 0 };
	struct compat *c;
	struct results r;

	if (compat_open(a, NULL, &c, NULL) != 0)
		return 2;
	judge_run(a, &s, c, NULL, &r);
	return r.verdict == VERDICT_UNDETERMINED && r.n_skipped ? 0 : 1;
}
EOF
mapfile -t objects < <(tap_objects base model compat rule)
log=$("${CC:-cc}" -std=gnu17 -D_GNU_SOURCE -Isrc -o "$tmp/judge" "$tmp/main.c" "${objects[@]}" \
	build/obj/gen/*.o -lcjson -lpcre2-8 -lyaml 2>&1)
tap "rules link without probes, sources and reports" "$log"
tap "rules judge an empty machine as undetermined" "$("$tmp/judge" 2>&1 || echo "exit code $?")"
tap_end
