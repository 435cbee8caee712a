/* SPDX-License-Identifier: Apache-2.0 */
/* Requirements as people write them: name, extras, specifiers, marker (PEP 508). Addresses are
 * refused. */
#ifndef MODEL_REQUIREMENT_H
#define MODEL_REQUIREMENT_H

#include "base/err.h"
#include "base/view.h"
#include "model/pep440.h"
#include "model/marker.h"

struct arena;

struct requirement {
	const char *name;	/* normalized (PEP 503): lower case, runs of "-_." as "-" */
	const char *extras;	/* "and-cuda,test" or NULL */
	struct pep440_spec spec;
	struct view marker;	/* n 0: none */
	const char *text;	/* as it is passed on: without comment and options */
	const char *from;	/* "requirements.txt:3", "argument 1" */
	const char *file;	/* NULL: from the command line */
	bool constraint;	/* out of a constraints file: limits, asks for nothing */
};

/*
 * Parses one requirement. On a fault: false, *ret_at is the offset of it, *ret_what an untranslated
 * sentence. `from`, `file` and `constraint` are left alone.
 */
bool requirement_parse(struct arena *a, struct view text, struct requirement *ret, size_t *ret_at,
		       const char **ret_what);
/* One operand of the command line; the complaint names it and the column. 0 or -code. */
int requirement_argument(struct arena *a, const char *text, size_t number, struct requirement *ret,
			 struct err *err) ATTR_MUST;
/* A line of a requirements file up to its options: "NAME==1 --hash=sha256:..." is "NAME==1". */
struct view requirement_without_options(struct view line);
/* A name as PEP 503 has it: lower case, runs of "-", "_" and "." as one "-". */
const char *requirement_normal(struct arena *a, struct view name);
/* The same into buf, which has room for the name and a NUL. */
void requirement_fold(struct view name, char *buf);
/* Does its marker hold here? No marker: yes. */
bool requirement_applies(struct arena *a, const struct requirement *r,
			 const struct marker_env *env);

#endif
