/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA_VISIBLE_DEVICES as the driver reads it, which is looser than it looks (seen with 580 on an
 * H200: tests/captures/driver):
 * - a number is what strtol takes: blanks and a sign before it, and anything behind it is not read
 *   ("0x1" is 0, "0-1" is 0, "-0" is 0);
 * - a UUID begins with "GPU-" in capitals, may be cut anywhere behind that, and its digits may be
 *   of either case; what is longer than a UUID is not read;
 * - the list ends at the first entry that names nothing, is negative, or is of another kind than
 *   the first; a device that is named twice makes cuInit fail with 101.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "rule/look.h"

enum kind { KIND_NONE, KIND_NUMBER, KIND_GPU, KIND_MIG };

struct entry {
	enum kind kind;
	uint64_t number;
	struct view text;
};

/* What strtol would give; false for what begins with no number, and for a negative one. */
static bool number_of(struct view v, uint64_t *ret)
{
	enum { TOO_LARGE = 1 << 20 };
	bool minus = view_starts(v, "-");
	size_t i;

	if (minus || view_starts(v, "+"))
		v = view_skip(v, 1);
	*ret = 0;
	for (i = 0; i < v.n && isdigit((unsigned char)v.p[i]); i++)
		*ret = *ret < TOO_LARGE ? *ret * 10 + (uint64_t)(v.p[i] - '0') : TOO_LARGE;
	return i && (!minus || !*ret);
}

/* The next entry of the list; KIND_NONE ends it. */
static struct entry next(struct view *rest)
{
	struct entry e = { .kind = KIND_NONE };

	e.text = view_trim(view_cut(*rest, ',', rest));
	if (view_starts(e.text, "GPU-") && e.text.n > strlen("GPU-"))
		e.kind = KIND_GPU;
	else if (view_starts(e.text, "MIG-"))
		e.kind = KIND_MIG;
	else if (number_of(e.text, &e.number))
		e.kind = KIND_NUMBER;
	return e;
}

/* CUDA counts what the driver lists; where that is known, the other cards on the bus have no
 * number. */
static bool has_number(const struct snapshot *s, size_t index)
{
	size_t i;

	if (!look_is_nvidia(&s->gpus[index]))
		return false;
	if (fact_known(&s->gpus[index].nvml_index))
		return true;
	for (i = 0; i < s->n_gpus; i++)
		if (fact_known(&s->gpus[i].nvml_index))
			return false;
	return true;
}

/* Position in the order in which CUDA counts: by PCI when asked for or when all are alike, else the
 * fastest first. */
static size_t cuda_index(const struct snapshot *s, size_t index)
{
	const char *order = snapshot_env(s, "CUDA_DEVICE_ORDER");
	bool by_pci = order && strcmp(order, "PCI_BUS_ID") == 0;
	size_t i, rank = 0;

	for (i = 0; i < s->n_gpus; i++) {
		int other = look_cc(&s->gpus[i]), own = look_cc(&s->gpus[index]);

		if (i == index || !has_number(s, i))
			continue;
		if (by_pci || other == own ? i < index : other > own)
			rank++;
	}
	return rank;
}

static bool is_uuid_of(const struct gpu *g, struct view entry)
{
	const char *uuid = fact_value(&g->uuid, NULL);
	size_t n = uuid && strlen(uuid) < entry.n ? strlen(uuid) : entry.n;

	return !uuid || strncasecmp(uuid, entry.p, n) == 0;
}

static bool is_mig_of(const struct gpu *g, struct view entry)
{
	const char *uuid = fact_value(&g->uuid, NULL);
	size_t i;

	for (i = 0; i < g->mig_devices.n; i++)
		if (view_is(entry, g->mig_devices.values[i]))
			return true;
	/* The old form of a MIG name holds the GPU's UUID and two numbers: MIG-GPU-.../1/0. */
	return uuid && view_chr(entry, '/') > 0 && view_find(entry, uuid) >= 0 &&
	       !fact_is(&g->mig_mode, "disabled") && !fact_is(&g->mig_mode, "N/A");
}

static bool entry_names(const struct snapshot *s, size_t index, const struct entry *e)
{
	switch (e->kind) {
	case KIND_NUMBER:
		return has_number(s, index) && e->number == cuda_index(s, index);
	case KIND_GPU:
		return look_is_nvidia(&s->gpus[index]) && is_uuid_of(&s->gpus[index], e->text);
	case KIND_MIG:
		return look_is_nvidia(&s->gpus[index]) && is_mig_of(&s->gpus[index], e->text);
	case KIND_NONE:
		break;
	}
	return false;
}

/* The GPU that the entry names; n_gpus for none. */
static size_t named(const struct snapshot *s, const struct entry *e)
{
	size_t i;

	for (i = 0; i < s->n_gpus; i++)
		if (entry_names(s, i, e))
			return i;
	return s->n_gpus;
}

bool look_gpu_used(const struct snapshot *s, size_t index)
{
	const char *visible = snapshot_env(s, "CUDA_VISIBLE_DEVICES");
	enum kind first = KIND_NONE;
	struct entry e;
	struct view rest;

	if (!look_is_nvidia(&s->gpus[index]))
		return false;
	/* Where CUDA works, a card that another driver holds is none that it sees. */
	if (look_cuda_works(s) && fact_known(&s->gpus[index].kernel_driver) &&
	    !fact_is(&s->gpus[index].kernel_driver, "nvidia"))
		return false;
	if (!visible)
		return true;
	rest = view_of(visible);
	while (rest.n) {
		e = next(&rest);
		first = first == KIND_NONE ? e.kind : first;
		if (e.kind == KIND_NONE || e.kind != first || named(s, &e) == s->n_gpus)
			return false;
		if (entry_names(s, index, &e))
			return true;
	}
	return false;
}

bool look_visible_twice(const struct snapshot *s)
{
	const char *visible = snapshot_env(s, "CUDA_VISIBLE_DEVICES");
	struct view rest = view_of(visible ? visible : ""), before;
	enum kind first = KIND_NONE;
	struct entry e, other;

	while (rest.n) {
		e = next(&rest);
		first = first == KIND_NONE ? e.kind : first;
		if (e.kind == KIND_NONE || e.kind == KIND_MIG || e.kind != first ||
		    named(s, &e) == s->n_gpus)
			return false;
		before = (struct view){ .p = visible, .n = (size_t)(e.text.p - visible) };
		while (before.n) {
			other = next(&before);
			if (other.text.n && named(s, &other) == named(s, &e))
				return true;
		}
	}
	return false;
}
