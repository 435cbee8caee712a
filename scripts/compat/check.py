#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the tables of data/compat; must not change one unless --format is given.

usage: check.py [--format] [--data DIR] [TABLE...]

Prints one line a problem and exits 1 when there is any, 2 on wrong usage. The schema of a table
(schema/TABLE.schema.json) also names its key and sort order ("x-key") and the columns of other
tables that it refers to ("x-refs"), so that a new table needs no code here.
"""
import datetime
import json
import os
import re
import sys

try:
    import jsonschema
except ImportError:
    sys.exit("check.py: needs python3-jsonschema")

SIZE_LIMIT = {"gpu": 400_000}  # bytes; the tables are embedded and parsed at run time
TOTAL_LIMIT = 2_000_000
TOP = ["schema", "table", "date", "note", "sources", "facts", "rows"]
LITERAL_MIN = 4  # bytes by which the engine finds a literal of "signatures" (src/triage/book.h)
PRE = {"dev": 0, "a": 1, "b": 2, "rc": 3, "": 4, "post": 5}


def dump(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def no_duplicates(pairs):
    seen = {}
    for key, value in pairs:
        if key in seen:
            raise ValueError("duplicate member %r" % key)
        seen[key] = value
    return seen


def version_key(text):
    """PEP 440 order as far as these tables need it: numbers, then a, b, rc, dev, post."""
    match = re.match(r"^(\d+(?:\.\d+)*)(?:\.?(dev|a|b|rc|post)(\d*))?", str(text))
    if not match:
        return ((), PRE[""], 0, str(text))
    release = [int(part) for part in match.group(1).split(".")]
    while len(release) > 1 and release[-1] == 0:
        release.pop()
    return (tuple(release), PRE[match.group(2) or ""], int(match.group(3) or 0), match.group(1))


def sort_key(row, key):
    out = []
    for field, kind in key:
        value = row.get(field)
        if kind == "int":
            out.append(value if isinstance(value, int) else -1)
        elif kind == "version":
            out.append(version_key(value))
        else:
            out.append(str(value).encode())
    return tuple(out)


def render(table, schema):
    """The one way in which a table is written: one source, fact and row a line."""
    order = list(schema["properties"]["rows"]["items"]["properties"])
    head = ",".join(dump(k) + ":" + dump(table[k]) for k in TOP[:4] if k in table)
    parts = ["{" + head]
    for block in ("sources", "facts"):
        if block in table:
            items = table[block]
            names = sorted(items) if block == "sources" else list(items)
            lines = ",\n".join(dump(k) + ":" + dump(items[k]) for k in names)
            parts.append('"%s":{\n%s\n}' % (block, lines))
    rows = []
    for row in table["rows"]:
        names = sorted(row, key=lambda k: (order.index(k) if k in order else len(order), k))
        rows.append(dump({k: row[k] for k in names}))
    parts.append('"rows":[\n' + ",\n".join(rows) + "\n]}\n")
    return ",\n".join(parts)


def real_date(text):
    try:
        datetime.date.fromisoformat((text + "-01-01")[:10] if len(text) < 10 else text)
        return True
    except ValueError:
        return False


def date_fields(schema):
    fields = schema["properties"]["rows"]["items"]["properties"]
    return [name for name, spec in fields.items() if "#/$defs/date" in json.dumps(spec)]


class Check:
    def __init__(self, data):
        self.data = data
        self.problems = []
        self.tables = {}
        self.schemas = {}

    def say(self, where, text):
        self.problems.append("%s: %s" % (where, text))

    def load(self, name):
        if name in self.tables:
            return self.tables[name]
        path = os.path.join(self.data, name + ".json")
        self.tables[name] = None
        try:
            with open(path, encoding="utf-8") as file:
                table = json.load(file, object_pairs_hook=no_duplicates)
            with open(os.path.join(self.data, "schema", name + ".schema.json"),
                      encoding="utf-8") as file:
                self.schemas[name] = json.load(file)
            jsonschema.Draft202012Validator.check_schema(self.schemas[name])
        except (OSError, ValueError, jsonschema.SchemaError) as error:
            self.say(name, str(error).splitlines()[0])
            return None
        self.tables[name] = table
        return table

    def where(self, name, row):
        key = self.schemas[name]["x-key"]
        return name + " " + " ".join(str(row.get(field)) for field, _ in key)

    def shape(self, name, table):
        validator = jsonschema.Draft202012Validator(self.schemas[name])
        sound = True
        for error in sorted(validator.iter_errors(table), key=lambda e: [str(p) for p in e.path]):
            sound = False
            path = list(error.absolute_path)
            where = name
            if len(path) > 1 and path[0] == "rows" and isinstance(table["rows"][path[1]], dict):
                where = self.where(name, table["rows"][path[1]])
                path = path[2:]
            self.say(where, ("/".join(map(str, path)) + ": " if path else "") + error.message[:200])
        return sound

    def order(self, name, table):
        key = self.schemas[name]["x-key"]
        previous = None
        seen = set()
        for row in table["rows"]:
            exact = tuple(str(row.get(field)) for field, _ in key)
            if exact in seen:
                self.say(self.where(name, row), "key is not unique")
            seen.add(exact)
            here = sort_key(row, key)
            if previous is not None and here < previous:
                self.say(self.where(name, row), "out of order")
            previous = here

    def sources(self, name, table):
        used = set()
        for row in table["rows"]:
            for source in row["sources"]:
                used.add(source)
                if source not in table["sources"]:
                    self.say(self.where(name, row), "source %s is not defined" % source)
            for field in row.get("inferred", []):
                if field not in row:
                    self.say(self.where(name, row), "inferred names %s, which is absent" % field)
            if set(row["sources"]) <= {"MEM", "INFERRED"} and \
               row.get("confidence") not in ("low", "unverified"):
                self.say(self.where(name, row), "rests on MEM or INFERRED: confidence must be low")
        facts = dump(table.get("facts", {}))
        for source in table["sources"]:
            if source not in used and '"%s"' % source not in facts:
                self.say(name, "source %s is never used" % source)

    def dates(self, name, table):
        stamps = [("date", table["date"])]
        stamps += [("source " + k, v["date"]) for k, v in table["sources"].items()]
        for where, text in stamps:
            if not real_date(text):
                self.say(name, "%s: no such date: %s" % (where, text))
        fields = date_fields(self.schemas[name])
        for row in table["rows"]:
            for field in fields:
                text = row.get(field)
                if isinstance(text, str) and not real_date(text):
                    self.say(self.where(name, row), "%s: no such date: %s" % (field, text))

    def column(self, target):
        name, field = target.split(".")
        table = self.load(name)
        if table is None:
            return None
        return {str(row.get(field)) for row in table["rows"]}

    def references(self, name, table):
        for field, spec in self.schemas[name]["x-refs"].items():
            spec = {"to": spec} if isinstance(spec, str) else spec
            known = self.column(spec["to"])
            if known is None:
                continue
            for row in table["rows"]:
                if spec.get("when") and row.get(spec["when"]) is None:
                    continue
                values = row.get(field)
                for value in values if isinstance(values, (list, dict)) else [values]:
                    if value is not None and str(value) not in known:
                        self.say(self.where(name, row), "%s %s is not in %s"
                                 % (field, value, spec["to"]))

    def written(self, name, table):
        path = os.path.join(self.data, name + ".json")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if text != render(table, self.schemas[name]):
            self.say(name, "is not written as check.py --format %s writes it" % name)
        if len(text.encode()) > SIZE_LIMIT.get(name, TOTAL_LIMIT):
            self.say(name, "is larger than %d bytes" % SIZE_LIMIT.get(name, TOTAL_LIMIT))

    def gpu_rules(self, table):
        chips = {row["chip"]: row for row in (self.load("chip") or {"rows": []})["rows"]}
        for row in table["rows"]:
            chip = chips.get(row["chip"])
            if chip and chip["cc"] != row["cc"]:
                self.say(self.where("gpu", row), "cc %s, but chip %s has %s"
                         % (row["cc"], row["chip"], chip["cc"]))

    def cuda_rules(self, table):
        minors = {row["cuda"]: row for row in table["rows"] if row["kind"] == "minor"}
        for row in table["rows"]:
            where = self.where("cuda", row)
            if row["kind"] == "release":
                minor = minors.get(row.get("minor"))
                if minor is None or row["cuda"] not in minor.get("releases", []):
                    self.say(where, "is not in the releases of its minor row")
            elif row.get("nvcc_targets"):
                targets = row["nvcc_targets"]
                if row["nvcc_min_cc"] != targets[0] or row["nvcc_max_cc"] != targets[-1]:
                    self.say(where, "nvcc_min_cc and nvcc_max_cc do not bound nvcc_targets")

    def image_tag_rules(self, table):
        rows = {row["version"]: row for row in table["rows"]}
        for check in table["facts"]["spot_checks"]:
            tag = check["tag"]
            version, _, rest = tag.partition("-")
            flavour, _, system = rest.rpartition("-")
            row = rows.get(version, {})
            listed = any(system in group["os"] and flavour in (group["flavours"] or [])
                         for group in row.get("tags") or [])
            if listed != check["listed"]:
                self.say("image_tag " + tag, "listed is %s, the spot check says %s"
                         % (listed, check["listed"]))

    def perf_rules(self, table):
        """A figure out of its range by a factor of two is a slip of unit, direction or sparsity."""
        facts = table["facts"]
        rows = {row["name"]: row for row in table["rows"]}
        chips = {row["chip"]: row["cc"] for row in (self.load("chip") or {"rows": []})["rows"]}

        def within(where, what, value, most):
            # Data sheets round, each figure for itself: a percent of slack.
            if value and most and not 0.49 <= value / most <= 1.005:
                self.say(where, "%s: %g is not between 0.5 and 1.0 of %g" % (what, value, most))

        for row in table["rows"]:
            where = self.where("perf", row)
            pin = row.get("memory_gbit_per_s_pin")
            if ("bus_bits" in row) != (pin is not None):
                self.say(where, "bus_bits and memory_gbit_per_s_pin go together")
            elif pin:
                within(where, "memory_gb_per_s", row["memory_gb_per_s"], row["bus_bits"] / 8 * pin)
            cc = float(chips.get(row["chip"]) or 0)
            for field, first in (("tf32", 8.0), ("bf16", 8.0), ("fp8", 8.9)):
                if field + "_tflop_per_s" in row and cc < first:
                    self.say(where, "%s, but the chip has %s" % (field, cc))
            within(where, "tf32", row.get("tf32_tflop_per_s"), row.get("bf16_tflop_per_s"))
            within(where, "bf16", row.get("bf16_tflop_per_s"), row.get("fp8_tflop_per_s"))
        for item in facts["measured"]:
            where = "perf measured " + item["name"]
            row = rows.get(item["name"])
            if row is None:
                self.say(where, "has no row")
                continue
            lane = facts["link"]["gb_per_s_lane"][item["link_generation"] - 1]
            for field, value in item.items():
                if field in ("h2d_gb_per_s", "d2h_gb_per_s"):
                    within(where, field, value, lane * item["link_lanes"])
                elif field.endswith("_gb_per_s"):
                    within(where, field, value, row["memory_gb_per_s"])
                elif field.endswith("_per_s"):
                    within(where, field, value, row.get(field.replace("_most", "")))

    def signatures_rules(self, table):
        for row in table["rows"]:
            for literal in row["any"]:
                if len(literal.encode()) < LITERAL_MIN:
                    self.say(self.where("signatures", row), "any: %s has less than %d bytes"
                             % (dump(literal), LITERAL_MIN))
            if row["id"] in row.get("tags", []):
                self.say(self.where("signatures", row), "tags: rules know it by its id anyway")

    def torch_rules(self, table):
        defaults = {}
        for row in table["rows"]:
            where = self.where("torch", row)
            variant = row["variant"]
            if variant.startswith("cu"):
                digits = variant[2:]
                if row["cuda"] != digits[:-1] + "." + digits[-1]:
                    self.say(where, "cuda %s does not fit the variant" % row["cuda"])
                if row["arch_list"] and row.get("arch_confidence") in (None, "unverified"):
                    self.say(where, "has an arch list of unknown confidence")
            elif row["cuda"] is not None or row["arch_list"]:
                self.say(where, "is no CUDA build, but has cuda or arch_list")
            full = row.get("cuda_full")
            if full and not full.startswith(row["cuda"] + "."):
                self.say(where, "cuda_full %s is not of cuda %s" % (full, row["cuda"]))
            url = row["index_url"]
            if url and not row.get("find_links") and not url.endswith("/" + variant):
                self.say(where, "index_url is not that of the variant")
            if row["pypi_default"]:
                defaults.setdefault((row["version"], row["platform"]), []).append(variant)
        for (version, platform), variants in defaults.items():
            if len(variants) > 1:
                self.say("torch %s %s" % (version, platform), "several PyPI defaults: "
                         + " ".join(variants))

    def run(self, name, rewrite):
        table = self.load(name)
        if table is None:
            return
        if not self.shape(name, table):
            return
        if rewrite:
            key = self.schemas[name]["x-key"]
            table["rows"].sort(key=lambda row: sort_key(row, key))
            with open(os.path.join(self.data, name + ".json"), "w", encoding="utf-8") as file:
                file.write(render(table, self.schemas[name]))
        self.order(name, table)
        self.sources(name, table)
        self.dates(name, table)
        self.references(name, table)
        self.written(name, table)
        rules = getattr(self, name + "_rules", None)
        if rules:
            rules(table)

    def documented(self, names):
        with open(os.path.join(self.data, "README.md"), encoding="utf-8") as file:
            text = file.read()
        for name in names:
            if "### %s " % name not in text:
                self.say(name, "is not described in README.md")


def main(argv):
    data = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data", "compat")
    rewrite = False
    names = []
    args = iter(argv)
    for arg in args:
        if arg == "--format":
            rewrite = True
        elif arg == "--data":
            data = next(args, None) or sys.exit(2)
        elif arg.startswith("-"):
            print(__doc__.strip(), file=sys.stderr)
            return 2
        else:
            names.append(arg)
    present = sorted(f[:-5] for f in os.listdir(data) if f.endswith(".json"))
    schemas = sorted(f[:-12] for f in os.listdir(os.path.join(data, "schema")))
    check = Check(data)
    for name in sorted(set(present) ^ set(schemas)):
        check.say(name, "has a table or a schema, but not both")
    for name in names or present:
        check.run(name, rewrite)
    if not names:
        check.documented(present)
    for line in check.problems:
        print(line)
    return 1 if check.problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
