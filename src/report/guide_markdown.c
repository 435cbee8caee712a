/* SPDX-License-Identifier: Apache-2.0 */
/* The guided path for a ticket or a page: one list item a step, foreign text escaped. */
#include <string.h>

#include "base/arena.h"
#include "base/version.h"
#include "report/formats.h"
#include "report/guide.h"

static void put_step(struct arena *a, const struct guide_step *st, size_t number,
		     struct strbuf *out)
{
	const struct evidence *e;

	strbuf_printf(out, "## %zu. %s: %s\n\n", number, _(st->title), guide_state_name(st->state));
	put_clean_markdown(out, st->why);
	strbuf_add(out, "\n\n");
	for (e = st->evidence; e < st->evidence + st->n_evidence; e++) {
		strbuf_add(out, "- ");
		put_clean_markdown(out, e->field);
		strbuf_add(out, ": ");
		put_clean_markdown(out, e->seen ? e->seen : _("absent"));
		if (e->source) {
			strbuf_add(out, " (");
			put_clean_markdown(out, e->source);
			strbuf_addc(out, ')');
		}
		strbuf_addc(out, '\n');
	}
	if (st->n_commands)
		markdown_code(a, out, st->commands, st->n_commands);
	else if (st->n_evidence)
		strbuf_addc(out, '\n');
}

static void put_memory(struct arena *a, const struct guide *g, struct strbuf *out)
{
	const struct guide_memory *m;
	const struct guide_fit *f;

	if (!g->n_memory)
		return;
	strbuf_printf(out, "## %s\n\n", _("What the memory allows"));
	for (m = g->memory; m < g->memory + g->n_memory; m++) {
		put_clean_markdown(out, m->subject);
		strbuf_printf(out, ": %s\n\n", guide_size(a, m->mib));
		strbuf_add(
			out,
			_("| what | bytes a parameter | billion parameters |\n| --- | --- | --- |\n"));
		for (f = m->fits; f < m->fits + m->n_fits; f++) {
			strbuf_add(out, "| ");
			put_clean_markdown(out, _(f->what));
			strbuf_printf(out, " | %g | %s |\n", f->bytes_per_param,
				      guide_billions(a, f->billions));
		}
		strbuf_addc(out, '\n');
	}
}

void guide_markdown(struct arena *a, const struct guide *g, const struct report *rep,
		    struct strbuf *out)
{
	const struct guide_note *n;
	size_t i;

	strbuf_printf(out, "# cuvet guide: %s\n\n", verdict_name(rep->r->verdict));
	strbuf_printf(out, _("cuvet %s, matrix of %s.\n\n"), CUVET_VERSION, rep->data_date);
	for (i = 0; i < g->n_steps; i++)
		put_step(a, &g->steps[i], i + 1, out);
	put_memory(a, g, out);
	if (g->n_outdated)
		strbuf_printf(out, "## %s\n\n", _("Where older guides are out of date"));
	for (n = g->outdated; n < g->outdated + g->n_outdated; n++) {
		strbuf_add(out, "- *");
		put_clean_markdown(out, n->said);
		strbuf_add(out, "* ");
		put_clean_markdown(out, n->holds);
		if (n->here) {
			strbuf_addc(out, ' ');
			put_clean_markdown(out, n->here);
		}
		strbuf_addc(out, '\n');
	}
}
