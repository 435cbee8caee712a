/* SPDX-License-Identifier: Apache-2.0 */
/* Renders a finished proof. What came from a driver goes through clean(). */
#include "report/prove_text.h"

#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "report/report.h"
#include "report/wrap.h"

struct page {
	struct arena *a;
	const struct proof *p;
	const struct prove_view *v;
	struct strbuf *out;
	int width;
};

static const char *colour_of(enum proof_result r)
{
	switch (r) {
	case PROOF_PASS:
		return "32";
	case PROOF_SKIP:
		return "2";
	case PROOF_INCONCLUSIVE:
		return "33";
	case PROOF_FAIL:
	case PROOF_HUNG:
	case PROOF_CRASHED:
		break;
	}
	return "1;31";
}

static const char *result_word(enum proof_result r)
{
	switch (r) {
	case PROOF_PASS:
		return _("pass");
	case PROOF_FAIL:
		return _("fail");
	case PROOF_SKIP:
		return _("skip");
	case PROOF_HUNG:
		return _("hung");
	case PROOF_CRASHED:
		return _("crashed");
	case PROOF_INCONCLUSIVE:
		return _("inconclusive");
	}
	return proof_result_name(r);
}

static void put_sgr(struct page *g, const char *code)
{
	if (g->v->colour)
		strbuf_printf(g->out, "\033[%sm", code);
}

static void put_result(struct page *g, enum proof_result r)
{
	const char *word = result_word(r);
	size_t n;

	put_sgr(g, colour_of(r));
	strbuf_add(g->out, word);
	for (n = utf8_columns(word); n < 7; n++)
		strbuf_addc(g->out, ' ');
	put_sgr(g, "0");
}

static void put_heading(struct page *g, int gpu)
{
	const struct proof_gpu *u;

	strbuf_add(g->out, g->v->markdown ? "\n### " : "\n");
	if (gpu < 0) {
		strbuf_add(g->out, _("All GPUs"));
	} else {
		strbuf_printf(g->out, _("GPU %d"), gpu);
		u = (size_t)gpu < g->p->n_gpus ? &g->p->gpus[gpu] : NULL;
		if (u && u->known) {
			strbuf_add(g->out, "  ");
			put_clean(g->out, u->name);
			strbuf_printf(g->out, " (%d.%d) ", u->cc / 10, u->cc % 10);
			put_clean(g->out, u->address);
		}
	}
	strbuf_add(g->out, g->v->markdown ? "\n\n" : "\n");
}

/* "read 4210 GB/s" for read_gb_per_s. */
static void put_figure(struct strbuf *b, const struct proof_figure *f)
{
	static const struct {
		const char *end, *unit;
	} units[] = {
		{ "gb_per_s", "GB/s" }, { "tflop_per_s", "TFLOP/s" },
		{ "mib", "MiB" },	{ "us", "us" },
		{ "ms", "ms" },		{ "bytes", "bytes" },
	};
	size_t n = strlen(f->name), m = 0, i, k;
	char name[PROOF_NAME];

	for (i = 0; i < ARRAY_LEN(units); i++) {
		m = strlen(units[i].end);
		if (n >= m && strcmp(f->name + n - m, units[i].end) == 0 &&
		    (n == m || f->name[n - m - 1] == '_'))
			break;
	}
	if (i < ARRAY_LEN(units))
		n -= n > m ? m + 1 : m;
	for (k = 0; k < n; k++)
		name[k] = f->name[k] == '_' ? ' ' : f->name[k];
	name[n] = '\0';
	strbuf_sep(b, ", ");
	strbuf_printf(b, "%s%s%.*f%s%s", name, n ? " " : "",
		      f->value != (double)(long long)f->value && f->value < 1000 ? 2 : 0, f->value,
		      i < ARRAY_LEN(units) ? " " : "", i < ARRAY_LEN(units) ? units[i].unit : "");
}

static void put_row(struct page *g, const struct proof_test *t)
{
	const struct proof_outcome *o = &t->o;
	const char *bullet = g->v->markdown ? "- " : "  ";
	struct strbuf rest;
	uint32_t i;

	strbuf_init(&rest, g->a);
	for (i = 0; i < o->n_figures; i++)
		put_figure(&rest, &o->figures[i]);
	if (o->why[0]) {
		strbuf_sep(&rest, "; ");
		strbuf_add(&rest, o->why);
	}
	if (o->path[0]) {
		strbuf_sep(&rest, "; ");
		strbuf_add(&rest, o->path);
	}
	strbuf_add(g->out, bullet);
	put_result(g, o->result);
	if (o->ms > 0)
		strbuf_printf(g->out, " %-18s %8.1f ms", t->name, o->ms);
	else
		strbuf_printf(g->out, " %-18s %11s", t->name, "");
	if (!rest.n) {
		strbuf_addc(g->out, '\n');
		return;
	}
	strbuf_add(g->out, "  ");
	wrap_text(g->out, clean(g->a, rest.s), 42, 14, g->width);
}

/* Rungs that were not asked for are no news. */
static bool is_quiet(const struct proof_test *t)
{
	return t->o.result == PROOF_SKIP && strncmp(t->name, "bench-", 6) == 0;
}

static void put_end(struct page *g)
{
	size_t n[PROOF_INCONCLUSIVE + 1] = { 0 }, i;
	const struct proof *p = g->p;
	const struct proof_test *first = NULL;

	for (i = 0; i < p->n; i++) {
		n[p->tests[i].o.result]++;
		if (!first &&
		    (p->tests[i].o.result == PROOF_FAIL || p->tests[i].o.result == PROOF_HUNG ||
		     p->tests[i].o.result == PROOF_CRASHED))
			first = &p->tests[i];
	}
	strbuf_printf(
		g->out,
		_("\n%zu passed, %zu failed, %zu hung, %zu crashed, %zu inconclusive, %zu skipped, in %.2f s\n"),
		n[PROOF_PASS], n[PROOF_FAIL], n[PROOF_HUNG], n[PROOF_CRASHED],
		n[PROOF_INCONCLUSIVE], n[PROOF_SKIP], (double)p->ms / 1e3);
	if (p->nothing)
		strbuf_add(g->out, _("Nothing could be proved: no GPU was reached.\n"));
	else if (p->interrupted)
		strbuf_add(g->out, _("Interrupted: what was not run is not proved.\n"));
	else if (first)
		strbuf_printf(g->out, _("The first broken rung: %s.\n"), first->name);
	if (p->cause)
		strbuf_printf(g->out,
			      _("Cause: %s (`cuvet explain %s`; `cuvet check` says what to do).\n"),
			      p->cause, p->cause);
}

/* Rows from i on that were skipped for one reason: a person needs it once. Puts them; how many. */
static size_t put_skipped(struct page *g, size_t i)
{
	const struct proof_test *t = &g->p->tests[i];
	size_t n = 0, shown = 0;
	struct strbuf names;

	strbuf_init(&names, g->a);
	for (; i + n < g->p->n && t[n].gpu == t->gpu && t[n].o.result == PROOF_SKIP &&
	       strcmp(t[n].o.why, t->o.why) == 0;
	     n++) {
		if (is_quiet(&t[n]))
			continue;
		strbuf_sep(&names, ", ");
		strbuf_add(&names, t[n].name);
		shown++;
	}
	if (shown < 3)
		return 0;
	strbuf_add(g->out, g->v->markdown ? "- " : "  ");
	put_result(g, PROOF_SKIP);
	strbuf_printf(&names, " (%s)", t->o.why);
	strbuf_addc(g->out, ' ');
	wrap_text(g->out, clean(g->a, names.s), 10, 14, g->width);
	return n;
}

void prove_text(struct arena *a, const struct proof *p, const struct prove_view *v,
		struct strbuf *out)
{
	struct page g = { .a = a, .p = p, .v = v, .out = out, .width = wrap_width(v->width) };
	size_t i, n;

	if (v->markdown)
		strbuf_add(out, _("## Proof\n"));
	for (i = 0; i < p->n; i += n ? n : 1) {
		if (i == 0 || p->tests[i].gpu != p->tests[i - 1].gpu)
			put_heading(&g, p->tests[i].gpu);
		n = p->tests[i].o.result == PROOF_SKIP ? put_skipped(&g, i) : 0;
		if (!n && !is_quiet(&p->tests[i]))
			put_row(&g, &p->tests[i]);
	}
	put_end(&g);
}
