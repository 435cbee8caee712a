/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Markdown report, for issues and tickets: foreign text is escaped, commands stand in code
 * blocks.
 */
#include <string.h>

#include "base/arena.h"
#include "base/version.h"
#include "report/formats.h"
#include "report/layers.h"
#include "report/matrix.h"

static void put_list_item(struct strbuf *out, const char *bold, const char *text)
{
	strbuf_add(out, "- **");
	put_clean_markdown(out, bold);
	strbuf_add(out, "**: ");
	put_clean_markdown(out, text);
	strbuf_addc(out, '\n');
}

void markdown_code(struct arena *a, struct strbuf *out, const char *const *lines, size_t n)
{
	size_t i, run = 0, longest = 2;
	const char *c;

	for (i = 0; i < n; i++)
		for (c = lines[i]; *c; c++) {
			run = *c == '`' ? run + 1 : 0;
			if (run > longest)
				longest = run;
		}
	strbuf_addc(out, '\n');
	for (i = 0; i <= longest; i++)
		strbuf_addc(out, '`');
	strbuf_add(out, "sh\n");
	for (i = 0; i < n; i++)
		strbuf_printf(out, "%s\n", clean(a, lines[i]));
	for (i = 0; i <= longest; i++)
		strbuf_addc(out, '`');
	strbuf_add(out, "\n\n");
}

static void put_finding(struct arena *a, struct strbuf *out, const struct finding *f)
{
	const struct evidence *e;
	const struct remedy *r;

	put_clean_markdown(out, f->subject);
	strbuf_add(out, ": ");
	put_prose_markdown(out, f->message);
	strbuf_add(out, "\n\n");
	for (e = f->evidence; e < f->evidence + f->n_evidence; e++)
		put_list_item(out, e->field,
			      arena_printf(a, "%s%s%s (%s)", e->seen ? e->seen : _("absent"),
					   e->wanted ? _(", wanted ") : "",
					   e->wanted ? e->wanted : "",
					   e->source ? source_words(a, e->source) : "-"));
	if (f->n_evidence)
		strbuf_addc(out, '\n');
	for (r = f->remedies; r < f->remedies + f->n_remedies; r++) {
		const char *note = remedy_note(a, r);

		put_prose_markdown(out, r->text);
		if (*note)
			strbuf_printf(out, " (%s)", note);
		strbuf_addc(out, '\n');
		if (r->n_commands)
			markdown_code(a, out, r->commands, r->n_commands);
	}
	strbuf_addc(out, '\n');
}

static void put_layers(struct arena *a, const struct report *rep, struct strbuf *out)
{
	static const char *const words[] = { [MARK_OK] = "ok", [MARK_WARNING] = "warning",
					     [MARK_ERROR] = "error", [MARK_UNKNOWN] = "-" };
	struct layer_line *l;
	size_t i, n;

	l = layer_lines(a, rep, &n);
	strbuf_add(out, _("| layer | state | found |\n| --- | --- | --- |\n"));
	for (i = 0; i < n; i++) {
		strbuf_printf(out, "| %s | %s | ", layer_name(l[i].layer), words[l[i].mark]);
		put_clean_markdown(out, l[i].text);
		strbuf_add(out, " |\n");
	}
	strbuf_addc(out, '\n');
}

static void put_findings(struct arena *a, const struct report *rep, struct strbuf *out)
{
	const struct results *r = rep->r;
	size_t i;

	for (i = 0; i < r->n_findings; i++) {
		const struct finding *f = r->findings[i];
		const struct finding_info *info = finding_info(f->id);

		strbuf_printf(out, "## %s: %s (%s)\n\n",
			      f == r->root ? _("Root cause") : severity_name(f->severity),
			      info->name, info->code);
		if (f->has_cause)
			strbuf_printf(out, _("Follows from %s.\n\n"), finding_info(f->cause)->name);
		put_finding(a, out, f);
	}
}

static void put_matrix(struct arena *a, const struct report *rep, struct strbuf *out)
{
	struct matrix m;

	if (!rep->n_targets)
		return;
	matrix_make(a, rep, &m);
	strbuf_printf(out, "## %s\n\n", _("Files and targets"));
	matrix_markdown(&m, out);
}

static void put_ruled(struct arena *a, const struct report *rep, struct strbuf *out)
{
	const struct results *r = rep->r;
	size_t i;

	if (r->n_ruled)
		strbuf_printf(out, "## %s\n\n", _("Ruled out"));
	for (i = 0; i < r->n_ruled; i++)
		put_list_item(out, finding_info(r->ruled[i].id)->name,
			      arena_printf(a, "%s (%s)", r->ruled[i].text,
					   source_words(a, r->ruled[i].source)));
	if (r->n_ruled)
		strbuf_addc(out, '\n');
}

static void render(struct arena *a, const struct report *rep, struct strbuf *out)
{
	const struct results *r = rep->r;
	struct skip_group *g;
	size_t i, n;

	strbuf_printf(out, "# cuvet: %s\n\n", verdict_name(r->verdict));
	strbuf_printf(out, _("%s cuvet %s, matrix of %s.\n\n"), verdict_sentence(rep),
		      CUVET_VERSION, rep->data_date);
	put_layers(a, rep, out);
	put_matrix(a, rep, out);
	put_findings(a, rep, out);
	put_ruled(a, rep, out);
	if (r->n_asks)
		strbuf_printf(out, "## %s\n\n", _("What would decide"));
	for (i = 0; i < r->n_asks; i++) {
		strbuf_add(out, "- ");
		put_clean_markdown(out, r->asks[i]);
		strbuf_addc(out, '\n');
	}
	if (r->n_skipped)
		strbuf_printf(out, "\n## %s\n\n", _("Not judged"));
	g = skip_groups(a, rep, &n);
	for (i = 0; i < n; i++)
		put_list_item(out, g[i].needs,
			      g[i].rules ? arena_printf(a, _("%s; rules: %s"), g[i].why,
							g[i].rules)
					 : g[i].why);
}

const struct report_format report_markdown = { .name = "markdown", .render = render };
