#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release asan
"""Shell scripts and batch jobs, lists of conda, and ranges that several packages have to agree upon, in the form of test_cases.py."""
import sys

from test_cases import R3060, R4090, R5090, T4, WIN, main

A100 = ["gpu=NVIDIA A100-SXM4-80GB", "driver=525.147.05", "os=linux", "arch=x86_64", "glibc=2.35"]
H100 = ["gpu=NVIDIA H100 80GB HBM3", "driver=535.183.01", "os=linux", "arch=x86_64", "glibc=2.35"]
PY = ["python=3.10"]
CU = "https://download.pytorch.org/whl/"
IMAGE = "FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime\nCOPY requirements.txt .\nRUN pip install -r requirements.txt\n"
POETRY = '[tool.poetry]\nname = "p"\n[tool.poetry.dependencies]\npython = "^3.9,<3.12"\n%s[[tool.poetry.source]]\nname = "g"\nurl = "' + CU + 'cu121"\npriority = "explicit"\n'
UV = '[project]\nname = "p"\nversion = "0"\nrequires-python = ">=3.11"\ndependencies = [%s]\n[tool.uv.sources]\ntorch = [{ index = "g" }]\ntorchvision = [{ index = "g" }]\n[[tool.uv.index]]\nname = "g"\nurl = "' + CU + 'cu128"\nexplicit = true\n'

RIGHT = {
    # ------------------------------------------------ scripts
    "a script with its index": ({"setup.sh": f"#!/bin/bash\nset -e\npip install torch==2.5.1 torchvision==0.20.1 \\\n    --index-url {CU}cu121\n"}, T4 + PY, None, None),
    "what a condition chooses": ({"install.sh": f'if [ "$1" = cpu ]; then\n  pip install torch --index-url {CU}cpu\nelse\n  pip install torch==2.5.1 --index-url {CU}cu121\nfi\n'}, T4 + PY, None, None),
    "what a case chooses": ({"install.sh": f"case $1 in\n  cpu) pip install torch==2.5.1 -i {CU}cpu ;;\n  *) pip install torch==2.5.1 -i {CU}cu121 ;;\nesac\n"}, T4 + PY, None, None),
    "a function that nobody may call": ({"install.sh": f"cpu() {{\n  pip install torch==2.5.1 -i {CU}cpu\n}}\npip install torch==2.5.1 -i {CU}cu121\n"}, T4 + PY, None, None),
    "the second way of two": ({"install.sh": f"pip install torch==2.5.1 -i {CU}cu121 || pip install torch\n"}, T4 + PY, None, None),
    "behind a test": ({"install.sh": f"[ -n \"$CPU\" ] && pip install torch==2.5.1 -i {CU}cpu\npip install torch==2.5.1 -i {CU}cu121\n"}, T4 + PY, None, None),
    "two environments": ({"install.sh": f"conda create -n a python=3.10 -y\npip install torch==2.5.1 -i {CU}cu121\nconda create -n b python=3.9 -y\nconda install pytorch==1.12.1 torchvision==0.13.1 cudatoolkit=11.6 -c pytorch -c conda-forge\n"}, A100, None, None),
    "a job whose environment is there": ({"train.slurm": "#!/bin/bash\n#SBATCH --gres=gpu:1\nmodule load cuda/11.8\n# conda create -n t pytorch pytorch-cuda=11.6 -c pytorch\nconda activate t\nsrun python train.py\n"}, A100, None, None),
    "a here-document for another file": ({"build.sh": "cat > Dockerfile <<'EOF'\nFROM python:3.11\nRUN pip install torch\nEOF\nsbatch job.sh\n"}, T4 + PY, None, None),
    "here-documents of all kinds": ({"build.sh": f"cat <<A >x; cat <<\\B > y\npip install torch==2.8.0 -i {CU}cu118\nA\npip install torch==2.8.0 -i {CU}cu118\nB\nX=\"$(cat <<-'C D'\npip install torch==2.8.0 -i {CU}cu118\n\tC D\n)\"\n"}, T4 + PY, None, None),
    "a condition in a loop on one line": ({"install.sh": f"for x in a; do if false; then pip install torch==2.8.0 -i {CU}cu118; fi; done\n"}, T4 + PY, None, None),
    "one within another on one line": ({"install.sh": f"if a; then if b; then c; fi; pip install torch==2.8.0 -i {CU}cu118; fi\n"}, T4 + PY, None, None),
    "an extra index that does not hold it": ({"install.sh": f"pip3 install torch==2.6.0 \\\n  --extra-index-url {CU}cu121\n"}, T4 + PY, None, None),
    # ------------------------------------------------ lists of conda
    "a list of conda with builds": ({"requirements.txt": "# $ conda create --name <env> --file <this file> -c pytorch\n# platform: linux-64\ncudatoolkit=11.3.1=h2bc3f7f_2\npython=3.9.7\npytorch=1.11.0=py3.9_cuda11.3_cudnn8.2.0_0\ntorchvision=0.12.0=py39_cu113\n"}, A100, None, None),
    # ------------------------------------------------ ranges
    "ranges within what an image has": ({("Dockerfile",): "", "Dockerfile": IMAGE, "requirements.txt": "torch>=2.0\ntorchvision>=0.15\ntorchaudio>=2.0\n"}, ["gpu=Tesla T4", "driver=550.54.15"], None, None),
    "torchvision alone within what an image has": ({("Dockerfile",): "", "Dockerfile": IMAGE, "requirements.txt": "torchvision>=0.15\ntimm\n"}, ["gpu=Tesla T4", "driver=550.54.15"], None, None),
    "an open pair on an index that has ended": ({"pyproject.toml": UV % '"torch>=2.7.0", "torchvision>=0.22.0"'}, R4090 + ["glibc=2.35", "python=3.12"], None, None),
    "the same without a Python": ({"pyproject.toml": UV % '"torch>=2.7.0", "torchvision>=0.22.0"'}, T4 + ["glibc=2.35"], None, None),
    "poetry's caret of a labelled release": ({"pyproject.toml": POETRY % 'torch = {version = "^2.3.1+cu121", source = "g"}\ntorchaudio = {version = "^2.3.1+cu121", source = "g"}\ntorchvision = {version = "^0.18.1+cu121", source = "g"}\n'}, R3060 + ["glibc=2.35"] + PY, None, None),
    "a range of flash-attn": ({"Dockerfile": f"FROM nvidia/cuda:12.8.1-devel-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-pip\nRUN pip install torch==2.9.1 --index-url {CU}cu128\nRUN pip install 'flash-attn>=2.5' --no-build-isolation\n"}, ["gpu=NVIDIA A100-SXM4-80GB", "driver=570.133.20", "os=linux", "arch=x86_64"], None, None),
    "torchvision without a version, beside an older CUDA of the image": ({("Dockerfile",): "", "Dockerfile": IMAGE.replace("12.4", "11.8"), "requirements.txt": "torch>=2.1\ntorchvision\ngradio\n"}, ["gpu=Tesla V100-SXM2-16GB", "driver=470.82.01"], None, None),
    # ------------------------------------------------ SkyPilot, cog, rye, Modal
    "a task that makes its environment once": ({"serve.yaml": "resources:\n  accelerators: A100:1\nsetup: |\n  conda activate chat\n  if [ $? -ne 0 ]; then\n    conda create -n chat python=3.10 -y\n    pip install vllm\n  fi\nrun: |\n  python serve.py\n"}, T4, None, None),
    "cog with a CUDA that no build has": ({"cog.yaml": 'build:\n  gpu: true\n  cuda: "11.4"\n  python_version: "3.8"\n  python_packages:\n    - "torch==1.8.1"\n    - "torchvision==0.9.1"\n'}, ["gpu=NVIDIA GeForce RTX 3090", "driver=470.82.01"], None, None),
    "rye's sources": ({"pyproject.toml": f'[project]\nname = "p"\nversion = "0"\nrequires-python = ">= 3.8"\ndependencies = ["torch==2.2.1+cu121", "torchvision==0.17.1+cu121"]\n[[tool.rye.sources]]\nname = "torch"\nurl = "{CU}cu121"\ntype = "index"\n'}, R4090 + ["glibc=2.35"] + PY, None, None),
    # ------------------------------------------------ CTranslate2
    "the newest faster-whisper on cuDNN 9": ({"Dockerfile": "FROM nvidia/cuda:12.3.2-cudnn9-runtime-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-pip\nRUN pip3 install faster-whisper\n"}, ["gpu=Tesla T4", "driver=550.54.15"], None, None),
    "an older CTranslate2 on cuDNN 8": ({"Dockerfile": "FROM nvidia/cuda:12.2.2-cudnn8-runtime-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-pip\nRUN pip3 install 'ctranslate2<4.5' faster-whisper\n"}, ["gpu=Tesla T4", "driver=550.54.15"], None, None),
    "faster-whisper for the CPU": ({"Dockerfile": "FROM python:3.11-slim\nRUN pip install faster-whisper\n"}, T4, None, None),
    "jax for the CPU beside torch": ({"requirements.txt": f"--extra-index-url {CU}cu121\ntensorflow-cpu~=2.16.1\ntorch==2.3.0+cu121\njax[cpu]\n"}, T4 + PY, None, None),
    "torch for the CPU beside jax": ({"requirements.txt": f"--extra-index-url {CU}cpu\njax[cuda12]==0.4.30\ntorch==2.3.1+cpu\n"}, T4 + PY, None, None),
    "torch and jax for the CPU beside TensorFlow": ({"requirements.txt": f"tensorflow[and-cuda]~=2.19\n--extra-index-url {CU}cpu\ntorch>=2.1.0\njax[cpu]\n"}, ["gpu=NVIDIA A10", "driver=550.54.15", "os=linux", "arch=x86_64", "glibc=2.35"] + PY, None, None),
    # ------------------------------------------------ GPUs
    "a name that a later chip bears, too": ({"compose.yaml": "services:\n  a:\n    image: nvidia/cuda:12.2.0-base-ubuntu22.04\n    gpus: all\n"}, ["gpu=NVIDIA GeForce RTX 4070", "driver=535.183.01"], None, None),
    # ------------------------------------------------ channels
    "Anaconda's channel first": ({"environment.yml": "channels:\n  - defaults\n  - pytorch\n  - conda-forge\ndependencies:\n  - python>=3.10\n  - pytorch\n  - torchaudio\n"}, A100, None, None),
    "a script that makes a Dockerfile": ({"generate-Dockerfile.sh": "#!/bin/bash\ncd $(dirname $0)\necho 'FROM nvidia/cuda' > Dockerfile\n"}, T4, None, None),
    # ------------------------------------------------ the rest
    "Windows wheels of a Pipfile": ({"Pipfile": f'[packages]\ntorch = {{version = "==2.0.0", file = "{CU}cu118/torch-2.0.0%2Bcu118-cp311-cp311-win_amd64.whl"}}\ntorchvision = {{file = "{CU}cu118/torchvision-0.15.1%2Bcu118-cp311-cp311-win_amd64.whl"}}\n[requires]\npython_version = "3.11"\n'}, WIN, None, None),
    "an extra of jax as it is spelled now": ({"requirements.txt": "jax[cuda12-local]\n"}, A100 + ["python=3.12"], None, None),
    "an extra of jax of then": ({"requirements.txt": "jax[cuda12_pip]==0.4.30\n"}, A100 + PY, None, None),
}

BROKEN = {
    # ------------------------------------------------ scripts
    "a script's old build": ({"setup.sh": f"#!/bin/bash\nuv venv env --python 3.7\nsource env/bin/activate\npip install -r requirements.txt torch==1.12.1+cu113 --extra-index-url {CU}cu113\n"}, H100, "gpu-too-new-for-build", "setup.sh:4"),
    "a script that upgrades an add-on": ({"env.sh": f"pip install torch==1.12.0+cu116 --extra-index-url {CU}cu116\npip install -U xformers\n"}, A100 + PY, "torch-replaced-by-dependency", "env.sh:2"),
    "a job that installs": ({"job.sbatch": f"#!/bin/bash\n#SBATCH --gpus=1\npython -m venv $TMPDIR/env && source $TMPDIR/env/bin/activate\nfor i in 1; do\n  pip install torch==2.8.0 --index-url {CU}cu118\ndone\n"}, A100 + PY, "wrong-index-tag", "job.sbatch:5"),
    "the second environment": ({"install.sh": f"conda create -n a python=3.10 -y\npip install torch==2.5.1 -i {CU}cu121\nconda create -n b python=3.9 -y\npip install torch==2.12.0\n"}, A100, "python-no-wheel", "install.sh:4"),
    "behind what shifts bits": ({"setup.sh": f"SIZE=$((1 << 20))\necho 'a << b' # <<c\ncat <<EOF>x\nEOF\npip install torch==2.8.0 -i {CU}cu118\n"}, T4 + PY, "wrong-index-tag", "setup.sh:5"),
    "a variable of the first environment": ({"setup.sh": f"CU={CU}cu118\npip install -U pip\nconda create -n a python=3.10 -y\npip install torch==2.8.0 -i $CU\n"}, T4, "wrong-index-tag", "setup.sh:4"),
    "another's Python": ({"Dockerfile": "FROM example.org/runner:cuda\nRUN ${PYTHON} -m pip install --user 'torch>=2.8.0' torchvision\n"}, T4 + PY, "driver-too-old", "Dockerfile:2"),
    # ------------------------------------------------ SkyPilot, cog, Modal
    "jax for the CPU alone": ({"requirements.txt": "jax[cpu]\n"}, T4 + PY, "jax-cpu-only", "requirements.txt:1"),
    "pytorch-cuda is no package of Anaconda's": ({"environment.yml": "channels:\n  - defaults\n  - pytorch\n  - nvidia\ndependencies:\n  - python=3.10\n  - pytorch=2.1.2\n  - pytorch-cuda=12.1\n"}, R5090, "gpu-too-new-for-build", "environment.yml:7"),
    "a here-document in a task of SkyPilot": ({"llama.yaml": f"resources:\n  accelerators: H100:2\nrun: |\n  cat <<EOF > later.sh\n  pip install torch==2.8.0 -i {CU}cu118\n  EOF\n  python main.py\n"}, H100, None, None),
    "a task of SkyPilot": ({"llama.yaml": f"resources:\n  accelerators: H100:2\nsetup: |\n  conda create -n llama python=3.9 -y\n  conda activate llama\n  pip install torch==1.12.1+cu113 --extra-index-url {CU}cu113\nrun: |\n  python main.py\n"}, H100, "gpu-too-new-for-build", "llama.yaml:6"),
    "the environment that a task's setup made": ({"llama.yaml": f"resources:\n  accelerators: T4\nenvs:\n  CU: {CU}cu118\nsetup: |\n  pip install -U pip\n  conda create -n a python=3.10 -y\nrun: |\n  pip install torch==2.8.0 -i $CU\n"}, T4, "wrong-index-tag", "llama.yaml:9"),
    "a package of cog with its index": ({"cog.yaml": f'build:\n  gpu: true\n  cuda: "11.8"\n  python_version: "3.10"\n  python_packages:\n    - "torch==2.0.1 --extra-index-url {CU}cu118"\n    - "torchvision==0.15.2 --extra-index-url {CU}cu118"\n'}, R5090, "gpu-too-new-for-build", "cog.yaml:6"),
    "an image of Modal by its old name": ({"app.py": f'import modal\nimage = (\n    modal.Image.from_dockerhub("nvidia/cuda:12.1.1-devel-ubuntu20.04", setup_dockerfile_commands=["RUN apt-get install -y python3-pip"])\n    .pip_install("torch==2.8.0", index_url="{CU}cu118")\n    .pip_install("accelerate")\n)\n'}, T4, "wrong-index-tag", "app.py:4"),
    "what fails is not mended by what comes later": ({"Dockerfile": f"FROM python:3.11-slim\nRUN pip install torch==2.8.0 --index-url {CU}cu118\nRUN pip install accelerate timm\n"}, T4, "wrong-index-tag", "Dockerfile:2"),
    # ------------------------------------------------ CTranslate2
    "the newest faster-whisper on CUDA 11": ({"Dockerfile": "FROM nvidia/cuda:11.7.1-cudnn8-runtime-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-pip\nRUN pip3 install faster-whisper\n"}, T4, "missing-cuda-runtime-lib", "Dockerfile:3"),
    "an older CTranslate2 on cuDNN 9": ({"Dockerfile": "FROM nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-pip\nRUN pip3 install ctranslate2==4.4.0 faster-whisper\n"}, ["gpu=Tesla T4", "driver=550.54.15"], "cudnn-major-mismatch", "Dockerfile:3"),
    # ------------------------------------------------ lists of conda
    "a list of conda": ({"requirements.txt": "# $ conda create --name <env> --file <this file> -c pytorch -c nvidia\npython=3.10\npytorch=2.1.2\npytorch-cuda=12.1\n"}, R5090, "gpu-too-new-for-build", "requirements.txt:3"),
    # ------------------------------------------------ the rest
    "an extra that jax has no more": ({"Dockerfile": "FROM python:3.10\nRUN pip install --upgrade 'jax[cuda12_pip]' -f https://storage.googleapis.com/jax-releases/jax_cuda_releases.html\n"}, T4, "jax-cpu-only", "Dockerfile:2"),
    "tensorflow-gpu for another Python": ({"requirements.txt": "tensorflow-gpu==1.15.0\nkeras==2.2.4\n"}, T4 + PY, "python-no-wheel", "requirements.txt:1"),
    "the newest Python of a CI": ({".github/workflows/t.yml": f"on: push\njobs:\n  gpu:\n    runs-on: self-hosted\n    steps:\n      - uses: actions/setup-python@v5\n        with:\n          python-version: '3.x'\n      - run: pip install torch==1.11.0+cu113 -f {CU}torch_stable.html\n"}, T4, "python-no-wheel", "t.yml:9"),
}

if __name__ == "__main__":
    sys.exit(main({**RIGHT, **BROKEN}))
