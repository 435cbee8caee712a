#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scores `cuvet triage` on the real reports in cases/: top-1 accuracy by class and difficulty, with
and without what the reporter said later, and how often a healthy stack is blamed.

usage: accuracy.py [CUVET]; exit 1 below 95 % of the firm cases or with any false blame."""
import collections
import glob
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FINE = {"application-bug", "out-of-memory", "host-memory", "harmless-warning", "no-fault"}


def layers():
    """Layer of each finding: the class of fault that a case is of."""
    with open(os.path.join(HERE, "../../src/rule/finding.def"), encoding="utf-8") as f:
        return dict(re.findall(r'"CV\d+",\s*"([a-z0-9-]+)",\s*([A-Z]+)', f.read()))


LAYERS = layers()


def ask(exe, text):
    p = subprocess.run([exe, "triage", "--json", "-"], input=text, capture_output=True, text=True,
                       timeout=60, check=False)
    report = json.loads(p.stdout)
    root = report["root_cause"]
    return report["verdict"], root["name"] if root else None, report["asks"]


def score(case, verdict, got, asks):
    """Points, and whether a stack is blamed that is not at fault."""
    right = got == case["expect"] or got in case["equal"]
    blames = verdict == "blocked" and got not in FINE
    if case["verdict"] == "stack-ok" and case["sufficient"]:
        return float(verdict in ("stack-ok", "degraded") and (got is None or got in FINE)), blames
    if case["verdict"] == "undetermined" or not case["sufficient"]:
        if (verdict == "undetermined" and asks) or right:
            return 1.0, False
        return 0.5 * (verdict == "undetermined"), case["verdict"] == "undetermined" and blames
    if right:
        return 1.0, False
    return 0.5 * (got in case["also"] or got in case["family"]), False


def run(exe, cases, context):
    points, total = collections.Counter(), collections.Counter()
    blamed, misses = 0, []
    for c in cases:
        text = c["input"] + ("\n" + c["context"] if context and c["context"] else "")
        verdict, got, asks = ask(exe, text)
        p, b = score(c, verdict, got, asks)
        blamed += b
        for key in ("firm" if c["firm"] else "soft", "difficulty " + c["difficulty"],
                    "class " + LAYERS.get(c["expect"], "?").lower(),
                    {"f": "frameworks", "s": "systems"}[c["id"][0]], "verdict " + c["verdict"]):
            points[key] += p
            total[key] += 1
        if p < 1:
            misses.append(f"{c['id']}: want {c['expect']}, got {got}")
    return points, total, blamed, misses


def main():
    exe = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("CUVET", "build/cuvet")
    cases = []
    for name in sorted(glob.glob(os.path.join(HERE, "cases", "*.json"))):
        with open(name, encoding="utf-8") as f:
            cases.append(json.load(f))
    good = True
    for context in (False, True):
        points, total, blamed, misses = run(exe, cases, context)
        print("with what was said later" if context else "the text alone")
        for key in sorted(total):
            print(f"  {key:22} {points[key]:5.1f} of {total[key]:3} = "
                  f"{100 * points[key] / total[key]:5.1f} %")
        print(f"  false blame            {blamed}")
        for m in misses:
            print("  " + m)
        good = good and points["firm"] >= 0.95 * total["firm"] and not blamed
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
