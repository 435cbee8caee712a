/* SPDX-License-Identifier: Apache-2.0 */
/* What memory allows, by the rules of thumb of the table vram: arithmetic alone. */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "guide/parts.h"
#include "rule/look.h"

enum { FITS = 32, MIB = 1 << 20 };

static const char **sources_of(struct guiding *w, const struct json *row, size_t *ret_n)
{
	const char **keys = json_str_list(w->a, json_get(row, "sources"), ret_n);
	size_t i;

	for (i = 0; keys && i < *ret_n; i++) {
		const char *s = compat_source(w->in->c, "vram", keys[i]);

		keys[i] = s ? s : keys[i];
	}
	return keys;
}

static void add_fits(struct guiding *w, struct guide_memory *m, bool weights_only)
{
	size_t i, n = compat_count(w->in->c, "vram");

	for (i = 0; i < n && m->n_fits < FITS; i++) {
		const struct json *row = compat_row(w->in->c, "vram", i);
		const char *what = json_get_str(row, "case");
		struct guide_fit *f;
		double bytes;

		if (!what || !json_num(json_get(row, "bytes_per_param"), &bytes) || bytes <= 0)
			continue;
		/* The host holds weights on their way; it trains on no GPU's account. */
		if (weights_only && strncmp(what, "weights", strlen("weights")) != 0)
			continue;
		f = ARENA_APPEND(w->a, m->fits, m->n_fits);
		f->what = what;
		f->bytes_per_param = bytes;
		f->billions = (double)m->mib * MIB / bytes / 1e9;
		f->inferred = json_get(row, "inferred") != NULL;
		f->sources = sources_of(w, row, &f->n_sources);
	}
}

/* Its own answer, else what the matrix says of the card. */
static bool memory_of(struct guiding *w, const struct gpu *g, struct guide_memory *m)
{
	struct judge j = w->j;
	const struct gpu_row *row;

	if (fact_to_int(&g->memory_mib, &m->mib) && m->mib > 0) {
		m->source = g->memory_mib.source;
		return true;
	}
	row = look_gpu_row(&j, g);
	if (!row || row->memory_gib <= 0)
		return false;
	m->mib = (int64_t)(row->memory_gib * 1024);
	m->source = row->source;
	return true;
}

void guide_add_memory(struct guiding *w)
{
	const struct snapshot *s = w->in->s;
	struct judge j = w->j;
	struct guide_memory m = { .subject = "host" };
	size_t i;

	for (i = 0; i < s->n_gpus; i++) {
		struct guide_memory one = { .subject = gpu_subject(&j, i) };

		if (!look_gpu_used(s, i) || !memory_of(w, &s->gpus[i], &one))
			continue;
		add_fits(w, &one, false);
		*ARENA_APPEND(w->a, w->g->memory, w->g->n_memory) = one;
	}
	if (!fact_to_int(&s->host.memory_mib, &m.mib) || m.mib <= 0)
		return;
	m.source = s->host.memory_mib.source;
	add_fits(w, &m, true);
	*ARENA_APPEND(w->a, w->g->memory, w->g->n_memory) = m;
}
