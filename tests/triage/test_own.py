#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of own-*.txt: each text has to give the name that it says (or one of "a|b", where
two names fit as well), or not to give it; the verdict has to be that of the name.
Every finding name has two texts at least that give it and one that is easily mistaken for it."""
import os
import re
import sys

import ask

HERE = os.path.dirname(os.path.abspath(__file__))
# Judged over project files alone, or named otherwise: no text shows them by themselves.
ELSEWHERE = {
    "driver-call-hung",
    "driver-library-crash",
    "requirement-not-met",
    "search-path-unsound",
}
# The stack is not to blame: verdict stack-ok, whatever else the text shows.
STACK_OK = {
    "application-bug",
    "harmless-warning",
    "host-memory",
    "no-fault",
    "out-of-memory",
}


def cases():
    for name in sorted(os.listdir(HERE)):
        if not (name.startswith("own-") and name.endswith(".txt")):
            continue
        head, body = None, []
        for line in open(os.path.join(HERE, name), encoding="utf-8"):
            if line.startswith("=== "):
                if head:
                    yield head, "".join(body)
                head, body = line[4:].split(), []
                if len(head) < 2 or head[1] not in "+-" or (head[1] == "-" and len(head) < 3):
                    sys.exit(f"{name}: no heading of a text: {line.strip()}")
            elif head:
                body.append(line)
        if head:
            yield head, "".join(body)


def main():
    n = bad = 0
    seen = {}
    texts = list(cases())
    for (head, text), report in zip(texts, ask.reports(text for _, text in texts)):
        name, sign = head[0].split("|")[0], head[1]
        want = head[0] if sign == "+" else head[2]
        got = ask.root(report)
        fine = got in want.split("|") if want != "-" else got != name
        if isinstance(report, str):
            fine = False
        elif got == "insufficient-evidence":
            fine = fine and report["verdict"] == "undetermined" and bool(report["asks"])
        else:
            fine = fine and report["verdict"] == ("stack-ok" if got in STACK_OK else "blocked")
        seen.setdefault(name, []).append(sign)
        n += 1
        what = f"{'not ' if sign == '-' else ''}{name}: {text.splitlines()[0][:60]}"
        if fine:
            print(f"ok {n} - {what}")
        else:
            bad += 1
            print(f"not ok {n} - {what}\n# want {want}, got {got}")
    with open(os.path.join(HERE, "../../src/rule/finding.def"), encoding="utf-8") as f:
        names = set(re.findall(r'"CV\d+", "([a-z0-9-]+)"', f.read()))
    for name in sorted(names - ELSEWHERE):
        signs = seen.get(name, [])
        if signs.count("+") < 2 or ("-" not in signs and name != "insufficient-evidence"):
            print(f"# {name}: {signs.count('+')} positive, {signs.count('-')} negative")
    print(f"1..{n}")
    print(f"{n - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
