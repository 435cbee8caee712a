/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report that a person reads: a line a layer, the root cause, its evidence, what to type, what
 * follows.
 */
#include <string.h>

#include "base/arena.h"
#include "base/version.h"
#include "report/formats.h"
#include "report/layers.h"
#include "report/matrix.h"
#include "report/wrap.h"

struct printer {
	struct arena *a;
	const struct report *rep;
	struct strbuf *out;
	int width;
};

enum colour { PLAIN, BOLD, DIM, RED, YELLOW, GREEN };

static const char *const sgr[] = {
	[PLAIN] = "", [BOLD] = "\033[1m", [DIM] = "\033[2m",
	[RED] = "\033[1;31m", [YELLOW] = "\033[33m", [GREEN] = "\033[32m",
};

static void put(struct printer *p, enum colour c, const char *s)
{
	if (p->rep->colour && c != PLAIN)
		strbuf_add(p->out, sgr[c]);
	strbuf_add(p->out, s);
	if (p->rep->colour && c != PLAIN)
		strbuf_add(p->out, "\033[0m");
}

/* Prose of our own with foreign text already cleaned, indented and wrapped. */
static void prose(struct printer *p, int indent, const char *fmt, ...) ATTR_PRINTF(3, 4);
static void prose(struct printer *p, int indent, const char *fmt, ...)
{
	va_list ap;
	int i;

	for (i = 0; i < indent; i++)
		strbuf_addc(p->out, ' ');
	va_start(ap, fmt);
	wrap_text(p->out, clean(p->a, arena_vprintf(p->a, fmt, ap)), indent, indent, p->width);
	va_end(ap);
}

static const struct {
	const char *utf8, *ascii;
	enum colour colour;
} marks[] = {
	[MARK_OK] = { .utf8 = "\xE2\x9C\x94", .ascii = "ok", .colour = GREEN },
	[MARK_WARNING] = { .utf8 = "!", .ascii = "!", .colour = YELLOW },
	[MARK_ERROR] = { .utf8 = "\xE2\x9C\x98", .ascii = "X", .colour = RED },
	[MARK_UNKNOWN] = { .utf8 = "\xE2\x80\x93", .ascii = "-", .colour = DIM },
};

static void put_layers(struct printer *p)
{
	enum { TEXT_COLUMN = 16 };
	struct layer_line *l;
	size_t i, n;

	l = layer_lines(p->a, p->rep, &n);
	for (i = 0; i < n; i++) {
		const char *m = p->rep->utf8 ? marks[l[i].mark].utf8 : marks[l[i].mark].ascii;

		strbuf_add(p->out, p->rep->utf8 || strlen(m) == 2 ? " " : "  ");
		put(p, marks[l[i].mark].colour, m);
		strbuf_printf(p->out, p->rep->utf8 ? "  %-12s" : " %-12s", layer_name(l[i].layer));
		wrap_text(p->out, l[i].text, TEXT_COLUMN, TEXT_COLUMN, p->width);
	}
}

static void put_evidence(struct printer *p, const struct finding *f, int indent)
{
	const struct evidence *e;
	struct strbuf b;

	for (e = f->evidence; e < f->evidence + f->n_evidence; e++) {
		strbuf_init(&b, p->a);
		strbuf_printf(&b, "%s: %s", e->field, e->seen ? e->seen : _("absent"));
		if (e->wanted)
			strbuf_printf(&b, _(", wanted %s"), e->wanted);
		if (e->source)
			strbuf_printf(&b, "  [%s]", source_words(p->a, e->source));
		prose(p, indent, "%s", b.s);
	}
}

static void put_commands(struct printer *p, const struct remedy *r, int indent)
{
	size_t i;
	int k;

	for (i = 0; i < r->n_commands; i++) {
		for (k = 0; k < indent; k++)
			strbuf_addc(p->out, ' ');
		put(p, BOLD, "$ ");
		wrap_command(p->out, clean(p->a, r->commands[i]), indent + 2, indent + 6, p->width);
	}
}

static void put_remedies(struct printer *p, const struct finding *f, int indent)
{
	const struct remedy *r;
	const char *note;

	for (r = f->remedies; r < f->remedies + f->n_remedies; r++) {
		note = remedy_note(p->a, r);
		if (*note)
			prose(p, indent, "%s (%s)", r->text, note);
		else
			prose(p, indent, "%s", r->text);
		put_commands(p, r, indent + 2);
	}
}

static void heading(struct printer *p, enum colour c, const char *text)
{
	strbuf_addc(p->out, '\n');
	put(p, c, text);
	strbuf_addc(p->out, '\n');
}

static bool is_consequence_of(const struct finding *f, const struct finding *root)
{
	return root && f != root && f->has_cause &&
	       (f->cause == root->id || finding_explains(root->id, f->id));
}

static void put_consequences(struct printer *p, const struct finding *root)
{
	const struct results *r = p->rep->r;
	bool any = false;
	size_t i;

	for (i = 0; i < r->n_findings; i++) {
		if (!is_consequence_of(r->findings[i], root))
			continue;
		if (!any)
			prose(p, 2, "%s", _("Follows from it:"));
		any = true;
		prose(p, 4, "%s: %s", finding_info(r->findings[i]->id)->name,
		      r->findings[i]->message);
	}
}

static void put_root(struct printer *p)
{
	const struct finding *f = p->rep->r->root;
	const struct finding_info *info = finding_info(f->id);
	enum colour c = f->severity == SEVERITY_ERROR ? RED : BOLD;

	heading(p, c, arena_printf(p->a, _("Root cause: %s (%s, %s)"), info->name, info->code,
				   certainty_name(f->certainty)));
	prose(p, 2, "%s: %s", f->subject, f->message);
	if (f->n_evidence) {
		prose(p, 2, "%s", _("Evidence:"));
		put_evidence(p, f, 4);
	}
	if (f->n_remedies) {
		prose(p, 2, "%s", _("To fix it:"));
		put_remedies(p, f, 4);
	}
	put_consequences(p, f);
}

/* In triage the first of them is what fails next, when anything does. */
static const char *others_heading(const struct report *rep, const struct finding *first)
{
	if (strcmp(rep->command, "triage") == 0 && bites_next(rep->r, first))
		return _("What will bite next");
	return rep->r->root ? _("Also found") : _("Found");
}

static void put_others(struct printer *p)
{
	const struct results *r = p->rep->r;
	bool any = false;
	size_t i;

	for (i = 0; i < r->n_findings; i++) {
		const struct finding *f = r->findings[i];

		if (f == r->root || is_consequence_of(f, r->root))
			continue;
		if (!any)
			heading(p, BOLD, others_heading(p->rep, f));
		any = true;
		prose(p, 2, "%s (%s): %s: %s", finding_info(f->id)->name,
		      severity_name(f->severity), f->subject, f->message);
		put_evidence(p, f, 4);
		put_remedies(p, f, 4);
	}
}

/* Target, file, verdict and what is broken; what is fine is counted alone when there is much. */
static void put_targets(struct printer *p)
{
	const struct report *rep = p->rep;
	struct matrix m;
	size_t i, fine = 0;

	if (!rep->n_targets)
		return;
	heading(p, BOLD, _("Files and targets"));
	matrix_make(p->a, rep, &m);
	if (m.n_targets > 1 && m.n_files <= 40 && matrix_text(p->a, &m, p->width, p->out))
		return;
	for (i = 0; i < rep->n_targets; i++) {
		const struct report_target *t = &rep->targets[i];

		if (rep->n_targets > 20 && t->verdict == VERDICT_STACK_OK) {
			fine++;
			continue;
		}
		prose(p, 2, "%s%s%s%s%s: %s%s%s", t->target, *t->target ? "  " : "", t->file,
		      t->part ? ", " : "", t->part ? t->part : "", verdict_name(t->verdict),
		      t->finding ? ", " : "", t->finding ? t->finding : "");
	}
	if (fine)
		prose(p, 2, _("%zu more: stack-ok"), fine);
}

static void put_ruled(struct printer *p)
{
	const struct results *r = p->rep->r;
	size_t i;

	if (!r->n_ruled)
		return;
	heading(p, BOLD, _("Ruled out"));
	for (i = 0; i < r->n_ruled; i++)
		prose(p, 2, "%s: %s  [%s]", finding_info(r->ruled[i].id)->name, r->ruled[i].text,
		      source_words(p->a, r->ruled[i].source));
}

static void put_rest(struct printer *p)
{
	const struct results *r = p->rep->r;
	struct skip_group *g;
	size_t i, n;

	put_ruled(p);
	put_targets(p);
	if (r->n_asks) {
		heading(p, BOLD, _("What would decide"));
		for (i = 0; i < r->n_asks; i++)
			prose(p, 2, "%s", r->asks[i]);
	}
	if (!r->n_skipped)
		return;
	heading(p, DIM, _("Not judged"));
	g = skip_groups(p->a, p->rep, &n);
	for (i = 0; i < n; i++)
		prose(p, 2, "%s (%s)", g[i].needs, g[i].why);
}

/* "live", "root (/mnt/disk)", "live (snapshot.json)". */
static const char *source_text(struct arena *a, const struct report *rep)
{
	const struct fact *f = &rep->s->source;
	const char *value = fact_value(f, "-");

	if (!f->source || strcmp(f->source, "/") == 0 || *f->source == '-')
		return value;
	return arena_printf(a, "%s (%s)", value, f->source);
}

static void render(struct arena *a, const struct report *rep, struct strbuf *out)
{
	static const enum colour verdict_colour[] = {
		[VERDICT_STACK_OK] = GREEN, [VERDICT_DEGRADED] = YELLOW, [VERDICT_BLOCKED] = RED,
		[VERDICT_UNDETERMINED] = YELLOW,
	};
	struct printer p = { .a = a, .rep = rep, .out = out, .width = wrap_width(rep->width) };

	prose(&p, 0, _("cuvet %s, matrix of %s, source: %s"), CUVET_VERSION, rep->data_date,
	      source_text(a, rep));
	strbuf_addc(out, '\n');
	put_layers(&p);
	strbuf_addc(out, '\n');
	put(&p, verdict_colour[rep->r->verdict], verdict_name(rep->r->verdict));
	strbuf_add(out, ": ");
	wrap_text(out, verdict_sentence(rep), (int)strlen(verdict_name(rep->r->verdict)) + 2, 2,
		  p.width);
	if (rep->r->root)
		put_root(&p);
	put_others(&p);
	put_rest(&p);
}

const struct report_format report_text = { .name = "text", .render = render };
