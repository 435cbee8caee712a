/* SPDX-License-Identifier: Apache-2.0 */
/* Takes apart what one print of several things says. Knows no command, only what is asked for. */
#include "triage/tuple.h"

#include <string.h>

#include "base/attr.h"
#include "base/regex.h"
#include "triage/sign.h"

enum { ASKED_MAX = 8, ANSWER_MAX = 300 };

#define A_VERSION "(?<![\\w.])(\\d+\\.\\d+\\.\\d+[\\w.+-]*)"

static const struct ask {
	const char *asks;
	const char *pattern; /* its first group is the answer */
	const char *fact;    /* NULL: no fact */
} asks[] = {
	{ "torch.__version__", A_VERSION, "torch.version" },
	{ "torch.version.cuda", "(?<![\\w.])(None|\\d+\\.\\d+)(?![\\w.])", "torch.cuda" },
	{ "torch.version.hip", "(?<![\\w.])(None|\\d+\\.\\d+[\\w.-]*)", NULL },
	{ "is_available()", "\\b(True|False)\\b", NULL },
	{ "is_available", "\\b(True|False)\\b", NULL },
	{ "is_built()", "\\b(True|False)\\b", NULL },
	{ "device_count()", "(?<![\\w.])(\\d+)(?![\\w.])", NULL },
	{ "get_device_capability", "\\((\\d+, ?\\d+)\\)", NULL },
	{ "sys.executable", "((?:[A-Za-z]:)?[\\\\/][^\\s'\",]*)", NULL },
	{ "sys.prefix", "((?:[A-Za-z]:)?[\\\\/][^\\s'\",]*)", NULL },
	{ "torch.__file__", "((?:[A-Za-z]:)?[\\\\/][^\\s'\",]*)", NULL },
	{ "sys.version", "(?<![\\w.])([23]\\.\\d+\\.\\d+)", "python.version" },
	{ "platform.python_version()", "(?<![\\w.])([23]\\.\\d+\\.\\d+)", "python.version" },
	{ "torchvision.__version__", A_VERSION, "package.torchvision" },
	{ "torchaudio.__version__", A_VERSION, "package.torchaudio" },
	{ "np.__version__", A_VERSION, "package.numpy" },
	{ "numpy.__version__", A_VERSION, "package.numpy" },
	{ "tf.__version__", A_VERSION, "package.tensorflow" },
	{ "list_physical_devices('GPU')", "(\\[.*\\])$", NULL },
	{ "jax.__version__", A_VERSION, "package.jax" },
};

struct asked {
	const struct ask *ask;
	size_t at;
};

/* What the command asks for, in its order; the longer of two names at one place. */
static size_t asked_for(struct view cmd, struct asked *ret)
{
	size_t k, n = 0, i;

	for (k = 0; k < ARRAY_LEN(asks) && n < ASKED_MAX; k++) {
		ptrdiff_t at = view_find(cmd, asks[k].asks);
		bool taken = false;

		for (i = 0; i < n && at >= 0; i++)
			taken = taken || ret[i].at == (size_t)at;
		if (at < 0 || taken)
			continue;
		for (i = n; i > 0 && ret[i - 1].at > (size_t)at; i--)
			ret[i] = ret[i - 1];
		ret[i] = (struct asked){ .ask = &asks[k], .at = (size_t)at };
		n++;
	}
	return n;
}

void tuple_answer(struct paste *p, struct view cmd, struct view s, size_t i)
{
	struct asked asked[ASKED_MAX];
	struct regex_match m;
	size_t n = asked_for(cmd, asked), k;

	for (k = 0; k < n && n > 1 && s.n && s.n < ANSWER_MAX; k++) {
		/* Several prints answer on a line each: this one holds some of it. */
		if (!paste_match(p, asked[k].ask->pattern, s, &m))
			continue;
		if (asked[k].ask->fact)
			paste_fact(p, asked[k].ask->fact, m.group[1], i);
		else if (strncmp(asked[k].ask->asks, "is_available", 12) == 0)
			sign_add(p,
				 view_is(m.group[1], "True") ? "cuda-available-true"
							     : "cuda-available-false",
				 i, m.group[1]);
		s = view_skip(s, m.end);
	}
}
