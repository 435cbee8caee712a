#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# prove --stack and --exec on an environment that is made here: one library, and a Python that is a
# shell script.

load ../lib.sh

setup() {
	local dir=${CUVET_STANDIN:-$CUVET_ROOT/build/standin}
	LIBS=$BATS_TEST_TMPDIR/libs ENV=$BATS_TEST_TMPDIR/env
	OWN=$ENV/lib/python3.11/site-packages/nvidia/nvjitlink/lib
	mkdir -p "$LIBS" "$OWN" "$ENV/bin"
	ln -s "$dir/libcuda.so" "$LIBS/libcuda.so.1"
	cp "$dir/nvjitlink.so" "$OWN/libnvJitLink.so.13"
	export LD_LIBRARY_PATH=$LIBS
	unset CUDA_VISIBLE_DEVICES
}

result() { # RUNG FIELD
	json "[t[\"$2\"] for t in d[\"tests\"] if t[\"name\"] == \"$1\"][0]"
}

python() { # LINES: what the environment's Python does
	printf '#!/bin/sh\n%s\n' "$1" >"$ENV/bin/python3"
	chmod +x "$ENV/bin/python3"
}

@test "stack: the environment's own file is loaded, and its path and version are said" {
	cuvet prove --json --stack "$ENV"
	expect_status 0
	[ "$(result stack-nvjitlink result)" = pass ] || fail result
	[ "$(result stack-nvjitlink path)" = "$OWN/libnvJitLink.so.13" ] || fail path
	[ "$(json '[t["figures"]["version"] for t in d["tests"] if t["name"] == "stack-nvjitlink"][0]')" = 13010 ] ||
		fail version
	[ "$(result stack-cublas result)" = skip ] || fail "a library that is not there"
}

@test "V6, V8, V9, V10: a library that fails, crashes, exits or hangs is that rung's result alone" {
	local how
	for how in code:fail segv:crashed exit:crashed loop:hung size:fail; do
		CUVET_STANDIN_LINK=${how%:*} cuvet prove --json --stack "$ENV" --timeout 2
		expect_status 1
		[ "$(result stack-nvjitlink result)" = "${how#*:}" ] || fail "$how"
		[ "$(result memory result)" = pass ] || fail "the ladder"
	done
	CUVET_STANDIN_LINK=segv cuvet prove --json --stack "$ENV"
	[[ $(result stack-nvjitlink why) == *"SIGSEGV at nvJitLinkComplete"* ]] || fail why
}

@test "V3, V4: a file that is no library, or lacks a function" {
	echo text >"$OWN/libnvJitLink.so.13"
	cuvet prove --json --stack "$ENV"
	expect_status 1
	[ "$(result stack-nvjitlink result)" = fail ] || fail result
	rm "$OWN/libnvJitLink.so.13"
	cuvet prove --json --stack "$ENV"
	expect_status 4
}

@test "stack: not run where the ladder breaks" {
	CUVET_STANDIN_SCRIPT="flip=cuvet_fill" cuvet prove --json --stack "$ENV"
	expect_status 1
	[ "$(json 'any(t["name"] == "stack-nvjitlink" for t in d["tests"])')" = False ] || fail "it ran"
}

@test "exec: Python's steps become rows; without --exec it does not run" {
	python 'touch "$0.ran"; echo noise; echo; echo "cuvet torch-import pass 12 2.7.1"; echo "cuvet torch-conv fail 3 off by 1"'
	cuvet prove --json --stack "$ENV"
	expect_status 0
	[ ! -e "$ENV/bin/python3.ran" ] || fail "it ran"
	cuvet prove --json --stack "$ENV" --exec
	expect_status 1
	[ "$(result exec-torch-import result)" = pass ] || fail pass
	[ "$(result exec-torch-conv why)" = "off by 1" ] || fail why
}

@test "V8, V10, X7: Python that dies, hangs, or prints controls" {
	python 'kill -SEGV $$'
	cuvet prove --json --stack "$ENV" --exec
	expect_status 1
	[ "$(result exec-python result)" = crashed ] || fail crashed
	python 'sleep 30'
	cuvet prove --json --stack "$ENV" --exec --timeout 2
	expect_status 1
	[ "$(result exec-python result)" = hung ] || fail hung
	python 'printf "cuvet torch-import fail 1 \033[31mred\033[0m\n"'
	cuvet prove --stack "$ENV" --exec
	expect_status 1
	expect_clean "$OUT"
}
