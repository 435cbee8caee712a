/* SPDX-License-Identifier: Apache-2.0 */
/* Which cuDNN fits what was found or assumed, by the tables. Reads facts; asks no one. */
#ifndef FETCH_CHOOSE_H
#define FETCH_CHOOSE_H

#include <stdbool.h>

#include "base/err.h"
#include "compat/compat.h"
#include "model/snapshot.h"

struct arena;

struct choice {
	const char *label; /* of the manifest: "9.1.1" */
	const char *cuda;  /* major or version to ask for: "12"; NULL: the newest there is */
	const char *why;   /* one sentence without a full stop; NULL: it was asked for */
};

/*
 * `version`: NULL, "9", "9.1", "9.1.1" or "9.1.1.17"; `cuda`: NULL or what was asked for. `s` NULL:
 * nothing is known of a machine. -ERR_NOENT: nothing fits, and the message says why.
 */
int choose_cudnn(struct arena *a, struct compat *c, const struct snapshot *s, const char *version,
		 const char *cuda, const char *platform, struct choice *ret,
		 struct err *err) ATTR_MUST;
/* "linux-x86_64" of a snapshot ("linux-aarch64" for a Tegra); of this build when it does not say.
 */
const char *choose_platform(const struct snapshot *s);
/* The sha256 that the table pins for a manifest; *ret_listed: is the label there at all? NULL:
 * none. */
const char *choose_pinned(struct compat *c, const char *product, const char *label,
			  bool *ret_listed);

#endif
