/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shell languages: each has three functions (undo, set, drop) of its own text, and from one plan
 * come the calls of them.
 *
 * What the functions keep: CUVET_ADD_<NAME> is what was put in front (or the value), and
 * CUVET_OLD_<NAME> the value before, unset when the variable was. They are exported, so that a
 * shell started from this one replaces instead of stacking, whatever language it speaks.
 */
#ifndef ENV_LANG_H
#define ENV_LANG_H

#include "env/env.h"

struct env_lang {
	/*
	 * Lines of the functions, NULL-terminated. Behind "@set" come those that only setting
	 * needs, behind "@drop" those that only dropping needs.
	 */
	const char *const *head;
	/* Lines that take them away; '@' is the name of the last one, between these two. */
	const char *const *tail;
	const char *more, *more_end;
	const char *prefix;	 /* "_cuvet_": stands before undo, set and drop */
	const char *open, *sep,
		*close;		 /* of a call: "_cuvet_set" open NAME sep KIND sep VALUE close */
	bool quote_all;		 /* name and kind are quoted too */
	void (*quote)(struct strbuf *out, const char *text);
};

void env_lang_put(struct strbuf *out, const struct env_set *s, const struct env_lang *l);
/* A comment of one line: nothing in `text` can end it. `end` closes it (usually ""). */
void env_comment(struct strbuf *out, const char *begin, const char *text, const char *end);
/* All comments of a plan: which toolkit, why, notes. */
void env_comments(struct strbuf *out, const struct env_set *s, const char *begin, const char *end);
/* The directories of an item with the separator of the plan between them. */
const char *env_joined(struct arena *a, const struct env_set *s, const struct env_item *it);
/* PATH, LD_LIBRARY_PATH ...: NULL when the plan does not hold it. */
const struct env_item *env_item_named(const struct env_set *s, const char *name);

/* Quoting: the text as one word of the language. */
void env_quote_sh(struct strbuf *out, const char *s);	   /* 'it'\''s' */
void env_quote_csh(struct strbuf *out, const char *s);	   /* the same, and ! outside quotes */
void env_quote_fish(struct strbuf *out, const char *s);	   /* 'it\'s', \\ */
void env_quote_doubled(struct strbuf *out, const char *s); /* 'it''s': elvish */
void env_quote_powershell(struct strbuf *out, const char *s);
void env_quote_nu(struct strbuf *out, const char *s);	 /* "..." with escapes */
void env_quote_python(struct strbuf *out, const char *s); /* '...' with escapes */
void env_quote_json(struct strbuf *out, const char *s);	 /* "...": JSON and YAML */

void env_put_sh(struct strbuf *out, const struct env_set *s);
void env_put_csh(struct strbuf *out, const struct env_set *s);
void env_put_fish(struct strbuf *out, const struct env_set *s);
void env_put_elvish(struct strbuf *out, const struct env_set *s);
void env_put_nu(struct strbuf *out, const struct env_set *s);
void env_put_powershell(struct strbuf *out, const struct env_set *s);
void env_put_cmd(struct strbuf *out, const struct env_set *s);
void env_put_xonsh(struct strbuf *out, const struct env_set *s);
void env_put_venv(struct strbuf *out, const struct env_set *s);

/* The POSIX functions, for csh, which lets sh do the work. NULL-terminated lines. */
extern const char *const env_sh_head[];

#endif
