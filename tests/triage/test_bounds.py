#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release
"""Time and memory of triage: typical texts, a thousand cases, and 64 MiB of whatever costs most.

Processor time as parts of what Python takes beside it (tests/yardstick.py); the limits are about
three times what is promised on the machine that they were set on."""
import glob
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from yardstick import START, WORK, ratio, spent  # noqa: E402

EXE = os.environ.get("CUVET", "build/cuvet")
MIB = 1 << 20
n = bad = 0


def report(good, name, note=""):
    global n, bad
    n += 1
    bad += not good
    print(f"{'ok' if good else 'not ok'} {n} - {name}{' # ' + note if note else ''}")


def literals():
    with open(os.path.join(HERE, "../../data/compat/signatures.json"), encoding="utf-8") as f:
        rows = json.load(f)["rows"]
    return ("\n".join(x for r in rows for x in r.get("any", [])) + "\n").encode()


def random_block():
    x, out = 1, bytearray()
    for _ in range(MIB):
        x = (x * 1103515245 + 12345) & 0x7FFFFFFF
        out.append(x >> 16 & 255)
    return bytes(out)


def blocks():
    yield "P14 nothing but hits of signatures", literals()
    yield "P14 commands said to be silent", b"lsmod | grep nvidia returns nothing\n" * 29000
    yield "P14 gaps of patterns", (b"out of memory " + b"initialization CUDA peer ACS kernel " * 50
                                   + b"\n") * 580
    yield "P3 one line", b"x" * MIB
    yield "P1 random bytes", random_block()
    yield "a log", b"".join(b"2024-05-01 12:00:%02d step %d loss=0.%d gpu mem 12GB\n"
                            % (i % 60, i, i) for i in range(20000))
    yield "P5 beginnings of escapes", b"\x1b[" * (MIB // 2)
    yield "P6 marks of quotation", b"> " * (MIB // 2)
    yield "fences", b"```\n" * (MIB // 4)
    yield "P10 beginnings of tags", b"<a " * (MIB // 3)
    yield "P13 Dockerfiles", b"FROM a:b\nRUN x\n" * (MIB // 15)
    yield "P8 headings that change the owner", b"## On the host\nError x\n## Before\n" * (MIB // 33)
    yield "rows of nvidia-smi -q", b"Product Name : X\nCurrent : Enabled\n" * (MIB // 36)
    yield "docker inspect", b'"DeviceRequests": null,\n' * (MIB // 24)
    yield "prompts", b"(x) a@b:~$ docker run y\n" * (MIB // 24)
    yield "P4 UTF-16", ("\ud55c\uad6d\uc5b4 torch 2.1\n" * 40000).encode("utf-16-le")


def large(folder):
    path = os.path.join(folder, "large")
    for name, block in blocks():
        with open(path, "wb") as f:
            if name.startswith("P4"):
                f.write(b"\xff\xfe")
            while f.tell() + len(block) < 64 * MIB:
                f.write(block)
        size = os.path.getsize(path) / MIB
        del block
        limit = 40 if name == "a log" else 20
        times, text, mem, code = ratio([EXE, "triage", path], WORK, limit, 3)
        report(0 <= code <= 3 and times <= limit and mem < 64 + 2 * size,
               f"{name}: time and memory are bounded", f"{size:.0f} MiB, {text}, exit {code}")
    _, mem, code = spent([EXE, "triage", "-"], stdin=path)
    report(code >= 0 and mem < 64 + 2 * size, "from a pipe too", f"{mem:.0f} MiB")


def cases(folder):
    texts = []
    for name in sorted(glob.glob(os.path.join(HERE, "cases", "*.json"))):
        with open(name, encoding="utf-8") as f:
            c = json.load(f)
        texts.append(c["input"] + "\n" + c["context"])
    paths = []
    for i in range(1000):
        paths.append(os.path.join(folder, f"{i}.txt"))
        with open(paths[-1], "w", encoding="utf-8") as f:
            f.write(texts[i % len(texts)])
    # The middle one of a hundred texts, each at its best.
    middle = sorted(paths[:100], key=lambda p: spent([EXE, "triage", p])[0])[50]
    times, text, _, _ = ratio([EXE, "triage", middle], START, 4)
    report(times <= 4, "a typical text", text)
    times, text, mem, code = ratio([EXE, "triage", "--each", "--json", *paths], WORK, 60, 3)
    report(code == 1 and times <= 60 and mem < 192, "a thousand cases", text)


def main():
    with tempfile.TemporaryDirectory() as folder:
        cases(folder)
        large(folder)
    print(f"1..{n}")
    print(f"{n - bad} passed, {bad} failed")
    return 1 if bad else 0


sys.exit(main())
