/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The border of the library: memory that runs out below comes back as a status. The stack is
 * unwound to the call, so that descriptors that a scope owns are closed on the way (-fexceptions);
 * the arenas hold the rest.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "api/context.h"
#include "base/arena.h"

enum { EXIT_NO_MEMORY = 4 };

/* Asked before each frame is unwound: at the frame of the call, or where nobody knows how to go
 * on, the rest is jumped over. */
static _Unwind_Reason_Code at_frame(int version, _Unwind_Action actions,
				    _Unwind_Exception_Class kind, struct _Unwind_Exception *x,
				    struct _Unwind_Context *at, void *with)
{
	struct guard *g = with;

	(void)version;
	(void)kind;
	(void)x;
	if ((actions & _UA_END_OF_STACK) || _Unwind_GetCFA(at) >= (uintptr_t)g->frame)
		longjmp(g->at, 1);
	return _URC_NO_REASON;
}

static void exhausted(void *with)
{
	struct cuvet *c = with;

	/* A forked child runs on a copy of the caller's stack, and must not get there. */
	if (getpid() != c->guard.pid)
		_exit(EXIT_NO_MEMORY);
	c->guard.unwinding = (struct _Unwind_Exception){ 0 };
	_Unwind_ForcedUnwind(&c->guard.unwinding, at_frame, &c->guard);
	longjmp(c->guard.at, 1);
}

struct arena *api_arena(struct cuvet *c)
{
	struct arena *a = arena_new_with(exhausted, c);

	if (!a)
		exhausted(c);
	return a;
}

/* Numbers are written and read with a point, whatever the caller's locale says. */
static bool numbers(struct cuvet *c)
{
	locale_t copy;

	if (c->numbers)
		return true;
	copy = duplocale(uselocale((locale_t)0));
	if (!copy)
		return false;
	c->numbers = newlocale(LC_NUMERIC_MASK, "C", copy);
	if (!c->numbers)
		freelocale(copy);
	return c->numbers != (locale_t)0;
}

static int no_memory(struct cuvet *c)
{
	c->dead = true;
	err_set(&c->err, ERR_NOMEM, "%s", _("out of memory"));
	return CUVET_ERROR_MEMORY;
}

__attribute__((noinline)) static int guarded(struct cuvet *c, call_fn *fn, const void *with)
{
	c->guard.frame = __builtin_frame_address(0);
	c->guard.pid = getpid();
	if (setjmp(c->guard.at))
		return no_memory(c);
	return fn(c, with);
}

int api_call(struct cuvet *c, call_fn *fn, const void *with)
{
	locale_t before;
	int r;

	if (!c)
		return CUVET_ERROR_USAGE;
	if (c->dead || !numbers(c))
		return no_memory(c);
	before = uselocale(c->numbers);
	r = guarded(c, fn, with);
	uselocale(before);
	/* The caller may choose another language before the next call. */
	freelocale(c->numbers);
	c->numbers = (locale_t)0;
	return r;
}

int api_usage(struct cuvet *c, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	if (vsnprintf(text, sizeof(text), fmt, ap) < 0)
		text[0] = '\0';
	va_end(ap);
	err_set(&c->err, ERR_USAGE, "%s", text);
	return CUVET_ERROR_USAGE;
}

int api_status(const struct cuvet *c)
{
	switch (c->err.code) {
	case ERR_OK:
		return CUVET_OK;
	case ERR_NOMEM:
		return CUVET_ERROR_MEMORY;
	case ERR_USAGE:
	case ERR_UNKNOWN_NAME:
	case ERR_UNDECIDED:
		return CUVET_ERROR_USAGE;
	case ERR_PARSE:
		return CUVET_ERROR_INPUT;
	case ERR_DATA:
		return CUVET_ERROR_DATA;
	default:
		return CUVET_ERROR_IO;
	}
}
