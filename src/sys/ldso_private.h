/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the load session share; for nobody else. */
#ifndef SYS_LDSO_PRIVATE_H
#define SYS_LDSO_PRIVATE_H

#include "sys/ldso_load.h"

/* A search path, taken apart. */
struct load_dirs {
	struct ldso_place **v;
	size_t n;
};

struct load_session {
	struct arena *a;
	struct ldso_root *w;
	struct load_env env;
	struct load_object *
		*objects; /* those in the process, in order of loading; the first is the program */
	size_t n;
	struct load_answer *answers;
	size_t n_answers;
	struct load_dirs *library_path, *defaults;
	bool skipped_relative;
	enum { SLASH_UNKNOWN, SLASH_THERE, SLASH_GONE } slash; /* see try_slash */
};

/* Where a search ended. */
struct load_found {
	enum load_state state;
	const char *path;
	const char *why;
	const struct ldso_file *file; /* NULL when missing */
	enum load_via via;
	const struct load_object *holder;
	struct load_shadow *shadowed;
	size_t n_shadowed;
};

/* Replaces $ORIGIN, $LIB and $PLATFORM; NULL when one of them is not known. Others stay as they
 * are. */
const char *load_expand(struct load_session *s, const char *origin, struct view text);
/* Takes a search path apart; `seps` part its elements. Empty when there is none. */
struct load_dirs *load_dirs_new(struct load_session *s, const char *list, const char *seps,
				const char *origin);
/* Looks for `name` on behalf of `asker`. */
void load_find(struct load_session *s, const char *name, const struct load_object *asker,
	       struct load_found *ret);

#endif
