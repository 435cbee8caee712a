/* SPDX-License-Identifier: Apache-2.0 */
/* Which document is asked for. */
#include "cli/docs.h"

#include <string.h>

#include "base/arena.h"
#include "cli/docs_parts.h"

static void put_list(struct strbuf *out)
{
	const struct cmd *const *c;

	strbuf_add(out, "cuvet.1\ncuvet-findings.7\ncuvet-compat.5\n");
	for (c = cmds; *c; c++)
		strbuf_printf(out, "cuvet-%s.1\n", (*c)->name);
}

static const struct {
	const char *what;
	void (*put)(struct strbuf *out);
} documents[] = {
	{ .what = "list", .put = put_list },
	{ .what = "cuvet.1", .put = docs_put_program },
	{ .what = "cuvet-findings.7", .put = docs_put_findings },
	{ .what = "cuvet-compat.5", .put = docs_put_compat },
	{ .what = "bash", .put = docs_put_bash },
	{ .what = "zsh", .put = docs_put_zsh },
	{ .what = "fish", .put = docs_put_fish },
};

bool docs_put(struct strbuf *out, const char *what)
{
	const struct cmd *const *c;
	size_t i;

	for (i = 0; i < ARRAY_LEN(documents); i++) {
		if (strcmp(documents[i].what, what) == 0) {
			documents[i].put(out);
			return true;
		}
	}
	for (c = cmds; *c; c++) {
		if (strcmp(arena_printf(out->a, "cuvet-%s.1", (*c)->name), what) == 0) {
			docs_put_command(out, *c);
			return true;
		}
	}
	return false;
}
