/* SPDX-License-Identifier: Apache-2.0 */
/* Corrections of a text by place: applied only where the text is what was expected. Pure. */
#ifndef PROJECT_EDIT_H
#define PROJECT_EDIT_H

#include <stdbool.h>

#include "base/view.h"

struct arena;
struct strbuf;

enum edit_kind {
	EDIT_WORD, /* stands between blanks, quotes or the line's ends */
	EDIT_FLOW, /* the same, inside [...] on its line */
	EDIT_LINE, /* all of its line but blanks: the line is taken away */
	/*
	 * The address of an index in a table of TOML. Where the table's name has the address's last
	 * part in it ("pytorch-cu126"), the name changes with it, wherever it stands as a string.
	 */
	EDIT_INDEX,
};

struct edit {
	enum edit_kind kind;
	size_t line, column; /* from 1, in bytes */
	const char *old, *new; /* new: lines in it are parted by "\n"; unused with EDIT_LINE */
};

/*
 * The text with one edit made, all else byte for byte; added lines end as the edited one does.
 * False when `old` does not stand at its place in that form: nothing is guessed.
 */
bool edit_apply(struct arena *a, struct view text, const struct edit *e, struct view *ret);
/*
 * The same for a word of a Dockerfile in which the value of one ARG stands: changes the default of
 * that ARG, if it is the only one of that name and used nowhere else. False in every other case.
 */
bool edit_apply_arg(struct arena *a, struct view text, const struct edit *e, struct view *ret);
/* Unified, three lines around; nothing when both are alike. */
void edit_diff(struct arena *a, const char *path, struct view before, struct view after,
	       struct strbuf *out);

#endif
