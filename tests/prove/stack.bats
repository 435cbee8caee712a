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

@test "stack: where the ladder breaks it is skipped, and says which rung it was" {
	python 'touch "$0.ran"'
	CUVET_STANDIN_SCRIPT="flip=cuvet_fill" cuvet prove --json --stack "$ENV" --exec
	expect_status 1
	[ "$(result stack-nvjitlink result)" = skip ] || fail result
	[ "$(result stack-nvjitlink why)" = "ptx-jit of GPU 0 is broken" ] || fail why
	[ "$(result exec-python result)" = skip ] || fail exec
	[ ! -e "$ENV/bin/python3.ran" ] || fail "it ran"
}

@test "stack: it runs on the first GPU that computes; what needs all of them is skipped" {
	CUVET_STANDIN_SCRIPT="devices=2;code.cuMemGetInfo_v2=2;unless=GPU-2222" cuvet prove --json --stack "$ENV"
	expect_status 1
	[ "$(json "[(t['gpu'], t['result']) for t in d['tests'] if t['name'] == 'stack-nvjitlink']")" = "[(1, 'pass')]" ] ||
		fail "$(json "[(t['gpu'], t['result'], t['why']) for t in d['tests'] if t['name'] == 'stack-nvjitlink']")"
	[ "$(result p2p result)" = skip ] || fail p2p
	[ "$(result p2p why)" = "allocation of GPU 0 is broken" ] || fail "$(result p2p why)"
}

@test "stack: a path counts from the working directory; --python is another command's" {
	cd "$BATS_TEST_TMPDIR"
	cuvet prove --json --stack env
	expect_status 0
	[ "$(result stack-nvjitlink path)" = "$OWN/libnvJitLink.so.13" ] || fail path
	cuvet prove --stack auto --python "$ENV"
	expect_status 2
	cuvet prove --stack ""
	expect_status 2
}

@test "stack: a root directory is an environment: PyTorch's folder, else the toolkit" {
	local root=$BATS_TEST_TMPDIR/root dir=${CUVET_STANDIN:-$CUVET_ROOT/build/standin}
	mkdir -p "$root/usr/lib/python3/dist-packages" "$root/usr/local/cuda/lib64"
	cp "$dir/nvjitlink.so" "$root/usr/local/cuda/lib64/libnvJitLink.so.13"
	cuvet prove --json --stack "$root"
	expect_status 0
	[ "$(result stack-nvjitlink path)" = "$root/usr/local/cuda/lib64/libnvJitLink.so.13" ] || fail toolkit
	mkdir -p "$root/usr/local/lib/python3.11/dist-packages/nvidia/nvjitlink/lib" "$root/usr/bin"
	cp "$dir/nvjitlink.so" "$root/usr/local/lib/python3.11/dist-packages/nvidia/nvjitlink/lib/libnvJitLink.so.13"
	printf '#!/bin/sh\necho "cuvet a pass 1"; echo "cuvet end"\n' >"$root/usr/bin/python3"
	chmod +x "$root/usr/bin/python3"
	cuvet prove --json --stack "$root" --exec
	expect_status 0
	[[ $(result stack-nvjitlink path) == *dist-packages/nvidia/nvjitlink* ]] || fail "$(result stack-nvjitlink path)"
	[ "$(result exec-a result)" = pass ] || fail python
}

@test "exec: Python's steps become rows; without --exec it does not run" {
	python 'touch "$0.ran"; echo noise; echo; echo "cuvet torch-import pass 12 2.7.1"; echo "cuvet torch-conv fail 3 off by 1"; echo "cuvet end"'
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
	[ "$(result exec-python why)" = SIGSEGV ] || fail why
	# The step is named, and what was said before stays.
	for how in 'kill -ABRT $$:crashed:SIGABRT' 'exit 0:crashed:ended with code 0' 'sleep 30:hung:no end within 2 s; it said: Traceback'; do
		python "echo 'cuvet begin a'; echo 'cuvet a pass 1'; echo Traceback; echo 'cuvet begin b-c'; ${how%%:*}"
		cuvet prove --json --stack "$ENV" --exec --timeout 2
		expect_status 1
		[ "$(result exec-a result)" = pass ] || fail "what was before: $how"
		how=${how#*:}
		[ "$(result exec-b-c result)" = "${how%%:*}" ] || fail "$how"
		[[ $(result exec-b-c why) == *"${how#*:}"* ]] || fail "$(result exec-b-c why)"
	done
	# After more than any buffer holds, a step that fails is seen.
	python 'echo "cuvet a pass 1"; head -c 3000000 /dev/zero | tr "\0" x; echo; echo "cuvet b fail 1 wrong"; echo "cuvet end"'
	cuvet prove --json --stack "$ENV" --exec
	expect_status 1
	[ "$(result exec-b result)" = fail ] || fail "lost in the noise"
	# What Python keeps while it runs is gone, however it ended.
	mkdir "$BATS_TEST_TMPDIR/tmp"
	python 'mkdir -p "$4/x"; echo y >"$4/x/y"; ls -d "$4" >"$0.keep"; kill -KILL $$'
	TMPDIR=$BATS_TEST_TMPDIR/tmp cuvet prove --json --stack "$ENV" --exec
	grep -q "^$BATS_TEST_TMPDIR/tmp/cuvet-" "$ENV/bin/python3.keep" || fail "no folder"
	[ -z "$(ls "$BATS_TEST_TMPDIR/tmp")" ] || fail "it stays"
	python 'sleep 30'
	cuvet prove --json --stack "$ENV" --exec --timeout 2
	expect_status 1
	[ "$(result exec-python result)" = hung ] || fail hung
	python 'printf "cuvet torch-import fail 1 \033[31mred\033[0m\n"'
	cuvet prove --stack "$ENV" --exec
	expect_status 1
	expect_clean "$OUT"
}

# frameworks: a Python that has stand-ins for numpy, TensorFlow and JAX, which do what FAKE says.
frameworks() {
	local site=$ENV/lib/python3.11/site-packages
	mkdir -p "$site/tensorflow" "$site/jax"
	cat >"$site/numpy.py" <<-'END'
		import random as r
		class M:
		    def __init__(self, v): self.v = v
		    def astype(self, t): return self
		    def __matmul__(self, o): return M(sum(self.v) * sum(o.v))
		    def __sub__(self, o): return M(self.v - o.v)
		    def __abs__(self): return M(abs(self.v))
		    def max(self): return self.v
		class random:
		    rand = staticmethod(lambda *n: M([r.random() for _ in range(8)]))
		def asarray(x): return x.numpy() if hasattr(x, "numpy") else x
	END
	cat >"$site/tensorflow/__init__.py" <<-'END'
		import contextlib, os, numpy
		FAKE = os.environ.get("FAKE", "")
		if FAKE == "import": raise ImportError("libcudart.so.11.0: cannot open shared object file")
		__version__ = "2.16.1"
		class config:
		    list_physical_devices = staticmethod(lambda kind: [] if FAKE == "none" else ["GPU:0"])
		    class experimental:
		        set_memory_growth = staticmethod(lambda g, on: None)
		@contextlib.contextmanager
		def device(name): yield
		class Out:
		    device = "/job:localhost/device:%s:0" % ("CPU" if FAKE == "cpu" else "GPU")
		    def __init__(self, m): self.m = m
		    def numpy(self): return self.m
		    def devices(self): return {jax_device()}
		def jax_device():
		    import jax
		    return jax.devices()[-1] if FAKE != "cpu" else jax.CPU
		def matmul(a, b):
		    m = a @ b
		    if FAKE == "wrong": m.v += 1
		    if FAKE == "nan": m.v = float("nan")
		    return Out(m)
	END
	cat >"$site/jax/__init__.py" <<-'END'
		import contextlib, os, tensorflow
		FAKE = os.environ.get("FAKE", "")
		__version__ = "0.4.30"
		class Device:
		    def __init__(self, p): self.platform = p
		CPU, GPU = Device("cpu"), Device("gpu")
		def devices(): return [CPU] if FAKE == "none" else [CPU, GPU]
		@contextlib.contextmanager
		def default_device(d): yield
		class numpy:
		    dot = staticmethod(lambda a, b: tensorflow.matmul(a, b))
	END
	python "PYTHONPATH=$site exec $(command -v python3) -S \"\$@\""
}

@test "exec: TensorFlow and JAX compute on the GPU, right, or the step fails" {
	local how
	command -v python3 >/dev/null || skip "no python3"
	frameworks
	cuvet prove --json --stack "$ENV" --exec
	expect_status 0
	[ "$(result exec-tensorflow result)" = pass ] || fail "$(result exec-tensorflow why)"
	[ "$(result exec-tensorflow why)" = "2.16.1, 1 devices" ] || fail "$(result exec-tensorflow why)"
	[ "$(result exec-jax result)" = pass ] || fail "$(result exec-jax why)"
	while IFS='|' read -r how why; do
		FAKE=$how cuvet prove --json --stack "$ENV" --exec
		expect_status 1
		[ "$(result exec-tensorflow result)" = fail ] || fail "$how passes"
		[[ $(result exec-tensorflow why) == *"$why"* ]] || fail "$how: $(result exec-tensorflow why)"
		[ "$(result exec-jax result)" = fail ] || fail "jax: $how passes"
	done <<-'END'
		import|libcudart.so.11.0
		none|is empty
		cpu|computed on
		wrong|off by
		nan|off by nan
	END
}

@test "an interrupt while libraries or Python run ends them, and what was found is told" {
	local pid how kid kids
	for how in link peers python; do
		python 'echo "cuvet begin a"; echo "cuvet a pass 1"; echo "cuvet begin b"; exec sleep 60'
		CUVET_STANDIN_SCRIPT="devices=2" CUVET_STANDIN_LINK=
		case $how in
		link) CUVET_STANDIN_LINK=loop ;;
		peers) CUVET_STANDIN_SCRIPT="devices=2;behave=loop;at=cuDeviceCanAccessPeer" ;;
		esac
		export CUVET_STANDIN_SCRIPT CUVET_STANDIN_LINK
		"$CUVET" prove --json --stack "$ENV" --exec >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" &
		pid=$!
		# Long after the ladder, long before a deadline.
		sleep 8
		kids=$(pgrep -P "$pid")
		[ -n "$kids" ] || fail "it was over before ($how)"
		kill -TERM "$pid"
		status=0
		wait "$pid" || status=$?
		OUT=$BATS_TEST_TMPDIR/out ERR=$BATS_TEST_TMPDIR/err
		[ "$status" -eq 3 ] || fail "exit code ($how)"
		[ "$(result memory result)" = pass ] || fail "the ladder is lost ($how)"
		case $how in
		link) [ "$(result stack-nvjitlink why)" = interrupted ] || fail link ;;
		peers) [ "$(result p2p why)" = interrupted ] || fail peers ;;
		python)
			[ "$(result exec-a result)" = pass ] || fail "the step is lost"
			[ "$(result exec-b why)" = interrupted ] || fail python
			;;
		esac
		sleep 0.3
		for kid in $kids; do
			[ ! -e "/proc/$kid" ] || [ "$(awk '{print $3}' "/proc/$kid/stat")" = Z ] || fail "$kid lives"
		done
	done
}

# daemons: a Python that starts a daemon as daemons do it (forked twice, a session of its own, deaf
# for TERM, the stream of its parent open or flooded) with a child in another session again, writes
# their numbers, and does what AFTER says.
daemons() {
	cat >"$BATS_TEST_TMPDIR/daemon.py" <<-'END'
		import os, signal, sys, time
		pids, after, flood = sys.argv[1], sys.argv[2], sys.argv[3]
		print("cuvet begin a", flush=True)
		print("cuvet a pass 1", flush=True)
		def note():
		    with open(pids, "a") as f: f.write("%d\n" % os.getpid())
		r, w = os.pipe()
		if os.fork() == 0:
		    os.setsid()
		    if os.fork(): os._exit(0)
		    signal.signal(signal.SIGTERM, signal.SIG_IGN)
		    note()
		    if os.fork() == 0:
		        os.setsid()
		        note()
		        os.close(w)
		        time.sleep(300)
		    os.close(w)
		    while flood: os.write(1, b"x" * 4096)
		    time.sleep(300)
		os.close(w)
		os.read(r, 1)
		os.wait()
		if after == "end": os.write(1, b"\ncuvet end\n")
		else: time.sleep(300)
	END
	python "exec $(command -v python3) -S $BATS_TEST_TMPDIR/daemon.py $BATS_TEST_TMPDIR/pids $1 '${2-}'"
}

# gone WHEN: both daemons of daemons() were there and are no more.
gone() {
	local pid n=0
	while read -r pid; do
		n=$((n + 1))
		if [ -e "/proc/$pid" ] && ! grep -q '^State:[[:space:]]*Z' "/proc/$pid/status"; then
			kill -KILL "$pid"
			fail "$pid lives on: $1"
		fi
	done <"$BATS_TEST_TMPDIR/pids"
	[ "$n" -eq 2 ] || fail "$n daemons: $1"
	rm "$BATS_TEST_TMPDIR/pids"
}

@test "exec: nothing that Python started is left behind, daemons neither: at its end, after a time-out" {
	need python3
	daemons end
	cuvet prove --json --stack "$ENV" --exec
	expect_status 0
	[ "$(result exec-a result)" = pass ] || fail step
	gone "its end"
	# One that goes on writing does not keep it from its end.
	daemons end flood
	cuvet prove --json --stack "$ENV" --exec --timeout 60
	expect_status 0
	[ "$(json 'd["ms"] < 30000')" = True ] || fail "it waits for a daemon"
	gone "its end, flooded"
	daemons hang
	cuvet prove --json --stack "$ENV" --exec --timeout 2
	expect_status 1
	[ "$(result exec-python result)" = hung ] || fail hung
	gone "a time-out"
}

@test "exec: nothing that Python started is left behind when a signal ends cuvet, KILL included" {
	local pid how i
	need python3
	for how in INT TERM KILL; do
		daemons hang
		# In the background INT is ignored unless job control is on.
		set -m
		"$CUVET" prove --json --stack "$ENV" --exec >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" &
		pid=$!
		set +m
		for ((i = 0; i < 300; i++)); do
			[ "$(wc -l 2>/dev/null <"$BATS_TEST_TMPDIR/pids")" = 2 ] && break
			sleep 0.1
		done
		kill -"$how" "$pid"
		status=0
		wait "$pid" || status=$?
		OUT=$BATS_TEST_TMPDIR/out ERR=$BATS_TEST_TMPDIR/err
		if [ "$how" = KILL ]; then
			sleep 2
		else
			expect_status 3
			[ "$(result exec-python why)" = interrupted ] || fail "$how"
		fi
		gone "$how"
	done
}
