#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release asan
"""What CI systems read: each format held to what its reader requires, on files with hostile names and texts."""
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.dom.minidom

CUVET = os.environ["CUVET"]
n = failed = 0
FILES = {
    "Dockerfile": "FROM nvidia/cuda:12.1-runtime-ubuntu22.04\nRUN pip install torch==2.12.0\n",
    "requirements <&>.txt": "torch==2.2.2\ntorchvision==0.16.2\nonnxruntime\nonnxruntime-gpu==1.20.1\n",
    "requirements-2%0A::x.txt": "tensorflow-gpu==2.12.0\n",
    "compose.yml": "services:\n  \"a]]>&<b\":\n    image: x/y\n    deploy: {resources: {reservations: {devices: [{driver: nvidia, capabilities: [gpu, utility]}]}}}\n",
    "fine.txt": "numpy==1.26.4\ntorch==2.6.0\n",
}
CONF = '[[target]]\nname = "old & <slow>"\ngpu = "T4"\ndriver = "535.183.01"\n[[target]]\nname = "new"\ngpu = "H100 80GB HBM3"\ndriver = "580.95.05"\n'


def check(title, ok, what=""):
    global n, failed
    n += 1
    failed += not ok
    print(f"{'ok' if ok else 'not ok'} {n} - {title}" + ("" if ok else f": {what}"))


def run(fmt, files=FILES, conf=CONF):
    with tempfile.TemporaryDirectory() as tmp:
        for name, text in {**files, ".cuvet.toml": conf}.items():
            with open(os.path.join(tmp, name), "w") as f:
                f.write(text)
        p = subprocess.run([CUVET, "check", *files, "--format", fmt], cwd=tmp, capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
    return p.returncode, p.stdout.decode()


def findings(files=FILES, conf=CONF):
    return json.loads(run("json", files, conf)[1])["findings"]


want = findings()
code, out = run("sarif")
s = json.loads(out)
check("sarif: version and schema", s["version"] == "2.1.0" and s["$schema"].endswith("sarif-2.1.0.json"), s)
bad = []
for r in s["runs"]:
    rules = r["tool"]["driver"]["rules"]
    bad += [x for x in rules if not re.fullmatch(r"CV\d{4}", x["id"]) or not x["shortDescription"]["text"]]
    if len({x["id"] for x in rules}) != len(rules) or r["tool"]["driver"]["name"] != "cuvet":
        bad.append(rules)
    for x in r["results"]:
        if x["level"] not in ("none", "note", "warning", "error") or not x["message"]["text"] or rules[x["ruleIndex"]]["id"] != x["ruleId"]:
            bad.append(x)
        if not x["partialFingerprints"] or not all(isinstance(v, str) for v in x["partialFingerprints"].values()):
            bad.append(x)
        for loc in x["locations"]:
            p = loc["physicalLocation"]
            uri = p["artifactLocation"]["uri"]
            if re.search(r"[ <>\\\"]", uri) or uri.startswith("/") or p["region"]["startLine"] < 1:
                bad.append(loc)
check("sarif: required properties", not bad, bad)
check("sarif: every finding is a result", sum(len(r["results"]) for r in s["runs"]) == len(want), out)

code, out = run("junit")
doc = xml.dom.minidom.parseString(out)
cases = doc.getElementsByTagName("testcase")
fails = doc.getElementsByTagName("failure")
suites = doc.getElementsByTagName("testsuite")
check("junit: counts are those of what is in it", all(int(x.getAttribute("tests")) == len(x.getElementsByTagName("testcase")) and int(x.getAttribute("failures")) == len(x.getElementsByTagName("failure")) for x in suites), out)
check("junit: names and messages", len(fails) and all(x.getAttribute("name") for x in cases) and all(x.getAttribute("message") for x in fails), out)

code, out = run("checkstyle")
doc = xml.dom.minidom.parseString(out)
errors = doc.getElementsByTagName("error")
check("checkstyle", len(errors) == len(want) and all(x.getAttribute("severity") in ("info", "warning", "error") and x.getAttribute("line").isdigit() and x.parentNode.getAttribute("name") for x in errors), out)

code, out = run("github")
*lines, last = out.splitlines()
check("github: one command a line", last == "cuvet: blocked" and len(lines) == len(want) and all(re.match(r"::(error|warning|notice) file=[^,:]*(,line=\d+)?(,col=\d+)?,title=[^:]*::", x) for x in lines), out)
check("github: % and : of a name are escaped", any("requirements-2%250A%3A%3Ax.txt" in x for x in lines), out)

code, out = run("gitlab")
issues = json.loads(out)
check("gitlab", len(issues) == len(want) and all(x["description"] and x["check_name"] and x["location"]["path"] and x["location"]["lines"]["begin"] >= 1 and x["severity"] in ("info", "minor", "major", "critical", "blocker") for x in issues), out)
check("gitlab: fingerprints differ", len({x["fingerprint"] for x in issues}) == len(issues), out)

# what is fine makes documents that say so
for fmt, good in (("sarif", lambda t: json.loads(t)["runs"][0]["results"] == []), ("gitlab", lambda t: json.loads(t) == []), ("github", lambda t: t == "cuvet: stack-ok\n"),
                  ("junit", lambda t: "<failure" not in t and xml.dom.minidom.parseString(t)), ("checkstyle", lambda t: "<error" not in t and xml.dom.minidom.parseString(t))):
    code, out = run(fmt, {"fine.txt": FILES["fine.txt"]})
    check(f"{fmt} of files that are fine", code == 0 and good(out), out)

# the table of files and targets
code, out = run("text", {"fine.txt": FILES["fine.txt"], "requirements.txt": "torch==2.12.0\n"}, CONF.replace("old & <slow>", "old"))
rows = [re.split(r"  +", x.strip()) for x in out.split("Files and targets\n")[1].split("\n\n")[0].splitlines()]
check("text: files by targets", rows == [["old", "new"], ["fine.txt", "ok", "ok"], ["requirements.txt", "driver-too-old", "ok"]], rows)
code, out = run("markdown", {"fine.txt": FILES["fine.txt"], "requirements.txt": "torch==2.12.0\n"}, CONF.replace("old & <slow>", "a|b"))
check("markdown: files by targets", "| file | a\\|b | new |" in out and "| requirements.txt | driver-too-old | ok |" in out, out)
code, out = run("text", {"fine.txt": FILES["fine.txt"]})
check("the machine is one line of what was not judged", out.split("Not judged\n")[1].count("\n") == 1, out)

print(f"1..{n}")
sys.exit(1 if failed else 0)
