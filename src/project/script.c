/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shell scripts that set up an environment, and batch jobs of Slurm. Read are the commands that run
 * in any case: what depends on a condition, and the bodies of functions, are left open.
 */
#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "project/project.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool script_name(const char *path, struct view text)
{
	static const char *const ends[] = { ".sh", ".bash", ".slurm", ".sbatch", ".job" };
	struct view line;
	size_t i;

	for (i = 0; i < ARRAY_LEN(ends); i++)
		if (view_ends(view_of(base_name(path)), ends[i]))
			return true;
	return view_line(&text, &line) && view_starts(line, "#!") &&
	       (view_ends(line, "/sh") || view_find(line, "bash") >= 0);
}

/* The mark that ends a here-document that begins on this line; n 0: none does. */
static struct view here_document(struct view line)
{
	ptrdiff_t at = view_find(line, "<<");
	struct view rest, word = { 0 };

	if (at < 0 || view_starts(view_skip(line, (size_t)at), "<<<") ||
	    view_chr((struct view){ .p = line.p, .n = (size_t)at }, '#') >= 0)
		return word;
	rest = view_skip(line, (size_t)at + 2);
	if (rest.n && rest.p[0] == '-')
		rest = view_skip(rest, 1);
	if (!view_word(&rest, &word))
		return word;
	if (word.n > 2 && strchr("'\"", word.p[0]))
		word = (struct view){ .p = word.p + 1, .n = word.n - 2 };
	return word;
}

int script_read(struct project_reader *r, struct view text, const char *path, struct err *err)
{
	struct mapped m = { .file = path };
	struct shell sh = { .r = r, .m = &m, .script = true };
	size_t number = 0;
	struct view line, end = { 0 };
	struct strbuf b;

	(void)err;
	sh.p = project_new(r, PROJECT_SCRIPT, path);
	strbuf_init(&b, r->a);
	while (view_line(&text, &line)) {
		bool more = view_ends(line, "\\");

		number++;
		if (end.n) {
			/* What it writes to another program or file is not run here. */
			if (view_is(view_trim(line), view_dup(r->a, end)))
				end.n = 0;
			continue;
		}
		end = here_document(line);
		mapped_piece(r->a, &m, b.n, number, 1);
		strbuf_addn(&b, line.p, more ? line.n - 1 : line.n);
		strbuf_addc(&b, more ? ' ' : '\n');
	}
	m.text = (struct view){ .p = b.s, .n = b.n };
	shell_run(&sh);
	return 0;
}
