/* SPDX-License-Identifier: Apache-2.0 */
/* Which GPUs there are, what the matrix knows of them, and which of them the audited process may
 * use. */
#include <string.h>

#include "base/arena.h"
#include "rule/look.h"

bool look_is_nvidia(const struct gpu *g)
{
	return !fact_known(&g->pci_id) || view_starts(view_of(g->pci_id.value), "10de:");
}

bool look_has_nvidia(const struct snapshot *s)
{
	size_t i;

	for (i = 0; i < s->n_gpus; i++)
		if (look_is_nvidia(&s->gpus[i]))
			return true;
	return false;
}

bool look_has_amd(const struct snapshot *s)
{
	size_t i;

	for (i = 0; i < s->n_gpus; i++)
		if (view_starts(view_of(fact_value(&s->gpus[i].pci_id, "")), "1002:"))
			return true;
	return look_node(s, "kfd") != NULL;
}

int look_cc(const struct gpu *g)
{
	return cc_parse(fact_value(&g->compute_capability, NULL));
}

const struct gpu_row *look_gpu_row(struct judge *j, const struct gpu *g)
{
	const char *id = fact_value(&g->pci_id, NULL), *sub = fact_value(&g->subsystem, NULL);
	const struct gpu_row *row = NULL;
	struct gpu_match m;

	if (!look_is_nvidia(g))
		return NULL;
	if (id && sub)
		row = compat_gpu_subsystem(j->c, id + strlen("10de:"), sub);
	if (!row && id)
		row = compat_gpu(j->c, id + strlen("10de:"));
	if (row || fact_known(&g->ambiguous))
		return row;
	if (fact_known(&g->name)) {
		compat_gpu_find(j->c, g->name.value, &m);
		if (m.n == 1)
			return m.rows[0];
		/* Several boards of one name: what all rows share is in the first one, as far as
		 * rules ask. */
		if (m.n > 1 && m.cc > 0)
			return m.rows[0];
	}
	return look_cc(g) > 0 ? compat_gpu_of_cc(j->c, look_cc(g)) : NULL;
}

bool look_gpu_works(const struct gpu *g)
{
	/* The module keeps a device in its list that it could not start; NVML does not count it. */
	if (fact_known(&g->nvml_error) || g->nvml_index.state == FACT_ABSENT)
		return false;
	return fact_known(&g->nvml_index) || fact_yes(&g->driver_info);
}

/* -------- CUDA_VISIBLE_DEVICES */

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

static bool entry_names(const struct snapshot *s, size_t index, struct view entry)
{
	const char *uuid = fact_value(&s->gpus[index].uuid, NULL);
	uint64_t n;
	size_t i;

	if (view_u64(entry, 10, &n))
		return has_number(s, index) && n == cuda_index(s, index);
	if (view_starts(entry, "GPU-"))
		return !uuid || (strlen(uuid) >= entry.n && memcmp(uuid, entry.p, entry.n) == 0);
	if (!view_starts(entry, "MIG-"))
		return false;
	for (i = 0; i < s->gpus[index].mig_devices.n; i++)
		if (view_is(entry, s->gpus[index].mig_devices.values[i]))
			return true;
	/* The old form of a MIG name holds the GPU's UUID: MIG-GPU-.../1/0. */
	return uuid && view_find(entry, uuid) >= 0;
}

bool look_gpu_used(const struct snapshot *s, size_t index)
{
	const char *visible = snapshot_env(s, "CUDA_VISIBLE_DEVICES");
	struct view rest, entry;
	size_t i;
	bool valid;

	if (!look_is_nvidia(&s->gpus[index]))
		return false;
	if (!visible)
		return true;
	rest = view_of(visible);
	/* CUDA stops at the first entry that names nothing. */
	while (rest.n) {
		entry = view_trim(view_cut(rest, ',', &rest));
		if (entry_names(s, index, entry))
			return true;
		for (valid = false, i = 0; i < s->n_gpus && !valid; i++)
			valid = look_is_nvidia(&s->gpus[i]) && entry_names(s, i, entry);
		if (!valid)
			return false;
	}
	return false;
}
