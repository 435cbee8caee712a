#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the list of fixes.txt: what the remedies of a report have to tell, and what they must not,
since it would not mend that machine. Nothing that a remedy tells to type may be left to fill in."""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
EXE = os.environ.get("CUVET", "build/cuvet")
# Words in capitals that are no placeholder.
BLANK = re.compile(r"(?<!\$)\b(?:NNN|VERSION|INDEX|BRANCH|BRIDGE|USER|IMAGE|NAME|PACKAGE|CONTAINER)\b")


def triage(text, *options):
    p = subprocess.run([EXE, "triage", *options, "-"], input=text, capture_output=True, text=True,
                       timeout=60, check=False)
    return p.stdout


def case_text(ident):
    with open(os.path.join(HERE, "cases", ident + ".json"), encoding="utf-8") as f:
        d = json.load(f)
    return d["input"] + "\n\n" + (d.get("context") or "")


def told(text):
    report = json.loads(triage(text, "--json"))
    root = report["root_cause"] or {"remedies": []}
    lines = list(report["asks"])
    commands = []
    for r in root["remedies"]:
        lines.append(r["text"])
        lines.extend(r["commands"])
        commands.extend(r["commands"])
    return report, "\n".join(lines), commands


def entries():
    head, text, checks = None, [], []
    for line in open(os.path.join(HERE, "fixes.txt"), encoding="utf-8"):
        line = line.rstrip("\n")
        if line.startswith("#") or not line:
            continue
        if line.startswith("=== "):
            if head:
                yield head, "\n".join(text), checks
            head, text, checks = line[4:], [], []
        elif line.startswith("> "):
            text.append(line[2:])
        else:
            checks.append((line[0], line[2:]))
    if head:
        yield head, "\n".join(text), checks


def complaints(head, text, checks):
    text = text if head == "text" else case_text(head)
    report, said, commands = told(text)
    for sign, what in checks:
        if sign == "~":
            if what not in triage(text, "--reply", "markdown"):
                yield f"the reply lacks {what!r}"
        elif (what in said) != (sign == "+"):
            yield f"{'lacks' if sign == '+' else 'tells'} {what!r}: {said!r}"
    for c in commands:
        if BLANK.search(c):
            yield f"something is left to fill in: {c!r}"
    if report["verdict"] != "undetermined" and report["asks"]:
        yield f"asks although it knows: {report['asks']!r}"


def main():
    n = bad = 0
    for head, text, checks in entries():
        n += 1
        wrong = list(complaints(head, text, checks))
        bad += bool(wrong)
        shown = head if head != "text" else text.split("\n", maxsplit=1)[0][:60]
        print(f"{'not ok' if wrong else 'ok'} {n} - {shown}")
        for w in wrong:
            print("#  ", w)
    print(f"1..{n}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
