#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the fields of src/model/snapshot.h into the schemas of docs/schema that hold a snapshot.

usage: gen-snapshot-schema.py [--check]

snapshot.schema.json gets them as facts, report.schema.json as plain values. Everything else in these
files is written by hand. With --check nothing is written; exit 1 says that it has to be run.
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROW = re.compile(r"\b([FLOA])\((\w+), (?:([A-Z]+), )?N_\(\"([^\"]*)\"\)\)")
STATES = {
    "description": "facts that could not be read: field, state, why, source",
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "field": {"type": "string"},
            "state": {"enum": ["denied", "broken"]},
            "why": {"type": ["string", "null"]},
            "source": {"type": ["string", "null"]},
        },
        "required": ["field", "state", "why", "source"],
    },
}


def structs():
    """{"GPU": [("F", "address", None, "PCI address"), ...], ...}"""
    text = (ROOT / "src/model/snapshot.h").read_text(encoding="utf-8").replace("\\\n", "")
    found = {}
    for name, body in re.findall(r"^#define ([A-Z]+)_FIELDS\(F, L, O, A\)(.*)$", text, re.M):
        found[name] = [(k, n, t or None, label) for k, n, t, label in ROW.findall(body)]
    return found


def definitions(plain):
    fact = {"type": ["string", "null"]} if plain else {"$ref": "#/$defs/fact"}
    strings = {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]}
    defs = {}
    for name, rows in structs().items():
        properties = {}
        for kind, field, sub, label in rows:
            ref = {"$ref": "#/$defs/" + ("snapshot" if sub == "SNAPSHOT" else "%s" % (sub or "").lower())}
            properties[field] = dict({
                "F": fact,
                "L": strings if plain else {"$ref": "#/$defs/list"},
                "O": ref,
                "A": {"type": "array", "items": ref},
            }[kind], description=label)
        if name == "SNAPSHOT" and plain:
            properties["states"] = STATES
        defs[name.lower()] = {"type": "object", "properties": properties}
    return defs


def main(argv):
    if argv not in ([], ["--check"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    stale = False
    for name, plain in (("snapshot", False), ("report", True)):
        path = ROOT / "docs/schema" / (name + ".schema.json")
        old = path.read_text(encoding="utf-8")
        schema = json.loads(old)
        kept = {k: v for k, v in schema["$defs"].items() if k in ("fact", "list", "finding", "remedy")}
        schema["$defs"] = dict(kept, **definitions(plain))
        new = json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
        if new != old and argv:
            print("docs/schema/%s.schema.json: run scripts/gen-snapshot-schema.py" % name)
            stale = True
        elif new != old:
            path.write_text(new, encoding="utf-8")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
