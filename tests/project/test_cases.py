#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release asan
"""Project files of our own making: which name, which line, and that right files are left alone.

A case: (files, assume, root cause or None, "FILE:LINE" or None). The first file is named on the command
line unless a tuple of names comes first.
"""
import json
import os
import subprocess
import sys
import tempfile

CUVET = os.environ["CUVET"]
T4 = ["gpu=Tesla T4", "driver=535.183.01", "os=linux", "arch=x86_64"]
A100 = ["gpu=NVIDIA A100-SXM4-80GB", "driver=550.54.15", "os=linux", "arch=x86_64"]
R4090 = ["gpu=NVIDIA GeForce RTX 4090", "driver=570.133.07", "os=linux", "arch=x86_64"]
R5090 = ["gpu=NVIDIA GeForce RTX 5090", "driver=580.95.05", "os=linux", "arch=x86_64"]
R3060 = ["gpu=NVIDIA GeForce RTX 3060", "driver=535.183.01", "os=linux", "arch=x86_64"]
V100 = ["gpu=Tesla V100-SXM2-16GB", "driver=580.95.05", "os=linux", "arch=x86_64"]
PY = ["glibc=2.35", "python=3.11"]
WIN = ["gpu=NVIDIA GeForce RTX 4070", "driver=576.02", "os=windows", "arch=x86_64", "python=3.11"]
UV = '[project]\nname = "p"\nversion = "0"\nrequires-python = ">=3.11"\n'

CASES = {
    # ---------------------------------------------------------------- base images
    "cuDNN 8 label ended with 12.2.2": ({"Dockerfile": "FROM nvidia/cuda:12.4.1-cudnn8-devel-ubuntu22.04\n"}, A100, "base-image-tag-missing", "Dockerfile:1"),
    "two-part tag": ({"Dockerfile": "FROM nvidia/cuda:12.1-runtime-ubuntu22.04\n"}, A100, "base-image-tag-missing", "Dockerfile:1"),
    "no distribution in the tag": ({"Dockerfile": "FROM nvidia/cuda:12.4.1-devel\n"}, A100, "base-image-tag-missing", "Dockerfile:1"),
    "no cuDNN for base": ({"Dockerfile": "FROM nvidia/cuda:12.4.1-cudnn-base-ubuntu22.04\n"}, A100, "base-image-tag-missing", "Dockerfile:1"),
    "ARG with default": ({"Dockerfile": "ARG V=11.0\nARG OS=ubuntu20.04\nFROM nvidia/cuda:${V}-base-${OS}\n"}, A100, "base-image-tag-missing", "Dockerfile:3"),
    "ARG given from outside": ({"Dockerfile": "ARG V=11.0\nFROM nvidia/cuda:${V}-base-ubuntu22.04\n"}, A100 + ["arg.V=12.4.1"], None, None),
    "nvcr.io has the same tags": ({"Containerfile": "FROM nvcr.io/nvidia/cuda:12.3-devel-ubuntu22.04\n"}, A100, "base-image-tag-missing", "Containerfile:1"),
    "a builder's tag counts too": ({"Dockerfile": "FROM nvidia/cuda:12.2.0-cudnn8-devel-ubuntu22.04 AS b\nRUN make\nFROM ubuntu:22.04\nCOPY --from=b /x /x\n"}, A100, "base-image-tag-missing", "Dockerfile:1"),
    "tag in Kubernetes": ({"pod.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  containers:\n    - name: c\n      image: nvidia/cuda:11.0-base\n      resources:\n        limits:\n          nvidia.com/gpu: 1\n"}, A100, "base-image-tag-missing", "pod.yaml:7"),
    "tag in devcontainer.json": ({"devcontainer.json": '{\n  // GPU\n  "image": "nvidia/cuda:latest",\n  "runArgs": ["--gpus", "all"]\n}\n'}, A100, "base-image-tag-missing", "devcontainer.json:3"),
    "tag in an apptainer definition": ({"c.def": "Bootstrap: docker\nFrom: nvidia/cuda:10.1-base-ubuntu18.04\n\n%post\n  apt-get update\n"}, A100, "base-image-tag-missing", "c.def:2"),
    "digest is not judged": ({"Dockerfile": "FROM nvidia/cuda@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"}, A100, None, None),
    "newer than the table is not judged": ({"Dockerfile": "FROM nvidia/cuda:13.4.9-devel-ubuntu24.04\n"}, ["gpu=NVIDIA GeForce RTX 5090", "driver=615.71.09"], None, None),
    "image demands more than a GeForce host has": ({"Dockerfile": "FROM nvidia/cuda:12.9.1-runtime-ubuntu22.04\nCMD x\n"}, R3060, "image-requires-newer-driver", "Dockerfile:1"),
    "a data-centre host passes by its branch": ({"Dockerfile": "FROM nvidia/cuda:12.8.1-runtime-ubuntu22.04\nCMD x\n"}, T4, None, None),
    "check switched off": ({"Dockerfile": "FROM nvidia/cuda:12.6.3-runtime-ubuntu22.04\nENV NVIDIA_DISABLE_REQUIRE=1\nCMD x\n"}, R3060, None, None),
    "compat of the image serves a data-centre host": ({"Dockerfile": "FROM nvidia/cuda:13.0.2-runtime-ubuntu22.04\nRUN apt-get install -y python3-pip\nRUN pip install torch==2.11.0 --index-url https://download.pytorch.org/whl/cu130\n"}, T4, None, None),
    # ---------------------------------------------------------------- musl, glibc, Python
    "alpine": ({"Dockerfile": "FROM python:3.11-alpine\nRUN pip install torch==2.5.1\n"}, A100, "musl-no-wheel", "Dockerfile:1"),
    "alpine without wheels of glibc": ({"Dockerfile": "FROM python:3.11-alpine\nRUN pip install flask\n"}, A100, None, None),
    "glibc of centos 7": ({"Dockerfile": "FROM nvidia/cuda:11.8.0-runtime-centos7\nRUN yum install -y python3.11\nRUN python3.11 -m pip install torch==2.7.1 --index-url https://download.pytorch.org/whl/cu118\n"}, A100, "glibc-too-old", "Dockerfile:3"),
    "Python of the image": ({"Dockerfile": "FROM python:3.13-slim\nRUN pip install torch==2.4.1\n"}, A100, "python-no-wheel", "Dockerfile:2"),
    "Python from apt": ({"Dockerfile": "FROM nvidia/cuda:12.1.1-runtime-ubuntu20.04\nRUN apt-get update && apt-get install -y python3-pip\nRUN pip3 install torch==2.5.1\n"}, A100, "python-no-wheel", "Dockerfile:3"),
    "poetry's Python range": ({"pyproject.toml": '[tool.poetry]\nname = "x"\n[tool.poetry.dependencies]\npython = "^3.13"\ntorch = "2.3.1"\n'}, A100 + ["glibc=2.35"], "python-no-wheel", "pyproject.toml:5"),
    "Pipfile's Python": ({"Pipfile": '[packages]\ntorch = "==2.1.2"\n[requires]\npython_version = "3.12"\n'}, A100 + ["glibc=2.35"], "python-no-wheel", "Pipfile:2"),
    # ---------------------------------------------------------------- indexes
    "local label without an index": ({"requirements.txt": "numpy\ntorch==2.1.0+cu121\n"}, A100 + PY, "wrong-index-tag", "requirements.txt:2"),
    "label on another index": ({"requirements.txt": "--index-url https://download.pytorch.org/whl/cu118\ntorch==2.1.0+cu121\n"}, A100 + PY, "wrong-index-tag", "requirements.txt:2"),
    "tag that never was": ({"requirements.txt": "--index-url https://download.pytorch.org/whl/cu127\ntorch==2.6.0\n"}, A100 + PY, "wrong-index-tag", "requirements.txt:2"),
    "continued RUN": ({"Dockerfile": "FROM python:3.11-slim\nRUN apt-get update \\\n && apt-get install -y git \\\n && pip install \\\n      torch==2.8.0 \\\n      --index-url=https://download.pytorch.org/whl/cu121\n"}, A100, "wrong-index-tag", "Dockerfile:5"),
    "heredoc": ({"Dockerfile": "# syntax=docker/dockerfile:1\nFROM python:3.11-slim\nRUN <<EOF\npip install -U pip\npip install torch==2.8.0 -i https://download.pytorch.org/whl/cu121\nEOF\n"}, A100, "wrong-index-tag", "Dockerfile:5"),
    "uv pip in an old backend": ({"Dockerfile": "FROM python:3.11-slim\nRUN pip install uv\nRUN uv pip install --system --torch-backend=cu118 torch==2.8.0\n"}, A100, "wrong-index-tag", "Dockerfile:3"),
    "PIP_EXTRA_INDEX_URL": ({"Dockerfile": "FROM python:3.11-slim\nENV PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cu121\nRUN pip install torch==2.5.1\n"}, T4, None, None),
    "uv first index": ({"pyproject.toml": UV + 'dependencies = ["torch"]\n[[tool.uv.index]]\nurl = "https://download.pytorch.org/whl/cu126"\n'}, T4 + ["glibc=2.35"], None, None),
    "pip takes the highest": ({"requirements.txt": "--extra-index-url https://download.pytorch.org/whl/cu126\ntorch\n"}, R3060 + PY, "driver-too-old", "requirements.txt:2"),
    "markers choose": ({"requirements.txt": "torch==2.12.0 ; sys_platform == 'win32'\ntorch==2.8.0 ; sys_platform == 'linux'\n"}, T4 + PY, None, None),
    "CPU index": ({"requirements.txt": "--index-url https://download.pytorch.org/whl/cpu\ntorch==2.5.1\n"}, A100 + PY, "cpu-only-wheel", "requirements.txt:2"),
    "+cpu label": ({"requirements.txt": "-f https://download.pytorch.org/whl/torch_stable.html\ntorch==2.0.1+cpu\n"}, A100 + PY, "cpu-only-wheel", "requirements.txt:2"),
    "Windows from PyPI": ({"requirements.txt": "torch==2.5.1\n"}, WIN, "cpu-only-wheel", "requirements.txt:1"),
    "backend auto on a builder": ({"Dockerfile": "FROM python:3.11-slim\nRUN pip install uv && uv pip install --system torch --torch-backend auto\n"}, A100, "cpu-only-wheel", "Dockerfile:2"),
    "ARM server from PyPI": ({"requirements.txt": "torch==2.6.0\n"}, ["gpu=NVIDIA GH200 480GB", "driver=550.54.15", "os=linux", "arch=aarch64"] + PY, "cpu-only-platform", "requirements.txt:1"),
    "a wheel's address": ({"requirements.txt": "https://download.pytorch.org/whl/cu117/torch-2.0.1%2Bcu117-cp310-cp310-linux_x86_64.whl\n"}, R5090 + ["python=3.10"], "gpu-too-new-for-build", "requirements.txt:1"),
    # ---------------------------------------------------------------- driver and GPU
    "newest is CUDA 13": ({"requirements.txt": "transformers\ntorch\n"}, T4 + PY, "driver-too-old", "requirements.txt:2"),
    "brought by another package": ({"requirements.txt": "numpy\nsentence-transformers\n"}, T4 + PY, "driver-too-old", "requirements.txt:2"),
    "requirements followed from COPY": ({("Dockerfile",): "", "Dockerfile": "FROM python:3.11-slim\nWORKDIR /app\nCOPY requirements.txt /app/\nRUN pip install -r requirements.txt\n", "requirements.txt": "flask\ntorch==2.12.0\n"}, T4, "driver-too-old", "requirements.txt:2"),
    "requirements of a sub folder": ({("Dockerfile",): "", "Dockerfile": "FROM python:3.11-slim\nCOPY . /app\nRUN pip install -r /app/req/gpu.txt\n", "req/gpu.txt": "torch==2.12.0\n"}, T4, "driver-too-old", "gpu.txt:1"),
    "too old a GPU": ({"requirements.txt": "torch==2.8.0\n"}, ["gpu=NVIDIA GeForce GTX 1080 Ti", "driver=570.133.07", "os=linux", "arch=x86_64"] + PY, "gpu-too-old-for-build", "requirements.txt:1"),
    "too new a GPU in an image": ({"Dockerfile": "FROM pytorch/pytorch:2.3.1-cuda12.1-cudnn8-runtime\n"}, R5090, "gpu-too-new-for-build", "Dockerfile:1"),
    "compose image": ({"compose.yml": "services:\n  a:\n    image: pytorch/pytorch:2.4.0-cuda12.1-cudnn9-runtime\n    gpus: all\n"}, R5090, "gpu-too-new-for-build", "compose.yml:3"),
    "poetry lock": ({("pyproject.toml",): "", "pyproject.toml": '[tool.poetry]\nname = "x"\n[tool.poetry.dependencies]\npython = "^3.11"\ntorch = ">=2.5"\n', "poetry.lock": '[[package]]\nname = "torch"\nversion = "2.12.0"\n'}, T4 + PY, "driver-too-old", "poetry.lock:3"),
    "lock within the driver": ({("pyproject.toml",): "", "pyproject.toml": '[tool.poetry]\nname = "x"\n[tool.poetry.dependencies]\npython = "^3.11"\ntorch = ">=2.5"\n', "poetry.lock": '[[package]]\nname = "torch"\nversion = "2.9.1"\n'}, T4 + PY, None, None),
    "pylock": ({"pylock.toml": 'lock-version = "1.0"\n[[packages]]\nname = "torch"\nversion = "2.12.0"\n'}, T4 + PY, "driver-too-old", "pylock.toml:4"),
    "constraint from a variable": ({("Dockerfile",): "", "Dockerfile": "FROM python:3.11-slim\nCOPY c.txt /c.txt\nENV PIP_CONSTRAINT=/c.txt\nRUN pip install torch\n", "c.txt": "torch==2.8.0\n"}, T4, None, None),
    "setup.cfg": ({"setup.cfg": "[metadata]\nname = x\n[options]\ninstall_requires =\n    numpy\n    torch==2.12.0\n"}, T4 + PY, "driver-too-old", "setup.cfg:6"),
    "setup.py": ({"setup.py": "from setuptools import setup\nsetup(name='x', install_requires=[\n    'numpy',\n    'torch==2.12.0',\n])\n"}, T4 + PY, "driver-too-old", "setup.py:4"),
    "GitHub step": ({"ci.yml": "name: ci\non: push\njobs:\n  gpu:\n    runs-on: self-hosted\n    steps:\n      - uses: actions/checkout@v4\n      - run: |\n          pip install -U pip\n          pip install torch==2.12.0\n"}, T4 + PY, "driver-too-old", "ci.yml:10"),
    "GitLab step": ({".gitlab-ci.yml": "test:\n  image: python:3.11\n  script:\n    - pip install torch==2.12.0\n"}, T4, "driver-too-old", ".gitlab-ci.yml:4"),
    "cog": ({"cog.yaml": "build:\n  gpu: true\n  python_version: \"3.11\"\n  python_packages:\n    - torch==2.12.0\n"}, T4, "driver-too-old", "cog.yaml:5"),
    "jax for CUDA 13": ({"requirements.txt": "jax[cuda13]\n"}, R4090 + PY, "driver-too-old", "requirements.txt:1"),
    "cupy for CUDA 13": ({"requirements.txt": "cupy-cuda13x\n"}, R4090 + PY, "driver-too-old", "requirements.txt:1"),
    "tensorflow on an old driver": ({"requirements.txt": "tensorflow[and-cuda]==2.16.1\n"}, ["gpu=Tesla T4", "driver=470.82.01", "os=linux", "arch=x86_64"] + PY, "driver-too-old", "requirements.txt:1"),
    "PDM source": ({"pyproject.toml": UV + 'dependencies = ["torch==2.7.1"]\n[[tool.pdm.source]]\nname = "torch"\nurl = "https://download.pytorch.org/whl/cu126"\ninclude_packages = ["torch*"]\n'}, T4 + ["glibc=2.35"], None, None),
    # ---------------------------------------------------------------- packages against each other
    "torchaudio of another torch": ({"requirements.txt": "torch==2.4.0\ntorchaudio==2.3.0\n"}, A100 + PY, "torch-torchvision-mismatch", "requirements.txt:2"),
    "vllm wants another torch": ({"requirements.txt": "vllm==0.6.4\ntorch==2.4.0\n"}, A100 + PY, "conflicting-pins", "requirements.txt:1"),
    "cuDNN pinned beside torch": ({"requirements.txt": "torch==2.4.1\nnvidia-cudnn-cu12==9.5.0.50\n"}, A100 + PY, "conflicting-pins", "requirements.txt:2"),
    "the right cuDNN": ({"requirements.txt": "torch==2.4.1\nnvidia-cudnn-cu12==9.1.0.70\n"}, A100 + PY, None, None),
    "vllm replaces torch": ({"Dockerfile": "FROM python:3.12-slim\nRUN pip install torch==2.8.0 --index-url https://download.pytorch.org/whl/cu126\nRUN pip install vllm==0.28.0\n"}, T4, "torch-replaced-by-dependency", "Dockerfile:3"),
    "torchvision replaces torch": ({"Dockerfile": "FROM python:3.12-slim\nRUN pip install torch==2.7.1 --index-url https://download.pytorch.org/whl/cu118\nRUN pip install torchvision\n"}, ["gpu=Tesla T4", "driver=470.82.01", "os=linux", "arch=x86_64"], "torch-replaced-by-dependency", "Dockerfile:3"),
    "xformers goes with torch": ({"Dockerfile": "FROM python:3.11-slim\nRUN pip install torch==2.7.1 --index-url https://download.pytorch.org/whl/cu126\nRUN pip install xformers==0.0.31\n"}, T4, None, None),
    "accelerate leaves torch alone": ({"Dockerfile": "FROM python:3.11-slim\nRUN pip install torch==2.7.1 --index-url https://download.pytorch.org/whl/cu126\nRUN pip install accelerate transformers\n"}, T4, None, None),
    "CPU wheel on Windows by a later install": ({"ci.yml": "on: push\njobs:\n  a:\n    runs-on: windows-latest\n    steps:\n      - run: pip install torch==2.6.0 --index-url https://download.pytorch.org/whl/cu124\n      - run: pip install torchaudio==2.5.1\n"}, WIN, "cpu-only-replaced-by-dependency", "ci.yml:7"),
    "bitsandbytes before its CUDA": ({"requirements.txt": "--extra-index-url https://download.pytorch.org/whl/cu128\ntorch==2.8.0+cu128\nbitsandbytes==0.44.1\n"}, R4090 + PY, "extension-no-build-for-cuda", "requirements.txt:3"),
    "flash-attn on Turing": ({"requirements.txt": "torch==2.5.1\nflash-attn==2.7.4.post1\n"}, T4 + PY, "gpu-feature-unsupported", "requirements.txt:2"),
    "jax without an extra": ({"requirements.txt": "jax==0.5.3\njaxlib==0.5.3\n"}, A100 + PY, "jax-cpu-only", "requirements.txt:1"),
    "tensorflow-gpu": ({"pyproject.toml": UV + 'dependencies = [\n  "numpy",\n  "tensorflow-gpu",\n]\n'}, A100 + ["glibc=2.35"], "removed-package", "pyproject.toml:7"),
    "an old tensorflow-gpu": ({"requirements.txt": "tensorflow-gpu==2.10.1\n"}, A100 + ["glibc=2.31", "python=3.9"], None, None),
    "placeholder of CUDA 13": ({"requirements.txt": "nvidia-cublas-cu13\n"}, R5090 + PY, "removed-package", "requirements.txt:1"),
    "tensorflow on Windows": ({"requirements.txt": "tensorflow==2.15.0\n"}, WIN, "tf-windows-no-gpu", "requirements.txt:1"),
    "cuDNN 9 for cuDNN 8": ({"Dockerfile": "FROM nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04\nRUN pip3 install tensorflow==2.15.0\n"}, A100, "cudnn-major-mismatch", "Dockerfile:2"),
    "tensorflow that brings its own": ({"Dockerfile": "FROM python:3.11-slim\nRUN pip install 'tensorflow[and-cuda]==2.17.0'\n"}, A100, None, None),
    "onnxruntime of CUDA 11 in CUDA 12": ({"Dockerfile": "FROM nvidia/cuda:12.2.2-cudnn8-runtime-ubuntu22.04\nRUN pip3 install onnxruntime-gpu==1.17.1\n"}, A100, "missing-cuda-runtime-lib", "Dockerfile:2"),
    "rocm on NVIDIA": ({"requirements.txt": "--index-url https://download.pytorch.org/whl/rocm6.2\ntorch==2.5.1\n"}, A100 + PY, "rocm-build-on-nvidia", "requirements.txt:2"),
    # ---------------------------------------------------------------- conda
    "cpuonly": ({"environment.yml": "channels: [pytorch]\ndependencies:\n  - python=3.10\n  - pytorch=2.1.2\n  - cpuonly\n"}, A100 + ["glibc=2.35"], "cpu-only-conda-build", "environment.yml:5"),
    "beyond the channel's end": ({"environment.yml": "channels:\n  - pytorch\n  - nvidia\ndependencies:\n  - pytorch=2.7.0\n  - pytorch-cuda=12.4\n"}, A100 + ["glibc=2.35"], "channel-has-no-release", "environment.yml:5"),
    "conda in a RUN sees no driver": ({"Dockerfile": "FROM condaforge/miniforge3\nRUN conda install -y pytorch\n"}, A100, "cpu-only-conda-build", "Dockerfile:2"),
    "conda told of CUDA": ({"Dockerfile": "FROM condaforge/miniforge3\nENV CONDA_OVERRIDE_CUDA=12.4\nRUN conda install -y pytorch\n"}, A100, None, None),
    "conda-forge on a machine": ({"env-gpu.yaml": "channels: [conda-forge]\ndependencies:\n  - python=3.11\n  - pytorch-gpu\n"}, A100 + ["glibc=2.35"], None, None),
    "pip section": ({"environment.yml": "channels: [conda-forge]\ndependencies:\n  - python=3.11\n  - pip\n  - pip:\n      - numpy\n      - torch==2.12.0\n"}, T4 + ["glibc=2.35"], "driver-too-old", "environment.yml:7"),
    "cpu build string": ({"environment.yml": "channels: [conda-forge]\ndependencies:\n  - pytorch=2.6.0=cpu_generic_py311_h0\n"}, A100 + ["glibc=2.35"], "cpu-only-conda-build", "environment.yml:3"),
    "pixi with CUDA": ({"pixi.toml": '[workspace]\nchannels = ["conda-forge"]\nplatforms = ["linux-64"]\n[system-requirements]\ncuda = "12"\n[dependencies]\npytorch-gpu = "*"\n'}, A100 + ["glibc=2.35"], None, None),
    # ---------------------------------------------------------------- containers
    "capabilities without compute": ({"Dockerfile": "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nENV NVIDIA_DRIVER_CAPABILITIES=graphics,utility\n"}, A100, "container-capability-missing", "Dockerfile:2"),
    "capabilities of a device request": ({"compose.yaml": "services:\n  a:\n    image: nvidia/cuda:12.4.1-runtime-ubuntu22.04\n    deploy:\n      resources:\n        reservations:\n          devices:\n            - driver: nvidia\n              count: 1\n              capabilities: [gpu, utility]\n"}, A100, "container-capability-missing", "compose.yaml:10"),
    "video is added": ({"Dockerfile": "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nENV NVIDIA_DRIVER_CAPABILITIES=compute,video,utility\n"}, A100, None, None),
    "index of the host inside": ({"compose.yaml": "services:\n  a:\n    image: nvidia/cuda:12.4.1-runtime-ubuntu22.04\n    environment:\n      - CUDA_VISIBLE_DEVICES=1\n    deploy:\n      resources:\n        reservations:\n          devices:\n            - {driver: nvidia, device_ids: ['1'], capabilities: [gpu]}\n"}, A100, "visible-devices-wrong", "compose.yaml:5"),
    "devices hidden": ({"Dockerfile": "FROM pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime\nENV CUDA_VISIBLE_DEVICES=-1\n"}, A100, "visible-devices-wrong", "Dockerfile:2"),
    "no GPU asked for": ({"docker-compose.yml": "services:\n  a:\n    image: nvidia/cuda:12.4.1-runtime-ubuntu22.04\n"}, A100, "container-no-gpu-requested", "docker-compose.yml:3"),
    "driver inside": ({"Dockerfile": "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nRUN apt-get update && apt-get install -y nvidia-driver-535\n"}, A100, "container-stale-driver-libs", "Dockerfile:2"),
    "run file": ({"Dockerfile": "FROM ubuntu:22.04\nRUN wget https://x/NVIDIA-Linux-x86_64-535.54.03.run && sh NVIDIA-Linux-x86_64-535.54.03.run --silent --no-kernel-module\n"}, A100, "container-stale-driver-libs", "Dockerfile:2"),
    "toolkit alone is fine": ({"Dockerfile": "FROM ubuntu:22.04\nRUN apt-get install -y cuda-toolkit-12-4 libcudnn9-cuda-12\n"}, A100, None, None),
    "stubs": ({"Dockerfile": "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nENV LD_LIBRARY_PATH=/usr/local/cuda/lib64/stubs:$LD_LIBRARY_PATH\n"}, A100, "libcuda-stub-loaded", "Dockerfile:2"),
    # ---------------------------------------------------------------- compiling
    "cmake in a runtime image": ({"Dockerfile": "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nRUN cmake -B b -DGGML_CUDA=ON && cmake --build b\n"}, A100, "nvcc-missing", "Dockerfile:2"),
    "built in one, run in another": ({"Dockerfile": "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04 AS b\nRUN cmake -B b -DGGML_CUDA=ON\nFROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nCOPY --from=b /b/x /x\n"}, A100, None, None),
    "arch list without the GPU": ({"Dockerfile": "FROM pytorch/pytorch:2.5.1-cuda12.4-cudnn9-devel\nENV TORCH_CUDA_ARCH_LIST=\"8.0;8.6\"\nCOPY ext /ext\nRUN pip install --no-build-isolation /ext\n"}, ["gpu=NVIDIA H100 80GB HBM3", "driver=550.54.15", "os=linux", "arch=x86_64"], "extension-missing-gpu-arch", "Dockerfile:2"),
    "nvcc that does not know the GPU": ({"Dockerfile": "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN nvcc -o x x.cu\n"}, R5090, "toolkit-too-old-for-gpu", "Dockerfile:1"),
    "another major than torch's": ({"Dockerfile": "FROM nvidia/cuda:11.8.0-devel-ubuntu22.04\nRUN pip install torch==2.5.1\nCOPY ext /ext\nRUN pip install --no-build-isolation /ext\n"}, A100 + ["python=3.10"], "toolkit-torch-mismatch", "Dockerfile:1"),
    "Python of conda for its pip section": ({"environment.yml": "channels: [conda-forge]\ndependencies:\n  - python=3.13\n  - pip:\n    - torch==2.4.0\n"}, A100 + ["glibc=2.35"], "python-no-wheel", "environment.yml:5"),
    # ---------------------------------------------------------------- files that are right
    "a package that holds torch low": ({"requirements.txt": "fastai==2.7.18\n"}, T4 + PY, None, None),
    "a range of vllm": ({"requirements.txt": "vllm>=0.8,<0.9\n"}, A100 + PY, None, None),
    "a range of torchvision": ({"requirements.txt": "torchvision<0.21\n"}, T4 + PY, None, None),
    'builder with nvcc, runtime that runs': ({'Dockerfile': 'FROM nvidia/cuda:12.6.3-cudnn-devel-ubuntu24.04 AS builder\nRUN apt-get update && apt-get install -y python3-venv\nRUN python3 -m venv /opt/venv && /opt/venv/bin/pip install torch==2.7.1 --index-url https://download.pytorch.org/whl/cu126 && /opt/venv/bin/pip install flash-attn --no-build-isolation\nFROM nvidia/cuda:12.6.3-runtime-ubuntu24.04\nCOPY --from=builder /opt/venv /opt/venv\nENV PATH=/opt/venv/bin:$PATH\n'}, ['gpu=NVIDIA A100-SXM4-80GB', 'driver=550.54.15', 'os=linux', 'arch=x86_64'], None, None),
    'a data base beside a GPU service': ({'docker-compose.yml': 'services:\n  db:\n    image: postgres:16\n  web:\n    image: nginx\n  gpu:\n    image: vllm/vllm-openai:v0.10.0\n    deploy:\n      resources:\n        reservations:\n          devices:\n            - capabilities: [gpu]\n'}, ['gpu=NVIDIA A100-SXM4-80GB', 'driver=550.54.15', 'os=linux', 'arch=x86_64'], None, None),
    'uv sources by marker': ({'pyproject.toml': '[project]\nname="x"\nversion="0"\nrequires-python=">=3.10"\ndependencies=["torch>=2.6","torchvision"]\n[tool.uv.sources]\ntorch=[{index="cu124",marker="sys_platform == \'linux\'"},{index="cpu",marker="sys_platform == \'darwin\'"}]\ntorchvision=[{index="cu124",marker="sys_platform == \'linux\'"}]\n[[tool.uv.index]]\nname="cu124"\nurl="https://download.pytorch.org/whl/cu124"\nexplicit=true\n[[tool.uv.index]]\nname="cpu"\nurl="https://download.pytorch.org/whl/cpu"\nexplicit=true\n'}, ['gpu=Tesla T4', 'driver=535.183.01', 'os=linux', 'arch=x86_64'], None, None),
    "packages that leave the image's torch alone": ({'Dockerfile': 'FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime\nRUN pip install --no-cache-dir transformers accelerate bitsandbytes peft\n'}, ['gpu=NVIDIA A100-SXM4-80GB', 'driver=550.54.15', 'os=linux', 'arch=x86_64'], None, None),
    'an image that no table knows': ({'Dockerfile': 'FROM nvcr.io/nvidia/pytorch:24.05-py3\nRUN pip install transformers\n'}, ['gpu=NVIDIA A100-SXM4-80GB', 'driver=550.54.15', 'os=linux', 'arch=x86_64'], None, None),
    'xformers and its torch': ({'requirements.txt': 'xformers==0.0.29.post3\ntorch==2.6.0\ntorchvision==0.21.0\ntorchaudio==2.6.0\n'}, ['gpu=NVIDIA A100-SXM4-80GB', 'driver=550.54.15', 'os=linux', 'arch=x86_64', 'glibc=2.35', 'python=3.11'], None, None),
    'an index behind the line that needs it': ({'requirements.txt': 'torch==2.5.1+cu118\n--extra-index-url https://download.pytorch.org/whl/cu118\n'}, ['gpu=Tesla T4', 'driver=470.82.01', 'os=linux', 'arch=x86_64', 'glibc=2.35', 'python=3.11'], None, None),
    'PTX of an arch list': ({'Dockerfile': 'FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nENV TORCH_CUDA_ARCH_LIST="7.0 7.5 8.0 8.6+PTX"\nRUN pip3 install torch==2.5.1 --index-url https://download.pytorch.org/whl/cu124\nCOPY . /s\nRUN pip3 install --no-build-isolation /s/ext\n'}, ['gpu=NVIDIA H100 80GB HBM3', 'driver=550.54.15', 'os=linux', 'arch=x86_64', 'python=3.10'], None, None),
    'a range on two indexes': ({'Dockerfile': 'FROM python:3.11-slim\nRUN pip install "torch>=2.6,<2.8" torchvision --extra-index-url https://download.pytorch.org/whl/cu126\n'}, ['gpu=Tesla T4', 'driver=535.183.01', 'os=linux', 'arch=x86_64'], None, None),
    'an ARM platform': ({'Dockerfile': 'FROM --platform=linux/arm64 python:3.11-slim\nRUN pip install torch==2.9.1 --index-url https://download.pytorch.org/whl/cu130\n'}, ['gpu=NVIDIA GH200 480GB', 'driver=580.95.05', 'os=linux', 'arch=aarch64'], None, None),
    'a lock of another index': ({'poetry.lock': '[[package]]\nname = "torch"\nversion = "2.6.0+cu124"\n[package.source]\ntype = "legacy"\nurl = "https://download.pytorch.org/whl/cu124"\nreference = "pytorch"\n'}, ['gpu=NVIDIA A100-SXM4-80GB', 'driver=550.54.15', 'os=linux', 'arch=x86_64', 'glibc=2.35', 'python=3.11'], None, None),
    'CUDA and cuDNN of the image': ({'Dockerfile': 'FROM nvidia/cuda:12.6.3-cudnn-runtime-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-pip && pip3 install onnxruntime-gpu==1.20.1 tensorflow==2.18.0\n'}, ['gpu=NVIDIA A100-SXM4-80GB', 'driver=550.54.15', 'os=linux', 'arch=x86_64'], None, None),
    'pairs in two steps': ({'Dockerfile': 'FROM nvidia/cuda:12.2.2-cudnn8-runtime-ubuntu22.04\nRUN pip3 install torch==2.3.1 --index-url https://download.pytorch.org/whl/cu121\nRUN pip3 install torchvision==0.18.1 --index-url https://download.pytorch.org/whl/cu121\n'}, ['gpu=NVIDIA A100-SXM4-80GB', 'driver=550.54.15', 'os=linux', 'arch=x86_64'], None, None),
    'the runtime and its variables': ({'compose.yaml': 'services:\n  a:\n    image: nvidia/cuda:12.4.1-base-ubuntu22.04\n    runtime: nvidia\n    environment:\n      - NVIDIA_VISIBLE_DEVICES=all\n      - NVIDIA_DRIVER_CAPABILITIES=all\n'}, ['gpu=NVIDIA A100-SXM4-80GB', 'driver=550.54.15', 'os=linux', 'arch=x86_64'], None, None),
}


def run(files, assume):
    named = [k for k in files if isinstance(k, tuple)]
    names = list(named[0]) if named else list(files)[:1]
    with tempfile.TemporaryDirectory() as tmp:
        for name, text in files.items():
            if isinstance(name, tuple):
                continue
            path = os.path.join(tmp, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as f:
                f.write(text)
        cmd = [CUVET, "check", "--no-live", "--json"] + [os.path.join(tmp, n) for n in names]
        for a in assume:
            cmd += ["--assume", a]
        p = subprocess.run(cmd, capture_output=True, timeout=60)
    if p.returncode not in (0, 1, 3):
        raise AssertionError(f"exit {p.returncode}: {p.stderr.decode()[-300:]}")
    return json.loads(p.stdout)


def judge(report, name, line):
    root = report["root_cause"]
    errors = [f["name"] for f in report["findings"] if f["severity"] == "error"]
    if name is None:
        return None if not errors and not root else f"false alarm: {errors} {root and root['message']}"
    if not root or root["name"] != name:
        return f"{root and root['name']} ({root and root['message']}), wanted {name}; skipped {[s for s in report['skipped'] if 'could not' in s['why']]}"
    places = [e["source"] for e in root["evidence"]]
    if not any(("/" + line + ":") in p or p.endswith("/" + line) for p in places):
        return f"{line} is not named: {places}"
    if len({p for p in places if ":" in p}) > 4:
        return f"too many lines: {places}"
    if not root["remedies"]:
        return "no remedy"
    return None


def main(cases):
    failed = 0
    for n, (title, (files, assume, name, line)) in enumerate(cases.items(), 1):
        try:
            why = judge(run(files, assume), name, line)
        except Exception as e:  # a crash is one failed case, not the end
            why = repr(e)
        failed += why is not None
        print(f"{'not ok' if why else 'ok'} {n} - {title}" + (f": {why}" if why else ""))
    print(f"1..{len(cases)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(CASES))
