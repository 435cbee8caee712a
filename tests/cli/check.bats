#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# `cuvet check` on declared targets, saved snapshots and bad input: the contract of the report, literally.

load ../lib.sh

# target ARGS...: check of a declared target, nothing of this machine
target() {
	cuvet check --no-live --json "$@"
}

@test "a declared target that fits is stack-ok, exit 0" {
	target --assume gpu='RTX 4090' --assume driver=550.90.07 --assume torch=2.5.1+cu124 --assume python=3.12
	expect_status 0
	[ "$(json "d['verdict']")" = stack-ok ]
	[ "$(json "d['root_cause']")" = None ]
	[ "$(json "d['schema'] + d['command']")" = cuvet.report/1check ]
	expect_no_err
}

@test "a GPU newer than the build's arch list blocks, and the remedy names an index that has it" {
	target --assume gpu='RTX 5090' --assume driver=580.65.06 --assume torch=2.6.0+cu124 --assume python=3.12
	expect_status 1
	[ "$(json "d['root_cause']['name']")" = gpu-too-new-for-build ]
	[ "$(json "d['root_cause']['certainty']")" = assumed ]
	[ "$(json "any('--index-url' in c or 'pip install' in c for r in d['root_cause']['remedies'] for c in r['commands'])")" = True ]
}

@test "a GPU older than the build's arch list blocks" {
	target --assume gpu='GTX 1080 Ti' --assume driver=580.65.06 --assume torch=2.8.0+cu128 --assume python=3.12
	expect_status 1
	[ "$(json "d['root_cause']['name']")" = gpu-too-old-for-build ]
}

@test "the minor-version rule: CUDA 12.4 starts on 525.60.13 and not on 525.60.12" {
	target --assume gpu=A100 --assume driver=525.60.13 --assume torch=2.5.1+cu124 --assume python=3.12
	expect_status 0
	target --assume gpu=A100 --assume driver=525.60.12 --assume torch=2.5.1+cu124 --assume python=3.12
	expect_status 1
	[ "$(json "d['root_cause']['name']")" = driver-too-old ]
}

@test "every GPU is judged, not the first" {
	target --assume gpu='RTX 4090' --assume gpu='GTX 1080 Ti' --assume driver=580.65.06 \
		--assume torch=2.11.0+cu130 --assume python=3.12
	expect_status 1
	[ "$(json "d['root_cause']['name']")" = gpu-too-old-for-build ]
	[[ $(json "d['root_cause']['subject']") == *1080* ]]
}

@test "Kepler: no driver can help a build for CUDA 12" {
	target --assume gpu='Tesla K80' --assume driver=470.256.02 --assume torch=2.5.1+cu124 --assume python=3.11
	expect_status 1
	[ "$(json "d['root_cause']['name']")" = no-driver-can-help ]
	[ "$(json "[f['name'] for f in d['findings'] if f['severity'] == 'error' and not f['consequence_of']]")" = "['no-driver-can-help']" ]
}

@test "a build tag that was never published" {
	target --assume gpu='RTX 4090' --assume driver=580.65.06 --assume torch=2.6.0+cu128 --assume python=3.12
	expect_status 1
	[ "$(json "d['root_cause']['name']")" = wrong-index-tag ]
}

@test "a Python without wheels of that release" {
	target --assume gpu='RTX 4090' --assume driver=580.65.06 --assume torch=2.4.0+cu121 --assume python=3.14
	expect_status 1
	[ "$(json "d['root_cause']['name']")" = python-no-wheel ]
}

@test "an ambiguous GPU name is undetermined, exit 3, and says what decides" {
	target --assume gpu='GeForce GT 710' --assume driver=470.256.02 --assume torch=1.12.1+cu113
	expect_status 3
	[ "$(json "d['verdict']")" = undetermined ]
	[ "$(json "len(d['asks']) > 0")" = True ]
	expect_out 10de:128b
}

@test "an ambiguous GPU name: a build for one of its chips is no remedy" {
	target --assume gpu='GT 710' --assume driver=331.20 --assume torch=1.12.0+rocm5.1.1 --assume python=3.12
	expect_status 1
	[ "$(json "sorted({c for f in d['findings'] for r in f['remedies'] for c in r['commands']})")" = "['lspci -nn -d 10de:']" ]
	# Both chips that are called so are served by one build.
	target --assume gpu='TITAN X' --assume driver=580.65.06 --assume torch=1.12.0+rocm5.1.1 --assume python=3.12
	[ "$(json "'every GPU' in d['root_cause']['remedies'][0]['text']")" = True ]
	# What is shown as the evidence is called what it is.
	target --assume gpu='GTX 1080' --assume driver=590.48.01
	[ "$(json "[e['field'] for e in d['root_cause']['evidence'] if e['seen'] == 'GTX 1080']")" = "['gpu.name']" ]
}

@test "a named build whose targets nobody knows is undetermined, not a pass" {
	local build
	for build in 9.9.9 9.9.9+cu990; do
		target --assume gpu=H100 --assume driver=580.65.06 --assume torch=$build --assume python=3.12
		expect_status 3
		[ "$(json "d['root_cause']['name']")" = insufficient-evidence ]
		[ "$(json "'get_arch_list' in ' '.join(d['asks'])")" = True ]
	done
	# Without a GPU there is nothing to hold it against.
	target --assume driver=580.65.06 --assume torch=2.14.1+cu126 --assume python=3.12
	expect_status 0
}

@test "cards that need the open modules beside cards that those do not drive: no driver is a remedy" {
	target --assume gpu=B200 --assume gpu='GTX 1080 Ti' --assume driver=535.183.01 --assume distro=ubuntu22.04
	expect_status 1
	[ "$(json "d['root_cause']['name']")" = gpu-needs-newer-driver ]
	[ "$(json "[c for r in d['root_cause']['remedies'] for c in r['commands']]")" = "[]" ]
	# Apart, each has one.
	target --assume gpu=B200 --assume driver=535.183.01 --assume distro=ubuntu22.04
	[ "$(json "any('570' in c or '580' in c for r in d['root_cause']['remedies'] for c in r['commands'])")" = True ]
}

@test "an unknown GPU name is a usage error with near names" {
	target --assume gpu='RTX 9999'
	expect_status 2
	expect_no_out
	expect_err "RTX 9999"
	expect_err_lines 1
}

@test "malformed assumptions and requirements are usage errors of one line" {
	local bad
	for bad in gpu= nonsense driver=abc python=two torch=x os=beos arch=mips colour=red cuda=new; do
		cuvet check --no-live --assume "$bad"
		expect_status 2
		expect_no_out
		expect_err_lines 1
	done
	cuvet check --no-live --assume drvier=535
	expect_err "did you mean driver"
	for bad in 'cc' 'cc>=' 'weight>=3' '>=3' 'cc>=new' 'vram>=much' 'vram>=24.5' 'driver>=x' 'os==beos' \
		'driver-flavor==closed' 'python>=two'; do
		cuvet check --no-live --require "$bad"
		expect_status 2
		expect_err_lines 1
	done
}

@test "--require that does not hold blocks, one that holds does not" {
	target --assume gpu=T4 --assume driver=535.183.01 --require 'cc>=8.0'
	expect_status 1
	target --assume gpu=A100 --assume driver=535.183.01 --require 'cc>=8.0' --require 'driver>=535'
	expect_status 0
}

@test "--require: each key is held against its fact" {
	local args=(--assume gpu=H100 --assume driver=550.90.07 --assume torch=2.5.1+cu124 --assume python=3.12
		--assume gcc=13 --assume arch=aarch64 --assume cuda=12.4 --assume torchaudio=2.5.1)
	local held
	for held in 'vram>=80' 'vram>=64GiB' 'vram<=96GB' 'gcc>=13' 'gcc<14' 'arch==arm64' 'cuda==12' 'torchaudio>=2.5' \
		'torch==2.5' 'python<3.13' 'gpu==H100' 'gpu!=A100'; do
		target --assume torch=2.5.1+cu124 "${args[@]}" --require "$held"
		expect_status 0
	done
	for held in 'vram>=141GB' 'vram<40000MiB' 'gcc>=14' 'gcc<13' 'arch==x86_64' 'cuda>=12.5' 'torchaudio>=2.6'; do
		target "${args[@]}" --require "$held"
		expect_status 1
		[ "$(json "d['root_cause']['message'].startswith('$held is required')")" = True ]
	done
	# Boards of that name have 80 GB or 94.
	target "${args[@]}" --require 'vram>=90'
	expect_status 3
	target --assume gpu=10de:2330 --require 'gpu==H100' --require 'gpu!=H100 PCIe'
	expect_status 0
	target --assume gpu=10de:2331 --require 'gpu==NVIDIA H100 80GB HBM3'
	expect_status 1
	target --assume gpu=H100 --require 'gpu==NVIDIA H100 80GB HBM3'
	expect_status 3
	# A requirement that holds is an answer, also when nothing else is there.
	target --assume gpu=H100 --require 'cc>=8.0'
	expect_status 0
	target --require 'vram>=8'
	expect_status 3
	[ "$(json "'memory.total' in ' '.join(d['asks'])")" = True ]
}

@test "--strict, --ignore and --error change the exit code by name" {
	local args=(--assume gpu='RTX 4090' --assume driver=550.90.07 --assume torch=2.5.1+cu124 --assume torchvision=0.19.0 --assume python=3.12)
	target "${args[@]}"
	[ "$(json "'torch-torchvision-mismatch' in [f['name'] for f in d['findings']]")" = True ]
	target "${args[@]}" --ignore torch-torchvision-mismatch
	expect_status 0
	[ "$(json "d['findings']")" = "[]" ]
	target "${args[@]}" --error torch-torchvision-mismatch
	expect_status 1
	cuvet check --no-live --ignore torch-torchvision-mismach
	expect_status 2
	expect_err "torch-torchvision-mismatch"
}

@test "text, JSON and Markdown name the same root cause; text holds 80 columns" {
	local args=(check --no-live --assume gpu='RTX 5090' --assume driver=580.65.06 --assume torch=2.6.0+cu124 --assume python=3.12)
	cuvet "${args[@]}"
	expect_status 1
	expect_out "Root cause: gpu-too-new-for-build"
	expect_columns 80
	cuvet "${args[@]}" --format markdown
	expect_status 1
	expect_out "gpu-too-new-for-build"
	cuvet "${args[@]}" --format json
	[ "$(json "d['root_cause']['name']")" = gpu-too-new-for-build ]
	cuvet "${args[@]}" --format html
	expect_status 2
}

@test "every report says what was not judged" {
	target --assume gpu=T4
	[ "$(json "all(s['rule'] and s['needs'] and s['why'] for s in d['skipped']) and len(d['skipped']) > 0")" = True ]
}

@test "nothing to judge is undetermined, not a pass" {
	target
	expect_status 3
	[ "$(json "len(d['asks']) > 0")" = True ]
}

# same_report ARGS...: what check says at once, it says of the snapshot too.
same_report() {
	local at_once=$BATS_TEST_TMPDIR/at-once.json
	cuvet check --json "$@"
	cp "$OUT" "$at_once"
	cuvet snapshot "$@"
	expect_status 0
	cp "$OUT" "$BATS_TEST_TMPDIR/s.json"
	cuvet check --json "$BATS_TEST_TMPDIR/s.json"
	diff "$at_once" "$OUT" || fail "another report of the snapshot"
}

@test "T9: a bus that may not be read is undetermined, not a pass" {
	printf '%s' '{"schema":"cuvet.snapshot/1","facts":{"source":{"v":"live","s":"/"},"parts":{
		"pci":{"state":"denied","why":"EACCES","s":"/sys/bus/pci/devices"},"host":{"v":"yes","s":"/"},
		"kernel":{"v":"yes","s":"/"},"python":{"v":"yes","s":"/"}}}}' >"$BATS_TEST_TMPDIR/s.json"
	LC_ALL=C cuvet check "$BATS_TEST_TMPDIR/s.json"
	expect_status 3
	expect_out " - hardware    the PCI bus could not be read (EACCES)"
	expect_out "lspci -nn"
}

@test "a snapshot judged elsewhere gives the same report, to the letter" {
	same_report --no-live --assume gpu='RTX 5090' --assume driver=580.65.06 --assume torch=2.6.0+cu124 --assume python=3.12
	# A report is a snapshot too, without the sources.
	cuvet check --json "$BATS_TEST_TMPDIR/at-once.json"
	[ "$(json "d['root_cause']['name']")" = gpu-too-new-for-build ]
	same_report --no-live --assume gpu=H100
	same_report --no-live --assume 'gpu=GT 710' --assume torch=2.6.0 --assume os=windows
	mkdir -p "$BATS_TEST_TMPDIR/tree/etc"
	printf 'ID=debian\nVERSION_ID="12"\n' >"$BATS_TEST_TMPDIR/tree/etc/os-release"
	same_report --root "$BATS_TEST_TMPDIR/tree"
	cuvet check "$BATS_TEST_TMPDIR/s.json"
	expect_out "source: image"
	expect_out "s.json)"
}

@test "damaged snapshots are one-line errors" {
	local f=$BATS_TEST_TMPDIR/s.json
	local text
	for text in '' '{' '{}' '{"schema":"other/1"}' '{"schema":"cuvet.snapshot/1"}' '{"schema":"cuvet.snapshot/1","facts":[]}' \
		'{"schema":"cuvet.snapshot/1","facts":{"gpus":3}}' $'\x00\xff\xfe'; do
		printf '%s' "$text" >"$f"
		cuvet check "$f"
		expect_status 2
		expect_no_out
		expect_err_lines 1
	done
	cuvet check "$BATS_TEST_TMPDIR/none.json"
	expect_status 4
	cuvet check "$BATS_TEST_TMPDIR"
	[ "$status" -ne 0 ]
	expect_err_lines 1
}

@test "X7: control characters in assumed values never reach the output" {
	local esc=$'a\e[31m\x07\u202e\u009b'
	local f
	for f in text markdown json; do
		cuvet check --no-live --assume "distro=$esc" --assume gpu=T4 --format $f
		expect_clean "$OUT"
		expect_clean "$ERR"
		cuvet check --no-live --assume "gpu=$esc" --format $f
		expect_status 2
		expect_clean "$ERR"
	done
}

@test "X7: what a snapshot says of its source reaches the terminal clean" {
	local f
	printf '%s' '{"schema":"cuvet.snapshot/1","facts":{"source":{"v":"\u001b[31m\u202e","s":"x"}}}' >"$BATS_TEST_TMPDIR/s.json"
	for f in text markdown json; do
		cuvet check "$BATS_TEST_TMPDIR/s.json" --format $f
		[ "$status" -le 3 ]
		expect_clean "$OUT"
	done
}

@test "a root without /etc, an unreadable root, a missing root" {
	mkdir "$BATS_TEST_TMPDIR/empty"
	cuvet check --json --root "$BATS_TEST_TMPDIR/empty"
	[ "$status" -eq 0 ] || [ "$status" -eq 1 ] || [ "$status" -eq 3 ]
	[ "$(json "d['schema']")" = cuvet.report/1 ]
	cuvet check --root "$BATS_TEST_TMPDIR/none"
	expect_status 4
	expect_err_lines 1
	cuvet check --facts x.json
	expect_status 2
}

@test "X5: check runs without HOME, TERM, locale and PATH" {
	local program=$CUVET
	CUVET=/usr/bin/env cuvet -i "$program" check --json
	[ "$status" -le 3 ]
	[ "$(json "d['command']")" = check ]
}

@test "explain knows every name and code, and lists them" {
	cuvet explain
	expect_status 0
	[ "$(wc -l <"$OUT")" -ge 127 ]
	cuvet explain driver-too-old CV0101
	expect_status 0
	expect_out gpu-not-found
	expect_columns 80
	cuvet explain --json driver-too-old
	[ "$(json "d['findings'][0]['name']")" = driver-too-old ]
	cuvet explain driver-to-old
	expect_status 2
	expect_err driver-too-old
}

@test "a layer with nothing in it carries no mark of being in order" {
	mkdir -p "$BATS_TEST_TMPDIR/empty/etc" "$BATS_TEST_TMPDIR/empty/usr/lib"
	echo 'ID=debian' >"$BATS_TEST_TMPDIR/empty/etc/os-release"
	cuvet check --root "$BATS_TEST_TMPDIR/empty"
	[[ $out =~ (-|–)\ +driver\ .*no\ driver ]] || fail "driver"
	[[ $out =~ (-|–)\ +python\ .*no\ Python ]] || fail "python"
	[[ $out =~ (-|–)\ +framework\ .*no\ PyTorch ]] || fail "framework"
}
