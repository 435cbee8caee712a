#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Texts without a fault (healthy.txt, and whole captures of a machine that works): nothing is
blamed, and no row of the table that weighs for a cause finds its words in them."""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
EXE = os.environ.get("CUVET", "build/cuvet")
FINE = {"no-fault", "harmless-warning", "insufficient-evidence"}
HEAVY = 50  # a root needs as much


def texts():
    title, body = None, []
    with open(os.path.join(HERE, "healthy.txt"), encoding="utf-8") as f:
        for line in f:
            if line.startswith("=== "):
                if title:
                    yield title, "".join(body)
                title, body = line[4:].strip(), []
            elif title:
                body.append(line)
    yield title, "".join(body)
    for name in ("h200-torch-2.11.txt", "h200-torch-2.11.json"):
        with open(os.path.join(HERE, "../captures", name), encoding="utf-8") as f:
            yield name, f.read()


def heavy_rows():
    with open(os.path.join(HERE, "../../data/compat/signatures.json"), encoding="utf-8") as f:
        rows = json.load(f)["rows"]
    return {r["id"] for r in rows
            if any(w >= HEAVY for name, w in r.get("for", {}).items() if name not in FINE)}


def triage(text, *args):
    p = subprocess.run([EXE, "triage", *args, "-"], input=text, capture_output=True, text=True,
                       timeout=60, check=False)
    try:
        return json.loads(p.stdout)
    except ValueError:
        return {"root_cause": {"name": f"exit {p.returncode}"}}


def main():
    heavy = heavy_rows()
    n = bad = 0
    for title, text in texts():
        root = (triage(text, "--json")["root_cause"] or {}).get("name")
        signs = triage(text, "--snapshot").get("facts", {}).get("signs", [])
        found = [f"{s['id']['v']}: {s['text']['v'][:80]}" for s in signs if s["id"]["v"] in heavy]
        n += 1
        if (not root or root in FINE) and not found:
            print(f"ok {n} - {title}")
            continue
        bad += 1
        print(f"not ok {n} - {title}\n# root {root}")
        for f in found:
            print(f"# {f}")
    print(f"1..{n}")
    print(f"{n - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
