#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of own-*.txt: each text has to give the name that it says, or not to give it.

usage: own.py CUVET [FILE...]; one line a failure, exit 1 if there is any."""
import json
import os
import subprocess
import sys


def cases(path):
    head, body = None, []
    for line in open(path, encoding="utf-8"):
        if line.startswith("=== "):
            if head:
                yield head, "".join(body)
            head, body = line[4:].split(), []
        elif head:
            body.append(line)
    if head:
        yield head, "".join(body)


def main():
    exe = sys.argv[1]
    here = os.path.dirname(os.path.abspath(__file__))
    files = sys.argv[2:] or [os.path.join(here, f) for f in sorted(os.listdir(here))
                             if f.startswith("own-") and f.endswith(".txt")]
    total = bad = 0
    for path in files:
        for head, text in cases(path):
            total += 1
            p = subprocess.run([exe, "triage", "--json", "-"], input=text, capture_output=True,
                               text=True, timeout=20, check=False)
            try:
                root = json.loads(p.stdout)["root_cause"]
                got = root["name"] if root else None
            except (ValueError, KeyError):
                got = f"exit {p.returncode}: {p.stderr.strip()[:80]}"
            want = head[0] if head[1] == "+" else head[2]
            fine = got == want if want != "-" else got != head[0]
            if not fine:
                bad += 1
                print(f"{'not ' if head[1] == '-' else ''}{head[0]}: want {want}, got {got}")
    print(f"{total - bad} of {total} cases")
    return 1 if bad else 0


sys.exit(main())
