#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Start-up and check times of build/cuvet as ratios, measured by hyperfine in one harness, so that
# they hold across machines: against /bin/true, and where they are there against nvidia-smi and
# `python -m torch.utils.collect_env`. Fails when a limit that we set ourselves is passed:
#   cuvet --version, cuvet show torch 2.6.0    1.5 x /bin/true + 5 ms
#   peak memory of cuvet check                 32 MiB
#   cuvet check Dockerfile, 1000 project files 10 ms, 1 s
# and those of tests/fetch/bench.py.

set -eu
cd "$(dirname "$0")/.."
out=build/bench
mkdir -p $out
command -v hyperfine >/dev/null || { echo "bench: hyperfine is not installed" >&2; exit 1; }
bad=0

# measure NAME COMMAND: the median in milliseconds; any exit code is an answer.
measure() {
	hyperfine -N -i --warmup 10 --min-runs "${3:-100}" --export-csv "$out/$1.csv" "$2" \
		>"$out/$1.txt" 2>&1 || { cat "$out/$1.txt" >&2; return 1; }
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "median") m = i }
		NR == 2 { printf "%.3f\n", $m * 1000 }' "$out/$1.csv"
}

row() { # what ms base ms limit-ms
	awk -v what="$1" -v t="$2" -v name="$3" -v b="$4" -v limit="${5:-}" 'BEGIN {
		verdict = limit == "" ? "" : t <= limit ? "ok" : "TOO SLOW"
		printf "%-28s %8.2f ms  %8.2f x %s%s\n", what, t, t / b, name,
			limit == "" ? "" : sprintf("  (limit %.2f ms: %s)", limit, verdict)
		exit verdict == "TOO SLOW" }' || bad=1
}

true_ms=$(measure true /bin/true)
limit=$(awk -v t="$true_ms" 'BEGIN { print 1.5 * t + 5 }')
printf '%-28s %8.2f ms\n' /bin/true "$true_ms"
row "cuvet --version" "$(measure version './build/cuvet --version')" true "$true_ms" "$limit"
show_ms=$(measure show './build/cuvet show torch 2.6.0')
row "cuvet show torch 2.6.0" "$show_ms" true "$true_ms" "$limit"
check_ms=$(measure check './build/cuvet check' 30)
row "cuvet check" "$check_ms" true "$true_ms"

# One Dockerfile, and a repository of a thousand project files of eight kinds.
rm -rf $out/projects
mkdir -p $out/projects
printf 'FROM %s\nRUN pip install torch==2.5.1 \\\n  torchvision==0.20.1\n' \
	nvidia/cuda:12.4.1-runtime-ubuntu22.04 >$out/projects/Dockerfile
for i in $(seq 125); do
	dir=$out/projects/p$i
	mkdir -p "$dir/.github/workflows"
	cp $out/projects/Dockerfile "$dir/Dockerfile"
	printf 'torch==2.12.0\ntorchvision\nxformers\n' >"$dir/requirements.txt"
	printf 'channels: [conda-forge]\ndependencies: [pytorch-gpu]\n' >"$dir/environment.yml"
	printf 'services:\n  a:\n    image: nvidia/cuda:11.0-base\n    gpus: all\n' \
		>"$dir/compose.yml"
	printf '[project]\nname = "p"\ndependencies = ["torch>=2.5", "jax"]\n' \
		>"$dir/pyproject.toml"
	printf '[packages]\ntorch = "==2.5.1"\n' >"$dir/Pipfile"
	printf 'from setuptools import setup\nsetup(install_requires=["torch==2.6.0"])\n' \
		>"$dir/setup.py"
	printf 'on: push\njobs:\n  a:\n    runs-on: gpu\n    steps:\n      - run: %s\n' \
		'pip install vllm' >"$dir/.github/workflows/ci.yml"
done
target='--assume gpu=T4 --assume driver=535.183.01'
one_ms=$(measure one "./build/cuvet check $out/projects/Dockerfile $target" 50)
row "cuvet check Dockerfile" "$one_ms" true "$true_ms" 10
row "cuvet check, 1000 files" "$(measure thousand "./build/cuvet check $out/projects $target" 5)" \
	"one Dockerfile" "$one_ms" 1000

if command -v nvidia-smi >/dev/null && nvidia-smi >/dev/null 2>&1; then
	row "  as parts of nvidia-smi" "$check_ms" nvidia-smi "$(measure smi 'nvidia-smi
		--query-gpu=name,driver_version,compute_cap --format=csv' 10)"
else
	echo "nvidia-smi: not here, not compared"
fi
if python3 -c 'import torch' 2>/dev/null; then
	collect=$(measure collect 'python3 -m torch.utils.collect_env' 3)
	row "  as parts of collect_env" "$check_ms" collect_env "$collect"
else
	echo "torch.utils.collect_env: not here, not compared"
fi

# time(1) is small itself; what a larger program starts would show that program's own peak.
if [ -x /usr/bin/time ]; then
	/usr/bin/time -o $out/peak -f %M ./build/cuvet check >/dev/null 2>&1 || true
	awk 'END { mib = $1 / 1024
		printf "%-28s %8.1f MiB (limit 32 MiB: %s)\n", "peak memory of cuvet check", mib,
			mib <= 32 ? "ok" : "TOO MUCH"
		exit mib > 32 }' $out/peak || bad=1
else
	echo "peak memory: /usr/bin/time is not here, not measured"
fi

if command -v curl >/dev/null && command -v python3 >/dev/null; then
	python3 -B tests/fetch/bench.py || bad=1
else
	echo "cuvet fetch: no curl or python3 here, not compared"
fi
exit $bad
