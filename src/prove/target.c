/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs and MIG devices by UUID, in NVML's order. */
#include "prove/target.h"

#include <string.h>

#include "base/arena.h"
#include "probe/nvml_api.h"
#include "prove/signals.h"
#include "sys/child.h"
#include "sys/dl.h"
#include "sys/sysroot.h"

enum { DEADLINE_MS = 10000, ENTRIES_MAX = 1024, MIG_MAX = 16 };

struct api {
	nvmlReturn_t (*nvmlInit_v2)(void);
	nvmlReturn_t (*nvmlDeviceGetCount_v2)(unsigned int *);
	nvmlReturn_t (*nvmlDeviceGetHandleByIndex_v2)(unsigned int, nvmlDevice_t *);
	nvmlReturn_t (*nvmlDeviceGetUUID)(nvmlDevice_t, char *, unsigned int);
	nvmlReturn_t (*nvmlDeviceGetMigMode)(nvmlDevice_t, unsigned int *, unsigned int *);
	nvmlReturn_t (*nvmlDeviceGetMaxMigDeviceCount)(nvmlDevice_t, unsigned int *);
	nvmlReturn_t (*nvmlDeviceGetMigDeviceHandleByIndex)(nvmlDevice_t, unsigned int,
							    nvmlDevice_t *);
};

#define ROW(name)                                 \
	{                                         \
#name, offsetof(struct api, name), true \
	}
static const struct dl_symbol symbols[] = {
	ROW(nvmlInit_v2),
	ROW(nvmlDeviceGetCount_v2),
	ROW(nvmlDeviceGetHandleByIndex_v2),
	ROW(nvmlDeviceGetUUID),
	ROW(nvmlDeviceGetMigMode),
	ROW(nvmlDeviceGetMaxMigDeviceCount),
	ROW(nvmlDeviceGetMigDeviceHandleByIndex),
};

static bool begins(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

bool target_hint(struct arena *a)
{
	static const char capabilities[] = "/proc/driver/nvidia/capabilities";
	struct dirlist gpus, parts;
	struct sysroot *root;
	struct err e;
	size_t i, k;

	if (sysroot_open(a, "/", &root, &e) ||
	    sysroot_list(root, a, capabilities, ENTRIES_MAX, &gpus))
		return false;
	for (i = 0; i < gpus.n; i++) {
		if (!begins(gpus.names[i], "gpu") ||
		    sysroot_list(root, a, arena_printf(a, "%s/%s/mig", capabilities, gpus.names[i]),
				 ENTRIES_MAX, &parts))
			continue;
		for (k = 0; k < parts.n; k++)
			if (begins(parts.names[k], "gi"))
				return true;
	}
	return false;
}

static void add(const struct api *api, nvmlDevice_t dev, bool mig, struct targets *t)
{
	char uuid[sizeof(t->uuid[0])] = "";

	if (t->n >= TARGETS_MAX || api->nvmlDeviceGetUUID(dev, uuid, sizeof(uuid)))
		return;
	uuid[sizeof(uuid) - 1] = '\0';
	if (!begins(uuid, mig ? "MIG-" : "GPU-"))
		return;
	memcpy(t->uuid[t->n++], uuid, sizeof(uuid));
	t->mig = t->mig || mig;
}

static long ask(void *ctx, void *answer, size_t size)
{
	struct targets *t = answer;
	struct api api = { 0 };
	struct dl_report r;
	unsigned n = 0, i, k, most, now, pending;
	nvmlDevice_t dev, part;

	(void)ctx;
	dl_load("libnvidia-ml.so.1", symbols, ARRAY_LEN(symbols), &api, &r);
	if (size < sizeof(*t) || r.state != DL_LOADED || api.nvmlInit_v2() ||
	    api.nvmlDeviceGetCount_v2(&n))
		return -1;
	*t = (struct targets){ .n = 0 };
	for (i = 0; i < n && i < TARGETS_MAX; i++) {
		if (api.nvmlDeviceGetHandleByIndex_v2(i, &dev))
			continue;
		now = pending = most = 0;
		if (api.nvmlDeviceGetMigMode(dev, &now, &pending) || now != 1) {
			add(&api, dev, false, t);
			continue;
		}
		if (api.nvmlDeviceGetMaxMigDeviceCount(dev, &most) || most > MIG_MAX)
			most = MIG_MAX;
		for (k = 0; k < most; k++)
			if (!api.nvmlDeviceGetMigDeviceHandleByIndex(dev, k, &part))
				add(&api, part, true, t);
	}
	return (long)sizeof(*t);
}

bool target_list(struct targets *ret, struct prove_signals *signals)
{
	struct child_result r;
	struct child c;
	uint32_t i;

	child_start(&c, ask, NULL, sizeof(*ret), NULL, DEADLINE_MS);
	if (!signals_wait(signals, &c, 0))
		return false;
	child_wait(&c, ret, sizeof(*ret), &r);
	if (r.end != CHILD_ANSWERED || r.n != sizeof(*ret) || ret->n > TARGETS_MAX)
		return false;
	for (i = 0; i < ret->n; i++)
		ret->uuid[i][sizeof(ret->uuid[i]) - 1] = '\0';
	return ret->n && ret->mig;
}
