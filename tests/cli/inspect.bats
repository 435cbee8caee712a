#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# inspect: the command line, the document, roots that are not this machine's.

load ../lib.sh

make_root() {
	ROOT=$BATS_TEST_TMPDIR/case/root
	mkdir -p "$ROOT"/{app,env,etc,lib64,usr/lib64}
	printf '\0/lib64/\0/usr/lib64/\0\0stable release version 2.38.\0' >"$ROOT/lib64/ld-linux-x86-64.so.2"
	PYTHONPATH=$CUVET_ROOT/tests/inspect python3 -B - "$ROOT" <<-'END'
		import sys
		from binaries import *
		def put(path, data):
		    open(sys.argv[1] + path, 'wb').write(data)
		put('/app/main', elf(None, ['libcudnn.so.9', 'libgone.so'], runpath='$ORIGIN/lib'))
		put('/env/libcudnn.so.9', elf('libcudnn.so.9', sections=[('.nv_fatbin', fatbin(blob(entry(CUBIN, 90, A))))]))
		put('/usr/lib64/libcudnn.so.9', elf('libcudnn.so.9'))
	END
}

@test "the file that wins, the rule, and what it hides" {
	command -v python3 >/dev/null || skip "needs python3"
	make_root
	echo '{"schema":"cuvet.facts/1","env":{"LD_LIBRARY_PATH":"/env"}}' >"$ROOT/../facts.json"
	cuvet inspect --root "$ROOT" /app/main
	expect_status 0
	expect_out "libcudnn.so.9 => /env/libcudnn.so.9  [LD_LIBRARY_PATH]"
	expect_out "hides /usr/lib64/libcudnn.so.9  [default]"
	expect_out "libgone.so => not found"
	cuvet inspect --root "$ROOT" --json /app/main
	[ "$(json 'd["schema"], d["files"][0]["resolved"][0]["via"]')" = "('cuvet.binary/1', 'LD_LIBRARY_PATH')" ]
	[ "$(json 'd["loader"]["default_dirs"], d["loader"]["version"]')" = "(['/lib64/', '/usr/lib64/'], '2.38')" ]
}

@test "nothing of this machine's environment leaks into a root" {
	command -v python3 >/dev/null || skip "needs python3"
	make_root
	LD_LIBRARY_PATH=/env cuvet inspect --root "$ROOT" app/main
	expect_status 0
	expect_out "libcudnn.so.9 => /usr/lib64/libcudnn.so.9  [default]"
}

@test "a musl root is recognised and said" {
	command -v python3 >/dev/null || skip "needs python3"
	make_root
	rm "$ROOT/lib64/ld-linux-x86-64.so.2"
	mkdir -p "$ROOT/lib"
	: >"$ROOT/lib/ld-musl-x86_64.so.1"
	cuvet inspect --root "$ROOT" /app/main
	expect_status 0
	expect_out "musl"
	cuvet inspect --root "$ROOT" /app/main --json
	[ "$(json 'd["loader"]["libc"]')" = musl ]
}

@test "a folder gives all that is in it, in order" {
	command -v python3 >/dev/null || skip "needs python3"
	make_root
	echo text >"$ROOT/app/readme.txt"
	echo 'INPUT ( libx.so )' >"$ROOT/app/liby.so"
	cuvet inspect --root "$ROOT" /app /env --json
	[ "$(json '[f["path"] for f in d["files"]]')" = "['/app/liby.so', '/app/main', '/env/libcudnn.so.9']" ]
	[ "$(json '[f["kind"] for f in d["files"]][0], d["files"][2]["cubins"]')" = "('linker-script', ['sm_90a'])" ]
}

@test "T1 T2: a link leads nowhere out of the root" {
	command -v python3 >/dev/null || skip "needs python3"
	make_root
	ln -s /../../../../../../etc/passwd "$ROOT/app/out.so"
	cuvet inspect --root "$ROOT" /app/out.so
	expect_status 4
	expect_no_out
}

@test "bad command lines are one line on stderr" {
	for args in "" "--pid 0" "--pid 1 x" "--format sarif x"; do
		# shellcheck disable=SC2086
		cuvet inspect $args
		expect_status 2
		expect_no_out
		expect_err_lines 1
	done
	cuvet inspect /nonexistent
	expect_status 4
	expect_err_lines 1
}

@test "text fits 80 columns but for paths, and is free of colour in a pipe" {
	cuvet inspect "$(command -v bash)"
	expect_status 0
	expect_out "libc.so.6"
	[[ $out != *$'\033'* ]] || fail "colour in a pipe"
}
