/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables that this user has installed (`cuvet data update`): where they lie, and whether to use
 * them.
 *
 *   $XDG_DATA_HOME/cuvet/data/      (~/.local/share/cuvet/data)
 *     current                       which set is used, and which were before it; replaced by rename
 *     2026-12-15-0123abcd/          a set: its date and the first bytes of the archive's SHA-256
 *       manifest.json               what was installed, from where, by which key verified
 *       gpu.json ...                the tables, byte by byte as they were signed
 *
 * The signature was verified when they were installed. Here it is only seen to that nobody else can
 * have written them: owner, modes, no links, sizes. Reads only; src/update writes.
 */
#ifndef COMPAT_INSTALLED_H
#define COMPAT_INSTALLED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct arena;
struct compat;

/* Where the tables in use come from. */
enum data_kind { DATA_EMBEDDED, DATA_USER, DATA_FOLDER };
struct data_origin {
	enum data_kind kind;
	const char *path;    /* NULL: embedded */
	const char *ignored; /* why installed tables are not used; NULL: used, or there are none */
};
const struct data_origin *compat_origin(const struct compat *c);
const char *data_kind_name(enum data_kind kind); /* "embedded", "user", "--data" */

/*
 * Folder that holds $XDG_DATA_HOME/cuvet, and the one of the sets below it. ERR_NOENT when neither
 * XDG_DATA_HOME nor HOME is an absolute path.
 */
int installed_folder(struct arena *a, const char **ret_base, const char **ret_path,
		     struct err *err) ATTR_MUST;
/* Opens the folder of the sets; the caller closes. ERR_NOENT when it is not there. */
int installed_open(struct arena *a, int *ret_fd, struct err *err) ATTR_MUST;
/*
 * Is the descriptor a folder that nobody but this user (and root) can write? `name` for the
 * message.
 */
int installed_private(int fd, const char *name, struct err *err) ATTR_MUST;

struct installed_current {
	const char *use;	  /* name of a set; NULL: the embedded tables */
	const char *allowed_over; /* older data were asked for over embedded ones of this date; or
				     NULL */
	const char **history;	  /* sets used before, the last one last; NULL-terminated */
	size_t n_history;
};
/* A file that is not there means that no set is used. */
int installed_current(struct arena *a, int fd, struct installed_current *ret,
		      struct err *err) ATTR_MUST;

struct installed_set {
	const char *name;
	const char *date;     /* "2026-12-15" */
	const char *from;     /* the file or URL that it came from; NULL not known */
	const char *key;      /* "built-in", or base64 of another public key; NULL not known */
	const char *unusable; /* why it may not be used; NULL: it may */
};
/* Never NULL fields but where said; a set that is damaged or incomplete is `unusable`. */
void installed_set(struct arena *a, int fd, const char *name, struct installed_set *ret);
/* "2026-12-15-0123abcd" */
bool installed_name_ok(const char *name);
/* Names of all sets, oldest first; NULL-terminated. */
const char **installed_names(struct arena *a, int fd, size_t *ret_n);

/* Newer than what is embedded, or asked for all the same while that was embedded. */
bool installed_preferred(const struct installed_set *set, const struct installed_current *current);

/*
 * The folder whose tables are to be used instead of the embedded ones, or NULL. *ret_ignored says
 * why a set that was chosen is not used. The variable CUVET_NO_USER_DATA, if not empty, hides all
 * sets.
 */
const char *installed_active(struct arena *a, const char **ret_ignored);

#endif
