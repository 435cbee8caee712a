# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# For .bats files: `load ../lib.sh` (or the path that leads here). $CUVET is the binary under test;
# by hand `CUVET=build/cuvet bats tests/cli/x.bats` does. Streams are kept apart in $OUT and $ERR,
# files whose contents $out and $err hold, and $status is the exit code.
# bats itself uses: BATS_TEST_TMPDIR, a folder for one test that goes away afterwards.

# The root of the repository, whatever the working directory.
CUVET_ROOT=${CUVET_ROOT:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}
CUVET=${CUVET:-$CUVET_ROOT/build/cuvet}

# cuvet ARGS...: runs the binary; never fails by itself, the test looks at $status.
cuvet() {
	OUT=$BATS_TEST_TMPDIR/out ERR=$BATS_TEST_TMPDIR/err
	status=0
	"$CUVET" "$@" >"$OUT" 2>"$ERR" || status=$?
	out=$(tr '\0' '?' <"$OUT")
	err=$(tr '\0' '?' <"$ERR")
}

# fail TEXT: ends the test with what is known about the last run.
fail() {
	echo "$*"
	echo "exit code: ${status-}"
	echo "stdout:" && head -c 4000 "${OUT:-/dev/null}" | cat -v
	echo "stderr:" && head -c 4000 "${ERR:-/dev/null}" | cat -v
	return 1
}

# expect_status N
expect_status() {
	[ "$status" -eq "$1" ] || fail "exit code $1 wanted"
}

# expect_out TEXT, expect_err TEXT: the stream holds the text; expect_no_out, expect_no_err: it
# does not, or without TEXT it is empty.
expect_out() {
	[[ $out == *"$1"* ]] || fail "not on stdout: $1"
}
expect_err() {
	[[ $err == *"$1"* ]] || fail "not on stderr: $1"
}
expect_no_out() {
	if [ $# -eq 0 ]; then
		[ -z "$out" ] || fail "stdout is not empty"
	else
		[[ $out != *"$1"* ]] || fail "on stdout: $1"
	fi
}
expect_no_err() {
	if [ $# -eq 0 ]; then
		[ -z "$err" ] || fail "stderr is not empty"
	else
		[[ $err != *"$1"* ]] || fail "on stderr: $1"
	fi
}

# expect_err_lines N: an error is said in so many lines.
expect_err_lines() {
	[ "$(wc -l <"$ERR")" -eq "$1" ] || fail "$1 lines wanted on stderr"
}

# expect_columns N: no line of stdout is wider, seen as UTF-8 (classes X6, X7 of output tests).
expect_columns() {
	local wide
	wide=$(sed 's/\x1b\[[0-9;]*m//g' "$OUT" | LC_ALL=C tr -d '\200-\277' |
		LC_ALL=C awk -v n="$1" 'length($0) > n')
	[ -z "$wide" ] || fail "wider than $1: $wide"
}

# expect_clean FILE: no control character but tab and newline (the colours of a terminal included):
# neither C0 and DEL, nor C1 and the bidi overrides as UTF-8.
expect_clean() {
	local bad='[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]'
	! LC_ALL=C grep -qP "$bad" "$1" ||
		fail "control characters in $1"
}

# json FILTER: evaluates a Python expression over the JSON document `d` on stdout and prints it.
# Python's json refuses what is not one whole document.
json() {
	python3 -c 'import json,sys
d = json.load(open(sys.argv[1], encoding="utf-8"))
print(eval(sys.argv[2], {"d": d}))' "$OUT" "$1"
}

# expect_golden FILE: stdout is the file's contents; with UPDATE_GOLDEN=1 it becomes them.
expect_golden() {
	if [ -n "${UPDATE_GOLDEN:-}" ]; then
		cp "$OUT" "$1"
	fi
	diff -u "$1" "$OUT" || fail "differs from $1 (make update-golden rewrites it)"
}

# What a place may not be able to give: each skips the test by name.
need() { # command
	command -v "$1" >/dev/null || skip "needs $1"
}
need_userns() {
	unshare -Ur true 2>/dev/null || skip "needs user namespaces"
}
need_mount() {
	unshare -Urm sh -c 'mount -t tmpfs none /mnt' 2>/dev/null || skip "needs mounts"
}
need_gpu() {
	[ -e /dev/nvidiactl ] || skip "needs a GPU"
}
need_not_root() {
	[ "$(id -u)" -ne 0 ] || skip "needs a user who is not root"
}

# as_user COMMAND...: runs without root's rights, so that a folder without rights denies them.
as_user() {
	if [ "$(id -u)" -ne 0 ]; then
		"$@"
	else
		setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
	fi
}
