# SPDX-License-Identifier: Apache-2.0
"""What triage says of many texts: many cases a process (--each), as a process for each of thousands
of texts costs more than the judging."""
import json
import os
import subprocess
import tempfile

EXE = os.environ.get("CUVET", "build/cuvet")
BATCH = 200


def one(data):
    """The report of one text from standard input, or what went wrong."""
    p = subprocess.run([EXE, "triage", "--json", "-"], input=data, capture_output=True, timeout=60,
                       check=False)
    try:
        return json.loads(p.stdout)
    except ValueError:
        return f"exit {p.returncode}: {p.stderr.decode(errors='replace').strip()[:80]}"


def batch(datas, folder):
    files = []
    for i, data in enumerate(datas):
        files.append(os.path.join(folder, f"{i}.txt"))
        with open(files[-1], "wb") as f:
            f.write(data)
    p = subprocess.run([EXE, "triage", "--each", "--json", *files], capture_output=True,
                       timeout=600, check=False)
    try:
        found = json.loads(p.stdout)["reports"]
    except (ValueError, KeyError):
        found = []
    # One that ends the process, or that is refused, is to be seen by itself.
    return found if len(found) == len(datas) else [one(d) for d in datas]


def reports(texts):
    """Yields the report of each text (str or bytes), in order; a str where there is none."""
    datas = [t.encode() if isinstance(t, str) else t for t in texts]
    with tempfile.TemporaryDirectory() as folder:
        for at in range(0, len(datas), BATCH):
            yield from batch(datas[at:at + BATCH], folder)


def root(report):
    """The name of the root cause in a report, None where there is none; a str as it is."""
    if isinstance(report, str):
        return report
    return report["root_cause"] and report["root_cause"]["name"]


def roots(texts):
    """Yields the name of the root cause of each text."""
    return (root(r) for r in reports(texts))
