/* SPDX-License-Identifier: Apache-2.0 */
/* Environment markers (PEP 508): checked when read, evaluated for a target. */
#ifndef MODEL_MARKER_H
#define MODEL_MARKER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/view.h"

struct arena;

/* What markers may ask. NULL: not known, and a comparison with it holds. */
struct marker_env {
	const char *python;	     /* "3.12" */
	const char *python_full;     /* "3.12.4" */
	const char *sys_platform;    /* "linux", "win32", "darwin" */
	const char *platform_system; /* "Linux", "Windows", "Darwin" */
	const char *platform_machine; /* "x86_64" */
	const char *os_name;	     /* "posix", "nt" */
	const char *extra;	     /* NULL: none was asked for */
};

/*
 * Reads a whole marker; env NULL: the syntax alone. False when malformed: *ret_at is the offset of
 * the fault, *ret_what an untranslated sentence. *ret_holds: does it hold in `env`?
 */
bool marker_eval(struct arena *a, struct view text, const struct marker_env *env, bool *ret_holds,
		 size_t *ret_at, const char **ret_what);

#endif
