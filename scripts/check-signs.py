#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-signs.py: a line "TEST: what is wrong" for every sign of triage that nothing reads, and for
every condition that waits for one which nothing makes, so that it never holds; and for every fact
of a row that no snapshot has.

A sign is made by a row of the table "signatures" (its id and tags) or by an extractor
(src/triage), an atom by rule/triage_atoms.c. It is read where a rule or an extractor names it, or
by the row itself ("for", "against", "facts"). A row that nothing reads and whose line is worth
showing where nothing decides has "shown": true. A tag is what several have in common.
"""
import glob
import json
import re
import sys

LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
TERMS = re.compile(r"!?[a-z0-9][a-z0-9|-]*(?: !?[a-z0-9][a-z0-9|-]*)*")
# Rows of conditions in .def files: the macro and which of its arguments holds the terms.
CALLS = (("T", 2), ("M", 1), ("E", 1))
# Names of what holds by the facts, and of the distribution that a text is of.
ATOMS = ("src/rule/triage_atoms.c", "src/rule/distro.c", "src/rule/triage_mend.c",
         "src/rule/triage_evidence.c")
# What names a sign by its beginning alone: "differs:NAME", "other-cuda-available-true".
MADE_BY_PREFIX = ("differs:", "other-")


def source(path):
    """Without comments, and with literals that stand behind each other as one."""
    with open(path, encoding="utf-8") as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    return re.sub(r'"\s*"', "", text)


def words(terms):
    return [w for w in re.split(r"[\s|]+", terms.replace("!", " ")) if w]


def arguments(text, call):
    """The arguments of every call, as text."""
    for m in re.finditer(r"\b" + call + r"\(", text):
        depth, quoted, out, at = 0, False, [""], m.end()
        while at < len(text):
            c = text[at]
            if quoted and c == "\\":
                out[-1] += text[at:at + 2]
                at += 2
                continue
            if c == '"':
                quoted = not quoted
            elif not quoted and c in "([{":
                depth += 1
            elif not quoted and c in ")]}":
                depth -= 1
                if depth < 0:
                    break
            if c == "," and not quoted and not depth:
                out.append("")
            else:
                out[-1] += c
            at += 1
        yield [a.strip() for a in out]


def term_lists():
    """(place, terms) of every row of conditions, and of what rules ask for in C."""
    for path in sorted(glob.glob("src/rule/*.def")):
        text = source(path)
        for call, at in CALLS:
            for args in arguments(text, call):
                terms = LITERAL.search(args[at]) if len(args) > at else None
                if terms:
                    yield f"{path} {args[0]}", terms.group(1)
    for path in sorted(glob.glob("src/rule/triage*.c")):
        text = source(path)
        # Marked texts are for people.
        text = re.sub(r'\bN?_\("(?:[^"\\]|\\.)*"\)', "0", text)
        for literal in LITERAL.findall(text):
            if TERMS.fullmatch(literal):
                yield path, literal
        for args in arguments(text, r"triage_(?:has|sign|value|holds|add)"):
            at = 3 if len(args) == 4 else 1
            terms = LITERAL.fullmatch(args[at]) if len(args) > at else None
            if terms:
                yield path + ":", terms.group(1)


def main():
    with open("data/compat/signatures.json", encoding="utf-8") as f:
        rows = json.load(f)["rows"]
    tags = {t for r in rows for t in r.get("tags", [])}
    lists = list(term_lists())
    read = {w for _, terms in lists for w in words(terms)}
    read |= {w for r in rows for w in words(r.get("with", ""))}
    extractors = sorted(glob.glob("src/triage/*.[ch]"))
    made, literals = {}, set()
    for path in extractors:
        text = source(path)
        literals |= {s for s in LITERAL.findall(text) if NAME.fullmatch(s)}
        for args in arguments(text, "sign_(?:has|value|near|in)"):
            read |= {s for a in args[1:2] for s in LITERAL.findall(a)}
        for args in arguments(text, "sign_(?:add|match)"):
            for name in LITERAL.findall(args[1]) if len(args) > 1 else []:
                # In a condition of the argument stands what a text says, not a sign.
                if not re.search(r'[,(]\s*"%s"\s*\)' % re.escape(name), args[1]):
                    made.setdefault(name, path)
    speaking = {n for r in rows if any(r.get(k) for k in ("for", "against", "facts", "shown"))
                for n in [r["id"]]}
    for r in rows:
        names = [r["id"], *r.get("tags", [])]
        if r["id"] not in speaking and not read.intersection(names):
            print(f"row: {r['id']}: no rule reads it")
        elif r.get("shown") and (read.intersection(names) or r.get("for")):
            print(f"row: {r['id']}: is read, and says \"shown\"")
    for tag in sorted(tags - read):
        print(f"tag: {tag}: no rule reads it")
    of = {}
    for r in rows:
        for tag in r.get("tags", []):
            of.setdefault(tag, []).append(r["id"])
    for tag, ids in sorted(of.items()):
        if len(ids) == 1 and tag not in literals and all(tag != r["id"] for r in rows):
            print(f"tag: {tag}: row {ids[0]} alone has it: name the row so, or the rule the row")
    for name in sorted(set(made) - read - speaking - {r["id"] for r in rows}):
        if not name.startswith(MADE_BY_PREFIX):
            print(f"sign: {name} ({made[name]}): no rule reads it")

    atoms = "".join(map(source, ATOMS))
    known = {r["id"] for r in rows} | tags | literals | {
        s for s in LITERAL.findall(atoms) if NAME.fullmatch(s)}
    for place, terms in lists:
        if not place.endswith(".c"):
            for term in terms.split():
                names = [n for n in term.lstrip("!").split("|") if n not in known and
                         not n.startswith(MADE_BY_PREFIX)]
                for n in names:
                    print(f"term: {place}: nothing makes {n}")
                if not term.startswith("!") and "!" + term in terms.split():
                    print(f"term: {place}: {term} and !{term}")
    facts = set(LITERAL.findall(source("src/triage/paste_fact.c")))
    for r in rows:
        for n in r.get("facts", {}):
            if n not in facts and not n.startswith("package."):
                print(f"fact: signatures {r['id']}: no fact is called {n}")
        for n in words(r.get("with", "")):
            if n not in known:
                print(f"term: signatures {r['id']}: nothing makes {n}")

    # The first row of a finding whose terms hold is given, so a weaker one before it hides it.
    before = {}
    for path in sorted(glob.glob("src/rule/mend_*.def")):
        for args in arguments(source(path), "M"):
            if len(args) < 4:
                continue
            terms = LITERAL.search(args[1])
            terms = set(terms.group(1).split()) if terms else set()
            for other, more in before.get(args[0], []):
                if other <= terms and not more:
                    print(f"hidden: {path} {args[0]} \"{' '.join(sorted(terms))}\": never comes to "
                          "its turn")
                    break
            before.setdefault(args[0], []).append((terms, "MEND_MORE" in args[2]))

    # A finding that no rule and no row of a table names is never reported.
    findings = re.findall(r'FINDING\((\w+),\s*"CV\d+",\s*"([a-z0-9-]+)"',
                          source("src/rule/finding.def"))
    named = set()
    for path in glob.glob("src/*/*.c") + glob.glob("src/rule/triage*.def"):
        text = source(path)
        named |= set(re.findall(r"\bFINDING_(\w+)", text))
        named |= {a[0] for a in arguments(text, "T")}
    by_row = {n for r in rows for n, w in r.get("for", {}).items() if w >= 50}
    for ident, name in findings:
        if ident not in named and name not in by_row:
            print(f"finding: {name}: nothing reports it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
