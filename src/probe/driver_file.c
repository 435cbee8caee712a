/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's answers from a facts file, in place of live calls. The file was checked when it was
 * loaded. */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "model/version.h"
#include "probe/driver.h"

static const char *source_of(struct probe_ctx *p, const char *key)
{
	return arena_printf(p->a, "%s: %s", p->facts_name, key);
}

/* A number that the file gives; else the fact stays, or is absent where there is no library to ask.
 */
static bool number_fact(struct probe_ctx *p, struct fact *f, const struct json *v, const char *key)
{
	int64_t n;

	if (!json_int(v, &n))
		return false;
	fact_int(p->a, f, n, source_of(p, key));
	return true;
}

static void text_fact(struct probe_ctx *p, struct fact *f, const struct json *v, const char *key)
{
	if (json_str(v))
		fact_set(f, json_str(v), source_of(p, key));
}

static void gpu_facts(struct probe_ctx *p, const struct json *j)
{
	const char *address = json_get_str(j, "pci"), *source = source_of(p, "nvml.gpus");
	const char **mig;
	struct gpu *g;
	size_t n;

	address = address ? driver_address(p->a, address) : NULL;
	g = driver_gpu(p, address, source);
	number_fact(p, &g->nvml_index, json_get(j, "index"), "nvml.gpus");
	number_fact(p, &g->nvml_error, json_get(j, "error"), "nvml.gpus");
	number_fact(p, &g->memory_mib, json_get(j, "memory_mib"), "nvml.gpus");
	number_fact(p, &g->processes, json_get(j, "processes"), "nvml.gpus");
	text_fact(p, &g->name, json_get(j, "name"), "nvml.gpus");
	text_fact(p, &g->uuid, json_get(j, "uuid"), "nvml.gpus");
	text_fact(p, &g->mig_mode, json_get(j, "mig"), "nvml.gpus");
	text_fact(p, &g->compute_mode, json_get(j, "compute_mode"), "nvml.gpus");
	if (json_str(json_get(j, "cc")) && cc_parse(json_get_str(j, "cc")) > 0)
		text_fact(p, &g->compute_capability, json_get(j, "cc"), "nvml.gpus");
	mig = json_str_list(p->a, json_get(j, "mig_devices"), &n);
	if (mig)
		fact_list_set(&g->mig_devices, mig, n, source);
}

static void nvml_file(struct probe_ctx *p, const struct json *nvml)
{
	struct driver *d = &p->s->driver;
	const struct json *gpus = json_get(nvml, "gpus"), *j;
	size_t n = 0, i;

	if (number_fact(p, &d->nvml_init, json_get(nvml, "init"), "nvml.init"))
		fact_flag(&p->s->parts.nvml, true, p->facts_name);
	if (json_get_str(nvml, "driver"))
		driver_version_facts(p, json_get_str(nvml, "driver"), source_of(p, "nvml.driver"));
	if (json_get_str(nvml, "cuda"))
		fact_set(&d->cuda_ceiling, json_get_str(nvml, "cuda"), source_of(p, "nvml.cuda"));
	if (json_type(gpus) != JSON_ARRAY)
		return;
	for (j = json_first(gpus); j && n < DRIVER_COUNT_MAX; j = json_next(j), n++)
		gpu_facts(p, j);
	fact_int(p->a, &d->nvml_devices, (int64_t)n, source_of(p, "nvml.gpus"));
	for (i = 0; i < p->s->n_gpus; i++)
		if (p->s->gpus[i].nvml_index.state == FACT_NOT_ASKED)
			fact_absent(&p->s->gpus[i].nvml_index, source_of(p, "nvml.gpus"));
}

/* No code in the file: the call was not made, or there was no library to make it on. */
static void not_called(struct probe_ctx *p, struct fact *f, struct fact *part,
		       const struct library *l)
{
	if (f->state != FACT_NOT_ASKED)
		return;
	if (l->path.state == FACT_ABSENT) {
		fact_absent(f, l->path.source);
		fact_flag(part, true, p->facts_name);
		return;
	}
	*f = (struct fact){ .state = FACT_NOT_ASKED,
			    .source = p->facts_name,
			    .why = _("the facts file has no answer of it") };
	*part = *f;
}

void driver_facts_file(struct probe_ctx *p)
{
	struct driver *d = &p->s->driver;
	int64_t n;

	nvml_file(p, json_get(p->facts, "nvml"));
	if (number_fact(p, &d->cuda_init, json_get(p->facts, "cuInit"), "cuInit"))
		fact_flag(&p->s->parts.cuda, true, p->facts_name);
	if (json_get_int(p->facts, "cuDriverVersion", &n))
		driver_ceiling_fact(p, n, source_of(p, "cuDriverVersion"));
	number_fact(p, &d->cuda_devices, json_get(p->facts, "cuDeviceCount"), "cuDeviceCount");
	not_called(p, &d->nvml_init, &p->s->parts.nvml, &d->libnvml);
	not_called(p, &d->cuda_init, &p->s->parts.cuda, &d->libcuda);
}
