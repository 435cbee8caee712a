#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# profiles: release
#
# On a machine with a GPU: that it passes, that faults made on purpose are found, that the sanitizer
# of CUDA finds nothing in the kernels. Elsewhere skipped by name. CUVET_TEST_STACK names an
# environment whose libraries are tested too.

load ../lib.sh

setup() {
	[ -e /dev/nvidiactl ] || skip "no NVIDIA GPU here"
}

@test "GPU: every rung passes" {
	cuvet prove --json
	expect_status 0
	[ "$(json 'd["verdict"]')" = stack-ok ] || fail verdict
	[ "$(json 'len({t["gpu"] for t in d["tests"] if t["gpu"] is not None}) == len(d["gpus"])')" = True ] ||
		fail "a GPU without rows"
}

# between: a folder whose libcuda changes results of the real one, by tests/standin/libcuda-flip.c.
between() {
	CUVET_REAL_LIBCUDA=$("$CUVET" prove --json --gpu 0 | python3 -c 'import json, sys; print(json.load(sys.stdin)["driver_library"])')
	export CUVET_REAL_LIBCUDA
	mkdir "$BATS_TEST_TMPDIR/libs"
	ln -s "${CUVET_STANDIN:-$CUVET_ROOT/build/standin}/libcuda-flip.so" "$BATS_TEST_TMPDIR/libs/libcuda.so.1"
	ln -s "$CUVET_REAL_LIBCUDA" "$BATS_TEST_TMPDIR/libs/libcuda-real.so"
	export LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/libs:${LD_LIBRARY_PATH-}
}

@test "GPU: one wrong bit in any result is found, whichever rung it belongs to" {
	local n rung seen=
	between
	for n in $(seq 1 250); do
		CUVET_FLIP_NTH=$n cuvet prove --json --gpu 0
		[ "$status" -ne 0 ] || break
		expect_status 1
		seen="$seen $(json '" ".join(t["name"] for t in d["tests"] if t["result"] == "fail")')"
	done
	# Behind the last result nothing is changed.
	for rung in copy ptx-jit fp32-fma int-atomics shared-memory warp reduction constant-texture \
		streams graph memory pinned-mapped; do
		[[ " $seen " == *" $rung "* ]] || fail "of $rung nothing was changed in $n runs"
	done
}

@test "GPU: hidden, it is not reached: exit 3 and the reason" {
	CUDA_VISIBLE_DEVICES='' cuvet prove --json
	expect_status 3
	[ "$(json 'd["root_cause"]')" = visible-devices-wrong ] || fail cause
}

@test "GPU: a stub in place of the driver is named" {
	local stub
	stub=$(find /usr/local/cuda*/ -name libcuda.so -path '*stubs*' 2>/dev/null | head -n 1)
	[ -n "$stub" ] || skip "no toolkit with a stub"
	mkdir "$BATS_TEST_TMPDIR/stub"
	ln -s "$stub" "$BATS_TEST_TMPDIR/stub/libcuda.so.1"
	LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/stub:${LD_LIBRARY_PATH-} cuvet prove --json
	expect_status 1
	[ "$(json 'd["root_cause"]')" = libcuda-stub-loaded ] || fail cause
}

@test "GPU: compute-sanitizer finds nothing (memcheck, initcheck, synccheck, racecheck)" {
	command -v compute-sanitizer >/dev/null || skip "no compute-sanitizer"
	for tool in memcheck initcheck synccheck racecheck; do
		compute-sanitizer --target-processes all --tool "$tool" --error-exitcode 9 \
			"$CUVET" prove --gpu 0 --timeout 300 >"$BATS_TEST_TMPDIR/out" 2>&1 ||
			fail "$tool: $(tail -5 "$BATS_TEST_TMPDIR/out")"
	done
}

@test "GPU: an environment's own libraries compute" {
	[ -n "${CUVET_TEST_STACK-}" ] || skip "CUVET_TEST_STACK names no environment"
	cuvet prove --json --gpu 0 --stack "$CUVET_TEST_STACK"
	expect_status 0
	[ "$(json 'any(t["name"] == "stack-cublas" and t["result"] == "pass" for t in d["tests"])')" = True ] ||
		fail "no cuBLAS"
}

@test "GPU: one wrong bit in what an environment's library computes breaks its rung" {
	local rung library
	[ -n "${CUVET_TEST_STACK-}" ] || skip "CUVET_TEST_STACK names no environment"
	cuvet prove --json --gpu 0 --stack "$CUVET_TEST_STACK"
	cp "$OUT" "$BATS_TEST_TMPDIR/healthy"
	between
	for rung in cublas cublaslt cudnn cufft cusolver nvrtc nvjitlink nccl; do
		library=$(python3 -c 'import json, os, sys
print([os.path.basename(t.get("path", "")) for t in json.load(open(sys.argv[1]))["tests"] if t["name"] == sys.argv[2]][0])' "$BATS_TEST_TMPDIR/healthy" "stack-$rung")
		[ -n "$library" ] || continue
		CUVET_FLIP_WITH=$library CUVET_FLIP_NTH=1 cuvet prove --json --gpu 0 --stack "$CUVET_TEST_STACK"
		expect_status 1
		[ "$(json "[t['result'] for t in d['tests'] if t['name'] == 'stack-$rung'][0]")" = fail ] || fail "$rung"
	done
}
