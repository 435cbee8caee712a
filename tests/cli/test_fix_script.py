#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release
# timeout: 900
"""--fix-script: the remedies as a script that shellcheck takes, that foreign text never gets out of,
and that replaces no file. Prints TAP.
"""
import copy
import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/roots"))
import roots  # noqa: E402  pylint: disable=wrong-import-position

CUVET = os.path.abspath(os.environ.get("CUVET", str(ROOT / "build/cuvet")))
TARGET = ["--no-live", "--assume", "gpu=RTX 5090", "--assume", "driver=580.65.06",
          "--assume", "python=3.12", "--assume", "torch=2.6.0+cu124"]
# What a broken quoting would run. CANARY is the name of a file that must not come to be.
HOSTILE = ["\ntouch CANARY\n", "'; touch CANARY; '", "$(touch CANARY)", "`touch CANARY`",
           "\"; touch CANARY; \"", "\\\ntouch CANARY", "\r\ntouch CANARY", "a'\ntouch CANARY\n'",
           "\u2028touch CANARY", "|touch CANARY", "&&touch CANARY", "\x00", "# shellcheck disable=all",
           "$IFS", "\x1b]0;x\x07", "*", "~root", "-rf", "EOF"]
tests = []


def test(f):
    tests.append(f)
    return f


def run(*args, **more):
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": "/nonexistent",
           "CUVET_NO_USER_DATA": "1"}
    return subprocess.run([CUVET, *args], env=env, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=120, check=False, **more)


def live(script):
    return [x for x in script.decode().split("\n") if x and not x.startswith("#")]


def shellcheck(folder, script, name):
    path = folder / "script.sh"
    path.write_bytes(script)
    p = subprocess.run(["sh", "-n", path], capture_output=True, check=False)
    assert p.returncode == 0, (name, p.stderr)
    if shutil.which("shellcheck"):
        p = subprocess.run(["shellcheck", "-s", "sh", path], capture_output=True, text=True,
                           check=False)
        assert p.returncode == 0, (name, p.stdout)


def stubs(folder):
    """Programs of these names that do nothing: what a live line calls must be one of them."""
    stub = folder / "bin"
    stub.mkdir()
    for name in ("sudo pip pip3 python python3 conda mamba uv poetry pixi cuvet tee echo printf "
                 "apt-get dnf zypper pacman modprobe systemctl dkms uname dpkg nvidia-smi").split():
        (stub / name).write_text("#!/bin/sh\nexit 0\n")
        (stub / name).chmod(0o755)
    for name in ("sh", "touch"):
        (stub / name).symlink_to(shutil.which(name))
    return stub


def harmless(folder, stub, script, name):
    """Each live line by itself, so that one that fails keeps none from being tried."""
    work = folder / "work"
    work.mkdir(exist_ok=True)
    for line in [*live(script), script.decode()]:
        subprocess.run(["sh", "-c", line], cwd=work, env={"PATH": str(stub), "HOME": str(work)},
                       stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False)
        left = [p.name for p in work.iterdir()]
        assert not left, (name, line, left)
    text = script.decode()
    assert not any(ord(c) < 32 and c != "\n" for c in text), (name, text)


@test
def the_remedy_is_live_and_everything_is_said(folder):
    p = run("check", *TARGET, "--fix-script", "-")
    assert p.returncode == 1 and not p.stderr
    text = p.stdout.decode()
    root = json.loads(run("check", "--json", *TARGET).stdout)["root_cause"]
    assert live(p.stdout) == ["set -eu", *root["remedies"][0]["commands"]]
    assert text.startswith("#!/bin/sh\n")
    for word in ("2026-", "gpu-too-new-for-build", "CV0908", "root cause", "Why: GPU 0", "What: ",
                 "Risk: ", "Root: no", "Reboot afterwards: no"):
        assert word in text, word
    shellcheck(folder, p.stdout, "root cause")


@test
def plan_and_triage_too(folder):
    p = run("plan", *TARGET[:7], "--fix-script", "-")
    pip = json.loads(run("plan", *TARGET[:7], "--json").stdout)["chosen"]["commands"]["pip"]
    assert p.returncode == 0 and live(p.stdout) == ["set -eu", *pip]
    shellcheck(folder, p.stdout, "plan")
    p = run("plan", "--no-live", "--assume", "gpu=Tesla K80", "--assume", "driver=580", "torch>=2.6",
            "--fix-script", "-")
    assert p.returncode == 1 and live(p.stdout) == ["set -eu"] and b"Nothing fits" in p.stdout
    shellcheck(folder, p.stdout, "unfit")
    p = run("triage", str(ROOT / "docs/examples/paste.txt"), "--fix-script", "-")
    assert p.returncode == 1 and len(live(p.stdout)) == 2
    shellcheck(folder, p.stdout, "triage")
    # What a project file should say is no command to run.
    p = run("check", str(ROOT / "docs/examples/Dockerfile"), "--assume", "gpu=T4", "--assume",
            "driver=535.183.01", "--fix-script", "-")
    assert p.returncode == 1 and live(p.stdout) == ["set -eu"] and b"# $ pip install" in p.stdout
    shellcheck(folder, p.stdout, "project")
    p = run("check", *TARGET[:5], "--fix-script", "-")
    assert p.returncode == 0 and b"Nothing is to be done" in p.stdout


@test
def what_is_found_beside_the_root_cause_is_left_out(folder):
    seen = 0
    for machine in roots.load():
        if machine.get("expect", {}).get("verdict") not in ("blocked", ["blocked", "degraded"]):
            continue
        case = folder / "case"
        shutil.rmtree(case, ignore_errors=True)
        roots.build(copy.deepcopy(machine), str(case))
        args = ["check", "--root", str(case / "root")]
        report = json.loads(run(*args, "--json").stdout)
        script = run(*args, "--fix-script", "-").stdout
        shellcheck(folder, script, machine["id"])
        text = script.decode()
        root = report["root_cause"]
        if not root or not root["remedies"]:
            continue
        first = root["remedies"][0]["commands"]
        assert set(live(script)) <= {"set -eu", *first}, (machine["id"], live(script))
        for line in first:
            if "\n" not in line:
                assert line in text, (machine["id"], line)
            if any(w in line.split() for w in ("purge", "rm", "reboot", "remove", "erase")):
                assert line not in live(script), (machine["id"], line)
        seen += len(live(script)) > 1
    assert seen > 10, seen


@test
def foreign_text_stays_in_comments_and_quotes(folder):
    stub = stubs(folder)
    lines = 0
    for number, machine in enumerate(m for m in roots.load() if not m["expect"].get("hostile")):
        if number % 3:
            continue
        case = folder / "case"
        shutil.rmtree(case, ignore_errors=True)
        roots.build(copy.deepcopy(machine), str(case))
        snapshot = json.loads(run("snapshot", "--root", str(case / "root")).stdout)
        for h, bad in enumerate(HOSTILE):
            doc = copy.deepcopy(snapshot)

            def spoil(v, key=None, bad=bad, h=h):
                if isinstance(v, dict):
                    return {k: spoil(x, k) for k, x in v.items()}
                if isinstance(v, list):
                    return [spoil(x, key) for x in v]
                # Numbers and words that rules compare stay, or no rule would speak at all.
                free = key in ("prefix", "path", "interpreter", "location", "source", "line", "image")
                if isinstance(v, str) and (free or ("/" in v and (len(v) + h) % 2)):
                    return v + bad
                return v

            doc["facts"] = spoil(doc["facts"])
            saved = folder / "s.json"
            saved.write_text(json.dumps(doc))
            p = run("check", str(saved), "--fix-script", "-")
            name = (machine["id"], bad)
            assert p.returncode in (0, 1, 2, 3), (name, p.stderr)
            if p.returncode == 2:
                continue
            harmless(folder, stub, p.stdout, name)
            lines += len(live(p.stdout))
            if h < 4:
                shellcheck(folder, p.stdout, name)
    assert lines > 200, lines
    for bad in HOSTILE[:-1]:
        text = folder / "t.txt"
        text.write_text("Traceback\n  File \"/home/x%s/lib/python3.12/site-packages/torch/__init__.py\"\n"
                        "RuntimeError: CUDA error: no kernel image is available for execution on the "
                        "device\ntorch 2.6.0+cu124\nNVIDIA GeForce RTX 5070 Ti%s\n" % (bad, bad))
        p = run("triage", str(text), "--fix-script", "-")
        harmless(folder, stub, p.stdout, bad)


@test
def the_file_is_new_whole_and_not_executable(folder):
    path = folder / "fix.sh"
    p = run("check", *TARGET, "--fix-script", str(path))
    assert p.returncode == 1 and b"Root cause" in p.stdout and not p.stderr
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    script = path.read_bytes()
    assert script == run("check", *TARGET, "--fix-script", "-").stdout
    # With --json the report is one document, the script beside it.
    path.unlink()
    p = run("check", *TARGET, "--json", "--fix-script", str(path))
    assert json.loads(p.stdout)["verdict"] == "blocked" and path.read_bytes() == script
    path.write_text("mine\n")
    for more in ([], ["--json"]):
        p = run("check", *TARGET, *more, "--fix-script", str(path))
        assert p.returncode == 2 and not p.stdout and b"--force" in p.stderr, p
        assert path.read_text() == "mine\n"
    p = run("check", *TARGET, "--fix-script", str(path), "--force")
    assert p.returncode == 1 and path.read_bytes() == script
    assert [x.name for x in folder.iterdir()] == ["fix.sh"]


@test
def nothing_but_a_plain_file_is_replaced(folder):
    target, link = folder / "target", folder / "link"
    target.write_text("mine\n")
    link.symlink_to(target)
    os.mkfifo(folder / "fifo")
    (folder / "sub").mkdir()
    dangling = folder / "dangling"
    dangling.symlink_to(folder / "nowhere")
    for path in (link, folder / "fifo", folder / "sub", dangling, "/dev/null"):
        for more in ([], ["--force"]):
            p = run("check", *TARGET, "--fix-script", str(path), *more)
            assert p.returncode == 2 and not p.stdout, (path, more, p)
    assert target.read_text() == "mine\n" and not (folder / "nowhere").exists()
    p = run("check", *TARGET, "--fix-script", str(folder / "no/such/folder/x"))
    assert p.returncode == 4 and p.stderr.count(b"\n") == 1, p
    assert os.path.exists("/dev/null") and stat.S_ISCHR(os.stat("/dev/null").st_mode)


@test
def options_that_do_not_go_together(_folder):
    for args in (["check", *TARGET, "--force"], ["check", *TARGET, "--fix-script", "-", "--json"],
                 ["plan", "--batch", "x", "--fix-script", "-"],
                 ["triage", "--each", str(ROOT / "docs/examples/paste.txt"), "--fix-script", "-"]):
        p = run(*args)
        assert p.returncode == 2 and not p.stdout and p.stderr.count(b"\n") == 1, (args, p)


def main():
    failed = 0
    print("1..%d" % len(tests))
    for i, f in enumerate(tests, 1):
        with tempfile.TemporaryDirectory() as name:
            try:
                f(pathlib.Path(name))
                print("ok %d - %s" % (i, f.__name__.replace("_", " ")))
            except (AssertionError, KeyError, ValueError, OSError) as e:
                failed += 1
                print("not ok %d - %s" % (i, f.__name__.replace("_", " ")))
                print("".join("# %s\n" % x for x in repr(e).split("\\n")), end="")
            sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
