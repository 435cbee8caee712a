/* SPDX-License-Identifier: Apache-2.0 */
/* Apptainer definitions. */
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
