#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# `cuvet env`: which toolkit and why, what is set and what is not, files that are written, bad input.

load ../lib.sh

# toolkit PREFIX [VERSION]: what looks like one, in a root
toolkit() {
	mkdir -p "$1/bin" "$1/lib64/stubs"
	printf '#!/bin/sh\nexit 99\n' >"$1/bin/nvcc"
	chmod +x "$1/bin/nvcc"
	: >"$1/lib64/libcudart.so.12"
	: >"$1/lib64/stubs/libcuda.so"
	[ -z "${2-}" ] || echo "{\"cuda\":{\"name\":\"CUDA SDK\",\"version\":\"$2\"}}" >"$1/version.json"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	export HOME=$BATS_TEST_TMPDIR/home
	mkdir -p "$HOME" root/etc
	unset CUDA_HOME CUDA_PATH LD_LIBRARY_PATH
	R=$BATS_TEST_TMPDIR/root
	toolkit "$R/usr/local/cuda-11.8" 11.8.0
	toolkit "$R/usr/local/cuda-12.4" 12.4.127
	toolkit "$R/usr/local/cuda-12.8" 12.8.90
}

root() {
	cuvet env --root "$R" --shell sh "$@"
}

# ------------------------------------------------------------------------------------------------
# which toolkit

@test "an asked version, component by component; the newest that fits" {
	root --cuda 12.4 --json
	expect_status 0
	[ "$(json "d['toolkit']['path']")" = /usr/local/cuda-12.4 ]
	[ "$(json "d['toolkit']['version']")" = 12.4.127 ]
	[[ "$(json "d['why']")" == *12.4* ]]
	root --cuda 12 --json
	[ "$(json "d['toolkit']['path']")" = /usr/local/cuda-12.8 ]
	root --cuda 12.40
	expect_status 1
	expect_err_lines 1
	expect_err 12.8.90
	expect_no_out
}

@test "else CUDA_HOME, if it exists" {
	echo '{"schema":"cuvet.facts/1","env":{"CUDA_HOME":"/usr/local/cuda-11.8","PATH":"/usr/bin"}}' >facts.json
	root --json
	[ "$(json "d['toolkit']['path']")" = /usr/local/cuda-11.8 ]
	[[ "$(json "d['why']")" == *CUDA_HOME* ]]
	sed -i 's/11\.8/9.9/' facts.json
	root --json
	[ "$(json "d['toolkit']['path']")" = /usr/local/cuda-12.8 ]
}

@test "else the one for the CUDA of PyTorch, else the newest that the driver runs" {
	root --json --assume torch=2.5.1+cu124 --assume python=3.12
	[ "$(json "d['toolkit']['path']")" = /usr/local/cuda-12.4 ]
	[[ "$(json "d['why']")" == *PyTorch* ]]
	root --json --assume torch=2.1.0+cu118 --assume python=3.11
	[ "$(json "d['toolkit']['path']")" = /usr/local/cuda-11.8 ]
	root --json --assume driver=470.256.02
	[ "$(json "d['toolkit']['path']")" = /usr/local/cuda-11.8 ]
	[[ "$(json "d['why']")" == *470.256.02* ]]
	root --json --assume driver=580.65.06
	[ "$(json "d['toolkit']['path']")" = /usr/local/cuda-12.8 ]
}

@test "no toolkit at all: exit 1 and what to do" {
	mkdir empty
	cuvet env --root empty --shell sh
	expect_status 1
	expect_err_lines 1
	expect_err install
	expect_no_out
}

@test "a prefix is one with version.json, version.txt or bin/nvcc, and lib64 or lib; nothing in it is started" {
	for sign in version.json version.txt bin/nvcc; do
		for lib in lib64 lib; do
			rm -rf p && mkdir -p p/bin "p/$lib"
			printf 'nonsense \001' >"p/$sign"
			cuvet env --shell sh --cuda p --json
			expect_status 0
			[ "$(json "d['toolkit']['path']")" = "$PWD/p" ]
			[ "$(json "[x for x in d['set'] if x['name'] == 'LD_LIBRARY_PATH'][0]['prepend'][0]")" = "$PWD/p/$lib" ]
		done
	done
	cuvet env --shell sh --cuda "$R/usr/local/cuda-12.4/" --json
	[ "$(json "d['toolkit']['path']")" = "$R/usr/local/cuda-12.4" ]
	[ "$(json "d['toolkit']['version']")" = 12.4.127 ]
}

@test "bad prefixes and names: one line, exit 2, nothing on stdout" {
	mkdir -p nolib/bin nosign/lib64 'with:colon/bin' 'with:colon/lib'
	: >nolib/bin/nvcc
	: >'with:colon/bin/nvcc'
	for args in "--cuda nolib" "--cuda nosign" "--cuda /nonexistent/x" "--cuda with:colon" "--shell foo" "--format foo" \
		"--cudnn /nonexistent --cuda $R/usr/local/cuda-12.4" "--dry-run" "--check --write x" "--format markdown --write x" "stray" "--shell sh --format lmod" \
		"--unset --format lmod" "--write x --format jupyter --cuda $R/usr/local/cuda-12.4"; do
		# shellcheck disable=SC2086
		cuvet env $args
		expect_status 2
		expect_err_lines 1
		expect_no_out
	done
	[ ! -e x ]
}

@test "line breaks: quoted where a shell can, refused with one line where not" {
	p=$'a\nb'
	toolkit "$p"
	cuvet env --shell bash --cuda "$p"
	expect_status 0
	(eval "$out" && [ "$CUDA_HOME" = "$PWD/$p" ])
	cuvet env --shell tcsh --cuda "$p"
	expect_status 2
	expect_err_lines 1
}

# ------------------------------------------------------------------------------------------------
# what is set

@test "LD_LIBRARY_PATH is left alone when the loader's cache leads to the toolkit" {
	command -v ldconfig >/dev/null || PATH=$PATH:/sbin:/usr/sbin
	need ldconfig
	need cc
	echo 'int x;' | cc -shared -Wl,-soname,libcudart.so.12 -x c - -o "$R/usr/local/cuda-12.4/lib64/libcudart.so.12"
	rm -rf "$R/usr/local/cuda-12.4/lib64/stubs"
	echo /usr/local/cuda-12.4/lib64 >"$R/etc/ld.so.conf"
	ldconfig -r "$R" 2>/dev/null || skip "ldconfig -r needs rights"
	root --cuda 12.4 --json
	[ "$(json "[x['name'] for x in d['set'] if x['name'] == 'LD_LIBRARY_PATH']")" = "[]" ]
	root --cuda 12.4
	expect_out "# "
	expect_out "LD_LIBRARY_PATH is left alone"
	# An image or a job has another cache.
	cuvet env --root "$R" --cuda 12.4 --format dockerfile
	expect_out "ENV LD_LIBRARY_PATH="
	root --cuda 12.8 --json
	[ "$(json "[x['prepend'] for x in d['set'] if x['name'] == 'LD_LIBRARY_PATH']")" = "[['/usr/local/cuda-12.8/lib64']]" ]
}

@test "never stubs, never compat; --dev adds headers, link-time paths and cuDNN's names" {
	mkdir -p "$R/usr/local/cuda-12.4/compat" "$R/opt/cudnn/lib" "$R/opt/cudnn/include"
	: >"$R/usr/local/cuda-12.4/compat/libcuda.so.1"
	: >"$R/opt/cudnn/lib/libcudnn.so.9"
	root --cuda 12.4 --cudnn /opt/cudnn --dev
	expect_status 0
	expect_no_out /stubs
	expect_no_out /compat
	for want in "CPATH l '/usr/local/cuda-12.4/include:/opt/cudnn/include'" "CUDNN_HOME s '/opt/cudnn'" \
		"LD_LIBRARY_PATH l '/usr/local/cuda-12.4/lib64:/opt/cudnn/lib'" "LIBRARY_PATH l '/usr/local/cuda-12.4/lib64:/opt/cudnn/lib'"; do
		expect_out "$want"
	done
	root --cuda 12.4 --cudnn /opt/cudnn
	expect_no_out "set CPATH"
	expect_no_out "set CUDNN_HOME"
	mkdir -p "$R/opt/nothing/lib"
	root --cuda 12.4 --cudnn /opt/nothing
	expect_status 2
}

@test "a cuDNN that was fetched is found by CUDA major; a version that is not there is exit 1" {
	for v in 8.9.7.29-cuda12 9.1.1.17-cuda12 9.5.0.50-cuda11; do
		mkdir -p "$R/opt/cuvet/cudnn/$v/lib"
		: >"$R/opt/cuvet/cudnn/$v/lib/libcudnn.so.9"
	done
	root --cuda 12.4 --json
	[ "$(json "d['cudnn']")" = /opt/cuvet/cudnn/9.1.1.17-cuda12 ]
	root --cuda 12.4 --cudnn 8.9.7 --json
	[ "$(json "d['cudnn']")" = /opt/cuvet/cudnn/8.9.7.29-cuda12 ]
	root --cuda 12.4 --cudnn 7.0
	expect_status 1
	expect_err_lines 1
}

@test "a driver that does not run the asked toolkit is said in a comment, and the toolkit set" {
	root --cuda 12.8 --assume driver=470.256.02
	expect_status 0
	expect_out "does not run CUDA 12.8"
	expect_out "/usr/local/cuda-12.8/bin"
}

@test "the shell is the one that asks, else SHELL" {
	OUT=$BATS_TEST_TMPDIR/out
	for s in bash dash zsh fish; do
		command -v $s >/dev/null || continue
		echo "'$CUVET' env --cuda '$R/usr/local/cuda-12.4' --json; true" >ask
		SHELL=/bin/false $s ask >"$OUT"
		[ "$(json "d['shell']")" = $s ]
	done
}

@test "--unset --cuda takes away what others set for that toolkit" {
	t=$R/usr/local/cuda-12.4
	PATH=/usr/local/bin:$t/bin:/usr/bin:/bin
	cuvet env --unset --shell bash --cuda "$t"
	(
		export PATH=/a:$t/bin:/b LD_LIBRARY_PATH=$t/lib64 CUDA_HOME=$t CUDA_PATH=/other
		eval "$out"
		[ "$PATH" = /a:/b ] && [ -z "${LD_LIBRARY_PATH+x}" ] && [ -z "${CUDA_HOME+x}" ] && [ "$CUDA_PATH" = /other ]
	)
}

@test "a path cannot end a comment of the snippet (X7)" {
	p=$'x\ntouch pwned #'
	toolkit "$p"
	for s in bash fish elvish nu powershell xonsh; do
		cuvet env --shell $s --cuda "$p"
		[ "$(grep -c '^touch' "$OUT")" -le 4 ]
		[ "$(head -n 1 "$OUT" | cut -c 1)" = "#" ]
	done
	cuvet env --shell bash --cuda "$p"
	(eval "$out")
	[ ! -e pwned ]
}

# ------------------------------------------------------------------------------------------------
# files

write() {
	cuvet env --cuda "$R/usr/local/cuda-12.4" --write "$@"
}

@test "--write puts a block in, replaces it, --remove gives the file back byte by byte" {
	printf 'alias ll=ls\nexport A=1' >.bashrc
	cp .bashrc before
	chmod 640 .bashrc
	write .bashrc
	expect_status 0
	expect_out written
	[ "$(stat -c %a .bashrc)" = 640 ]
	[ "$(grep -c 'cuvet env.*>>>$' .bashrc)" = 1 ]
	bash -n .bashrc
	cp .bashrc once
	write .bashrc
	expect_out unchanged
	cmp .bashrc once
	cuvet env --cuda "$R/usr/local/cuda-12.8" --write .bashrc
	[ "$(grep -c 'cuvet env.*>>>$' .bashrc)" = 1 ]
	grep -q cuda-12.8 .bashrc
	[ "$(grep -c cuda-12.4 .bashrc)" -eq 0 ]
	cuvet env --remove .bashrc
	expect_status 0
	cmp .bashrc before
	cuvet env --remove .bashrc
	expect_status 0
	expect_out "no block"
	cmp .bashrc before
}

@test "--dry-run shows a difference that patch takes, and changes nothing" {
	need patch
	seq 20 >.profile
	cp .profile before
	write .profile --dry-run
	expect_status 0
	cmp .profile before
	cp "$OUT" diff
	write .profile
	patch -s before diff
	cmp .profile before
	cuvet env --remove .profile --dry-run
	cp "$OUT" diff
	patch -s before diff
	[ "$(cat before)" = "$(seq 20)" ]
}

@test "the name of the file says the language; a new file appears and goes" {
	for f in cuda.fish cuda.csh rc.elv cuda.nu cuda.ps1 cuda.cmd cuda.xsh cuda.sh cuda.lua cuda.cmake .envrc; do
		write $f
		expect_status 0
		[ -s $f ]
		cuvet env --remove $f
		expect_status 0
		[ ! -e $f ]
	done
	write cuda --format modulefile
	[ "$(head -n 1 cuda)" = "#%Module1.0" ]
	write cuda --format modulefile
	expect_out unchanged
	cuvet env --remove cuda
	[ ! -e cuda ]
}

@test "the user's own link is followed and stays, a foreign one is refused" {
	mkdir dot
	echo x >dot/bashrc
	ln -s dot/bashrc .bashrc
	write .bashrc
	expect_status 0
	[ -L .bashrc ]
	grep -q 'cuvet env' dot/bashrc
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	echo x >target
	ln -s "$PWD/target" .zshrc
	chown -h 65534 .zshrc
	write .zshrc
	expect_status 4
	expect_err_lines 1
	[ "$(cat target)" = x ]
}

@test "owner is kept" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	echo x >.bashrc
	chown 65534:65534 .bashrc
	write .bashrc
	expect_status 0
	[ "$(stat -c %u:%g .bashrc)" = 65534:65534 ]
}

@test "unwritable files, folders, devices, hard links, NUL bytes, broken markers: one line, nothing changed" {
	mkdir d
	mkfifo fifo
	echo x >a
	ln a b
	printf 'a\0b' >nul
	printf '# >>> cuvet env >>>\nx\n' >open
	for f in d fifo a nul open /dev/null nodir/x; do
		write $f --shell sh
		[ "$status" -eq 4 ] || [ "$status" -eq 2 ] || fail "$f"
		expect_err_lines 1
		expect_no_out
	done
	[ "$(cat a)" = x ]
	[ "$(cat open)" = "$(printf '# >>> cuvet env >>>\nx\n')" ]
	[ -z "$(find . -name '*cuvet*')" ]
}

@test "without rights to the folder or the file nothing is written" {
	d=$(mktemp -d)
	chmod 755 "$d"
	cp "$CUVET" "$d/cuvet"
	toolkit "$d/cuda"
	mkdir "$d/ro"
	echo x >"$d/ro/.bashrc"
	echo x >"$d/readonly"
	[ "$(id -u)" -ne 0 ] || chown -R 65534:65534 "$d"
	chmod 500 "$d/ro"
	chmod 400 "$d/readonly"
	for f in "$d/ro/.bashrc" "$d/readonly"; do
		status=0
		as_user "$d/cuvet" env --cuda "$d/cuda" --shell sh --write "$f" >o 2>e || status=$?
		[ "$status" -eq 4 ] || fail "$f: $status $(cat e)"
		[ "$(wc -l <e)" -eq 1 ]
		[ ! -s o ]
		[ "$(cat "$f")" = x ]
	done
	chmod 700 "$d/ro"
	rm -rf "$d"
}

# ------------------------------------------------------------------------------------------------
# --check

# judged ENV-JSON ARGS...: --check of the root with these variables
judged() {
	echo "{\"schema\":\"cuvet.facts/1\",\"env\":$1}" >facts.json
	shift
	cuvet env --check --root "$R" --json "$@"
}

# found NAME: subjects of the findings of this name
found() {
	json "[f['subject'] for f in d['findings'] if f['name'] == '$1']"
}

@test "--check: an environment that cuvet set is sound" {
	judged '{"PATH":"/usr/local/cuda-12.4/bin","LD_LIBRARY_PATH":"/usr/local/cuda-12.4/lib64","CUDA_HOME":"/usr/local/cuda-12.4"}'
	expect_status 0
	[ "$(json "d['schema'] + d['command']")" = cuvet.report/1env ]
	[ "$(json "d['findings']")" = "[]" ]
}

@test "--check: empty, relative, missing, repeated elements, stubs and compat folders" {
	mkdir -p "$R/usr/local/cuda-12.4/compat"
	# A real library: the loader stops at a file that is none, which is another finding.
	cc -shared -Wl,-soname,libcuda.so.1 -o "$R/usr/local/cuda-12.4/compat/libcuda.so.1" -x c /dev/null
	l=/usr/local/cuda-12.4/lib64
	for bad in "$l:" ":$l" "$l::$l/../lib64" "lib:$l" "/nonexistent:$l" "$l/stubs:$l" "/usr/local/cuda-12.4/compat:$l" "$l:$l"; do
		judged "{\"LD_LIBRARY_PATH\":\"$bad\"}"
		expect_status 0
		[[ "$(found search-path-unsound)" == *LD_LIBRARY_PATH* ]] || fail "$bad"
		expect_out 'cuvet env'
	done
	judged '{"LD_LIBRARY_PATH":""}'
	[ "$(json "d['findings']")" = "[]" ]
	judged '{"LD_LIBRARY_PATH":":/usr/local"}' --strict
	expect_status 1
	judged '{"LD_LIBRARY_PATH":":/usr/local"}' --strict --ignore search-path-unsound
	expect_status 0
}

@test "--check: compat is right on a data-centre GPU" {
	mkdir -p "$R/usr/local/cuda-12.4/compat"
	judged '{"LD_LIBRARY_PATH":"/usr/local/cuda-12.4/compat"}' --assume 'gpu=A100 SXM4 80GB' --assume driver=535.183.01
	[ "$(found search-path-unsound)" = "[]" ]
	judged '{"LD_LIBRARY_PATH":"/usr/local/cuda-12.4/compat"}' --assume 'gpu=RTX 4090' --assume driver=535.183.01
	[[ "$(found search-path-unsound)" == *LD_LIBRARY_PATH* ]]
}

@test "--check: two toolkits mixed, nvcc against CUDA_HOME" {
	judged '{"PATH":"/usr/local/cuda-12.4/bin","LD_LIBRARY_PATH":"/usr/local/cuda-11.8/lib64"}'
	[[ "$(found search-path-unsound)" == *cuda-11.8* ]]
	judged '{"PATH":"/usr/local/cuda-12.4/bin","CUDA_HOME":"/usr/local/cuda-11.8"}'
	[ "$(found cuda-home-wrong)" = "['CUDA_HOME']" ]
	judged '{"PATH":"/usr/local/cuda-12.4/bin","CUDA_HOME":"/nonexistent"}'
	[ "$(found cuda-home-wrong)" = "['CUDA_HOME']" ]
}

@test "--check: what LD_LIBRARY_PATH hides of an environment" {
	site=$R/opt/venv/lib/python3.12/site-packages
	mkdir -p "$site/nvidia/cuda_runtime/lib" "$R/opt/venv/bin" "$R/usr/bin"
	printf 'home = /usr/bin\nversion = 3.12.1\n' >"$R/opt/venv/pyvenv.cfg"
	: >"$R/usr/bin/python3.12"
	ln -s /usr/bin/python3.12 "$R/opt/venv/bin/python"
	: >"$site/nvidia/cuda_runtime/lib/libcudart.so.12"
	judged '{"LD_LIBRARY_PATH":"/usr/local/cuda-12.4/lib64","VIRTUAL_ENV":"/opt/venv"}' --python /opt/venv
	[[ "$(found lib-shadowing)" == */opt/venv* ]] || fail shadow
	judged '{"VIRTUAL_ENV":"/opt/venv"}' --python /opt/venv
	[ "$(found lib-shadowing)" = "[]" ]
}

@test "--check: PYTHONPATH and hidden GPUs; nothing beside the environment is reported" {
	mkdir -p "$R/opt/py/torch"
	judged '{"PYTHONPATH":"/opt/py"}'
	[[ "$(found multiple-envs)" == *PYTHONPATH* ]]
	judged '{"CUDA_VISIBLE_DEVICES":"-1"}' --assume 'gpu=RTX 4090' --assume driver=580.65.06
	[ "$(json "len([f for f in d['findings'] if f['name'] == 'visible-devices-wrong'])")" = 1 ]
	judged '{"PATH":"/usr/bin"}' --assume 'gpu=RTX 5090' --assume driver=580.65.06 --assume torch=2.6.0+cu124 --assume python=3.12
	[ "$(found gpu-too-new-for-build)" = "[]" ]
}

@test "--check prints text and markdown, and nothing that controls a terminal (X7)" {
	judged '{"LD_LIBRARY_PATH":"/a\u001b[31mb:"}'
	for f in text markdown; do
		cuvet env --check --root "$R" --format $f
		expect_status 0
		expect_out search-path-unsound
		expect_clean "$OUT"
	done
}
