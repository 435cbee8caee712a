/* SPDX-License-Identifier: Apache-2.0 */
/* What each extractor takes from real forms of output, with its line; and whose a line is (P8). */
#include "pasted.h"

/* -------- nvidia-smi */

static void smi_tables(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(
		&w,
		"+-----------------------------------------------------------------------------+\n"
		"| NVIDIA-SMI 510.47.03    Driver Version: 510.47.03    CUDA Version: N/A      |\n"
		"|-------------------------------+----------------------+----------------------+\n"
		"|   0  NVIDIA GeForce ...  Off  | 00000000:01:00.0  On |                  N/A |\n"
		"| 30%   38C    P8    25W / 350W |   1043MiB / 24576MiB |      0%   E. Process |\n"
		"|   1  A100-SXM4-40GB      On   | 00000000:81:00.0 Off |                    0 |\n"
		"| N/A   42C    P0    62W / 400W |      0MiB / 40536MiB |      0%      Default |\n"
		"|                               |                      |              Enabled |\n"
		"|  1    7   0   0  |     11MiB /  4864MiB | 14      0 |  1   0    0    0    0 |\n");
	assert_int_equal(w.s.n_gpus, 2);
	is(&w.s.gpus[0].memory_mib, "24576", "pasted line 5");
	is(&w.s.gpus[0].compute_mode, "Exclusive_Process", NULL);
	is(&w.s.gpus[1].mig_mode, "enabled", "pasted line 8");
	assert_true(has(&w, "smi-cuda-na"));
	assert_true(has(&w, "mig-devices"));
	arena_free(w.a);
	/* Broken by a narrow window. */
	read_text(&w, "| NVIDIA-SMI 535.183.01             Driver Version: 535.183.01   CUDA Ver\n"
		      "sion: 12.2     |\n");
	is(&w.s.driver.cuda_ceiling, "12.2", "pasted line 1");
	arena_free(w.a);
	/* A name that is cut off, and a size that leaves one compute capability. */
	read_text(
		&w,
		"|   0  GeForce RTX 208...  Off  | 00000000:01:00.0  On |                  N/A |\n"
		"| 30%   38C    P8    25W / 250W |   1043MiB / 11264MiB |      0%      Default |\n");
	is(&w.s.gpus[0].compute_capability, "7.5", "pasted line 2");
	arena_free(w.a);
}

static void smi_on_windows(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(
		&w,
		"| NVIDIA-SMI 566.36                 Driver Version: 566.36         CUDA Version: 12.7     |\n"
		"|   0  NVIDIA GeForce RTX 4070      WDDM  |   00000000:01:00.0  On |                  N/A |\n"
		"|   1  Tesla P40                     TCC  |   00000000:02:00.0 Off |                    0 |\n");
	is(&w.s.host.system, "windows", "pasted line 2");
	assert_int_equal(w.s.n_gpus, 2);
	is(&w.s.gpus[1].name, "Tesla P40", "pasted line 3");
	arena_free(w.a);
}

/* Of two releases the one that is wanted is not the one that is there, whichever stands first. */
static void what_is_needed_and_what_is_there(void **state)
{
	static const char *const texts[] = {
		"Driver version 470.57.02 is below the minimum 525.60.11",
		"This program needs NVIDIA driver 525.60.11 or newer. Found v470.57.02",
		"driver 470.57.02 found (525.60.11 or later is required)",
	};
	struct paste_world w;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(texts); i++) {
		read_text(&w, texts[i]);
		is(&w.s.driver.version, "470.57.02", "pasted line 1");
		assert_true(has(&w, "driver-wanted"));
		arena_free(w.a);
	}
	read_text(&w, "init failed. CUDA driver version: 11040, runtime version: 12010");
	is(&w.s.driver.cuda_ceiling, "11.4", "pasted line 1");
	assert_true(has(&w, "needs-cuda-fails"));
	arena_free(w.a);
	read_text(&w, "needs SM 7.0, device has SM 6.1");
	is(&w.s.gpus[0].compute_capability, "6.1", "pasted line 1");
	assert_true(has(&w, "capability-least"));
	arena_free(w.a);
	/* Which of them is which is not said; a third one makes it unclear. */
	read_text(&w, "drivers 470.57.02 and 525.60.11 were both tried");
	assert_false(has(&w, "driver-wanted"));
	arena_free(w.a);
	read_text(&w, "driver 470.57.02, then 510.47.03; 525.60.11 or newer is needed");
	assert_false(has(&w, "driver-wanted"));
	arena_free(w.a);
}

static void the_same_gpu_twice_is_one(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(
		&w,
		"|   0  NVIDIA GeForce RTX 3090        Off | 00000000:01:00.0  On |                  N/A |\n"
		"|   1  NVIDIA GeForce RTX 3090        Off | 00000000:02:00.0 Off |                  N/A |\n"
		"later:\n"
		"|   0  NVIDIA GeForce RTX 3090        Off | 00000000:01:00.0  On |                  N/A |\n"
		"GPU 0: NVIDIA GeForce RTX 3090 (UUID: GPU-11111111-2222-3333-4444-555555555555)\n"
		"GPU 1: NVIDIA GeForce RTX 3090 (UUID: GPU-11111111-2222-3333-4444-666666666666)\n");
	assert_int_equal(w.s.n_gpus, 2);
	assert_true(fact_known(&w.s.gpus[1].uuid));
	arena_free(w.a);
}

static void smi_listed(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(
		&w,
		"$ nvidia-smi -L\n"
		"GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77)\n"
		"  MIG 1g.5gb      Device  0: (UUID: MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f)\n");
	is(&w.s.gpus[0].mig_mode, "enabled", "pasted line 3");
	assert_int_equal(w.s.gpus[0].mig_devices.n, 1);
	arena_free(w.a);
	read_text(&w, "GPU 0: memory allocated 12 GiB\n");
	assert_int_equal(w.s.n_gpus, 0);
	arena_free(w.a);
}

static void smi_q(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(&w, "==============NVSMI LOG==============\n\n"
		      "Timestamp                                 : Wed May  4 10:57:14 2022\n"
		      "Driver Version                            : 510.68.02\n"
		      "CUDA Version                              : 11.6\n\n"
		      "Attached GPUs                             : 1\nGPU 00000000:82:00.0\n"
		      "    Product Name                          : NVIDIA A30\n"
		      "    Persistence Mode                      : Disabled\n    MIG Mode\n"
		      "        Current                           : Enabled\n"
		      "        Pending                           : Enabled\n    Driver Model\n"
		      "        Current                           : N/A\n"
		      "    Serial Number                         : 1324523060000\n"
		      "    Remapped Rows\n        Correctable Error                 : 0\n"
		      "        Pending                           : Yes\n"
		      "    FB Memory Usage\n        Total                             : 24576 MiB\n"
		      "    Compute Mode                          : Prohibited\n");
	is(&w.s.driver.version, "510.68.02", "pasted line 4");
	is(&w.s.driver.cuda_ceiling, "11.6", "pasted line 5");
	assert_int_equal(w.s.n_gpus, 1);
	is(&w.s.gpus[0].name, "NVIDIA A30", "pasted line 9");
	is(&w.s.gpus[0].mig_mode, "enabled", "pasted line 12");
	is(&w.s.gpus[0].row_remap, "pending", "pasted line 19");
	is(&w.s.gpus[0].memory_mib, "24576", "pasted line 21");
	is(&w.s.gpus[0].compute_mode, "Prohibited", "pasted line 22");
	arena_free(w.a);
	read_text(&w, "<nvidia_smi_log>\n\t<driver_version>535.86.05</driver_version>\n"
		      "\t<cuda_version>12.2</cuda_version>\n\t<gpu id=\"00000000:84:00.0\">\n"
		      "\t\t<product_name>NVIDIA GeForce RTX 4090</product_name>\n");
	is(&w.s.driver.version, "535.86.05", "pasted line 2");
	is(&w.s.gpus[0].name, "NVIDIA GeForce RTX 4090", "pasted line 5");
	arena_free(w.a);
}

static void smi_csv(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(&w,
		  "$ nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader\n"
		  "NVIDIA GeForce RTX 5070, 610.88, 12.0\n");
	is(&w.s.gpus[0].compute_capability, "12.0", "pasted line 2");
	is(&w.s.driver.version, "610.88", "pasted line 2");
	arena_free(w.a);
	read_text(&w, "index, name, memory.total [MiB], mig.mode.current\n"
		      "0, NVIDIA H100 80GB HBM3, 81559 MiB, Disabled\n"
		      "1, NVIDIA H100 80GB HBM3, 81559 MiB, [N/A]\n");
	assert_int_equal(w.s.n_gpus, 2);
	is(&w.s.gpus[1].memory_mib, "81559", "pasted line 3");
	is(&w.s.gpus[0].mig_mode, "disabled", NULL);
	assert_false(fact_known(&w.s.gpus[1].mig_mode));
	arena_free(w.a);
	read_text(&w, "$ nvidia-smi --query-gpu=compute_cap --format=csv\ncompute_cap\n8.6\n");
	is(&w.s.gpus[0].compute_capability, "8.6", "pasted line 3");
	arena_free(w.a);
	read_text(&w, "title, age, city\nAna, 3, Seoul\n");
	assert_int_equal(w.s.n_gpus, 0);
	arena_free(w.a);
}

/* -------- packages */

static void pip_show_and_json(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(&w, "$ pip show torch\nName: torch\nVersion: 2.2.1\nSummary: Tensors\n"
		      "Requires: filelock, nvidia-cublas-cu12\n");
	is(&w.s.pythons[0].torch.version, "2.2.1", "pasted line 3");
	arena_free(w.a);
	read_text(&w, "[{\"name\": \"numpy\", \"version\": \"1.26.4\"}, "
		      "{\"name\": \"torch\", \"version\": \"2.1.0+cu118\"}]\n");
	is(&w.s.pythons[0].torch.version, "2.1.0+cu118", "pasted line 1");
	assert_string_equal(package_of(&w, "numpy"), "1.26.4");
	arena_free(w.a);
}

static void conda_forms(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(&w, "$ conda env export\nname: dl\nchannels:\n  - pytorch\ndependencies:\n"
		      "  - python=3.10.13=h955ad1f_0\n"
		      "  - pytorch=2.5.1=py3.10_cpu_0\n  - pip:\n      - torchmetrics==1.2.0\n");
	is(&w.s.pythons[0].torch.version, "2.5.1", "pasted line 7");
	is(&w.s.pythons[0].version, "3.10.13", "pasted line 6");
	assert_true(has(&w, "conda-torch-cpu"));
	assert_string_equal(package_of(&w, "torchmetrics"), "1.2.0");
	arena_free(w.a);
	read_text(&w, "$ conda info\n     active environment : dl\n"
		      "         python version : 3.11.5.final.0\n"
		      "               platform : win-64\n");
	assert_true(!w.s.n_pythons || !fact_known(&w.s.pythons[0].version));
	is(&w.s.host.system, "windows", "pasted line 4");
	arena_free(w.a);
	read_text(&w,
		  "virtual packages : __archspec=1=skylake\n                     __cuda=12.4=0\n"
		  "                     __glibc=2.35=0\n");
	is(&w.s.driver.cuda_ceiling, "12.4", "pasted line 2");
	is(&w.s.host.glibc, "2.35", "pasted line 3");
	arena_free(w.a);
}

static void uv_forms(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(&w, "$ uv pip install vllm\nUninstalled 1 package in 12ms\n"
		      " - torch==2.6.0+cu124\n + torch==2.5.1\n + vllm==0.6.4\n");
	is(&w.s.pythons[0].torch.version, "2.5.1", "pasted line 4");
	names(&w, "uninstalled-torch", "2.6.0+cu124", "pasted line 3");
	names(&w, "installed-torch", "2.5.1", "pasted line 4");
	arena_free(w.a);
	read_text(
		&w,
		"$ uv tree\nproj v0.1.0\n\xe2\x94\x9c\xe2\x94\x80\xe2\x94\x80 torch v2.7.0+cu128\n");
	is(&w.s.pythons[0].torch.version, "2.7.0+cu128", "pasted line 3");
	arena_free(w.a);
	read_text(&w,
		  "Requirement already satisfied: torch in /mnt/env/lib/python3.10/site-packages "
		  "(from bitsandbytes==0.43.3) (2.4.0+cu124)\n");
	is(&w.s.pythons[0].torch.version, "2.4.0+cu124", "pasted line 1");
	arena_free(w.a);
}

/* -------- reports of other tools */

static void ds_report(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(&w, "DeepSpeed general environment info:\n"
		      "torch version .................... 2.3.0+cu121\n"
		      "deepspeed info ................... 0.15.5+46d7d0d1, 46d7d0d1, patch-1\n"
		      "torch cuda version ............... 12.1\n"
		      "torch hip version ................ None\n"
		      "nvcc version ..................... 12.0\n");
	is(&w.s.pythons[0].torch.version, "2.3.0+cu121", "pasted line 2");
	is(&w.s.pythons[0].torch.cuda, "12.1", NULL);
	is(&w.s.toolkits[0].version, "12.0", "pasted line 6");
	assert_string_equal(package_of(&w, "deepspeed"), "0.15.5");
	arena_free(w.a);
}

static void bitsandbytes_and_xformers(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(&w, "CUDA SETUP: Highest compute capability among GPUs detected: 7.0\n"
		      "CUDA SETUP: Detected CUDA version 101\n");
	is(&w.s.gpus[0].compute_capability, "7.0", "pasted line 1");
	arena_free(w.a);
	read_text(
		&w,
		"PyTorch settings found: CUDA_VERSION=124, Highest Compute Capability: (8, 6).\n");
	is(&w.s.pythons[0].torch.cuda, "12.4", "pasted line 1");
	is(&w.s.gpus[0].compute_capability, "8.6", "pasted line 1");
	arena_free(w.a);
	read_text(&w, "xFormers 0.0.22.post7+cu118\n"
		      "memory_efficient_attention.cutlassF:               unavailable\n"
		      "pytorch.version:                                   2.0.1+cu118\n"
		      "pytorch.cuda:                                      available\n"
		      "gpu.compute_capability:                            6.0\n"
		      "gpu.name:                                          Tesla P100-PCIE-16GB\n");
	assert_string_equal(package_of(&w, "xformers"), "0.0.22.post7+cu118");
	is(&w.s.pythons[0].torch.version, "2.0.1+cu118", "pasted line 3");
	is(&w.s.gpus[0].compute_capability, "6.0", "pasted line 5");
	is(&w.s.gpus[0].name, "Tesla P100-PCIE-16GB", "pasted line 6");
	arena_free(w.a);
}

static void banners_and_builds(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(&w, "Ultralytics YOLOv8.0.20  Python-3.10.9 torch-1.13.1+cpu CPU\n");
	is(&w.s.pythons[0].torch.version, "1.13.1+cpu", "pasted line 1");
	is(&w.s.pythons[0].version, "3.10.9", NULL);
	arena_free(w.a);
	read_text(&w, "-- The CUDA compiler identification is NVIDIA 11.5.119\n"
		      "-- The CXX compiler identification is GNU 13.2.0\n");
	is(&w.s.toolkits[0].version, "11.5.119", "pasted line 1");
	is(&w.s.host.gcc, "13.2.0", "pasted line 2");
	arena_free(w.a);
	read_text(
		&w,
		"- `transformers` version: 4.36.0\n- Platform: Linux-5.15.0-91-generic-x86_64-with-glibc2.35\n"
		"- PyTorch version (GPU?): 2.1.1+cu121 (False)\n");
	is(&w.s.pythons[0].torch.version, "2.1.1+cu121", "pasted line 3");
	is(&w.s.host.glibc, "2.35", NULL);
	arena_free(w.a);
	read_text(&w, ">>> torch.cuda.get_device_properties(0)\n"
		      "_CudaDeviceProperties(name='NVIDIA GeForce RTX 3090', major=8, minor=6, "
		      "total_memory=24258MB)\n");
	is(&w.s.gpus[0].name, "NVIDIA GeForce RTX 3090", "pasted line 2");
	is(&w.s.gpus[0].compute_capability, "8.6", "pasted line 2");
	arena_free(w.a);
	read_text(&w, ">>> torch.cuda.get_device_capability()\n(9, 0)\n");
	is(&w.s.gpus[0].compute_capability, "9.0", "pasted line 2");
	arena_free(w.a);
	read_text(
		&w,
		"  File \"/opt/env/lib/python3.11/site-packages/torch/cuda/__init__.py\", line 3\n");
	is(&w.s.pythons[0].version, "3.11", "pasted line 1");
	arena_free(w.a);
	read_text(
		&w,
		"  File \"C:\\Users\\x\\AppData\\Local\\Programs\\Python\\Python310\\lib\\site-packages\\"
		"torch\\__init__.py\", line 3\n");
	is(&w.s.pythons[0].version, "3.10", "pasted line 1");
	is(&w.s.host.system, "windows", "pasted line 1");
	arena_free(w.a);
	read_text(&w, "  Downloading torch-2.1.0-cp311-cp311-win_amd64.whl (192.3 MB)\n");
	is(&w.s.pythons[0].version, "3.11", "pasted line 1");
	is(&w.s.host.system, "windows", NULL);
	arena_free(w.a);
}

/* -------- containers and clusters */

static void docker_inspect(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(
		&w,
		"[\n {\n  \"HostConfig\": {\n   \"Runtime\": \"runc\",\n   \"ShmSize\": 67108864,\n"
		"   \"DeviceRequests\": null\n  },\n"
		"  \"Config\": { \"Image\": \"pytorch/pytorch:latest\",\n"
		"   \"Env\": [ \"NVIDIA_VISIBLE_DEVICES=all\" ]\n");
	assert_true(has(&w, "container-gpu-not-asked"));
	assert_true(has(&w, "shm-64m"));
	assert_string_equal(snapshot_env(&w.s, "NVIDIA_VISIBLE_DEVICES"), "all");
	is(&w.s.container.image, "pytorch/pytorch:latest", "pasted line 8");
	arena_free(w.a);
	read_text(
		&w,
		"\"Runtime\": \"runc\",\n\"DeviceRequests\": [\n {\n  \"Driver\": \"nvidia\",\n"
		"  \"Count\": 1,\n  \"DeviceIDs\": null,\n  \"Capabilities\": [\n   [\n    \"gpu\"\n");
	assert_true(has(&w, "container-gpu-asked"));
	assert_false(has(&w, "container-gpu-not-asked"));
	arena_free(w.a);
	read_text(&w, "{\"Env\":[\"NVIDIA_VISIBLE_DEVICES=void\",\"PATH=/bin\"]}\n");
	assert_string_equal(snapshot_env(&w.s, "NVIDIA_VISIBLE_DEVICES"), "void");
	arena_free(w.a);
	read_text(&w, "\"Runtime\": \"nvidia\",\n\"DeviceRequests\": null,\n");
	assert_true(has(&w, "container-gpu-asked"));
	arena_free(w.a);
}

static void docker_info_and_cli(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(&w, "Server Version: 24.0.7\n Cgroup Version: 2\n"
		      " Runtimes: io.containerd.runc.v2 runc\n Default Runtime: runc\n");
	is(&w.s.runtime.docker, "24.0.7", "pasted line 1");
	is(&w.s.runtime.cgroup, "v2", NULL);
	is(&w.s.runtime.default_runtime, "runc", "pasted line 4");
	assert_true(has(&w, "docker-no-nvidia-runtime"));
	arena_free(w.a);
	read_text(&w, "NVRM version:   535.54.03\nCUDA version:   12.2\n\nDevice Index:   0\n"
		      "Model:          NVIDIA GeForce RTX 3090\nArchitecture:   8.6\n");
	is(&w.s.driver.version, "535.54.03", "pasted line 1");
	is(&w.s.driver.cuda_ceiling, "12.2", "pasted line 2");
	is(&w.s.gpus[0].compute_capability, "8.6", "pasted line 6");
	arena_free(w.a);
}

static void kubernetes_and_slurm(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(&w, "    Limits:\n      cpu:  4\n      nvidia.com/gpu:  1\n");
	assert_true(has(&w, "container-gpu-asked"));
	arena_free(w.a);
	read_text(
		&w,
		"Allocatable:\n  cpu: 8\n  memory: 1\n  pods: 2\n  x: 1\n  y: 2\n  nvidia.com/gpu: 1\n");
	assert_false(has(&w, "container-gpu-asked"));
	arena_free(w.a);
	read_text(&w, "   ReqTRES=cpu=8,mem=32G,node=1,billing=8\n");
	assert_true(has(&w, "tres-no-gpu"));
	arena_free(w.a);
	read_text(
		&w,
		"   ReqTRES=cpu=8,mem=32G,node=1,billing=8,gres/gpu=1\n   TresPerNode=gres/gpu:1\n");
	assert_false(has(&w, "tres-no-gpu"));
	assert_true(has(&w, "gres-given"));
	arena_free(w.a);
	read_text(
		&w,
		">>> ray.cluster_resources()\n{'CPU': 8.0, 'memory': 1.0, 'object_store_memory': 2.0}\n");
	assert_true(has(&w, "ray-no-gpu"));
	arena_free(w.a);
}

/* -------- systems */

static void windows_forms(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(&w, "OS Name:                   Microsoft Windows 11 Pro\n"
		      "OS Version:                10.0.22631 N/A Build 22631\n");
	is(&w.s.host.system, "windows", "pasted line 1");
	is(&w.s.host.os_version, "10.0.22631", "pasted line 2");
	arena_free(w.a);
	read_text(&w, "Name          : NVIDIA GeForce RTX 3060\nDriverVersion : 31.0.15.3699\n");
	is(&w.s.driver.version, "536.99", "pasted line 2");
	arena_free(w.a);
	read_text(
		&w,
		"  NAME            STATE           VERSION\n* Ubuntu-22.04    Running         2\n");
	is(&w.s.host.system, "wsl2", "pasted line 2");
	arena_free(w.a);
	read_text(
		&w,
		"WSL version: 1.2.5.0\nKernel version: 5.15.90.1\nWindows version: 10.0.19045.3393\n");
	names(&w, "is-wsl", "1.2.5.0", "pasted line 1");
	arena_free(w.a);
}

static void the_loader(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(&w, "   1234:\tfind library=libcudart.so.12 [0]; searching\n"
		      "   1234:\tcalling init: /usr/local/cuda/lib64/libcudart.so.12\n");
	names(&w, "lib-listed", "/usr/local/cuda/lib64/libcudart.so.12", "pasted line 2");
	arena_free(w.a);
}

static void modules_and_boot(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(&w, "$ modinfo nvidia\n"
		      "filename:       /lib/modules/6.8.0-40-generic/updates/dkms/nvidia.ko\n"
		      "license:        Dual MIT/GPL\nversion:        560.35.03\n"
		      "vermagic:       6.8.0-40-generic SMP preempt mod_unload modversions\n");
	is(&w.s.driver.flavor, "open", "pasted line 3");
	names(&w, "modinfo-version", "560.35.03", "pasted line 4");
	arena_free(w.a);
	read_text(&w, "$ mokutil --sb-state\nSecureBoot enabled\n");
	is(&w.s.host.secure_boot, "yes", "pasted line 2");
	arena_free(w.a);
	read_text(&w,
		  "01:00.0 VGA compatible controller [0300]: NVIDIA Corporation AD102 [10de:2684]\n"
		  "\tKernel driver in use: nouveau\n");
	assert_true(has(&w, "bus-driver-nouveau"));
	is(&w.s.gpus[0].pci_id, "10de:2684", "pasted line 1");
	arena_free(w.a);
	read_text(&w, "Setting up nvidia-driver-535 (535.183.01-0ubuntu0.22.04.1) ...\n");
	assert_int_equal(w.s.n_os_packages, 1);
	is(&w.s.os_packages[0].version, "535.183.01-0ubuntu0.22.04.1", "pasted line 1");
	arena_free(w.a);
}

/* -------- sentences */

static void prose(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(&w, "I have a 4090 on 535 with torch 2.1 and Python 3.10.\n");
	is(&w.s.gpus[0].name, "RTX 4090", "pasted line 1");
	is(&w.s.driver.version, "535", "pasted line 1");
	is(&w.s.pythons[0].torch.version, "2.1", "pasted line 1");
	is(&w.s.pythons[0].version, "3.10", "pasted line 1");
	arena_free(w.a);
	read_text(&w, "I upgraded my driver from 470 to 550.54 and my 3060 ti is not seen\n");
	is(&w.s.driver.version, "550.54", NULL);
	is(&w.s.gpus[0].name, "RTX 3060 Ti", NULL);
	arena_free(w.a);
	/* What is required is not what there is; what a program prints is more certain. */
	read_text(&w, "It requires driver 525 or newer, I think.\n");
	assert_false(fact_known(&w.s.driver.version));
	arena_free(w.a);
	read_text(&w, "I think that my driver 535 is fine\nNvidia driver version: 470.82\n");
	is(&w.s.driver.version, "470.82", "pasted line 2");
	arena_free(w.a);
	read_text(&w, "saved after 4090 steps in a folder\n");
	assert_int_equal(w.s.n_gpus, 0);
	arena_free(w.a);
}

/* -------- logs, mail, pages */

static void prefixes_of_logs(void **state)
{
	static const char *const lines[] = {
		"2024-05-01T12:00:00.123Z PyTorch version: 2.6.0+cu124\n",
		"[2024-04-29 17:15:09,427] [INFO] PyTorch version: 2.6.0+cu124\n",
		"web_1  | PyTorch version: 2.6.0+cu124\n",
		"[rank0]: PyTorch version: 2.6.0+cu124\n",
		"May  1 09:35:42 gpu01 train[12]: PyTorch version: 2.6.0+cu124\n",
		"2024/05/01 12:00:00 stdout F PyTorch version: 2.6.0+cu124\n",
		"(EngineCore_0 pid=12) ERROR 06-01 12:00:00 [core.py:390] PyTorch version: 2.6.0+cu124\n",
		"> > PyTorch version: 2.6.0+cu124\n",
		"**PyTorch version**: 2.6.0+cu124\n",
		"| PyTorch version | 2.6.0+cu124 |\n",
		"PyTorch version:\n2.6.0+cu124\n",
		"<td>PyTorch version: 2.6.0+cu124</td>\n",
		"PyTorch&nbsp;version&#58; 2.6.0&#43;cu124\n",
		"\x1b[32mPyTorch version:\x1b[0m 2.6.0+cu124\n",
		"50%|#####     | 1/2\rPyTorch version: 2.6.0+cu124\n",
		"x=3D1\nPyTorch ver=\nsion: 2.6.0+cu124\n",
	};
	struct paste_world w;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(lines); i++) {
		read_text(&w, lines[i]);
		if (!w.s.n_pythons || !fact_is(&w.s.pythons[0].torch.version, "2.6.0+cu124"))
			fail_msg("%s", lines[i]);
		arena_free(w.a);
	}
}

/* -------- owners */

static void P8_host_and_container(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(
		&w,
		"## On the host\n$ ls /dev/nvidia*\n/dev/nvidia0\n/dev/nvidiactl\n/dev/nvidia-uvm\n"
		"Nvidia driver version: 550.54.14\nLibc version: glibc-2.39\n"
		"## Inside the container\n$ ls /dev/nvidia*\n/dev/nvidia0\n/dev/nvidiactl\n"
		"Libc version: glibc-2.31\nPyTorch version: 2.4.0\n"
		"RuntimeError: CUDA unknown error\n");
	is(&w.s.host.glibc, "2.31", "pasted line 12 (container)");
	/* A container runs on its host's driver. */
	is(&w.s.driver.version, "550.54.14", "pasted line 6 (host)");
	assert_int_equal(w.s.n_nodes, 2);
	assert_false(has(&w, "node-uvm"));
	arena_free(w.a);
}

static void P8_sections_end(void **state)
{
	struct paste_world w;

	(void)state;
	/* Another heading of the level ends a section; a deeper one and a comment do not. */
	read_text(&w, "## Container\n### Versions\n```\n# first\nLibc version: glibc-2.31\n```\n"
		      "RuntimeError: failed\n## Anything else\nLibc version: glibc-2.39\n"
		      "## Host\nNvidia driver version: 550.54\n");
	is(&w.s.host.glibc, "2.31", "pasted line 5 (container)");
	is(&w.s.driver.version, "550.54", "pasted line 11 (host)");
	arena_free(w.a);
	/* The words of an issue's form tell no times apart. */
	read_text(&w, "### Before submitting your issue\nPyTorch version: 2.4.0+cu121\n"
		      "### New feature\nIs CUDA available: False\n");
	is(&w.s.pythons[0].torch.version, "2.4.0+cu121", "pasted line 2");
	assert_int_equal(w.s.n_pythons, 1);
	arena_free(w.a);
}

static void P8_headings_in_Korean(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(
		&w,
		"## \xed\x98\xb8\xec\x8a\xa4\xed\x8a\xb8\nLibc version: glibc-2.39\n"
		"## \xec\xbb\xa8\xed\x85\x8c\xec\x9d\xb4\xeb\x84\x88 \xec\x95\x88\nLibc version: glibc-2.31\n"
		"RuntimeError: failed\n");
	is(&w.s.host.glibc, "2.31", "pasted line 4 (container)");
	arena_free(w.a);
}

static void P8_before_and_after(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(&w, "Before the update:\nPyTorch version: 2.4.0+cu121\nIs CUDA available: True\n"
		      "GPU 0: NVIDIA GeForce RTX 3090\n"
		      "After the update:\nPyTorch version: 2.5.1+cpu\nIs CUDA available: False\n");
	is(&w.s.pythons[0].torch.version, "2.5.1+cpu", "pasted line 6 (after)");
	is(&w.s.pythons[1].torch.version, "2.4.0+cu121", "pasted line 2 (before)");
	assert_true(fact_no(&w.s.pythons[1].active));
	is(&w.s.gpus[0].name, "NVIDIA GeForce RTX 3090", NULL);
	assert_false(has(&w, "cuda-available-true"));
	assert_false(has(&w, "differs:torch.version"));
	arena_free(w.a);
}

static void P8_two_environments_and_two_machines(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(
		&w,
		"(base) ana@gpu01:~$ python -c 'import torch; print(torch.__version__)'\n2.3.0+cu121\n"
		"(dl) ana@gpu01:~$ python -c 'import torch; print(torch.__version__)'\n2.1.0+cpu\n"
		"(dl) ana@gpu01:~$ python t.py\nAssertionError: Torch not compiled with CUDA enabled\n");
	is(&w.s.pythons[0].torch.version, "2.1.0+cpu", NULL);
	assert_int_equal(w.s.n_pythons, 2);
	arena_free(w.a);
	read_text(
		&w,
		"ana@good:~$ cat /proc/driver/nvidia/version\n"
		"NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31\n"
		"ana@bad:~$ nvidia-smi\n"
		"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n");
	assert_false(fact_known(&w.s.driver.version));
	arena_free(w.a);
}

/* -------- project files */

static void P12_project_files_and_what_they_name(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(
		&w,
		"Dockerfile:\n```\nFROM nvidia/cuda:12.4.1-devel-ubuntu22.04\n"
		"RUN pip install torch==2.4.0+cu121 \\\n    --index-url https://download.pytorch.org/whl/cu121\n"
		"```\nand it fails\n");
	assert_int_equal(w.s.n_projects, 1);
	is(&w.s.projects[0].image, "nvidia/cuda:12.4.1-devel-ubuntu22.04", "pasted line 3");
	assert_int_equal(w.s.projects[0].n_packages, 1);
	is(&w.s.projects[0].packages[0].version, "2.4.0", "pasted line 4");
	is(&w.s.projects[0].packages[0].variant, "cu121", NULL);
	arena_free(w.a);
	/* What is asked for is not what is installed, and no file is opened. */
	read_text(&w,
		  "$ cat requirements.txt\ntorch==2.0.0\n-r other.txt\n-r /etc/passwd\n$ pip list\n"
		  "torch 2.5.1\n");
	assert_int_equal(w.s.n_projects, 1);
	is(&w.s.pythons[0].torch.version, "2.5.1", "pasted line 6");
	is(&w.s.projects[0].packages[0].version, "2.0.0", "pasted line 2");
	arena_free(w.a);
	read_text(&w, "From what I see it fails.\nFROM here on nothing works\nRUN away\n");
	assert_int_equal(w.s.n_projects, 0);
	arena_free(w.a);
}

static void P13_Dockerfiles_of_every_form(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(
		&w,
		"```dockerfile\n# escape=`\nARG TAG\nARG BASE=nvidia/cuda:12.4.1-base-ubuntu22.04\n"
		"FROM ${BASE} AS a\nRUN pip install `\n    torch==2.1.0\n"
		"FROM a\nRUN <<EOF\npip install torchvision==0.16.0\nEOF\n```\n");
	assert_true(w.s.n_projects >= 1);
	is(&w.s.projects[w.s.n_projects - 1].image, "nvidia/cuda:12.4.1-base-ubuntu22.04",
	   "pasted line 5");
	arena_free(w.a);
	/* An argument without a value decides nothing, and takes nothing away. */
	read_text(&w, "FROM nvidia/cuda:${TAG}-base\nRUN pip install torch==2.1.0\n"
		      "Torch not compiled with CUDA enabled\n");
	assert_int_equal(w.s.n_projects, 1);
	assert_false(fact_known(&w.s.projects[0].image));
	assert_true(has(&w, "not-compiled"));
	arena_free(w.a);
}

static void P10_P11_broken_project_files(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(
		&w,
		"environment.yml\n```yaml\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\n"
		"c: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\n"
		"dependencies: [*d,*d,*d,*d,*d,*d,*d,*d]\n```\n"
		"pyproject.toml\n```toml\n[project]\nname = \"x\nname = 3\n```\n"
		"Torch not compiled with CUDA enabled\n");
	assert_true(has(&w, "not-compiled"));
	arena_free(w.a);
}

static void numbers_of_errors(void **state)
{
	/* What is printed, and the row of the table that it is; NULL: no error at all. */
	static const struct {
		const char *text, *row;
	} forms[] = {
		{ "cuInit(0) -> 999", "cuda-999" },
		{ "PyCUDA: cuInit failed: 34", "stub-library" },
		{ "Warp CUDA error 34 (in function init_cuda_driver)", "stub-library" },
		{ "Cuda driver error 34 in call at file 'x.h'", "stub-library" },
		{ "cudaGetDeviceCount returned 35", "cuda-35" },
		{ "CUDA Runtime Error(46)", "devices-busy" },
		{ "THCudaCheck FAIL file=THCStorage.cu line=66 error=46 : all", "devices-busy" },
		{ "cuda driver library init failure: 3", "init-error-3" },
		{ "cuModuleLoadData failed with error 222", "ptx-toolchain" },
		{ "numba: [805] Call to cuInit results in", "cuda-805" },
		{ "cuda driver library failed to get device context 999", "cuda-999" },
		{ "cudaGetDeviceCount: 3", NULL },
		{ "CUDA error at pool.cuh 35", NULL },
		{ "CUDA 10.0: error 35.2 ms", NULL },
		{ "cudaMalloc failed to allocate 100 MiB", NULL },
		{ "custom error: 46", NULL },
		{ "cuda_call.cc:35 failed", NULL },
	};
	struct paste_world w;
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		bool any = false;

		read_text(&w, forms[i].text);
		for (k = 0; k < sizeof(forms) / sizeof(forms[0]); k++)
			any |= forms[k].row && has(&w, forms[k].row);
		if (forms[i].row ? !has(&w, forms[i].row) : any)
			fail_msg("%s", forms[i].text);
		arena_free(w.a);
	}
}

static void variables_of_other_shells(void **state)
{
	static const char *const forms[] = {
		"PS C:\\> $env:CUDA_VISIBLE_DEVICES\n1\n",
		"C:\\> echo %CUDA_VISIBLE_DEVICES%\n1\n",
		">>> os.environ[\"CUDA_VISIBLE_DEVICES\"]\n'1'\n",
		"julia> ENV[\"CUDA_VISIBLE_DEVICES\"]\n\"1\"\n",
		"setenv CUDA_VISIBLE_DEVICES 1\n",
		"me@box ~/x> set -gx CUDA_VISIBLE_DEVICES 1\n",
		"setenv('CUDA_VISIBLE_DEVICES', '1')\n",
		"\xe2\x9e\x9c  ~ echo $CUDA_VISIBLE_DEVICES\n1\n",
		"environment:\n  CUDA_VISIBLE_DEVICES: \"1\"\n",
		"- name: CUDA_VISIBLE_DEVICES\n  value: \"1\"\n",
	};
	struct paste_world w;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const char *v;

		read_text(&w, forms[i]);
		v = snapshot_env(&w.s, "CUDA_VISIBLE_DEVICES");
		if (!v || strcmp(v, "1") != 0)
			fail_msg("%s: %s", forms[i], v ? v : "not known");
		arena_free(w.a);
	}
}

static void a_bare_prompt_ends_an_empty_answer(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(&w, "$ ldconfig -p | grep libcuda\n$\n");
	assert_true(has(&w, "ldconfig-no-libcuda"));
	arena_free(w.a);
	read_text(&w, "$ ldconfig -p | grep libcuda\nlibcuda.so.1 => /usr/lib/libcuda.so.1\n$\n");
	assert_false(has(&w, "ldconfig-no-libcuda"));
	arena_free(w.a);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(smi_tables),
		cmocka_unit_test(smi_on_windows),
		cmocka_unit_test(what_is_needed_and_what_is_there),
		cmocka_unit_test(the_same_gpu_twice_is_one),
		cmocka_unit_test(smi_listed),
		cmocka_unit_test(smi_q),
		cmocka_unit_test(smi_csv),
		cmocka_unit_test(pip_show_and_json),
		cmocka_unit_test(conda_forms),
		cmocka_unit_test(uv_forms),
		cmocka_unit_test(ds_report),
		cmocka_unit_test(bitsandbytes_and_xformers),
		cmocka_unit_test(banners_and_builds),
		cmocka_unit_test(docker_inspect),
		cmocka_unit_test(docker_info_and_cli),
		cmocka_unit_test(kubernetes_and_slurm),
		cmocka_unit_test(windows_forms),
		cmocka_unit_test(the_loader),
		cmocka_unit_test(modules_and_boot),
		cmocka_unit_test(prose),
		cmocka_unit_test(prefixes_of_logs),
		cmocka_unit_test(numbers_of_errors),
		cmocka_unit_test(variables_of_other_shells),
		cmocka_unit_test(a_bare_prompt_ends_an_empty_answer),
		cmocka_unit_test(P8_host_and_container),
		cmocka_unit_test(P8_sections_end),
		cmocka_unit_test(P8_headings_in_Korean),
		cmocka_unit_test(P8_before_and_after),
		cmocka_unit_test(P8_two_environments_and_two_machines),
		cmocka_unit_test(P12_project_files_and_what_they_name),
		cmocka_unit_test(P13_Dockerfiles_of_every_form),
		cmocka_unit_test(P10_P11_broken_project_files),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
