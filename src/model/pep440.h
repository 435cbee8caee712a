/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Versions and specifiers of Python packages: parse, order, match. Rules: PyPA specification
 * "Version specifiers" (PEP 440). Everything is a view into the caller's text; nothing is copied.
 */
#ifndef MODEL_PEP440_H
#define MODEL_PEP440_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/view.h"

struct arena;

enum { PEP440_PARTS = 12 };

enum pep440_pre { PEP440_PRE_NONE, PEP440_PRE_A, PEP440_PRE_B, PEP440_PRE_RC };

struct pep440 {
	uint64_t epoch;
	uint64_t part[PEP440_PARTS]; /* n written, the rest 0 */
	unsigned n;
	enum pep440_pre pre;
	uint64_t pre_n;
	bool has_post, has_dev;
	uint64_t post_n, dev_n;
	struct view local; /* as written, without "+"; empty when there is none */
};

/* Whole view, blanks around it allowed. More than PEP440_PARTS parts and numbers above 2^63 are
 * malformed. */
bool pep440_parse(struct view v, struct pep440 *ret);
int pep440_cmp(const struct pep440 *a, const struct pep440 *b); /* <0, 0, >0 */
bool pep440_is_pre(const struct pep440 *v); /* a pre-release or a development release */

enum pep440_op {
	PEP440_EQ,
	PEP440_NE,
	PEP440_LE,
	PEP440_GE,
	PEP440_LT,
	PEP440_GT,
	PEP440_COMPATIBLE, /* ~= */
	PEP440_ARBITRARY,  /* === */
};

struct pep440_clause {
	enum pep440_op op;
	bool wild;		/* ==1.2.* and !=1.2.* */
	struct pep440 version;	/* not for === */
	struct view raw;	/* the version as written */
	struct view text;	/* the clause as written */
};

struct pep440_spec {
	struct pep440_clause *clauses; /* n, all of which must hold */
	size_t n;
};

/*
 * "", ">=2.4,<2.7": false when malformed, then *ret_at is the offset of the fault and *ret_what an
 * untranslated sentence. The clauses live on the arena and point into `text`.
 */
bool pep440_spec_parse(struct arena *a, struct view text, struct pep440_spec *ret, size_t *ret_at,
		       const char **ret_what);

/* `raw` is the candidate as it is written: === compares text. Pre-releases are judged like any
 * version. */
bool pep440_clause_holds(const struct pep440_clause *c, const struct pep440 *v, struct view raw);
/* All clauses; a pre-release only when a clause names one. */
bool pep440_spec_holds(const struct pep440_spec *s, const struct pep440 *v, struct view raw);
/* Does a clause name a pre-release, so that pre-releases are asked for? */
bool pep440_spec_wants_pre(const struct pep440_spec *s);
/* Convenience on text: malformed text holds nothing. An empty specifier holds every final release.
 */
bool pep440_text_holds(struct arena *a, const char *spec, const char *version);

#endif
