/* SPDX-License-Identifier: Apache-2.0 */
/* Completes GPUs from the tables. What the driver itself said is never replaced by a table. */
#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "source/source.h"

static void set_if_unknown(struct fact *f, const char *value, const char *source)
{
	if (!fact_known(f) && value)
		fact_set(f, value, source);
}

static bool same_chip(const struct gpu_match *m)
{
	size_t i;

	for (i = 1; i < m->n; i++)
		if (!m->rows[i]->chip || !m->rows[0]->chip ||
		    strcmp(m->rows[i]->chip, m->rows[0]->chip) != 0)
			return false;
	return true;
}

/* "10de:104d (GF119, 2.1), 10de:128b (GK208, 3.5)". */
static const char *candidates(struct arena *a, const struct gpu_match *m)
{
	enum { SHOWN = 12 };
	struct strbuf b;
	size_t i;

	strbuf_init(&b, a);
	for (i = 0; i < m->n && i < SHOWN; i++) {
		strbuf_sep(&b, ", ");
		if (m->rows[i]->id)
			strbuf_printf(&b, "10de:%s (", m->rows[i]->id);
		else
			strbuf_printf(&b, "%s (", m->rows[i]->name);
		strbuf_printf(&b, "%s, %s)", m->rows[i]->chip ? m->rows[i]->chip : "-",
			      m->rows[i]->cc > 0 ? cc_text(a, m->rows[i]->cc) : "-");
	}
	if (m->n > SHOWN)
		strbuf_add(&b, ", ...");
	return b.s;
}

/* Of boards of one name the one with the chip that was said. */
static const struct gpu_row *row_of_chip(const struct gpu *g, const struct gpu_match *m)
{
	size_t i;

	for (i = 0; fact_known(&g->chip) && i < m->n; i++)
		if (m->rows[i]->chip && strcmp(m->rows[i]->chip, g->chip.value) == 0)
			return m->rows[i];
	return NULL;
}

void source_enrich_gpu(struct arena *a, struct compat *c, struct gpu *g, const struct gpu_match *m)
{
	const struct gpu_row *row;
	const char *source;

	(void)c;
	if (!m->n)
		return;
	row = row_of_chip(g, m);
	if (row) {
		if (row->cc > 0)
			set_if_unknown(&g->compute_capability, cc_text(a, row->cc), row->source);
		return;
	}
	source = fact_known(&g->name) && g->name.source && strcmp(g->name.source, "assumed") == 0
			 ? "assumed"
			 : m->rows[0]->source;
	if (same_chip(m))
		set_if_unknown(&g->chip, m->rows[0]->chip, source);
	if (m->cc > 0)
		set_if_unknown(&g->compute_capability, cc_text(a, m->cc), source);
	else if (!fact_known(&g->compute_capability) && m->n > 1)
		fact_set(&g->ambiguous, candidates(a, m), source);
}

static const char *device_of(const struct gpu *g)
{
	const char *id = fact_value(&g->pci_id, "");

	return strncmp(id, "10de:", 5) == 0 && strlen(id) == 9 ? id + 5 : NULL;
}

static void enrich_by_id(struct arena *a, struct compat *c, struct gpu *g, const char *device)
{
	const char *sub = fact_value(&g->subsystem, NULL);
	const struct gpu_row *row =
		sub ? compat_gpu_subsystem(c, device, sub) : compat_gpu(c, device);

	if (!row && sub)
		row = compat_gpu(c, device);
	if (!row)
		return;
	set_if_unknown(&g->name, row->name, row->source);
	set_if_unknown(&g->chip, row->chip, row->source);
	if (row->cc > 0)
		set_if_unknown(&g->compute_capability, cc_text(a, row->cc), row->source);
}

void source_enrich(struct arena *a, struct compat *c, struct snapshot *s)
{
	struct gpu_match m;
	const char *device;
	size_t i;

	for (i = 0; i < s->n_gpus; i++) {
		struct gpu *g = &s->gpus[i];

		device = device_of(g);
		if (device) {
			enrich_by_id(a, c, g, device);
		} else if (fact_known(&g->name) && !fact_known(&g->pci_id)) {
			compat_gpu_find(c, g->name.value, &m);
			source_enrich_gpu(a, c, g, &m);
		}
	}
}
