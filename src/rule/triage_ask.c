/* SPDX-License-Identifier: Apache-2.0 */
/* The fewest commands that would decide, by what the text shows and what it lacks. */
#include "rule/triage.h"

struct ask {
	const char *terms, *text;
};

static const struct ask asks[] = {
	{ "module-trouble|module-absent|smi-nodev !container",
	  N_("uname -r; lsmod | grep -E 'nvidia|nouveau'; dkms status; mokutil --sb-state; "
	  "lspci -nnk -d 10de:") },
	{ "module-trouble|smi-nodev|rm-init-failed|handle-fails !container",
	  N_("sudo dmesg | grep -iE 'nvrm|nvidia|nouveau|xid'") },
	{ "nvml-mismatch",
	  N_("cat /proc/driver/nvidia/version; ldconfig -p | grep nvidia-ml; uptime -s") },
	{ "cuda-999|init-3|cuda-304 !windows", N_("ls -l /dev/nvidia*; lsmod | grep nvidia_uvm") },
	{ "container|k8s",
	  N_("the whole command or file that starts the container, and nvidia-smi on the host") },
	{ "ort-cpu", N_("python -m pip list | grep -i onnxruntime") },
	{ "notebook",
	  N_("in the notebook: import sys, torch, os; print(sys.executable, "
	  "torch.__version__, torch.version.cuda, os.environ.get('CUDA_VISIBLE_DEVICES'))") },
	{ "no-kernel-image !gpu",
	  N_("python -c \"import torch; print(torch.__version__, torch.cuda.get_arch_list(), "
	  "torch.cuda.get_device_capability())\"") },
	{ "lib-missing|libcuda-missing",
	  N_("ldconfig -p | grep -E 'libcuda|libcud|libcublas'; echo $LD_LIBRARY_PATH") },
	{ "no-dist",
	  N_("python --version; python -m pip --version; python -m pip debug --verbose | head "
	  "-30") },
	{ "!driver !smi-works !module-trouble", N_("nvidia-smi") },
	{ "!torch !ort-cpu !module-trouble",
	  N_("python -c \"import torch; print(torch.__version__, torch.version.cuda, "
	  "torch.cuda.is_available())\"") },
	{ "cuda-fails|cuda-available-false !notebook",
	  N_("the output of: python -m torch.utils.collect_env") },
};

void triage_asks(struct triage *t)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(asks); i++)
		if (t->j->n_asks < 3 && triage_holds(t, asks[i].terms, NULL))
			judge_ask(t->j, "%s", _(asks[i].text));
	if (!t->j->n_asks)
		judge_ask(t->j, "%s",
			  _("the whole error message, with the command that led to it"));
}
