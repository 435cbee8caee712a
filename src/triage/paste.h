/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of triage share: the text, the snapshot that they fill, and how facts are set. */
#ifndef TRIAGE_PASTE_H
#define TRIAGE_PASTE_H

#include "base/attr.h"
#include "compat/compat.h"
#include "model/snapshot.h"
#include "triage/owner.h"
#include "triage/text.h"

struct project_reader;
struct book;

/* The device whose lines x_bus.c reads: where it began, and the GPU that it is (index + 1). */
struct paste_device {
	size_t line, gpu;
	struct view product; /* lshw names it before its maker */
	bool open, display, nvidia;
};

struct paste {
	struct arena *a;
	struct compat *c;
	struct text t;
	struct snapshot *s;
	struct owners owners;
	bool filling; /* the second round: of others than the judged one what nobody else says */
	size_t packages_seen;	      /* lines of package lists */
	size_t looked_back;	      /* how often an extractor looked for what stands far above */
	size_t matches;		      /* patterns of extractors that were tried */
	size_t python_of[OWNERS_MAX]; /* index + 1 into s->pythons, by owner; 0: none yet */
	struct project_reader *projects; /* of the project files in it; NULL: none */
	struct paste_device device;
	struct book *book; /* the table of signatures, prepared; NULL until paste_book() */
};

/*
 * Facts by name ("driver.version", "gpu.name", ...), from a line. The first that a text says wins;
 * a later one that disagrees becomes the sign "differs:NAME", unless it only says more of the same.
 * False when the name is unknown or the value senseless.
 */
bool paste_fact(struct paste *p, const char *name, struct view value, size_t line);
/* A package of the pasted environment; a second version of it becomes a sign. */
void paste_package(struct paste *p, struct view name, struct view version, size_t line);
/* A variable of the environment. */
void paste_variable(struct paste *p, struct view name, struct view value, size_t line);
/* A GPU by name, unless it is there; `many` of them at most 64. */
void paste_gpu(struct paste *p, struct view name, size_t line);
/*
 * A GPU of a list: by its index and PCI address ("" when the list has none), which tells it from
 * others of its name. NULL when it is another machine's or one too many.
 */
struct gpu *paste_listed_gpu(struct paste *p, struct view index, struct view name,
			     struct view address, size_t line);
/* A GPU by its PCI id ("10de:2684"), unless it is there. */
void paste_pci(struct paste *p, struct view id, size_t line);
/* The Python environment that the line speaks of: the judged one, or its owner's. */
struct python *paste_python(struct paste *p, size_t line);
/* Does the line speak of another machine, container or environment than the judged one? */
bool paste_foreign(const struct paste *p, size_t line, enum scope scope);
const char *paste_source_at(struct paste *p, size_t line, uint32_t number);
static inline const char *paste_source(struct paste *p, size_t line)
{
	return paste_source_at(p, line, p->t.lines[line < p->t.n ? line : p->t.n - 1].number);
}
/* May an extractor look at lines far away once more?  Bounded for texts of nothing but such lines.
 */
bool paste_may_look(struct paste *p);
/* Is the line output of a command whose text holds `what`? */
bool paste_under(const struct paste *p, size_t line, const char *what);

/* Sees to p->book. ERR_DATA for a damaged row. */
int paste_book(struct paste *p, struct err *err) ATTR_MUST;
/*
 * Does `pattern` (a string constant: it is compiled once a matrix) match in `v`?  ret may be NULL.
 */
struct regex_match;
bool paste_match(struct paste *p, const char *pattern, struct view v, struct regex_match *ret);

/* The rows of extractors: each looks at one line and takes what it knows. */
struct extractor {
	const char *name;
	void (*line)(struct paste *p, size_t i);
};
extern const struct extractor *const extractors[]; /* NULL-terminated */

#endif
