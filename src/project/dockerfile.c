/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dockerfiles: directives, continued lines, here-documents, stages, ARG and ENV, what COPY brings.
 * RUN lines go to the shell's reader. Nothing is built.
 */
#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "project/project.h"

enum { STAGES = 64, HEREDOCS = 8 };

struct stage {
	struct project *p;
	const char *name;
	struct copied *copied;
	size_t n_copied;
	const char *workdir;
	size_t parent; /* index + 1 of the stage that it is FROM; 0: an image */
	bool reached;
	bool brings; /* an environment of it is copied into a later stage */
};

struct docker {
	struct project_reader *r;
	const char *path;
	struct view text;
	size_t line; /* of the line that was taken last */
	char escape;
	struct project *global; /* ARGs in front of the first FROM */
	struct stage stages[STAGES];
	size_t n;
};

struct instruction {
	struct mapped m; /* arguments, continued lines joined */
	const char *keyword;
	struct place at;
	struct heredoc heredoc[HEREDOCS];
	size_t n_heredocs;
};

static bool blank_or_comment(struct view line)
{
	line = view_trim(line);
	return !line.n || line.p[0] == '#';
}

/* "# escape=`" in front of everything else. */
static void directives(struct docker *d)
{
	struct view text = d->text, line, rest, key;

	d->escape = '\\';
	while (view_line(&text, &line)) {
		line = view_trim(line);
		if (!line.n || line.p[0] != '#')
			return;
		key = view_trim(view_cut(view_skip(line, 1), '=', &rest));
		rest = view_trim(rest);
		if (view_is_nocase(key, "escape") && rest.n == 1 &&
		    (rest.p[0] == '`' || rest.p[0] == '\\'))
			d->escape = rest.p[0];
		else if (!rest.n)
			return;
	}
}

/* Among the words of RUN, COPY and ADD. */
static void find_heredocs(struct docker *d, struct instruction *in)
{
	size_t at = 0;
	struct heredoc h;

	while (in->n_heredocs < HEREDOCS &&
	       heredoc_next(d->r->a, in->m.text, &at, " \t;&|0123456789", &h))
		in->heredoc[in->n_heredocs++] = h;
}

/* The bodies follow the instruction; a RUN's are its commands. */
static void take_heredocs(struct docker *d, struct instruction *in)
{
	struct strbuf b;
	struct view line;
	size_t i;

	strbuf_init(&b, d->r->a);
	strbuf_addv(&b, in->m.text);
	for (i = 0; i < in->n_heredocs; i++) {
		while (view_line(&d->text, &line)) {
			d->line++;
			if (heredoc_ends(&in->heredoc[i], line))
				break;
			strbuf_addc(&b, '\n');
			mapped_piece(d->r->a, &in->m, b.n, d->line, 1);
			strbuf_addv(&b, line);
		}
	}
	if (in->n_heredocs)
		in->m.text = (struct view){ .p = b.s, .n = b.n };
}

static bool continues(const struct docker *d, struct view *line)
{
	struct view v = *line;

	while (v.n && (v.p[v.n - 1] == ' ' || v.p[v.n - 1] == '\t' || v.p[v.n - 1] == '\r'))
		v.n--;
	if (!v.n || v.p[v.n - 1] != d->escape)
		return false;
	line->n = v.n - 1;
	return true;
}

/* The next instruction with all its lines; false at the end of the file. */
static bool next(struct docker *d, struct instruction *ret)
{
	struct view line, word;
	struct strbuf b;
	size_t start;
	bool more;

	*ret = (struct instruction){ .m = { .file = d->path } };
	do {
		if (!view_line(&d->text, &line))
			return false;
		d->line++;
	} while (blank_or_comment(line));
	strbuf_init(&b, d->r->a);
	more = continues(d, &line);
	start = 0;
	while (start < line.n && (line.p[start] == ' ' || line.p[start] == '\t'))
		start++;
	ret->at = (struct place){ .file = d->path, .line = d->line, .column = start + 1 };
	word = view_skip(line, start);
	word.n = 0;
	while (start + word.n < line.n && line.p[start + word.n] > ' ')
		word.n++;
	ret->keyword = view_dup(d->r->a, word);
	start += word.n;
	while (start < line.n && (line.p[start] == ' ' || line.p[start] == '\t'))
		start++;
	mapped_piece(d->r->a, &ret->m, 0, d->line, start + 1);
	strbuf_addv(&b, view_skip(line, start));
	while (more && view_line(&d->text, &line)) {
		d->line++;
		if (blank_or_comment(line))
			continue;
		more = continues(d, &line);
		strbuf_addc(&b, ' ');
		mapped_piece(d->r->a, &ret->m, b.n, d->line, 1);
		strbuf_addv(&b, line);
	}
	ret->m.text = (struct view){ .p = b.s, .n = b.n };
	return true;
}

/* -------- instructions */

static struct stage *current(struct docker *d)
{
	return d->n ? &d->stages[d->n - 1] : NULL;
}

static struct project *scope(struct docker *d)
{
	return d->n ? current(d)->p : d->global;
}

static const char *given_arg(struct docker *d, const char *name)
{
	size_t i, n = strlen(name);

	for (i = 0; i < d->r->n_args; i++)
		if (strncmp(d->r->args[i], name, n) == 0 && d->r->args[i][n] == '=')
			return d->r->args[i] + n + 1;
	return build_arg(d->r, d->path, name);
}

static const char *unquoted(struct arena *a, struct view v)
{
	v = view_trim(v);
	if (v.n > 1 && (v.p[0] == '"' || v.p[0] == '\'') && v.p[v.n - 1] == v.p[0])
		v = (struct view){ .p = v.p + 1, .n = v.n - 2 };
	return view_dup(a, v);
}

/* ARG NAME[=VALUE] ...; what was given from outside wins over the default. */
static void do_arg(struct docker *d, struct instruction *in)
{
	struct view rest = in->m.text, word, value;
	struct project *p = scope(d);

	while (view_word(&rest, &word)) {
		const char *name = view_dup(d->r->a, view_cut(word, '=', &value)), *v;
		bool has = view_chr(word, '=') >= 0, unknown = false;
		const struct setting *outer;

		v = given_arg(d, name);
		if (!v && has)
			v = substitute(d->r, p, view_of(unquoted(d->r->a, value)), &unknown);
		outer = !v && d->n ? project_env(d->global, name) : NULL;
		if (outer)
			v = outer->value;
		if (!v && strcmp(name, "TARGETARCH") == 0)
			continue;
		if (!v || unknown)
			continue;
		project_set(d->r, p, name, v,
			    mapped_place(&in->m, (size_t)(word.p - in->m.text.p)));
		p->env[p->n_env - 1].build_only = true;
	}
}

/* ENV K=V K="a b" ..., or ENV K V. */
static void do_env(struct docker *d, struct instruction *in)
{
	struct view v = in->m.text, first, rest;
	struct project *p = scope(d);
	bool unknown;
	size_t i, start, eq;

	rest = v;
	if (!view_word(&rest, &first))
		return;
	if (view_chr(first, '=') < 0) {
		unknown = false;
		project_set(d->r, p, view_dup(d->r->a, first),
			    substitute(d->r, p, view_trim(rest), &unknown), in->at);
		return;
	}
	for (i = 0; i < v.n;) {
		struct strbuf b;
		char q = 0;

		while (i < v.n && (v.p[i] == ' ' || v.p[i] == '\t'))
			i++;
		start = i;
		while (i < v.n && v.p[i] != '=' && v.p[i] > ' ')
			i++;
		eq = i;
		if (i >= v.n || v.p[i] != '=' || eq == start)
			return;
		strbuf_init(&b, d->r->a);
		for (i++; i < v.n && (q || (v.p[i] != ' ' && v.p[i] != '\t')); i++) {
			if (!q && (v.p[i] == '"' || v.p[i] == '\''))
				q = v.p[i];
			else if (q && v.p[i] == q)
				q = 0;
			else if (v.p[i] == '\\' && i + 1 < v.n && v.p[i + 1] != '$')
				strbuf_addc(&b, v.p[++i]);
			else
				strbuf_addc(&b, v.p[i]);
		}
		unknown = false;
		project_set(d->r, p, arena_strndup(d->r->a, v.p + start, eq - start),
			    substitute(d->r, p, (struct view){ .p = b.s, .n = b.n }, &unknown),
			    mapped_place(&in->m, start));
	}
}

static size_t stage_named(const struct docker *d, const char *name)
{
	size_t i;
	uint64_t n;

	for (i = d->n; i > 0; i--)
		if (d->stages[i - 1].name &&
		    view_is_nocase(view_of(d->stages[i - 1].name), name))
			return i;
	if (view_u64(view_of(name), 10, &n) && n < d->n)
		return (size_t)n + 1;
	return 0;
}

/* A stage begins with all that its parent stage has. */
static void inherit(struct docker *d, struct stage *st, size_t parent)
{
	const struct project *from = d->stages[parent - 1].p;
	struct project *p = st->p;
	size_t i;

	p->image = from->image;
	p->image_at = from->image_at;
	p->image_unknown = from->image_unknown;
	for (i = 0; i < from->n_env; i++)
		if (!from->env[i].build_only)
			*ARENA_APPEND(d->r->a, p->env, p->n_env) = from->env[i];
	for (i = 0; i < from->n_steps; i++)
		*ARENA_APPEND(d->r->a, p->steps, p->n_steps) = from->steps[i];
	for (i = 0; i < from->n_actions; i++)
		*ARENA_APPEND(d->r->a, p->actions, p->n_actions) = from->actions[i];
	p->python = from->python;
	p->python_at = from->python_at;
	st->workdir = d->stages[parent - 1].workdir;
	st->copied = d->stages[parent - 1].copied;
	st->n_copied = d->stages[parent - 1].n_copied;
	st->parent = parent;
}

static void do_from(struct docker *d, struct instruction *in)
{
	struct view rest = in->m.text, word = { 0 }, as;
	struct stage *st;
	const char *platform = NULL, *image;
	bool unknown = false;
	size_t parent;

	if (d->n == STAGES)
		return;
	while (view_word(&rest, &word) && view_starts(word, "--"))
		if (view_starts(word, "--platform="))
			platform = substitute(d->r, d->global, view_skip(word, 11), &unknown);
	if (unknown)
		platform = NULL;
	unknown = false;
	image = substitute(d->r, d->global, word, &unknown);
	st = &d->stages[d->n];
	*st = (struct stage){ .p = project_new(d->r, PROJECT_DOCKERFILE, d->path) };
	st->p->platform = platform;
	st->p->image_at = mapped_place(&in->m, (size_t)(word.p - in->m.text.p));
	parent = stage_named(d, image);
	if (parent) {
		inherit(d, st, parent);
	} else {
		st->p->image = image;
		st->p->image_unknown = unknown;
	}
	d->n++;
	if (view_word(&rest, &as) && view_is_nocase(as, "AS") && view_word(&rest, &as)) {
		st->name = view_dup(d->r->a, as);
		st->p->name = st->name;
	}
}

/* Does a path look like a Python environment or where one installs to? */
static bool is_environment(const char *path)
{
	static const char *const parts[] = { "venv",	   "site-packages", "dist-packages",
					     "/opt/conda", "/usr/local",    "/root/.local",
					     "/install",   "/opt/python",   "/env",
					     "pixi",	   "/.cache/uv",    "/wheels" };
	size_t i;

	if (strcmp(path, "/") == 0)
		return true;
	for (i = 0; i < ARRAY_LEN(parts); i++)
		if (strstr(path, parts[i]) && !strstr(path, "/bin/"))
			return true;
	return false;
}

static void from_stage(struct docker *d, const char *name, const char *src, struct place line)
{
	struct stage *st = current(d), *from;
	size_t at = stage_named(d, name), i;

	if (!at || at == d->n)
		return;
	from = &d->stages[at - 1];
	project_carry(d->r, st->p, from->p, src, line);
	if (!is_environment(src))
		return;
	from->brings = true;
	for (i = 0; i < from->p->n_steps; i++) {
		struct step *s = ARENA_APPEND(d->r->a, st->p->steps, st->p->n_steps);

		*s = from->p->steps[i];
		s->elsewhere = true;
	}
	if (!st->p->python && from->p->python) {
		st->p->python = from->p->python;
		st->p->python_at = from->p->python_at;
	}
}

static void do_copy(struct docker *d, struct instruction *in)
{
	struct stage *st = current(d);
	struct mapped m = in->m;
	struct view rest, word, words[64];
	const char *from = NULL, *to;
	bool unknown = false;
	struct strbuf b;
	size_t n = 0, i;

	if (!st)
		return;
	/* The form of a JSON list: blanks do for its marks. */
	strbuf_init(&b, d->r->a);
	for (i = 0; i < m.text.n; i++)
		strbuf_addc(&b, m.text.p[0] == '[' && strchr("[],\"", m.text.p[i]) ? ' '
										 : m.text.p[i]);
	rest = (struct view){ .p = b.s, .n = b.n };
	while (n < ARRAY_LEN(words) && view_word(&rest, &word)) {
		if (view_starts(word, "--from="))
			from = substitute(d->r, st->p, view_skip(word, 7), &unknown);
		else if (!view_starts(word, "--"))
			words[n++] = word;
	}
	if (n < 2 || unknown)
		return;
	to = substitute(d->r, st->p, words[n - 1], &unknown);
	for (i = 0; i + 1 < n && !unknown; i++) {
		const char *src = substitute(d->r, st->p, words[i], &unknown);

		if (from) {
			from_stage(d, from, src, in->at);
			continue;
		}
		if (strstr(src, "://") || (src[0] == '/' && src[1]))
			src = src[0] == '/' ? src + 1 : src;
		src = pattern_folder(d->r->a, src);
		*ARENA_APPEND(d->r->a, st->copied, st->n_copied) = (struct copied){
			.from = context_file(d->r, d->path, src),
			.to = n > 2 && to[strlen(to) - 1] != '/' ? arena_printf(d->r->a, "%s/", to)
								 : to,
		};
	}
}

/* ["pip", "install", "x"]: each item is a word. */
static void exec_form(struct docker *d, struct instruction *in)
{
	struct strbuf b;
	size_t i;
	bool inside = false;

	strbuf_init(&b, d->r->a);
	for (i = 0; i < in->m.text.n; i++) {
		char c = in->m.text.p[i];

		if (c == '"')
			inside = !inside;
		strbuf_addc(&b, !inside && strchr("[],", c) ? ' ' : c);
	}
	in->m.text = (struct view){ .p = b.s, .n = b.n };
}

static void do_run(struct docker *d, struct instruction *in)
{
	struct stage *st = current(d);
	struct shell sh = { .r = d->r, .built = true };
	size_t skip = 0;

	if (!st)
		return;
	if (in->m.text.n && in->m.text.p[0] == '[')
		exec_form(d, in);
	/* --mount=... and the like stand in front of the command. */
	while (view_starts(view_skip(in->m.text, skip), "--")) {
		while (skip < in->m.text.n && in->m.text.p[skip] > ' ')
			skip++;
		while (skip < in->m.text.n && in->m.text.p[skip] <= ' ')
			skip++;
	}
	if (skip) {
		char *s = arena_strndup(d->r->a, in->m.text.p, in->m.text.n);

		memset(s, ' ', skip);
		in->m.text.p = s;
	}
	sh.p = st->p;
	sh.m = &in->m;
	sh.workdir = st->workdir;
	sh.copied = st->copied;
	sh.n_copied = st->n_copied;
	shell_run(&sh);
}

static void instruction(struct docker *d, struct instruction *in)
{
	struct view k = view_of(in->keyword);
	struct stage *st = current(d);
	bool unknown = false;

	if (view_is_nocase(k, "RUN") || view_is_nocase(k, "COPY") || view_is_nocase(k, "ADD")) {
		find_heredocs(d, in);
		take_heredocs(d, in);
	}
	if (view_is_nocase(k, "FROM"))
		do_from(d, in);
	else if (view_is_nocase(k, "ARG"))
		do_arg(d, in);
	else if (view_is_nocase(k, "ENV") && d->n)
		do_env(d, in);
	else if (view_is_nocase(k, "COPY") || view_is_nocase(k, "ADD"))
		do_copy(d, in);
	else if (view_is_nocase(k, "RUN"))
		do_run(d, in);
	else if (view_is_nocase(k, "WORKDIR") && st)
		st->workdir = substitute(d->r, st->p, view_trim(in->m.text), &unknown);
}

static bool known_instruction(const char *keyword)
{
	static const char *const words[] = { "FROM",	   "ARG",	"ENV",	       "COPY",
					     "ADD",	   "RUN",	"WORKDIR",     "CMD",
					     "ENTRYPOINT", "LABEL",	"EXPOSE",      "VOLUME",
					     "USER",	   "SHELL",	"HEALTHCHECK", "STOPSIGNAL",
					     "ONBUILD",	   "MAINTAINER" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(words); i++)
		if (view_is_nocase(view_of(keyword), words[i]))
			return true;
	return false;
}

/* The last stage is what runs; those that it does not rest on are not built at all. */
static void mark_stages(struct docker *d)
{
	struct project_list *l = &d->r->list;
	const char *names[STAGES];
	size_t i, k, n = 0;

	for (i = 0; i < d->n; i++)
		names[i] = d->stages[i].name;
	for (i = d->n; i > 0; i--) {
		struct stage *st = &d->stages[i - 1];

		st->p->final = build_stage(d->r, d->path, names, d->n, i - 1);
		if (st->p->final)
			st->reached = true;
		if (st->parent && st->reached)
			d->stages[st->parent - 1].reached = true;
	}
	/* A parent is judged through its children: its own findings would be said twice. */
	for (i = 0; i < l->n; i++) {
		bool drop = false;

		for (k = 0; k < d->n; k++)
			if (d->stages[k].p == l->v[i])
				drop = !d->stages[k].p->final && d->stages[k].reached;
		if (!drop)
			l->v[n++] = l->v[i];
	}
	l->n = n;
}

int dockerfile_read(struct project_reader *r, struct view text, const char *path, struct err *err)
{
	struct docker *d = arena_alloc(r->a, sizeof(*d));
	struct instruction in;

	d->r = r;
	d->path = path;
	d->text = text;
	if (view_starts(text, "\xef\xbb\xbf"))
		d->text = view_skip(text, 3);
	d->global = arena_alloc(r->a, sizeof(*d->global));
	directives(d);
	while (next(d, &in)) {
		if (!known_instruction(in.keyword))
			return err_set(err, ERR_PARSE, "%.300s:%zu:%zu: %s: %.60s", path,
				       in.at.line, in.at.column,
				       _("no instruction of a Dockerfile"), in.keyword);
		instruction(d, &in);
	}
	if (!d->n)
		return err_set(err, ERR_PARSE, "%.300s: %s", path, _("no FROM in this Dockerfile"));
	mark_stages(d);
	return 0;
}
