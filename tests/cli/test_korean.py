#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release asan
"""Korean: spoken without any locale, the same answers as in English, columns that stay aligned.

Prints TAP.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import unicodedata

ROOT = pathlib.Path(os.environ.get("CUVET_ROOT", pathlib.Path(__file__).resolve().parents[2]))
CUVET = os.environ.get("CUVET", str(ROOT / "build/cuvet"))
HANGUL = re.compile("[\uac00-\ud7a3]")
TARGET = ["--no-live", "--assume", "gpu=RTX 5090", "--assume", "driver=570.86.16", "--assume",
          "python=3.12", "--assume", "torch=2.6.0+cu124"]
PASTE = """$ python -c 'import torch; print(torch.__version__, torch.cuda.is_available())'
2.6.0+cpu False
GPU: NVIDIA GeForce RTX 3060
"""
# Four Latin words in a row that are neither a command nor a quotation.
ENGLISH = re.compile(r"(?:\b[A-Za-z][a-z']+ ){3,}[a-z]+")
results = []


def run(*args, env=None, text=None, code=None):
    base = {"PATH": os.environ["PATH"], "CUVET_NO_USER_DATA": "1", **(env or {})}
    got = subprocess.run([CUVET, *args], env=base, input=text, capture_output=True, timeout=120,
                         check=False, encoding="utf-8")
    if code is not None and got.returncode != code:
        raise AssertionError(f"{args}: exit {got.returncode}, not {code}: {got.stderr}")
    return got.stdout


def columns(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def case(name, function):
    try:
        function()
        results.append(f"ok {len(results) + 1} - {name}")
    except AssertionError as e:
        results.append(f"not ok {len(results) + 1} - {name}\n# " + str(e).replace("\n", "\n# "))


def spoken_without_a_locale():
    assert "근본 원인: gpu-too-new-for-build" in run("--lang", "ko", "check", *TARGET, code=1)


def spoken_as_the_locale_asks():
    for env, korean in (({"LANG": "ko_KR.UTF-8"}, True), ({"LC_MESSAGES": "ko_KR.utf8"}, True),
                        ({"LANG": "en_US.UTF-8", "LANGUAGE": "ko"}, True),
                        ({"LANG": "ko_KR.UTF-8", "LC_ALL": "C"}, False),
                        ({"LANG": "de_DE.UTF-8"}, False), ({}, False)):
        got = run("check", *TARGET, env=env, code=1)
        assert bool(HANGUL.search(got)) == korean, f"{env}: {got[:200]}"
    got = run("--lang", "en", "check", *TARGET, env={"LANG": "ko_KR.UTF-8"}, code=1)
    assert not HANGUL.search(got), got[:200]


def answers_are_the_same():
    """What programs read doesn't depend on the language: names, codes, values, commands."""
    def bare(report):
        def strip(f):
            return {k: f[k] for k in ("code", "name", "layer", "severity", "certainty",
                                      "consequence_of")} | {
                "commands": [r["commands"] for r in f["remedies"]],
                "seen": [e["seen"] for e in f["evidence"]]}
        return (report["verdict"], report["root_cause"] and report["root_cause"]["name"],
                [strip(f) for f in report["findings"]])
    for args in (["check", *TARGET], ["check", "--no-live"],
                 ["check", "--no-live", "--assume", "gpu=GTX 1080 Ti", "--assume", "driver=610"]):
        en, ko = (json.loads(run("--lang", lang, "--json", *args)) for lang in ("en", "ko"))
        assert bare(en) == bare(ko), args


def every_entry_is_explained():
    names = re.findall(r"\b([a-z0-9]+(?:-[a-z0-9]+)+)\b", run("explain", code=0))
    names = sorted({n for n in names if f"{n} (CV" in run("explain", n)})
    assert len(names) > 100, len(names)
    for name in names:
        parts = run("--lang", "ko", "explain", name, code=0).split("\n\n")
        for part in parts:
            assert HANGUL.search(part), f"{name}: {part}"


def layers_stand_in_columns():
    row = re.compile(r" ..? ?(?:hardware|kernel|driver|container|toolkit|python|framework) +")
    for env in ({}, {"LC_ALL": "C.UTF-8"}):
        rows = run("--lang", "ko", "check", *TARGET, env=env).splitlines()
        starts = [columns(m[0]) for m in map(row.match, rows) if m]
        assert len(starts) == 7 and len(set(starts)) == 1, f"{starts}\n" + "\n".join(rows)


def lines_fit_the_terminal():
    for args in (["--help"], ["check", "--help"], ["plan", "--help"], ["check", *TARGET],
                 ["explain", "driver-too-old"]):
        for line in run("--lang", "ko", *args).splitlines():
            wide = columns(line) > 80 and not re.search(r"https?://|^  cuvet|\$ ", line)
            assert not wide, f"{args}: {columns(line)} columns: {line}"


def a_reply_is_korean_throughout():
    reply = run("--lang", "ko", "triage", "--reply", "markdown", "-", text=PASTE)
    assert HANGUL.search(reply), reply
    for line in reply.splitlines():
        prose = re.sub(r"`[^`]*`|\"[^\"]*\"", "", line)
        assert "pasted line" not in line, line
        if not line.startswith((">", "    ", "- $", "- 2.6.0", "$")):
            assert not ENGLISH.search(prose), line


def particles_are_chosen():
    got = run("--lang", "ko", "check", *TARGET)
    assert not re.search(r"\d(을\(를\)|은\(는\)|이\(가\)|과\(와\))", got), got


def errors_are_korean():
    got = subprocess.run([CUVET, "--lang", "ko", "explain", "driver-to-old"], check=False,
                         capture_output=True, encoding="utf-8")
    assert got.returncode == 2 and HANGUL.search(got.stderr), got.stderr
    assert "driver-too-old" in got.stderr and got.stderr.count("\n") == 1, got.stderr


def main():
    if "ko" not in (ROOT / "po/LINGUAS").read_text() or not HANGUL.search(
            run("--lang", "ko", "--help")):
        print("1..0 # skip this cuvet was built without catalogues (no msgfmt)")
        return 0
    case("spoken in an environment without a locale", spoken_without_a_locale)
    case("spoken when the locale asks for it, and only then", spoken_as_the_locale_asks)
    case("names, values and commands are the same as in English", answers_are_the_same)
    case("every finding is explained", every_entry_is_explained)
    case("the layers of a report stand in columns", layers_stand_in_columns)
    case("lines fit 80 columns of wide characters", lines_fit_the_terminal)
    case("a reply is Korean throughout", a_reply_is_korean_throughout)
    case("particles fit the numbers before them", particles_are_chosen)
    case("errors are one line of Korean", errors_are_korean)
    print("\n".join(results))
    print(f"1..{len(results)}")
    return any(r.startswith("not") for r in results)


if __name__ == "__main__":
    sys.exit(main())
