#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that check.py finds what it claims to find; works on copies and changes no table.

Each case damages one thing in a copy of data/compat and names words that a problem must hold.
Prints one line a failure and a last line "N passed, N failed"; exits 1 when any failed.
"""
import contextlib
import io
import json
import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "..", "data", "compat")
sys.path.insert(0, HERE)
import check  # noqa: E402  (the path must be set first)


def row(table, **want):
    for candidate in table["rows"]:
        if all(candidate.get(key) == value for key, value in want.items()):
            return candidate
    raise KeyError(want)


def swap(table):
    table["rows"][0], table["rows"][1] = table["rows"][1], table["rows"][0]


def torch(table):
    return row(table, version="2.6.0", platform="linux_x86_64", variant="cu124")


CASES = [
    ("order", "gpu", swap, "out of order"),
    ("twice", "gpu", lambda t: t["rows"].insert(1, dict(t["rows"][0])), "not unique"),
    ("source", "chip", lambda t: t["rows"][0].update(sources=["NOPE"]), "not defined"),
    ("no source", "chip", lambda t: t["rows"][0].update(sources=[]), "sources"),
    ("unused source", "chip", lambda t: t["sources"].update(
        Z={"what": "x", "where": None, "date": "2026-01-01"}), "never used"),
    ("chip", "gpu", lambda t: row(t, id="2684").update(chip="AD999"), "AD999 is not in"),
    ("cc of chip", "gpu", lambda t: row(t, id="2684").update(cc="8.6"), "but chip AD102 has 8.9"),
    ("cc", "gpu", lambda t: row(t, id="2684").update(cc="89"), "cc: '89'"),
    ("key absent", "gpu", lambda t: row(t, id="2684").pop("name"), "required"),
    ("unknown field", "gpu", lambda t: row(t, id="2684").update(colour="red"), "colour"),
    ("control", "gpu", lambda t: row(t, id="2684").update(name="a\u001b[2J"), "not valid"),
    ("enum", "gpu", lambda t: row(t, id="2684").update(open="maybe"), "not valid"),
    ("inferred", "gpu", lambda t: row(t, id="2684").update(inferred=["nothing"]), "absent"),
    ("memory", "chip", lambda t: t["rows"][0].update(
        sources=["MEM"], confidence="high"), "confidence must be low"),
    ("bus", "perf", lambda t: row(t, name="NVIDIA H200").update(memory_gb_per_s=4.8),
     "memory_gb_per_s: 4.8 is not between"),
    ("bus both ways", "perf", lambda t: row(t, name="NVIDIA L4").update(memory_gb_per_s=600),
     "memory_gb_per_s: 600 is not between"),
    ("bus alone", "perf", lambda t: row(t, name="NVIDIA L4").pop("bus_bits"), "go together"),
    ("sparsity", "perf", lambda t: row(t, name="NVIDIA H200").update(bf16_tflop_per_s=1978.9,
                                                                    tf32_tflop_per_s=989.4),
     "measured NVIDIA H200: tf32_tflop_per_s: 379"),
    ("measured copy", "perf", lambda t: t["facts"]["measured"][0].update(copy_rw_gb_per_s=2119),
     "copy_rw_gb_per_s: 2119 is not between"),
    ("measured link", "perf", lambda t: t["facts"]["measured"][0].update(h2d_gb_per_s=110.8),
     "h2d_gb_per_s: 110.8 is not between"),
    ("fp8 of Turing", "perf", lambda t: row(t, name="Tesla T4").update(fp8_tflop_per_s=130),
     "fp8, but the chip has 7.5"),
    ("cuda of torch", "torch", lambda t: torch(t).update(cuda="12.1"), "does not fit"),
    ("cuda unknown", "torch", lambda t: torch(t).update(cuda="19.9"), "19.9 is not in"),
    ("cuda_full", "torch", lambda t: torch(t).update(cuda_full="11.8.0"), "is not of cuda"),
    ("arch", "torch", lambda t: torch(t).update(arch_list=["sm86"]), "not valid"),
    ("index", "torch", lambda t: torch(t).update(
        index_url="https://download.pytorch.org/whl/cu118"), "not that of the variant"),
    ("two defaults", "torch", lambda t: row(
        t, version="2.6.0", platform="linux_x86_64", variant="cu126").update(pypi_default=True),
     "several PyPI defaults"),
    ("date", "torch", lambda t: torch(t).update(date="2025-02-30"), "no such date"),
    ("release", "cuda", lambda t: row(t, cuda="12.4").update(releases=["12.4.0"]),
     "not in the releases"),
    ("targets", "cuda", lambda t: row(t, cuda="12.4").update(nvcc_max_cc="12.0"), "do not bound"),
    ("branch", "forward_compat", lambda t: t["rows"][0].update(branch=1), "is not in driver"),
    ("short literal", "signatures", lambda t: t["rows"][0]["any"].append("ABI"), "less than 4 bytes"),
    ("own tag", "signatures", lambda t: t["rows"][0].update(tags=[t["rows"][0]["id"]]), "by its id anyway"),
    ("spot check", "image_tag", lambda t: row(t, version="12.4.1").update(tags=None), "spot check"),
]


def problems(data, names):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = check.main(["--data", data] + names)
    return status, out.getvalue()


def damaged(scratch, name, damage, rewrite=True):
    data = os.path.join(scratch, "compat")
    shutil.rmtree(data, ignore_errors=True)
    shutil.copytree(DATA, data)
    path = os.path.join(data, name + ".json")
    with open(path, encoding="utf-8") as file:
        table = json.load(file)
    with open(os.path.join(data, "schema", name + ".schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    damage(table)
    with open(path, "w", encoding="utf-8") as file:
        file.write(check.render(table, schema) if rewrite else json.dumps(table))
    return data


def main():
    passed = failed = 0

    def verdict(title, good, text):
        nonlocal passed, failed
        passed, failed = passed + good, failed + (not good)
        if not good:
            print("FAIL %s: %s" % (title, text.strip()[:300]))

    with tempfile.TemporaryDirectory() as scratch:
        status, text = problems(DATA, [])
        verdict("the tables themselves", status == 0 and not text, text)
        for title, name, damage, want in CASES:
            status, text = problems(damaged(scratch, name, damage), [name])
            verdict(title, status == 1 and want in text, "wanted %r, got: %s" % (want, text))
        data = damaged(scratch, "xid", lambda t: None, rewrite=False)
        status, text = problems(data, ["xid"])
        verdict("layout", status == 1 and "--format" in text, text)
        with contextlib.redirect_stdout(io.StringIO()):
            check.main(["--data", data, "--format", "xid"])
        verdict("format mends it", problems(data, ["xid"])[0] == 0, "still wrong")
        with open(os.path.join(data, "xid.json"), "w", encoding="utf-8") as file:
            file.write('{"schema":1,"schema":2}')
        verdict("doubled member", "duplicate" in problems(data, ["xid"])[1], "not seen")
        os.remove(os.path.join(data, "xid.json"))
        verdict("table gone", "not both" in problems(data, [])[1], "not seen")
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
