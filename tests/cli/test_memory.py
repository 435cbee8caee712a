#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release
"""X1: every allocation fails in turn, once and from then on: the same answer, or one line and 4.

Commands with few allocations are gone through whole, of the others the ends and a spread. The
sanitizers' own allocator does not go with LD_PRELOAD, so that the release build alone runs. Prints
TAP.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(os.environ.get("CUVET_ROOT", pathlib.Path(__file__).resolve().parents[2]))
CUVET = os.environ.get("CUVET", str(ROOT / "build/cuvet"))
STANDIN = pathlib.Path(os.environ.get("CUVET_STANDIN", ROOT / "build/standin"))
TARGET = ["--no-live", "--assume", "gpu=RTX 5090", "--assume", "driver=580.65.06",
          "--assume", "python=3.12"]
TORCH = ["--assume", "torch=2.6.0+cu124"]


def machine(folder):
    """A root that probes walk through: folders, a Python with PyTorch, facts beside it."""
    root = folder / "root"
    site = root / "usr/lib/python3/dist-packages"
    (site / "torch").mkdir(parents=True)
    (site / "torch/version.py").write_text("__version__ = '2.6.0+cu124'\ncuda: str = '12.4'\n")
    (site / "torch-2.6.0+cu124.dist-info").mkdir()
    (site / "torch-2.6.0+cu124.dist-info/METADATA").write_text("Name: torch\nVersion: 2.6.0\n")
    (root / "etc").mkdir()
    (root / "etc/os-release").write_text('ID=debian\nVERSION_ID="12"\n')
    (root / "usr/bin").mkdir()
    (root / "usr/bin/python3.11").write_bytes(b"\x7fELF")
    device = root / "sys/bus/pci/devices/0000:01:00.0"
    device.mkdir(parents=True)
    for name, text in (("vendor", "0x10de"), ("device", "0x2684"), ("class", "0x030000")):
        (device / name).write_text(text + "\n")
    (folder / "facts.json").write_text('{"schema":"cuvet.facts/1","uname":"Linux 6.1 x86_64"}\n')
    return root


def run(args, at, on, count=None):
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C", "CUVET_NO_USER_DATA": "1",
           "LD_PRELOAD": str(STANDIN / "failing-alloc.so"), "CUVET_FAIL_AT": str(at)}
    if on:
        env["CUVET_FAIL_ON"] = "1"
    if count:
        env["CUVET_FAIL_COUNT"] = str(count)
    return subprocess.run([CUVET, *args], env=env, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=60, check=False)


def places(total):
    if total <= 400:
        return range(1, total + 1)
    return sorted({*range(1, 61), *range(60, total, total // 50 + 1),
                   *range(total - 20, total + 1)})


def wrong(args, folder):
    """What is wrong with a command, as lines."""
    count = folder / "count"
    whole = run(args, 0, False, count)
    total = int(count.read_text())
    bad = []
    for at in places(total):
        for on in (False, True):
            p = run(args, at, on)
            if p.returncode == whole.returncode and p.stdout == whole.stdout:
                continue
            if p.returncode != 4 or p.stdout or p.stderr.count(b"\n") != 1:
                bad.append("allocation %d of %d%s: exit %d, %d bytes, %r" % (
                    at, total, " and all later" if on else "", p.returncode, len(p.stdout),
                    p.stderr[:200]))
    return bad, total


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        root = str(machine(folder))
        saved = folder / "s.json"
        saved.write_bytes(run(["snapshot", "--root", root], 0, False).stdout)
        commands = [
            ["--version"], ["--help"], ["explain", "driver-too-old"], ["data"],
            ["show", "torch", "2.6.0"], ["show", "gpu", "GT 710", "--json"],
            ["check", *TARGET, *TORCH], ["check", "--json", *TARGET, *TORCH],
            ["check", "--root", root], ["snapshot", "--root", root], ["check", str(saved)],
            ["plan", *TARGET], ["plan", "--json", *TARGET],
        ]
        print("1..%d" % len(commands))
        for i, args in enumerate(commands, 1):
            bad, total = wrong(args, folder)
            words = " ".join(a.replace(str(folder), "") for a in args)
            print("%s %d - X1: cuvet %s (%d allocations)" % (
                "not ok" if bad or not total else "ok", i, words, total))
            for line in bad[:5]:
                print("# " + line)
            failed += bool(bad)
            sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
