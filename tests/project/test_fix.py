#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release asan
"""check --fix: what is offered, what is left alone, that nothing else of a file changes, and how it asks."""
import os
import pty
import stat
import subprocess
import sys
import tempfile

CUVET = os.environ["CUVET"]
T4 = ["gpu=T4", "driver=535.183.01", "python=3.11", "glibc=2.35", "arch=x86_64"]
CU126 = "https://download.pytorch.org/whl/cu126"
n = failed = 0


def check(title, ok, what=""):
    global n, failed
    n += 1
    failed += not ok
    print(f"{'ok' if ok else 'not ok'} {n} - {title}" + ("" if ok else f": {what}"))


def fix(files, args=("--yes",), assume=T4, named=None, answer=None):
    with tempfile.TemporaryDirectory() as tmp:
        for name, text in files.items():
            with open(os.path.join(tmp, name), "wb") as f:
                f.write(text if isinstance(text, bytes) else text.encode())
            os.chmod(os.path.join(tmp, name), 0o640)
        cmd = [CUVET, "check", *(named or list(files)[:1]), *[a for k in assume for a in ("--assume", k)], "--fix", *args]
        if answer is None:
            p = subprocess.run(cmd, cwd=tmp, capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
            out, code = p.stdout.decode() + p.stderr.decode(), p.returncode
        else:
            ours, theirs = pty.openpty()
            os.write(ours, answer.encode() + b"\n")
            p = subprocess.run(cmd, cwd=tmp, capture_output=True, timeout=60, stdin=theirs)
            out, code = p.stdout.decode(), p.returncode
            os.close(ours)
            os.close(theirs)
        now, left = {}, sorted(os.listdir(tmp))
        for name in left:
            with open(os.path.join(tmp, name), "rb") as f:
                now[name] = f.read()
            if stat.S_IMODE(os.stat(os.path.join(tmp, name)).st_mode) != 0o640:
                now["mode"] = name
        return code, out, now


def becomes(title, name, before, after, assume=T4, code=0):
    got, out, now = fix({name: before}, assume=assume)
    want = after if isinstance(after, bytes) else after.encode()
    check(title, now.get(name) == want and list(now) == [name] and got == code, f"{got} {now} {out}")


def uv(name, tag):
    return f'''[project]
name = "x"
version = "1"
requires-python = "==3.11.*"
dependencies = ["torch==2.9.1"]

[tool.uv.sources]
torch = {{ index = "{name}" }}

[[tool.uv.index]]
name = "{name}"
url = "https://download.pytorch.org/whl/{tag}"
explicit = true
'''


# ---- what is certain
becomes("the same release from another index", "requirements.txt", "numpy\ntorch==2.12.0\n", f"numpy\n--extra-index-url {CU126}\ntorch==2.12.0+cu126\n")
becomes("CRLF, no newline at the end, comments and blanks stay", "requirements.txt", b"# a\r\n\r\n  numpy\r\nonnxruntime\r\nonnxruntime-gpu==1.20.1\r\ntorch==2.9.1 # keep", b"# a\r\n\r\n  numpy\r\nonnxruntime-gpu==1.20.1\r\ntorch==2.9.1 # keep")
becomes("a new line ends as its own does", "requirements.txt", b"torch==2.12.0\r\nnumpy", f"--extra-index-url {CU126}\r\ntorch==2.12.0+cu126\r\nnumpy".encode())
becomes("the address of the index in its place", "Dockerfile", "FROM python:3.11-slim\nRUN pip install torch==2.9.1 torchvision==0.24.1 \\\n  --index-url https://download.pytorch.org/whl/cu130\n", f"FROM python:3.11-slim\nRUN pip install torch==2.9.1 torchvision==0.24.1 \\\n  --index-url https://download.pytorch.org/whl/cu128\n")
becomes("a list of architectures keeps its form", "Dockerfile", 'FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel\nENV TORCH_CUDA_ARCH_LIST="8.0 9.0"\nCOPY . .\nRUN pip install --no-build-isolation ./ops\n', 'FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel\nENV TORCH_CUDA_ARCH_LIST="8.0 9.0 7.5"\nCOPY . .\nRUN pip install --no-build-isolation ./ops\n')
becomes("an open range", "requirements.txt", "torch>=2.6\n", f"--extra-index-url {CU126}\ntorch==2.14.1+cu126\n")
becomes("the pair of the torch that is pinned", "requirements.txt", "torch==2.2.2\ntorchvision==0.16.2\n", "torch==2.2.2\ntorchvision==0.17.2\n")
becomes("one after the other", "requirements.txt", "torch==2.2.2\ntorchvision==0.16.2\ntensorflow-gpu==2.12.0\n", "torch==2.2.2\ntorchvision==0.17.2\ntensorflow==2.12.0\n")
becomes("the labels of torch's pair go with it, and the page of links stays", "requirements.txt", "-f https://download.pytorch.org/whl/torch_stable.html\ntorch==1.9.0+cu102\ntorchvision==0.10.0+cu102\n", "-f https://download.pytorch.org/whl/torch_stable.html\ntorch==1.9.0+cu111\ntorchvision==0.10.0+cu111\n", assume=["gpu=NVIDIA GeForce RTX 3090", "driver=470.82.01", "os=linux", "arch=x86_64", "glibc=2.31", "python=3.8"])
becomes("a wheel of Linux alone gets its marker", "requirements.txt", "--extra-index-url https://download.pytorch.org/whl/cu126\ntorch==2.6.0+cu126\ntriton==3.2.0\n", "--extra-index-url https://download.pytorch.org/whl/cu126\ntorch==2.6.0+cu126\ntriton==3.2.0; sys_platform == 'linux'\n", assume=["gpu=NVIDIA GeForce RTX 4070", "driver=576.02", "os=windows", "arch=x86_64", "python=3.11"])
becomes("a base image of the same series", "Dockerfile", "FROM nvidia/cuda:12.1-runtime-ubuntu22.04 AS x\nRUN a\n", "FROM nvidia/cuda:12.1.1-runtime-ubuntu22.04 AS x\nRUN a\n")
becomes("a word of a continued RUN line", "Dockerfile", "FROM python:3.11-slim\nRUN apt-get update \\\n && pip install numpy \\\n\ttorch==2.12.0 \\\n && rm x\n", f"FROM python:3.11-slim\nRUN apt-get update \\\n && pip install numpy \\\n\ttorch==2.12.0+cu126 --extra-index-url {CU126} \\\n && rm x\n")
becomes("a tag out of the default of an ARG", "Dockerfile", "ARG V=12.1\nFROM nvidia/cuda:${V}-runtime-ubuntu22.04 AS x\n", "ARG V=12.1.1\nFROM nvidia/cuda:${V}-runtime-ubuntu22.04 AS x\n")
becomes("an ARG in quotes, without braces, the whole of a tag", "Dockerfile", "# base\narg TAG=\"12.1-runtime-ubuntu22.04\"\nFROM nvidia/cuda:$TAG\n", "# base\narg TAG=\"12.1.1-runtime-ubuntu22.04\"\nFROM nvidia/cuda:$TAG\n")
becomes("an index of uv, with its name wherever it stands", "pyproject.toml", uv("pytorch-cu130", "cu130"), uv("pytorch-cu128", "cu128"))
POETRY = '[tool.poetry]\nname = "x"\nversion = "1"\n\n[tool.poetry.dependencies]\npython = "3.11.*"\ntorch = {version = "2.9.1", source = "pytorch-%s"}\n\n[[tool.poetry.source]]\nname = "pytorch-%s"\nurl = "https://download.pytorch.org/whl/%s"\npriority = "explicit"\n'
becomes("a source of poetry", "pyproject.toml", POETRY % (("cu130",) * 3), POETRY % (("cu128",) * 3))
becomes("an index of uv that has no number in its name", "pyproject.toml", uv("pytorch", "cu130"), uv("pytorch", "cu128"))
becomes("a capability in a list", "compose.yml", "services:\n  a:\n    image: x/y\n    deploy: {resources: {reservations: {devices: [{driver: nvidia, capabilities: [gpu, utility]}]}}}\n", "services:\n  a:\n    image: x/y\n    deploy: {resources: {reservations: {devices: [{driver: nvidia, capabilities: [gpu, compute, utility]}]}}}\n")

# ---- what is left alone, and said
code, out, now = fix({"requirements.txt": "torch==2.12.0\n"}, assume=["gpu=T4", "driver=418.87.00", "python=3.11"])
check("no correction without a build that fits", now["requirements.txt"] == b"torch==2.12.0\n" and "Left alone: requirements.txt:1:1: driver-too-old" in out and code == 1, out)
for title, text in (("an ARG that is used twice", "ARG V=12.1\nFROM nvidia/cuda:${V}-runtime-ubuntu22.04\nRUN apt-get install cuda-nvcc-$V\n"),
                    ("an ARG that has two defaults", "ARG V=12.1\nARG V=12.1\nFROM nvidia/cuda:${V}-runtime-ubuntu22.04\n"),
                    ("an ARG with a form of its own", "ARG V=12.1\nFROM nvidia/cuda:${V:-12.1}-runtime-ubuntu22.04\n"),
                    ("two ARGs", "ARG V=12.1\nARG O=ubuntu22.04\nFROM nvidia/cuda:${V}-runtime-$O\n"),
                    ("ARGs on one line", "ARG V=12.1 W=2\nFROM nvidia/cuda:${V}-runtime-ubuntu22.04\n")):
    code, out, now = fix({"Dockerfile": text})
    check(title, now["Dockerfile"] == text.encode() and "Left alone" in out and code == 1, out)
code, out, now = fix({"Dockerfile": "ARG V=12.2.2\nFROM nvidia/cuda:${V}-runtime-ubuntu22.04\n"}, args=("--yes", "--assume", "arg.V=12.1"))
check("an ARG that is given from outside", b"ARG V=12.2.2" in now["Dockerfile"] and code == 1, out)
for title, text in (("an index whose new name is taken", uv("pytorch-cu130", "cu130") + '\n[[tool.uv.index]]\nname = "pytorch-cu128"\nurl = "https://example.org/simple"\nexplicit = true\n'),
                    ("an index that is called as an extra is", uv("cu130", "cu130").replace('index = "cu130"', 'index = "cu130", group = "cu130"') + '\n[dependency-groups]\ncu130 = ["numpy"]\n'),
                    ("another release than the one that is pinned", uv("pytorch-cu130", "cu130").replace("==2.9.1", ">=2.9"))):
    code, out, now = fix({"pyproject.toml": text})
    check(title, now["pyproject.toml"] == text.encode(), out)
code, out, now = fix({"compose.yml": "services:\n  a:\n    image: x/y\n    deploy:\n      resources:\n        reservations:\n          devices:\n            - driver: nvidia\n              capabilities:\n                - gpu\n                - utility\n"})
check("a list of another form", b"                - gpu\n" in now["compose.yml"] and "Left alone" in out, out)
code, out, now = fix({"requirements.txt": "torch==2.12.0\n", ".cuvet.toml": '[[target]]\nname = "a"\ngpu = "T4"\ndriver = "535.183.01"\n[[target]]\nname = "b"\ngpu = "RTX 5090"\ndriver = "580.95.05"\n'}, assume=["python=3.11"])
check("what would break another target", now["requirements.txt"] == b"torch==2.12.0\n" and "does not settle" in out, out)
code, out, now = fix({"requirements.txt": "numpy\n"})
check("nothing to do", "nothing to correct" in out and code == 0, out)

# ---- asking
files = {"requirements.txt": "torch==2.12.0\n"}
code, out, now = fix(files, args=())
check("without a terminal nothing is written", now["requirements.txt"] == b"torch==2.12.0\n" and "--yes" in out and "+torch==2.12.0+cu126" in out and code == 1, out)
code, out, now = fix(files, args=(), answer="n")
check("no", now["requirements.txt"] == b"torch==2.12.0\n" and code == 1 and "[y/N]" in out, out)
code, out, now = fix(files, args=(), answer="y")
check("yes", b"+cu126" in now["requirements.txt"] and code == 0, out)
for args in (["--json"], ["--format", "sarif"]):
    code, out, now = fix(files, args=args)
    check(f"--fix {args}", code == 2, out)
p = subprocess.run([CUVET, "check", "--fix"], capture_output=True, timeout=60)
check("--fix without files", p.returncode == 2, p.stderr)
p = subprocess.run([CUVET, "check", "--yes"], capture_output=True, timeout=60)
check("--yes alone", p.returncode == 2, p.stderr)

# ---- a difference that patch takes
with tempfile.TemporaryDirectory() as tmp:
    text = "".join(f"# {i}\n" for i in range(30)) + "torch==2.2.2\n" + "".join(f"# {i}\n" for i in range(30)) + "torchvision==0.16.2\ntensorflow-gpu==2.12.0"
    with open(os.path.join(tmp, "requirements.txt"), "w") as f:
        f.write(text)
    cmd = [CUVET, "check", "requirements.txt", *[a for k in T4 for a in ("--assume", k)], "--fix"]
    p = subprocess.run(cmd, cwd=tmp, capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
    diff = p.stdout.decode().split("Nothing was written")[0]
    with open(os.path.join(tmp, "d"), "w") as f:
        f.write(diff)
    q = subprocess.run(["git", "apply", "--unidiff-zero", "-p0", "d"], cwd=tmp, capture_output=True, timeout=60)
    with open(os.path.join(tmp, "requirements.txt")) as f:
        got = f.read()
    check("a difference that git applies", q.returncode == 0 and got.endswith("torchvision==0.17.2\ntensorflow==2.12.0"), q.stderr.decode() + diff)

print(f"1..{n}")
sys.exit(1 if failed else 0)
