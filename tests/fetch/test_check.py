#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release asan
"""From an archive to a program that runs: a machine whose onnxruntime has no cuDNN, fetch, what check says until the
variables are set, the lines of `cuvet env` as a shell takes them, and what check says then. Prints TAP.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "roots")]
import roots  # noqa: E402
from world import CUVET, TOP, Tap, World, good_members, tar  # noqa: E402

VARIABLES = ("PATH", "LD_LIBRARY_PATH", "CUDNN_PATH", "CUDA_HOME", "CUDA_PATH")


def archive():
    """The cuDNN 9.1.1 that a machine of tests/roots would have, as NVIDIA packs it."""
    t = roots.Tree()
    roots.cudnn_libs(t, "/lib", "9.1.1", "12.4")
    files, links = {"LICENSE": b"the licence\n"}, {}
    files["include/cudnn_version.h"] = roots.cudnn_header("9.1.1").encode()
    with tempfile.TemporaryDirectory() as d:
        t.write(d)
        for p in pathlib.Path(d, "lib").iterdir():
            if p.is_symlink():
                links["lib/" + p.name] = os.readlink(p)
            else:
                files["lib/" + p.name] = p.read_bytes()
    return tar(good_members(TOP, files, links))


class Machine:
    """The machine "cudnn-not-found" as a folder, and runs of cuvet on it."""

    def __init__(self, base):
        self.case = pathlib.Path(base) / "case"
        roots.build([m for m in roots.load_all() if m["id"] == "cudnn-not-found"][0], str(self.case))
        self.root, self.facts = self.case / "root", self.case / "facts.json"

    def run(self, *args):
        env = {k: v for k, v in os.environ.items() if k in ("PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS")}
        return subprocess.run([CUVET, *args, "--root", str(self.root)], env=dict(env, HOME="/nonexistent"),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=60)

    def check(self):
        r = self.run("check", "--json")
        d = json.loads(r.stdout)
        return r, d["verdict"], (d["root_cause"] or {}).get("name"), d

    def variables(self):
        return json.loads(self.facts.read_text()).get("env", {})

    def take(self, snippet):
        """What a shell with this machine's variables has after it has read the lines."""
        env = self.variables()
        out = subprocess.run(["sh", "-euc", snippet + "\nfor v in %s; do eval \"echo $v=\\${$v-}\"; done" %
                              " ".join(VARIABLES)], env=dict(env, PATH=env.get("PATH", "/usr/bin:/bin")),
                             stdout=subprocess.PIPE, text=True, check=True).stdout
        facts = json.loads(self.facts.read_text())
        facts["env"].update(l.split("=", 1) for l in out.splitlines() if not l.endswith("="))
        self.facts.write_text(json.dumps(facts))


def one(tap, base, prefix):
    w, m = World(base), Machine(tempfile.mkdtemp(dir=base))
    facts = m.facts.read_text()
    w.prefix = m.root / prefix.lstrip("/")
    w.cudnn(archive())
    r, verdict, cause, d = m.check()
    tap.check("%s: before there is no cuDNN" % prefix, (verdict, cause) == ("blocked", "cudnn-not-found"), r)
    got = w.install()
    tap.check("%s: installed" % prefix, got.returncode == 0, got)
    r, verdict, cause, d = m.check()
    place = prefix + "/cudnn/9.1.1.17-cuda12/lib"
    tap.check("%s: it lies where nobody looks" % prefix, (verdict, cause) == ("blocked", "lib-path-not-set") and
              place + "/libcudnn.so.9" in d["root_cause"]["message"] and
              any("LD_LIBRARY_PATH=" + place in c for x in d["root_cause"]["remedies"] for c in x["commands"]), r)
    # Either way: the remedy, or what fetch prints (its path without the root that it was put below).
    for name in ("the remedy", "cuvet env"):
        m.facts.write_text(facts)
        snippet = d["root_cause"]["remedies"][0]["commands"][0]
        if name == "cuvet env":
            e = m.run("env", "--shell", "sh", "--cudnn", prefix + "/cudnn/9.1.1.17-cuda12")
            tap.check("%s: env has lines" % prefix, e.returncode == 0 and place in e.stdout, e)
            snippet = e.stdout
        m.take(snippet)
        r, verdict, cause, _ = m.check()
        tap.check("%s: after %s all is well" % (prefix, name), (r.returncode, cause) == (0, None) and
                  verdict == "stack-ok", r, m.variables())
    # And away again: nothing of it is left that would be taken for a cuDNN.
    gone = w.run("remove", "cudnn/9.1.1.17-cuda12")
    r, verdict, cause, _ = m.check()
    tap.check("%s: removed" % prefix, gone.returncode == 0 and (verdict, cause) == ("blocked", "cudnn-not-found"), r)
    w.done()


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as base:
        home = Machine(tempfile.mkdtemp(dir=base)).variables()["HOME"]
        for prefix in ("/usr/local/cuvet", "/opt/cuvet", home + "/.local/cuvet"):
            one(tap, base, prefix)
    tap.end()


if __name__ == "__main__":
    main()
