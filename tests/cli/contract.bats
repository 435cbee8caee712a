#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What is promised to every command, asked literally: shared options where they are easily left out,
# operands that are no ordinary files, what --help says against what is taken, odd terminals.

load ../lib.sh

setup() {
	T=$BATS_TEST_TMPDIR
	S=$CUVET_ROOT/docs/examples
	echo 'RuntimeError: CUDA error: no kernel image is available for execution on the device' \
		>"$T/kernel.txt"
	echo 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB' >"$T/memory.txt"
}

names() { # the findings with their severities, sorted
	json '" ".join(sorted(f["name"] + ":" + f["severity"] for f in d["findings"]))'
}

@test "triage: --ignore leaves a cause out, and what is left decides" {
	cuvet triage --json "$S/paste.txt"
	expect_status 1
	[ "$(json 'd["root_cause"]["name"]')" = gpu-too-new-for-build ]
	cuvet triage --json --ignore gpu-too-new-for-build "$S/paste.txt"
	expect_status 3
	[ "$(json '"gpu-too-new-for-build" in [f["name"] for f in d["findings"]]')" = False ]
	[ "$(json 'd["verdict"], d["root_cause"]["name"], len(d["asks"]) > 0')" = \
		"('undetermined', 'insufficient-evidence', True)" ]
}

@test "triage: --error takes a finding as an error, and names it as the cause" {
	cuvet triage --json "$T/memory.txt"
	expect_status 0
	cuvet triage --json --error out-of-memory "$T/memory.txt"
	expect_status 1
	[ "$(json 'd["verdict"], d["root_cause"]["name"], d["root_cause"]["severity"]')" = \
		"('blocked', 'out-of-memory', 'error')" ]
	# What explains the complaint stays the one cause.
	cuvet triage --json --error insufficient-evidence --error out-of-memory "$S/paste.txt"
	[ "$(names)" = gpu-too-new-for-build:error ]
}

@test "triage: names that no finding has are refused, with the nearest" {
	cuvet triage --ignore out-of-memori "$T/memory.txt"
	expect_status 2
	expect_no_out
	expect_err out-of-memory
	cuvet triage --error no-such-thing "$T/memory.txt"
	expect_status 2
	expect_err_lines 1
}

@test "triage: formats of CI systems, one document, and none with --each" {
	local form
	for form in sarif gitlab; do
		cuvet triage --format $form "$S/paste.txt"
		expect_status 1
		json 'd' >/dev/null
		expect_out gpu-too-new-for-build
	done
	for form in junit checkstyle github; do
		cuvet triage --format $form "$S/paste.txt"
		expect_status 1
		expect_out gpu-too-new-for-build
		[ $form = github ] || python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$OUT"
		cuvet triage --each --format $form "$S/paste.txt"
		expect_status 2
		expect_no_out
	done
}

@test "--assume: a compiler is held against the toolkit, torchaudio against torch" {
	cuvet check --no-live --json --assume gpu=T4 --assume driver=550 --assume cuda=12.4 \
		--assume gcc=15
	expect_status 0
	[ "$(names)" = host-compiler-too-new:warning ]
	cuvet check --no-live --json --assume gpu=T4 --assume driver=550 --assume cuda=12.4 \
		--assume gcc=13 --strict
	expect_status 0
	[ "$(names)" = "" ]
	cuvet check --no-live --json --assume gpu=T4 --assume driver=550 --assume python=3.12 \
		--assume torch=2.6.0+cu124 --assume torchaudio=2.5.0
	expect_status 1
	[ "$(names)" = torch-torchvision-mismatch:error ]
}

@test "a pipe of the shell and /dev/stdin are operands; a FIFO is not waited for" {
	cuvet triage --json <(cat "$T/memory.txt")
	expect_status 0
	[ "$(json 'd["root_cause"]["name"]')" = out-of-memory ]
	status=0
	"$CUVET" triage --json /dev/stdin <"$T/memory.txt" >"$T/o" || status=$?
	expect_status 0
	status=0
	# shellcheck disable=SC2002
	cat "$S/broken.json" | "$CUVET" check --json /dev/stdin >"$T/o" || status=$?
	expect_status 1
	grep -q driver-library-mismatch "$T/o"
	cuvet plan --no-live --assume gpu=T4 --assume driver=535 --assume python=3.11 \
		-r <(echo 'torch<2.5')
	expect_status 0
	expect_out 'torch 2.4'
	# T6: nobody may ever write into it.
	mkfifo "$T/fifo"
	status=0
	timeout 10 "$CUVET" triage "$T/fifo" >/dev/null 2>&1 || status=$?
	expect_status 4
}

@test "/dev/null is an empty text" {
	cuvet triage --json /dev/null
	expect_status 3
	[ "$(json 'd["root_cause"]["name"]')" = insufficient-evidence ]
	cuvet triage /dev/zero
	expect_status 4
	expect_no_out
}

@test "without a command a file is checked; what is none is a mistyped command" {
	cuvet "$S/broken.json" --json
	expect_status 1
	[ "$(json 'd["command"], d["root_cause"]["name"]')" = "('check', 'driver-library-mismatch')" ]
	cuvet chekc
	expect_status 2
	expect_err "did you mean check?"
}

@test "a snapshot among other sources is refused for what it is" {
	cuvet check "$S/healthy.json" "$S/Dockerfile"
	expect_status 2
	expect_no_out
	expect_err_lines 1
	expect_err "a snapshot is judged by itself"
}

@test "text, json and markdown are formats of every command" {
	local form command
	mkdir -p "$T/cuda/lib64"
	echo 'CUDA Version 12.4.1' >"$T/cuda/version.txt"
	for command in "env --cuda $T/cuda --shell bash" "inspect $CUVET" \
		"show gpu T4" "explain no-fault" "data status" "fetch list --prefix $T/none" \
		"plan --no-live --assume gpu=T4 --assume driver=535 --assume python=3.11" \
		"check $S/healthy.json" "guide $S/healthy.json" "triage $T/memory.txt" prove snapshot; do
		for form in text json markdown; do
			# shellcheck disable=SC2086
			cuvet $command --format $form
			[ "$status" -ne 2 ] || fail "$command --format $form"
			[ -n "$out" ] || fail "$command --format $form: nothing"
			[ $form != json ] || json 'd' >/dev/null
		done
	done
	cuvet env --cuda "$T/cuda" --shell bash --format markdown
	expect_out '```'
	cuvet inspect "$CUVET" --format markdown --color always
	expect_out '```'
	expect_clean "$OUT"
	cuvet env --cuda "$T/cuda" --format markdown --write "$T/rc"
	expect_status 2
	[ ! -e "$T/rc" ]
}

@test "--help of every command fits 80 columns and names the formats that are taken" {
	local c form
	for c in check triage guide plan fetch env prove inspect show explain snapshot data; do
		cuvet $c --help
		expect_status 0
		expect_no_err
		expect_columns 80
		! grep -q ' $' "$OUT" || fail "$c: blanks at the end of a line"
		[ "$(grep -c '^  --format ' "$OUT")" = 1 ] || fail "$c: --format twice"
		if grep -q 'sarif' "$OUT"; then
			[[ $c == check || $c == triage ]] || fail "$c takes no sarif"
		fi
	done
}

@test "X6: a terminal of no or one column is written to, whole" {
	local width
	for width in 0 1; do
		python3 - $width "$CUVET" "$S" <<-'END'
			import fcntl, os, pty, struct, subprocess, sys, termios
			width, cuvet, examples = int(sys.argv[1]), sys.argv[2], sys.argv[3]
			for args, code, word in (
			        (["check", examples + "/broken.json"], 1, "driver-library-mismatch"),
			        (["triage", examples + "/paste.txt"], 1, "gpu-too-new-for-build"),
			        (["guide", examples + "/broken.json"], 1, "reboot"),
			        (["show", "gpu", "T4"], 0, "TU104"), (["explain", "no-fault"], 0, "no-fault"),
			        (["inspect", cuvet], 0, "x86_64" if os.uname().machine == "x86_64" else "aarch64"),
			        (["plan", "--no-live", "--assume", "gpu=T4", "--assume", "driver=535",
			          "--assume", "python=3.11"], 0, "pip install"), (["--help"], 0, "triage")):
			    up, down = pty.openpty()
			    fcntl.ioctl(down, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
			    p = subprocess.Popen([cuvet, *args], stdin=subprocess.DEVNULL, stdout=down, stderr=down,
			                         env={"PATH": "/usr/bin:/bin", "TERM": "xterm"})
			    os.close(down)
			    seen = b""
			    while True:
			        try:
			            part = os.read(up, 65536)
			        except OSError:
			            break
			        if not part:
			            break
			        seen += part
			    os.close(up)
			    assert p.wait(30) == code and word.encode() in seen, (width, args, p.returncode, seen[:2000])
		END
	done
}

declared() { # facts; prints the root cause
	local k args=()
	for k in "$@"; do
		args+=(--assume "$k")
	done
	cuvet check --no-live --json "${args[@]}"
	json 'd["verdict"] + " " + str(d["root_cause"] and d["root_cause"]["name"])'
}

@test "--assume: a declared TensorFlow or JAX is held against Python, driver, GPU and cuDNN" {
	local tf=tensorflow=2.15.0
	[ "$(declared gpu=T4 driver=550 $tf python=3.11)" = "stack-ok None" ]
	[ "$(declared gpu=T4 driver=550 $tf python=3.13)" = "blocked python-no-wheel" ]
	[ "$(declared gpu=T4 driver=525.60.13 $tf python=3.11)" = "stack-ok None" ]
	[ "$(declared gpu=T4 driver=450 $tf python=3.11)" = "blocked driver-too-old" ]
	[ "$(declared gpu='Tesla K80' driver=470 $tf python=3.11)" = "blocked no-driver-can-help" ]
	[ "$(declared gpu='GTX 970' driver=550 tensorflow=2.21.0)" = "blocked gpu-too-old-for-build" ]
	[ "$(declared gpu=T4 driver=550 $tf arch=aarch64)" = "blocked cpu-only-platform" ]
	[ "$(declared gpu=T4 driver=550 $tf os=windows)" = "blocked tf-windows-no-gpu" ]
	[ "$(declared gpu=T4 driver=550 $tf cudnn=8.9.7)" = "stack-ok None" ]
	[ "$(declared gpu=T4 driver=550 $tf cudnn=8.6)" = "blocked cudnn-version-mismatch" ]
	[ "$(declared gpu=T4 driver=550 $tf cudnn=9.1)" = "blocked cudnn-major-mismatch" ]
	[ "$(declared gpu=T4 driver=550 jax=0.4.30 python=3.11)" = "stack-ok None" ]
	[ "$(declared gpu=T4 driver=550 jax=0.7.2 python=3.10)" = "blocked python-no-wheel" ]
	[ "$(declared gpu=T4 driver=450 jax=0.4.30 python=3.11)" = "blocked driver-too-old" ]
	# A release that the matrix does not know is no pass: it is said.
	declared gpu=T4 driver=550 jax=99.0
	[ "$(json '[s["needs"] for s in d["skipped"] if "jax" in s["needs"]]')" = "['matrix jax']" ]
}

@test "triage --snapshot has the form of a snapshot, and check reads it" {
	cuvet triage --snapshot "$S/paste.txt"
	expect_status 0
	[ "$(json 'd["schema"], len(d["date"])')" = "('cuvet.snapshot/1', 10)" ]
	cp "$OUT" "$T/s.json"
	cuvet check --json "$T/s.json"
	expect_status 1
	[ "$(json 'd["root_cause"]["name"]')" = gpu-too-new-for-build ]
}

@test "--python that names nothing is said, and no pass" {
	mkdir -p "$T/root/etc" "$T/root/opt/venv/bin"
	cuvet check --root "$T/root" --python /opt/nosuch/bin/python
	expect_status 4
	expect_no_out
	expect_err_lines 1
	expect_err /opt/nosuch/bin/python
	cuvet check --root "$T/root" --python /opt/venv
	[ "$status" -ne 4 ] || fail "a folder that is there"
	cuvet check --python "$T/no such"
	expect_status 4
	expect_err "$T/no such"
}

@test "P4: a snapshot with a byte order mark is a snapshot" {
	{ printf '\xef\xbb\xbf' && cat "$S/broken.json"; } >"$T/bom.json"
	cuvet check --json "$T/bom.json"
	expect_status 1
	[ "$(json 'd["root_cause"]["name"]')" = driver-library-mismatch ]
}

@test "a tree without any part of a stack is undetermined, not a pass" {
	mkdir -p "$T/root/etc" "$T/root/usr/lib"
	echo 'ID=debian' >"$T/root/etc/os-release"
	cuvet check --json --root "$T/root"
	expect_status 3
	[ "$(json 'd["verdict"], d["root_cause"]["name"], len(d["asks"]) > 0')" = \
		"('undetermined', 'insufficient-evidence', True)" ]
	[ "$(json 'all(e["source"] for e in d["root_cause"]["evidence"])')" = True ]
	mkdir -p "$T/root/usr/bin" "$T/root/usr/lib/python3.11"
	: >"$T/root/usr/bin/python3.11"
	ln -s python3.11 "$T/root/usr/bin/python3"
	chmod 755 "$T/root/usr/bin/python3.11"
	cuvet check --json --root "$T/root"
	expect_status 0
}

@test "every --assume overlays a snapshot: an answer, whatever it says already" {
	local fact file
	for file in healthy broken; do
		for fact in gpu=L4 driver=550.90.07 driver-flavor=open os=linux distro=ubuntu-22.04 arch=x86_64 \
			glibc=2.31 python=3.12 torch=2.6.0+cu124 torchvision=0.21.0 torchaudio=2.6.0 \
			tensorflow=2.15.0 jax=0.4.30 cuda=12.4 cudnn=9.1.0 gcc=13; do
			cuvet check --json "$S/$file.json" --assume "$fact"
			[[ $status == [013] ]] || fail "$file.json --assume $fact"
			[ "$(json 'd["snapshot"]["assumed"]')" = "['$fact']" ]
		done
	done
	cuvet check --json "$S/healthy.json" --assume tensorflow=2.15.0 --assume jax=0.4.30 \
		--assume torchaudio=2.5.1 --require 'torch>=2' --require 'cc>=8'
	expect_status 0
	[ "$(json 'sorted(p["name"] for p in d["snapshot"]["pythons"][0]["packages"] if p["name"] in ("jax", "tensorflow", "torch", "torchaudio", "torchvision"))')" = \
		"['jax', 'tensorflow', 'torch', 'torchaudio', 'torchvision']" ]
}
