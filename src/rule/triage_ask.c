/* SPDX-License-Identifier: Apache-2.0 */
/* The fewest commands that would decide, by what the text shows and what it lacks. */
#include "rule/triage.h"

enum { ASKS_MAX = 3 };

/* Ready to copy: a comment says where to run it or what to send besides. */
struct ask {
	const char *terms;
	const char *comment; /* NULL: the command says all */
	const char *command;
};

static const struct ask asks[] = {
	{ "module-trouble|module-absent|smi-nodev !container !windows !wsl", NULL,
	  "uname -r; lsmod | grep -E 'nvidia|nouveau'; dkms status; mokutil --sb-state; "
	  "lspci -nnk -d 10de:" },
	{ "module-trouble|smi-nodev|rm-init-failed|handle-fails !container !windows !wsl", NULL,
	  "sudo dmesg | grep -iE 'nvrm|nvidia|nouveau|xid'" },
	{ "kernel-matter !module-trouble !module-absent !smi-nodev !rm-init-failed !handle-fails !container "
	  "!windows !wsl",
	  NULL,
	  "uname -r; lsmod | grep -E 'nvidia|nouveau'; dkms status; modinfo -F version nvidia; "
	  "mokutil --sb-state; sudo dmesg | grep -iE 'nvrm|nvidia|nouveau|xid' | tail -n 40" },
	{ "nvml-fresh", N_("on the host:"),
	  "grep no-cgroups /etc/nvidia-container-runtime/config.toml; getenforce; "
	  "stat -fc %T /sys/fs/cgroup; nvidia-container-cli -V" },
	{ "nvml-mismatch !windows", NULL,
	  "uname -r; cat /proc/driver/nvidia/version; modinfo -F version nvidia; "
	  "ldconfig -p | grep nvidia-ml; uptime -s" },
	{ "cuda-999|init-3|cuda-304 !windows !suspended",
	  N_("whether the machine slept (suspend, hibernation) before it began, and:"),
	  "ls -l /dev/nvidia*; lsmod | grep nvidia; cat /proc/driver/nvidia/version; "
	  "sudo dmesg | grep -iE 'nvrm|xid' | tail -n 30" },
	{ "cuda-999|init-3|cuda-304 !windows suspended", NULL,
	  "ls -l /dev/nvidia*; lsmod | grep nvidia; cat /proc/driver/nvidia/version; "
	  "sudo dmesg | grep -iE 'nvrm|xid' | tail -n 30" },
	{ "wsl cuda-fails|smi-fails|libcuda-missing|no-device|cuda-available-false", NULL,
	  "wsl.exe --version; ls -l /dev/dxg /usr/lib/wsl/lib; ldconfig -p | grep libcuda" },
	{ "k8s", NULL,
	  "kubectl describe pod POD; kubectl describe node NODE | grep -A12 Allocatable; "
	  "kubectl get runtimeclass" },
	{ "slurm", NULL,
	  "scontrol show job $SLURM_JOB_ID | grep -i tres; echo \"$CUDA_VISIBLE_DEVICES\"; "
	  "nvidia-smi -L" },
	{ "container !k8s !container-run",
	  N_("the command or file that starts the container, and on the host:"),
	  "docker inspect CONTAINER --format "
	  "'{{json .HostConfig.DeviceRequests}} {{.HostConfig.Runtime}}'; nvidia-smi" },
	{ "container container-run !k8s !smi-works", N_("on the host:"),
	  "nvidia-smi; docker info | grep -i runtime" },
	{ "ort-cpu", NULL, "python -m pip list | grep -i onnxruntime" },
	{ "notebook", N_("in the notebook:"),
	  "import sys, torch, os; print(sys.executable, torch.__version__, torch.version.cuda, "
	  "os.environ.get('CUDA_VISIBLE_DEVICES'))" },
	{ "no-kernel-image !gpu", NULL,
	  "python -c \"import torch; print(torch.__version__, torch.cuda.get_arch_list(), "
	  "torch.cuda.get_device_capability())\"" },
	{ "lib-missing|libcuda-missing !windows", NULL,
	  "ldconfig -p | grep -E 'libcuda|libcud|libcublas'; echo $LD_LIBRARY_PATH" },
	{ "no-dist", NULL,
	  "python --version; python -m pip --version; python -m pip debug --verbose | head -30" },
	/* One report answers both of the next two. */
	{ "cuda-fails|cuda-available-false !notebook !torch !driver !word-other-program !nvml-mismatch",
	  NULL, "python -m torch.utils.collect_env" },
	{ "!driver !smi-works !module-trouble !nvml-mismatch torch", NULL, "nvidia-smi" },
	{ "!driver !smi-works !module-trouble !nvml-mismatch !torch !cuda-fails !cuda-available-false",
	  NULL, "nvidia-smi" },
	{ "!torch !ort-cpu !module-trouble !kernel-matter !nvml-mismatch !word-other-program !cuda-fails !cuda-available-false",
	  NULL,
	  "python -c \"import torch; print(torch.__version__, torch.version.cuda, "
	  "torch.cuda.is_available())\"" },
	{ "cuda-fails|cuda-available-false !notebook !word-other-program !nvml-mismatch", NULL,
	  "python -m torch.utils.collect_env" },
};

void triage_asks(struct triage *t)
{
	size_t i, n = 0;

	for (i = 0; i < ARRAY_LEN(asks) && n < ASKS_MAX; i++) {
		if (!triage_holds(t, asks[i].terms, NULL))
			continue;
		n++;
		if (asks[i].comment)
			judge_ask(t->j, "# %s", _(asks[i].comment));
		judge_ask(t->j, "%s", asks[i].command);
	}
	if (!n)
		judge_ask(t->j, "# %s",
			  _("the whole error message, with the command that led to it"));
}
