#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release asan
"""Project files: bad input (P10 to P14), comments that leave findings out, targets, formats, time."""
import json
import os
import subprocess
import sys
import tempfile
import time
import xml.dom.minidom

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from yardstick import spent  # noqa: E402

CUVET = os.environ["CUVET"]
T4 = ["--assume", "gpu=Tesla T4", "--assume", "driver=535.183.01"]
n = failed = 0


def check(title, ok, what=""):
    global n, failed
    n += 1
    failed += not ok
    print(f"{'ok' if ok else 'not ok'} {n} - {title}" + ("" if ok else f": {str(what)[:400]}"))


def run(files, args=(), named=None, cwd=None):
    with tempfile.TemporaryDirectory() as tmp:
        for name, text in files.items():
            path = os.path.join(tmp, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as f:
                f.write(text if isinstance(text, bytes) else text.encode())
        p = subprocess.run([CUVET, "check", *(named or list(files)[:1]), *args], cwd=tmp, capture_output=True,
                           timeout=60, stdin=subprocess.DEVNULL)
        return p.returncode, p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace")


def report(files, args=T4, named=None):
    code, out, err = run(files, [*args, "--json"], named)
    return json.loads(out) if out else {"error": err, "code": code}


def name_of(r):
    return (r.get("root_cause") or {}).get("name")


# P10: YAML aliases, nesting, tags
bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(f"{c}: &{c} [*{p},*{p},*{p},*{p},*{p},*{p},*{p},*{p},*{p}]\n" for p, c in zip("abcdefghijk", "bcdefghijkl")) + "dependencies: *l\n"
code, out, err = run({"environment.yml": bomb}, T4)
check("P10 alias bomb", code in (2, 4) and "environment.yml:" in err, err)
for channel, package in (("pytorch", "pytorch-gpu"), ("pytorch", "pytorch-cuda=12.1"), ("conda-forge", "pytorch-gpu"),
                         ("conda-forge", "cuda-version=12"), ("pytorch", "cpuonly"), ("nvidia", "cudatoolkit=11.8")):
    text = "channels:\n  - %s\ndependencies:\n  - python=3.10\n  - %s\n" % (channel, package)
    code, out, err = run({"environment.yml": text}, T4)
    check("one package of %s: %s" % (channel, package), code in (0, 1, 3), "%s %s" % (code, err))
code, out, err = run({"environment.yml": "dependencies:\n" + "[" * 5000}, T4)
check("P10 deep nesting", code in (2, 4) and "environment.yml:" in err, err)
r = report({"environment.yml": "channels: !!python/object/apply:os.system ['x']\ndependencies:\n  - python=3.11\n"})
check("P10 a tag makes nothing", r.get("verdict") == "stack-ok", r)

# P11: TOML and JSON
code, out, err = run({"pyproject.toml": "[project]\nname = 'x'\nname = 'y'\n"}, T4)
check("P11 a key twice", code in (2, 4) and "pyproject.toml:3:1" in err, err)
code, out, err = run({"pyproject.toml": "a = 99999999999999999999\n"}, T4)
check("P11 a huge number", code in (2, 4) and ":1:5" in err, err)
code, out, err = run({"Pipfile": "[packages]\ntorch = '==2.8.0'\n", "Pipfile.lock": '{"default": {"torch": '}, T4 + ["--json"])
check("P11 a broken lock beside a good file", code == 0 and "Pipfile.lock:" in out, err + out[-300:])

# P12: includes
r = report({"requirements.txt": "-r b.txt\ntorch==2.12.0\n", "b.txt": "-r requirements.txt\n"})
check("P12 a loop of includes", name_of(r) == "driver-too-old" and any("include each other" in s["why"] for s in r["skipped"]), r.get("skipped", r)[-3:])
r = report({"requirements.txt": "-r /etc/passwd\ntorch==2.8.0\n"})
check("P12 an absolute include is not followed", r["verdict"] == "stack-ok" and "root:" not in json.dumps(r) and any("absolute" in s["why"] for s in r["skipped"]), r)
r = report({"requirements.txt": "-r -\ntorch==2.8.0\n"})
check("P12 standard input is not waited for", r["verdict"] == "stack-ok", r)

# P13: Dockerfiles
r = report({"Dockerfile": "# escape=`\nFROM python:3.11-slim\nRUN pip install `\n    torch==2.12.0\n"})
check("P13 escape directive", [e["source"] for e in r["root_cause"]["evidence"]][0] == "Dockerfile:4:5", r["root_cause"])
r = report({"Dockerfile": "FROM python:3.11-slim\nRUN <<A <<-B\npip install torch==2.12.0\nA\n\tpip install x\n\tB\nRUN echo 'pip install torch==1.0'\n"})
check("P13 two heredocs", name_of(r) == "driver-too-old" and r["root_cause"]["evidence"][0]["source"] == "Dockerfile:3:13", r["root_cause"])
r = report({"Dockerfile": "FROM python:3.11-slim\nRUN <<EOF\npip install torch==2.12.0\n"})
check("P13 a heredoc without its end", name_of(r) == "driver-too-old", r)
r = report({"Dockerfile": "ARG BASE\nFROM ${BASE}\nRUN pip install torch==${V} numpy\n"})
check("P13 an ARG without a value is said", r["verdict"] in ("stack-ok", "undetermined") and sum("no value" in s["why"] for s in r["skipped"]) >= 2, r["skipped"][-3:])
code, out, err = run({"Dockerfile": "FROM x\nFETCH y\n"}, T4)
check("P13 an unknown instruction has its line", code in (2, 4) and "Dockerfile:2:1" in err, err)
r = report({"Dockerfile": ("FROM ${" + "A:-${" * 2000 + "\n")})
check("P13 nested defaults end", "verdict" in r, r)

# P14: nothing is matched by expressions that backtrack; long lines cost little
t = time.time()
r = report({"requirements.txt": "a" * 1000000 + "\n" + "torch" + " " * 1000000 + "==2.8.0\n" + "x;" + "(" * 100000 + "\n"})
check("P14 long lines", "verdict" in r and time.time() - t < 20, r)
r = report({"pyproject.toml": "[tool.poetry]\nname = 'x'\n[tool.poetry.dependencies]\npython = '^3.10'\n"
            "torch = {version = '>=2.3,<2.4,!=2.3.1+cu118', source = 'pt'}\n[[tool.poetry.source]]\nname = 'pt'\n"
            "url = 'https://download.pytorch.org/whl/cu121'\npriority = 'explicit'\n"})
torch = [q for q in r["snapshot"]["projects"][0]["packages"] if q["name"] == "torch"]
check("a build that poetry excludes is not its release", torch[0]["version"] == "2.3.1", torch)
r = report({"requirements.txt": "torch==2.12.0\n" + "torchvision==0.20.1\n" * 60000})
check("P14 packages without end: what comes behind 20,000 is said to be left out",
      name_of(r) is not None and any("requirements.txt:20001:1" in json.dumps(s) for s in r["skipped"]), r["skipped"][-3:])
code, out, err = run({"Dockerfile": b"FROM python:3.11\nRUN pip install \x1b[31mtorch\xff\xfe==2.8.0 \x00\n"}, T4)
check("controls never reach a terminal", "\x1b" not in out + err, out)

# what is left out
base = "torch==2.12.0"
r = report({"requirements.txt": f"{base}  # cuvet: ignore=driver-too-old hosts are upgraded in May\n"})
check("a comment leaves its line out", r["verdict"] == "stack-ok" and any("hosts are upgraded" in s["why"] for s in r["skipped"]), r)
r = report({"requirements.txt": f"# cuvet: ignore=driver-too-old\n{base}\n"})
check("a comment above a line", r["verdict"] == "stack-ok", r)
r = report({"requirements.txt": f"# cuvet: ignore=gpu-too-new-for-build\n{base}\n"})
check("another name is not left out", name_of(r) == "driver-too-old", r)
r = report({"requirements.txt": f"# cuvet: ignore=driver-too-old\nnumpy\n{base}\n"})
check("nor another line", name_of(r) == "driver-too-old", r)
r = report({"requirements.txt": f"{base}  # cuvet: ignore=driver-to-old\n"})
check("a name that is no finding's is said", r["verdict"] == "blocked" and any("driver-to-old" in s["why"] for s in r["skipped"]), r)
r = report({"requirements.txt": f"{base}\ntorchvision==0.17.2\n", "Dockerfile": "FROM nvidia/cuda:12.4-base-ubuntu22.04\n"}, T4, ["requirements.txt", "Dockerfile"])
check("a file's error does not hide another file's", sorted((f["name"], f["severity"]) for f in r["findings"]) == [("base-image-tag-missing", "error"), ("driver-too-old", "error"), ("torch-torchvision-mismatch", "warning")], r["findings"])
conf = '[[target]]\nname = "old"\ngpu = "T4"\ndriver = "535.183.01"\n[[target]]\nname = "new"\ngpu = ["H100 80GB HBM3", "L4"]\ndriver = "580.95.05"\n'
r = report({"requirements.txt": base + "\n", ".cuvet.toml": conf}, [])
check("targets of .cuvet.toml", [(t["target"], t["verdict"]) for t in r["targets"]] == [("old", "blocked"), ("new", "stack-ok")] and "[target old]" in r["root_cause"]["message"], r)
r = report({"requirements.txt": base + "\n", ".cuvet.toml": conf + '[[ignore]]\nname = "driver-too-old"\nreason = "x"\nexpires = 2020-01-01\n'}, [])
check("an ignore that has expired, and is said", r["verdict"] == "blocked" and any("since 2020-01-01" in s["why"] for s in r["skipped"]), r)
r = report({"requirements.txt": base + "\n", ".cuvet.toml": conf + '[[ignore]]\nname = "driver-too-old"\nreason = "x"\nexpires = 2999-01-01\n'}, [])
check("an ignore that has not", r["verdict"] == "stack-ok", r)
code, out, err = run({"requirements.txt": base + "\n", ".cuvet.toml": '[[target]]\ngpus = "T4"\n'})
check("an unknown key has its place", code in (2, 4) and ".cuvet.toml:2:1" in err and "gpu" in err, err)

# folders
files = {"Dockerfile": "FROM python:3.11-slim\nCOPY requirements.txt .\nRUN pip install -r requirements.txt\n", "requirements.txt": base + "\n", "sub/env.yml": "channels: [conda-forge]\ndependencies: [pytorch-gpu]\n", "node_modules/x/requirements.txt": base + "\n", "broken.yml": "a: [", "notes.yml": "a: b\n"}
r = report(files, T4, ["."])
check("a folder", sorted(t["file"] for t in r["targets"]) == ["Dockerfile", "sub/env.yml"], r.get("targets", r))

# known by what they hold
for text in ("-f https://download.pytorch.org/whl/cu118\ntorch==2.1.0\n", "torch\nnumpy\n", "-i https://pypi.org/simple\ntorch[opt]\n", "Torch\nFlash_Attn\n"):
    r = report({"deps.txt": text})
    check("requirements by another name: %r" % text[:20], [p["file"] for p in r.get("snapshot", {}).get("projects", [])] == ["deps.txt"], r)
for text in ("torch is broken here\n", "torch: 2.1\n", "-feature one\n- item\n"):
    code, out, err = run({"notes.txt": text}, T4)
    check("notes are no requirements: %r" % text[:20], code == 2 and "neither a snapshot nor a project file" in err, err)

# nor is what no table knows a pass
code, out, err = run({"environment.yml": "channels:\n  - defaults\n  - pytorch\ndependencies:\n  - python=3.10\n  - pytorch=1.7.1\n"}, T4)
check("Anaconda's channel in front is not judged", code == 0 and "environment.yml:6" in out and "whose builds no table knows" in " ".join(out.split()), out)

# what is too long is said to be left out
code, out, err = run({"a.sh": "true " * 5000 + "\npip install torch==2.8.0\n"}, T4 + ["--assume", "python=3.10"])
check("P14 a script that is too long", "a.sh:1" in out and "too long to be read" in " ".join(out.split()), out)
# a here-document is not copied for each of its lines
with tempfile.TemporaryDirectory() as tmp:
    path = os.path.join(tmp, "a.sh")
    with open(path, "w") as f:
        f.write("cat <<" + "A" * 20000 + "\n" + "\n" * 100000)
    mib = spent([CUVET, "check", "--no-live", path])[1]
    check("P14 a long mark of a here-document", mib < 400, mib)

# what would be installed stands in the summary
code, out, err = run({"requirements.txt": "torch==2.4.1\n", "jax/requirements.txt": "jaxlib==0.4.13+cuda11.cudnn86\n"}, T4 + ["--assume", "python=3.10"], ["."])
out = " ".join(out.split())
check("builds in the summary", "framework torch 2.4.1+cu121 [requirements.txt:1:1], jaxlib 0.4.13+cuda11.cudnn86 [jax/requirements.txt:1:1] would be installed" in out, out)
code, out, err = run({"requirements.txt": "numpy==1.26.0\n"}, T4)
check("nothing is said to be missing", code == 0 and "PyTorch" not in out, out)

# formats
one = {"Dockerfile": "FROM python:3.11-slim\nRUN pip install 'torch==2.12.0'\n"}
code, out, err = run(one, T4 + ["--format", "sarif"])
res = json.loads(out)["runs"][0]["results"][0]
check("sarif", res["ruleId"] == "CV0309" and res["locations"][0]["physicalLocation"]["region"]["startLine"] == 2 and res["partialFingerprints"], out)
for f in ("junit", "checkstyle"):
    code, out, err = run(one, T4 + ["--format", f])
    try:
        ok = "driver-too-old" in xml.dom.minidom.parseString(out).toxml()
    except Exception as e:
        ok, out = False, repr(e)
    check(f, ok, out)
code, out, err = run(one, T4 + ["--format", "github"])
check("github", code == 1 and out.startswith("::error file=Dockerfile,line=2,col=17,title="), out)
code, out, err = run(one, T4 + ["--format", "gitlab"])
check("gitlab", json.loads(out)[0]["location"] == {"path": "Dockerfile", "lines": {"begin": 2}}, out)
check("secrets of an index are not shown", "s3cret" not in run({"requirements.txt": "--index-url https://u:s3cret@download.pytorch.org/whl/cu118\ntorch==2.8.0\n"}, T4 + ["--json"])[1])

print(f"1..{n}")
sys.exit(1 if failed else 0)
