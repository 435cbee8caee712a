/* SPDX-License-Identifier: Apache-2.0 */
/* Which GPUs there are and what the matrix knows of them; which of them the audited process may use
 * is look_visible.c's. */
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

bool look_virtual_gpu(const struct snapshot *s)
{
	size_t i;

	for (i = 0; i < s->n_gpus; i++) {
		const char *name = fact_value(&s->gpus[i].name, "");
		const char *dash = strrchr(name, '-');
		size_t n = dash ? strspn(dash + 1, "0123456789") : 0;

		if (n && strchr("QCBA", dash[1 + n]) && dash[1 + n] && !dash[2 + n])
			return true;
	}
	return false;
}

int look_cc(const struct gpu *g)
{
	return cc_parse(fact_value(&g->compute_capability, NULL));
}

static bool arch_covers(const char *one, size_t n, int cc)
{
	bool ptx = n > 4 && memcmp(one + n - 4, "+PTX", 4) == 0;
	char text[24];
	int have;

	n -= ptx ? 4 : 0;
	while (n && (one[n - 1] == 'a' || one[n - 1] == 'f'))
		n--;
	if (!n || n >= sizeof(text))
		return true;
	memcpy(text, one, n);
	text[n] = '\0';
	have = cc_parse(text);
	if (have < 0)
		return true; /* a name ("Ampere", "native"): not held against anything */
	return (have / 10 == cc / 10 && have <= cc) || (ptx && have <= cc);
}

bool look_arch_list_covers(const char *list, int cc)
{
	bool covered = !*list || cc <= 0;
	size_t n;

	while (*list && !covered) {
		list += strspn(list, " ;,");
		n = strcspn(list, " ;,");
		covered = n && arch_covers(list, n, cc);
		list += n;
	}
	return covered;
}

/* Is this one driven by more drivers than that one: later ones, else earlier ones? */
static bool kinder(const struct gpu_row *a, const struct gpu_row *b)
{
	const char *first = a->first_driver, *other = b->first_driver;

	if (!a->last_driver != !b->last_driver)
		return !a->last_driver;
	return other && (!first || version_cmp_str(first, other) < 0);
}

/*
 * Several boards of one name, some on a later chip: nothing is said of a driver that would be
 * wrong for one of them.
 */
static const struct gpu_row *kindest_row(const struct gpu_match *m)
{
	const struct gpu_row *best = m->rows[0];
	size_t i;

	for (i = 1; i < m->n; i++)
		if (kinder(m->rows[i], best))
			best = m->rows[i];
	return best;
}

const struct gpu_row *look_gpu_row(struct judge *j, const struct gpu *g)
{
	const char *id = fact_value(&g->pci_id, NULL), *sub = fact_value(&g->subsystem, NULL);
	const struct gpu_row *row = NULL;
	struct gpu_match m;
	size_t i;

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
		for (i = 0; fact_known(&g->chip) && i < m.n; i++)
			if (m.rows[i]->chip && strcmp(m.rows[i]->chip, g->chip.value) == 0)
				return m.rows[i];
		if (m.n > 1 && m.cc > 0)
			return kindest_row(&m);
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
