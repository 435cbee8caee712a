/* SPDX-License-Identifier: Apache-2.0 */
/* Which cuDNN fits what was found or assumed, by the tables. Reads facts; asks no one. */
#ifndef FETCH_CHOOSE_H
#define FETCH_CHOOSE_H

#include <stdbool.h>

#include "base/err.h"
#include "compat/compat.h"
#include "model/snapshot.h"

struct arena;

struct choose_ask {
	const struct snapshot *s; /* NULL: nothing is known of a machine */
	const char *version;	  /* "9", "9.1", "9.1.1", "9.1.1.17"; NULL: the newest that fits */
	const char *cuda;	  /* what was asked for; NULL: what is here decides */
	const char *cuda_why;	  /* whose that is, when nobody typed it; NULL */
	const char *platform;	  /* "linux-x86_64" */
	const char *below; /* only older than this, which is not to be had; NULL */
};

struct choice {
	const char *label; /* of the manifest: "9.1.1" */
	const char *cuda;  /* major or version to ask for: "12"; NULL: the newest there is */
	const char *why;   /* one sentence without a full stop; NULL: it was asked for */
	const char *version; /* of the table's row; NULL: the table does not hold it */
};

/*
 * Every GPU counts. -ERR_NOENT: nothing fits, and the message says why. Which platforms a release
 * was built for stands in its manifest alone: the caller comes back with `below` then.
 */
int choose_cudnn(struct arena *a, struct compat *c, const struct choose_ask *q, struct choice *ret,
		 struct err *err) ATTR_MUST;
/* "linux-x86_64" of a snapshot ("linux-aarch64" for a Tegra); of this build when it does not say.
 */
const char *choose_platform(const struct snapshot *s);
/* The sha256 that the table pins for a manifest; *ret_listed: is the label there at all? NULL:
 * none. */
const char *choose_pinned(struct compat *c, const char *product, const char *label,
			  bool *ret_listed);

#endif
