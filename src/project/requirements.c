/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requirements.txt as pip reads it: continued lines, comments, options, includes. Unlike `plan`,
 * a line that cannot be decided is said and the rest still read.
 */
#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "model/requirement.h"
#include "project/project.h"

struct file {
	struct project_reader *r;
	struct project *p;
	struct step *s;
	const char *path;
	bool constraint;
};

static bool option_value(struct view line, const char *shortly, const char *longly,
			 struct view *ret)
{
	struct view rest = line, word;

	if (!view_word(&rest, &word))
		return false;
	if ((shortly && view_is(word, shortly)) || view_is(word, longly)) {
		*ret = view_trim(rest);
		return true;
	}
	if (view_starts(word, longly) && word.n > strlen(longly) && word.p[strlen(longly)] == '=') {
		*ret = view_trim(view_skip(line, strlen(longly) + 1));
		return true;
	}
	if (shortly && view_starts(word, shortly) && !view_starts(word, "--")) {
		*ret = view_trim(view_skip(line, strlen(shortly)));
		return true;
	}
	return false;
}

/* pip itself puts environment variables in for ${NAME}. */
static const char *value_of(struct file *f, struct view v, struct place at)
{
	bool unknown = false;
	const char *s;

	if (v.n > 1 && (v.p[0] == '"' || v.p[0] == '\'') && v.p[v.n - 1] == v.p[0])
		v = (struct view){ .p = v.p + 1, .n = v.n - 2 };
	s = substitute(f->r, f->p, v, &unknown);
	if (unknown)
		project_doubt(f->r, f->p, at, _("%s: a variable has no value here"),
			      view_dup(f->r->a, v));
	return unknown ? NULL : s;
}

static void option(struct file *f, struct view line, struct place at)
{
	const char *value;
	struct index *i;
	struct view v;
	bool main, links, constraint;

	if (view_starts(line, "--no-index")) {
		f->s->no_index = true;
		return;
	}
	if (view_is(line, "--pre")) {
		f->s->pre = true;
		return;
	}
	main = option_value(line, "-i", "--index-url", &v) ||
	       option_value(line, NULL, "--pypi-url", &v);
	links = !main && option_value(line, "-f", "--find-links", &v);
	if (main || links || option_value(line, NULL, "--extra-index-url", &v)) {
		value = value_of(f, v, at);
		if (!value || !*value)
			return;
		i = step_index(f->r, f->s, value, at);
		i->main = main;
		i->links = links;
		return;
	}
	/* What a project includes lies in it (faults: P12). */
	constraint = option_value(line, "-c", "--constraint", &v);
	if (constraint || option_value(line, "-r", "--requirement", &v)) {
		value = value_of(f, v, at);
		if (value && *value == '/')
			project_doubt(f->r, f->p, at, _("%s: an absolute path is not followed"),
				      value);
		else if (value && *value)
			requirements_read(f->r, f->p, f->s, beside_file(f->r->a, f->path, value),
					  at, constraint || f->constraint);
		return;
	}
	if (option_value(line, "-e", "--editable", &v)) {
		size_t before = f->s->n_wants;

		want_parse(f->r, f->p, f->s, v, at);
		if (f->s->n_wants > before)
			f->s->wants[before].editable = true;
	}
}

static void one_line(struct file *f, const struct mapped *m)
{
	struct view v = view_trim(m->text);
	struct place at;
	size_t before = f->s->n_wants;

	if (!v.n)
		return;
	at = mapped_place(m, (size_t)(v.p - m->text.p));
	if (v.p[0] == '-') {
		option(f, v, at);
		return;
	}
	v = requirement_without_options(v);
	if (view_find(v, "${") >= 0) {
		const char *s = value_of(f, v, at);

		if (!s)
			return;
		v = view_of(s);
	}
	want_parse(f->r, f->p, f->s, v, at);
	for (; before < f->s->n_wants; before++)
		f->s->wants[before].constraint = f->constraint;
}

void requirements_text(struct project_reader *r, struct project *p, struct step *s,
		       struct view text, const char *path, bool constraint)
{
	struct file f = { .r = r, .p = p, .s = s, .path = path, .constraint = constraint };
	size_t number = 0;
	struct view one;

	if (view_starts(text, "\xef\xbb\xbf"))
		text = view_skip(text, 3);
	while (text.n) {
		struct mapped m = { .file = path };
		struct strbuf b;
		bool more = true;

		strbuf_init(&b, r->a);
		while (more && view_line(&text, &one)) {
			mapped_piece(r->a, &m, b.n, ++number, 1);
			more = view_ends(one, "\\") && view_comment(one) == one.n;
			one.n = more ? one.n - 1 : view_comment(one);
			strbuf_addv(&b, one);
		}
		m.text = (struct view){ .p = b.s, .n = b.n };
		one_line(&f, &m);
	}
}

void requirements_read(struct project_reader *r, struct project *p, struct step *s,
		       const char *path, struct place from, bool constraint)
{
	struct view text;
	struct err e;

	if (strstr(path, "://")) {
		project_doubt(r, p, from, _("%s: a file on the network is not read"), path);
		return;
	}
	if (r->depth >= PROJECT_DEPTH) {
		project_doubt(r, p, from, _("%s: too many files include each other"), path);
		return;
	}
	project_use(r, path);
	*ARENA_APPEND(r->a, r->included, r->n_included) = path;
	if (project_open(r, path, &text, &e)) {
		project_doubt(r, p, from, "%s", e.msg);
		return;
	}
	r->depth++;
	requirements_text(r, p, s, text, path, constraint);
	r->depth--;
}
