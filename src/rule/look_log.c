/* SPDX-License-Identifier: Apache-2.0 */
/* Which event of the logs concerns which GPU. */
#include "rule/look_log.h"

#include <string.h>

#include "base/arena.h"

const struct event *log_event(const struct snapshot *s, const char *id)
{
	size_t i;

	for (i = 0; i < s->n_log; i++)
		if (fact_is(&s->log[i].id, id))
			return &s->log[i];
	return NULL;
}

bool log_is_of(const struct event *e, const struct gpu *g)
{
	const char *a = fact_value(&e->address, NULL), *b = fact_value(&g->address, NULL), *dot;

	if (!a || !b)
		return false;
	dot = strrchr(a, '.');
	return dot && strncmp(a, b, (size_t)(dot - a)) == 0;
}

const struct event *log_event_of(const struct snapshot *s, const char *id, const struct gpu *g)
{
	size_t i;

	for (i = 0; i < s->n_log; i++)
		if (fact_is(&s->log[i].id, id) &&
		    (!fact_known(&s->log[i].address) || log_is_of(&s->log[i], g)))
			return &s->log[i];
	return NULL;
}

unsigned log_xid(const struct event *e)
{
	int64_t n;

	return fact_is(&e->id, "xid") && fact_to_int(&e->xid, &n) && n > 0 && n < 100000
		       ? (unsigned)n
		       : 0;
}

size_t log_gpu(const struct snapshot *s, const struct event *e)
{
	size_t i;

	for (i = 0; i < s->n_gpus; i++)
		if (log_is_of(e, &s->gpus[i]))
			return i;
	return s->n_gpus;
}

unsigned log_count(const struct event *e)
{
	int64_t n;

	return fact_to_int(&e->count, &n) && n > 1 && n < 1000000 ? (unsigned)n : 1;
}

void log_evidence(struct judge *j, struct finding *f, const struct event *e)
{
	unsigned n = log_count(e);

	finding_evidence(j, f, "log",
			 n > 1 ? arena_printf(j->a, _("%s (%u times)"), fact_value(&e->text, ""), n)
			       : fact_value(&e->text, ""),
			 NULL, e->text.source);
}
