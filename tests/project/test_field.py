#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release asan
"""Project files as projects in the field write them, cut to what decides: RIGHT ones that must give no
error for a target that they support, and BROKEN ones whose fault is known. In the form of test_cases.py.
"""
import sys

from test_cases import R3060, R4090, R5090, T4, V100, WIN, main

A100 = ["gpu=NVIDIA A100-SXM4-80GB", "driver=615.71.09", "os=linux", "arch=x86_64", "glibc=2.35"]
A100_550 = ["gpu=NVIDIA A100-SXM4-80GB", "driver=550.54.15", "os=linux", "arch=x86_64", "glibc=2.35"]
H100 = ["gpu=NVIDIA H100 80GB HBM3", "driver=570.133.20", "os=linux", "arch=x86_64", "glibc=2.35"]
PY = ["python=3.11"]
CU = "https://download.pytorch.org/whl/"


def lock(name, version, source, more=""):
    return f'[[package]]\nname = "{name}"\nversion = "{version}"\nsource = {{ registry = "{source}" }}\n{more}\n'


FORKS = (
    'version = 1\nrequires-python = ">=3.10"\n\n'
    + lock("torch", "2.8.0", CU + "cpu", "resolution-markers = [\n    \"python_full_version >= '3.12' and sys_platform == 'darwin'\",\n    \"python_full_version < '3.12' and sys_platform == 'darwin'\",\n]")
    + lock("torch", "2.8.0+cpu", CU + "cpu", "resolution-markers = [\n    \"platform_machine != 'x86_64' and sys_platform != 'darwin'\",\n]")
    + lock("torch", "2.8.0+cu128", CU + "cu128", "resolution-markers = [\n    \"python_full_version >= '3.12' and platform_machine == 'x86_64' and sys_platform != 'darwin'\",\n    \"python_full_version < '3.12' and platform_machine == 'x86_64' and sys_platform != 'darwin'\",\n]")
)
OWN = '[[package]]\nname = "p"\nversion = "0"\nsource = { editable = "." }\n'
EXTRAS = (
    OWN + 'dependencies = [\n    { name = "torch", version = "2.8.0", source = { registry = "https://pypi.org/simple" } },\n]\n'
    '[package.optional-dependencies]\ncpu = [\n    { name = "torch", version = "2.8.0+cpu", source = { registry = "' + CU + 'cpu" } },\n]\n'
    'cu129 = [\n    { name = "torch", version = "2.8.0+cu129", source = { registry = "' + CU + 'cu129" } },\n]\n'
    + lock("torch", "2.8.0", "https://pypi.org/simple") + lock("torch", "2.8.0+cpu", CU + "cpu") + lock("torch", "2.8.0+cu129", CU + "cu129")
)
EXTRA_PROJECT = (
    '[project]\nname = "p"\nversion = "0"\nrequires-python = ">=3.10"\ndependencies = ["torch==2.8.0"]\n'
    '[project.optional-dependencies]\ncpu = ["torch==2.8.0"]\ncu129 = ["torch==2.8.0"]\n'
    '[tool.uv]\nconflicts = [[{ extra = "cpu" }, { extra = "cu129" }]]\n'
    '[tool.uv.sources]\ntorch = [{ index = "c", extra = "cpu" }, { index = "g", extra = "cu129" }]\n'
    f'[[tool.uv.index]]\nname = "c"\nurl = "{CU}cpu"\nexplicit = true\n[[tool.uv.index]]\nname = "g"\nurl = "{CU}cu129"\nexplicit = true\n'
)
POETRY_CHOICE = (
    '[project]\nname = "p"\nversion = "0"\nrequires-python = ">=3.10,<3.13"\ndependencies = ["fastapi"]\n'
    '[project.optional-dependencies]\ncpu = ["torch (==2.7.1)"]\ncuda = ["torch (==2.7.1+cu126)"]\n'
    f'[[tool.poetry.source]]\nname = "c"\nurl = "{CU}cpu"\npriority = "explicit"\n[[tool.poetry.source]]\nname = "g"\nurl = "{CU}cu126"\npriority = "explicit"\n'
    "[tool.poetry.dependencies]\ntorch = [\n    { markers = \"extra == 'cpu' and extra != 'cuda'\", source = \"c\" },\n    { markers = \"extra == 'cuda' and extra != 'cpu'\", source = \"g\" },\n]\n"
)

RIGHT = {
    # ------------------------------------------------ locks that hold more than one environment
    "a lock with forks by platform": ({"uv.lock": FORKS}, A100, None, None),
    "the same beside its project": ({("pyproject.toml",): "", "pyproject.toml": '[project]\nname = "p"\nversion = "0"\nrequires-python = ">=3.10"\ndependencies = ["torch~=2.8.0"]\n', "uv.lock": FORKS}, A100, None, None),
    "forks for extras that exclude each other": ({("pyproject.toml",): "", "pyproject.toml": EXTRA_PROJECT, "uv.lock": EXTRAS}, A100, None, None),
    "uv sync of one extra": ({("Dockerfile",): "", "Dockerfile": "FROM python:3.11-slim\nCOPY pyproject.toml uv.lock ./\nRUN pip install uv && uv sync --frozen --extra cu129\n", "pyproject.toml": EXTRA_PROJECT, "uv.lock": EXTRAS}, A100, None, None),
    "uv sync twice": ({("Dockerfile",): "", "Dockerfile": "FROM nvidia/cuda:12.6.3-cudnn-runtime-ubuntu24.04\nCOPY --from=ghcr.io/astral-sh/uv:0.6.1 /uv /bin/uv\nRUN --mount=type=bind,source=uv.lock,target=uv.lock uv sync --frozen --no-install-project\nCOPY pyproject.toml uv.lock ./\nRUN uv sync --frozen --extra ui\n",
                      "pyproject.toml": '[project]\nname = "p"\nversion = "0"\nrequires-python = ">=3.12"\ndependencies = ["onnxruntime-gpu>=1.20.1"]\n[project.optional-dependencies]\nui = ["gradio"]\n', "uv.lock": lock("onnxruntime-gpu", "1.20.1", "https://pypi.org/simple")}, A100, None, None),
    "a lock's choice for a range": ({("pyproject.toml",): "", "pyproject.toml": '[tool.poetry]\nname = "p"\n[tool.poetry.dependencies]\npython = ">=3.10,<3.13"\nxformers = {version = ">=0.0.24", optional = true}\n', "poetry.lock": '[[package]]\nname = "torch"\nversion = "2.3.0"\n\n[[package]]\nname = "xformers"\nversion = "0.0.26.post1"\n'}, A100, None, None),
    "what a lock holds for extras alone": ({"poetry.lock": '[[package]]\nname = "jax"\nversion = "0.5.3"\noptional = true\n\n[[package]]\nname = "torch"\nversion = "2.6.0"\noptional = false\ngroups = ["main"]\n'}, A100, None, None),
    "jax that something else needs": ({("pyproject.toml",): "", "pyproject.toml": '[project]\nname = "p"\nversion = "0"\nrequires-python = ">=3.11"\ndependencies = ["mediapipe==0.10.14", "torch==2.7.1"]\n',
                                       "uv.lock": OWN + 'dependencies = [\n    { name = "mediapipe" },\n    { name = "torch" },\n]\n' + lock("mediapipe", "0.10.14", "https://pypi.org/simple", 'dependencies = [\n    { name = "jax" },\n]') + lock("jax", "0.7.1", "https://pypi.org/simple") + lock("torch", "2.7.1", "https://pypi.org/simple")}, A100, None, None),
    "poetry's sources by extra": ({("Dockerfile",): "", "Dockerfile": "FROM nvidia/cuda:12.6.3-base-ubuntu22.04\nRUN apt-get update && apt-get install -y python3.10 python3-pip && pip install poetry==2.1.3\nCOPY . .\nRUN poetry install --extras cuda\n", "pyproject.toml": POETRY_CHOICE}, A100, None, None),
    "a pip of poetry's extras": ({"pyproject.toml": POETRY_CHOICE}, A100, None, None),
    "torchvision's range beside a lock": ({("pyproject.toml",): "", "pyproject.toml": f'[project]\nname = "p"\nversion = "0"\nrequires-python = ">=3.10,<3.12"\ndependencies = ["torch>=2.7.0", "torchvision>=0.22.0"]\n[tool.uv.sources]\ntorch = {{ index = "g" }}\ntorchvision = {{ index = "g" }}\n[[tool.uv.index]]\nname = "g"\nurl = "{CU}cu128"\nexplicit = true\n', "uv.lock": lock("torch", "2.7.0+cu128", CU + "cu128") + lock("torchvision", "0.22.0+cu128", CU + "cu128")}, A100, None, None),
    # ------------------------------------------------ ranges
    "an open range of xformers": ({"requirements.txt": f"--extra-index-url {CU}cu128\ntorch==2.7.0+cu128\ntorchvision==0.22.0+cu128\nxformers>=0.0.30\n"}, A100 + PY, None, None),
    "a range of torchvision that goes with torch": ({"requirements.txt": f"--extra-index-url {CU}cu124\ntorch==2.6.0+cu124\ntorchvision>=0.20\n"}, A100_550 + PY, None, None),
    "an old vllm range with the torch of then": ({"requirements.txt": "torch==2.5.1\nvllm>=0.6.4,<0.7\n"}, A100_550 + PY, None, None),
    # ------------------------------------------------ pages of links
    "a page of links of one variant": ({"Dockerfile": f"FROM nvidia/cuda:11.1.1-cudnn8-devel-ubuntu18.04\nRUN apt-get update && apt-get install -y python3.8 python3-pip\nRUN python3.8 -m pip install torch==1.10 torchvision==0.11.1 -f {CU}cu111/torch_stable.html\n"}, ["gpu=Tesla V100-SXM2-16GB", "driver=535.183.01", "os=linux", "arch=x86_64"], None, None),
    "a label on the page of all": ({"requirements.txt": f"--find-links {CU}torch_stable.html\ntorch==1.13.1+cu117\n"}, ["gpu=NVIDIA A100-SXM4-80GB", "driver=525.147.05", "os=linux", "arch=x86_64", "glibc=2.31", "python=3.9"], None, None),
    # ------------------------------------------------ builds that are ready
    "a wheel of flash-attn by its address": ({"Dockerfile": f"FROM nvidia/cuda:13.0.3-runtime-ubuntu24.04\nRUN apt-get update && apt-get install -y python3-pip\nRUN pip install --break-system-packages torch==2.13.0 --index-url {CU}cu130\nRUN pip install --break-system-packages https://example.org/releases/flash_attn-2.8.3+cu130torch2.13-cp312-cp312-manylinux_2_28_x86_64.whl\n"}, A100, None, None),
    "flash-attn with a wheel of its own": ({"Dockerfile": "FROM pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime\nRUN pip install flash-attn==2.7.4.post1 --no-build-isolation\n"}, A100_550, None, None),
    "flash-attn that is told to look at no nvcc": ({"Dockerfile": f"FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nENV FLASH_ATTENTION_SKIP_CUDA_BUILD=TRUE\nRUN apt-get update && apt-get install -y python3-pip\nRUN pip install torch==2.5.1 --index-url {CU}cu124\nRUN pip install flash-attn==2.7.4.post1 --no-build-isolation\n"}, A100_550, None, None),
    "an own wheel, then helpers": ({"Dockerfile": "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04 AS base\nRUN apt-get update && apt-get install -y python3-pip\nCOPY dist/ /dist/\nRUN pip install /dist/*.whl\nRUN pip install accelerate hf_transfer\n"}, A100_550, None, None),
    "a project's own base image": ({"Dockerfile": "ARG BASE=example/pytorch:th2.6.0-cu124-devel\nFROM ${BASE}\nRUN pip install deepspeed bitsandbytes accelerate\n"}, A100_550, None, None),
    # ------------------------------------------------ Python from conda in an image
    "conda's Python in an old distribution": ({"Dockerfile": "ARG CUDA=12.2.2\nFROM nvidia/cuda:${CUDA}-cudnn8-runtime-ubuntu20.04\nRUN wget -q https://repo.anaconda.com/miniconda/Miniconda3-latest-Linux-x86_64.sh && bash Miniconda3-latest-Linux-x86_64.sh -b -p /opt/conda\nENV PATH=/opt/conda/bin:$PATH\nRUN conda install --yes conda==24.11.1 pip python=3.11\nRUN pip3 install jax==0.4.26 jaxlib==0.4.26+cuda12.cudnn89 -f https://storage.googleapis.com/jax-releases/jax_cuda_releases.html\n"}, A100, None, None),
    "tensorflow-cpu beside jax": ({"Dockerfile": "FROM python:3.11-slim\nRUN pip install tensorflow-cpu==2.16.1 'jax[cuda12]==0.4.30'\n"}, A100, None, None),
    # ------------------------------------------------ repositories with files for other machines
    "files for other makers in a folder": ({(".",): "", "Dockerfile": f"FROM python:3.11-slim\nRUN pip install torch==2.6.0 --index-url {CU}cu124\n", "docker/Dockerfile.rocm": "FROM rocm/pytorch:latest\nRUN pip install x\n", "Dockerfile.cpu": f"FROM ubuntu:22.04\nRUN apt-get install -y python3-pip && pip install torch==2.4.0 --index-url {CU}cpu\n", "docs/requirements.txt": f"{CU}cpu/torch-2.1.0%2Bcpu-cp311-cp311-linux_x86_64.whl\n", "xpu/Dockerfile": f"FROM ubuntu:24.04\nRUN apt-get install -y python3-pip && pip install torch --index-url {CU}xpu\n"}, A100_550, None, None),
    "a requirements file that is a part of another": ({(".",): "", "requirements.txt": "accelerate==0.30.0\ntransformers\n", "requirements_linux.txt": f"--extra-index-url {CU}cu124\ntorch==2.5.1+cu124\n-r requirements.txt\n"}, A100_550 + PY, None, None),
    "a Dockerfile in its own folder, built from above": ({(".",): "", "docker/Dockerfile": "FROM python:3.11-slim\nCOPY . /app\nRUN pip install -r /app/requirements.txt\n", "docker/requirements.txt": "docker\n", "requirements.txt": "torch==2.6.0\n"}, A100_550, None, None),
    "CI on machines that are lent": ({".github/workflows/tests.yml": f"on: push\njobs:\n  tests:\n    strategy:\n      matrix:\n        os: [ubuntu-latest, windows-latest]\n    runs-on: ${{{{ matrix.os }}}}\n    steps:\n      - run: pip install torch --index-url {CU}cpu\n"}, A100_550, None, None),
    "CI that makes wheels": ({".github/workflows/publish.yml": f"on: push\njobs:\n  publish:\n    runs-on: ubuntu-22.04\n    steps:\n      - run: |\n          pip install ninja packaging\n          pip install torch --index-url {CU}cpu\n          python setup.py sdist\n"}, A100_550, None, None),
    "CI of macOS": ({".github/workflows/t.yml": "on: push\njobs:\n  mac:\n    runs-on: macos-14\n    steps:\n      - run: pip install torch torchvision\n"}, T4, None, None),
    # ------------------------------------------------ onnxruntime
    "onnxruntime taken away again": ({"Dockerfile": "FROM python:3.11-slim\nRUN pip install torch==2.5.1 onnxruntime \\\n && pip uninstall --yes onnxruntime \\\n && pip install onnxruntime-gpu==1.20.1\n"}, A100_550, None, None),
    "onnxruntime-gpu written over onnxruntime": ({"Dockerfile": "FROM python:3.11-slim\nRUN pip install torch==2.5.1 onnxruntime==1.20.1\nRUN pip install --no-deps onnxruntime-gpu==1.20.1\n"}, A100_550, None, None),
    # ------------------------------------------------ cog, images
    "cog takes the newest CUDA of the release": ({"cog.yaml": 'build:\n  gpu: true\n  python_version: "3.8"\n  python_packages:\n    - "torch==1.7.1"\n    - "torchvision==0.8.2"\npredict: "predict.py:Predictor"\n'}, A100, None, None),
    "cog with a CUDA": ({"cog.yaml": 'build:\n  gpu: true\n  cuda: "11.8"\n  python_version: "3.10"\n  python_packages:\n    - "torch==2.1.2"\n'}, ["gpu=Tesla T4", "driver=470.82.01", "os=linux", "arch=x86_64"], None, None),
    "stubs on the path of an image without a toolkit": ({"Dockerfile": "FROM nvidia/cuda:12.8.1-cudnn-runtime-ubuntu24.04\nENV LD_LIBRARY_PATH=/usr/local/app/lib:/usr/local/cuda/lib64/stubs:$LD_LIBRARY_PATH\nCMD x\n"}, A100, None, None),
    "micromamba and conda-forge on the machine": ({"environment.yml": "channels:\n  - conda-forge\ndependencies:\n  - python=3.10\n  - pytorch-gpu\n  - cuda-version=12.6\n"}, A100, None, None),
    "pip in conda with an index": ({"environment.yml": f"channels:\n  - conda-forge\ndependencies:\n  - python=3.10\n  - pip\n  - pip:\n    - --extra-index-url {CU}cu118\n    - torch==2.3.1+cu118\n"}, ["gpu=Tesla T4", "driver=470.82.01", "os=linux", "arch=x86_64", "glibc=2.31"], None, None),
    "the pytorch channel with pytorch-cuda": ({"environment.yaml": "channels:\n  - pytorch\n  - nvidia\n  - conda-forge\ndependencies:\n  - python=3.10\n  - pytorch=2.1.0\n  - pytorch-cuda=11.8\n  - torchvision=0.16.0\n"}, A100_550, None, None),
    "cudatoolkit of then": ({"environment.yaml": "channels:\n  - pytorch\n  - defaults\ndependencies:\n  - python=3.8.5\n  - cudatoolkit=11.3\n  - pytorch=1.11.0\n  - torchvision=0.12.0\n"}, A100_550, None, None),
    "compose with a device and capabilities": ({"compose.yml": "services:\n  app:\n    image: example/app:1\n    deploy:\n      resources:\n        reservations:\n          devices:\n            - driver: nvidia\n              count: all\n              capabilities: [gpu, compute, utility, video]\n"}, A100_550, None, None),
    "a helper service without a GPU": ({"compose.yml": "services:\n  download:\n    image: bash:alpine3.15\n    volumes: [\"./data:/data\"]\n  app:\n    image: pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime\n    deploy: {resources: {reservations: {devices: [{driver: nvidia, device_ids: ['0'], capabilities: [gpu]}]}}}\n"}, A100_550, None, None),
    "devel to build, runtime to run": ({"Dockerfile": f"FROM nvidia/cuda:12.4.1-devel-ubuntu22.04 AS build\nRUN apt-get update && apt-get install -y python3.11 python3-pip python3.11-venv\nRUN python3.11 -m venv /opt/venv\nENV PATH=/opt/venv/bin:$PATH\nRUN pip install torch==2.5.1 --index-url {CU}cu124\nRUN pip wheel --no-build-isolation -w /w ./kernels\nFROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nRUN apt-get update && apt-get install -y python3.11\nCOPY --from=build /opt/venv /opt/venv\n"}, A100_550, None, None),
    "a range that reaches before CUDA 13": ({"requirements.txt": "torch>=2.0,<2.9\ntorchvision\ntransformers\n"}, A100_550 + PY, None, None),
    "the lock of pip-tools": ({"requirements.txt": "torch==2.6.0 \\\n    --hash=sha256:" + "a" * 64 + " \\\n    --hash=sha256:" + "b" * 64 + "\n    # via -r requirements.in\nnvidia-cublas-cu12==12.4.5.8 ; platform_system == 'Linux' and platform_machine == 'x86_64'\n"}, A100_550 + PY, None, None),
    "a member of a workspace": ({(".",): "", "pyproject.toml": f'[project]\nname = "root"\nversion = "0"\nrequires-python = ">=3.11"\ndependencies = ["a"]\n[tool.uv.workspace]\nmembers = ["packages/*"]\n[tool.uv.sources]\ntorch = {{ index = "g" }}\na = {{ workspace = true }}\n[[tool.uv.index]]\nname = "g"\nurl = "{CU}cu126"\nexplicit = true\n', "packages/a/pyproject.toml": '[project]\nname = "a"\nversion = "0"\nrequires-python = ">=3.11"\ndependencies = ["torch"]\n'}, T4 + ["glibc=2.35"], None, None),
    "pixi's lock has the GPU build": ({("pixi.toml",): "", "pixi.toml": '[workspace]\nchannels = ["conda-forge"]\nplatforms = ["linux-64"]\n[system-requirements]\ncuda = "12"\n[dependencies]\npytorch = "*"\n', "pixi.lock": "version: 6\nenvironments:\n  default:\n    channels:\n    - url: https://conda.anaconda.org/conda-forge/\n    packages:\n      linux-64:\n      - conda: https://conda.anaconda.org/conda-forge/linux-64/pytorch-2.5.1-cuda126_py312_h1_301.conda\n"}, A100_550, None, None),
    "an image of Modal": ({"app.py": f'import modal\n\nimage = modal.Image.debian_slim(python_version="3.11").pip_install("torch==2.5.1", index_url="{CU}cu124")\napp = modal.App("x", image=image)\n'}, A100_550, None, None),
    "a manifest that Helm rendered": ({"out.yaml": "---\n# Source: c/templates/d.yaml\napiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n      - name: t\n        image: nvidia/cuda:12.4.1-runtime-ubuntu22.04\n        resources:\n          limits:\n            nvidia.com/gpu: 1\n"}, A100_550, None, None),
    "a Helm template is none yet": ({"d.yaml": "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Release.Name }}\nspec:\n  containers:\n  - image: nvidia/cuda:{{ .Values.tag }}\n"}, A100_550, None, None),
    "a Spack environment": ({"spack.yaml": "spack:\n  specs:\n  - py-torch+cuda cuda_arch=80\n  view: true\n"}, A100_550, None, None),
    "a static program in a bare image": ({"Dockerfile": "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04 AS build\nRUN cmake -S . -B b -DGGML_CUDA=ON -DGGML_STATIC=ON && cmake --build b\nFROM ubuntu:22.04\nCOPY --from=build /b/bin/server /usr/bin/server\n"}, A100_550, None, None),
    "a program with the libraries it needs": ({"Dockerfile": "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04 AS build\nRUN cmake -S . -B b -DGGML_CUDA=ON && cmake --build b\nFROM ubuntu:22.04\nCOPY --from=build /usr/local/cuda/lib64/libcublas.so.12 /usr/local/cuda/lib64/libcudart.so.12 /usr/lib/\nCOPY --from=build /b/bin/server /usr/bin/server\n"}, A100_550, None, None),
    "a program in a runtime image": ({"Dockerfile": "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04 AS build\nRUN cmake -S . -B b -DGGML_CUDA=ON && cmake --build b\nFROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nCOPY --from=build /b/bin/server /usr/bin/server\n"}, A100_550, None, None),
    "jax[cuda] of then": ({"Dockerfile": "FROM nvcr.io/nvidia/tensorflow:22.08-tf2-py3\nRUN pip install jax[cuda]==0.4.1 -f https://storage.googleapis.com/jax-releases/jax_cuda_releases.html\n"}, A100, None, None),
    "a CI job that hides the GPUs": ({".github/workflows/ci.yml": "on: push\njobs:\n  tests:\n    runs-on: [self-hosted, linux]\n    env:\n      CUDA_VISIBLE_DEVICES: \"\"\n    steps:\n      - run: pip install torch --index-url https://download.pytorch.org/whl/cpu\n"}, A100, None, None),
    "Windows takes its own index": ({"requirements.txt": f"--extra-index-url {CU}cu124\ntorch==2.6.0+cu124; sys_platform == 'win32'\ntorch==2.6.0; sys_platform != 'win32'\n"}, WIN, None, None),
}

BROKEN = {
    # ------------------------------------------------ base images that are gone or never were
    "10.2 was deleted": ({"Dockerfile": "# GPU\nFROM nvidia/cuda:10.2-cudnn7-runtime-ubuntu18.04\nRUN pip3 install torch~=1.8\n"}, V100[:1] + ["driver=535.183.01", "os=linux", "arch=x86_64"], "base-image-tag-missing", "Dockerfile:2"),
    "10.0 was deleted": ({"Dockerfile": "FROM nvidia/cuda:10.0-cudnn7-devel-ubuntu18.04\n"}, A100_550, "base-image-tag-missing", "Dockerfile:1"),
    "docker.io in front": ({"Containerfile": "FROM docker.io/nvidia/cuda:10.2-cudnn7-devel-ubuntu18.04\n"}, A100_550, "base-image-tag-missing", "Containerfile:1"),
    "two parts, by a build argument": ({"Dockerfile": "ARG PARENT_IMAGE=nvidia/cuda:11.1-cudnn8-devel-ubuntu20.04\nFROM $PARENT_IMAGE\n"}, A100_550, "base-image-tag-missing", "Dockerfile:2"),
    "two parts, base": ({"Dockerfile": "FROM nvidia/cuda:11.1-base-ubuntu20.04\nADD . /app\n"}, A100_550, "base-image-tag-missing", "Dockerfile:1"),
    "no tag at all": ({"Dockerfile": "FROM nvidia/cuda\nRUN apt-get update\n"}, A100_550, "base-image-tag-missing", "Dockerfile:1"),
    "9.2 was deleted": ({"Dockerfile": "FROM nvidia/cuda:9.2-devel-ubuntu18.04\n"}, A100_550, "base-image-tag-missing", "Dockerfile:1"),
    "cudnn9 is no label": ({"Dockerfile": "FROM nvidia/cuda:12.8.0-cudnn9-runtime-ubuntu22.04\n"}, R5090, "base-image-tag-missing", "Dockerfile:1"),
    # ------------------------------------------------ what an index does not hold
    "label on PyPI alone": ({"requirements.txt": "numpy\ntorch==2.0.1+cu118\n"}, A100_550 + PY, "wrong-index-tag", "requirements.txt:2"),
    "cu102 on PyPI alone": ({"requirements.txt": "torch==1.9.0+cu102\n"}, ["gpu=Tesla T4", "driver=470.82.01", "os=linux", "arch=x86_64", "python=3.8"], "wrong-index-tag", "requirements.txt:1"),
    "cu121 began with 2.1": ({"requirements.txt": f"--extra-index-url {CU}cu121\ntorch==2.0.1+cu121\n"}, A100_550 + PY, "wrong-index-tag", "requirements.txt:2"),
    "cu124 began with 2.4": ({"ci.yml": f"on: push\njobs:\n  unit:\n    runs-on: [self-hosted, nvidia, cu124]\n    steps:\n      - run: pip install -U torch==2.1.2 torchvision==0.16.2 --index-url {CU}cu124\n"}, V100[:1] + ["driver=550.54.15", "os=linux", "arch=x86_64", "python=3.10"], "wrong-index-tag", "ci.yml:6"),
    "labels of a lock that pip freezes": ({"requirements.txt": "filelock==3.13.1\ntorch==2.1.2+cu118\ntorchvision==0.16.2+cu118\n"}, A100_550 + PY, "wrong-index-tag", "requirements.txt:2"),
    "too new a Python for the label": ({"requirements.txt": f"--index-url {CU}cu117\ntorch==2.0.1+cu117\n"}, A100_550 + ["python=3.12"], "python-no-wheel", "requirements.txt:2"),
    # ------------------------------------------------ pins
    "torchvision of another torch": ({"requirements.txt": "torch==2.2.2\ntorchvision==0.16.2\n"}, A100_550 + PY, "torch-torchvision-mismatch", "requirements.txt:2"),
    "torchvision of another torch, labelled": ({"requirements.txt": f"--extra-index-url {CU}cu118\ntorch==2.2.1+cu118\ntorchvision==0.16.1+cu118\n"}, A100_550 + PY, "torch-torchvision-mismatch", "requirements.txt:3"),
    "a compatible release that is not": ({"requirements.txt": "torch~=1.10.0\ntorchvision==0.8.2\n"}, ["gpu=Tesla T4", "driver=470.82.01", "os=linux", "arch=x86_64", "python=3.8"], "torch-torchvision-mismatch", "requirements.txt:2"),
    # ------------------------------------------------ conda
    "no pytorch-cuda": ({"environment.yml": "channels:\n  - pytorch\n  - defaults\ndependencies:\n  - python=3.10\n  - pytorch::pytorch=1.13.0\n  - torchvision=0.14.0\n"}, A100_550, "cpu-only-conda-build", "environment.yml:6"),
    "cudatoolkit that chooses nothing any more": ({"environment.yml": "channels:\n  - pytorch\n  - defaults\ndependencies:\n  - nvidia::cudatoolkit=11.7\n  - python=3.10.8\n  - pytorch::pytorch=1.13.0\n"}, A100_550, "cpu-only-conda-build", "environment.yml:7"),
    "pixi without a declared CUDA": ({"pyproject.toml": '[project]\nname = "p"\nversion = "0"\nrequires-python = ">=3.11"\n[tool.pixi.workspace]\nchannels = ["https://prefix.dev/conda-forge"]\nplatforms = ["linux-64"]\n[tool.pixi.dependencies]\npytorch = ">=2.4.0,<=3.0.0"\n'}, A100_550, "cpu-only-conda-build", "pyproject.toml:9"),
    # ------------------------------------------------ GPUs
    "an old freeze on an A100": ({"requirements.txt": "gluonnlp>=0.8.3\ntorch==1.6.0\n"}, A100_550 + ["python=3.8"], "gpu-too-new-for-build", "requirements.txt:2"),
    "cu117 on an H100": ({"requirements.txt": f"--extra-index-url {CU}cu117\ntorch==1.13.1+cu117\n"}, H100 + ["python=3.9"], "gpu-too-new-for-build", "requirements.txt:2"),
    "cu124 on an RTX 5090": ({"Dockerfile": f"FROM nvcr.io/nvidia/cuda:12.4.1-runtime-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-pip\nRUN pip install torch==2.4.1 --index-url {CU}cu124\n"}, R5090, "gpu-too-new-for-build", "Dockerfile:3"),
    "cu126 of 2.6 on an RTX 5090": ({"Dockerfile": f"FROM python:3.12-slim\nRUN pip install --no-cache-dir torch==2.6.0 --index-url {CU}cu126\n"}, R5090, "gpu-too-new-for-build", "Dockerfile:2"),
    "an nvcc that does not know an H100": ({"Dockerfile": f"FROM nvidia/cuda:11.3.1-devel-ubuntu20.04\nRUN apt-get update && apt-get install -y python3.8 python3-pip\nRUN pip install torch==2.0.1 --index-url {CU}cu118\nRUN pip install mmcv-full==1.7.1\n"}, H100, "toolkit-too-old-for-gpu", "Dockerfile:1"),
    # ------------------------------------------------ containers
    "utility without compute": ({"docker-compose.yaml": "services:\n  api:\n    image: example/local-ai:gpu\n    deploy:\n      resources:\n        reservations:\n          devices:\n            - driver: nvidia\n              count: 1\n              capabilities: [gpu, utility]\n"}, R4090, "container-capability-missing", "docker-compose.yaml:10"),
    "video without compute": ({"docker-compose.cuda.yml": "services:\n  f:\n    image: example/f:1-cuda\n    deploy:\n      resources:\n        reservations:\n          devices:\n            - driver: nvidia\n              capabilities: [gpu, video]\n"}, R3060, "container-capability-missing", "docker-compose.cuda.yml:9"),
    "nvcc in a runtime image": ({"Dockerfile": "FROM nvidia/cuda:11.6.2-cudnn8-runtime-ubuntu20.04\nRUN apt-get update && apt-get install -y python3-pip\nRUN pip install torch==1.13.1 && pip install 'git+https://github.com/facebookresearch/detectron2.git'\n"}, A100_550, "nvcc-missing", "Dockerfile:3"),
    "flash-attn asks for nvcc in NVIDIA's runtime image": ({"Dockerfile": f"FROM nvidia/cuda:12.3.2-runtime-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-pip git\nRUN pip install torch==2.2.1 --index-url {CU}cu121\nRUN pip install flash-attn==2.5.6 --no-build-isolation\n"}, A100_550, "nvcc-missing", "Dockerfile:4"),
    "pixi's lock has the CPU's build": ({("pixi.toml",): "", "pixi.toml": '[workspace]\nchannels = ["conda-forge"]\nplatforms = ["linux-64"]\n[system-requirements]\ncuda = "12"\n[dependencies]\npytorch = "*"\n', "pixi.lock": "version: 6\nenvironments:\n  default:\n    channels:\n    - url: https://conda.anaconda.org/conda-forge/\n    packages:\n      linux-64:\n      - conda: https://conda.anaconda.org/conda-forge/linux-64/pytorch-2.5.1-cpu_generic_py312_h1_1.conda\n"}, A100_550, "cpu-only-conda-build", "pixi.lock:8"),
    "Modal, a new torch on an old driver": ({"app.py": 'import modal\nimage = (\n    modal.Image.debian_slim(python_version="3.11")\n    .pip_install(\n        "numpy",\n        "torch==2.12.0",\n    )\n)\n'}, T4, "driver-too-old", "app.py:6"),
    "Modal, an image that is not there": ({"app.py": 'import modal\nimage = modal.Image.from_registry("nvidia/cuda:12.1-devel-ubuntu22.04", add_python="3.11")\n'}, A100_550, "base-image-tag-missing", "app.py:2"),
    "a program without its libraries": ({"Dockerfile": "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04 AS build\nRUN cmake -S . -B b -DGGML_CUDA=ON && cmake --build b\nFROM debian:12-slim\nCOPY --from=build /b/bin/whisper-server /usr/bin/\n"}, A100_550, "missing-cuda-runtime-lib", "Dockerfile:4"),
    "a tag out of a shell's words": ({"Dockerfile": "FROM nvidia/cuda:12.6.3-devel-ubuntu22.04\nENV V=12.7.0\nRUN apt-get update && apt-get install -y python3-pip\nRUN pip install torch==2.6.0 --index-url https://download.pytorch.org/whl/cu$(echo $V | cut -d. -f1,2 | tr -d .)\n"}, A100_550, "wrong-index-tag", "Dockerfile:4"),
    "a tag with its dot": ({"Dockerfile": "FROM python:3.11-slim\nARG V=12.4.1\nRUN pip install torch==2.6.0 --index-url https://download.pytorch.org/whl/cu${V%.*}\n"}, A100_550, "wrong-index-tag", "Dockerfile:3"),
    "onnxruntime-gpu on cuDNN 8": ({"Dockerfile": "FROM nvidia/cuda:12.2.2-cudnn8-runtime-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-pip\nRUN pip install onnxruntime-gpu==1.19.2\n"}, A100_550, "cudnn-major-mismatch", "Dockerfile:3"),
}

if __name__ == "__main__":
    sys.exit(main({**RIGHT, **BROKEN}))
