/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of one file from a server, or from a file of a mirror on this machine: bounded tries with
 * growing pauses, going on where a try was cut off, never more than announced. What comes is not
 * verified here.
 */
#ifndef FETCH_TRANSFER_H
#define FETCH_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct arena;
struct http;

struct transfer_options {
	const char *ca_bundle, *proxy; /* NULL: by curl's variables */
	long timeout_s;
	int retries;
	uint64_t limit_rate;
	bool allow_http;
};

struct transfer {
	struct arena *a;
	struct http *http;
	const struct transfer_options *o;
	const char *url;
	uint64_t size; /* exactly; 0: not known, then `max` */
	uint64_t max;
	uint64_t have;	     /* so much is there: moves on with what comes */
	char validator[256]; /* of what is there: ETag or date, "" when none is known */
	/* Each returns 0, or -code with *err set, which ends it. */
	int (*restart)(void *ctx, struct err *err); /* what is there is worth nothing */
	int (*bytes)(void *ctx, const char *p, size_t n, struct err *err);
	int (*tick)(void *ctx, struct err *err);
	void (*pause)(void *ctx, long ms, const char *why); /* before waiting */
	void *ctx;
};

int transfer_http(struct transfer *t, struct err *err) ATTR_MUST;
/* The same from a file; `t->url` names it in messages. */
int transfer_file(struct transfer *t, const char *path, struct err *err) ATTR_MUST;

#endif
