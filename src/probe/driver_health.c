/* SPDX-License-Identifier: Apache-2.0 */
/* NVML's counters of a GPU's health, its place in a virtual machine and its licence. Asks; never
 * resets or sets. */
#include <string.h>

#include "base/arena.h"
#include "probe/driver.h"
#include "probe/nvml_api.h"

enum {
#define REQ(name, args) CALL_##name,
#define OPT(name, args) CALL_##name,
#include "probe/nvml_api.def"
};

#define CALL(ask, api, fn, ...)             \
	((ask)->progress->call = CALL_##fn, \
	 (api)->fn ? (int)(api)->fn(__VA_ARGS__) : (int)CODE_LACKS)

static void ask_license(const struct driver_ask *ask, const struct nvml_api *api, nvmlDevice_t dev,
			struct driver_number *ret)
{
	nvmlGridLicensableFeatures_t f;
	unsigned i;

	ret->code = CODE_NOT_CALLED;
	memset(&f, 0, sizeof(f));
	ret->code = CALL(ask, api, nvmlDeviceGetGridLicensableFeatures_v4, dev, &f);
	ret->n = 0;
	if (!f.isGridLicenseSupported && ret->code == 0)
		ret->code = CODE_NOT_CALLED;
	for (i = 0; i < f.licensableFeaturesCount && i < NVML_GRID_LICENSE_FEATURE_MAX_COUNT; i++)
		if (f.gridLicensableFeatures[i].featureState)
			ret->n = 1;
}

void nvml_health_ask(const struct driver_ask *ask, const struct nvml_api *api, void *dev,
		     struct nvml_device *d)
{
	unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
	nvmlEnableState_t retired = 0, persistence = ~0U;
	nvmlGpuVirtualizationMode_t mode = ~0U;
	unsigned long long ecc = 0;

	d->ecc.code = CALL(ask, api, nvmlDeviceGetTotalEccErrors, dev,
			   NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_VOLATILE_ECC, &ecc);
	d->ecc.n = ecc > INT64_MAX ? INT64_MAX : (int64_t)ecc;
	d->remap_pending.code = d->remap_failed.code =
		CALL(ask, api, nvmlDeviceGetRemappedRows, dev, &corrected, &uncorrected, &pending,
		     &failed);
	d->remap_pending.n = pending;
	d->remap_failed.n = failed;
	/* Pages were retired before rows could be remapped: a GPU has one or the other. */
	d->retired.code = CODE_NOT_CALLED;
	if (d->remap_pending.code)
		d->retired.code =
			CALL(ask, api, nvmlDeviceGetRetiredPagesPendingStatus, dev, &retired);
	d->retired.n = retired;
	d->persistence.code = CALL(ask, api, nvmlDeviceGetPersistenceMode, dev, &persistence);
	d->persistence.n = persistence;
	d->virtualization.code = CALL(ask, api, nvmlDeviceGetVirtualizationMode, dev, &mode);
	d->virtualization.n = mode;
	d->license.code = CODE_NOT_CALLED;
	if (d->virtualization.code == 0 && mode == NVML_GPU_VIRTUALIZATION_MODE_VGPU)
		ask_license(ask, api, dev, &d->license);
}

static const char *virtualization_name(int64_t mode)
{
	static const char *const names[] = { "none", "passthrough", "vgpu", "host-vgpu",
					     "host-vsga" };

	return mode >= 0 && mode < (int64_t)ARRAY_LEN(names) ? names[mode] : NULL;
}

static const char *fabric_name(const struct nvml_device *d)
{
	static const char *const names[] = { "none", "not-started", "in-progress", "completed" };

	if (d->fabric.code || d->fabric.n < 0 || d->fabric.n >= (int64_t)ARRAY_LEN(names))
		return NULL;
	return d->fabric.n == NVML_GPU_FABRIC_STATE_COMPLETED && d->fabric_status
		       ? "failed"
		       : names[d->fabric.n];
}

void nvml_health_facts(struct probe_ctx *p, struct gpu *g, const struct nvml_device *d)
{
	const char *fabric = fabric_name(d), *mode = virtualization_name(d->virtualization.n);

	if (d->ecc.code == 0)
		fact_int(p->a, &g->ecc_errors, d->ecc.n, "nvmlDeviceGetTotalEccErrors");
	if (d->remap_pending.code == 0)
		fact_set(&g->row_remap,
			 d->remap_failed.n    ? "failed"
			 : d->remap_pending.n ? "pending"
					      : "none",
			 "nvmlDeviceGetRemappedRows");
	if (d->retired.code == 0)
		fact_flag(&g->retired_pending, d->retired.n != 0,
			  "nvmlDeviceGetRetiredPagesPendingStatus");
	if (d->persistence.code == 0)
		fact_flag(&g->persistence, d->persistence.n == 1, "nvmlDeviceGetPersistenceMode");
	if (d->virtualization.code == 0 && mode)
		fact_set(&g->virtualization, mode, "nvmlDeviceGetVirtualizationMode");
	if (d->license.code == 0)
		fact_set(&g->license, d->license.n ? "licensed" : "unlicensed",
			 "nvmlDeviceGetGridLicensableFeatures");
	if (fabric)
		fact_set(&g->fabric, fabric, "nvmlDeviceGetGpuFabricInfo");
}
