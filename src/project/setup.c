/* SPDX-License-Identifier: Apache-2.0 */
/* The literal parts of setup.cfg and setup.py. No Python is run. */
#include <string.h>

#include "base/arena.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "project/pyproject.h"

/* -------- setup.cfg */

static void setup_cfg(struct project_reader *r, struct project *p, size_t step, struct view text,
		      const char *path)
{
	struct view line, t, value, key;
	size_t number = 0;
	bool options = false, requires = false;

	while (view_line(&text, &line)) {
		struct place at = { .file = path, .line = ++number };

		t = view_trim(line);
		if (!t.n || t.p[0] == '#' || t.p[0] == ';')
			continue;
		at.column = (size_t)(t.p - line.p) + 1;
		if (t.p[0] == '[') {
			options = view_is(t, "[options]");
			requires = false;
			continue;
		}
		if (!options)
			continue;
		if (line.p[0] != ' ' && line.p[0] != '\t') {
			key = view_trim(view_cut(t, '=', &value));
			requires = view_is(key, "install_requires");
			if (view_is(key, "python_requires"))
				p->requires_python = view_dup(r->a, view_trim(value));
			t = view_trim(value);
			if (!requires || !t.n)
				continue;
		}
		if (requires)
			want_parse(r, p, &p->steps[step], t, at);
	}
}

/* -------- setup.py: install_requires = [...], or the name of such a list of the module */

enum { LOOKUPS = 64 }; /* of constants in one file */

struct setup {
	struct project_reader *r;
	struct project *p;
	size_t step;
	struct view text;
	const char *path;
	size_t at, line, start; /* how far lines were counted, and where that one begins */
	size_t lookups;
};

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static size_t blanks(struct view text, size_t i)
{
	while (i < text.n && (text.p[i] == ' ' || text.p[i] == '\t'))
		i++;
	return i;
}

static struct place setup_place(struct setup *s, size_t offset)
{
	if (offset < s->at)
		s->at = s->line = s->start = 0;
	for (; s->at < offset; s->at++)
		if (s->text.p[s->at] == '\n') {
			s->line++;
			s->start = s->at + 1;
		}
	return (struct place){ .file = s->path,
			       .line = s->line + 1,
			       .column = offset - s->start + 1 };
}

/* Where the value of NAME begins that the module assigns (at the margin, once); text.n: nowhere. */
static size_t assigned(struct setup *s, struct view name)
{
	size_t line = 0, i, found = s->text.n;

	if (s->lookups++ >= LOOKUPS)
		return s->text.n;
	while (line < s->text.n) {
		const char *end = memchr(s->text.p + line, '\n', s->text.n - line);

		if (s->text.n - line > name.n && memcmp(s->text.p + line, name.p, name.n) == 0) {
			i = blanks(s->text, line + name.n);
			if (i + 1 < s->text.n && s->text.p[i] == '=' && s->text.p[i + 1] != '=') {
				if (found < s->text.n)
					return s->text.n;
				found = blanks(s->text, i + 1);
			}
		}
		line = end ? (size_t)(end - s->text.p) + 1 : s->text.n;
	}
	return found;
}

/* The string whose quote stands at i; false: it does not end on its line. */
static bool string_at(const struct setup *s, size_t i, struct view *ret)
{
	size_t end = i + 1;

	while (end < s->text.n && s->text.p[end] != s->text.p[i] && s->text.p[end] != '\n')
		end++;
	*ret = (struct view){ .p = s->text.p + i + 1, .n = end - i - 1 };
	return end < s->text.n && s->text.p[end] == s->text.p[i];
}

/* f"torch=={VERSION}" with the strings that the module assigns; NULL: not decided. */
static const char *formatted(struct setup *s, struct view text)
{
	struct strbuf b;
	size_t i, end;
	struct view value;

	strbuf_init(&b, s->r->a);
	for (i = 0; i < text.n; i++) {
		if (text.p[i] != '{') {
			strbuf_addc(&b, text.p[i]);
			continue;
		}
		end = ++i;
		while (end < text.n && is_name(text.p[end]))
			end++;
		if (end == i || end == text.n || text.p[end] != '}')
			return NULL;
		i = assigned(s, (struct view){ .p = text.p + i, .n = end - i });
		if (i >= s->text.n || (s->text.p[i] != '"' && s->text.p[i] != '\'') ||
		    !string_at(s, i, &value))
			return NULL;
		strbuf_addv(&b, value);
		i = end;
	}
	return b.s ? b.s : "";
}

static void setup_string(struct setup *s, size_t quote)
{
	struct place at = setup_place(s, quote + 1);
	const char *text;
	struct view v;

	if (!string_at(s, quote, &v))
		return;
	if (quote && (s->text.p[quote - 1] == 'f' || s->text.p[quote - 1] == 'F')) {
		text = formatted(s, v);
		if (!text) {
			project_doubt(s->r, s->p, at, _("%s: a variable has no value here"),
				      view_dup(s->r->a, v));
			return;
		}
		v = view_of(text);
	}
	want_parse(s->r, s->p, &s->p->steps[s->step], v, at);
}

/* The strings of the list that begins at i; what calls and arithmetic hold is not known. */
static void setup_list(struct setup *s, size_t i)
{
	size_t depth = 0;
	struct view v;

	for (; i < s->text.n; i++) {
		char c = s->text.p[i];

		if (c == '[' || c == '(' || c == '{') {
			depth++;
		} else if (c == ']' || c == ')' || c == '}') {
			if (--depth == 0)
				return;
		} else if (c == '#') {
			while (i + 1 < s->text.n && s->text.p[i + 1] != '\n')
				i++;
		} else if (c == '"' || c == '\'') {
			if (depth == 1)
				setup_string(s, i);
			string_at(s, i, &v);
			i += v.n + 1;
		}
	}
}

static void setup_py(struct setup *s)
{
	static const char key[] = "install_requires";
	struct view rest = s->text, name;
	ptrdiff_t at;
	size_t i;

	while ((at = view_find(rest, key)) >= 0) {
		rest = view_skip(rest, (size_t)at + sizeof(key) - 1);
		i = (size_t)(rest.p - s->text.p);
		if (i < s->text.n && (s->text.p[i] == '"' || s->text.p[i] == '\''))
			i++;
		i = blanks(s->text, i);
		if (i >= s->text.n || (s->text.p[i] != '=' && s->text.p[i] != ':'))
			continue;
		i = blanks(s->text, i + 1);
		name = (struct view){ .p = s->text.p + i, .n = 0 };
		while (i + name.n < s->text.n && is_name(name.p[name.n]))
			name.n++;
		if (name.n && (i + name.n == s->text.n || !strchr("([.", name.p[name.n])))
			i = assigned(s, name);
		if (i < s->text.n && (s->text.p[i] == '[' || s->text.p[i] == '(')) {
			setup_list(s, i);
			return;
		}
	}
}

void setup_wants(struct project_reader *r, struct project *p, size_t step, struct view text,
		 const char *path)
{
	struct setup s = { .r = r, .p = p, .step = step, .text = text, .path = path };

	if (strcmp(path_base(path), "setup.cfg") == 0)
		setup_cfg(r, p, step, text, path);
	else
		setup_py(&s);
}

int setup_read(struct project_reader *r, struct project *p, struct view text, const char *path,
	       struct err *err)
{
	size_t step = p->n_steps;

	(void)err;
	project_step(r, p, BY_PIP, (struct place){ .file = path, .line = 1 });
	setup_wants(r, p, step, text, path);
	return 0;
}
