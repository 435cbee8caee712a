#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The lines that are shown under a root cause (evidence.txt)."""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CUVET = os.environ.get("CUVET", "build/cuvet")


def cases():
    with open(os.path.join(HERE, "evidence.txt"), encoding="utf-8") as f:
        parts = f.read().split("\n=== ")[1:]
    for part in parts:
        head, text = part.split("\n", 1)
        name, wanted, refused = (x.strip() for x in head.split("|"))
        yield name, wanted.split(), refused.split(), text


def main():
    passed = failed = 0
    for name, wanted, refused, text in cases():
        done = subprocess.run([CUVET, "triage", "--json", "-"], input=text, capture_output=True,
                              text=True, timeout=60, check=False)
        root = json.loads(done.stdout)["root_cause"]
        shown = {m.group(1) for e in root["evidence"]
                 if (m := re.match(r"pasted line (\d+)", e["source"]))}
        wrong = [f"no line {n}" for n in wanted if n not in shown]
        wrong += [f"line {n}" for n in refused if n in shown]
        if root["name"] != name:
            wrong.append(root["name"])
        # What is shown of a line is that line, and no other joined to it.
        lines = [" ".join(x.split()) for x in text.split("\n")]
        wrong += [f"not a line: {e['seen']}" for e in root["evidence"]
                  if e["field"] == "text" and " ".join(e["seen"].split()) not in lines]
        passed += not wrong
        failed += bool(wrong)
        if wrong:
            print(f"FAIL: {name}: {', '.join(wrong)}")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


sys.exit(main())
