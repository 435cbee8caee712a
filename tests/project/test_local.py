#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release asan
"""What a project installs of itself: `pip install .` and its pyproject.toml, setup.py, environments of
hatch, the folder that `cd` led to, arguments that compose gives, jobs that extend others. In the form of
test_cases.py.
"""
import sys

from test_cases import main

L4 = ["gpu=NVIDIA L4", "driver=550.54.15", "os=linux", "arch=x86_64"]
PY = ["python=3.11", "glibc=2.35"]
CU = "https://download.pytorch.org/whl/"
ALL = {(".",): ""}


def project(deps, more=""):
    return f'[project]\nname = "x"\nversion = "1"\nrequires-python = ">=3.9"\ndependencies = {deps}\n{more}'


def image(run, more=""):
    return f"FROM python:3.11-slim\n{more}WORKDIR /app\nCOPY . .\nRUN {run}\n"


TORCH = f"RUN pip install torch==2.6.0 --index-url {CU}cu124\n"
SETUP = 'from setuptools import setup\n{}setup(\n    name="x",\n    {},\n)\n'
COMPOSE = "services:\n  a:\n    build:\n      context: .\n      {}\n    gpus: all\n"
STAGES = f"FROM python:3.11-slim AS old\nRUN pip install torch==2.6.0\nFROM python:3.11-slim AS new\nRUN pip install torch==2.12.0\n"
NEW = "torch==2.12.0"

CASES = {
    # ------------------------------------------------ pip install .
    "a range that is already met": ({**ALL, "Dockerfile": image('pip install --no-cache-dir -e ".[serve]"', TORCH), "pyproject.toml": project('["torch>=2.1"]', '[project.optional-dependencies]\nserve = ["fastapi"]\n')}, L4, None, None),
    "a pin of the project itself": ({**ALL, "Dockerfile": image("pip install .", TORCH), "pyproject.toml": project('["torch==2.12.0"]')}, L4, "driver-too-old", "pyproject.toml:5"),
    "the extra that is named": ({**ALL, "Dockerfile": image("pip install '.[gpu]'"), "pyproject.toml": project("[]", '[project.optional-dependencies]\ngpu = ["torch==2.12.0"]\ncpu = ["torch==1.4.0+cpu"]\n')}, L4, "driver-too-old", "pyproject.toml:7"),
    "not the extra that is not": ({**ALL, "Dockerfile": image("pip install '.[web]'"), "pyproject.toml": project("[]", '[project.optional-dependencies]\ngpu = ["torch==2.12.0"]\nweb = ["fastapi"]\n')}, L4, None, None),
    "setuptools' dynamic requirements": ({**ALL, "Dockerfile": image("pip install ."), "pyproject.toml": '[project]\nname = "x"\nversion = "1"\ndynamic = ["dependencies"]\n[tool.setuptools.dynamic]\ndependencies = { file = ["req/base.txt"] }\n', "req/base.txt": "numpy\ntorch==2.12.0\n"}, L4, "driver-too-old", "base.txt:2"),
    "a folder below": ({**ALL, "Dockerfile": image("pip install ./lib"), "lib/pyproject.toml": project('["torch==2.12.0"]')}, L4, "driver-too-old", "pyproject.toml:5"),
    "by its place in the image": ({**ALL, "Dockerfile": image("pip install /app/lib"), "lib/pyproject.toml": project('["torch==2.12.0"]')}, L4, "driver-too-old", "pyproject.toml:5"),
    "without its dependencies": ({**ALL, "Dockerfile": image("pip install --no-deps ."), "setup.cfg": "[options]\ninstall_requires =\n    torch<2.7\n"}, L4, None, None),
    "uv pip takes uv's sources": ({**ALL, "Dockerfile": image("pip install uv && uv pip install --system ."), "pyproject.toml": project('["torch==2.9.1"]', f'[tool.uv.sources]\ntorch = {{ index = "g" }}\n[[tool.uv.index]]\nname = "g"\nurl = "{CU}cu130"\nexplicit = true\n')}, L4, "driver-too-old", "pyproject.toml:5"),
    "pip does not": ({**ALL, "Dockerfile": image("pip install ."), "pyproject.toml": project('["torch==2.9.1"]', f'[tool.uv.sources]\ntorch = {{ index = "g" }}\n[[tool.uv.index]]\nname = "g"\nurl = "{CU}cu130"\nexplicit = true\n')}, L4, None, None),
    "a repository that was fetched is not this one": ({("Dockerfile",): "", "Dockerfile": image("git clone https://github.com/example/other && cd other && pip install ."), "pyproject.toml": project('["torch==2.12.0"]')}, L4, None, None),
    "nor are its requirements": ({("Dockerfile",): "", "Dockerfile": image("git clone https://github.com/example/other /other && cd /other && pip install -r requirements.txt"), "requirements.txt": NEW + "\n"}, L4, None, None),
    "a folder of the project that cd led to": ({("Dockerfile",): "", "Dockerfile": image("cd back && pip install -r requirements.txt"), "back/requirements.txt": "numpy\n" + NEW + "\n", "requirements.txt": "numpy\n"}, L4, "driver-too-old", "requirements.txt:2"),
    "cd does not last": ({("Dockerfile",): "", "Dockerfile": image("cd /tmp && ls\nRUN pip install -r requirements.txt"), "requirements.txt": NEW + "\n"}, L4, "driver-too-old", "requirements.txt:1"),
    # ------------------------------------------------ setup.py
    "a list by its name": ({"setup.py": SETUP.format('REQUIRED = [\n    "numpy",\n    "torch==2.12.0",\n]\n', "install_requires=REQUIRED")}, L4 + PY, "driver-too-old", "setup.py:4"),
    "a version by its name": ({"setup.py": SETUP.format('TORCH = "2.12.0"\n', 'install_requires=[f"torch=={TORCH}", "numpy"]')}, L4 + PY, "driver-too-old", "setup.py:5"),
    "a version that is not written": ({"setup.py": SETUP.format("import os\nTORCH = os.environ['T']\n", 'install_requires=[f"torch=={TORCH}"]')}, L4 + PY, None, None),
    "a name that is given twice": ({"setup.py": SETUP.format('TORCH = "2.12.0"\nTORCH = "2.6.0"\n', 'install_requires=[f"torch=={TORCH}"]')}, L4 + PY, None, None),
    "what stands in a call": ({"setup.py": SETUP.format("", 'install_requires=["numpy", *read("torch==2.12.0")]')}, L4 + PY, None, None),
    "a dictionary": ({"setup.py": 'from setuptools import setup\nsetup(**{"install_requires": [\n    "torch==2.12.0"]})\n'}, L4 + PY, "driver-too-old", "setup.py:3"),
    # ------------------------------------------------ hatch
    "an environment of hatch": ({"pyproject.toml": project('["numpy"]', '[tool.hatch.envs.train]\ndependencies = [\n  "torch==2.3.1",\n  "torchvision==0.17.2",\n]\n')}, L4 + PY, "torch-torchvision-mismatch", "pyproject.toml:9"),
    "one for other machines": ({"pyproject.toml": project('["numpy"]', '[tool.hatch.envs.cpu]\ndependencies = ["torch==2.12.0"]\n')}, L4 + PY, None, None),
    "its index": ({"pyproject.toml": project('["numpy"]', f'[tool.hatch.envs.gpu]\ndependencies = ["torch==2.9.1"]\n[tool.hatch.envs.gpu.env-vars]\nPIP_INDEX_URL = "{CU}cu124"\n')}, L4 + PY, "wrong-index-tag", "pyproject.toml:7"),
    "its Python": ({"pyproject.toml": project('["numpy"]', '[tool.hatch.envs.gpu]\npython = "3.13"\ndependencies = ["torch==2.4.1"]\n')}, L4, "python-no-wheel", "pyproject.toml:8"),
    # ------------------------------------------------ what compose and devcontainers give
    "an argument of compose": ({**ALL, "compose.yaml": COMPOSE.format("args: {TAG: cu126}"), "Dockerfile": f"FROM python:3.11-slim\nARG TAG=cu130\nRUN pip install torch==2.9.1 --index-url {CU}${{TAG}}\n"}, L4, None, None),
    "an argument that breaks it": ({**ALL, "compose.yaml": COMPOSE.format("args: [TAG=cu130]"), "Dockerfile": f"FROM python:3.11-slim\nARG TAG=cu126\nRUN pip install torch==2.9.1 --index-url {CU}${{TAG}}\n"}, L4, "driver-too-old", "Dockerfile:3"),
    "a stage of compose": ({**ALL, "compose.yaml": COMPOSE.format("target: old"), "Dockerfile": STAGES}, L4, None, None),
    "the last stage": ({**ALL, "compose.yaml": COMPOSE.format("args: {}"), "Dockerfile": STAGES}, L4, "driver-too-old", "Dockerfile:4"),
    "a stage for AMD that is not built": ({"Dockerfile": f"FROM rocm/dev-ubuntu-22.04:6.2 AS amd\nRUN true\nFROM python:3.11-slim\n{TORCH}"}, L4, None, None),
    "a devcontainer without GPUs": ({".devcontainer/devcontainer.json": '{\n  // samples\n  "image": "nvidia/cuda:12.4.1-devel-ubuntu22.04",\n}\n'}, L4, "container-no-gpu-requested", "devcontainer.json:3"),
    "one that asks for them": ({".devcontainer/devcontainer.json": '{\n  "image": "nvidia/cuda:12.4.1-devel-ubuntu22.04",\n  "hostRequirements": {"gpu": "optional"}\n}\n'}, L4, None, None),
    "one whose compose file says it": ({".devcontainer/devcontainer.json": '{\n  "dockerComposeFile": "compose.yaml", "image": "nvidia/cuda:12.4.1-devel-ubuntu22.04"\n}\n'}, L4, None, None),
    # ------------------------------------------------ jobs and locks
    "a job that extends another": ({".gitlab-ci.yml": ".gpu:\n  image: python:3.13-slim\n  before_script:\n    - pip install torch==2.4.1\ntrain:\n  extends: .gpu\n  script:\n    - python train.py\n"}, L4, "python-no-wheel", ".gitlab-ci.yml:4"),
    "jobs that extend each other": ({".gitlab-ci.yml": ".a:\n  extends: .b\n.b:\n  extends: .a\ntrain:\n  extends: [.a, .b]\n  script:\n    - pip install torch==2.12.0\n"}, L4 + PY, "driver-too-old", ".gitlab-ci.yml:8"),
    "the CPU's build in an address of conda-lock": ({"conda-lock.yml": "version: 1\nmetadata: {}\npackage:\n- name: pytorch\n  version: 2.5.1\n  platform: linux-64\n  url: https://conda.anaconda.org/conda-forge/linux-64/pytorch-2.5.1-cpu_mkl_py311h4ee7ef7_104.conda\n"}, L4, "cpu-only-conda-build", "conda-lock.yml:5"),
    "CUDA's build in an address of conda-lock": ({"conda-lock.yml": "version: 1\nmetadata: {}\npackage:\n- name: pytorch\n  version: 2.5.1\n  platform: linux-64\n  url: https://conda.anaconda.org/conda-forge/linux-64/pytorch-2.5.1-cuda124_py311h4ee7ef7_304.conda\n"}, L4, None, None),
    # ------------------------------------------------ wheels by their addresses, NVIDIA's releases
    "a wheel for another Python": ({"requirements.txt": f"torch @ {CU}cu124/torch-2.6.0%2Bcu124-cp310-cp310-linux_x86_64.whl\n"}, L4 + PY, "python-no-wheel", "requirements.txt:1"),
    "a wheel for each Python": ({"requirements.txt": f"torch @ {CU}cu124/torch-2.6.0%2Bcu124-cp310-cp310-linux_x86_64.whl ; python_version == '3.10'\ntorch @ {CU}cu124/torch-2.6.0%2Bcu124-cp311-cp311-linux_x86_64.whl ; python_version == '3.11'\n"}, L4 + PY, None, None),
    "NVIDIA's 25.08 on a GeForce": ({"Dockerfile": "FROM nvcr.io/nvidia/pytorch:25.08-py3\nRUN pip install einops\n"}, ["gpu=NVIDIA GeForce RTX 4090"] + L4[1:], "driver-too-old", "Dockerfile:1"),
    "on a data centre's GPU it brings its own libcuda": ({"Dockerfile": "FROM nvcr.io/nvidia/pytorch:25.08-py3\nRUN pip install einops\n"}, L4, None, None),
    "NVIDIA's 25.06": ({"Dockerfile": "FROM nvcr.io/nvidia/pytorch:25.06-py3\n"}, ["gpu=NVIDIA GeForce RTX 4090"] + L4[1:], None, None),
    "a cog file without a GPU": ({"cog.yaml": 'build:\n  gpu: false\n  python_version: "3.13"\n  python_packages: ["torch==2.4.1"]\n'}, L4, None, None),
}

if __name__ == "__main__":
    sys.exit(main(CASES))
