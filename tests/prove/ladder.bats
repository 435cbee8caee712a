#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# timeout: 1800
#
# The ladder on a stand-in for libcuda that computes the kernels on memory of the host: that every
# fault of a driver, and every wrong bit, is a result of its rung and of nothing else.

load ../lib.sh

setup() {
	local dir=${CUVET_STANDIN:-$CUVET_ROOT/build/standin}
	LIBS=$BATS_TEST_TMPDIR/libs
	mkdir "$LIBS"
	ln -s "$dir/libcuda.so" "$LIBS/libcuda.so.1"
	ln -s "$dir/libnvidia-ml.so" "$LIBS/libnvidia-ml.so.1"
	export LD_LIBRARY_PATH=$LIBS
	unset CUDA_VISIBLE_DEVICES
}

# at SCRIPT ARGS...: runs with the stand-in doing what the script says.
at() {
	export CUVET_STANDIN_SCRIPT=$1
	shift
	cuvet "$@"
}

# expect_result RUNG RESULT [GPU]
expect_result() {
	local got
	got=$(json "[t['result'] for t in d['tests'] if t['name'] == '$1' and t['gpu'] == ${3-0}][0]")
	[ "$got" = "$2" ] || fail "$1 is $got, not $2 ($CUVET_STANDIN_SCRIPT)"
}

# expect_why RUNG TEXT
expect_why() {
	local got
	got=$(json "[t['why'] for t in d['tests'] if t['name'] == '$1'][0]")
	[[ $got == *"$2"* ]] || fail "why of $1: $got"
}

@test "a healthy GPU passes every rung, with a schema, a verdict and exit 0" {
	at "cc0=9.0" prove --json --full --bench
	expect_status 0
	[ "$(json 'd["schema"]')" = cuvet.proof/1 ] || fail schema
	[ "$(json 'd["verdict"]')" = stack-ok ] || fail verdict
	# Machine code is embedded where the build found nvcc.
	[ "$(json '[t["name"] for t in d["tests"] if t["result"] != "pass" and not (t["name"] == "sass-embedded" and "nvcc" in t["why"])]')" = "[]" ] ||
		fail "not all passed"
	[ "$(json 'all(set(t) >= {"name","gpu","result","code","ms","figures","why"} for t in d["tests"])')" = True ] ||
		fail "fields"
}

@test "the results of rungs are words of the language" {
	local english
	cuvet --help
	english=$out
	cuvet --lang ko --help
	[ "$out" != "$english" ] || skip "built without catalogues"
	at "cc0=5.2" --lang ko prove
	expect_status 0
	[[ $out != *"pass "* && $out != *"skip "* ]] || fail "still English"
}

@test "what a GPU does not have is skipped, with the capability that has it" {
	at "cc0=5.2;optin=0;coop=0;mapped=0" prove --json
	expect_status 0
	for rung in tensor-fp16 tensor-int8 tensor-fp8 dynamic-shared cooperative pinned-mapped; do
		expect_result "$rung" skip
	done
	expect_why tensor-fp16 7.0
	expect_result memory pass
}

@test "a GPU older than the kernels is skipped, not failed" {
	at "cc0=3.5" prove --json
	expect_status 3
	expect_result device skip
	expect_result fp32-fma skip
}

# The kernel, and the rung whose result it spoils.
kernels="cuvet_fill:ptx-jit cuvet_fma:fp32-fma cuvet_fma64:fp32-fma cuvet_int:int-atomics
	cuvet_atomics:int-atomics cuvet_shared:shared-memory cuvet_warp:sass-load
	cuvet_diverge:sass-load cuvet_reduce:reduction cuvet_constant:constant-texture
	cuvet_surface:constant-texture cuvet_texture:constant-texture cuvet_affine:streams
	cuvet_spin:streams cuvet_dynamic:dynamic-shared cuvet_tensor_f16:tensor-fp16
	cuvet_tensor_bf16:tensor-bf16 cuvet_tensor_tf32:tensor-tf32 cuvet_tensor_s8:tensor-int8
	cuvet_tensor_e4m3:tensor-fp8 cuvet_tensor_e5m2:tensor-fp8 cuvet_tensor_wgmma:tensor-wgmma
	cuvet_memory_write:memory cuvet_grid:cooperative cuvet_print:printf"

@test "V7: one wrong bit in the result of any kernel breaks its rung" {
	local pair
	for pair in $kernels; do
		at "cc0=9.0;flip=${pair%:*};word=0;bit=0" prove --json
		expect_status 1
		expect_result "${pair#*:}" fail
		[ "$(json 'd["verdict"]')" = blocked ] || fail verdict
		at "cc0=9.0;flip=${pair%:*};word=7;bit=31;nth=1" prove --json
		expect_status 1
		expect_result "${pair#*:}" fail
	done
}

@test "V7: a kernel that does nothing breaks its rung: the result is poison" {
	local pair
	for pair in $kernels cuvet_memory_check:memory; do
		case $pair in cuvet_surface*) continue ;; esac
		at "cc0=9.0;drop=${pair%:*}" prove --json
		expect_status 1
		expect_result "${pair#*:}" fail
	done
	at "drop=cuvet_fill" prove --json
	expect_why ptx-jit "were never written"
}

@test "V7: a copy that changes one bit, or does nothing, breaks the copies" {
	local call
	for call in cuMemcpyHtoD_v2 cuMemcpyDtoH_v2 cuMemcpyDtoD_v2; do
		at "flip=$call" prove --json
		expect_status 1
		expect_result copy fail
		at "drop=$call" prove --json
		expect_status 1
		expect_result copy fail
	done
	for call in cuMemcpyHtoDAsync_v2 cuMemcpyDtoHAsync_v2; do
		at "flip=$call" prove --json
		expect_result streams fail
		at "drop=$call" prove --json
		expect_result streams fail
	done
	at "drop=cuLinkComplete" prove --json
	expect_result sass-load fail
	at "flip=cuEventElapsedTime" prove --json
	expect_result streams fail
	at "behave=same" prove --json
	expect_result allocation fail
	expect_why allocation "same memory twice"
}

@test "machine code that this driver is too old for is skipped, with the driver that it needs" {
	[ "$(CUVET_STANDIN_SCRIPT="" "$CUVET" prove --json | python3 -c 'import json, sys
print([t["why"] for t in json.load(sys.stdin)["tests"] if t["name"] == "sass-embedded"][0])')" = None ] ||
		skip "this cuvet was built without nvcc"
	at "cc0=9.0;version=12080;code.sass=209" prove --json
	expect_status 0
	expect_result sass-embedded skip
	expect_why sass-embedded "needs driver >= 580"
	expect_result tensor-wgmma pass
	# A driver of that CUDA has to take it.
	at "cc0=9.0;version=13000;code.sass=209" prove --json
	expect_status 1
	expect_result sass-embedded fail
	at "cc0=7.0" prove --json
	expect_status 0
	expect_why sass-embedded "is not for 7.0"
}

@test "a code has its name beside it, where the driver knows it" {
	at "code.cuMemGetInfo_v2=2" prove --json
	expect_why allocation "cuMemGetInfo_v2 gave 2 (CUDA_ERROR_OUT_OF_MEMORY)"
	at "code.cuMemGetInfo_v2=12345" prove --json
	[ "$(json '[t["why"] for t in d["tests"] if t["name"] == "allocation"][0]')" = "cuMemGetInfo_v2 gave 12345" ] || fail why
}

@test "the first broken rung ends the ladder: what follows is skipped and says so" {
	at "flip=cuvet_shared" prove --json
	expect_result int-atomics pass
	expect_result shared-memory fail
	expect_result warp skip
	expect_why memory "shared-memory failed before"
	at "flip=cuvet_shared" prove --json --keep-going
	expect_status 1
	expect_result memory pass
}

@test "V8: a crash is the rung's result, with the call" {
	local how
	for how in segv:SIGSEGV abort:SIGABRT bus:SIGBUS; do
		at "behave=${how%:*};at=cuLaunchKernel" prove --json
		expect_status 1
		expect_result ptx-jit crashed
		expect_why ptx-jit "${how#*:}, inside cuLaunchKernel"
		expect_result sass-load skip
	done
	at "behave=segv;at=load" prove --json
	expect_result load-libcuda crashed
}

@test "V9: a driver that ends the process is a crash of the rung" {
	at "behave=exit0;at=cuGraphLaunch" prove --json
	expect_status 1
	expect_result graph crashed
	expect_why graph cuGraphLaunch
}

@test "V10: a driver that hangs is a result, within the deadline" {
	local start=${EPOCHREALTIME/./} took
	at "behave=loop;at=cuEventSynchronize" prove --json --timeout 1
	took=$(((${EPOCHREALTIME/./} - start) / 1000))
	expect_status 1
	expect_result streams hung
	expect_why streams "no answer within 1 s, inside cuEventSynchronize"
	expect_result graph skip
	[ "$took" -lt 20000 ] || fail "took $took ms"
}

@test "V8, V10: with --keep-going the rest goes on in a new process" {
	at "behave=segv;at=cuGraphLaunch" prove --json --keep-going
	expect_status 1
	expect_result graph crashed
	expect_result memory pass
	expect_result pinned-mapped pass
	[ "$(json 'len(d["gpus"]), len(d["tests"]) == len({t["name"] for t in d["tests"]})')" = "(1, True)" ] ||
		fail "rows twice"
	at "behave=loop;at=cuGraphLaunch" prove --json --keep-going --timeout 1
	expect_status 1
	expect_result graph hung
	expect_result memory pass
	# Where the new one comes not even as far, that is the end, and no rung after it is blamed.
	at "behave=segv;at=cuMemsetD8_v2" prove --json --keep-going
	expect_result copy crashed
	expect_result ptx-jit skip
	at "behave=dies;at=cuGraphLaunch;mark=$BATS_TEST_TMPDIR/mark" prove --json --keep-going
	expect_status 1
	expect_result graph crashed
	expect_result cuinit pass
	expect_result memory skip
	expect_why memory "a new process broke at cuinit"
}

@test "V12: what a driver writes anywhere comes out nowhere" {
	at "behave=flood;at=cuMemAlloc_v2" prove
	expect_status 0
	expect_clean "$OUT"
	expect_clean "$ERR"
	at "behave=junk;at=cuMemAlloc_v2" prove --json
	expect_status 1
	expect_result allocation crashed
}

@test "V1, V3: without libcuda, or with one that lacks a call" {
	rm "$LIBS/libcuda.so.1"
	at "" prove --json
	expect_result load-libcuda fail
	ln -s "${CUVET_STANDIN:-$CUVET_ROOT/build/standin}/libcuda-lacking.so" "$LIBS/libcuda.so.1"
	at "" prove --json
	expect_result load-libcuda fail
	expect_why load-libcuda cuDeviceGetCount
}

@test "V7: senseless numbers are failures, not GPUs" {
	at "behave=garbage" prove --json
	expect_result cuinit fail
	at "sms=0" prove --json
	expect_result device fail
	at "cc0=-1.0" prove --json
	expect_result device fail
	[ "$(json 'd["gpus"][0]["compute_capability"]')" = 0.0 ] || fail "against the schema"
}

@test "no GPU: exit 3, gpu-not-found by name" {
	[ ! -e /dev/nvidiactl ] || skip "this machine has a GPU"
	rm "$LIBS/libcuda.so.1"
	at "nvml.devices=0" prove --json
	expect_status 3
	[ "$(json 'd["verdict"]')" = undetermined ] || fail verdict
	[ "$(json 'd["root_cause"]')" = gpu-not-found ] || fail cause
	at "nvml.devices=0" prove
	expect_status 3
	expect_out gpu-not-found
}

@test "every GPU has rows of its own; one that breaks stops no other" {
	at "devices=3;cc0=9.0;cc1=7.0" prove --json
	expect_status 0
	[ "$(json 'sorted({t["gpu"] for t in d["tests"]})')" = "[0, 1, 2]" ] || fail "GPUs"
	[ "$(json 'len(d["gpus"])')" = 3 ] || fail "gpus"
	at "devices=2" prove --json --gpu 1
	expect_status 0
	[ "$(json 'sorted({t["gpu"] for t in d["tests"]})')" = "[1]" ] || fail "the one"
	at "devices=2" prove --json --gpu 5
	expect_status 1
	expect_result device fail 5
}

@test "the memory test takes what there is, in pieces where one is not to be had" {
	at "memory_mib=64;largest_mib=20" prove --json --full
	expect_status 0
	[ "$(json '[t["figures"]["mib"] for t in d["tests"] if t["name"] == "memory"][0]')" = 53 ] ||
		fail "mib: $(json '[t["figures"] for t in d["tests"] if t["name"] == "memory"][0]')"
	# Of nine patterns a wrong bit under any is found.
	for n in 1 2 3 4 5 6 7 8 9; do
		at "memory_mib=16;flip=cuvet_memory_write;word=1001;nth=$n" prove --json --full
		expect_status 1
		expect_result memory fail
		expect_why memory "1 words of 16 bytes are wrong"
	done
}

@test "an interrupt ends the workers and is no pass" {
	local pid child
	export CUVET_STANDIN_SCRIPT="behave=loop;at=cuMemAlloc_v2"
	"$CUVET" prove --json >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" &
	pid=$!
	sleep 1
	child=$(pgrep -P "$pid" | head -n 1)
	[ -n "$child" ] || fail "no worker"
	# A background job of a shell may ignore SIGINT; and it may have ended at the first signal.
	kill -INT "$pid"
	kill -TERM "$pid" 2>/dev/null || true
	status=0
	wait "$pid" || status=$?
	[ "$status" -eq 3 ] || fail "exit code"
	sleep 0.3
	[ ! -e "/proc/$child" ] || [ "$(awk '{print $3}' "/proc/$child/stat")" = Z ] || fail "worker lives"
	grep -q interrupted "$BATS_TEST_TMPDIR/out" || fail "no word of it"
}

@test "a figure far below what is to be expected is inconclusive, and degraded is exit 0" {
	at "bus=900000" prove --json --bench
	expect_status 0
	expect_result bench-memory inconclusive
	expect_result bench-launch pass
	[ "$(json 'd["verdict"]')" = degraded ] || fail verdict
	at "bus=900000" prove --json --bench --strict
	expect_status 1
	at "" prove --json --bench --strict
	expect_status 0
	[ "$(json 'd["verdict"]')" = stack-ok ] || fail verdict
}

# figure RUNG NAME [GPU]
figure() {
	json "[t['figures'].get('$2') for t in d['tests'] if t['name'] == '$1' and t['gpu'] == ${3-0}][0]"
}

@test "memory is held against the table by the driver's name of the GPU, else by the bus" {
	at "name0=NVIDIA H200;bus=138564" prove --json --bench
	expect_result bench-memory inconclusive
	[ "$(figure bench-memory expected_gb_per_s)" = 4224 ] || fail "not 4800 x 0.88"
	expect_why bench-memory "of what is to be expected; NVML shows no cause"
	# A bus that carries nothing like it: another card under that name.
	at "name0=NVIDIA H200;bus=900000" prove --json --bench
	[ "$(figure bench-memory expected_gb_per_s)" = 178200 ] || fail "not by the bus"
	# What was written from knowledge alone is said to be so.
	at "name0=NVIDIA A40;bus=138564" prove --json --bench
	[ "$(json '[round(t["figures"]["expected_gb_per_s"]) for t in d["tests"] if t["name"] == "bench-memory"][0]')" = 4224 ] ||
		fail "the bus"
	at "name0=NVIDIA H20-3e;bus=138564" prove --json --bench
	expect_why bench-memory "to be expected (inferred)"
	at "name0=NVIDIA H200 MIG 1g.18gb;bus=138564;nvml.mig0=0" prove --json --bench
	expect_result bench-memory pass
	[ "$(figure bench-memory ratio)" = None ] || fail "a slice is judged"
}

@test "below 80% NVML says what may be the cause" {
	local slow="bus=900000" link="nvml.gen0=6;nvml.max_gen0=6;nvml.width0=16;nvml.max_width0=16"
	local script text turns=0
	while IFS='|' read -r script text; do
		# Each turn climbs the whole ladder; with the sanitizers two of them have to do.
		turns=$((turns + 1))
		[ "${CUVET_PROFILE:-}" != asan ] || [ $turns -le 2 ] || continue
		at "$slow;$script" prove --json --bench
		expect_result bench-memory inconclusive
		expect_why bench-memory "$text"
	done <<-'END'
		nvml.held0=0x41|thermal slowdown (hardware)
		nvml.held0=0x20|thermal slowdown (software)
		nvml.held0=0x8|hardware slowdown
		nvml.held0=0x80|power brake
		nvml.held0=0x4|power cap
		nvml.held0=0x4;nvml.power0=300000;nvml.full_power0=700000|the power limit is 300 of 700 W
		nvml.power0=300000;nvml.full_power0=700000|the power limit is 300 of 700 W
		nvml.ecc_on0=1|ECC is on
		nvml.width0=4;nvml.max_width0=16|NVML shows no cause
	END
	at "$link" prove --json --bench
	expect_result bench-h2d inconclusive
	expect_why bench-h2d "NVML shows no cause"
	# In a slot with fewer lanes than the card has: held against what it could be.
	at "nvml.gen0=1;nvml.max_gen0=6;nvml.width0=1;nvml.max_width0=16" prove --json --bench
	expect_result bench-h2d inconclusive
	expect_why bench-h2d "the link has 1 of 16 lanes"
	[ "$(figure bench-h2d link_lanes)" = 1 ] || fail lanes
	at "nvml.gen0=6;nvml.max_gen0=6;nvml.width0=16;nvml.max_width0=32" prove --json --bench
	expect_why bench-d2h "the link has 16 of 32 lanes"
	at "nvml.gen0=6;nvml.max_gen0=7;nvml.width0=16;nvml.max_width0=16" prove --json --bench
	expect_why bench-h2d "the link runs at generation 6 of 7"
	[ "$(json 'd["verdict"]')" = degraded ] || fail verdict
	rm "$LIBS/libnvidia-ml.so.1"
	at "$slow" prove --json --bench
	expect_why bench-memory "NVML is not there to say why"
}

@test "on a busy GPU speed is reported, not judged" {
	at "bus=900000;nvml.busy0=55" prove --json --bench
	expect_why bench-memory "GPUs here are in use: not judged"
	[ "$(figure bench-memory ratio)" != None ] || fail "not reported"
	at "devices=2;slow=GPU-2222;nvml.busy0=55" prove --json --bench
	expect_result bench-memory pass 1
}

@test "GPUs of one model are held against one another" {
	at "devices=2;slow=GPU-2222" prove --json --bench
	expect_result bench-memory pass 0
	expect_result bench-memory inconclusive 1
	[ "$(json '"of GPU 0, which is of the same model" in [t["why"] for t in d["tests"] if t["name"] == "bench-memory"][1]')" = True ] ||
		fail why
	[ "$(json 'd["verdict"]')" = degraded ] || fail verdict
	at "devices=2;name1=NVIDIA Other" prove --json --bench
	[ "$(figure bench-memory of_best_sibling)" = None ] || fail "another model"
}

@test "MIG: every device that NVML knows is a target by its UUID" {
	at "name0=NVIDIA H200 MIG 1g.18gb;nvml.devices=2;nvml.mig0=1;nvml.migs0=3;nvml.mig1=0" prove --json
	expect_status 0
	[ "$(json '[g["uuid"] for g in d["gpus"]]')" = "['MIG-0-0', 'MIG-0-1', 'MIG-0-2', 'GPU-00000001-0000-0000-0000-000000000000']" ] ||
		fail "$(json '[g["uuid"] for g in d["gpus"]]')"
	[ "$(json 'all(any(t["name"] == "memory" and t["result"] == "pass" and t["gpu"] == i for t in d["tests"]) for i in range(4))')" = True ] ||
		fail "not each was proved"
	# The order is that of nvidia-smi -L, whatever libcuda begins with; so are the numbers.
	at "name0=NVIDIA H200 MIG 1g.18gb;nvml.devices=2;nvml.mig0=0;nvml.mig1=1;nvml.migs1=2" prove --json
	[ "$(json '[g["uuid"] for g in d["gpus"]]')" = "['GPU-00000000-0000-0000-0000-000000000000', 'MIG-1-0', 'MIG-1-1']" ] ||
		fail "$(json '[g["uuid"] for g in d["gpus"]]')"
	at "name0=NVIDIA H200 MIG 1g.18gb;nvml.devices=2;nvml.mig0=0;nvml.mig1=1;nvml.migs1=2" prove --json --gpu 2
	[ "$(json '[(g["gpu"], g["uuid"]) for g in d["gpus"]]')" = "[(2, 'MIG-1-1')]" ] || fail "$(json '[g["uuid"] for g in d["gpus"]]')"
	[ "$(json 'sorted({t["gpu"] for t in d["tests"]})')" = "[2]" ] || fail "rows of others"
	at "name0=NVIDIA H200 MIG 1g.18gb;nvml.behave=segv" prove --json
	expect_status 0
	[ "$(json 'len(d["gpus"])')" = 1 ] || fail "without NVML"
	CUDA_VISIBLE_DEVICES=MIG-0-1 at "name0=NVIDIA H200 MIG 1g.18gb;nvml.mig0=1;nvml.migs0=3" prove --json
	[ "$(json 'len(d["gpus"])')" = 1 ] || fail "what the user chose"
}

@test "pairs of GPUs: a wrong bit by peer access, everywhere, or by no access at all" {
	at "devices=2" prove --json
	expect_result p2p pass
	[ "$(json '[t["figures"]["peer"] for t in d["tests"] if t["name"] == "p2p"]')" = "[1, 0]" ] ||
		fail peers
	at "devices=2;flip=cuMemcpyPeer;nth=1" prove --json
	expect_status 1
	expect_result p2p fail
	at "devices=2;flip=cuMemcpyPeer" prove --json
	expect_status 0
	expect_result p2p inconclusive
	at "devices=2;p2p=0" prove --json
	expect_result p2p skip
	at "devices=2;behave=segv;at=cuCtxEnablePeerAccess" prove --json
	expect_status 1
	expect_result p2p crashed None
	expect_why p2p "SIGSEGV, GPU 0 to GPU 1"
}

@test "usage" {
	at "" prove x
	expect_status 2
	at "" prove --quick --full
	expect_status 2
	at "" prove --gpu x
	expect_status 2
	at "" prove --exec
	expect_status 2
	at "" prove --timeout 0
	expect_status 2
	at "" prove --error gpu-not-found
	expect_status 2
	at "" prove --data /nonexistent
	expect_status 4
	at "" prove --stack /nonexistent
	expect_status 4
	at "" prove --root /
	expect_status 2
}
