#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Snapshots of real machines give the report that was seen there.

load ../lib.sh

setup() {
	export LC_ALL=C.UTF-8 # the golden reports have UTF-8 marks
}

@test "the report of each capture is the golden one" {
	local f
	for f in "$CUVET_ROOT"/tests/captures/*.json; do
		cuvet check "$f"
		expect_status 0
		if [ "${UPDATE_GOLDEN:-}" = 1 ]; then
			sed "1,/^\$/d" "$OUT" >"${f%.json}.txt"
		fi
		diff -u "${f%.json}.txt" <(sed "1,/^\$/d" "$OUT") || fail "$f"
	done
}

@test "an H200 with its torch environment is stack-ok, and every fact is the machine's" {
	cuvet check --json "$CUVET_ROOT/tests/captures/h200-torch-2.11.json"
	expect_status 0
	[ "$(json "d['verdict']")" = stack-ok ]
	[ "$(json "d['findings']")" = "[]" ]
	[ "$(json "[(g['name'], g['pci_id'], g['compute_capability']) for g in d['snapshot']['gpus']]")" = \
		"[('NVIDIA H200', '10de:2335', '9.0')]" ]
	[ "$(json "d['snapshot']['driver']['version'] + ' ' + d['snapshot']['driver']['flavor'] + ' ' + d['snapshot']['driver']['cuda_ceiling']")" = \
		"580.159.04 open 13.0" ]
	[ "$(json "[p['torch']['version'] for p in d['snapshot']['pythons'] if p['active'] == 'yes']")" = "['2.11.0+cu130']" ]
	[[ $(json "[p['torch']['cudnn']['version'] for p in d['snapshot']['pythons'] if p['active'] == 'yes']") == *9.19.0* ]]
}

@test "nothing of a capture names a user, a host or a device" {
	run grep -rhoE '/home/[^u/"][^/"]*|GPU-[1-9a-f][0-9a-f]{7}-' "$CUVET_ROOT"/tests/captures --include=*.json
	[ "$status" -eq 1 ] || fail "$output"
}
