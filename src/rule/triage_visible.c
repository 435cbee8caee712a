/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that hold the devices a program is given, by variables, CDI or a scheduler, against those
 * that there are. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "rule/triage.h"

bool triage_device_refused(const struct triage *t)
{
	return triage_no_gpu_got(t) || triage_has(t, "bad-ordinal");
}

/* A UUID, or the beginning of one, that none of the listed GPUs has. */
static bool strange_uuid(const struct snapshot *s, const char *value)
{
	size_t i, n = strcspn(value, ",");

	if (strncmp(value, "GPU-", 4) != 0)
		return false;
	for (i = 0; i < s->n_gpus; i++) {
		const char *uuid = fact_value(&s->gpus[i].uuid, NULL);

		if (!uuid || strncmp(uuid, value, n) == 0)
			return false;
	}
	return s->n_gpus > 0;
}

/* CUDA_VISIBLE_DEVICES empty, -1, or beyond what there is. */
static void visible(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const struct fact *v = snapshot_env_fact(s, "CUDA_VISIBLE_DEVICES");
	struct finding *f;
	bool none, beyond, senseless, unseen;
	long first;

	if (!v || triage_has(t, "nodevfiles") || triage_has(t, "slurm") || triage_has(t, "ray") ||
	    triage_has(t, "more-processes") ||
	    view_starts(view_of(v->value), "MIG-") ||
	    (strchr(v->value, '$') && strcmp(v->value, "$0") != 0))
		return;
	senseless = *v->value && !isdigit((unsigned char)v->value[0]) &&
		    strncmp(v->value, "GPU-", 4) != 0 && strncmp(v->value, "-", 1) != 0 &&
		    strcspn(v->value, "<[{") == strlen(v->value);
	none = senseless || !*v->value || strncmp(v->value, "-1", 2) == 0 ||
	       strcasecmp(v->value, "none") == 0 || strcasecmp(v->value, "all") == 0 ||
	       strcasecmp(v->value, "NoDevFiles") == 0;
	first = strtol(v->value, NULL, 10);
	beyond = (isdigit((unsigned char)v->value[0]) && s->n_gpus > 0 &&
		  (size_t)first >= s->n_gpus) ||
		 strange_uuid(s, v->value);
	/* A UUID that a GPU has selects it: none listed and none got, it is of another machine. */
	unseen = view_starts(view_of(v->value), "GPU-") && !s->n_gpus && triage_device_refused(t);
	if (!none && !beyond && !unseen &&
	    !(isdigit((unsigned char)v->value[0]) && first > 0 && triage_device_refused(t)))
		return;
	f = triage_add(t, FINDING_VISIBLE_DEVICES_WRONG,
		       none && triage_device_refused(t)	    ? 86
		       : beyond && triage_device_refused(t) ? 82
		       : none				    ? 60
							    : 58,
		       "no-device|cuda-available-false|bad-ordinal");
	finding_fact(t->j, f, "CUDA_VISIBLE_DEVICES", v, NULL);
	finding_message(t->j, f,
			none ? _("CUDA_VISIBLE_DEVICES=\"%s\" hides all GPUs.")
			     : _("CUDA_VISIBLE_DEVICES=%s names no GPU that exists here."),
			v->value);
}

/* A list of numbers where there are MIG instances: a process gets one, whatever is listed. */
static void mig_numbers(struct triage *t)
{
	const struct fact *v = snapshot_env_fact(t->j->s, "CUDA_VISIBLE_DEVICES");
	struct finding *f;

	if (!v || !strchr(v->value, ',') || strspn(v->value, "0123456789, ") != strlen(v->value) ||
	    !triage_holds(t, "mig-several complaint", NULL))
		return;
	f = triage_add(t, FINDING_MIG_SINGLE_INSTANCE, 82, "mig-device|mig-word");
	finding_fact(t->j, f, "CUDA_VISIBLE_DEVICES", v, NULL);
}

static void nvidia_visible(struct triage *t)
{
	const struct fact *v = snapshot_env_fact(t->j->s, "NVIDIA_VISIBLE_DEVICES");
	struct finding *f;

	if (!v || (strcmp(v->value, "void") != 0 && strcmp(v->value, "none") != 0 && *v->value))
		return;
	/* Where nvidia-smi lists GPUs, this is a host, on which nothing reads the variable. */
	if (triage_holds(t, "smi-works !container !smi-fails", NULL))
		return;
	f = triage_add(t, FINDING_CONTAINER_NO_GPU_REQUESTED, 82, NULL);
	finding_fact(t->j, f, "NVIDIA_VISIBLE_DEVICES", v, "all");
}

/* Instances come and go: either this one is gone, or the specification is older than it. */
static void cdi_instance(struct triage *t, const char *uuid)
{
	const struct snapshot *s = t->j->s;
	bool any = false, there = false;
	size_t i, k;

	for (i = 0; i < s->n_gpus; i++)
		for (k = 0; k < s->gpus[i].mig_devices.n; k++) {
			any = true;
			there |= strcmp(s->gpus[i].mig_devices.values[k], uuid) == 0;
		}
	triage_add(t, any && !there ? FINDING_MIG_DEVICE_NOT_SELECTED : FINDING_CDI_SPEC_STALE, 90,
		   "cdi-unresolvable");
}

/* A device is asked for by an index that the CDI specification, of an earlier time, doesn't list.
 */
static void cdi_index(struct triage *t)
{
	const char *asked = triage_value(t, "cdi-unresolvable");
	const char *index = asked ? strstr(asked, "nvidia.com/gpu=") : NULL;
	const struct snapshot *s = t->j->s;
	size_t i, listed = 0;

	if (index && strncmp(index + 15, "MIG-", 4) == 0) {
		cdi_instance(t, index + 15);
		return;
	}
	if (!index || !isdigit((unsigned char)index[15]))
		return;
	for (i = 0; i < s->n_signs; i++) {
		if (!fact_is(&s->signs[i].id, "cdi-listed"))
			continue;
		listed++;
		if (fact_is(&s->signs[i].value, asked))
			return;
	}
	if (!listed)
		return;
	if ((size_t)strtol(index + 15, NULL, 10) < s->n_gpus)
		triage_add(t, FINDING_CDI_SPEC_STALE, 92, "cdi-unresolvable cdi-listed");
	else if (s->n_gpus)
		triage_add(t, FINDING_VISIBLE_DEVICES_WRONG, 88, "cdi-unresolvable cdi-listed");
}

/* The files that the CDI specification names are of another driver than the one that is there. */
static void cdi_driver(struct triage *t)
{
	const char *named = triage_value(t, "cdi-names-driver");
	const char *module = triage_value(t, "modinfo-version");
	const struct fact *driver = triage_driver(t);
	const char *have = driver ? driver->value : module;

	if (!named || !have || strcmp(named, have) == 0)
		return;
	triage_add(t, FINDING_CDI_SPEC_STALE, 84, "cdi-names-driver");
}

/* The only GPU that was passed in has the host's number that the variable names. */
static bool only_node(const struct snapshot *s, const char *value)
{
	size_t i, gpus = 0;
	bool same = false;

	for (i = 0; i < s->n_nodes; i++) {
		const char *name = fact_value(&s->nodes[i].name, "");

		if (strncmp(name, "nvidia", 6) != 0 || !isdigit((unsigned char)name[6]))
			continue;
		gpus++;
		same = strcmp(name + 6, value) == 0;
	}
	return gpus == 1 && same;
}

static void constraint(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const struct fact *v = snapshot_env_fact(s, "CUDA_VISIBLE_DEVICES");
	size_t i, gpus = 0;
	struct finding *f;
	bool named;

	if (!v || !isdigit((unsigned char)v->value[0]))
		return;
	named = only_node(s, v->value);
	if (!triage_has(t, "slurm") && !(named && triage_has(t, "container")))
		return;
	for (i = 0; i < s->n_nodes; i++) {
		const char *name = fact_value(&s->nodes[i].name, "");

		gpus += strncmp(name, "nvidia", 6) == 0 && isdigit((unsigned char)name[6]);
	}
	if (!gpus || (named && s->n_gpus))
		gpus = s->n_gpus;
	if (!gpus || (size_t)strtol(v->value, NULL, 10) < gpus)
		return;
	f = triage_add(t, FINDING_SCHEDULER_DEVICE_CONSTRAINT, 84, "slurm");
	finding_fact(t->j, f, "CUDA_VISIBLE_DEVICES", v, NULL);
}

void triage_visible(struct triage *t)
{
	visible(t);
	mig_numbers(t);
	nvidia_visible(t);
	cdi_index(t);
	cdi_driver(t);
	constraint(t);
}
