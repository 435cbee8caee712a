#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# cuvet plan: answers, exit codes, bad input by line and column, batches, speed.

load ../lib.sh

plan() {
	cuvet plan --no-live "$@"
}

@test "a card without code in the newest builds gets the build that has it, and pip's command" {
	plan 'torch>=2.4,<2.7' transformers --assume gpu='GTX 1080 Ti' --assume driver=580 \
		--assume python=3.12
	expect_status 0
	expect_out "torch 2.6.0+cu124"
	expect_out "pip install torch==2.6.0 torchvision==0.21.0 torchaudio==2.6.0"
	expect_out "https://download.pytorch.org/whl/cu124"
	expect_out "pip install torch==2.6.0 transformers"
	expect_out "[[tool.uv.index]]"
	expect_out "poetry source add --priority=explicit pytorch-cu124"
	expect_out "FROM python:3.12-slim"
	expect_no_err
	expect_clean "$OUT"
}

@test "--json is one document with the fields of the contract" {
	plan --assume gpu=T4 --assume driver=535.183.01 --assume python=3.11 'torch<2.7' --json
	expect_status 0
	[ "$(json 'd["schema"]')" = cuvet.plan/1 ]
	[ "$(json 'd["chosen"]["torch"] + "+" + d["chosen"]["variant"]')" = 2.6.0+cu118 ] ||
		[ "$(json 'd["chosen"]["torch"]')" = 2.6.0 ]
	[ "$(json 'sorted(d["chosen"]["commands"])')" = \
		"['conda', 'docker', 'pip', 'pixi', 'poetry', 'uv']" ]
	[ "$(json 'all(r["reasons"] for r in d["refused"])')" = True ]
	[ "$(json '[r["text"] for x in d["refused"] if x["torch"] == "2.9.0" and
		x["variant"] == "cu130" for r in x["reasons"] if r["name"] == "driver-too-old"]')" = \
		"['driver 535.183.01 < 580.65.06']" ]
}

@test "every build of the platform is chosen, an alternative or refused" {
	plan --assume gpu=T4 --assume driver=535 --json
	expect_status 0
	[ "$(json '1 + len(d["alternatives"]) + len(d["refused"])')" = "$(python3 -c '
import json
print(sum(r["platform"] == "linux_x86_64"
	for r in json.load(open("data/compat/torch.json"))["rows"]))')" ]
}

@test "2.15.0 is an alternative with its reason, never the choice" {
	plan --assume gpu=T4 --assume driver=620 --json
	expect_status 0
	[ "$(json 'd["chosen"]["torch"] != "2.15.0"')" = True ]
	[ "$(json '{r["name"] for a in d["alternatives"] if a["torch"] == "2.15.0"
		for r in a["reasons"]}')" = "{'insufficient-evidence'}" ]
}

@test "official conda channel up to 2.5.1, conda-forge after it" {
	plan --assume gpu=T4 --assume driver=580 --assume python=3.11 'torch==2.5.1' --json
	[ "$(json 'd["chosen"]["commands"]["conda"][0]')" = "conda create -n torch python=3.11\
 pytorch==2.5.1 torchvision==0.20.1 torchaudio==2.5.1 pytorch-cuda=12.4 -c pytorch -c nvidia" ]
	plan --assume gpu=T4 --assume driver=580 --assume python=3.11 'torch==2.8.0' --json
	[ "$(json 'all(x in d["chosen"]["commands"]["conda"][0] for x in ("-c conda-forge",
		"cuda-version=12"))')" = True ]
}

@test "nothing fits: exit 1, chosen null, the clash, and the cheapest way out first" {
	plan --assume gpu=cc:3.5 --assume driver=470 --assume python=3.12 --json
	expect_status 1
	[ "$(json 'd["chosen"]')" = None ]
	[ "$(json '[c["constraint"] for c in d["clash"]]')" = \
		"['compute capability 3.5', 'Python 3.12']" ]
	[ "$(json '"Python 3.7" in d["remedies"][0]["text"]')" = True ]
	plan --assume gpu=cc:3.5 --assume driver=470 --assume python=3.12
	expect_status 1
	expect_out "stops at CUDA 11.4"
}

@test "a wish that no release meets is valid and unsatisfiable: exit 1" {
	plan torch==9.9 --assume gpu=T4
	expect_status 1
	expect_out "torch==9.9"
	expect_no_err
}

@test "bad operands: one line, exit 2" {
	plan torhc
	expect_status 2
	expect_err "did you mean torch?"
	expect_err_lines 1
	plan 'torch>>2'
	expect_status 2
	expect_err "column 7"
	expect_err_lines 1
	plan no-such-package-here
	expect_status 2
	expect_err_lines 1
	plan 'torch @ https://example.org/torch.whl'
	expect_status 2
	expect_err_lines 1
	expect_no_out
}

@test "-r FILE: names of no concern are passed on, faults have file, line and column" {
	printf 'torch>=2.4,<2.7  # why\nour-own-thing==1.0\n' >"$BATS_TEST_TMPDIR/r.txt"
	plan -r "$BATS_TEST_TMPDIR/r.txt" --assume gpu=T4 --assume driver=580 --assume python=3.12
	expect_status 0
	expect_out "our-own-thing==1.0"
	printf 'torch>=2.4\n\n  numpy=>2\n' >"$BATS_TEST_TMPDIR/r.txt"
	plan -r "$BATS_TEST_TMPDIR/r.txt"
	expect_status 2
	expect_err "r.txt:3:8: "
	expect_err_lines 1
	printf 'torchvison\n' >"$BATS_TEST_TMPDIR/r.txt"
	plan -r "$BATS_TEST_TMPDIR/r.txt"
	expect_status 2
	expect_err "r.txt:1: unknown package torchvison"
	plan -r "$BATS_TEST_TMPDIR/none.txt"
	expect_status 4
	expect_err_lines 1
}

@test "-r FILE: a loop of includes ends with its line" {
	cd "$BATS_TEST_TMPDIR"
	printf -- '-r b.txt\n' >a.txt
	printf 'torch\n-r a.txt\n' >b.txt
	plan -r a.txt
	expect_status 2
	expect_err "b.txt:2:4: "
	expect_err_lines 1
}

@test "X7: control characters of a requirements file do not reach the terminal" {
	printf 'our-thing==1; os_name != "\033[31m\302\233"\n' >"$BATS_TEST_TMPDIR/r.txt"
	plan -r "$BATS_TEST_TMPDIR/r.txt" --assume gpu=T4
	expect_status 0
	expect_out "our-thing"
	expect_clean "$OUT"
	expect_clean "$ERR"
}

@test "frameworks: tensorflow, jax, onnxruntime-gpu and cupy are chosen by the driver" {
	plan 'tensorflow<2.20' --assume gpu=T4 --assume driver=535 --assume python=3.11
	expect_status 0
	expect_out "tensorflow[and-cuda]==2.19.0"
	plan jax==0.9.0 --assume gpu=T4 --assume driver=535 --assume python=3.12
	expect_out "jax[cuda12]==0.9.0"
	plan 'onnxruntime-gpu<1.27' --assume gpu=T4 --assume driver=535 --assume python=3.12
	expect_out "onnxruntime-gpu[cuda,cudnn]==1.26.*"
	plan cupy --assume gpu=T4 --assume driver=535 --assume python=3.12
	expect_out "cupy-cuda12x=="
	plan tensorflow --assume os=windows --assume gpu=T4 --assume python=3.12
	expect_status 1
}

@test "--driver-upgrade names the release and the driver that it needs" {
	plan --assume gpu=T4 --assume driver=450.80.02 --assume python=3.12 --driver-upgrade --json
	expect_status 0
	[ "$(json 'd["driver_upgrade"]["driver"]')" = 580.65.06 ] ||
		[ "$(json 'd["driver_upgrade"]["driver"]')" = 525.60.13 ]
	plan --assume gpu=T4 --assume driver=450.80.02 --assume python=3.12 --driver-upgrade
	expect_out "with driver"
}

@test "text fits 80 columns but for names and fragments; --all unfolds; markdown is fenced" {
	plan --assume gpu=T4 --assume driver=535 --assume python=3.12
	sed '/^    [a-z]* = {/d' "$OUT" >"$OUT.prose"
	OUT=$OUT.prose
	expect_columns 80
	local folded
	folded=$(wc -l <"$BATS_TEST_TMPDIR/out")
	plan --assume gpu=T4 --assume driver=535 --assume python=3.12 --all
	[ "$(wc -l <"$OUT")" -gt "$folded" ] || fail "--all is not longer"
	plan --assume gpu=T4 --format markdown
	[ "$(head -n 1 "$OUT")" = '```text' ] || fail "no fence"
}

@test "--batch: one answer a line, a bad line is an error line and the rest goes on, exit 2" {
	cat >"$BATS_TEST_TMPDIR/t.ndjson" <<-'END'
		{"gpu":["T4"],"driver":"535","python":"3.11","req":["torch>=2.4"]}
		{"gpu":"GTX 1080 Ti","driver":"580","req":"torch<2.7"}
		{"gpu":["T4"],"colour":"red"}
		not json

		{"gpu":["T4"],"req":["torch>>2"]}
		{"gpu":["cc:3.5"],"driver":"470","python":"3.12"}
		[1]
	END
	cuvet plan --batch "$BATS_TEST_TMPDIR/t.ndjson"
	expect_status 2
	[ "$(wc -l <"$OUT")" -eq 7 ] || fail "7 lines wanted"
	python3 - "$OUT" <<-'END'
		import json, sys
		rows = [json.loads(l) for l in open(sys.argv[1], encoding="utf-8")]
		assert [("error" in r) for r in rows] == [False, False, True, True, True, False, True], rows
		assert rows[1]["chosen"]["torch"] == "2.6.0"
		assert rows[5]["chosen"] is None and rows[5]["why"]
		assert ".ndjson:3: " in rows[2]["error"]
		assert "refused" not in rows[0]
	END
}

@test "--batch: targets go through at 1000 a second and more, in bounded memory" {
	case $CUVET in */asan/*) skip "the sanitizers take their time" ;; esac
	python3 - >"$BATS_TEST_TMPDIR/t.ndjson" <<-'END'
		import json
		for i in range(4000):
		    print(json.dumps({"gpu": ["cc:%s" % ("6.1", "7.5", "8.6", "12.0")[i % 4]],
		        "driver": str(470 + i % 150), "python": "3.%d" % (8 + i % 6)}))
	END
	cuvet plan --batch "$BATS_TEST_TMPDIR/t.ndjson"
	expect_status 0
	[ "$(wc -l <"$OUT")" -eq 4000 ] || fail "4000 lines wanted"
	# About 2 times here, which is 0.3 s; 4 s would be 27.
	python3 "$CUVET_ROOT/tests/yardstick.py" work 10 32 \
		"$CUVET" plan --batch "$BATS_TEST_TMPDIR/t.ndjson" || fail "more than 10 times, or 32 MiB"
}

@test "speed: a plan over the whole matrix takes about as long as starting Python, and 32 MiB" {
	case $CUVET in */asan/*) skip "the sanitizers take their time" ;; esac
	# About 1.2 times, which is 9 ms; 30 ms would be 4.
	python3 "$CUVET_ROOT/tests/yardstick.py" start 4 32 \
		"$CUVET" plan --no-live --json --assume gpu=T4 --assume driver=535 || fail "more than 4 times, or 32 MiB"
}

@test "X3: a full stdout is an error, not a success" {
	[ -c /dev/full ] || skip "needs /dev/full"
	status=0
	"$CUVET" plan --no-live --assume gpu=T4 >/dev/full 2>/dev/null || status=$?
	expect_status 4
}

@test "a GPU whose capability nobody knows is undetermined, not a failure of the program" {
	cuvet plan --no-live --assume gpu=10de:029a --assume driver=470
	expect_status 3
	expect_no_out
	expect_err_lines 1
	expect_err "compute capability"
}

@test "driver-flavor: the kernel modules' flavour that a card does not work with, and how to get the other one" {
	plan --assume gpu='RTX 5090' --assume driver=580.65.06 --assume driver-flavor=proprietary \
		--assume distro=amzn2023 --json
	expect_status 1
	[ "$(json 'd["chosen"]')" = None ] || fail chosen
	[ "$(json '{r["name"] for x in d["refused"] if x["variant"] == "cu130" for r in x["reasons"]} >= {"open-module-required"}')" = True ] || fail reason
	[[ $(json 'd["clash"]') == *"driver 580.65.06 (proprietary)"* ]] || fail clash
	[[ $(json '[c for r in d["remedies"] for c in r["commands"]]') == *nvidia-driver:open-dkms* ]] || fail commands
	[[ $(json '[r["text"] for r in d["remedies"]]') != *"Another GPU"* ]] || fail "another GPU"
	plan --assume gpu='Tesla V100-SXM2-16GB' --assume driver=580.65.06 --assume driver-flavor=open --assume distro=fedora43 --json
	expect_status 1
	[ "$(json '{r["name"] for x in d["refused"] if x["variant"] == "cu126" for r in x["reasons"]} >= {"open-module-unsupported-gpu"}')" = True ] || fail reason
	[[ $(json '[c for r in d["remedies"] for c in r["commands"]]') == *akmod-nvidia-580xx* ]] || fail commands
	# The flavour alone, without a version of the driver, counts too, for other frameworks as well.
	plan jax --assume gpu='RTX 5090' --assume driver-flavor=proprietary
	expect_status 1
	expect_out "proprietary kernel modules, and NVIDIA"
	# Either is right for what lies between.
	for flavor in open proprietary; do
		plan --assume gpu='RTX 4090' --assume driver=580.65.06 --assume driver-flavor=$flavor --json
		expect_status 0
		[ "$(json '[r["value"] for r in d["reads"] if r["field"] == "driver-flavor"]')" = "['$flavor']" ] || fail reads
	done
	# Windows has one flavour.
	plan --assume gpu='RTX 5090' --assume driver=581.15 --assume driver-flavor=proprietary --assume os=windows
	expect_status 0
}

@test "driver-flavor: a machine whose cards need different flavours has no driver" {
	plan --assume gpu='RTX 5090' --assume gpu='GTX 1080' --assume driver=580.65.06
	expect_status 1
	expect_out "GPU by GPU"
	expect_out "GTX 1080 the proprietary ones"
	plan --assume gpu='RTX 4090' --assume gpu='GTX 1080' --assume driver=580.65.06
	expect_status 0
}

@test "no driver yet: the answer says which flavour the card needs, and the distribution's package" {
	plan --assume gpu='RTX 5090' --assume distro=ubuntu24.04
	expect_status 0
	expect_out "works with the driver's open kernel modules alone"
	expect_out "apt-get install nvidia-driver-580-open"
	plan --assume gpu='GTX 1080' --assume distro=opensuse-leap15.6
	expect_status 0
	expect_out "works with the driver's proprietary kernel modules alone"
	expect_out "zypper install nvidia-driver-G06-kmp-meta"
	# What both flavours drive takes the one that is wished for.
	plan --assume gpu='RTX 4090' --assume distro=rhel9 --assume driver-flavor=open
	expect_out "nvidia-driver:580-open"
	plan --assume gpu='RTX 4090' --assume distro=rhel9 --assume driver-flavor=proprietary
	expect_out "nvidia-driver:580-dkms"
	# Where a driver is, or nothing is known of the system, nothing is said.
	plan --assume gpu='RTX 5090' --assume distro=ubuntu24.04 --assume driver=580.65.06
	expect_no_out "apt-get"
	plan --assume gpu='RTX 5090'
	expect_no_out "The driver"$'\n'
}
