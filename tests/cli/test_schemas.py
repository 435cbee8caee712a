#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real outputs of the commands against docs/schema, and every table against data/compat/schema.

The published schemas let unknown fields through, as fields may be added; here a field that they do not
name is a failure, so that what is printed is documented. Prints TAP.
"""
import copy
import glob
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(os.environ.get("CUVET_ROOT", pathlib.Path(__file__).resolve().parents[2]))
CUVET = os.environ.get("CUVET", str(ROOT / "build/cuvet"))
sys.path.insert(0, str(ROOT / "tests/roots"))

try:
    import jsonschema
except ImportError:
    if os.environ.get("CI") == "true":
        sys.exit("python3-jsonschema is not installed")
    print("1..0 # skip python3-jsonschema is not installed")
    sys.exit(0)

import roots  # noqa: E402  (the path must be set first)

OFFLINE = ["--no-live"]
TARGETS = [
    ["--assume", "gpu=RTX 4090", "--assume", "driver=580.65.06", "--assume", "python=3.12"],
    ["--assume", "gpu=GTX 1080 Ti", "--assume", "driver=535.183.01", "--assume", "python=3.11"],
    ["--assume", "gpu=T4", "--assume", "gpu=H100 PCIe", "--assume", "driver=570.86.16"],
    ["--assume", "gpu=Tesla K80", "--assume", "driver=470.256.02"],
    ["--assume", "os=windows", "--assume", "gpu=RTX 5090", "--assume", "driver=572.16"],
    ["--assume", "arch=aarch64", "--assume", "gpu=cc:9.0", "--assume", "driver=560.35.03"],
    ["--assume", "os=macos"],
    [],
]
WISHES = [[], ["torch>=2.4,<2.7"], ["torch==9.9"], ["torch>=2.5", "torch<2.4"], ["vllm"], ["tensorflow"],
          ["jax"], ["flash-attn"], ["onnxruntime-gpu"], ["transformers", "numpy<2"]]
count = failed = 0


def report(name, problems):
    global count, failed
    count += 1
    failed += bool(problems)
    print("%sok %d - %s" % ("not " if problems else "", count, name))
    for line in problems[:10]:
        print("# " + line[:300])


def strict(schema):
    """The schema without room for fields that it does not name."""
    if isinstance(schema, dict):
        if "properties" in schema and schema.get("type") == "object":
            schema.setdefault("additionalProperties", False)
        for value in schema.values():
            strict(value)
    elif isinstance(schema, list):
        for value in schema:
            strict(value)
    return schema


def load(name):
    schema = json.loads((ROOT / "docs/schema" / (name + ".schema.json")).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(strict(schema))


def problems_of(validator, doc):
    out = []
    for error in validator.iter_errors(doc):
        # Of an anyOf the deepest error says what is wrong.
        while error.context:
            error = max(error.context, key=lambda e: len(e.absolute_path))
        out.append("/".join(map(str, error.absolute_path)) + ": " + error.message[:250])
    return out


def run(args, home, codes=(0, 1, 3), more=None):
    env = {k: v for k, v in os.environ.items() if k in ("PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS")}
    env.update(LC_ALL="C", HOME=home, CUVET_NO_USER_DATA="1", **(more or {}))
    done = subprocess.run([CUVET, *args], env=env, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=60, check=False)
    if done.returncode not in codes:
        raise ValueError("exit %d: %s" % (done.returncode, done.stderr.decode(errors="replace")))
    return done.stdout.decode("utf-8")


def check(validator, name, args, home, codes=(0, 1, 3), more=None):
    try:
        report(name, problems_of(validator, json.loads(run(args, home, codes, more))))
    except ValueError as error:
        report(name, [str(error)])


def of_roots(reports, snapshots, home):
    """A machine of each kind: every fourth of them, and those that look unlike the others."""
    machines = roots.load()
    for machine in machines[::4]:
        with tempfile.TemporaryDirectory(dir=home) as dest:
            case = os.path.join(dest, "case")
            roots.build(copy.deepcopy(machine), case)
            where = os.path.join(case, "root")
            check(reports, "check: " + machine["id"], ["check", "--json", "--root", where], home,
                  (0, 1, 3))
            check(snapshots, "snapshot: " + machine["id"], ["snapshot", "--root", where], home)


def of_targets(reports, plans, home):
    for target in TARGETS:
        name = " ".join(target[1::2]) or "nothing declared"
        check(reports, "check: " + name, ["check", "--json", *OFFLINE, *target], home)
        for wish in WISHES:
            check(plans, "plan: %s; %s" % (name, " ".join(wish)),
                  ["plan", "--json", *OFFLINE, *target, *wish], home)
    check(plans, "plan --driver-upgrade", ["plan", "--json", "--driver-upgrade", *OFFLINE, *TARGETS[1]], home)
    batch = os.path.join(home, "batch.ndjson")
    with open(batch, "w", encoding="utf-8") as file:
        file.write('{"id":"a","gpu":"RTX 4090","driver":"580.65.06","python":"3.12"}\n{"x":1}\nnot json\n'
                   '{"gpu":["T4","Tesla K80"],"driver":"470.256.02","req":["torch==9.9"]}\n')
    lines = run(["plan", "--batch", batch], home, (0, 1, 2, 3)).splitlines()
    bad = [p for line in lines for p in problems_of(plans, json.loads(line))]
    report("plan --batch: %d lines" % len(lines), bad or ([] if len(lines) == 4 else ["4 lines wanted"]))


def of_tables(tables, home):
    names = sorted(pathlib.Path(p).stem for p in glob.glob(str(ROOT / "data/compat/*.json")))
    check(tables, "show", ["show", "--json"], home)
    for name in names:
        check(tables, "show " + name, ["show", name, "--json"], home)
        doc = json.loads((ROOT / "data/compat" / (name + ".json")).read_text())
        schema = json.loads((ROOT / "data/compat/schema" / (name + ".schema.json")).read_text())
        report("table " + name, problems_of(jsonschema.Draft202012Validator(schema), doc))
    check(tables, "show gpu, a name", ["show", "gpu", "RTX 4090", "--json"], home)
    check(tables, "show gpu, a capability", ["show", "gpu", "cc:8.9", "--json"], home)
    check(tables, "show torch --gpu", ["show", "torch", "--gpu", "GTX 1080 Ti", "--json"], home)
    check(tables, "show --check", ["show", "--check", "--json"], home)
    bad = os.path.join(home, "bad")
    os.mkdir(bad)
    with open(os.path.join(bad, "vram.json"), "w", encoding="utf-8") as file:
        file.write('{"schema":"cuvet.compat/1","table":"vram","rows":[]}')
    check(tables, "show --check, problems", ["show", "--check", "--json", "--data", bad], home, (4,))


def of_binaries(binary, home):
    """Programs, libraries, what is none of them; this process, and a folder."""
    inputs = [CUVET, sys.executable, __file__, os.environ.get("CUVET_STANDIN", str(ROOT / "build/standin"))]
    inputs += sorted(glob.glob("/usr/lib/*-linux-gnu/lib[cm].so.6"))
    for path in inputs:
        check(binary, "inspect " + os.path.basename(path), ["inspect", "--json", path], home, (0, 1, 3, 4))
    check(binary, "inspect --pid", ["inspect", "--json", "--pid", str(os.getpid())], home)


def of_env(env, reports, home):
    prefix = os.path.join(home, "cuda")
    os.makedirs(prefix + "/bin")
    os.makedirs(prefix + "/lib64")
    open(prefix + "/bin/nvcc", "w", encoding="ascii").close()
    for args in ["--shell", "fish"], ["--format", "dockerfile", "--dev"], ["--write", home + "/x.sh"]:
        check(env, "env " + args[0], ["env", "--json", "--cuda", prefix, *args], home)
    check(env, "env --unset", ["env", "--json", "--unset", "--shell", "sh"], home)
    check(env, "env --remove", ["env", "--json", "--remove", home + "/x.sh"], home)
    check(reports, "env --check", ["env", "--json", "--check"], home)


def of_prove(proof, home):
    """With the stand-ins for the driver: healthy and measured, two GPUs, broken, and no driver."""
    libs = os.path.join(home, "libs")
    standin = os.environ.get("CUVET_STANDIN", str(ROOT / "build/standin"))
    os.mkdir(libs)
    for name in "libcuda", "libnvidia-ml":
        os.symlink(os.path.join(standin, name + ".so"), os.path.join(libs, name + ".so.1"))
    cases = [("measured, slow", "cc0=9.0;bus=900000", ["--bench"]), ("two GPUs", "devices=2", []),
             ("a wrong bit", "flip=cuvet_fma", []), ("a crash", "behave=segv;at=cuLaunchKernel", []),
             ("an old GPU", "cc0=3.5", [])]
    for name, script, args in cases:
        check(proof, "prove: " + name, ["prove", "--json", *args], home,
              more={"LD_LIBRARY_PATH": libs, "CUVET_STANDIN_SCRIPT": script})
    check(proof, "prove, this machine", ["prove", "--json"], home)


def of_fetch(fetch, installed, home):
    """From a mirror in a folder: planned, installed, listed, verified."""
    sys.path.insert(0, str(ROOT / "tests/fetch"))
    from world import World, good_members, tar

    w = World(home)
    w.cudnn(tar(good_members()))
    common = ["--prefix", str(w.prefix)]
    get = ["fetch", "cudnn", "9.1.1", "--cuda", "12", "--platform", "linux-x86_64", "--mirror", str(w.mirror),
           "--cache", str(w.cache), "--accept-license", "--json", *common]
    check(fetch, "fetch, planned", [*get, "--dry-run"], home)
    check(fetch, "fetch, installed", get, home)
    check(installed, "fetch list", ["fetch", "list", "--json", *common], home)
    check(installed, "fetch verify", ["fetch", "verify", "--json", *common], home)


def negative(validators):
    """The schemas can fail: an empty object, another schema, and a field that is not documented."""
    for name, validator in validators.items():
        bad = []
        for doc in ({}, [], {"schema": "cuvet.%s/2" % name}):
            if validator.is_valid(doc):
                bad.append("takes " + json.dumps(doc))
        report("%s refuses what is none" % name, bad)


def main():
    names = ["report", "snapshot", "explain", "data", "table", "plan", "binary", "env", "proof",
             "fetch", "installed", "reports", "guide"]
    validators = {name: load(name) for name in names}
    published = {pathlib.Path(p).name[:-12] for p in glob.glob(str(ROOT / "docs/schema/*.schema.json"))}
    report("every published schema is used here", sorted(published ^ set(names)))
    stale = subprocess.run([sys.executable, "-B", str(ROOT / "scripts/gen-snapshot-schema.py"), "--check"],
                           capture_output=True, text=True, check=False)
    report("the fields of the snapshot are those of its header", (stale.stdout + stale.stderr).splitlines())
    negative(validators)
    with tempfile.TemporaryDirectory() as home:
        check(validators["explain"], "explain", ["explain", "--json"], home)
        check(validators["data"], "data", ["data", "--json"], home)
        check(validators["data"], "data --data", ["data", "--json", "--data", str(ROOT / "data/compat")], home)
        check(validators["report"], "check, this machine", ["check", "--json"], home)
        check(validators["snapshot"], "snapshot, this machine", ["snapshot"], home)
        of_env(validators["env"], validators["report"], home)
        of_prove(validators["proof"], home)
        of_fetch(validators["fetch"], validators["installed"], home)
        paste = str(ROOT / "docs/examples/paste.txt")
        check(validators["snapshot"], "triage --snapshot", ["triage", "--snapshot", paste], home)
        each = json.loads(run(["triage", "--each", "--json", paste, paste], home))
        plain = json.loads((ROOT / "docs/schema/reports.schema.json").read_text())
        report("triage --each", problems_of(jsonschema.Draft202012Validator(plain), each))
        of_tables(validators["table"], home)
        of_binaries(validators["binary"], home)
        of_targets(validators["report"], validators["plan"], home)
        for target in TARGETS:
            check(validators["guide"], "guide: " + " ".join(target[1::2]),
                  ["guide", "--json", "--dev", *OFFLINE, *target], home)
        check(validators["guide"], "guide, this machine", ["guide", "--json"], home)
        of_roots(validators["report"], validators["snapshot"], home)
    print("1..%d" % count)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
