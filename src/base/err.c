/* SPDX-License-Identifier: Apache-2.0 */
/* Setting and wrapping errors; prints nothing. */
#define BASE_ERR_IMPLEMENTATION
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
	int exit_code;
	const char *text;
} codes[ERR_COUNT] = {
	[ERR_OK] = { .exit_code = 0, .text = N_("no error") },
#define ERR(id, code, t) [ERR_##id] = { .exit_code = code, .text = t },
#include "base/err.def"
#undef ERR
};

ATTR_PRINTF(3, 0)
static void fit(char *buf, size_t size, const char *fmt, va_list ap)
{
	int n = vsnprintf(buf, size, fmt, ap);

	if (n < 0)
		buf[0] = '\0';
	else if ((size_t)n >= size && size > 4)
		memcpy(buf + size - 4, "...", 4);
}

int err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return -(int)code;
	err->code = code;
	va_start(ap, fmt);
	fit(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	return -(int)code;
}

int err_wrap(struct err *err, const char *fmt, ...)
{
	char head[512], whole[sizeof(err->msg)];
	va_list ap;

	if (!err)
		return -(int)ERR_IO;
	va_start(ap, fmt);
	fit(head, sizeof(head), fmt, ap);
	va_end(ap);
	if (snprintf(whole, sizeof(whole), "%s: %s", head, err->msg) >= (int)sizeof(whole))
		memcpy(whole + sizeof(whole) - 4, "...", 4);
	memcpy(err->msg, whole, sizeof(whole));
	return -(int)err->code;
}

static enum err_code code_of_errno(int errnum)
{
	switch (errnum) {
	case ENOENT:
	case ENOTDIR:
		return ERR_NOENT;
	case EACCES:
	case EPERM:
		return ERR_ACCESS;
	case ELOOP:
		return ERR_LOOP;
	case ENOMEM:
		return ERR_NOMEM;
	case EFBIG:
	case EOVERFLOW:
		return ERR_TOOBIG;
	default:
		return ERR_IO;
	}
}

/* glibc's function returns the text, that of POSIX fills the buffer. */
static const char *errno_text(int errnum, char *text, size_t size)
{
#ifdef __GLIBC__
	return strerror_r(errnum, text, size);
#else
	return strerror_r(errnum, text, size) == 0 ? text : "?";
#endif
}

int err_errno(struct err *err, int errnum, const char *fmt, ...)
{
	enum err_code code = code_of_errno(errnum);
	char head[768], text[128];
	va_list ap;

	if (!err)
		return -(int)code;
	va_start(ap, fmt);
	fit(head, sizeof(head), fmt, ap);
	va_end(ap);
	return err_set(err, code, "%s: %s", head,
		       errno_text(errnum, text, sizeof(text)));
}

const char *err_text(enum err_code code)
{
	return code < ERR_COUNT ? codes[code].text : codes[ERR_IO].text;
}

int err_exit_code(enum err_code code)
{
	return code < ERR_COUNT ? codes[code].exit_code : 4;
}
