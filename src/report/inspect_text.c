/* SPDX-License-Identifier: Apache-2.0 */
/* What was found in files, for a reader: a block a file, what would be loaded below it. */
#include "report/inspect_text.h"

#include <string.h>

#include "base/arena.h"
#include "report/report.h"
#include "report/wrap.h"

enum { LABEL = 18, MEMBERS_SHOWN = 200 };

struct printer {
	struct arena *a;
	struct strbuf *out;
	int width;
	bool colour;
};

static void bold(struct printer *p, const char *s)
{
	if (p->colour)
		strbuf_add(p->out, "\033[1m");
	put_clean(p->out, s);
	if (p->colour)
		strbuf_add(p->out, "\033[0m");
}

/* "  label      text, wrapped"; nothing for NULL or "". The text is foreign. */
static void row(struct printer *p, const char *label, const char *text)
{
	if (!text || !*text)
		return;
	strbuf_printf(p->out, "  %-*s", LABEL - 3, label);
	strbuf_addc(p->out, ' ');
	wrap_text(p->out, clean(p->a, text), LABEL, LABEL, p->width);
}

static const char *joined(struct printer *p, const char *const *list, size_t n)
{
	struct strbuf b;
	size_t i;

	strbuf_init(&b, p->a);
	for (i = 0; i < n; i++) {
		strbuf_sep(&b, " ");
		strbuf_add(&b, list[i]);
	}
	return b.s;
}

static const char *spaced(struct printer *p, const char *list)
{
	struct strbuf b;
	size_t n;

	strbuf_init(&b, p->a);
	if (!list)
		return b.s;
	while (*list) {
		n = strcspn(list, ":");
		strbuf_sep(&b, " ");
		strbuf_add(&b, n ? arena_strndup(p->a, list, n) : _("(working directory)"));
		list += n;
		if (*list && !*++list) {
			strbuf_addc(&b, ' ');
			strbuf_add(&b, _("(working directory)"));
		}
	}
	return b.s;
}

static const char *versions(struct printer *p, const struct inspect_file *f)
{
	struct strbuf b;

	strbuf_init(&b, p->a);
	if (f->glibc)
		strbuf_printf(&b, "GLIBC %s", f->glibc);
	if (f->glibcxx) {
		strbuf_sep(&b, ", ");
		strbuf_printf(&b, "GLIBCXX %s", f->glibcxx);
	}
	if (f->cxxabi) {
		strbuf_sep(&b, ", ");
		strbuf_printf(&b, "CXXABI %s", f->cxxabi);
	}
	return b.s;
}

static const char *targets(struct printer *p, const struct fatbin *f, enum fatbin_kind kind)
{
	size_t n;
	const char **names = fatbin_names(p->a, f, kind, &n);

	return joined(p, names, n);
}

static void put_code(struct printer *p, const struct inspect_code *c)
{
	static const enum fatbin_kind kinds[] = { FATBIN_CUBIN, FATBIN_PTX, FATBIN_LTO };
	struct strbuf b;
	size_t i;

	strbuf_init(&b, p->a);
	for (i = 0; i < ARRAY_LEN(kinds); i++) {
		const char *names = targets(p, &c->f, kinds[i]);

		if (*names) {
			strbuf_sep(&b, " ");
			strbuf_add(&b, names);
		}
	}
	if (c->f.unknown) {
		strbuf_sep(&b, ", ");
		strbuf_printf(&b, _("%u of a kind or version that is not known here"),
			      c->f.unknown);
	}
	if (!b.n)
		strbuf_add(&b, _("none"));
	if (c->records >= 0 && c->records != c->f.total)
		strbuf_printf(&b, _(" (%u bundles, %lld registered)"), c->f.total,
			      (long long)c->records);
	else if (c->f.total > 1)
		strbuf_printf(&b, _(" (%u bundles)"), c->f.total);
	row(p, c->linked ? _("GPU code") : c->section, b.s);
}

static void put_compat(struct printer *p, const struct inspect_compat *c)
{
	if (!c)
		return;
	if (c->why)
		return row(p, _("compat note"), c->why);
	row(p, _("compat note"),
	    arena_printf(p->a, _("CUDA %s on driver branches %s"), c->cuda ? c->cuda : "?",
			 joined(p, c->drivers, c->n_drivers)));
}

static const char *rule(struct printer *p, const struct load_answer *x)
{
	if (x->via == VIA_RPATH_INHERITED && x->object->holder)
		return arena_printf(p->a, _("DT_RPATH of %s"), path_base(x->object->holder->path));
	return load_via_name(x->via);
}

static void put_resolved(struct printer *p, const struct inspect_file *f)
{
	const struct load_answer *list;
	size_t n, i, k;

	if (!f->session)
		return;
	list = load_session_answers(f->session, &n);
	if (n)
		strbuf_printf(p->out, "  %s\n", _("would load"));
	for (i = 0; i < n; i++) {
		const struct load_object *o = list[i].object;

		if (list[i].via == VIA_LOADED)
			continue;
		strbuf_add(p->out, "    ");
		put_clean(p->out, list[i].name);
		strbuf_add(p->out, " => ");
		put_clean(p->out, o->path ? o->path : _("not found"));
		if (o->path) {
			strbuf_add(p->out, "  [");
			put_clean(p->out, rule(p, &list[i]));
			strbuf_add(p->out, "]");
		}
		strbuf_addc(p->out, '\n');
		if (o->state == LOAD_FATAL) {
			strbuf_printf(p->out, "      %s: ", _("the loader gives up here"));
			put_clean(p->out, o->why);
			strbuf_addc(p->out, '\n');
		}
		for (k = 0; k < o->n_shadowed; k++) {
			strbuf_printf(p->out, "      %s ", _("hides"));
			put_clean(p->out, o->shadowed[k].path);
			strbuf_printf(p->out, "  [%s]\n", load_via_name(o->shadowed[k].via));
		}
	}
}

static void put_file(struct printer *p, const struct inspect_file *f)
{
	size_t i;

	bold(p, f->path);
	strbuf_printf(p->out, ": %s", inspect_kind_text(f->kind));
	if (f->machine)
		strbuf_printf(p->out, ", %s", f->machine);
	if (f->members)
		strbuf_printf(p->out, _(", %zu members"), f->members);
	strbuf_addc(p->out, '\n');
	row(p, _("soname"), f->soname);
	row(p, _("python"), f->python);
	row(p, _("needed"), joined(p, f->needed, f->n_needed));
	row(p, _("delayed"), joined(p, f->delayed, f->n_delayed));
	row(p, "RPATH", spaced(p, f->rpath));
	row(p, "RUNPATH", spaced(p, f->runpath));
	row(p, _("versions"), versions(p, f));
	if (f->has_exports && f->exports)
		row(p, _("exports"), arena_printf(p->a, "%u", f->exports));
	for (i = 0; i < f->n_code; i++)
		put_code(p, &f->code[i]);
	put_compat(p, f->compat);
	row(p, _("note"), f->note);
	row(p, _("broken"), f->why);
	put_resolved(p, f);
}

static void put_process(struct printer *p, const struct process *x)
{
	size_t i;

	bold(p, x->exe);
	strbuf_printf(p->out, _(": process %ld, %zu libraries\n"), x->pid, x->n);
	for (i = 0; i < x->n; i++) {
		const struct mapped *m = &x->v[i];

		strbuf_printf(p->out, "  %-9s ", mapped_state_word(m->state));
		put_clean(p->out, m->path);
		if (m->expected) {
			strbuf_printf(p->out, "\n            %s ", _("by its name now"));
			put_clean(p->out, m->expected);
			strbuf_printf(p->out, "  [%s]", load_via_name(m->via));
		}
		strbuf_addc(p->out, '\n');
	}
	for (i = 0; i < x->n_missing; i++) {
		strbuf_printf(p->out, "  %-9s ", _("not yet"));
		put_clean(p->out, x->missing[i]->object->path);
		strbuf_printf(p->out, "  [%s]\n", load_via_name(x->missing[i]->via));
	}
}

static void put_notes(struct printer *p, const struct inspect *in)
{
	bool relative = false;
	size_t i;

	for (i = 0; i < in->n; i++)
		relative |= in->files[i].session &&
			    load_session_skipped_relative(in->files[i].session);
	if (in->w && in->w->musl)
		wrap_text(
			p->out,
			_("The C library here is musl: what would be loaded follows its loader's rules, "
			  "which know no cache and take RPATH and RUNPATH as one."),
			0, 0, p->width);
	if (relative)
		wrap_text(
			p->out,
			_("A search path has elements relative to a working directory that is not "
			  "known; they were passed over."),
			0, 0, p->width);
	if (in->cut)
		wrap_text(p->out, _("There is more than was looked at."), 0, 0, p->width);
}

void inspect_text(const struct inspect *in, const struct process *process,
		  const struct inspect_view *v, struct strbuf *out)
{
	struct printer p = {
		.a = in->a, .out = out, .width = wrap_width(v->width), .colour = v->colour
	};
	size_t i, shown = 0, left_out = 0;

	for (i = 0; i < in->n; i++) {
		const struct inspect_file *f = &in->files[i];

		/* Members without anything of the GPU are counted alone, once there are many. */
		if (f->container && !f->n_code && !f->why && ++shown > MEMBERS_SHOWN) {
			left_out++;
			continue;
		}
		put_file(&p, f);
	}
	if (left_out)
		strbuf_printf(out, _("... and %zu members without GPU code\n"), left_out);
	if (process)
		put_process(&p, process);
	put_notes(&p, in);
}
