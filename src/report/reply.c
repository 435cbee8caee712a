/* SPDX-License-Identifier: Apache-2.0 */
/* A courteous answer in Markdown: the cause, the lines that show it, what to do or what to send. */
#include "report/reply.h"

#include <string.h>

#include "base/arena.h"

static void put_commands(struct arena *a, struct strbuf *out, const char *const *v, size_t n)
{
	size_t i, longest = 3, run;
	const char *p;

	/* A fence longer than any run of backquotes inside. */
	for (i = 0; i < n; i++)
		for (p = v[i], run = 0; *p; p++) {
			run = *p == '`' ? run + 1 : 0;
			if (run >= longest)
				longest = run + 1;
		}
	for (i = 0; i < longest; i++)
		strbuf_addc(out, '`');
	strbuf_add(out, "sh\n");
	for (i = 0; i < n; i++)
		strbuf_printf(out, "%s\n", clean(a, v[i]));
	for (i = 0; i < longest; i++)
		strbuf_addc(out, '`');
	strbuf_add(out, "\n\n");
}

static void put_evidence(struct strbuf *out, const struct finding *f)
{
	size_t i;

	if (!f->n_evidence)
		return;
	strbuf_add(out, _("What shows it:\n\n"));
	for (i = 0; i < f->n_evidence && i < 6; i++) {
		const struct evidence *e = &f->evidence[i];

		strbuf_add(out, "- ");
		put_clean_markdown(out, e->seen);
		if (e->source && *e->source) {
			strbuf_add(out, " (");
			put_clean_markdown(out, e->source);
			strbuf_add(out, ")");
		}
		strbuf_addc(out, '\n');
	}
	strbuf_addc(out, '\n');
}

static void put_remedies(struct arena *a, struct strbuf *out, const struct finding *f)
{
	size_t i;

	if (!f->n_remedies)
		return;
	strbuf_add(out, _("What should help:\n\n"));
	for (i = 0; i < f->n_remedies; i++) {
		put_clean_markdown(out, f->remedies[i].text);
		strbuf_add(out, "\n\n");
		if (f->remedies[i].n_commands)
			put_commands(a, out, f->remedies[i].commands, f->remedies[i].n_commands);
	}
}

static void put_others(struct strbuf *out, const struct results *r)
{
	bool any = false;
	size_t i;

	for (i = 0; i < r->n_findings; i++) {
		const struct finding *f = r->findings[i];

		if (f == r->root || f->severity != SEVERITY_WARNING)
			continue;
		if (!any)
			strbuf_add(out, _("Also worth a look:\n\n"));
		any = true;
		strbuf_add(out, "- ");
		put_clean_markdown(out, f->message);
		strbuf_printf(out, " (`%s`)\n", finding_info(f->id)->name);
	}
	if (any)
		strbuf_addc(out, '\n');
}

void report_reply(struct arena *a, const struct report *rep, struct strbuf *out)
{
	const struct results *r = rep->r;
	const struct finding *root = r->root;

	strbuf_add(out, _("Thank you for the report.\n\n"));
	if (r->verdict == VERDICT_UNDETERMINED || !root) {
		strbuf_add(out, _("What you sent does not yet show the cause."));
	} else if (r->verdict == VERDICT_BLOCKED) {
		strbuf_printf(out, _("The cause %s **%s**: "),
			      root->certainty == CERTAINTY_OBSERVED ? _("is") : _("is most likely"),
			      finding_info(root->id)->name);
	} else {
		strbuf_printf(out, _("The GPU software is not at fault here (**%s**): "),
			      finding_info(root->id)->name);
	}
	if (root && r->verdict != VERDICT_UNDETERMINED)
		put_clean_markdown(out, root->message);
	strbuf_add(out, "\n\n");
	if (root)
		put_evidence(out, root);
	if (root && r->verdict != VERDICT_UNDETERMINED)
		put_remedies(a, out, root);
	put_others(out, r);
	if (r->n_asks) {
		strbuf_add(out, _("Please send the output of:\n\n"));
		put_commands(a, out, r->asks, r->n_asks);
	}
}
