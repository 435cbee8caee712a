#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release
"""libcuvet: the examples of the documents, the same answers as the program, bad calls, a lack of
memory at every place (X1), no prints, no exits, threads. Prints TAP.
"""
import ctypes
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIB = ROOT / "build/lib"
SO = LIB / "libcuvet.so.0"
CUVET = os.environ.get("CUVET", str(ROOT / "build/cuvet"))
FACTS = ["gpu=RTX 5090", "driver=580.65.06", "torch=2.6.0+cu124", "python=3.12"]
ENV = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "CUVET_NO_USER_DATA": "1",
       "LIBCUVET": str(SO), "LD_LIBRARY_PATH": str(LIB), "HOME": "/nonexistent"}
CC = os.environ.get("CC", "cc").split()
tests = []


def test(f):
    tests.append(f)
    return f


def program(*args, **more):
    return subprocess.run([CUVET, *args], env=ENV, capture_output=True, text=True, timeout=120,
                          check=False, **more)


def assumed():
    return [x for f in FACTS for x in ("--assume", f)]


def open_lib():
    lib = ctypes.CDLL(str(SO))
    for name in ("cuvet_error", "cuvet_root_cause", "cuvet_data_date", "cuvet_version",
                 "cuvet_verdict_name"):
        getattr(lib, name).restype = ctypes.c_char_p
    c = ctypes.c_void_p()
    assert lib.cuvet_open(None, ctypes.byref(c)) == 0
    return lib, c


def text_of(lib, c, fmt=b"json"):
    p, n = ctypes.c_char_p(), ctypes.c_size_t()
    assert lib.cuvet_report(c, fmt, ctypes.byref(p), ctypes.byref(n)) == 0, lib.cuvet_error(c)
    return ctypes.string_at(p, n.value).decode()


@test
def example_in_c_against_the_shared_library(folder):
    out = folder / "check"
    subprocess.run([*CC, "-Wall", "-Werror", f"-I{ROOT}/include", "-o", out,
                    ROOT / "docs/examples/check.c", f"-L{LIB}", "-lcuvet"], check=True)
    p = subprocess.run([out, *FACTS], env=ENV, capture_output=True, text=True, check=False)
    want = program("check", "--no-live", *assumed())
    assert p.stdout == want.stdout + "\nroot cause: gpu-too-new-for-build\n", p.stdout + p.stderr
    assert p.returncode == 1
    p = subprocess.run([out, "gpu=nonsense"], env=ENV, capture_output=True, text=True, check=False)
    assert p.returncode == 4 and p.stderr.startswith("check: ") and not p.stdout


@test
def example_in_c_against_the_static_library(folder):
    out = folder / "check"
    subprocess.run([*CC, "-Wall", "-Werror", f"-I{ROOT}/include", "-o", out,
                    ROOT / "docs/examples/check.c", LIB / "libcuvet.a", "-lcjson", "-lpcre2-8",
                    "-lyaml", "-ldl", "-lm"], check=True)
    p = subprocess.run([out, *FACTS], env=ENV, capture_output=True, text=True, check=False)
    assert p.stdout.endswith("root cause: gpu-too-new-for-build\n") and p.returncode == 1


@test
def example_in_python(_folder):
    p = subprocess.run([sys.executable, ROOT / "docs/examples/check.py", *FACTS], env=ENV,
                       capture_output=True, text=True, check=False)
    assert p.stdout.startswith("blocked\ngpu-too-new-for-build: GPU 0"), p.stdout + p.stderr
    assert "  $ python3 -m pip install" in p.stdout and p.returncode == 1
    p = subprocess.run([sys.executable, ROOT / "docs/examples/check.py"], env=ENV,
                       capture_output=True, text=True, check=False)
    assert p.returncode in (0, 1) and p.stdout, p.stderr


@test
def header_stands_alone_in_c89_c99_and_cxx(folder):
    source = folder / "x.c"
    source.write_text("#include <cuvet.h>\n#include <cuvet.h>\n"
                      "int main(void) { return cuvet_version() == 0; }\n")
    for flags in (["-std=c89"], ["-std=c99"], ["-std=c17"], ["-x", "c++"]):
        subprocess.run([*CC, *flags, "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only",
                        f"-I{ROOT}/include", source], check=True)


@test
def every_look_says_what_the_program_says(folder):
    lib, c = open_lib()
    paste = (ROOT / "docs/examples/paste.txt").read_bytes()
    saved = folder / "s.json"
    saved.write_text(program("snapshot", "--no-live", *assumed()).stdout)
    docker = folder / "Dockerfile"
    docker.write_text("FROM python:3.12\nRUN pip install torch==2.6.0\n")

    def same(args, **more):
        want = json.loads(program(*args, "--json", **more).stdout)
        got = json.loads(text_of(lib, c))
        # A name of a file that is none here.
        assert got["verdict"] == want["verdict"] and got["root_cause"] == want["root_cause"], args
        assert [f["name"] for f in got["findings"]] == [f["name"] for f in want["findings"]]

    for f in FACTS:
        assert lib.cuvet_assume(c, f.encode()) == 0
    assert lib.cuvet_look_assumed(c) == 0
    same(["check", "--no-live", *assumed()])
    assert lib.cuvet_root_cause(c) == b"gpu-too-new-for-build"
    lib.cuvet_reset(c)
    assert lib.cuvet_root_cause(c) is None
    assert lib.cuvet_look_text(c, None, paste, ctypes.c_size_t(len(paste))) == 0
    same(["triage", "docs/examples/paste.txt"], cwd=ROOT)
    paths = (ctypes.c_char_p * 1)(str(saved).encode())
    assert lib.cuvet_look_files(c, paths, ctypes.c_size_t(1)) == 0
    same(["check", str(saved)])
    data = saved.read_bytes()
    assert lib.cuvet_look_json(c, str(saved).encode(), data, ctypes.c_size_t(len(data))) == 0
    same(["check", str(saved)])
    for f in ("gpu=T4", "driver=535.183.01"):
        lib.cuvet_assume(c, f.encode())
    paths[0] = str(docker).encode()
    assert lib.cuvet_look_files(c, paths, ctypes.c_size_t(1)) == 0, lib.cuvet_error(c)
    same(["check", str(docker), "--assume", "gpu=T4", "--assume", "driver=535.183.01"])
    lib.cuvet_close(c)


@test
def root_options_and_snapshot(folder):
    lib, c = open_lib()
    root = folder / "root"
    (root / "etc").mkdir(parents=True)
    (root / "etc/os-release").write_text('ID=debian\nVERSION_ID="12"\n')
    (root / "home/somebody/venv").mkdir(parents=True)
    (root / "home/somebody/venv/pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.2\n")
    assert lib.cuvet_set(c, b"python", b"/home/somebody/venv") == 0
    assert lib.cuvet_look_root(c, str(root).encode(), None) == 0, lib.cuvet_error(c)
    p, n = ctypes.c_char_p(), ctypes.c_size_t()
    assert lib.cuvet_snapshot(c, ctypes.byref(p), ctypes.byref(n)) == 0
    doc = json.loads(ctypes.string_at(p, n.value))
    assert doc["schema"] == "cuvet.snapshot/1" and "somebody" not in json.dumps(doc)
    # The judgement is about the facts as they are, not about the masked ones.
    assert "somebody" in text_of(lib, c)
    assert lib.cuvet_require(c, b"cc>=8.0") == 0 and lib.cuvet_look_assumed(c) == 0
    assert lib.cuvet_judge(c) >= 0
    lib.cuvet_close(c)


@test
def bad_calls_are_errors(folder):
    lib, c = open_lib()
    usage, malformed, io, data = -2, -3, -4, -5
    p, n = ctypes.c_char_p(), ctypes.c_size_t()
    out = (ctypes.byref(p), ctypes.byref(n))
    assert lib.cuvet_judge(c) == usage and lib.cuvet_error(c)
    assert lib.cuvet_report(c, b"json", *out) == usage
    assert lib.cuvet_snapshot(c, *out) == usage
    assert lib.cuvet_judge(None) == usage and lib.cuvet_assume(c, None) == usage
    assert lib.cuvet_set(c, b"colour", b"red") == usage and b"colour" in lib.cuvet_error(c)
    assert lib.cuvet_set(c, b"timeout", b"0") == usage
    assert lib.cuvet_set(c, b"deep", b"maybe") == usage
    assert lib.cuvet_set(c, b"ignore", b"no-such-finding") == usage
    assert lib.cuvet_look_files(c, None, ctypes.c_size_t(1)) == usage
    lib.cuvet_assume(c, b"nokey=1")
    assert lib.cuvet_look_assumed(c) == usage and b"nokey" in lib.cuvet_error(c)
    assert lib.cuvet_reset(c) == 0 and lib.cuvet_look_assumed(c) == 0
    assert lib.cuvet_report(c, b"pdf", *out) == usage
    assert lib.cuvet_look_json(c, None, b"{", ctypes.c_size_t(1)) == malformed
    # A look that failed leaves nothing of the one before.
    assert lib.cuvet_judge(c) == usage
    assert lib.cuvet_look_root(c, b"/nonexistent/x", None) == io
    assert lib.cuvet_verdict_name(7) is None and lib.cuvet_verdict_name(2) == b"blocked"
    lib.cuvet_close(c)
    lib.cuvet_close(None)
    d = ctypes.c_void_p()
    (folder / "torch.json").write_text("{")
    assert lib.cuvet_open(str(folder).encode(), ctypes.byref(d)) in (0, data, io)
    if d:
        for f in FACTS:
            lib.cuvet_assume(d, f.encode())
        assert lib.cuvet_look_assumed(d) < 0 or lib.cuvet_judge(d) == data, lib.cuvet_error(d)
        lib.cuvet_close(d)
    d = ctypes.c_void_p()
    assert lib.cuvet_open(b"/nonexistent", ctypes.byref(d)) < 0 and b"/nonexistent" in \
        lib.cuvet_error(d)
    assert lib.cuvet_look_assumed(d) == usage
    lib.cuvet_close(d)


MEMORY = r"""
#include <cuvet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One set of calls; a status is printed, and how many descriptors are open after it. */
static int descriptors(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static const char paste[] =
	"RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
	"torch 2.6.0+cu124\nNVIDIA GeForce RTX 5070 Ti\n";

int main(int argc, char **argv)
{
	const char *text = NULL, *path = argc > 2 ? argv[2] : NULL;
	int before = descriptors(), r, verdict = -9;
	struct cuvet *c;
	size_t n = 0;

	r = cuvet_open(NULL, &c);
	if (!r && strcmp(argv[1], "root") == 0)
		r = cuvet_look_root(c, path, NULL);
	if (!r && strcmp(argv[1], "files") == 0)
		r = cuvet_look_files(c, &path, 1);
	if (!r && strcmp(argv[1], "text") == 0)
		r = cuvet_look_text(c, NULL, paste, sizeof(paste) - 1);
	if (!r && strcmp(argv[1], "assumed") == 0) {
		r = cuvet_assume(c, "gpu=RTX 5090");
		r = r ? r : cuvet_assume(c, "torch=2.6.0+cu124");
		r = r ? r : cuvet_look_assumed(c);
	}
	if (!r) {
		verdict = cuvet_judge(c);
		r = verdict < 0 ? verdict : cuvet_report(c, "json", &text, &n);
	}
	if (r == CUVET_ERROR_MEMORY && c && cuvet_judge(c) != CUVET_ERROR_MEMORY)
		return 9;
	printf("%d %d %zu %s\n", r, verdict, n, r ? cuvet_error(c) : "");
	cuvet_close(c);
	if (descriptors() != before)
		printf("descriptors: %d, before %d\n", descriptors(), before);
	return 0;
}
"""


def places(total):
    if total <= 200:
        return range(1, total + 1)
    return sorted({*range(1, 41), *range(40, total, total // 60 + 1),
                   *range(total - 20, total + 1)})


@test
def x1_memory_that_runs_out_is_a_status_and_nothing_stays_open(folder):
    source, out = folder / "m.c", folder / "m"
    source.write_text(MEMORY)
    subprocess.run([*CC, "-Wall", "-Werror", f"-I{ROOT}/include", "-o", out, source, f"-L{LIB}",
                    "-lcuvet"], check=True)
    root = folder / "root"
    (root / "usr/lib/python3/dist-packages/torch").mkdir(parents=True)
    (root / "usr/lib/python3/dist-packages/torch/version.py").write_text(
        "__version__ = '2.6.0+cu124'\ncuda: str = '12.4'\n")
    (root / "usr/bin").mkdir()
    (root / "usr/bin/python3.11").write_bytes(b"\x7fELF")
    (root / "etc").mkdir()
    (root / "etc/os-release").write_text('ID=debian\nVERSION_ID="12"\n')
    project = folder / "environment.yml"
    project.write_text("name: x\nchannels: [conda-forge]\ndependencies:\n  - python=3.11\n"
                       "  - pytorch=2.1\n")
    count = folder / "count"
    for what in (["assumed"], ["text"], ["root", str(root)], ["files", str(project)]):
        def run(at, on, counted=None):
            env = dict(ENV, LD_PRELOAD=str(ROOT / "build/standin/failing-alloc.so"),
                       CUVET_FAIL_AT=str(at))
            if on:
                env["CUVET_FAIL_ON"] = "1"
            if counted:
                env["CUVET_FAIL_COUNT"] = str(counted)
            return subprocess.run([out, *what], env=env, capture_output=True, text=True,
                                  timeout=60, check=False)
        whole = run(0, False, count)
        assert whole.returncode == 0 and whole.stdout.startswith("0 "), (what, whole)
        seen = set()
        for at in places(int(count.read_text())):
            for on in (False, True):
                p = run(at, on)
                where = (what, at, on, p.returncode, p.stdout, p.stderr)
                assert p.returncode == 0 and not p.stderr, where
                assert "descriptors" not in p.stdout, where
                short = p.stdout.startswith("-1 ") and p.stdout.endswith(" 0 out of memory\n")
                assert short or p.stdout == whole.stdout, where
                seen.add(short)
        assert True in seen, what


@test
def nothing_is_printed_and_the_locale_stays(folder):
    source, out = folder / "q.c", folder / "q"
    source.write_text(r"""
#include <cuvet.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
	struct cuvet *c;
	const char *text;
	size_t n;
	locale_t l = newlocale(LC_ALL_MASK, "C", (locale_t)0);

	uselocale(l);
	if (cuvet_open(NULL, &c) || cuvet_look_live(c) || cuvet_judge(c) < 0 ||
	    cuvet_report(c, "text", &text, &n) || strlen(text) != n)
		return 1;
	cuvet_close(c);
	if (uselocale((locale_t)0) != l || strcmp(setlocale(LC_ALL, NULL), "C"))
		return 2;
	return 0;
}
""")
    subprocess.run([*CC, "-D_GNU_SOURCE", f"-I{ROOT}/include", "-o", out, source, f"-L{LIB}",
                    "-lcuvet"], check=True)
    p = subprocess.run([out], env=ENV, capture_output=True, check=False, timeout=60)
    assert p.returncode == 0 and not p.stdout and not p.stderr, p


@test
def another_locale_and_ignored_children_change_no_answer(folder):
    source, out = folder / "l.c", folder / "l"
    source.write_text(r"""
#include <cuvet.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	char comma[16];
	struct cuvet *c;
	const char *text;
	size_t n;

	if (argc > 1 && !setlocale(LC_ALL, argv[1]))
		return 77;
	signal(SIGCHLD, SIG_IGN);
	if (cuvet_open(NULL, &c) || cuvet_look_live(c) || cuvet_judge(c) < 0)
		return 1;
	if (cuvet_assume(c, "gpu=RTX 5090") || cuvet_assume(c, "torch=2.6.0+cu124") ||
	    cuvet_look_assumed(c) || cuvet_judge(c) != CUVET_BLOCKED ||
	    cuvet_report(c, "json", &text, &n))
		return 2;
	fwrite(text, 1, n, stdout);
	cuvet_close(c);
	snprintf(comma, sizeof(comma), "%.1f", 0.5);
	return argc > 1 && strcmp(comma, "0,5") ? 3 : 0;
}
""")
    subprocess.run([*CC, f"-I{ROOT}/include", "-o", out, source, f"-L{LIB}", "-lcuvet"], check=True)
    plain = subprocess.run([out], env=ENV, capture_output=True, check=False, timeout=60)
    assert plain.returncode == 0 and b"gpu-too-new-for-build" in plain.stdout, plain
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", folder / "de_DE.UTF-8"],
                          capture_output=True, check=False) if shutil.which("localedef") else None
    if not made or made.returncode:
        print("# skipped: no locale with a comma can be made here")
        return
    env = dict(ENV, LOCPATH=str(folder))
    comma = subprocess.run([out, "de_DE.UTF-8"], env=env, capture_output=True, check=False, timeout=60)
    assert comma.returncode == 0 and comma.stdout == plain.stdout, comma


@test
def contexts_in_many_threads_do_not_meet(_folder):
    wrong = []

    def work(gpu, want):
        for _ in range(5):
            lib, c = open_lib()
            for f in (f"gpu={gpu}", *FACTS[1:]):
                lib.cuvet_assume(c, f.encode())
            if lib.cuvet_look_assumed(c) or lib.cuvet_judge(c) < 0 or \
                    lib.cuvet_root_cause(c) != want:
                wrong.append((gpu, lib.cuvet_error(c), lib.cuvet_root_cause(c)))
            lib.cuvet_close(c)

    pool = [threading.Thread(target=work, args=a) for a in
            [("RTX 5090", b"gpu-too-new-for-build"), ("RTX 4090", None)] * 4]
    for t in pool:
        t.start()
    for t in pool:
        t.join()
    assert not wrong, wrong


def main():
    failed = 0
    print("1..%d" % len(tests))
    for i, f in enumerate(tests, 1):
        with tempfile.TemporaryDirectory() as name:
            try:
                f(pathlib.Path(name))
                print("ok %d - %s" % (i, f.__name__.replace("_", " ")))
            except (AssertionError, subprocess.SubprocessError, OSError, ValueError) as e:
                failed += 1
                print("not ok %d - %s" % (i, f.__name__.replace("_", " ")))
                print("".join("# %s\n" % x for x in repr(e).split("\\n")), end="")
            sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
