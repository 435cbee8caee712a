# SPDX-License-Identifier: Apache-2.0
"""What triage says of many texts: many cases a process (--each), as a process for each of thousands
of texts costs more than the judging."""
import json
import os
import subprocess
import tempfile

EXE = os.environ.get("CUVET", "build/cuvet")
BATCH = 200


def one(text):
    """The report of one text from standard input, or what went wrong."""
    p = subprocess.run([EXE, "triage", "--json", "-"], input=text, capture_output=True, text=True,
                       timeout=60, check=False)
    try:
        return json.loads(p.stdout)
    except ValueError:
        return f"exit {p.returncode}: {p.stderr.strip()[:80]}"


def batch(texts, folder):
    files = []
    for i, text in enumerate(texts):
        files.append(os.path.join(folder, f"{i}.txt"))
        with open(files[-1], "w", encoding="utf-8") as f:
            f.write(text)
    p = subprocess.run([EXE, "triage", "--each", "--json", *files], capture_output=True, text=True,
                       timeout=300, check=False)
    try:
        found = json.loads(p.stdout)["reports"]
    except (ValueError, KeyError):
        found = []
    # One that ends the process, or that is refused, is to be seen by itself.
    return found if len(found) == len(texts) else [one(t) for t in texts]


def reports(texts):
    """Yields the report of each text, in order; a string where there is none."""
    texts = list(texts)
    with tempfile.TemporaryDirectory() as folder:
        for at in range(0, len(texts), BATCH):
            yield from batch(texts[at:at + BATCH], folder)
