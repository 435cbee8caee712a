/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the script of remedies; runs nothing and decides nothing. */
#include "report/fix_script.h"

#include <string.h>

#include "base/arena.h"
#include "base/version.h"
#include "report/wrap.h"

enum { WIDTH = 98 };

struct script {
	struct arena *a;
	struct strbuf *out;
	size_t step, steps;
	bool live; /* steps stand live, if their commands may */
};

/* Prose or foreign text as comment lines: after clean() no byte in it ends a line. */
static void comment(struct script *s, const char *text)
{
	const char *mark = "# ";
	struct strbuf b;
	struct view rest, line;

	strbuf_init(&b, s->a);
	wrap_text(&b, clean(s->a, text), 2, 0, WIDTH);
	rest = (struct view){ .p = b.s, .n = b.n };
	while (view_line(&rest, &line)) {
		strbuf_printf(s->out, "%s%.*s\n", mark, (int)line.n, line.p);
		/* No line that goes on can look like a directive of a shell checker. */
		mark = "#: ";
	}
}

static const char *yes(bool b)
{
	return b ? _("yes") : _("no");
}

static const char *risk_text(enum risk r)
{
	static const char *const texts[] = {
		[RISK_SAFE] = N_("none"),
		[RISK_CHANGES] = N_("it changes what is installed or set"),
		[RISK_DESTROYS] = N_("it takes something away"),
	};

	return _(texts[r]);
}

static const char *reason(enum fix_kind k)
{
	static const char *const texts[] = {
		[FIX_PLAIN] = N_("left out here"),
		[FIX_LOOKS] = N_("only looks"),
		[FIX_TAKES_AWAY] = N_("takes something away or restarts: type it yourself"),
		[FIX_OWN_SHELL] = N_("to be typed in the shell that it is for"),
		[FIX_OTHER] = N_("no plain command: for a file, or to be completed first"),
	};

	return _(texts[k]);
}

static void put_command(struct script *s, const char *command, bool live)
{
	enum fix_kind k = fix_kind_of(s->a, command);

	if (live && k == FIX_PLAIN) {
		strbuf_printf(s->out, "%s\n", command);
		return;
	}
	if (k != FIX_PLAIN)
		comment(s, arena_printf(s->a, "(%s)", reason(k)));
	/* Also a fragment of a file goes line by line; each is cleaned by itself. */
	if (strchr(command, '\n')) {
		struct view rest = view_of(command), line;

		while (view_line(&rest, &line))
			strbuf_printf(s->out, "#   %s\n", clean(s->a, view_dup(s->a, line)));
		return;
	}
	strbuf_printf(s->out, "# $ %s\n", clean(s->a, command));
}

static void put_remedy(struct script *s, const struct remedy *r, bool first)
{
	bool live = s->live && first && r->risk != RISK_DESTROYS;
	size_t i;

	comment(s, arena_printf(s->a, first ? _("What: %s") : _("Another way: %s"), r->text));
	comment(s, arena_printf(s->a, _("Risk: %s. Root: %s. Reboot afterwards: %s."),
				risk_text(r->risk), yes(r->needs_root), yes(r->needs_reboot)));
	for (i = 0; i < r->n_commands; i++)
		put_command(s, r->commands[i], live);
	if (live && r->needs_reboot)
		comment(s, _("Reboot before what follows, and before it is judged again."));
}

static void put_title(struct script *s, const char *title)
{
	strbuf_addc(s->out, '\n');
	comment(s, arena_printf(s->a, _("---- step %zu of %zu: %s"), ++s->step, s->steps, title));
}

static void put_head(struct script *s, const char *command, const char *date)
{
	strbuf_add(s->out, "#!/bin/sh\n");
	comment(s, arena_printf(s->a,
				_("Written by `cuvet %s` (cuvet %s, tables of %s). Nothing of it "
				  "was run."),
				command, CUVET_VERSION, date));
	comment(s,
		_("Read it first. A command that takes something away, that only looks, or that is no "
		  "plain command of a shell is commented out."));
}

/* -------- findings */

static bool belongs(const struct report *rep, const struct finding *f)
{
	if (!f->n_remedies)
		return false;
	return f == rep->r->root || (!f->has_cause && f->severity != SEVERITY_INFO);
}

static void put_finding(struct script *s, const struct report *rep, const struct finding *f)
{
	const struct finding_info *info = finding_info(f->id);
	bool root = f == rep->r->root, project = fact_is(&rep->s->source, "project");
	size_t i;

	put_title(s, arena_printf(s->a, "%s (%s, %s)", info->name, info->code,
				  root ? _("root cause") : severity_name(f->severity)));
	comment(s, arena_printf(s->a, _("Why: %s: %s"), f->subject, f->message));
	s->live = (root || !rep->r->root) && !project;
	if (project)
		comment(s, _("What stands here is for the file that is named, not for a shell."));
	else if (!s->live)
		comment(s, _("Left out until the root cause is gone: it may go with it."));
	for (i = 0; i < f->n_remedies; i++)
		put_remedy(s, &f->remedies[i], i == 0);
}

void fix_script(struct arena *a, const struct report *rep, struct strbuf *out)
{
	const struct results *r = rep->r;
	struct script s = { .a = a, .out = out };
	size_t i;

	put_head(&s, rep->command, rep->data_date);
	comment(&s, arena_printf(a, _("Verdict: %s."), verdict_name(r->verdict)));
	for (i = 0; i < r->n_findings; i++)
		s.steps += belongs(rep, r->findings[i]);
	strbuf_add(out, "set -eu\n");
	if (!s.steps)
		comment(&s, _("Nothing is to be done."));
	for (i = 0; i < r->n_findings; i++)
		if (belongs(rep, r->findings[i]))
			put_finding(&s, rep, r->findings[i]);
	strbuf_addc(out, '\n');
	comment(&s, _("Then judge it again: cuvet check"));
}

/* -------- plans */

void fix_script_plan(struct arena *a, const struct plan *p, const char *data_date,
		     struct strbuf *out)
{
	struct script s = { .a = a, .out = out, .steps = p->chosen ? 1 : p->n_remedies };
	const struct plan_commands *pip;
	size_t i;

	put_head(&s, "plan", data_date);
	strbuf_add(out, "set -eu\n");
	if (p->chosen) {
		struct remedy r = { .risk = RISK_CHANGES };

		pip = &p->chosen->commands[TOOL_PIP];
		put_title(&s, _("install what was chosen"));
		for (i = 0; i < p->chosen->n_why; i++)
			comment(&s, arena_printf(a, _("Why: %s"), p->chosen->why[i]));
		s.live = true;
		r.text = _("Install it into the environment that is active.");
		r.commands = pip->lines;
		r.n_commands = pip->n;
		put_remedy(&s, &r, true);
	} else {
		comment(&s, _("Nothing fits."));
		for (i = 0; i < p->n_why; i++)
			comment(&s, arena_printf(a, _("Why: %s"), p->why[i]));
	}
	/* The cheapest first; which of them is a choice. */
	for (i = 0; !p->chosen && i < p->n_remedies; i++) {
		put_title(&s, _("what would make it fit"));
		s.live = false;
		put_remedy(&s, &p->remedies[i], true);
	}
	strbuf_addc(out, '\n');
	comment(&s, _("Then judge it: cuvet check"));
}
