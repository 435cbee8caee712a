/* SPDX-License-Identifier: Apache-2.0 */
/* Apptainer definitions, and the literal parts of setup.cfg and setup.py. */
#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "project/project.h"

/* -------- apptainer: a header of "Key: value", then %sections */

static void section_environment(struct project_reader *r, struct project *p, struct view line,
				struct place at)
{
	struct view value, name;
	bool unknown = false;

	line = view_trim(line);
	if (view_starts(line, "export "))
		line = view_trim(view_skip(line, 7));
	name = view_cut(line, '=', &value);
	value = view_trim(value);
	if (value.n > 1 && (value.p[0] == '"' || value.p[0] == '\''))
		value = (struct view){ .p = value.p + 1, .n = value.n - 2 };
	if (name.n && name.n < line.n && view_chr(name, ' ') < 0)
		project_set(r, p, view_dup(r->a, name), substitute(r, p, value, &unknown), at);
}

static void section_files(struct project_reader *r, struct shell *sh, struct copied **list,
			  struct view line)
{
	struct view from, to;

	if (!view_word(&line, &from))
		return;
	if (!view_word(&line, &to))
		to = from;
	*ARENA_APPEND(r->a, *list, sh->n_copied) =
		(struct copied){ .from = beside_file(r->a, sh->m->file, view_dup(r->a, from)),
				 .to = view_dup(r->a, to) };
	sh->copied = *list;
}

int apptainer_read(struct project_reader *r, struct view text, const char *path, struct err *err)
{
	struct project *p = project_new(r, PROJECT_APPTAINER, path);
	struct mapped post = { .file = path };
	struct shell sh = { .r = r, .p = p, .m = &post, .built = true };
	struct copied *files = NULL;
	struct view line, value, key, section = { 0 };
	size_t number = 0;
	bool docker = false;
	struct strbuf b;

	(void)err;
	strbuf_init(&b, r->a);
	while (view_line(&text, &line)) {
		struct view t = view_trim(line);
		struct place at = { .file = path, .line = ++number,
				    .column = (size_t)(t.p - line.p) + 1 };

		if (t.n && t.p[0] == '%') {
			section = t;
			value = section;
			view_word(&value, &section);
			continue;
		}
		if (!t.n || (t.p[0] == '#' && !view_is(section, "%post")))
			continue;
		if (!section.n) {
			key = view_trim(view_cut(t, ':', &value));
			value = view_trim(value);
			if (view_is_nocase(key, "Bootstrap"))
				docker = view_is_nocase(value, "docker");
			if (view_is_nocase(key, "From") && docker) {
				p->image = view_dup(r->a, value);
				at.column += (size_t)(value.p - t.p);
				p->image_at = at;
			}
		} else if (view_is(section, "%environment")) {
			section_environment(r, p, t, at);
		} else if (view_is(section, "%files")) {
			section_files(r, &sh, &files, t);
		} else if (view_is(section, "%post")) {
			bool more = view_ends(line, "\\");

			mapped_piece(r->a, &post, b.n, number, 1);
			strbuf_addn(&b, line.p, more ? line.n - 1 : line.n);
			strbuf_addc(&b, more ? ' ' : '\n');
		}
	}
	post.text = (struct view){ .p = b.s, .n = b.n };
	shell_run(&sh);
	return 0;
}

/* -------- setup.cfg and setup.py */

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

/* The strings of `install_requires=[...]`, when they are plain ones. */
static void setup_py(struct project_reader *r, struct project *p, size_t step, struct view text,
		     const char *path)
{
	ptrdiff_t start = view_find(text, "install_requires");
	size_t i, number = 1, line_start = 0, begin;
	bool inside = false;

	if (start < 0)
		return;
	for (i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (c == '\n') {
			number++;
			line_start = i + 1;
		}
		if (i < (size_t)start)
			continue;
		if (!inside) {
			inside = c == '[';
			if (c == '\n' || c == ')' )
				return;
			continue;
		}
		if (c == ']')
			return;
		if (c == '#')
			while (i + 1 < text.n && text.p[i + 1] != '\n')
				i++;
		if (c != '"' && c != '\'')
			continue;
		begin = ++i;
		while (i < text.n && text.p[i] != c && text.p[i] != '\n')
			i++;
		want_parse(
			r, p, &p->steps[step], (struct view){ .p = text.p + begin, .n = i - begin },
			(struct place){
				.file = path, .line = number, .column = begin - line_start + 1 });
	}
}

int setup_read(struct project_reader *r, struct project *p, struct view text, const char *path,
	       struct err *err)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	size_t step = p->n_steps;

	(void)err;
	project_step(r, p, BY_PIP, (struct place){ .file = path, .line = 1 });
	if (strcmp(base, "setup.cfg") == 0)
		setup_cfg(r, p, step, text, path);
	else
		setup_py(r, p, step, text, path);
	return 0;
}
