/* SPDX-License-Identifier: Apache-2.0 */
/* The guided path for a person: a line a step, its evidence and commands, what memory allows. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "base/version.h"
#include "report/guide.h"
#include "report/wrap.h"

struct page {
	struct arena *a;
	const struct guide *g;
	const struct report *rep;
	struct strbuf *out;
	int width;
};

static const struct {
	const char *utf8, *ascii, *sgr;
} marks[] = {
	[GUIDE_DONE] = { .utf8 = "\xE2\x9C\x94", .ascii = "x", .sgr = "\033[32m" },
	[GUIDE_NEXT] = { .utf8 = "\xE2\x86\x92", .ascii = ">", .sgr = "\033[1;33m" },
	[GUIDE_LATER] = { .utf8 = "\xC2\xB7", .ascii = ".", .sgr = "\033[2m" },
	[GUIDE_NOT_NEEDED] = { .utf8 = "\xE2\x80\x93", .ascii = "-", .sgr = "\033[2m" },
};

static const char *state_word(enum guide_state s)
{
	static const char *const words[] = {
		[GUIDE_DONE] = N_("done"),
		[GUIDE_NEXT] = N_("next"),
		[GUIDE_LATER] = N_("later"),
		[GUIDE_NOT_NEEDED] = N_("not needed"),
	};

	return _(words[s]);
}

static void blanks(struct strbuf *out, int n)
{
	while (n-- > 0)
		strbuf_addc(out, ' ');
}

static void paint(struct page *p, const char *sgr, const char *text)
{
	if (p->rep->colour)
		strbuf_add(p->out, sgr);
	strbuf_add(p->out, text);
	if (p->rep->colour)
		strbuf_add(p->out, "\033[0m");
}

static void prose(struct page *p, int indent, const char *text)
{
	blanks(p->out, indent);
	wrap_text(p->out, clean(p->a, text), indent, indent, p->width);
}

static void heading(struct page *p, const char *text)
{
	strbuf_addc(p->out, '\n');
	paint(p, "\033[1m", text);
	strbuf_addc(p->out, '\n');
}

static const char *note_of(struct arena *a, const struct guide_step *st)
{
	if (st->needs_root && st->needs_reboot)
		return arena_printf(a, " (%s, %s)", _("needs root"), _("needs a reboot"));
	if (st->needs_root)
		return arena_printf(a, " (%s)", _("needs root"));
	return st->needs_reboot ? arena_printf(a, " (%s)", _("needs a reboot")) : "";
}

static const char *evidence_line(struct arena *a, const struct evidence *e)
{
	return arena_printf(a, "%s: %s%s%s%s%s%s", e->field, e->seen ? e->seen : _("absent"),
			    e->wanted ? _(", wanted ") : "", e->wanted ? e->wanted : "",
			    e->source ? "  [" : "", e->source ? e->source : "",
			    e->source ? "]" : "");
}

static void put_step(struct page *p, const struct guide_step *st)
{
	enum { INDENT = 4 };
	const struct evidence *e;
	size_t i;

	strbuf_addc(p->out, ' ');
	paint(p, marks[st->state].sgr,
	      p->rep->utf8 ? marks[st->state].utf8 : marks[st->state].ascii);
	strbuf_add(p->out, "  ");
	paint(p, st->state == GUIDE_NEXT ? "\033[1m" : "", _(st->title));
	strbuf_printf(p->out, ": %s%s\n", state_word(st->state), note_of(p->a, st));
	prose(p, INDENT, st->why);
	for (e = st->evidence; e < st->evidence + st->n_evidence; e++)
		prose(p, INDENT + 2, evidence_line(p->a, e));
	for (i = 0; i < st->n_commands; i++) {
		blanks(p->out, INDENT + 2);
		paint(p, "\033[1m", "$ ");
		wrap_command(p->out, clean(p->a, st->commands[i]), INDENT + 4, INDENT + 8,
			     p->width);
	}
}

const char *guide_size(struct arena *a, int64_t mib)
{
	if (mib < 1024)
		return arena_printf(a, "%lld MiB", (long long)mib);
	if (mib % 1024 == 0)
		return arena_printf(a, "%lld GiB", (long long)(mib / 1024));
	return arena_printf(a, "%.1f GiB", (double)mib / 1024);
}

const char *guide_billions(struct arena *a, double billions)
{
	/* Cut, not rounded: a model that is a little larger does not fit. */
	if (billions < 10)
		return arena_printf(a, "%.1f", floor(billions * 10) / 10);
	return arena_printf(a, "%.0f", floor(billions));
}

static void put_memory(struct page *p)
{
	const struct guide_memory *m;
	const struct guide_fit *f;

	if (!p->g->n_memory)
		return;
	heading(p, _("What the memory allows"));
	prose(p, 2, _("Rules of thumb in bytes a parameter; what a batch, its activations and the "
		      "context need comes on top."));
	for (m = p->g->memory; m < p->g->memory + p->g->n_memory; m++) {
		prose(p, 2, arena_printf(p->a, "%s: %s  [%s]", m->subject,
					 guide_size(p->a, m->mib), m->source ? m->source : "-"));
		for (f = m->fits; f < m->fits + m->n_fits; f++)
			prose(p, 4,
			      arena_printf(p->a,
					   _("%s: up to %s billion parameters (%g bytes each)"),
					   _(f->what), guide_billions(p->a, f->billions),
					   f->bytes_per_param));
	}
}

static void put_outdated(struct page *p)
{
	const struct guide_note *n;

	if (!p->g->n_outdated)
		return;
	heading(p, _("Where older guides are out of date"));
	for (n = p->g->outdated; n < p->g->outdated + p->g->n_outdated; n++) {
		prose(p, 2, arena_printf(p->a, "\"%s\"", n->said));
		prose(p, 4, arena_printf(p->a, "%s%s%s  [%s]", n->holds, n->here ? " " : "",
					 n->here ? n->here : "", n->source));
	}
}

void guide_text(struct arena *a, const struct guide *g, const struct report *rep,
		struct strbuf *out)
{
	struct page p = {
		.a = a, .g = g, .rep = rep, .out = out, .width = wrap_width(rep->width)
	};
	size_t i;

	prose(&p, 0, arena_printf(a, _("cuvet %s, matrix of %s: the way to a stack that runs"),
				  CUVET_VERSION, rep->data_date));
	strbuf_addc(out, '\n');
	for (i = 0; i < g->n_steps; i++)
		put_step(&p, &g->steps[i]);
	put_memory(&p);
	put_outdated(&p);
	strbuf_addc(out, '\n');
	if (g->next)
		prose(&p, 0, arena_printf(a, _("Next: %s. Then run `cuvet guide` again."),
					  _(g->next->title)));
}
