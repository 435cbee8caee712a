/* SPDX-License-Identifier: Apache-2.0 */
/* Renders a finished plan. What came from outside goes through clean(). */
#include "report/plan_text.h"

#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "report/report.h"
#include "report/wrap.h"

enum { ALTERNATIVES_SHOWN = 4, VARIANTS_SHOWN = 5 };

struct page {
	struct arena *a;
	const struct plan *p;
	const struct plan_view *v;
	struct strbuf *out;
	int width;
};

static void sgr(struct page *g, const char *code)
{
	if (g->v->colour)
		strbuf_printf(g->out, "\033[%sm", code);
}

static void heading(struct page *g, const char *text)
{
	strbuf_addc(g->out, '\n');
	sgr(g, "1");
	strbuf_add(g->out, text);
	sgr(g, "0");
	strbuf_addc(g->out, '\n');
}

static void item(struct page *g, const char *text)
{
	strbuf_add(g->out, "  ");
	wrap_text(g->out, clean(g->a, text), 2, 4, g->width);
}

/* -------- the choice */

static void put_choice(struct page *g)
{
	const struct plan_choice *c = g->p->chosen;
	const struct torch_row *r = c->torch;
	struct strbuf b;
	size_t i;

	strbuf_init(&b, g->a);
	if (r)
		strbuf_printf(&b, "torch %s+%s", r->version, r->variant);
	if (r && r->torchvision)
		strbuf_printf(&b, ", torchvision %s", r->torchvision);
	if (r && r->torchaudio)
		strbuf_printf(&b, ", torchaudio %s", r->torchaudio);
	for (i = 0; i < c->n_packages; i++) {
		strbuf_sep(&b, ", ");
		strbuf_printf(&b, "%s %s", c->packages[i].name, c->packages[i].version);
	}
	strbuf_printf(&b, ", Python %s", c->python->text);
	if (c->cuda)
		strbuf_printf(&b, ", CUDA %s", c->cuda);
	if (c->cudnn)
		strbuf_printf(&b, ", cuDNN %s", c->cudnn);
	sgr(g, "1;32");
	wrap_text(g->out, clean(g->a, b.s), 0, 2, g->width);
	sgr(g, "0");
}

static void put_sentences(struct page *g, const char *const *s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		item(g, s[i]);
}

static void put_fragment(struct page *g, const char *text)
{
	struct view rest = view_of(text), one;

	while (view_line(&rest, &one))
		strbuf_printf(g->out, "    %s\n", clean(g->a, view_dup(g->a, one)));
}

static void put_commands(struct page *g)
{
	size_t t, i;

	for (t = 0; t < TOOL_COUNT; t++) {
		const struct plan_commands *c = &g->p->chosen->commands[t];

		heading(g, plan_tool_name((enum plan_tool)t));
		for (i = 0; i < c->n; i++) {
			if (strchr(c->lines[i], '\n')) {
				put_fragment(g, c->lines[i]);
				continue;
			}
			strbuf_add(g->out, "    ");
			wrap_command(g->out, clean(g->a, c->lines[i]), 4, 8, g->width);
		}
		if (c->note)
			item(g, arena_printf(g->a, "(%s)", c->note));
	}
}

/* -------- what else there is */

static const char *build_name(struct page *g, const struct plan_build *b)
{
	if (b->torch)
		return arena_printf(g->a, "%s+%s", b->torch->version, b->torch->variant);
	return arena_printf(g->a, "%s %s%s%s%s", b->package, b->version, b->cuda ? " (CUDA " : "",
			    b->cuda ? b->cuda : "", b->cuda ? ")" : "");
}

static const char *reasons(struct page *g, const struct plan_reason *r, size_t n, bool folded)
{
	struct strbuf b;
	size_t i;

	strbuf_init(&b, g->a);
	for (i = 0; i < n; i++) {
		strbuf_sep(&b, "; ");
		strbuf_add(&b, folded && r[i].folded ? r[i].folded : r[i].text);
	}
	return b.s;
}

static void put_alternatives(struct page *g)
{
	const struct plan *p = g->p;
	size_t i, shown = 0;

	if (!p->n_alternatives && !p->upgrade && !g->v->upgrade_asked)
		return;
	heading(g, _("Alternatives"));
	if (p->upgrade)
		item(g, arena_printf(g->a, _("%s+%s: with driver %s or newer"), p->upgrade->version,
				     p->upgrade->variant,
				     p->upgrade_driver ? p->upgrade_driver : "?"));
	else if (g->v->upgrade_asked)
		item(g, _("no newer driver would allow a newer release here"));
	for (i = 0; i < p->n_alternatives && (g->v->all || shown < ALTERNATIVES_SHOWN); i++) {
		const struct plan_build *b = &p->alternatives[i];

		item(g,
		     arena_printf(g->a, "%s: %s", build_name(g, b),
				  b->why ? b->why : reasons(g, b->reasons, b->n_reasons, false)));
		/* What is not recommended is news; what is merely older is not. */
		shown += b->why != NULL;
	}
	if (i < p->n_alternatives)
		item(g, arena_printf(g->a, _("... and %zu more that fit (--all shows them)"),
				     p->n_alternatives - i));
}

static void put_row(struct page *g, const char *what, const char *text)
{
	int at = 2 + (int)utf8_columns(what);

	if (at > 38) {
		item(g, arena_printf(g->a, "%s:", what));
		strbuf_add(g->out, "      ");
		wrap_text(g->out, clean(g->a, text), 6, 6, g->width);
		return;
	}
	strbuf_printf(g->out, "  %s%*s", clean(g->a, what), 40 - at, "");
	wrap_text(g->out, clean(g->a, text), 40, 40, g->width);
}

static void put_refused(struct page *g)
{
	const struct plan *p = g->p;
	size_t n, i;
	struct plan_fold *f;

	if (!p->n_refused)
		return;
	heading(g, _("Refused"));
	for (i = 0; g->v->all && i < p->n_refused; i++)
		put_row(g, build_name(g, &p->refused[i]),
			reasons(g, p->refused[i].reasons, p->refused[i].n_reasons, false));
	if (g->v->all)
		return;
	f = plan_fold(g->a, p, &n);
	for (i = 0; i < n; i++) {
		struct strbuf b;

		strbuf_init(&b, g->a);
		if (f[i].package)
			strbuf_printf(&b, "%s ", f[i].package);
		if (strcmp(f[i].first, f[i].last) == 0)
			strbuf_add(&b, f[i].first);
		else
			strbuf_printf(&b, "%s - %s", f[i].first, f[i].last);
		if (f[i].n_variants > VARIANTS_SHOWN)
			strbuf_printf(&b, _(" (%zu variants)"), f[i].n_variants);
		else if (f[i].variants && *f[i].variants)
			strbuf_printf(&b, " %s%s", f[i].package ? "CUDA " : "", f[i].variants);
		put_row(g, b.s, reasons(g, f[i].reasons, f[i].n_reasons, true));
	}
}

static void put_reads(struct page *g)
{
	size_t i;

	heading(g, _("Planned for"));
	for (i = 0; i < g->p->target->n_reads; i++) {
		const struct plan_read *r = &g->p->target->reads[i];

		item(g, r->value ? arena_printf(g->a, "%s %s (%s)", r->field, r->value, r->source)
				 : arena_printf(g->a, "%s: %s", r->field, r->source));
	}
}

/* -------- nothing fits */

static void put_remedies(struct page *g, const char *title)
{
	const struct plan *p = g->p;
	size_t i, k;

	if (p->n_remedies)
		heading(g, title);
	for (i = 0; i < p->n_remedies; i++) {
		item(g, p->remedies[i].text);
		for (k = 0; k < p->remedies[i].n_commands; k++) {
			strbuf_add(g->out, "      ");
			wrap_command(g->out, clean(g->a, p->remedies[i].commands[k]), 6, 10,
				     g->width);
		}
	}
}

static void put_unfit(struct page *g)
{
	const struct plan *p = g->p;
	size_t i;

	sgr(g, "1;31");
	strbuf_add(g->out, _("Nothing fits."));
	sgr(g, "0");
	strbuf_addc(g->out, '\n');
	put_sentences(g, p->why, p->n_why);
	if (p->n_serves)
		heading(g, _("GPU by GPU"));
	for (i = 0; i < p->n_serves; i++)
		item(g, p->serves[i].torch
				? arena_printf(g->a, "%s: torch %s+%s", p->serves[i].gpu->name,
					       p->serves[i].torch->version,
					       p->serves[i].torch->variant)
				: arena_printf(g->a, _("%s: nothing"), p->serves[i].gpu->name));
	put_remedies(g, _("What would make it fit, the cheapest first"));
}

void plan_text(struct arena *a, const struct plan *p, const struct plan_view *v, struct strbuf *out)
{
	struct page g = { .a = a, .p = p, .v = v, .out = out, .width = wrap_width(v->width) };

	if (v->markdown)
		strbuf_add(out, "```text\n");
	if (p->chosen) {
		put_choice(&g);
		put_sentences(&g, p->chosen->why, p->chosen->n_why);
		put_remedies(&g, _("The driver"));
		put_commands(&g);
	} else {
		put_unfit(&g);
	}
	put_alternatives(&g);
	put_refused(&g);
	put_reads(&g);
	if (v->markdown)
		strbuf_add(out, "```\n");
}
