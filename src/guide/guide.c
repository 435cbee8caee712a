/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the table of steps and settles which one is next. Decides nothing about a machine. */
#include <stdarg.h>
#include <string.h>

#include "base/arena.h"
#include "guide/parts.h"

static const char *const state_names[] = {
	[GUIDE_DONE] = "done",
	[GUIDE_NEXT] = "next",
	[GUIDE_LATER] = "later",
	[GUIDE_NOT_NEEDED] = "not-needed",
};

const char *guide_state_name(enum guide_state s)
{
	return state_names[s];
}

void step_why(struct guiding *w, struct guide_step *st, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	st->why = arena_vprintf(w->a, fmt, ap);
	va_end(ap);
}

void step_command(struct guiding *w, struct guide_step *st, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	*ARENA_APPEND(w->a, st->commands, st->n_commands) = arena_vprintf(w->a, fmt, ap);
	va_end(ap);
}

void step_fact(struct guiding *w, struct guide_step *st, const char *field, const struct fact *f)
{
	if (!f || !fact_known(f))
		return;
	*ARENA_APPEND(w->a, st->evidence, st->n_evidence) = (struct evidence){
		.field = field, .seen = f->value, .source = f->source
	};
}

enum outcome step_finding(struct guiding *w, struct guide_step *st, const struct finding *f)
{
	const struct remedy *r = f->n_remedies ? f->remedies : NULL;
	size_t i;

	st->finding = f;
	step_why(w, st, "%s: %s", f->subject, f->message);
	st->evidence = NULL;
	st->n_evidence = 0;
	for (i = 0; i < f->n_evidence; i++)
		*ARENA_APPEND(w->a, st->evidence, st->n_evidence) = f->evidence[i];
	if (!r)
		return OUTCOME_OPEN;
	step_why(w, st, "%s: %s %s", f->subject, f->message, r->text);
	for (i = 0; i < r->n_commands; i++)
		step_command(w, st, "%s", r->commands[i]);
	st->needs_root = r->needs_root;
	st->needs_reboot = r->needs_reboot;
	return OUTCOME_OPEN;
}

const struct finding *guide_error(const struct guiding *w, unsigned layers)
{
	const struct results *r = w->in->r;
	size_t i;

	for (i = 0; i < r->n_findings; i++)
		if (r->findings[i]->severity == SEVERITY_ERROR &&
		    (layers & (1u << finding_info(r->findings[i]->id)->layer)))
			return r->findings[i];
	return NULL;
}

bool guide_cause_known(const struct guiding *w)
{
	const struct finding *root = w->in->r->root;

	return root && root->severity == SEVERITY_ERROR && w->in->r->verdict == VERDICT_BLOCKED;
}

bool guide_is_open(const struct guiding *w, const char *id)
{
	size_t i;

	for (i = 0; i < w->g->n_steps; i++)
		if (strcmp(w->g->steps[i].id, id) == 0)
			return w->g->steps[i].state == GUIDE_NEXT ||
			       w->g->steps[i].state == GUIDE_LATER;
	return false;
}

static void walk(struct guiding *w)
{
	static const enum guide_state states[] = {
		[OUTCOME_DONE] = GUIDE_DONE,
		[OUTCOME_OPEN] = GUIDE_NEXT,
		[OUTCOME_NOT_NEEDED] = GUIDE_NOT_NEEDED,
		[OUTCOME_WAITS] = GUIDE_LATER,
	};
	const struct guide_row *row;
	bool waiting = false;
	size_t i;

	for (row = guide_rows; row->id; row++) {
		struct guide_step st = { .id = row->id, .title = row->title, .why = "" };

		st.state = states[row->look(w, &st)];
		if (st.state == GUIDE_NEXT && waiting)
			st.state = GUIDE_LATER;
		waiting |= st.state == GUIDE_NEXT;
		*ARENA_APPEND(w->a, w->g->steps, w->g->n_steps) = st;
	}
	for (i = 0; i < w->g->n_steps && !w->g->next; i++)
		if (w->g->steps[i].state == GUIDE_NEXT)
			w->g->next = &w->g->steps[i];
}

struct guide *guide_make(struct arena *a, const struct guide_input *in)
{
	struct guide *g = arena_alloc(a, sizeof(*g));
	struct guiding w = {
		.a = a, .in = in, .g = g, .j = { .a = a, .s = in->s, .c = in->c }
	};

	walk(&w);
	guide_add_memory(&w);
	guide_add_outdated(&w);
	return g;
}
