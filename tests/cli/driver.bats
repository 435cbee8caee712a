#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The whole program with stand-ins for the driver's libraries, found as the loader finds them.

load ../lib.sh

setup() {
	local dir=${CUVET_STANDIN:-$CUVET_ROOT/build/standin}
	LIBS=$BATS_TEST_TMPDIR/libs
	mkdir "$LIBS"
	ln -s "$dir/libcuda.so" "$LIBS/libcuda.so.1"
	ln -s "$dir/libnvidia-ml.so" "$LIBS/libnvidia-ml.so.1"
	export LD_LIBRARY_PATH=$LIBS
}

# at SCRIPT ARGS...: runs with the stand-ins doing what the script says.
at() {
	export CUVET_STANDIN_SCRIPT=$1
	shift
	cuvet "$@"
}

@test "V6: cuInit's code and the file that gave it are in the report" {
	at "cuInit=802;nvml.init=0" check --json
	[ "$(json 'd["snapshot"]["driver"]["cuda_init"]')" = 802 ] || fail "cuda_init"
	[ "$(json 'd["snapshot"]["driver"]["nvml_init"]')" = 0 ] || fail "nvml_init"
}

@test "V8: a driver that crashes does not crash the program" {
	at "behave=segv;nvml.behave=abort" check --json
	[ "$status" -eq 0 ] || [ "$status" -eq 1 ] || [ "$status" -eq 3 ] || fail "an answer is wanted"
	expect_out "SIGSEGV inside cuInit"
	expect_out "SIGABRT inside nvmlInit_v2"
	json 'd["verdict"]'
}

@test "V9: a driver that ends the process does not end the program" {
	at "behave=exit0;nvml.behave=exit0" check --json
	expect_out "inside cuInit"
	json 'd["verdict"]'
}

@test "V10: a driver that hangs is a result at its deadline" {
	local start=${EPOCHREALTIME/./} took
	export CUVET_DRIVER_TIMEOUT_MS=1000
	at "behave=loop;nvml.behave=loop" check --json
	took=$(((${EPOCHREALTIME/./} - start) / 1000))
	expect_out "no answer within 1 s from cuInit"
	# The rest of the run is not the driver's; on a busy machine it takes a while.
	[ "$took" -ge 1000 ] && [ "$took" -lt 20000 ] || fail "took $took ms"
}

@test "V12: what a driver prints comes out nowhere" {
	at "behave=flood;nvml.behave=flood" check
	expect_clean "$OUT"
	expect_clean "$ERR"
}

@test "V7: senseless answers are no values" {
	at "behave=garbage;nvml.behave=nonul" check --json
	expect_no_out "AAAA"
	json 'd["verdict"]'
}

@test "V2: the toolkit's stub is known by its code" {
	at "cuInit=34;cuDriverGetVersion=34" check --json
	[ "$(json 'd["snapshot"]["driver"]["cuda_init"]')" = 34 ] || fail "cuda_init"
}

@test "V13: closed streams, ignored SIGCHLD and blocked signals do not change the answer" {
	export CUVET_STANDIN_SCRIPT="cuInit=999"
	OUT=$BATS_TEST_TMPDIR/out ERR=$BATS_TEST_TMPDIR/err
	status=0
	(trap '' CHLD TERM PIPE && exec "$CUVET" check --json <&- >"$OUT" 2>"$ERR" 7</dev/null) || status=$?
	[ "$(json 'd["snapshot"]["driver"]["cuda_init"]')" = 999 ] || fail "cuda_init"
}

@test "with --root nothing of the present driver is called" {
	mkdir -p "$BATS_TEST_TMPDIR/m/root/etc"
	at "cuInit=802" check --root "$BATS_TEST_TMPDIR/m/root" --json
	expect_no_out "802"
}

@test "T15: a damaged facts.json beside the tree is said, and the rest goes on" {
	mkdir -p "$BATS_TEST_TMPDIR/m/root/etc"
	echo '{"schema":"cuvet.facts/1","euid":"x"}' >"$BATS_TEST_TMPDIR/m/facts.json"
	cuvet check --root "$BATS_TEST_TMPDIR/m/root" --json
	[ "$status" -ne 2 ] && [ "$status" -ne 4 ] || fail "an answer is wanted"
	cuvet check --root "$BATS_TEST_TMPDIR/m/root" --facts "$BATS_TEST_TMPDIR/m/facts.json"
	expect_status 2
	expect_err "euid is not a whole number"
}
