/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python files of Modal: the literal parts of how an image is built. Calls are found by their
 * names, and only strings in their arguments are read; nothing is evaluated.
 */
#include <string.h>

#include "base/arena.h"
#include "project/project.h"

struct source {
	struct project_reader *r;
	struct view text;
	const char *path;
	size_t at, line, line_start; /* line_start: offset of the line of `at` */
	struct project *p;
};

struct argument {
	const char *key; /* of a keyword argument, NULL */
	const char *value;
	struct place at;
};

struct arguments {
	struct argument v[64];
	size_t n;
	bool other; /* something that is no string */
};

static void step_on(struct source *s)
{
	if (s->text.p[s->at++] == '\n') {
		s->line++;
		s->line_start = s->at;
	}
}

static struct place here(const struct source *s)
{
	return (struct place){ .file = s->path,
			       .line = s->line,
			       .column = s->at - s->line_start + 1 };
}

static void comment(struct source *s)
{
	while (s->at < s->text.n && s->text.p[s->at] != '\n')
		s->at++;
}

/* A string literal at `at`, prefixes passed already; its text as written. */
static const char *literal(struct source *s, struct place *ret_at)
{
	char q = s->text.p[s->at];
	bool three = s->at + 2 < s->text.n && s->text.p[s->at + 1] == q &&
		     s->text.p[s->at + 2] == q;
	size_t width = three ? 3 : 1, begin, end, i;

	for (i = 0; i < width; i++)
		step_on(s);
	*ret_at = here(s);
	begin = s->at;
	while (s->at < s->text.n) {
		if (s->text.p[s->at] == '\\' && s->at + 1 < s->text.n) {
			step_on(s);
			step_on(s);
			continue;
		}
		if (s->text.p[s->at] == '\n' && !three)
			break;
		if (s->text.p[s->at] == q &&
		    (!three || (s->at + 2 < s->text.n && s->text.p[s->at + 1] == q &&
				s->text.p[s->at + 2] == q)))
			break;
		step_on(s);
	}
	end = s->at;
	for (i = 0; i < width && s->at < s->text.n && s->text.p[s->at] == q; i++)
		step_on(s);
	return arena_strndup(s->r->a, s->text.p + begin, end - begin);
}

static bool word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* The strings of a call up to its closing parenthesis; `at` stands behind the opening one. */
static void read_arguments(struct source *s, struct arguments *ret)
{
	const char *key = NULL, *value;
	struct place at;
	int depth = 1;

	ret->n = 0;
	ret->other = false;
	while (s->at < s->text.n && depth > 0) {
		char c = s->text.p[s->at];

		if (c == '#') {
			comment(s);
		} else if (c == '"' || c == '\'') {
			value = literal(s, &at);
			if (ret->n < ARRAY_LEN(ret->v))
				ret->v[ret->n++] = (struct argument){
					.key = key, .value = value, .at = at
				};
		} else if (word_char(c)) {
			size_t begin = s->at;

			while (s->at < s->text.n && word_char(s->text.p[s->at]))
				s->at++;
			if (s->at < s->text.n && s->text.p[s->at] == '=' && depth == 1)
				key = arena_strndup(s->r->a, s->text.p + begin, s->at - begin);
			else if (s->at < s->text.n && !strchr("\"'", s->text.p[s->at]))
				ret->other = true;
		} else {
			depth += strchr("([{", c) ? 1 : strchr(")]}", c) ? -1 : 0;
			if (c == ',' && depth == 1)
				key = NULL;
			step_on(s);
		}
	}
}

static const struct argument *keyword(const struct arguments *x, const char *key)
{
	size_t i;

	for (i = 0; i < x->n; i++)
		if (x->v[i].key && strcmp(x->v[i].key, key) == 0)
			return &x->v[i];
	return NULL;
}

static const struct argument *first(const struct arguments *x)
{
	return x->n && !x->v[0].key ? &x->v[0] : NULL;
}

static void install(struct source *s, const struct arguments *x, enum tool tool)
{
	static const struct {
		const char *key;
		bool main, links;
	} keys[] = { { .key = "index_url", .main = true },
		     { .key = "extra_index_url" },
		     { .key = "find_links", .links = true } };
	struct step *st = project_step(s->r, s->p, tool, here(s));
	size_t i, k;

	st->built = true;
	for (i = 0; i < x->n; i++) {
		const struct argument *a = &x->v[i];

		if (!a->key)
			want_parse(s->r, s->p, st, view_of(a->value), a->at);
		for (k = 0; a->key && k < ARRAY_LEN(keys); k++)
			if (strcmp(a->key, keys[k].key) == 0) {
				struct index *index = step_index(s->r, st, a->value, a->at);

				index->main = keys[k].main;
				index->links = keys[k].links;
			}
	}
	if (x->other)
		project_doubt(s->r, s->p, here(s),
			      _("not all that is installed here is written as text"));
}

static void python_of(struct source *s, const struct argument *a)
{
	if (!a || strspn(a->value, "0123456789.") != strlen(a->value))
		return;
	s->p->python = a->value;
	s->p->python_at = a->at;
}

static void new_image(struct source *s, const char *image, struct place at)
{
	s->p = project_new(s->r, PROJECT_MODAL, s->path);
	s->p->image = image;
	s->p->image_at = at;
}

static void commands(struct source *s, const struct arguments *x)
{
	size_t i;

	for (i = 0; i < x->n; i++) {
		struct mapped m = { .file = s->path, .text = view_of(x->v[i].value) };
		struct shell sh = { .r = s->r, .p = s->p, .m = &m, .built = true };

		if (x->v[i].key)
			continue;
		mapped_piece(s->r->a, &m, 0, x->v[i].at.line, x->v[i].at.column);
		shell_run(&sh);
	}
}

static void call(struct source *s, const char *name, struct place at)
{
	struct arguments *x = arena_alloc(s->r->a, sizeof(*x));
	const struct argument *version, *one;

	read_arguments(s, x);
	one = first(x);
	if (strcmp(name, "debian_slim") == 0) {
		version = keyword(x, "python_version") ? keyword(x, "python_version") : one;
		/* Modal's own image: Debian 12 with that Python. */
		if (version)
			new_image(s,
				  arena_printf(s->r->a, "python:%s-slim-bookworm", version->value),
				  version->at);
		else
			new_image(s, "debian:12-slim", at);
	} else if ((strcmp(name, "from_registry") == 0 || strcmp(name, "from_dockerhub") == 0) &&
		   one) {
		new_image(s, one->value, one->at);
		python_of(s, keyword(x, "add_python"));
	} else if (!s->p) {
		return;
	} else if (strcmp(name, "pip_install") == 0) {
		install(s, x, BY_PIP);
	} else if (strcmp(name, "uv_pip_install") == 0) {
		install(s, x, BY_UV_PIP);
	} else if (strcmp(name, "pip_install_from_requirements") == 0 && one) {
		struct step *st = project_step(s->r, s->p, BY_PIP, at);

		st->built = true;
		requirements_read(s->r, s->p, st, beside_file(s->r->a, s->path, one->value),
				  one->at, false);
	} else if (strcmp(name, "run_commands") == 0) {
		commands(s, x);
	}
}

int modal_read(struct project_reader *r, struct view text, const char *path, struct err *err)
{
	struct source s = { .r = r, .text = text, .path = path, .line = 1 };
	struct place at;

	(void)err;
	while (s.at < text.n && r->list.n < PROJECT_FILES) {
		char c = text.p[s.at];

		if (c == '#') {
			comment(&s);
		} else if (c == '"' || c == '\'') {
			literal(&s, &at);
		} else if (c == '.' && s.at + 1 < text.n && word_char(text.p[s.at + 1])) {
			size_t begin = ++s.at;
			const char *name;

			at = here(&s);
			while (s.at < text.n && word_char(text.p[s.at]))
				s.at++;
			name = arena_strndup(r->a, text.p + begin,
					     s.at - begin < 64 ? s.at - begin : 64);
			if (s.at < text.n && text.p[s.at] == '(') {
				s.at++;
				call(&s, name, at);
			}
		} else {
			step_on(&s);
		}
	}
	return 0;
}
