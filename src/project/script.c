/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shell scripts that set up an environment, and batch jobs of Slurm. Read are the commands that run
 * in any case: what depends on a condition, and the bodies of functions, are left open.
 */
#include <string.h>

#include "base/arena.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "project/project.h"

enum { ENDLESS_MAX = 16 }; /* marks that never come; each is looked for to the end of the text */

bool script_name(const char *path, struct view text)
{
	static const char *const ends[] = { ".sh", ".bash", ".slurm", ".sbatch", ".job" };
	struct view line;
	size_t i;

	for (i = 0; i < ARRAY_LEN(ends); i++)
		if (view_ends(view_of(path_base(path)), ends[i]))
			return true;
	return view_line(&text, &line) && view_starts(line, "#!") &&
	       (view_ends(line, "/sh") || view_find(line, "bash") >= 0);
}

/*
 * What a here-document that begins on this line writes to another program or file is not run here.
 * A "<<" whose mark never comes is none: it shifts bits, or stands in a text.
 */
static void skip_heredocs(struct arena *a, struct view line, struct view *text, size_t *number,
			  unsigned *tries)
{
	struct heredoc h;
	size_t at = 0;

	line.n = view_comment(line);
	while (*tries && heredoc_next(a, line, &at, NULL, &h)) {
		struct view rest = *text, one;
		size_t lines = 0;
		bool ended = false;

		while (!ended && view_line(&rest, &one)) {
			lines++;
			ended = heredoc_ends(&h, one);
		}
		if (ended) {
			*text = rest;
			*number += lines;
		} else {
			--*tries;
		}
	}
}

void mapped_script(struct arena *a, struct mapped *m, struct view text, size_t number)
{
	unsigned tries = ENDLESS_MAX;
	struct strbuf b;
	struct view line;

	strbuf_init(&b, a);
	for (; view_line(&text, &line); number++) {
		bool more = view_ends(line, "\\");

		mapped_piece(a, m, b.n, number, 1);
		strbuf_addn(&b, line.p, more ? line.n - 1 : line.n);
		strbuf_addc(&b, more ? ' ' : '\n');
		skip_heredocs(a, line, &text, &number, &tries);
	}
	m->text = (struct view){ .p = b.s, .n = b.n };
}

int script_read(struct project_reader *r, struct view text, const char *path, struct err *err)
{
	struct mapped m = { .file = path };
	struct shell sh = { .r = r, .m = &m, .script = true };

	(void)err;
	sh.p = project_new(r, PROJECT_SCRIPT, path);
	mapped_script(r->a, &m, text, 1);
	shell_run(&sh);
	return 0;
}
