/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of CUDA errors as programs print them without a name or a sentence: "cuInit(0) -> 999",
 * "Cuda driver error 34 in call", "cudaGetDeviceCount returned 35". The sign is that of the row of
 * the table that knows the error by its words.
 */
#include <ctype.h>
#include <stdlib.h>

#include "base/attr.h"
#include "base/regex.h"
#include "triage/paste.h"
#include "triage/sign.h"

/* Numbers that mean one thing in all releases (table cuda_error); few of the runtime's old ones. */
struct number {
	long code;
	const char *row; /* id in the table of signatures */
};

static const struct number numbers[] = {
	{ 3, "init-error-3" },
	{ 10, "invalid-ordinal" },
	{ 30, "cuda-999" },
	{ 34, "stub-library" },
	{ 35, "cuda-35" },
	{ 38, "no-device-100" },
	{ 39, "ecc-error" },
	{ 46, "devices-busy" },
	{ 48, "no-kernel-image" },
	{ 59, "device-assert" },
	{ 77, "illegal-access" },
	{ 98, "invalid-device-function" },
	{ 100, "no-device-100" },
	{ 101, "invalid-ordinal" },
	{ 102, "grid-license-error" },
	{ 209, "no-kernel-image" },
	{ 214, "ecc-error" },
	{ 221, "ptx-jit-lib" },
	{ 222, "ptx-toolchain" },
	{ 304, "cuda-304" },
	{ 700, "illegal-access" },
	{ 710, "device-assert" },
	{ 716, "illegal-access" },
	{ 717, "illegal-access" },
	{ 719, "launch-failure" },
	{ 802, "cuda-802" },
	{ 803, "cuda-803" },
	{ 804, "cuda-804" },
	{ 805, "cuda-805" },
	{ 999, "cuda-999" },
};

/* After a call of the API, or after "CUDA ... error". Not "CUDA 10.0", "cuda:0", "35 GB". */
static const char after_call[] =
	"\\b(?:(?-i:cu(?:da)?[A-Z])\\w{3,40}|nvcuda|cuda (?:driver )?(?:library )?init\\w*|cudart init\\w*)"
	"(?:\\(\\w{0,12}\\))?[^\\n\\d]{0,60}?"
	"(?:return\\w*|err(?:or)?\\w*|code|giv\\w+|says?|fail\\w*|res(?:ult)?|status|->|=|:)"
	"[^\\n\\w.,]{0,4}(?:code |with |status |error )?\\(?#?(\\d{1,3})\\b(?![.,]\\d|:\\d| ?[GMK]i?B|%)";
static const char after_cuda[] =
	"\\bcuda(?: (?:driver|runtime|api))*(?: (?:init\\w*|context\\w*))? "
	"(?:error|failure|err|failed with)(?::? (?:error )?(?:code|number))?"
	"[ :=#(\\[]{1,3}(\\d{1,3})\\b(?![.,]\\d| ?[GMK]i?B|%)";
static const char in_brackets[] =
	"\\[(\\d{1,3})\\] (?:call to )?(?-i:cu(?:da)?[A-Z])\\w+|error[=:] ?(\\d{1,3}) ?: (?=[a-z])|"
	"device context (\\d{3})\\b";

static void add(struct paste *p, struct view digits, size_t i)
{
	char text[4] = { 0 };
	size_t k;
	long n;

	if (!digits.n || digits.n >= sizeof(text))
		return;
	for (k = 0; k < digits.n; k++)
		text[k] = digits.p[k];
	n = strtol(text, NULL, 10);
	/*
	 * "cudaGetDeviceCount: 3" counts; what was returned is a code. No ordinal of the program's
	 * is wrong there.
	 */
	if (view_find(p->t.lines[i].s, "ount") >= 0 &&
	    (n == 10 || n == 101 || (n <= 16 && view_find(p->t.lines[i].s, "return") < 0)))
		return;
	for (k = 0; k < ARRAY_LEN(numbers); k++)
		if (numbers[k].code == n && !sign_has(p, numbers[k].row))
			sign_add(p, numbers[k].row, i, digits);
}

/* Speaks of CUDA, or names a call of the driver's: cuInit, cuModuleLoadData. */
static bool of_cuda(struct view s)
{
	size_t i;

	for (i = 0; i + 2 < s.n; i++)
		if ((s.p[i] == 'u' && s.p[i + 1] == 'd' && s.p[i + 2] == 'a') ||
		    (s.p[i] == 'U' && s.p[i + 1] == 'D' && s.p[i + 2] == 'A') ||
		    (s.p[i] == 'c' && s.p[i + 1] == 'u' && isupper((unsigned char)s.p[i + 2])))
			return true;
	return false;
}

static void error_line(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;
	struct regex_match m;

	if (s.n > 600)
		s.n = 600;
	if (p->t.lines[i].cmd_at || !of_cuda(s) || paste_foreign(p, i, SCOPE_PLACE))
		return;
	/* What an enumerator is worth, as a list of codes says it, is no error that was met. */
	if (paste_match(p, "\\b(?-i:cudaError[A-Z]|CUDA_ERROR_)\\w+ = \\d", s, NULL))
		return;
	if (paste_match(p, after_call, s, &m) || paste_match(p, after_cuda, s, &m))
		add(p, m.group[1], i);
	else if (paste_match(p, in_brackets, s, &m))
		add(p, m.group[1].n ? m.group[1] : m.group[2].n ? m.group[2] : m.group[3], i);
}

const struct extractor extract_error = { .name = "error", .line = error_line };
