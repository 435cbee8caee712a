/* SPDX-License-Identifier: Apache-2.0 */
/* NVML: the questions (in the child) and the facts from the answer (in the parent). Changes nothing
 * on a GPU. */
#include <locale.h>
#include <string.h>

#include "base/arena.h"
#include "model/version.h"
#include "probe/driver.h"
#include "probe/nvml_api.h"

enum {
#define REQ(name, args) CALL_##name,
#define OPT(name, args) CALL_##name,
#include "probe/nvml_api.def"
};

const char *const nvml_call_names[] = {
#define REQ(name, args) #name,
#define OPT(name, args) #name,
#include "probe/nvml_api.def"
};
const size_t n_nvml_calls = ARRAY_LEN(nvml_call_names);

static const struct dl_symbol symbols[] = {
#define REQ(name, args) { #name, offsetof(struct nvml_api, name), true },
#define OPT(name, args) { #name, offsetof(struct nvml_api, name), false },
#include "probe/nvml_api.def"
};

#define CALL(ask, api, fn, ...)             \
	((ask)->progress->call = CALL_##fn, \
	 (api)->fn ? (int)(api)->fn(__VA_ARGS__) : (int)CODE_LACKS)

/* ------------------------------------------------------------------------------- in the child */

static void ask_pci(const struct driver_ask *ask, const struct nvml_api *api, nvmlDevice_t dev,
		    struct nvml_device *d)
{
	nvmlPciInfo_t pci;

	memset(&pci, 'x', sizeof(pci));
	d->pci.code = CALL(ask, api, nvmlDeviceGetPciInfo_v3, dev, &pci);
	driver_take_text(&d->address, d->pci.code, pci.busId, sizeof(pci.busId));
	d->pci_id = pci.pciDeviceId;
	d->pci_subsystem = pci.pciSubSystemId;
}

static void ask_numbers(const struct driver_ask *ask, const struct nvml_api *api, nvmlDevice_t dev,
			struct nvml_device *d)
{
	nvmlGpuFabricInfo_t fabric = { .state = 0xff };
	nvmlMemory_t memory = { 0 };
	nvmlComputeMode_t mode = ~0U;
	unsigned mig = ~0U, pending = ~0U;
	int major = -1, minor = -1;

	d->major.code = d->minor.code =
		CALL(ask, api, nvmlDeviceGetCudaComputeCapability, dev, &major, &minor);
	d->major.n = major;
	d->minor.n = minor;
	d->memory.code = CALL(ask, api, nvmlDeviceGetMemoryInfo, dev, &memory);
	d->memory.n = (int64_t)memory.total;
	d->compute_mode.code = CALL(ask, api, nvmlDeviceGetComputeMode, dev, &mode);
	d->compute_mode.n = mode;
	d->mig.code = CALL(ask, api, nvmlDeviceGetMigMode, dev, &mig, &pending);
	d->mig.n = mig;
	d->fabric.code = CALL(ask, api, nvmlDeviceGetGpuFabricInfo, dev, &fabric);
	d->fabric.n = fabric.state;
	d->fabric_status = fabric.status;
}

static void ask_mig(const struct driver_ask *ask, const struct nvml_api *api, nvmlDevice_t dev,
		    uint32_t gpu, struct nvml_answer *an)
{
	char text[DRIVER_TEXT];
	nvmlDevice_t mig;
	unsigned i, max = 0;
	int code;

	if (CALL(ask, api, nvmlDeviceGetMaxMigDeviceCount, dev, &max) != 0)
		return;
	for (i = 0; i < max && i < DRIVER_MIG_MAX && an->n_mig < DRIVER_MIG_MAX; i++) {
		mig = NULL;
		if (CALL(ask, api, nvmlDeviceGetMigDeviceHandleByIndex, dev, i, &mig) != 0)
			continue;
		memset(text, 'x', sizeof(text));
		code = CALL(ask, api, nvmlDeviceGetUUID, mig, text, sizeof(text));
		an->mig[an->n_mig].gpu = gpu;
		driver_take_text(&an->mig[an->n_mig].uuid, code, text, sizeof(text));
		an->n_mig++;
	}
}

static void ask_device(const struct driver_ask *ask, const struct nvml_api *api, uint32_t index,
		       struct nvml_answer *an)
{
	struct nvml_device *d = &an->devices[index];
	char text[DRIVER_TEXT];
	nvmlDevice_t dev = NULL;
	int code;

	d->handle.code = CALL(ask, api, nvmlDeviceGetHandleByIndex_v2, index, &dev);
	if (d->handle.code)
		return;
	memset(text, 'x', sizeof(text));
	code = CALL(ask, api, nvmlDeviceGetName, dev, text, sizeof(text));
	driver_take_text(&d->name, code, text, sizeof(text));
	memset(text, 'x', sizeof(text));
	code = CALL(ask, api, nvmlDeviceGetUUID, dev, text, sizeof(text));
	driver_take_text(&d->uuid, code, text, sizeof(text));
	ask_pci(ask, api, dev, d);
	ask_numbers(ask, api, dev, d);
	nvml_health_ask(ask, api, dev, d);
	if (d->mig.code == 0 && d->mig.n == NVML_DEVICE_MIG_ENABLE)
		ask_mig(ask, api, dev, index, an);
}

static void ask_system(const struct driver_ask *ask, const struct nvml_api *api,
		       struct nvml_answer *an)
{
	nvmlConfComputeSystemState_t cc = { 0 };
	char text[NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE];
	unsigned count = ~0U, ready = 0;
	int n = 0;

	memset(text, 'x', sizeof(text));
	an->driver.code = CALL(ask, api, nvmlSystemGetDriverVersion, text, sizeof(text));
	driver_take_text(&an->driver, an->driver.code, text, sizeof(text));
	an->cuda.code = CALL(ask, api, nvmlSystemGetCudaDriverVersion_v2, &n);
	an->cuda.n = n;
	an->conf_compute.code = CALL(ask, api, nvmlSystemGetConfComputeState, &cc);
	an->conf_compute.n = cc.ccFeature;
	an->conf_ready.code = CODE_NOT_CALLED;
	if (an->conf_compute.code == 0 && an->conf_compute.n != NVML_CC_SYSTEM_FEATURE_DISABLED)
		an->conf_ready.code =
			CALL(ask, api, nvmlSystemGetConfComputeGpusReadyState, &ready);
	an->conf_ready.n = ready;
	an->count.code = CALL(ask, api, nvmlDeviceGetCount_v2, &count);
	an->count.n = count;
	if (an->count.code == 0 && count <= DRIVER_COUNT_MAX)
		an->n = count < DRIVER_GPUS_MAX ? count : DRIVER_GPUS_MAX;
}

long nvml_ask(void *ctx, void *answer, size_t size)
{
	const struct driver_ask *ask = ctx;
	struct nvml_answer *an = answer;
	struct nvml_api api = { 0 };
	uint32_t i;

	if (size < sizeof(*an))
		return -1;
	an->init.code = an->cuda.code = an->count.code = an->driver.code = CODE_NOT_CALLED;
	an->conf_compute.code = an->conf_ready.code = CODE_NOT_CALLED;
	setlocale(LC_ALL, "C");
	ask->progress->call = -1;
	dl_load(ask->library, symbols, ARRAY_LEN(symbols), &api, &an->library);
	if (an->library.state != DL_LOADED)
		return (long)offsetof(struct nvml_answer, devices);
	ask->progress->call = CALL_nvmlInit_v2;
	an->init.code = 0;
	an->init.n = (int)api.nvmlInit_v2();
	ask->progress->init = (int32_t)an->init.n;
	ask->progress->init_done = 1;
	if (an->init.n != NVML_SUCCESS)
		return (long)offsetof(struct nvml_answer, devices);
	ask_system(ask, &api, an);
	for (i = 0; i < an->n; i++)
		ask_device(ask, &api, i, an);
	return (long)(offsetof(struct nvml_answer, devices) + an->n * sizeof(an->devices[0]));
}

/* ------------------------------------------------------------------------------ in the parent */

bool nvml_answer_seal(struct nvml_answer *an, size_t n)
{
	size_t head = offsetof(struct nvml_answer, devices), i;

	if (n < head || an->n > DRIVER_GPUS_MAX || an->n_mig > DRIVER_MIG_MAX ||
	    n != head + an->n * sizeof(an->devices[0]))
		return false;
	driver_seal(&an->library, &an->driver, 1);
	for (i = 0; i < an->n_mig; i++)
		driver_seal(NULL, &an->mig[i].uuid, 1);
	for (i = 0; i < an->n; i++) {
		driver_seal(NULL, &an->devices[i].name, 1);
		driver_seal(NULL, &an->devices[i].uuid, 1);
		driver_seal(NULL, &an->devices[i].address, 1);
	}
	return true;
}

/* A text with its code: known, broken if senseless; any other code leaves the fact as it was. */
static void text_fact(struct arena *a, struct fact *f, const struct driver_text *t,
		      const char *source)
{
	if (t->code == 0)
		fact_set(f, arena_strdup(a, t->s), source);
	else if (t->code == CODE_GARBAGE)
		fact_broken(f, source, _("the library gave no readable text"));
}

/* The first code that speaks of a sick device; what a call cannot do here is no sickness. */
static int device_error(const struct nvml_device *d)
{
	const int codes[] = { d->handle.code, d->name.code, d->uuid.code, d->pci.code,
			      d->memory.code };
	size_t i;

	for (i = 0; i < ARRAY_LEN(codes); i++)
		if (codes[i] > 0 && codes[i] != NVML_ERROR_NOT_SUPPORTED &&
		    codes[i] != NVML_ERROR_FUNCTION_NOT_FOUND)
			return codes[i];
	return 0;
}

static const char *pci_pair(struct arena *a, uint32_t both)
{
	return arena_printf(a, "%04x:%04x", both & 0xffff, both >> 16);
}

static void number_facts(struct probe_ctx *p, struct gpu *g, const struct nvml_device *d)
{
	const char *mode;

	if (d->major.code == 0 && d->major.n > 0 && d->major.n < 100 && d->minor.n >= 0 &&
	    d->minor.n < 10)
		fact_set(&g->compute_capability, cc_text(p->a, (int)(d->major.n * 10 + d->minor.n)),
			 "nvmlDeviceGetCudaComputeCapability");
	else if (d->major.code == 0)
		fact_broken(&g->compute_capability, "nvmlDeviceGetCudaComputeCapability",
			    arena_printf(p->a, _("%lld.%lld is no compute capability"),
					 (long long)d->major.n, (long long)d->minor.n));
	if (d->memory.code == 0 && d->memory.n >> 20 > 0)
		fact_int(p->a, &g->memory_mib, d->memory.n >> 20, "nvmlDeviceGetMemoryInfo");
	else if (d->memory.code == 0)
		fact_broken(
			&g->memory_mib, "nvmlDeviceGetMemoryInfo",
			arena_printf(p->a, _("%lld bytes are no memory"), (long long)d->memory.n));
	mode = driver_compute_mode(d->compute_mode.n);
	if (d->compute_mode.code == 0 && mode)
		fact_set(&g->compute_mode, mode, "nvmlDeviceGetComputeMode");
	else if (d->compute_mode.code == 0)
		fact_broken(&g->compute_mode, "nvmlDeviceGetComputeMode",
			    arena_printf(p->a, _("%lld is no compute mode"),
					 (long long)d->compute_mode.n));
}

static void mig_facts(struct probe_ctx *p, struct gpu *g, const struct nvml_answer *an,
		      uint32_t index)
{
	const struct nvml_device *d = &an->devices[index];
	const char **list;
	size_t n = 0, i;

	if (d->mig.code == NVML_ERROR_NOT_SUPPORTED || d->mig.code == CODE_LACKS)
		fact_set(&g->mig_mode, "N/A", "nvmlDeviceGetMigMode");
	else if (d->mig.code == 0 && d->mig.n <= NVML_DEVICE_MIG_ENABLE)
		fact_set(&g->mig_mode, d->mig.n ? "enabled" : "disabled", "nvmlDeviceGetMigMode");
	else
		fact_broken(&g->mig_mode, "nvmlDeviceGetMigMode",
			    arena_printf(p->a, _("code %d, mode %lld"), d->mig.code,
					 (long long)d->mig.n));
	if (!fact_is(&g->mig_mode, "enabled"))
		return;
	list = arena_calloc(p->a, an->n_mig + 1, sizeof(*list));
	for (i = 0; i < an->n_mig; i++)
		if (an->mig[i].gpu == index && an->mig[i].uuid.code == 0)
			list[n++] = arena_strdup(p->a, an->mig[i].uuid.s);
	fact_list_set(&g->mig_devices, list, n, "nvmlDeviceGetMigDeviceHandleByIndex");
}

/* The one GPU of the PCI bus that no answer was for: a lost device has no address in NVML. */
static struct gpu *only_unclaimed(struct probe_ctx *p)
{
	struct gpu *found = NULL;
	size_t i;

	for (i = 0; i < p->s->n_gpus; i++) {
		if (p->s->gpus[i].nvml_index.state != FACT_NOT_ASKED)
			continue;
		if (found)
			return NULL;
		found = &p->s->gpus[i];
	}
	return found;
}

static const char *device_address(struct probe_ctx *p, const struct nvml_device *d)
{
	return d->handle.code == 0 && d->address.code == 0 ? driver_address(p->a, d->address.s)
							   : NULL;
}

static void device_facts(struct probe_ctx *p, const struct nvml_answer *an, uint32_t index)
{
	const struct nvml_device *d = &an->devices[index];
	const char *address = device_address(p, d);
	struct gpu *g = NULL;
	int error = device_error(d);

	if (!address)
		g = only_unclaimed(p);
	if (!g)
		g = driver_gpu(p, address, "nvmlDeviceGetPciInfo");
	fact_int(p->a, &g->nvml_index, index, "nvmlDeviceGetHandleByIndex");
	if (error)
		fact_int(p->a, &g->nvml_error, error, "NVML");
	if (d->handle.code)
		return;
	text_fact(p->a, &g->name, &d->name, "nvmlDeviceGetName");
	text_fact(p->a, &g->uuid, &d->uuid, "nvmlDeviceGetUUID");
	if (d->pci.code == 0 && address && !fact_known(&g->pci_id))
		fact_set(&g->pci_id, pci_pair(p->a, d->pci_id), "nvmlDeviceGetPciInfo");
	if (d->pci.code == 0 && address && !fact_known(&g->subsystem))
		fact_set(&g->subsystem, pci_pair(p->a, d->pci_subsystem), "nvmlDeviceGetPciInfo");
	number_facts(p, g, d);
	nvml_health_facts(p, g, d);
	mig_facts(p, g, an, index);
}

static void count_fact(struct probe_ctx *p, const struct nvml_answer *an)
{
	struct fact *f = &p->s->driver.nvml_devices;

	if (an->count.code)
		fact_broken(
			f, "nvmlDeviceGetCount",
			arena_printf(p->a, _("nvmlDeviceGetCount gave error %d"), an->count.code));
	else if (an->count.n < 0 || an->count.n > DRIVER_COUNT_MAX)
		fact_broken(f, "nvmlDeviceGetCount",
			    arena_printf(p->a, _("%lld is no number of devices"),
					 (long long)an->count.n));
	else
		fact_int(p->a, f, an->count.n, "nvmlDeviceGetCount");
}

static void version_facts(struct probe_ctx *p, const struct nvml_answer *an)
{
	struct fact *f = &p->s->driver.nvml_driver;
	struct version v;

	if (an->driver.code == 0 && version_parse(view_of(an->driver.s), &v))
		driver_version_facts(p, arena_strdup(p->a, an->driver.s),
				     "nvmlSystemGetDriverVersion");
	else if (an->driver.code == 0)
		fact_broken(f, "nvmlSystemGetDriverVersion",
			    arena_printf(p->a, _("\"%s\" is no driver version"), an->driver.s));
	else if (an->driver.code == CODE_GARBAGE)
		text_fact(p->a, f, &an->driver, "nvmlSystemGetDriverVersion");
	if (an->cuda.code == 0)
		driver_ceiling_fact(p, an->cuda.n, "nvmlSystemGetCudaDriverVersion");
}

/* Confidential computing; GPUs take work only once they were attested and set ready. */
static void conf_facts(struct probe_ctx *p, const struct nvml_answer *an)
{
	struct driver *d = &p->s->driver;

	if (an->conf_compute.code == 0)
		fact_set(&d->conf_compute,
			 an->conf_compute.n == NVML_CC_SYSTEM_FEATURE_DISABLED ? "off" : "on",
			 "nvmlSystemGetConfComputeState");
	if (an->conf_ready.code == 0)
		fact_flag(&d->conf_ready, an->conf_ready.n != 0,
			  "nvmlSystemGetConfComputeGpusReadyState");
}

void nvml_facts(struct probe_ctx *p, const struct live_calls *calls)
{
	const struct nvml_answer *an = calls->nvml_answer;
	const char *failure = driver_failure(p->a, &calls->nvml, calls->deadline_ms);
	struct snapshot *s = p->s;
	uint32_t i;
	size_t k;

	fact_flag(&s->parts.nvml, true, "nvmlInit_v2");
	driver_end_fact(&s->driver.nvml_end, &calls->nvml, &an->library);
	if (!driver_init_fact(p, &s->driver.nvml_init, &calls->nvml, &an->library, &an->init))
		return;
	if (failure) {
		fact_broken(&s->driver.nvml_devices, "nvmlDeviceGetCount", failure);
		return;
	}
	version_facts(p, an);
	conf_facts(p, an);
	count_fact(p, an);
	/* First those with an address, so that one GPU can be left for one without. */
	for (i = 0; i < an->n; i++)
		if (device_address(p, &an->devices[i]))
			device_facts(p, an, i);
	for (i = 0; i < an->n; i++)
		if (!device_address(p, &an->devices[i]))
			device_facts(p, an, i);
	for (k = 0; k < s->n_gpus && fact_known(&s->driver.nvml_devices); k++)
		if (s->gpus[k].nvml_index.state == FACT_NOT_ASKED)
			fact_absent(&s->gpus[k].nvml_index, "NVML");
}
