#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What holds for every command: streams, exit codes, the version. Rows are added, not rewritten.

load ../lib.sh

@test "--version names the program and the version of the file VERSION" {
	cuvet --version
	expect_status 0
	expect_out "cuvet $(cat "$CUVET_ROOT/VERSION")"
	expect_no_err
}

@test "--help goes to stdout and fits 80 columns" {
	cuvet --help
	expect_status 0
	expect_out "check"
	expect_no_err
	expect_columns 80
}

@test "an unknown command is one line on stderr with the nearest match, exit 2" {
	cuvet chekc
	expect_status 2
	expect_no_out
	expect_err "check"
	expect_err_lines 1
}

@test "an unknown option is one line on stderr, exit 2" {
	cuvet check --jsno
	expect_status 2
	expect_no_out
	expect_err "--json"
	expect_err_lines 1
}

@test "X3: a full stdout is an error, not a success" {
	[ -c /dev/full ] || skip "needs /dev/full"
	status=0
	"$CUVET" --version >/dev/full 2>/dev/null || status=$?
	expect_status 4
}

@test "X3: a closed stdout is an error, not a success" {
	status=0
	"$CUVET" --version >&- 2>/dev/null || status=$?
	expect_status 4
}

@test "X4: a reader that has seen enough ends it without a word" {
	local err=$BATS_TEST_TMPDIR/err
	# The listing is larger than what a pipe holds.
	{ "$CUVET" show gpu --json 2>"$err" || echo $? >"$BATS_TEST_TMPDIR/code"; } |
		head -n 1 >/dev/null
	[ ! -s "$err" ] || fail "$(cat "$err")"
	[ "$(cat "$BATS_TEST_TMPDIR/code")" -eq 141 ]
}

@test "X5: runs without any environment" {
	OUT=$BATS_TEST_TMPDIR/out
	status=0
	env -i "$CUVET" --version >"$OUT" || status=$?
	expect_status 0
}

@test "shared options may stand before the command" {
	run --separate-stderr "$CUVET" --json --color never show torch 2.6.0
	[ "$status" -eq 0 ]
	[[ $output == *'"cuvet.table/1"'* ]]
	run --separate-stderr "$CUVET" --lang=en explain gpu-not-found
	[ "$status" -eq 0 ]
	[[ $output == *"gpu-not-found (CV"* ]]
	# The value of an option is no command.
	run --separate-stderr "$CUVET" --root plan --no-such-option
	[ "$status" -eq 2 ]
	[[ $stderr == *"unknown option"* ]]
}
