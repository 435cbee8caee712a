/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences that text and Markdown share. */
#include "base/arena.h"
#include "report/formats.h"

const char *remedy_note(struct arena *a, const struct remedy *r)
{
	struct strbuf b;

	strbuf_init(&b, a);
	if (r->needs_root)
		strbuf_add(&b, _("needs root"));
	if (r->needs_reboot) {
		strbuf_sep(&b, ", ");
		strbuf_add(&b, _("reboot afterwards"));
	}
	if (r->risk == RISK_DESTROYS) {
		strbuf_sep(&b, ", ");
		strbuf_add(&b, _("destroys data"));
	}
	return b.s;
}

const char *verdict_sentence(const struct report *rep)
{
	switch (rep->r->verdict) {
	case VERDICT_STACK_OK:
		return rep->r->n_skipped ? _("Nothing wrong was found in what could be judged.") :
					   _("Nothing wrong was found.");
	case VERDICT_DEGRADED:
		return _("It runs; the warnings below will bite when what they name is used.");
	case VERDICT_UNDETERMINED:
		return _("What is known does not decide.");
	case VERDICT_BLOCKED:
		break;
	}
	return _("It will not run as it is.");
}
