/* SPDX-License-Identifier: Apache-2.0 */
/* The context behind include/cuvet.h, and the guard around every call. Private to api/. */
#ifndef API_CONTEXT_H
#define API_CONTEXT_H

#include <cuvet.h>
#include <locale.h>
#include <setjmp.h>
#include <stdbool.h>
#include <sys/types.h>
#include <unwind.h>

#include "base/err.h"
#include "compat/compat.h"
#include "model/snapshot.h"
#include "rule/rule.h"

struct arena;

/* Where a lack of memory unwinds to. */
struct guard {
	jmp_buf at;
	const void *frame; /* of the call; what lies above is unwound */
	pid_t pid;	   /* a child that was forked meanwhile must never return into the caller */
	struct _Unwind_Exception unwinding;
};

struct asked {
	const char **v;
	size_t n;
};

struct cuvet {
	struct guard guard;
	bool dead; /* memory ran out: tables may be half read */
	struct err err;
	locale_t numbers; /* the caller's, with a point in numbers */

	struct arena *tables; /* until it is closed */
	struct compat *compat;

	struct arena *asking; /* until it is reset */
	struct asked assume, require;
	enum finding_id ignore[FINDING_COUNT], error[FINDING_COUNT];
	size_t n_ignore, n_error;
	const char *python;
	long timeout_ms;
	bool deep;

	struct arena *look; /* until the next look */
	struct snapshot s;
	struct results results;
	bool looked, text, judged;
};

/* Runs fn with the guard up; a status, or what fn answers when it is not negative. */
typedef int call_fn(struct cuvet *c, const void *with);
int api_call(struct cuvet *c, call_fn *fn, const void *with);
/* Sets c->err; for calls and what they call. CUVET_ERROR_USAGE. */
int api_usage(struct cuvet *c, const char *fmt, ...) ATTR_PRINTF(2, 3);
/* The status that stands for c->err. */
int api_status(const struct cuvet *c);
/* A new arena whose lack of memory ends the call in `c`. */
struct arena *api_arena(struct cuvet *c);

#endif
