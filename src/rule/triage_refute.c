/* SPDX-License-Identifier: Apache-2.0 */
/* What a text that shows the GPU, or a part, at work speaks against. Finds no cause of its own. */
#include "rule/triage.h"

static const struct {
	enum finding_id id;
	const char *terms;
} refuted[] = {
#define AT_WORK                                                                                   \
	"smi-works|cuda-works|cuda-available-true !smi-fails !smi-absent !smi-nodev !cuda-fails " \
	"!cuda-available-false !module-absent !module-trouble !no-driver-seen !container !tf-no-gpu"
	{ FINDING_DRIVER_NOT_INSTALLED, AT_WORK },
	{ FINDING_DRIVER_MODULE_MISSING, AT_WORK },
	{ FINDING_NOUVEAU_BOUND, AT_WORK },
	{ FINDING_SECURE_BOOT_BLOCKS_MODULE, AT_WORK },
	{ FINDING_DRIVER_MODULE_NOT_BUILT, AT_WORK },
	{ FINDING_GPU_NOT_FOUND, AT_WORK },
	{ FINDING_VISIBLE_DEVICES_WRONG,
	  "cuda-works|cuda-available-true !cuda-fails !cuda-available-false !no-device "
	  "!bad-ordinal !error-seen !tf-no-gpu" },
#undef AT_WORK
	{ FINDING_MIG_NO_INSTANCE, "mig-caps-gone mig-devices container|word-podman" },
	{ FINDING_FABRIC_MANAGER_NOT_RUNNING, "gpus-no-fabric" },
	/* Code was looked for that fits the GPU, so one is visible. */
	{ FINDING_VISIBLE_DEVICES_WRONG,
	  "no-kernel-image !no-device !bad-ordinal !cuda-available-false" },
	/* The CUDA provider was looked for, which the package for the processor never does. */
	{ FINDING_ONNXRUNTIME_CPU_SHADOWS_GPU, "ort-load lib-missing|dll-fails !ort-cpu" },
};

void triage_refute(struct triage *t)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(refuted); i++)
		if (triage_holds(t, refuted[i].terms, NULL))
			t->against[refuted[i].id] = true;
}
