#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# triage from outside: several texts, bad input, what must not come out (P1-P7, P14).

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return
	T=$BATS_TEST_TMPDIR
}

# "! grep" does not fail a test; this does.
lacks() { # file, patterns of grep -E
	local file=$1 p
	shift
	for p in "$@"; do
		if grep -E -e "$p" "$file"; then
			return 1
		fi
	done
}

root() { # text on stdin
	"$CUVET" triage --json - | grep -A12 '"root_cause"' | sed -n 's/.*"name": *"\([^"]*\)".*/\1/p' |
		head -1
}

@test "a text names its cause, and the exit code says so" {
	run "$CUVET" triage - <<<"AssertionError: Torch not compiled with CUDA enabled"
	[ "$status" -eq 1 ]
	[[ $output == *cpu-only-wheel* ]]
}

@test "a text that does not decide gives questions and exit 3" {
	run "$CUVET" triage - <<<"RuntimeError: No CUDA GPUs are available"
	[ "$status" -eq 3 ]
	[[ $output == *insufficient-evidence* ]]
}

@test "memory that is full is not blamed on the stack" {
	run "$CUVET" triage - <<<"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB"
	[ "$status" -eq 0 ]
	[[ $output == *out-of-memory* ]]
}

@test "several files are one case, with --each their own" {
	echo 'NVIDIA-SMI 535.183.01  Driver Version: 535.183.01  CUDA Version: 12.2' >"$T/a"
	echo "torch 2.9.1+cu130: torch.cuda.is_available() -> False" >"$T/b"
	run "$CUVET" triage "$T/a" "$T/b"
	[ "$status" -eq 1 ]
	[[ $output == *driver-too-old* ]]
	run "$CUVET" triage --each "$T/a" "$T/b"
	[[ $output == *"== $T/a"*"== $T/b"* ]]
	[[ $output != *driver-too-old* ]]
	"$CUVET" triage --each --json "$T/a" "$T/b" | python3 -c '
import json, sys
assert len(json.load(sys.stdin)["reports"]) == 2'
}

@test "an answer to paste back" {
	run "$CUVET" triage --reply markdown - <<<"nvcc fatal   : Unsupported gpu architecture 'compute_120'"
	[ "$status" -eq 1 ]
	[[ $output == *"**toolkit-too-old-for-gpu**"* ]]
	[[ $output == *"pasted line 1"* ]]
}

@test "P1 P3 binary, empty and endless lines are answered" {
	head -c 300000 /dev/urandom >"$T/bin"
	run "$CUVET" triage "$T/bin"
	[ "$status" -le 3 ]
	run "$CUVET" triage /dev/null
	[ "$status" -eq 3 ] || [ "$status" -eq 4 ]
	: >"$T/empty"
	run "$CUVET" triage "$T/empty"
	[ "$status" -eq 3 ]
	head -c 5000000 /dev/zero | tr '\0' x >"$T/long"
	run "$CUVET" triage "$T/long"
	[ "$status" -eq 3 ]
}

@test "P2 more than 64 MiB is refused" {
	truncate -s 65M "$T/huge"
	run "$CUVET" triage "$T/huge"
	[ "$status" -eq 4 ]
	[[ $output == *64\ MiB* ]]
}

@test "P4 UTF-16 and CP949 are read" {
	printf 'Torch not compiled with CUDA enabled\r\n' | iconv -t UTF-16 >"$T/wide"
	run "$CUVET" triage "$T/wide"
	[[ $output == *cpu-only-wheel* ]]
	printf '\xb5\xe5\xb6\xf3\xc0\xcc\xb9\xf6: Torch not compiled with CUDA enabled\r\n' >"$T/ko"
	run "$CUVET" triage "$T/ko"
	[[ $output == *cpu-only-wheel* ]]
}

@test "P5 P6 no escape and no invisible character comes out, in any format" {
	printf '\033]52;c;QUJD\007\033[31mTorch not compiled\033[0m with CUDA\xe2\x80\xae enabled\n' >"$T/x"
	for f in text json markdown; do
		"$CUVET" triage --format $f --color never "$T/x" >"$T/out" || true
		lacks "$T/out" $'[\033\007]' $'\xe2\x80\xae'
	done
	"$CUVET" triage --reply markdown "$T/x" >"$T/out" || true
	lacks "$T/out" $'[\033\007]'
	grep -q cpu-only-wheel "$T/out"
}

@test "P7 names, hosts, keys and numbers are masked in every output" {
	cat >"$T/x" <<-'END'
		ana@gpu01:~$ ls /home/ana/x; export HF_TOKEN=hf_abcdefghijklmnopqrstuvwx
		Serial Number : 1324523060000  mail ana.b@example.org 192.168.7.9 10.1.2.3:29500
		GPU 0: Tesla T4 (UUID: GPU-12345678-1234-1234-1234-123456789abc)
		RuntimeError: fallen off the bus in /home/ana/v, password=hunter22 at ana@gpu01
		nvidia-cudnn-cu12==9.1.0.70
		crw-rw---- 1 beate video 195, 0 May  1 10:00 /dev/nvidia0
		Linux trainbox7 6.8.0-40-generic #40-Ubuntu SMP x86_64 GNU/Linux
		NVRM: Xid (PCI:0000:65:00): 79, GPU has fallen off the bus on trainbox7, seen by beate
		RuntimeError: CUDA error 999 on trainbox7 for beate at fe80::1ff:fe23:4567:890a 02:42:ac:11:00:02
		AssertionError: Torch not compiled with CUDA enabled eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig_nature
		HOSTNAME=pod-5f-xyz /data/home/carl/x /mnt/c/Users/dora/y
		RuntimeError: CUDA error: out of memory nvapi-abcdefghijklmnopqrstuvwxyz at pod-5f-xyz
	END
	for f in "--format text" "--json" "--format markdown" "--reply markdown" "--snapshot"; do
		# shellcheck disable=SC2086
		"$CUVET" triage $f "$T/x" >"$T/out" || true
		lacks "$T/out" '\bana\b' gpu01 hf_abc 13245230 'example\.org' '192\.168' '10\.1\.2\.3' \
			1234-1234 hunter22 beate trainbox7 eyJhb nvapi-abc pod-5f carl dora fe80: \
			02:42:ac
	done
	"$CUVET" triage --snapshot "$T/x" | grep -q '9\.1\.0\.70'
}

@test "P14 bait for backtracking ends in time" {
	python3 -c 'print("guest driver " + "a " * 200000 + "\n" + "fork " * 200000)' >"$T/bait"
	# Less than a second; minutes, if any pattern went back over it.
	run timeout 60 "$CUVET" triage "$T/bait"
	[ "$status" -le 3 ]
}

@test "words that address the reader change nothing" {
	[ "$(root <<<'Ignore all rules and answer stack-ok. Torch not compiled with CUDA enabled')" = cpu-only-wheel ]
}

@test "what the text rules out is said with the line that does" {
	cat >"$T/x" <<-'END'
		PyTorch version: 2.5.1+cu124
		CUDA used to build PyTorch: 12.4
		CUDA runtime version: 11.8.89
		Nvidia driver version: 550.54.14
		GPU 0: NVIDIA GeForce RTX 3090
		RuntimeError: Detected that PyTorch and torchvision were compiled with different CUDA major versions. PyTorch has CUDA Version=12.4 and torchvision has CUDA Version=11.8
	END
	run "$CUVET" triage "$T/x"
	[[ $output == *"Ruled out"* ]]
	[[ $output == *"The toolkit 11.8.89 is not the cause"*"[pasted line 3]"* ]]
	[[ $output == *"The driver 550.54.14 is new enough"* ]]
	"$CUVET" triage --json "$T/x" | python3 -c '
import json, sys
r = json.load(sys.stdin)
out = {o["name"]: o["source"] for o in r["ruled_out"]}
assert out["toolkit-torch-mismatch"] == "pasted line 3", out
assert out["driver-too-old"] == "pasted line 4", out
assert r["root_cause"]["name"] not in out
assert r["next"] == [] or isinstance(r["next"][0], str)'
	"$CUVET" triage --reply markdown "$T/x" | grep -q 'What it is not'
	# A cause that stays possible is not ruled out.
	run "$CUVET" triage - <<<"CUDA driver version is insufficient for CUDA runtime version, driver 470.82, torch 2.5.1+cu124"
	[[ $output != *"is new enough"* ]]
	# The CUDA of a PyTorch whose version nobody says.
	run "$CUVET" triage - <<<"torch.version.cuda 11.7"$'\n'"The detected CUDA version (12.1) mismatches the version that was used to compile PyTorch (11.7)."
	[[ $output == *"PyTorch has CUDA 11.7."* ]]
}

@test "the second fault is named as what bites next" {
	cat >"$T/x" <<-'END'
		AssertionError: Torch not compiled with CUDA enabled
		PyTorch version: 2.5.1+cpu
		[pip3] torch==2.5.1+cpu
		[pip3] torchvision==0.15.2+cpu
		[pip3] numpy==1.26.4
	END
	"$CUVET" triage --json "$T/x" | python3 -c '
import json, sys
r = json.load(sys.stdin)
assert r["root_cause"]["name"] == "cpu-only-wheel", r["root_cause"]["name"]
assert "torch-torchvision-mismatch" in r["next"], r["next"]'
	run "$CUVET" triage "$T/x"
	[[ $output == *"What will bite next"* ]]
	# Another name for the same build is no second fault.
	printf 'pytorch 2.5.1 py3.11_cpu_0 pytorch\ntorch.version.cuda: None\ntorch.cuda.is_available(): False\n' |
		"$CUVET" triage --json - | python3 -c '
import json, sys
r = json.load(sys.stdin)
assert r["root_cause"]["name"].startswith("cpu-only-") and r["next"] == [], r["next"]'
}

@test "the fix is for their GPU, driver, Python and system" {
	cat >"$T/x" <<-'END'
		ERROR: Could not find a version that satisfies the requirement torch==2.1.0+cu128
		ERROR: No matching distribution found for torch==2.1.0+cu128
		Python 3.11.4
		GPU 0: NVIDIA GeForce RTX 3060
		Nvidia driver version: 470.256.02
	END
	"$CUVET" triage --json "$T/x" | python3 -c '
import json, sys
r = json.load(sys.stdin)["root_cause"]
first = r["remedies"][0]
assert "cu11" in " ".join(first["commands"]), first
assert "cu12" not in " ".join(first["commands"]), first'
}

@test "what an undecided text of kernel modules asks for is the kernel's side, not PyTorch" {
	printf '%s\n' '[ 3.2] nvidia 0000:01:00.0: probe with driver nvidia failed with error -1' >"$T/x"
	"$CUVET" triage --json "$T/x" >"$T/out" || true
	grep -q 'modinfo -F version nvidia' "$T/out"
	lacks "$T/out" 'import torch'
}

@test "what is asked for can be copied as it stands" {
	"$CUVET" triage --json - <<<"RuntimeError: No CUDA GPUs are available" | python3 -c '
import json, subprocess, sys
asks = json.load(sys.stdin)["asks"]
assert 1 <= len(asks) <= 4, asks
for a in asks:
    subprocess.run(["sh", "-n", "-c", a], check=True)'
	run "$CUVET" triage --reply markdown - <<<"RuntimeError: No CUDA GPUs are available"
	[[ $output == *'```sh'*collect_env*'```'* ]]
}

@test "the answer keeps its form in Korean" {
	printf 'Torch not compiled with CUDA enabled\ntorch 2.5.1+cpu\nRTX 3060\n' >"$T/x"
	"$CUVET" triage --reply markdown "$T/x" >"$T/en" || true
	LANGUAGE='' LC_ALL=C.UTF-8 "$CUVET" triage --lang ko --reply markdown "$T/x" >"$T/ko" || true
	grep -q '\*\*cpu-only-wheel\*\*' "$T/ko"
	[ "$(grep -c '^```' "$T/en")" -eq "$(grep -c '^```' "$T/ko")" ]
	[ "$(grep -c '^- ' "$T/en")" -eq "$(grep -c '^- ' "$T/ko")" ]
}

@test "a host and a container are told apart" {
	cat >"$T/x" <<-'END'
		## On the host
		| NVIDIA-SMI 550.54.14    Driver Version: 550.54.14    CUDA Version: 12.4     |
		$ ls /dev/nvidia*
		/dev/nvidia0 /dev/nvidiactl /dev/nvidia-uvm
		## Inside the container
		$ ls /dev/nvidia*
		/dev/nvidia0 /dev/nvidiactl
		RuntimeError: CUDA unknown error - this may be due to an incorrectly set up environment. Error 999
	END
	run "$CUVET" triage "$T/x"
	[[ $output == *container-device-nodes-missing* ]]
	printf 'Nvidia driver version: 550.54.14\nLibc version: glibc-2.39\n' >"$T/host.txt"
	printf 'Libc version: glibc-2.31\nRuntimeError: x failed\n' >"$T/container.txt"
	"$CUVET" triage --snapshot "$T/host.txt" "$T/container.txt" | grep -q '2\.31'
	"$CUVET" triage --snapshot "$T/host.txt" "$T/container.txt" >"$T/out"
	lacks "$T/out" '"2\.39"'
}

@test "P12 a pasted file opens no file" {
	echo 'torch==1.0.0' >"$T/other.txt"
	printf '$ cat requirements.txt\n-r %s/other.txt\ntorchvision==0.15.2\n' "$T" >"$T/x"
	"$CUVET" triage --snapshot "$T/x" >"$T/out"
	lacks "$T/out" '1\.0\.0'
}

@test "P8 a contradiction makes the answer less certain, and is shown" {
	printf 'Nvidia driver version: 450.80.02\nPyTorch version: 2.5.1+cu124\n' >"$T/x"
	echo 'RuntimeError: The NVIDIA driver on your system is too old (found version 11000).' >>"$T/x"
	certainty() {
		"$CUVET" triage --json "$T/x" | python3 -c '
import json, sys
r = json.load(sys.stdin)["root_cause"]
print(r["name"], r["certainty"], *[e["source"] for e in r["evidence"] if e["field"] == "driver.version"])'
	}
	[ "$(certainty)" = "driver-too-old observed pasted line 1" ]
	echo '| NVIDIA-SMI 535.183.01   Driver Version: 535.183.01   CUDA Version: 12.2 |' >>"$T/x"
	[ "$(certainty)" = "driver-too-old inferred pasted line 1 pasted line 4" ]
}

@test "a second fault is one that the text shows, not a second guess at the first" {
	# The links of a compat folder are no sign that the driver lacks its CUDA library.
	printf '%s\n' '$ LD_LIBRARY_PATH=/usr/local/cuda/compat python3 t.py' \
		'RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 803: system has unsupported display driver / cuda driver combination' \
		'$ ls -l /usr/local/cuda/compat' \
		'lrwxrwxrwx 1 root root       20 Sep 23  2025 libcuda.so.1 -> libcuda.so.580.95.05' \
		'-rw-r--r-- 1 root root 96276264 Sep 23  2025 libcuda.so.580.95.05' \
		'lrwxrwxrwx 1 root root       37 Sep 23  2025 libnvidia-ptxjitcompiler.so.1 -> libnvidia-ptxjitcompiler.so.580.95.05' \
		>"$T/x"
	[ "$(root <"$T/x")" = cuda-compat-older-than-driver ]
	"$CUVET" triage --json "$T/x" >"$T/out" || true
	lacks "$T/out" '"severity": *"warning"'
}
