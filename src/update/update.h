/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Installing newer tables for this user: get, verify the signature, validate, compare dates,
 * install.
 */
#ifndef UPDATE_UPDATE_H
#define UPDATE_UPDATE_H

#include <stdbool.h>

#include "base/err.h"

struct arena;

struct update_options {
	const char *from;      /* file, or URL; the signature lies beside it as FROM.sig */
	const char *trust_key; /* PEM file of another public key than the built-in one; or NULL */
	bool allow_older;
};

struct update_result {
	const char *date; /* of the archive, or of the set that is used after going back; NULL:
			     embedded */
	const char *was;  /* date of what was in use before; never NULL */
	bool changed;	  /* false: nothing newer, nothing done */
	size_t unknown;	  /* tables in the archive that this version does not know */
};

/* Everything fails with one message and without a change, ERR_USAGE for a URL that is not taken. */
int update_install(struct arena *a, const struct update_options *o, struct update_result *ret,
		   struct err *err) ATTR_MUST;
int update_rollback(struct arena *a, struct update_result *ret, struct err *err) ATTR_MUST;

#endif
