#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks for wrong blame: changes each text of own-*.txt and cases/ a little and counts where the root
cause turns into another one that blocks. No test: what it lists has to be read.

usage: ablate.py lines|pairs|beside|noise [PAIR...]
  lines   each line left out in turn        pairs   each two lines, of texts of at most 8
  beside  a healthy machine's output put before and after
  noise   quoting, CRLF, colours, log prefixes, narrow wrapping, indentation, prose around
Without PAIR the pairs "name>other" by how often they come; with it, the texts of those."""
import collections
import glob
import itertools
import json
import os
import re
import sys

import ask

HERE = os.path.dirname(os.path.abspath(__file__))
FINE = {"application-bug", "out-of-memory", "host-memory", "harmless-warning", "no-fault",
        "insufficient-evidence", None}

HEALTHY = {
    "smi": """
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.90.07              Driver Version: 550.90.07      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
|   0  NVIDIA A100-SXM4-40GB          On  |   00000000:07:00.0 Off |                    0 |
| N/A   31C    P0             55W /  400W |     413MiB /  40960MiB |      0%      Default |
+-----------------------------------------------------------------------------------------+
""",
    "env": """
Collecting environment information...
PyTorch version: 2.4.0+cu121
Is debug build: False
CUDA used to build PyTorch: 12.1
OS: Ubuntu 22.04.4 LTS (x86_64)
Python version: 3.11.9 (main, Apr  6 2024, 17:59:24) [GCC 11.4.0] (64-bit runtime)
Is CUDA available: True
CUDA runtime version: 12.1.105
GPU models and configuration: GPU 0: NVIDIA A100-SXM4-40GB
Nvidia driver version: 550.90.07
""",
    "pip": """
$ pip list
Package            Version
------------------ --------
numpy              1.26.4
requests           2.32.3
tqdm               4.66.4
""",
}


def cases():
    import test_own
    for head, text in test_own.cases():
        if head[1] == "+":
            yield head[0], text
        elif head[2] != "-":
            yield head[2], text
    for path in sorted(glob.glob(os.path.join(HERE, "cases", "*.json"))):
        with open(path, encoding="utf-8") as f:
            c = json.load(f)
        yield "|".join([c["expect"]] + c["equal"]), c["input"] + "\n"


def without(text, n):
    lines = text.splitlines()
    if len(lines) <= n or (n == 2 and len(lines) > 8):
        return
    for left in itertools.combinations(range(len(lines)), n):
        gone = " / ".join(lines[i].strip() for i in left)
        yield "without " + gone, "".join(l + "\n" for i, l in enumerate(lines) if i not in left)


def beside(text):
    for name, healthy in HEALTHY.items():
        if name == "pip":
            yield "after " + name, healthy.lstrip("\n") + "\n" + text
            yield "before " + name, text + healthy
            continue
        healthy = "On my other machine it works:\n" + healthy.lstrip("\n")
        yield "after " + name, healthy + "\nOn this machine it fails:\n" + text
        yield "before " + name, text + "\n" + healthy


def wrapped(text, width):
    for line in text.splitlines():
        while len(line) > width:
            yield line[:width]
            line = line[width:]
        yield line


def noise(text):
    def each(f):
        return "".join(f(i, l) + "\n" for i, l in enumerate(text.splitlines()))
    yield "quoted", each(lambda i, l: "> " + l)
    yield "crlf", text.replace("\n", "\r\n")
    yield "colours", each(lambda i, l: "\x1b[0;31m" + l + "\x1b[0m")
    yield "indented", each(lambda i, l: "        " + l)
    yield "fenced", "### Describe the bug\n\n```shell\n" + text + "```\n\n### Versions\n"
    yield "log time", each(lambda i, l: f"2025-03-04 10:11:{12 + i % 48:02d},123 INFO " + l)
    yield "pod", each(lambda i, l: f"worker-0 | {l}")
    yield "wrapped", "".join(l + "\n" for l in wrapped(text, 80))
    yield "korean", "안녕하세요, 아래와 같은 문제가 있습니다.\n" + text + "어떻게 해결하면 될까요? 감사합니다.\n"
    yield "chinese", "大家好，我遇到下面的问题：\n" + text + "请问怎么解决？谢谢！\n"
    yield "german", "Hallo zusammen, ich bekomme Folgendes:\n" + text + "Was kann ich tun? Danke!\n"
    yield "details", ("<details><summary>output</summary>\n<pre>\n" +
                      text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") +
                      "</pre>\n</details>\n")


HOWS = {"lines": lambda t: without(t, 1), "pairs": lambda t: without(t, 2),
        "beside": beside, "noise": noise}


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in HOWS:
        print(__doc__)
        return 2
    how, wanted = sys.argv[1], set(sys.argv[2:])
    todo = []
    for name, text in cases():
        if name in FINE and how in ("lines", "pairs"):
            continue
        for what, changed in HOWS[how](text):
            todo.append((name, what, changed))
    pairs, lost, shown = collections.Counter(), collections.Counter(), collections.defaultdict(list)
    for (name, what, changed), got in zip(todo, ask.roots([t[2] for t in todo])):
        if got in name.split("|"):
            continue
        pair = f"{name}>{got}"
        if got not in FINE:
            pairs[pair] += 1
        elif how in ("beside", "noise"):
            lost[pair] += 1
        else:
            continue
        shown[pair].append((what, changed))
    for pair in wanted:
        for what, changed in shown.get(pair, []):
            print(f"=== {pair}: {what}\n{changed}", end="")
    if not wanted:
        for pair, n in pairs.most_common():
            if n:
                print(f"{n:4d} {pair}")
        for pair, n in lost.most_common():
            print(f"{n:4d} lost {pair}")
        print(f"{sum(pairs.values())} blamed otherwise and {sum(lost.values())} lost of {len(todo)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
