/* SPDX-License-Identifier: Apache-2.0 */
/* A courteous answer in Markdown: the cause, the lines that show it, what to do or what to send. */
#include "report/reply.h"

#include "report/formats.h"

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
		/* A line of the text speaks for itself; a value needs its name. */
		if (strcmp(e->field, "text") != 0) {
			strbuf_printf(out, "`%s`: ", clean(out->a, e->field));
			put_clean_markdown(out, e->seen ? e->seen : _("absent"));
			if (e->wanted)
				put_clean_markdown(
					out, arena_printf(out->a, _(", wanted %s"), e->wanted));
		} else {
			put_clean_markdown(out, e->seen);
		}
		if (e->source && *e->source) {
			strbuf_add(out, " (");
			put_clean_markdown(out, source_words(out->a, e->source));
			strbuf_add(out, ")");
		}
		strbuf_addc(out, '\n');
	}
	strbuf_addc(out, '\n');
}

static void put_remedies(struct arena *a, struct strbuf *out, const struct finding *f)
{
	const char *note;
	size_t i;

	if (!f->n_remedies)
		return;
	strbuf_add(out, _("What should help:\n\n"));
	for (i = 0; i < f->n_remedies; i++) {
		put_prose_markdown(out, f->remedies[i].text);
		note = remedy_note(a, &f->remedies[i]);
		if (*note)
			strbuf_printf(out, " (%s)", note);
		strbuf_add(out, "\n\n");
		if (f->remedies[i].n_commands)
			put_commands(a, out, f->remedies[i].commands, f->remedies[i].n_commands);
	}
}

/* What may be suspected as well, and the line that speaks against it. */
static void put_ruled(struct strbuf *out, const struct results *r)
{
	size_t i;

	if (!r->n_ruled)
		return;
	strbuf_add(out, _("What it is not:\n\n"));
	for (i = 0; i < r->n_ruled; i++) {
		strbuf_add(out, "- ");
		put_prose_markdown(out, r->ruled[i].text);
		strbuf_add(out, " (");
		put_clean_markdown(out, source_words(out->a, r->ruled[i].source));
		strbuf_add(out, ")\n");
	}
	strbuf_addc(out, '\n');
}

static void put_next(struct strbuf *out, const struct results *r)
{
	bool any = false;
	size_t i;

	for (i = 0; i < r->n_findings; i++) {
		const struct finding *f = r->findings[i];

		if (!bites_next(r, f))
			continue;
		if (!any)
			strbuf_add(out, _("What will fail next, once that is mended:\n\n"));
		any = true;
		strbuf_add(out, "- ");
		put_prose_markdown(out, f->message);
		strbuf_printf(out, " (`%s`)\n", finding_info(f->id)->name);
	}
	if (any)
		strbuf_addc(out, '\n');
}

/* Whole sentences, each with its own translation: word order differs between languages. */
static void put_verdict(struct strbuf *out, const struct results *r)
{
	const struct finding *root = r->root;
	const char *name = root ? finding_info(root->id)->name : "";

	if (r->verdict == VERDICT_UNDETERMINED || !root)
		strbuf_add(out, _("What you sent does not yet show the cause."));
	else if (r->verdict != VERDICT_BLOCKED)
		strbuf_printf(out, _("The GPU software is not at fault here (**%s**): "), name);
	else if (root->certainty == CERTAINTY_OBSERVED)
		strbuf_printf(out, _("The cause is **%s**: "), name);
	else
		strbuf_printf(out, _("The cause is most likely **%s**: "), name);
	if (root && r->verdict != VERDICT_UNDETERMINED)
		put_prose_markdown(out, root->message);
	strbuf_add(out, "\n\n");
}

void report_reply(struct arena *a, const struct report *rep, struct strbuf *out)
{
	const struct results *r = rep->r;
	const struct finding *root = r->root;

	strbuf_add(out, _("Thank you for the report.\n\n"));
	put_verdict(out, r);
	if (root)
		put_evidence(out, root);
	if (root && r->verdict != VERDICT_UNDETERMINED)
		put_remedies(a, out, root);
	put_ruled(out, r);
	put_next(out, r);
	if (r->n_asks) {
		strbuf_add(out, _("To find the cause, please send what these commands print:\n\n"));
		put_commands(a, out, r->asks, r->n_asks);
	} else if (r->verdict == VERDICT_BLOCKED) {
		strbuf_add(out, _("If it still fails after that, please send the new message in "
				  "full.\n"));
	}
}
