/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fact: one thing that a source was asked, in one of five states, and where the answer came from.
 */
#ifndef MODEL_FACT_H
#define MODEL_FACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

struct arena;

enum fact_state {
	FACT_NOT_ASKED, /* nobody looked, or the source cannot hold it */
	FACT_ABSENT,	/* looked, and it is not there */
	FACT_DENIED,	/* not allowed to look (EACCES, EPERM) */
	FACT_BROKEN,	/* there, but unreadable or senseless; why says how */
	FACT_KNOWN,
};

/*
 * Versions, numbers and flags are text too ("yes", "no"): one form to save, load, compare and
 * print.
 */
struct fact {
	enum fact_state state;
	const char *value;  /* only when KNOWN; never NULL then */
	const char *source; /* "/sys/module/nvidia/version", "nvmlInit_v2", "pasted line 14",
			       "assumed" */
	const char *why;    /* for DENIED, BROKEN and, where useful, ABSENT and NOT_ASKED */
};

struct fact_list {
	enum fact_state state;
	const char **values; /* n strings */
	size_t n;
	const char *source;
	const char *why;
};

/* Setters copy nothing: value, source and why must live as long as the snapshot (its arena). */
void fact_set(struct fact *f, const char *value, const char *source); /* NULL value: ABSENT */
void fact_absent(struct fact *f, const char *source);
void fact_denied(struct fact *f, const char *source, const char *why);
void fact_broken(struct fact *f, const char *source, const char *why);
void fact_flag(struct fact *f, bool yes, const char *source); /* "yes" or "no" */
void fact_int(struct arena *a, struct fact *f, int64_t value, const char *source);
/* By errno: ENOENT/ENOTDIR absent, EACCES/EPERM denied, anything else broken. */
void fact_errno(struct fact *f, int errnum, const char *source);
void fact_list_set(struct fact_list *f, const char **values, size_t n, const char *source);
/* Appends one that is not in it yet, on arena `a`; a list of `most` stays as it is. */
void fact_list_add(struct arena *a, struct fact_list *f, const char *value, const char *source,
		   size_t most);

static inline bool fact_known(const struct fact *f)
{
	return f->state == FACT_KNOWN;
}
bool fact_is(const struct fact *f, const char *value); /* KNOWN and equal */
bool fact_yes(const struct fact *f);
bool fact_no(const struct fact *f);				/* KNOWN and "no" */
const char *fact_value(const struct fact *f, const char *dflt); /* dflt unless KNOWN */
bool fact_to_int(const struct fact *f, int64_t *ret);
bool fact_list_has(const struct fact_list *f, const char *value);

const char *
fact_state_name(enum fact_state s); /* "not-asked", "absent", "denied", "broken", "known" */
bool fact_state_from_name(const char *name, enum fact_state *ret);

#endif
