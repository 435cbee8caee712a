/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA's driver API: the questions (in the child) and the facts from the answer (in the parent).
 * Asks only what needs no context.
 */
#include <locale.h>
#include <string.h>

#include "base/arena.h"
#include "model/version.h"
#include "probe/cuda_api.h"
#include "probe/driver.h"

enum {
#define REQ(name, args) CALL_##name,
#define OPT(name, args) CALL_##name,
#include "probe/cuda_api.def"
};

const char *const cuda_call_names[] = {
#define REQ(name, args) #name,
#define OPT(name, args) #name,
#include "probe/cuda_api.def"
};
const size_t n_cuda_calls = ARRAY_LEN(cuda_call_names);

static const struct dl_symbol symbols[] = {
#define REQ(name, args) { #name, offsetof(struct cuda_api, name), true },
#define OPT(name, args) { #name, offsetof(struct cuda_api, name), false },
#include "probe/cuda_api.def"
};

/* Notes which call comes now, makes it, gives its code. */
#define CALL(ask, api, fn, ...)             \
	((ask)->progress->call = CALL_##fn, \
	 (api)->fn ? (int)(api)->fn(__VA_ARGS__) : (int)CODE_LACKS)

/* ------------------------------------------------------------------------------- in the child */

static void ask_uuid(const struct driver_ask *ask, const struct cuda_api *api, CUdevice dev,
		     struct cuda_device *d)
{
	CUuuid uuid = { { 0 } };

	if (api->cuDeviceGetUuid_v2)
		d->has_uuid.code = CALL(ask, api, cuDeviceGetUuid_v2, &uuid, dev);
	else
		d->has_uuid.code = CALL(ask, api, cuDeviceGetUuid, &uuid, dev);
	memcpy(d->uuid, uuid.bytes, sizeof(d->uuid));
}

static void ask_device(const struct driver_ask *ask, const struct cuda_api *api, int index,
		       struct cuda_device *d)
{
	char text[DRIVER_TEXT];
	int major = -1, minor = -1, code;
	CUdevice dev = -1;
	size_t bytes = 0;

	d->handle.code = CALL(ask, api, cuDeviceGet, &dev, index);
	if (d->handle.code)
		return;
	memset(text, 'x', sizeof(text));
	code = CALL(ask, api, cuDeviceGetName, text, (int)sizeof(text), dev);
	driver_take_text(&d->name, code, text, sizeof(text));
	memset(text, 'x', sizeof(text));
	code = CALL(ask, api, cuDeviceGetPCIBusId, text, 32, dev);
	driver_take_text(&d->address, code, text, 32);
	d->major.code = CALL(ask, api, cuDeviceGetAttribute, &major,
			     CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, dev);
	d->minor.code = CALL(ask, api, cuDeviceGetAttribute, &minor,
			     CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, dev);
	d->major.n = major;
	d->minor.n = minor;
	d->memory.code = CALL(ask, api, cuDeviceTotalMem_v2, &bytes, dev);
	d->memory.n = (int64_t)bytes;
	ask_uuid(ask, api, dev, d);
}

long cuda_ask(void *ctx, void *answer, size_t size)
{
	const struct driver_ask *ask = ctx;
	struct cuda_answer *an = answer;
	struct cuda_api api = { 0 };
	int n = 0;

	if (size < sizeof(*an))
		return -1;
	an->init.code = an->version.code = an->count.code = CODE_NOT_CALLED;
	/* dl_load tells causes apart by the loader's words. */
	setlocale(LC_ALL, "C");
	ask->progress->call = -1;
	dl_load(ask->library, symbols, ARRAY_LEN(symbols), &api, &an->library);
	if (an->library.state != DL_LOADED)
		return (long)offsetof(struct cuda_answer, devices);
	an->version.code = CALL(ask, &api, cuDriverGetVersion, &n);
	an->version.n = n;
	an->init.code = 0;
	an->init.n = CALL(ask, &api, cuInit, 0);
	ask->progress->init = (int32_t)an->init.n;
	ask->progress->init_done = 1;
	if (an->init.n != CUDA_SUCCESS)
		return (long)offsetof(struct cuda_answer, devices);
	n = -1;
	an->count.code = CALL(ask, &api, cuDeviceGetCount, &n);
	an->count.n = n;
	if (an->count.code == 0 && n >= 0 && n <= DRIVER_COUNT_MAX)
		an->n = (uint32_t)(n < DRIVER_GPUS_MAX ? n : DRIVER_GPUS_MAX);
	for (n = 0; n < (int)an->n; n++)
		ask_device(ask, &api, n, &an->devices[n]);
	return (long)(offsetof(struct cuda_answer, devices) + an->n * sizeof(an->devices[0]));
}

/* ------------------------------------------------------------------------------ in the parent */

bool cuda_answer_seal(struct cuda_answer *an, size_t n)
{
	size_t head = offsetof(struct cuda_answer, devices), i;

	if (n < head || an->n > DRIVER_GPUS_MAX || n != head + an->n * sizeof(an->devices[0]))
		return false;
	driver_seal(&an->library, NULL, 0);
	for (i = 0; i < an->n; i++) {
		driver_seal(NULL, &an->devices[i].name, 1);
		driver_seal(NULL, &an->devices[i].address, 1);
	}
	return true;
}

static void uuid_fact(struct arena *a, struct gpu *g, const unsigned char *u, const char *source)
{
	fact_set(&g->uuid,
		 arena_printf(a,
			      "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
			      "%02x%02x%02x%02x%02x%02x",
			      u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10],
			      u[11], u[12], u[13], u[14], u[15]),
		 source);
}

/* Only what NVML did not say: it sees the GPUs whole, CUDA what CUDA_VISIBLE_DEVICES and MIG leave.
 */
static void device_facts(struct probe_ctx *p, const struct cuda_device *d)
{
	const char *address = d->address.code == 0 ? driver_address(p->a, d->address.s) : NULL;
	struct gpu *g;

	if (d->handle.code || !address)
		return;
	g = driver_gpu(p, address, "cuDeviceGetPCIBusId");
	if (!fact_known(&g->name) && d->name.code == 0)
		fact_set(&g->name, arena_strdup(p->a, d->name.s), "cuDeviceGetName");
	if (!fact_known(&g->compute_capability) && d->major.code == 0 && d->minor.code == 0 &&
	    d->major.n > 0 && d->major.n < 100 && d->minor.n >= 0 && d->minor.n < 10)
		fact_set(&g->compute_capability, cc_text(p->a, (int)(d->major.n * 10 + d->minor.n)),
			 "cuDeviceGetAttribute");
	if (!fact_known(&g->memory_mib) && d->memory.code == 0 && d->memory.n >> 20 > 0)
		fact_int(p->a, &g->memory_mib, d->memory.n >> 20, "cuDeviceTotalMem");
	if (g->uuid.state == FACT_NOT_ASKED && d->has_uuid.code == 0)
		uuid_fact(p->a, g, d->uuid, "cuDeviceGetUuid");
}

static void count_fact(struct probe_ctx *p, const struct live_calls *calls, const char *failure)
{
	const struct driver_number *count = &calls->cuda_answer->count;
	struct fact *f = &p->s->driver.cuda_devices;

	if (failure)
		fact_broken(f, "cuDeviceGetCount", failure);
	else if (count->code)
		fact_broken(f, "cuDeviceGetCount",
			    arena_printf(p->a, _("cuDeviceGetCount gave error %d"), count->code));
	else if (count->n < 0 || count->n > DRIVER_COUNT_MAX)
		fact_broken(
			f, "cuDeviceGetCount",
			arena_printf(p->a, _("%lld is no number of devices"), (long long)count->n));
	else
		fact_int(p->a, f, count->n, "cuDeviceGetCount");
}

void cuda_facts(struct probe_ctx *p, const struct live_calls *calls)
{
	const struct cuda_answer *an = calls->cuda_answer;
	const char *failure = driver_failure(p->a, &calls->cuda, calls->deadline_ms);
	struct driver *d = &p->s->driver;
	size_t i;

	fact_flag(&p->s->parts.cuda, true, "cuInit");
	/* The version needs no cuInit and stands with a driver that does not start, too. */
	if (!failure && an->version.code == 0)
		driver_ceiling_fact(p, an->version.n, "cuDriverGetVersion");
	driver_end_fact(&d->cuda_end, &calls->cuda, &an->library);
	if (!driver_init_fact(p, &d->cuda_init, &calls->cuda, &an->library, &an->init))
		return;
	count_fact(p, calls, failure);
	for (i = 0; !failure && i < an->n; i++)
		device_facts(p, &an->devices[i]);
}
