/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors: what cuvet could not do. What cuvet found about a machine is a finding, never an error.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "base/attr.h"

enum err_code {
	ERR_OK = 0,
#define ERR(id, exit_code, text) ERR_##id,
#include "base/err.def"
#undef ERR
	ERR_COUNT
};

/*
 * An error travels up by value in the caller's storage. `msg` is one line without a newline that
 * names what, where and what to do. Every function that takes a `struct err *` accepts NULL.
 */
struct err {
	enum err_code code;
	char msg[1024];
};

/* Sets *err (if not NULL) and returns -code, so that `return err_set(...)` is the idiom. */
int err_set(struct err *err, enum err_code code, const char *fmt, ...) ATTR_PRINTF(3, 4);
/* Puts "TEXT: " in front of the message, so that it narrows on the way up. Returns -err->code. */
int err_wrap(struct err *err, const char *fmt, ...) ATTR_PRINTF(2, 3);
/* Maps an errno value to a code and sets "WHAT: strerror". Returns -code. */
int err_errno(struct err *err, int errnum, const char *fmt, ...) ATTR_PRINTF(3, 4);
/* The code's own text, untranslated; never NULL. */
const char *err_text(enum err_code code);
/*
 * The exit code of the program for this error (design: 2 usage, 3 undetermined, 4 could not do its
 * work).
 */
int err_exit_code(enum err_code code);

/* The static analyzer looks at one file at a time: it is told here that an error is never 0. */
#if defined(__clang_analyzer__) && !defined(BASE_ERR_IMPLEMENTATION)
#define err_set(...) (err_set(__VA_ARGS__), -1)
#define err_wrap(...) (err_wrap(__VA_ARGS__), -1)
#define err_errno(...) (err_errno(__VA_ARGS__), -1)
#endif

#endif
