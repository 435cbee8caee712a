#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rows of the table "signatures" that no text of own-*.txt, fixes.txt, healthy.txt and cases/
fires: nobody has seen them match, nor whether they name the right cause.

usage: rows.py [CUVET]; exit 1 if there is one."""
import concurrent.futures
import glob
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "../../data/compat/signatures.json")


def texts():
    for path in sorted(glob.glob(os.path.join(HERE, "*.txt"))):
        with open(path, encoding="utf-8") as f:
            for text in ("\n" + f.read()).split("\n=== ")[1:]:
                yield text.partition("\n")[2]
    for path in sorted(glob.glob(os.path.join(HERE, "cases", "*.json"))):
        with open(path, encoding="utf-8") as f:
            case = json.load(f)
        yield case["input"] + "\n" + (case["context"] or "")


def signs_of(exe, text):
    p = subprocess.run([exe, "triage", "--snapshot", "-"], input=text, capture_output=True,
                       text=True, timeout=60, check=True)
    return {sign["id"]["v"] for sign in json.loads(p.stdout)["facts"]["signs"]}


def main():
    exe = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("CUVET", "build/cuvet")
    with open(TABLE, encoding="utf-8") as f:
        rows = [row["id"] for row in json.load(f)["rows"]]
    seen = set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for signs in pool.map(lambda text: signs_of(exe, text), texts()):
            seen |= signs
    silent = [row for row in rows if row not in seen]
    print("\n".join(silent + [f"{len(silent)} of {len(rows)} rows are fired by no text"]))
    return 1 if silent else 0


if __name__ == "__main__":
    sys.exit(main())
