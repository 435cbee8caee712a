/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading a library by a list of symbols. To be called in a child (sys/child) alone: constructors
 * run. The report is flat, so that it can go through a pipe.
 */
#ifndef SYS_DL_H
#define SYS_DL_H

#include <stdbool.h>
#include <stddef.h>

/* A row of the list: comes from REQ() and OPT() of an .def file, or from DL_ROW(). */
struct dl_symbol {
	const char *name;
	size_t offset; /* of its pointer in the table of pointers */
	bool required;
	void *linked; /* its address, where the library is part of this program; NULL elsewhere */
};

/*
 * A required function whose prototype is at hand. CUVET_LINKED is set where the library is linked
 * in (the portable program): then dl_load takes the addresses from the rows and opens nothing.
 */
#ifdef CUVET_LINKED
#define DL_LINKED(function) ((void *)(function))
#else
#define DL_LINKED(function) NULL
#endif
#define DL_ROW(type, field_, function_)                                                      \
	{                                                                                    \
		.name = #function_, .offset = offsetof(type, field_), .required = true,      \
		.linked = DL_LINKED(function_)                                               \
	}

enum dl_state {
	DL_LOADED,
	DL_ABSENT, /* no such file */
	DL_BROKEN, /* there is one, which the loader refuses: text says why */
	DL_LACKS,  /* loaded, but a required symbol is missing: text names it */
};

enum { DL_TEXT = 256, DL_PATH = 512 };

struct dl_report {
	enum dl_state state;
	char text[DL_TEXT]; /* the loader's words, in the locale "C" if the caller set that */
	char path[DL_PATH]; /* of the loaded file, as the loader holds it; may be empty */
	int missing;	    /* optional symbols that it lacks: those of newer drivers */
};

/*
 * False in the static program (CUVET_STATIC), which has no loader: its dlopen always fails, which
 * says nothing about the machine.
 */
static inline bool dl_possible(void)
{
#ifdef CUVET_STATIC
	return false;
#else
	return true;
#endif
}

/*
 * dlopen(name) with RTLD_NOW, then fills the pointers of `table`; optional ones that are missing
 * are NULL. The library stays loaded, as unloading a driver is not safe. Rows that are linked in
 * need no library: the first one tells.
 */
void dl_load(const char *name, const struct dl_symbol *symbols, size_t n, void *table,
	     struct dl_report *ret);

#endif
