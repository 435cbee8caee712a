#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release asan
"""Builds that do not go together: wheels by their address, pages of links, pairs that stayed behind, NumPy 2,
what compiles in an image, a matrix of Pythons. Each with its healthy neighbour. In the form of test_cases.py.
"""
import sys

from test_cases import A100, PY, R5090, T4, WIN, main

CU = "https://download.pytorch.org/whl/"
FA = "https://github.com/Dao-AILab/flash-attention/releases/download/"
PYG = "https://data.pyg.org/whl/"
MM = "https://download.openmmlab.com/mmcv/dist/"
APT = "RUN apt-get update && apt-get install -y python3-pip git\n"
A100_PY = A100 + PY
RTX4090 = ["gpu=NVIDIA GeForce RTX 4090", "driver=550.90.07", "os=linux", "arch=x86_64"]


def uv(dependencies, sources, tag="cu128"):
    return (f'[project]\nname = "p"\nversion = "0"\nrequires-python = ">=3.10,<3.13"\ndependencies = {dependencies}\n[tool.uv.sources]\n{sources}\n'
            f'[[tool.uv.index]]\nname = "gpu"\nurl = "{CU}{tag}"\nexplicit = true\n')


def flash(version, label, python="cp311", platform="linux_x86_64"):
    return f"flash-attn @ {FA}v{version}/flash_attn-{version}+{label}-{python}-{python}-{platform}.whl\n"


def workflow(matrix, install, version="${{ matrix.python }}"):
    return (f"on: push\njobs:\n  t:\n    runs-on: [self-hosted, gpu]\n    strategy:\n      matrix:\n{matrix}    steps:\n      - uses: actions/setup-python@v5\n"
            f"        with:\n          python-version: {version}\n      - run: {install}\n")


SPLIT = uv('["torch==2.7.1"]', "torch = [{ index = \"gpu\", marker = \"sys_platform == 'linux'\" }]")
WHEEL = CU + "cu124/torch-2.5.1%2Bcu124-cp311-cp311-linux_x86_64.whl"

CASES = {
    # ------------------------------------------------ a source that holds on one platform alone
    "another platform is served by PyPI": ({"pyproject.toml": SPLIT}, WIN, "cpu-only-wheel", "pyproject.toml:5"),
    "the platform that has the source": ({"pyproject.toml": SPLIT}, R5090 + PY, None, None),
    "a single table with a marker": ({"pyproject.toml": uv('["torch==2.7.1"]', "torch = { index = \"gpu\", marker = \"sys_platform == 'linux'\" }")}, WIN, "cpu-only-wheel", "pyproject.toml:5"),
    "a source for all platforms": ({"pyproject.toml": uv('["torch==2.7.1"]', 'torch = { index = "gpu" }')}, WIN, None, None),
    "a marker of the dependency beside the source's": ({"pyproject.toml": uv("[\"torch==2.7.1; python_version < '3.13'\"]", "torch = [{ index = \"gpu\", marker = \"sys_platform != 'darwin'\" }]")}, R5090 + PY, None, None),
    # ------------------------------------------------ torch by its address
    "poetry's wheel of another Python": ({"pyproject.toml": '[tool.poetry]\nname = "p"\n[tool.poetry.dependencies]\npython = "^3.10"\ntorch = { url = "' + WHEEL + '" }\n'}, A100 + ["glibc=2.35", "python=3.12"], "python-no-wheel", "pyproject.toml:5"),
    "poetry's wheel of this Python": ({"pyproject.toml": '[tool.poetry]\nname = "p"\n[tool.poetry.dependencies]\npython = "^3.10"\ntorch = { url = "' + WHEEL + '" }\n'}, A100_PY, None, None),
    "a wheel of Linux on Windows": ({"requirements.txt": WHEEL + "\n"}, WIN, "python-no-wheel", "requirements.txt:1"),
    "a wheel of x86 on aarch64": ({"requirements.txt": WHEEL + "\n"}, ["gpu=NVIDIA GH200 480GB", "driver=550.54.15", "os=linux", "arch=aarch64"] + PY, "python-no-wheel", "requirements.txt:1"),
    "each platform's wheel with its marker": ({"requirements.txt": f"torch @ {WHEEL} ; sys_platform == 'linux'\ntorch @ {WHEEL.replace('linux_x86_64', 'win_amd64')} ; sys_platform == 'win32'\n"}, A100_PY, None, None),
    # ------------------------------------------------ extensions that say for which torch they are
    "flash-attn for another torch": ({"requirements.txt": f"--extra-index-url {CU}cu124\ntorch==2.5.1\n" + flash("2.7.4.post1", "cu12torch2.6cxx11abiFALSE")}, A100_PY, "abi-mismatch-extension", "requirements.txt:3"),
    "flash-attn for this torch": ({"requirements.txt": f"--extra-index-url {CU}cu124\ntorch==2.5.1\n" + flash("2.7.4.post1", "cu12torch2.5cxx11abiFALSE")}, A100_PY, None, None),
    "flash-attn for another ABI": ({"requirements.txt": "torch==2.7.1\n" + flash("2.8.3", "cu12torch2.7cxx11abiFALSE")}, A100[:1] + ["driver=570.133.20"] + A100[2:] + PY, "abi-mismatch-extension", "requirements.txt:2"),
    "flash-attn for this ABI": ({"requirements.txt": "torch==2.7.1\n" + flash("2.8.3", "cu12torch2.7cxx11abiTRUE")}, A100[:1] + ["driver=570.133.20"] + A100[2:] + PY, None, None),
    "2.6 for CUDA 12.6 has the new ABI already": ({"requirements.txt": f"--index-url {CU}cu126\ntorch==2.6.0\n" + flash("2.7.4.post1", "cu12torch2.6cxx11abiTRUE")}, A100_PY, None, None),
    "flash-attn for another major of CUDA": ({"requirements.txt": f"--extra-index-url {CU}cu118\ntorch==2.3.1+cu118\n" + flash("2.5.8", "cu122torch2.3cxx11abiFALSE")}, A100_PY, "abi-mismatch-extension", "requirements.txt:3"),
    "flash-attn for another Python": ({"requirements.txt": f"--extra-index-url {CU}cu124\ntorch==2.5.1\n" + flash("2.7.4.post1", "cu12torch2.5cxx11abiFALSE", "cp310")}, A100_PY, "python-no-wheel", "requirements.txt:3"),
    "an image in which torch is of nobody": ({"Dockerfile": "FROM example/base:1\nRUN pip install " + flash("2.7.4.post1", "cu12torch2.6cxx11abiFALSE").split("@ ")[1]}, A100, None, None),
    "PyTorch Geometric for another torch": ({"requirements.txt": f"--extra-index-url {CU}cu121\n-f {PYG}torch-2.2.0+cu121.html\ntorch==2.3.1+cu121\ntorch-scatter\n"}, A100_PY, "abi-mismatch-extension", "requirements.txt:2"),
    "PyTorch Geometric for this torch": ({"requirements.txt": f"--extra-index-url {CU}cu121\n-f {PYG}torch-2.3.0+cu121.html\ntorch==2.3.1+cu121\ntorch-scatter\n"}, A100_PY, None, None),
    "PyTorch Geometric without CUDA": ({"requirements.txt": f"-f {PYG}torch-2.3.0+cpu.html\ntorch==2.3.1\ntorch-sparse\n"}, A100_PY, "extension-built-without-cuda", "requirements.txt:1"),
    "a label for another torch": ({"requirements.txt": f"-f {PYG}torch-2.1.0+cu121.html\ntorch==2.2.2\ntorch-cluster==1.6.3+pt21cu121\n"}, A100_PY, "abi-mismatch-extension", "requirements.txt:3"),
    "a label for this torch": ({"requirements.txt": f"-f {PYG}torch-2.2.0+cu121.html\ntorch==2.2.2\ntorch-cluster==1.6.3+pt22cu121\n"}, A100_PY, None, None),
    "a pair that a later line left behind": ({"Dockerfile": f"FROM python:3.10-slim\nRUN pip install torch==2.4.1 torchvision==0.19.1 --index-url {CU}cu121\nRUN pip install xformers==0.0.28.post3\n"}, T4, "torch-torchvision-mismatch", "Dockerfile:2"),
    "a pair whose torch moves by a patch": ({"Dockerfile": f"FROM python:3.10-slim\nRUN pip install torch==2.3.1 torchvision==0.18.1 --index-url {CU}cu121\nRUN pip install xformers==0.0.26.post1\n"}, T4, None, None),
    "a pair that moves too": ({"Dockerfile": f"FROM python:3.10-slim\nRUN pip install torch==2.4.1 torchvision==0.19.1 --index-url {CU}cu121\nRUN pip install torch==2.5.1 torchvision==0.20.1\n"}, A100, None, None),
    "torchvision of another CUDA": ({"requirements.txt": f"-f {CU}torch_stable.html\ntorch==1.9.0+cu111\ntorchvision==0.10.0+cu102\n"}, ["gpu=NVIDIA A100-SXM4-80GB", "driver=470.82.01", "os=linux", "arch=x86_64", "glibc=2.31", "python=3.8"], "torch-torchvision-mismatch", "requirements.txt:3"),
    "torchvision of this CUDA": ({"requirements.txt": f"-f {CU}torch_stable.html\ntorch==1.9.0+cu111\ntorchvision==0.10.0+cu111\n"}, ["gpu=NVIDIA A100-SXM4-80GB", "driver=470.82.01", "os=linux", "arch=x86_64", "glibc=2.31", "python=3.8"], None, None),
    "torchvision of the CPU": ({"requirements.txt": f"--extra-index-url {CU}cu121\n--extra-index-url {CU}cpu\ntorch==2.3.1+cu121\ntorchvision==0.18.1+cpu\n"}, A100_PY, "extension-built-without-cuda", "requirements.txt:4"),
    "torchvision that no source serves": ({"pyproject.toml": uv('["torch==2.7.1", "torchvision==0.22.1"]', 'torch = { index = "gpu" }')}, WIN, "extension-built-without-cuda", "pyproject.toml:5"),
    "torchvision from PyPI of the same major": ({"pyproject.toml": uv('["torch==2.7.1", "torchvision==0.22.1"]', 'torch = { index = "gpu" }')}, R5090 + PY, None, None),
    "torchvision from PyPI of another major": ({"pyproject.toml": uv('["torch==2.7.1", "torchvision==0.22.1"]', 'torch = { index = "gpu" }', "cu118")}, A100_PY, "torch-torchvision-mismatch", "pyproject.toml:5"),
    "both from one source": ({"pyproject.toml": uv('["torch==2.7.1", "torchvision==0.22.1"]', 'torch = { index = "gpu" }\ntorchvision = { index = "gpu" }')}, WIN, None, None),
    "a patch of the same CUDA major": ({"requirements.txt": f"--extra-index-url {CU}cu121\n--extra-index-url {CU}cu124\ntorch==2.4.1+cu124\ntorchvision==0.19.1+cu121\n"}, A100_PY, None, None),
    # ------------------------------------------------ NumPy 2
    "NumPy 2 under an old torch": ({"requirements.txt": "torch==2.2.2\nnumpy>=2.0,<3\n"}, A100_PY, "numpy2-abi", "requirements.txt:2"),
    "NumPy 2 under onnxruntime": ({"requirements.txt": "torch==2.4.1\nonnxruntime==1.17.3\nnumpy==2.1.0\n"}, A100_PY, "numpy2-abi", "requirements.txt:3"),
    "NumPy 2 under a newer torch": ({"requirements.txt": "torch==2.4.1\nnumpy==2.1.0\n"}, A100_PY, None, None),
    "a NumPy that may be either": ({"requirements.txt": "torch==2.2.2\nnumpy>=1.24\n"}, A100_PY, None, None),
    # ------------------------------------------------ conda, then pip
    "pip puts another torch over conda's": ({"environment.yml": "channels: [pytorch, nvidia]\ndependencies:\n  - python=3.9\n  - pytorch=2.0.1\n  - pytorch-cuda=11.8\n  - pip:\n    - torch==2.4.1\n"}, ["gpu=Tesla T4", "driver=470.223.02", "os=linux", "arch=x86_64", "glibc=2.31"], "driver-too-old", "environment.yml:7"),
    "pip finds conda's torch": ({"environment.yml": "channels: [pytorch, nvidia]\ndependencies:\n  - python=3.9\n  - pytorch=2.0.1\n  - pytorch-cuda=11.8\n  - pip:\n    - torch>=2.0\n    - timm\n"}, ["gpu=Tesla T4", "driver=470.223.02", "os=linux", "arch=x86_64", "glibc=2.31"], None, None),
    # ------------------------------------------------ one file of two wheels
    "NCCL of another CUDA": ({"requirements.txt": "torch==2.5.1\nnvidia-cublas-cu11==11.10.3.66\nnvidia-nccl-cu11==2.14.3\n"}, A100_PY, "mixed-cuda-wheels", "requirements.txt:3"),
    "cuDNN 9 of another CUDA": ({"requirements.txt": "torch==2.5.1\nnvidia-cudnn-cu11==9.1.0.70\n"}, A100_PY, "mixed-cuda-wheels", "requirements.txt:2"),
    # ------------------------------------------------ what compiles
    "flash-attn without a wheel for an old torch": ({"Dockerfile": "FROM python:3.10-slim\nRUN pip install torch==2.1.2\nRUN pip install flash-attn --no-build-isolation\n"}, A100, "nvcc-missing", "Dockerfile:3"),
    "the newest flash-attn has a wheel": ({"Dockerfile": "FROM python:3.10-slim\nRUN pip install torch==2.6.0\nRUN pip install flash-attn --no-build-isolation\n"}, A100, None, None),
    "nvdiffrast for a GPU that nvcc does not know": ({"Dockerfile": f"FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\n{APT}RUN pip3 install torch==2.7.1 --index-url {CU}cu128\nRUN pip3 install --no-build-isolation git+https://github.com/NVlabs/nvdiffrast.git\n"}, R5090, "toolkit-too-old-for-gpu", "Dockerfile:1"),
    "the same with a newer nvcc": ({"Dockerfile": f"FROM nvidia/cuda:12.8.1-devel-ubuntu22.04\n{APT}RUN pip3 install torch==2.7.1 --index-url {CU}cu128\nRUN pip3 install --no-build-isolation git+https://github.com/NVlabs/nvdiffrast.git\n"}, R5090, None, None),
    "pytorch3d against another major": ({"Dockerfile": f"FROM nvidia/cuda:11.8.0-devel-ubuntu22.04\n{APT}RUN pip3 install torch==2.4.1\nRUN pip3 install --no-build-isolation git+https://github.com/facebookresearch/pytorch3d.git\n"}, A100, "toolkit-torch-mismatch", "Dockerfile:1"),
    "a page of ready builds": ({"Dockerfile": f"FROM pytorch/pytorch:1.12.1-cuda11.3-cudnn8-runtime\nRUN pip install mmcv-full==1.7.0 -f {MM}cu113/torch1.12/index.html\n"}, T4, None, None),
    "the same without the page": ({"Dockerfile": "FROM pytorch/pytorch:1.12.1-cuda11.3-cudnn8-runtime\nRUN pip install mmcv-full==1.7.0\n"}, T4, "nvcc-missing", "Dockerfile:2"),
    "a host compiler that nvcc refuses": ({"Dockerfile": f"FROM nvidia/cuda:11.8.0-devel-ubuntu22.04\n{APT}ENV CC=gcc-12 CXX=g++-12\nRUN pip3 install torch==2.1.2 --index-url {CU}cu118\nCOPY ext /ext\nRUN pip3 install --no-build-isolation /ext\n"}, A100, "host-compiler-too-new", "Dockerfile:3"),
    "a host compiler that nvcc takes": ({"Dockerfile": f"FROM nvidia/cuda:12.1.1-devel-ubuntu22.04\n{APT}ENV CC=gcc-12 CXX=g++-12\nRUN pip3 install torch==2.1.2 --index-url {CU}cu121\nCOPY ext /ext\nRUN pip3 install --no-build-isolation /ext\n"}, A100, None, None),
    "CUDA_HOME of another toolkit": ({"Dockerfile": f"FROM nvidia/cuda:12.1.1-devel-ubuntu22.04\n{APT}ENV CUDA_HOME=/usr/local/cuda-11.8\nRUN pip3 install torch==2.1.2 --index-url {CU}cu121\nCOPY ext /ext\nRUN pip3 install --no-build-isolation /ext\n"}, A100, "cuda-home-wrong", "Dockerfile:3"),
    "CUDA_HOME of a toolkit that a runfile installs": ({"Dockerfile": f"FROM nvidia/cuda:12.1.1-devel-ubuntu22.04\n{APT}COPY cuda_11.8.0_520.61.05_linux.run /tmp/cuda.run\nRUN sh /tmp/cuda.run --silent --toolkit\nENV CUDA_HOME=/usr/local/cuda-11.8\nRUN pip3 install torch==2.1.2 --index-url {CU}cu118\nCOPY ext /ext\nRUN pip3 install --no-build-isolation /ext\n"}, A100, None, None),
    "cmake goes by a variable of its own": ({"Dockerfile": f"FROM nvidia/cuda:11.8.0-devel-ubuntu22.04\n{APT}ENV CC=gcc-12 CXX=g++-12\nRUN cmake -S . -B b -DGGML_CUDA=ON && cmake --build b\n"}, A100, None, None),
    "the nvidia runtime beside a device request": ({"compose.yml": "services:\n  a:\n    image: python:3.11-slim\n    runtime: nvidia\n    deploy: {resources: {reservations: {devices: [{capabilities: [gpu]}]}}}\n"}, T4, None, None),
    "CUDA_HOME of this toolkit": ({"Dockerfile": f"FROM nvidia/cuda:12.1.1-devel-ubuntu22.04\n{APT}ENV CUDA_HOME=/usr/local/cuda-12.1\nRUN pip3 install torch==2.1.2 --index-url {CU}cu121\nCOPY ext /ext\nRUN pip3 install --no-build-isolation /ext\n"}, A100, None, None),
    # ------------------------------------------------ images of PyTorch
    "a CUDA that the release was not built for": ({"Dockerfile": "FROM pytorch/pytorch:2.5.1-cuda12.2-cudnn9-runtime\n"}, A100, "base-image-tag-missing", "Dockerfile:1"),
    "a cuDNN that the release does not have": ({"Dockerfile": "FROM pytorch/pytorch:2.1.0-cuda12.1-cudnn9-devel\n"}, A100, "base-image-tag-missing", "Dockerfile:1"),
    "tags that there are": ({"compose.yml": "services:\n  a: {image: 'pytorch/pytorch:2.4.1-cuda11.8-cudnn9-devel', gpus: all}\n  b: {image: 'pytorch/pytorch:1.13.1-cuda11.6-cudnn8-runtime', gpus: all}\n  c: {image: 'pytorch/pytorch:1.8.1-cuda10.2-cudnn7-runtime', gpus: all}\n"}, ["gpu=Tesla V100-SXM2-16GB"] + A100[1:], None, None),
    # ------------------------------------------------ what COPY brings by a pattern
    "a pattern in a folder": ({("Dockerfile",): "", "Dockerfile": "FROM python:3.11-slim\nCOPY reqs/*.txt /tmp/reqs/\nRUN pip install -r /tmp/reqs/gpu.txt\n", "reqs/gpu.txt": "torch==2.8.0\n--index-url " + CU + "cu121\n"}, A100, "wrong-index-tag", "gpu.txt:1"),
    "a pattern of this folder": ({("Dockerfile",): "", "Dockerfile": "FROM python:3.11-slim\nCOPY requirements*.txt /app/\nRUN pip install -r /app/requirements-gpu.txt\n", "requirements-gpu.txt": "torch==2.4.1+cu127\n"}, A100, "wrong-index-tag", "requirements-gpu.txt:1"),
    "a page of links as an index": ({"requirements.txt": "--extra-index-url " + CU + "torch_stable.html\ntorch==2.3.1+cu121\n"}, A100 + PY, "wrong-index-tag", "requirements.txt:2"),
    "a page of links as such": ({"requirements.txt": "-f " + CU + "torch_stable.html\ntorch==2.3.1+cu121\n"}, A100 + PY, None, None),
    "a page of links as an index beside PyPI": ({"requirements.txt": "--extra-index-url " + CU + "torch_stable.html\ntorch==2.3.1\n"}, A100 + PY, None, None),
    # ------------------------------------------------ the distribution's own toolkit
    "its nvcc is too old for the GPU": ({"Dockerfile": "FROM ubuntu:22.04\nRUN apt-get update && apt-get install -y python3-pip git nvidia-cuda-toolkit\nRUN pip3 install torch==2.4.1 ninja\nCOPY ext /ext\nRUN pip3 install --no-build-isolation /ext\n"}, RTX4090, "toolkit-too-old-for-gpu", "Dockerfile:2"),
    "its nvcc is of another major": ({"Dockerfile": "FROM pytorch/pytorch:2.4.0-cuda12.1-cudnn9-runtime\nRUN apt-get update && apt-get install -y python3-pip git nvidia-cuda-toolkit\nCOPY ext /ext\nRUN pip install --no-build-isolation /ext\n"}, A100, "toolkit-torch-mismatch", "Dockerfile:2"),
    "its nvcc is of torch's major": ({"Dockerfile": "FROM ubuntu:22.04\nRUN apt-get update && apt-get install -y python3-pip git nvidia-cuda-toolkit\nRUN pip3 install torch==2.4.1 ninja --index-url " + CU + "cu118\nCOPY ext /ext\nRUN pip3 install --no-build-isolation /ext\n"}, A100, None, None),
    "it is there and nothing compiles": ({"Dockerfile": "FROM ubuntu:22.04\nRUN apt-get update && apt-get install -y python3-pip git nvidia-cuda-toolkit\nRUN pip3 install torch==2.4.1\n"}, A100, None, None),
    "conda's nvcc": ({"Dockerfile": "FROM ubuntu:22.04\nRUN apt-get update && apt-get install -y wget git build-essential\nRUN wget -q https://repo.anaconda.com/miniconda/Miniconda3-py310_24.7.1-0-Linux-x86_64.sh -O /m.sh && bash /m.sh -b -p /opt/conda\nENV PATH=/opt/conda/bin:$PATH\nRUN conda install -y -c nvidia/label/cuda-12.4.1 cuda-toolkit\nRUN pip install torch==2.4.1 --index-url " + CU + "cu124\nRUN pip install --no-build-isolation git+https://github.com/NVlabs/nvdiffrast\n"}, RTX4090, None, None),
    "conda's nvcc in front of the distribution's": ({"Dockerfile": "FROM ubuntu:22.04\nRUN apt-get update && apt-get install -y wget git nvidia-cuda-toolkit\nRUN wget -q https://repo.anaconda.com/miniconda/Miniconda3-py310_24.7.1-0-Linux-x86_64.sh -O /m.sh && bash /m.sh -b -p /opt/conda\nENV PATH=/opt/conda/bin:$PATH\nRUN conda install -y -c nvidia/label/cuda-12.4.1 cuda-nvcc cuda-libraries-dev\nRUN pip install torch==2.4.1 --index-url " + CU + "cu124\nRUN pip install --no-build-isolation git+https://github.com/NVlabs/nvdiffrast\n"}, RTX4090, None, None),
    "conda's libraries have no nvcc": ({"Dockerfile": "FROM ubuntu:22.04\nRUN apt-get update && apt-get install -y wget git build-essential\nRUN wget -q https://repo.anaconda.com/miniconda/Miniconda3-py310_24.7.1-0-Linux-x86_64.sh -O /m.sh && bash /m.sh -b -p /opt/conda\nENV PATH=/opt/conda/bin:$PATH\nRUN conda install -y cudatoolkit=11.8\nRUN pip install torch==2.4.1 --index-url " + CU + "cu124\nRUN pip install --no-build-isolation git+https://github.com/NVlabs/nvdiffrast\n"}, RTX4090, "nvcc-missing", "Dockerfile:7"),
    # ------------------------------------------------ cuDNN of TensorFlow's later releases
    "cuDNN of a later release of TensorFlow": ({"requirements.txt": "tensorflow[and-cuda]==2.16.2\ntorch==2.4.1\n"}, A100 + PY, "conflicting-pins", "requirements.txt:1"),
    "TensorFlow without its CUDA": ({"requirements.txt": "tensorflow==2.16.2\ntorch==2.4.1+cpu\n--extra-index-url " + CU + "cpu\n"}, A100 + PY, "cpu-only-wheel", "requirements.txt:2"),
    # ------------------------------------------------ a Python in front of the distribution's
    "Miniconda's newest Python": ({"Dockerfile": "FROM nvidia/cuda:12.1.1-devel-ubuntu20.04\nRUN wget -q https://repo.anaconda.com/miniconda/Miniconda3-latest-Linux-x86_64.sh -O /m.sh && bash /m.sh -b -p /opt/conda\nENV PATH=/opt/conda/bin:$PATH\nRUN pip install torch==2.5.1\n"}, A100, None, None),
    "Miniconda's Python by its name": ({"Dockerfile": "FROM nvidia/cuda:12.1.1-devel-ubuntu22.04\nRUN wget https://repo.anaconda.com/miniconda/Miniconda3-py38_4.12.0-Linux-x86_64.sh && bash Miniconda3-py38_4.12.0-Linux-x86_64.sh -b -p /opt/conda\nRUN /opt/conda/bin/pip install torch==2.5.1\n"}, A100, "python-no-wheel", "Dockerfile:3"),
    "a Python built from source": ({"Dockerfile": "FROM nvidia/cuda:12.1.1-devel-ubuntu20.04\nRUN wget https://www.python.org/ftp/python/3.11.9/Python-3.11.9.tgz && tar xf Python-3.11.9.tgz && cd Python-3.11.9 && ./configure && make install\nRUN pip3 install torch==2.5.1\n"}, A100, None, None),
    # ------------------------------------------------ a matrix of Pythons
    "one Python of a matrix has no wheel": ({".github/workflows/t.yml": workflow('        python: ["3.10", "3.12", "3.13"]\n', f"pip install torch==2.4.1 --index-url {CU}cu121")}, A100, "python-no-wheel", "t.yml:12"),
    "all Pythons of a matrix have one": ({".github/workflows/t.yml": workflow('        python: ["3.10", "3.12"]\n', f"pip install torch==2.4.1 --index-url {CU}cu121")}, A100, None, None),
    "a matrix with exceptions is not decided": ({".github/workflows/t.yml": workflow('        python: ["3.10", "3.13"]\n        exclude:\n          - python: "3.13"\n', f"pip install torch==2.4.1 --index-url {CU}cu121")}, A100, None, None),
    # ------------------------------------------------ images and services
    "a newer TensorFlow over the image's": ({"Dockerfile": "FROM tensorflow/tensorflow:2.12.0-gpu\nRUN pip install tensorflow==2.16.1\n"}, A100, "missing-cuda-runtime-lib", "Dockerfile:2"),
    "a TensorFlow of the same CUDA over the image's": ({"Dockerfile": "FROM tensorflow/tensorflow:2.12.0-gpu\nRUN pip install tensorflow==2.13.1\n"}, A100, None, None),
    "the nvidia runtime and no variable": ({"compose.yml": "services:\n  a:\n    image: python:3.11-slim\n    runtime: nvidia\n"}, T4, "container-no-gpu-requested", "compose.yml:4"),
    "the nvidia runtime and the variable": ({"compose.yml": "services:\n  a:\n    image: python:3.11-slim\n    runtime: nvidia\n    environment: [NVIDIA_VISIBLE_DEVICES=all]\n"}, T4, None, None),
    "the nvidia runtime and an image that sets it": ({"compose.yml": "services:\n  a:\n    image: nvidia/cuda:12.2.2-base-ubuntu22.04\n    runtime: nvidia\n"}, T4, None, None),
    "the meta package of the runtime brings a driver": ({"Dockerfile": "FROM ubuntu:22.04\nRUN apt-get update && apt-get install -y cuda-runtime-12-4\n"}, A100, "container-stale-driver-libs", "Dockerfile:2"),
    "the libraries alone bring none": ({"Dockerfile": "FROM ubuntu:22.04\nRUN apt-get update && apt-get install -y cuda-libraries-12-4\n"}, A100, None, None),
    "an ended branch that the image's cuda-compat runs on": ({"Dockerfile": "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-pip && pip3 install torch==2.4.1\n"}, ["gpu=Tesla T4", "driver=470.256.02", "os=linux", "arch=x86_64"], None, None),
    "the same on a GeForce": ({"Dockerfile": "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nENV NVIDIA_DISABLE_REQUIRE=1\nRUN apt-get update && apt-get install -y python3-pip && pip3 install torch==2.4.1\n"}, ["gpu=NVIDIA GeForce RTX 3080", "driver=470.256.02", "os=linux", "arch=x86_64"], "driver-too-old", "Dockerfile:3"),
    "cuda-compat from a package, on the path": ({"Dockerfile": "FROM ubuntu:22.04\nRUN apt-get update && apt-get install -y python3-pip cuda-compat-12-4\nENV LD_LIBRARY_PATH=/usr/local/cuda-12.4/compat\nRUN pip3 install torch==2.4.1\n"}, ["gpu=Tesla T4", "driver=470.256.02", "os=linux", "arch=x86_64"], None, None),
    # ------------------------------------------------ add-ons
    "xformers of another CUDA": ({"Dockerfile": f"FROM python:3.11-slim\nRUN pip install torch==2.6.0 --index-url {CU}cu118\nRUN pip install xformers==0.0.29.post2\n"}, A100, "abi-mismatch-extension", "Dockerfile:3"),
    "xformers of the same major": ({"Dockerfile": f"FROM python:3.11-slim\nRUN pip install torch==2.6.0 --index-url {CU}cu126\nRUN pip install xformers==0.0.29.post2\n"}, A100, None, None),
    "vllm on Pascal": ({"requirements.txt": "vllm==0.6.2\n"}, ["gpu=Tesla P100-PCIE-16GB"] + A100[1:] + PY, "gpu-too-old-for-build", "requirements.txt:1"),
    "vllm on Volta": ({"requirements.txt": "vllm==0.6.2\n"}, ["gpu=Tesla V100-SXM2-16GB"] + A100[1:] + PY, None, None),
    "triton has no wheel for Windows": ({"requirements.txt": f"--extra-index-url {CU}cu126\ntorch==2.6.0+cu126\ntriton==3.2.0\n"}, WIN, "python-no-wheel", "requirements.txt:3"),
    "triton on Linux alone": ({"requirements.txt": f"--extra-index-url {CU}cu126\ntorch==2.6.0+cu126\ntriton==3.2.0; sys_platform == 'linux'\n"}, WIN, None, None),
    # ------------------------------------------------ jax
    "jax and a cuDNN that it does not take": ({"requirements.txt": "jax[cuda12]==0.4.35\nnvidia-cudnn-cu12==8.9.7.29\n"}, A100_PY, "conflicting-pins", "requirements.txt:2"),
    "jax and a cuDNN that it takes": ({"requirements.txt": "jax[cuda12]==0.4.35\nnvidia-cudnn-cu12==9.3.0.75\n"}, A100_PY, None, None),
    "jax and a torch with an older cuDNN": ({"requirements.txt": "jax[cuda12]==0.4.35\ntorch==2.3.1\n"}, A100_PY, "conflicting-pins", "requirements.txt:1"),
    "jax and a torch whose cuDNN does": ({"requirements.txt": "jax[cuda12]==0.4.35\ntorch==2.5.1\n"}, A100_PY, None, None),
    "jax and torch one after the other": ({"Dockerfile": "FROM python:3.11-slim\nRUN pip install torch==2.3.1\nRUN pip install 'jax[cuda12]==0.4.30'\n"}, A100, None, None),
    # ------------------------------------------------ onnxruntime beside torch
    "CUDA 11 beside a torch of CUDA 12": ({"Dockerfile": "FROM python:3.10-slim\nRUN pip install torch==2.2.2 onnxruntime-gpu==1.17.1\n"}, A100, "missing-cuda-runtime-lib", "Dockerfile:2"),
    "both of CUDA 12": ({"Dockerfile": "FROM python:3.10-slim\nRUN pip install torch==2.4.1 onnxruntime-gpu==1.20.1\n"}, A100, None, None),
    "extras that came later": ({"Dockerfile": "FROM python:3.10-slim\nRUN pip install 'onnxruntime-gpu[cuda,cudnn]==1.20.1'\n"}, A100, "missing-cuda-runtime-lib", "Dockerfile:2"),
    "extras that are there": ({"Dockerfile": "FROM python:3.10-slim\nRUN pip install 'onnxruntime-gpu[cuda,cudnn]==1.22.0'\n"}, A100, None, None),
}

if __name__ == "__main__":
    sys.exit(main(CASES))
