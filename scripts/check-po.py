#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-po.py FILE.po: a line for every translation that changed what is no prose.

Commands between backquotes, long options, URLs and names of environment variables are typed or
looked up as they stand, so they have to stand in the translation, as often as in the English or
more. A text that begins or ends with white space has to keep it, since it is put beside others.
"""
import re
import sys

KEEP = [
    re.compile(r"`[^`]+`"),
    re.compile(r"(?<![\w-])--[a-z][a-z-]+"),
    re.compile(r"https?://[^\s,;)]*[^\s,;).:]"),
    re.compile(r"\b[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+\b"),
]


def unquote(line):
    return line[line.index('"') + 1:line.rindex('"')].replace('\\"', '"').replace(
        "\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\")


def entries(path):
    """Pairs (msgid, msgstr) of FILE; of plurals the first forms."""
    ident, text, at = "", "", None
    for line in open(path, encoding="utf-8"):
        if line.startswith("msgid "):
            if at == "text":
                yield ident, text
            ident, text, at = unquote(line), "", "ident"
        elif line.startswith("msgid_plural"):
            at = "other"
        elif line.startswith("msgstr"):
            text, at = unquote(line), "text"
        elif line.startswith('"'):
            if at == "ident":
                ident += unquote(line)
            elif at == "text":
                text += unquote(line)
    if at == "text":
        yield ident, text


def main(path):
    bad = 0
    for ident, text in entries(path):
        if not ident or not text:
            continue
        for pattern in KEEP:
            for piece in set(pattern.findall(ident)):
                if text.count(piece) < 1:
                    print(f"{path}: {piece} is gone from the translation of {ident[:60]!r}")
                    bad += 1
        for edge in (0, -1):
            if ident[edge].isspace() != text[edge].isspace():
                print(f"{path}: white space at an end differs in the translation of {ident[:60]!r}")
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
