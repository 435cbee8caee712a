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
