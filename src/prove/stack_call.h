/* SPDX-License-Identifier: Apache-2.0 */
/* How a stack rung calls a library. Private to prove/stack_*.c. */
#ifndef PROVE_STACK_CALL_H
#define PROVE_STACK_CALL_H

#include "prove/stack.h"

/* Declares `var`, a pointer to the library's function; ends the rung where there is none. */
#define FUNCTION(l, handle, type, var, name, args)                         \
	type(*var) args = (type(*) args)stack_symbol((l), (handle), name); \
	if (!var)                                                          \
	return -1

/* Calls it; a code other than 0 ends the rung. */
#define MUST(l, name, ...)                                     \
	do {                                                   \
		lab_doing((l), name);                          \
		if (stack_code((l), name, (int)(__VA_ARGS__))) \
			return -1;                             \
	} while (0)

/* Notes a code that is not 0 as the rung's failure. */
int stack_code(struct lab *l, const char *name, int code);
/* Figure "version". */
void stack_version(struct lab *l, int version);

#endif
