#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# show: the contract of the rows, keys compared whole, names of GPUs, near ones, --gpu, --data, text.

load ../lib.sh

@test "the list of tables has rows and dates" {
	cuvet show
	expect_status 0
	expect_columns 80
	grep -qE '^gpu +14[0-9]{2}  20[0-9-]{8}$' "$OUT" || fail "no line for gpu"
	cuvet show --json
	[ "$(json '{r["name"]: r["count"] for r in d["rows"]}["torch"] > 500')" = True ]
	[ "$(json 'd["schema"]')" = cuvet.table/1 ]
}

@test "rows of torch hold the promised fields and sources that can be read" {
	cuvet show torch 2.6.0 cu124 linux_x86_64 --json
	expect_status 0
	expect_no_err
	[ "$(json 'd["schema"], d["table"], len(d["rows"])')" = "('cuvet.table/1', 'torch', 1)" ]
	[ "$(json 'sorted({"version","variant","cuda","cudnn","python","arch_list","min_glibc","torchvision","torchaudio","platform","sources"} - set(d["rows"][0]))')" = "[]" ]
	[ "$(json 'd["rows"][0]["cuda"], d["rows"][0]["cudnn"], d["rows"][0]["torchvision"]')" = "('12.4', '9.1.0.70', '0.21.0')" ]
	[ "$(json '"3.12" in d["rows"][0]["python"] and "sm_90" in d["rows"][0]["arch_list"]')" = True ]
	[ "$(json 'all("(" in s and len(s) > 20 for s in d["rows"][0]["sources"])')" = True ]
}

@test "a field that does not apply is null, not absent" {
	cuvet show torch 2.6.0 cpu linux_x86_64 --json
	[ "$(json 'd["rows"][0]["cuda"], d["rows"][0]["cudnn"], d["rows"][0]["arch_list"]')" = "(None, None, None)" ]
}

@test "a release gives all its builds, and a wheel's version one build a platform" {
	cuvet show torch 2.6.0 --json
	[ "$(json 'len(d["rows"]) > 8 and {r["version"] for r in d["rows"]} == {"2.6.0"}')" = True ]
	cuvet show torch 2.6.0+cu124 --json
	[ "$(json '{r["variant"] for r in d["rows"]}')" = "{'cu124'}" ]
	cuvet show torch 2.6 cu124 linux_x86_64 --json
	[ "$(json 'len(d["rows"])')" = 1 ]
}

@test "rows of gpu hold the promised fields" {
	cuvet show gpu 'RTX 4090' --json
	expect_status 0
	[ "$(json 'd["rows"][0]["name"], d["rows"][0]["chip"], d["rows"][0]["compute_capability"], d["rows"][0]["pci_ids"], d["rows"][0]["last_driver_branch"], d["rows"][0]["open_kernel_module"]')" = "('NVIDIA GeForce RTX 4090', 'AD102', '8.9', ['10de:2684'], None, 'supported')" ]
}

@test "a name on several chips is a row a chip, with all its ids, and no error" {
	cuvet show gpu 'GeForce GT 710' --json
	expect_status 0
	[ "$(json '[(r["chip"], r["compute_capability"], r["pci_ids"], r["last_driver_branch"]) for r in d["rows"]]')" = "[('GF119', '2.1', ['10de:104d'], '390'), ('GK208', '3.5', ['10de:1281', '10de:1289', '10de:128b'], '470')]" ]
}

@test "ids, capabilities, guests, cut names and names without quotes are keys" {
	cuvet show gpu 10de:1e30 --json
	[ "$(json 'd["rows"][0]["name"]')" = "Quadro RTX 6000" ]
	cuvet show gpu cc:8.9 --json
	[ "$(json '{(r["compute_capability"], len(r["sources"]) > 0) for r in d["rows"]}')" = "{('8.9', True)}" ]
	[ "$(json '{"NVIDIA GeForce RTX 4090", "NVIDIA L4"} <= {r["name"] for r in d["rows"]}')" = True ]
	# One that no card of the table has is a row of its own.
	cuvet show gpu cc:8.7 --json
	[ "$(json '[(r["compute_capability"], len(r["sources"]) > 0) for r in d["rows"]]')" = "[('8.7', True)]" ]
	cuvet show gpu 'GRID T4-2A' --json
	[ "$(json 'd["rows"][0]["name"], d["rows"][0]["compute_capability"], d["rows"][0]["class"]')" = "('GRID T4-2A', '7.5', 'vgpu')" ]
	cuvet show gpu 'NVIDIA GeForce RTX 2070 ...' --json
	[ "$(json '{"NVIDIA GeForce RTX 2070 SUPER", "NVIDIA GeForce RTX 2070 with Max-Q Design"} <= {r["name"] for r in d["rows"]}')" = True ]
	[ "$(json '"NVIDIA GeForce RTX 2070" in {r["name"] for r in d["rows"]}')" = False ]
	cuvet show gpu rtx 4090 --json
	[ "$(json 'd["rows"][0]["pci_ids"]')" = "['10de:2684']" ]
	cuvet show gpu AD102 --json
	[ "$(json 'len(d["rows"]) > 3 and {r["chip"] for r in d["rows"]} == {"AD102"}')" = True ]
}

@test "a driver is a branch or a release of it; a CUDA release is a row of its own" {
	for key in 580 580.65.06; do
		cuvet show driver $key --json
		[ "$(json '[(r["branch"], r["max_cuda"]) for r in d["rows"]]')" = "[(580, '13.0')]" ]
	done
	cuvet show cuda 12.4 --json
	[ "$(json '[(r["cuda"], r["min_driver_linux"]) for r in d["rows"]]')" = "[('12.4', '550.54.14')]" ]
	cuvet show cuda 12.4.1 --json
	[ "$(json '[(r["cuda"], r["min_driver_linux"]) for r in d["rows"]]')" = "[('12.4.1', '550.54.15')]" ]
}

@test "a part of a key is no key: exit 2, near ones on one line" {
	while IFS='|' read -r table key near; do
		# shellcheck disable=SC2086
		cuvet show $table "$key"
		expect_status 2
		expect_no_out
		expect_err_lines 1
		expect_err "$near"
	done <<-END
		gpu|RTX 9999|NVIDIA GeForce RTX 4090
		gpu|GeForce|
		gpu|RTX|
		gpu|10de:22ce|
		torch|2.60|2.6.0
		torch 2.6.0|cu132|2.6.0 cu132
		cuda|12.44|12.4
		driver|585.10|585
		chip|AD10|AD102
	END
}

@test "an unknown table names the nearest" {
	cuvet show tortch
	expect_status 2
	expect_no_out
	expect_err_lines 1
	expect_err "torch?"
}

@test "--gpu keeps what serves a GPU and says how" {
	cuvet show torch --gpu 'RTX 5090' 2.7.1 linux_x86_64 --json
	expect_status 0
	[ "$(json '[(r["variant"], r["runs_by"], r["runs_from"]) for r in d["rows"]]')" = "[('cu128', 'SASS', 'sm_120')]" ]
	cuvet show torch --gpu 'GTX 1080 Ti' 2.7.1 linux_x86_64
	expect_status 0
	expect_out cu126
	expect_no_out cu128
	cuvet show torch --gpu cc:9.0 1.7.1 linux_x86_64 --json
	[ "$(json '{r["runs_by"] for r in d["rows"]}')" = "{'PTX'}" ] || expect_status 2
}

@test "--gpu with an unknown or an ambiguous name is one line, exit 2" {
	cuvet show torch --gpu 'RTX 9999'
	expect_status 2
	expect_err_lines 1
	expect_err "RTX 4090"
	cuvet show torch --gpu 'GeForce GT 710'
	expect_status 2
	expect_err_lines 1
	expect_err "10de:104d (GF119, 2.1)"
	expect_err "10de:128b (GK208, 3.5)"
	cuvet show driver --gpu T4
	expect_status 2
	expect_err_lines 1
}

@test "every table is shown, as text within 80 columns and as JSON" {
	cuvet show --json
	tables=$(json '" ".join(r["name"] for r in d["rows"])')
	for t in $tables; do
		cuvet show "$t"
		expect_status 0
		expect_no_err
		expect_columns 80
		expect_clean "$OUT"
		# Those that hold rows for people have more than a head.
		[ "$(wc -l <"$OUT")" -gt 1 ] || fail "nothing in $t"
		cuvet show "$t" --json
		expect_status 0
		[ "$(json 'len(d["rows"]) > 0 and all(r["sources"] for r in d["rows"])')" = True ] || fail "$t"
	done
}

@test "few rows are records with their sources" {
	cuvet show gpu 'RTX 4090'
	expect_status 0
	expect_out "compute_capability    8.9"
	expect_out "last_driver_branch    none yet"
	expect_out "sources"
	expect_out "pci.ids"
	expect_clean "$OUT"
}

@test "colour only when it is asked for" {
	cuvet show driver 580
	expect_no_out $'\033'
	cuvet show driver 580 --color always
	expect_out $'\033[1m'
}

@test "X7: a table of --data cannot speak to the terminal" {
	mkdir "$BATS_TEST_TMPDIR/data"
	printf '%s' '{"schema":"cuvet.compat/1","table":"chip","date":"2026-01-01","sources":{"A":{"what":"w\u001b[31m"}},' \
		'"rows":[{"chip":"X\u001b]0;t\u0007","arch":"\u202eevil","note":"\u009b2J","sources":["A"]}]}' >"$BATS_TEST_TMPDIR/data/chip.json"
	cuvet show chip --data "$BATS_TEST_TMPDIR/data"
	expect_status 0
	expect_clean "$OUT"
	! grep -q $'\u202e' "$OUT" || fail "a bidi override came through"
	cuvet show chip --data "$BATS_TEST_TMPDIR/data" --json
	expect_clean "$OUT"
	cuvet show chip $'\033[31m' --data "$BATS_TEST_TMPDIR/data"
	expect_status 2
	expect_clean "$ERR"
}

@test "--data that is missing or damaged is one line with the file and the place, exit 4" {
	cuvet show gpu T4 --data /nonexistent
	expect_status 4
	expect_no_out
	expect_err_lines 1
	expect_err "/nonexistent"
	mkdir "$BATS_TEST_TMPDIR/data"
	printf '{\n"schema": oops\n' >"$BATS_TEST_TMPDIR/data/gpu.json"
	cuvet show gpu T4 --data "$BATS_TEST_TMPDIR/data"
	expect_status 4
	expect_no_out
	expect_err_lines 1
	expect_err "gpu.json:2:"
	cuvet show gpu --data "$BATS_TEST_TMPDIR/data/gpu.json"
	expect_status 4
	expect_err_lines 1
}

@test "X3: a full stdout is an error, not a success" {
	[ -c /dev/full ] || skip "needs /dev/full"
	status=0
	"$CUVET" show torch >/dev/full 2>/dev/null || status=$?
	expect_status 4
}

@test "a card's whole name but for its brand does not find its siblings" {
	cuvet show gpu 'GTX 1080 Ti' --json
	expect_status 0
	[ "$(json "[r['pci_ids'] for r in d['rows']]")" = "[['10de:1b06']]" ]
}
