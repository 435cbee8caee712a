#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release asan
# timeout: 900
"""cuvet guide: which step is done, next, later or not needed, and that each command is the one that
check, plan, env and fetch give. Prints TAP.
"""
import copy
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/roots"))
import roots  # noqa: E402  pylint: disable=wrong-import-position

CUVET = os.path.abspath(os.environ.get("CUVET", str(ROOT / "build/cuvet")))
TARGET = ["--no-live", "--assume", "gpu=RTX 4090", "--assume", "driver=580.65.06",
          "--assume", "python=3.12"]
STEPS = ["card", "driver", "toolkit", "cudnn", "variables", "python", "pytorch", "verification",
         "proof"]
tests = []


def test(f):
    tests.append(f)
    return f


def run(*args):
    env = {k: v for k, v in os.environ.items() if k in ("PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS")}
    env.update(LC_ALL="C.UTF-8", HOME="/nonexistent", CUVET_NO_USER_DATA="1")
    return subprocess.run([CUVET, *args], env=env, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=120, check=False)


def guide(*args):
    p = run("guide", "--json", *args)
    assert p.returncode in (0, 1, 3), p.stderr
    doc = json.loads(p.stdout)
    return doc, {s["id"]: s for s in doc["steps"]}


def states(steps):
    return {k: v["state"] for k, v in steps.items()}


@test
def without_pytorch_it_is_next_and_the_command_is_the_plans(_folder):
    doc, steps = guide(*TARGET)
    assert [s["id"] for s in doc["steps"]] == STEPS
    assert doc["next"] == "pytorch", states(steps)
    plan = json.loads(run("plan", "--json", *TARGET).stdout)["chosen"]["commands"]["pip"]
    assert steps["pytorch"]["commands"] == plan
    assert states(steps)["card"] == states(steps)["driver"] == states(steps)["python"] == "done"
    assert {steps[x]["state"] for x in ("toolkit", "cudnn", "variables")} == {"not-needed"}
    assert steps["proof"]["state"] == "later" and doc["verdict"] == "stack-ok"
    assert steps["card"]["evidence"][0]["seen"] == "NVIDIA GeForce RTX 4090"


@test
def what_is_broken_is_next_and_the_command_is_its_remedy(_folder):
    target = ["--no-live", "--assume", "gpu=RTX 5090", "--assume", "driver=580.65.06",
              "--assume", "python=3.12", "--assume", "torch=2.6.0+cu124"]
    doc, steps = guide(*target)
    root = json.loads(run("check", "--json", *target).stdout)["root_cause"]
    assert doc["next"] == "pytorch" and steps["pytorch"]["finding"] == root["name"]
    assert steps["pytorch"]["commands"] == root["remedies"][0]["commands"]
    assert steps["pytorch"]["evidence"][0]["seen"] == root["evidence"][0]["seen"]
    assert run("guide", *target).returncode == 1
    target[2] = "gpu=RTX 4090"
    target[4] = "driver=418.39"
    doc, steps = guide(*target)
    assert doc["next"] == "driver" and steps["driver"]["finding"] == \
        json.loads(run("check", "--json", *target).stdout)["root_cause"]["name"]
    assert steps["driver"]["needs_root"] and steps["driver"]["needs_reboot"]
    assert steps["verification"]["state"] == "later"


@test
def a_whole_stack_is_verified_and_ends_with_the_proof(_folder):
    doc, steps = guide(*TARGET, "--assume", "torch=2.6.0+cu124")
    assert steps["verification"]["state"] == "done" and doc["next"] == "proof", states(steps)
    assert steps["proof"]["commands"] == ["cuvet prove --stack auto"]
    assert not [s for s in doc["steps"] if s["state"] in ("done", "not-needed") and s["commands"]]


@test
def another_framework_needs_no_pytorch(folder):
    machine, = [m for m in roots.load() if m["id"] == "good-jax-only"]
    roots.build(copy.deepcopy(machine), str(folder / "case"))
    doc, steps = guide("--root", str(folder / "case/root"))
    assert steps["pytorch"]["state"] == "not-needed" and doc["next"] == "proof", states(steps)
    assert steps["pytorch"]["evidence"][0]["field"] == "jax"


@test
def compiling_needs_toolkit_cudnn_and_variables(_folder):
    doc, steps = guide(*TARGET, "--dev", "--assume", "torch=2.6.0+cu124")
    assert doc["next"] == "toolkit", states(steps)
    words = shlex.split(steps["toolkit"]["commands"][0])
    assert words[:3] == ["cuvet", "fetch", "cuda"] and words[3].startswith("12.4.")
    shown = json.loads(run("show", "--json", "cuda", "12.4").stdout)["rows"]
    assert words[3] in shown[0]["releases"]
    assert "~/cuda-12.4" in words and "--accept-license" in words
    assert steps["cudnn"]["commands"][0].startswith("cuvet fetch cudnn ")
    assert "--cuda ~/cuda-12.4" in steps["variables"]["commands"][0]
    _, steps = guide("--assume", "gpu=Jetson AGX Orin", "--dev", "--assume", "torch=2.9.0+cu130")
    # Which release a Jetson has is not in the tables.
    assert steps["cudnn"]["commands"] == ["cuvet fetch cudnn --cuda 13 --accept-license"]
    # What asks for a toolkit is enough, and CUDA 13 has its compiler in three parts.
    _, steps = guide(*TARGET, "--require", "cuda>=12")
    assert steps["toolkit"]["state"] in ("next", "later")
    _, steps = guide(*TARGET, "--dev")
    assert "cuda_crt,libnvvm" in steps["toolkit"]["commands"][0]


@test
def nothing_known_asks_for_it(_folder):
    doc, steps = guide("--no-live")
    assert doc["next"] == "card" and steps["driver"]["state"] == "later"
    assert steps["pytorch"]["commands"] and steps["python"]["state"] == "later"


@test
def where_nothing_fits_it_is_blocked(_folder):
    target = ["--no-live", "--assume", "gpu=GTX 580", "--assume", "driver=390.157"]
    doc, steps = guide(*target)
    assert doc["next"] == "pytorch" and doc["verdict"] == "blocked", states(steps)
    assert steps["python"]["state"] == "later" and "GTX 580" in steps["pytorch"]["why"]
    assert run("guide", *target).returncode == run("plan", *target).returncode == 1


@test
def project_files_are_mended_in_the_files(folder):
    source = str(ROOT / "docs/examples/Dockerfile")
    doc, steps = guide(source, "--assume", "gpu=T4", "--assume", "driver=535.183.01")
    assert doc["next"] == "pytorch" and steps["driver"]["state"] == "done", states(steps)
    assert "Dockerfile:3:17" in steps["pytorch"]["why"]
    good = folder / "Dockerfile"
    good.write_text("FROM python:3.12-slim\nRUN pip install torch==2.6.0\n")
    doc, steps = guide(str(good), "--assume", "gpu=T4", "--assume", "driver=580.65.06")
    assert steps["pytorch"]["state"] == "done" and doc["next"] == "proof", states(steps)
    assert steps["pytorch"]["evidence"][0]["source"].endswith("Dockerfile:2:17")
    assert steps["python"]["evidence"][0]["seen"] == "3.12"


@test
def memory_is_arithmetic_over_sourced_rows(_folder):
    doc, _ = guide(*TARGET)
    card, = doc["memory"]
    rows = json.loads(run("show", "--json", "vram").stdout)["rows"]
    assert card["mib"] == 24 * 1024 and len(card["fits"]) == len(rows)
    for fit, row in zip(card["fits"], rows):
        assert fit["bytes_per_param"] == row["bytes_per_param"]
        assert abs(fit["billion_params"] - 24 * 2 ** 30 / row["bytes_per_param"] / 1e9) < 1e-4
        assert fit["inferred"] == ("inferred" in row) and all(fit["sources"])
    # 12.88 billion are not 13: what is shown is cut.
    assert "weights only, fp16/bf16: up to 12 billion" in run("guide", *TARGET).stdout


def tree(folder, facts=None):
    root = folder / "root"
    (root / "proc").mkdir(parents=True)
    (root / "etc").mkdir()
    (root / "etc/os-release").write_text('ID=debian\nVERSION_ID="12"\n')
    (folder / "facts.json").write_text(json.dumps(
        {"schema": "cuvet.facts/1", "uname": "Linux 6.1 x86_64", **(facts or {})}))
    return root


@test
def host_memory_is_what_the_container_may_use(folder):
    root = tree(folder)
    (root / "proc/meminfo").write_text("MemTotal:       65536000 kB\nMemFree: 1 kB\n")
    doc, _ = guide("--root", str(root))
    host = [m for m in doc["memory"] if m["subject"] == "host"]
    assert host[0]["mib"] == 64000 and host[0]["source"] == "/proc/meminfo"
    assert {f["case"].split(" ")[0] for f in host[0]["fits"]} == {"weights"}
    (root / "sys/fs/cgroup").mkdir(parents=True)
    limit = root / "sys/fs/cgroup/memory.max"
    for text, want in (("8589934592\n", 8192), ("max\n", 64000), ("99999999999999\n", 64000)):
        limit.write_text(text)
        doc, _ = guide("--root", str(root))
        assert [m for m in doc["memory"] if m["subject"] == "host"][0]["mib"] == want, text
    (root / "proc/meminfo").write_text("MemTotal: lots\n")
    doc, _ = guide("--root", str(root))
    assert not doc["memory"]


@test
def older_guides_are_answered_from_the_tables(folder):
    doc, _ = guide(*TARGET)
    notes = {n["id"]: n for n in doc["outdated"]}
    assert list(notes) == ["compute-capability", "python", "image-tag", "empty-element"]
    assert "3.5" in notes["compute-capability"]["holds"]
    assert notes["compute-capability"]["here"] == "This machine has 8.9."
    tags = json.loads(run("show", "--json", "image_tag").stdout)["rows"]
    tag = notes["image-tag"]["holds"].split("nvidia/cuda:")[1].rstrip(".")
    version, _, os_name = tag.split("-")
    assert version.count(".") == 2
    row, = [r for r in tags if r["version"] == version]
    assert any(os_name in t["os"] and "devel" in t["flavours"] for t in row["tags"])
    torch = [r for r in json.loads(run("show", "--json", "torch").stdout)["rows"]
             if r["platform"] == "linux_x86_64" and r.get("cuda")]
    last = notes["python"]["holds"].rsplit(" ", 1)[1].rstrip(".")
    with38 = {r["version"] for r in torch if "3.8" in (r.get("python") or [])}
    assert last in with38
    assert last == max(with38, key=lambda v: [int(x) for x in v.split(".")])
    assert notes["empty-element"]["here"] is None
    root = tree(folder, {"env": {"LD_LIBRARY_PATH": "/usr/local/cuda/lib64:"}})
    doc, steps = guide("--root", str(root))
    assert {n["id"]: n for n in doc["outdated"]}["empty-element"]["here"]
    assert steps["variables"]["state"] in ("next", "later") and steps["variables"]["commands"]


@test
def foreign_text_stays_text(folder):
    root = tree(folder, {"env": {"LD_LIBRARY_PATH": "/x\033[31m`id`\n## y:"}})
    for form in ("text", "markdown"):
        out = run("guide", "--root", str(root), "--format", form).stdout
        assert "\033" not in out and "\n## y" not in out, out
        assert out


def built(folder, name):
    lists = (roots.load(str(ROOT / "tests/roots" / f))
             for f in ("machines.json", "machines-variants.json"))
    machine, = [m for some in lists for m in some if m["id"] == name]
    roots.build(copy.deepcopy(machine), str(folder / name))
    return str(folder / name / "root")


@test
def where_cuda_cannot_be_nothing_of_it_is_asked_for(folder):
    doc, steps = guide("--no-live", "--assume", "os=macos")
    for name in ("card", "driver", "proof"):
        assert steps[name]["state"] == "not-needed" and "macOS" in steps[name]["why"], name
    assert doc["next"] == "python"
    doc, steps = guide("--root", built(folder, "cuda-build-on-amd"))
    assert steps["card"]["state"] == steps["driver"]["state"] == "not-needed", states(steps)
    assert doc["next"] == "pytorch" and steps["pytorch"]["finding"] == "cuda-build-on-amd"


@test
def nothing_fits_says_what_would(folder):
    _, steps = guide("--no-live", "--assume", "gpu=Tesla K40m", "--assume", "driver=470",
                     "--assume", "python=3.10")
    assert "Python 3.7" in steps["pytorch"]["why"] and steps["pytorch"]["commands"]
    target = ["--no-live", "--assume", "gpu=Jetson Orin", "--assume", "arch=aarch64",
              "--assume", "driver=540"]
    _, steps = guide(*target)
    assert "JetPack" in steps["pytorch"]["why"] and "Another GPU" not in run("plan", *target).stdout
    _, steps = guide(*target[:-2])
    assert steps["driver"]["commands"] == ["cat /etc/nv_tegra_release"]
    doc, steps = guide("--root", built(folder, "v-good-jetson"))
    assert steps["driver"]["state"] == "done" and doc["next"] == "proof", states(steps)


@test
def what_is_asked_for_is_there_to_be_asked(_folder):
    _, steps = guide("--no-live", "--assume", "gpu=GT 710")
    assert "10de:1281" in steps["card"]["why"] and steps["card"]["state"] == "next"
    _, steps = guide("--no-live", "--assume", "os=wsl2")
    assert steps["card"]["commands"] == ["nvidia-smi -L"]
    # An environment that uv makes has no pip of its own.
    _, steps = guide("--no-live", "--assume", "gpu=T4", "--assume", "driver=580.65.06")
    assert "--seed" in steps["python"]["commands"][0]
    assert steps["pytorch"]["commands"][0].startswith("pip ")


@test
def debians_own_python_needs_a_package_for_environments(folder):
    root = tree(folder)
    (root / "usr/bin").mkdir(parents=True)
    (root / "usr/bin/python3.11").write_bytes(b"\x7fELF")
    (root / "usr/bin/python3.11").chmod(0o755)
    (root / "usr/bin/python3").symlink_to("python3.11")
    (root / "usr/lib/python3.11").mkdir(parents=True)
    (root / "usr/lib/python3.11/os.py").write_text("")
    args = ["--root", str(root), "--assume", "gpu=T4", "--assume", "driver=580.65.06"]
    _, steps = guide(*args)
    commands = steps["pytorch"]["commands"]
    assert commands[0] == "sudo apt-get install python3.11-venv", commands
    assert commands[1] == "python3.11 -m venv .venv" and steps["pytorch"]["needs_root"]
    (root / "usr/lib/python3.11/ensurepip").mkdir()
    _, steps = guide(*args)
    assert steps["pytorch"]["commands"] == commands[1:] and not steps["pytorch"]["needs_root"]
    assert steps["pytorch"]["commands"][1].startswith(".venv/bin/python -m pip install torch==")


@test
def toolkit_and_cudnn_follow_the_cuda_of_pytorch(_folder):
    _, steps = guide("--no-live", "--dev", "--assume", "gpu=RTX 4090", "--assume",
                     "driver=470.223.02")
    assert steps["cudnn"]["state"] == "later" and not steps["cudnn"]["commands"]


@test
def a_pytorch_elsewhere_is_named(folder):
    doc, steps = guide("--root", built(folder, "good-jupyter-kernel"))
    assert doc["next"] == "pytorch" and doc["verdict"] == "stack-ok"
    assert steps["pytorch"]["commands"] == ["cuvet guide --python /opt/ml"]
    where = built(folder, "toolkit-too-new-for-v100")
    doc, steps = guide("--root", where)
    assert steps["variables"]["state"] == "not-needed" and doc["next"] == "proof", states(steps)
    assert "cuvet check" in steps["verification"]["why"]


@test
def on_every_machine_the_path_is_one(folder):
    for machine in roots.load()[::2]:
        case = folder / "case"
        subprocess.run(["rm", "-rf", str(case)], check=True)
        roots.build(copy.deepcopy(machine), str(case))
        where = str(case / "root")
        doc, steps = guide("--root", where)
        name = (machine["id"], states(steps))
        assert list(steps) == STEPS, name
        order = [s["state"] for s in doc["steps"] if s["state"] in ("next", "later")]
        # What waits for a later step may stand before the next one; only one is next.
        assert order.count("next") == 1, name
        report = json.loads(run("check", "--json", "--root", where).stdout)
        if report["verdict"] == "blocked":
            assert doc["next"] not in ("verification", "proof"), name
            assert steps[doc["next"]]["finding"] == report["root_cause"]["name"], name
        assert doc["verdict"] == report["verdict"], name
        assert not (doc["next"] == "variables" and "pip" in "".join(steps["variables"]["commands"]))
        assert all(s["why"] for s in doc["steps"]), name
        text = run("guide", "--root", where)
        assert text.returncode == {"blocked": 1, "undetermined": 3}.get(doc["verdict"], 0), name
        assert text.stdout.splitlines()[-1].startswith("Next: "), name


def main():
    failed = 0
    print("1..%d" % len(tests))
    for i, f in enumerate(tests, 1):
        with tempfile.TemporaryDirectory() as name:
            try:
                f(pathlib.Path(name))
                print("ok %d - %s" % (i, f.__name__.replace("_", " ")))
            except (AssertionError, KeyError, IndexError, ValueError, OSError) as e:
                failed += 1
                print("not ok %d - %s" % (i, f.__name__.replace("_", " ")))
                print("".join("# %s\n" % x for x in (repr(e) + " line %d" % lines(e)).split("\\n")),
                      end="")
            sys.stdout.flush()
    return 1 if failed else 0


def lines(e):
    tb = e.__traceback__
    while tb.tb_next:
        tb = tb.tb_next
    return tb.tb_lineno


if __name__ == "__main__":
    sys.exit(main())
