/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program says that it needs at least, beside what it found: "Driver version 470.57 is below
 * the minimum 525.60.11". Which of the two is which, words before and behind them say.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/regex.h"
#include "model/version.h"
#include "triage/paste.h"
#include "triage/sign.h"

enum { LINE_MAX_BYTES = 600, VERSIONS = 4 };

/* Behind such words, or before them, stands what is wanted. */
static const char before_wanted[] =
	"(?:\\bminimum|\\bmin\\.|\\brequire[sd]?\\b|\\bneeds?\\b|\\bat least|lower than|older than|less than|below|"
	"[<>]=?)(?:(?!\\b(?:but|found|have|got|detected|yours)\\b)[^.;\\d]){0,50}$";
static const char behind_wanted[] =
	"^(?:[\"' ,)]*(?:or|and) (?:newer|higher|later|above|greater|up)|\\+|"
	"[^.;\\d]{0,20} (?:is|are|or \\w+) (?:required|needed))";

static void driver(struct paste *p, size_t i, const char *least, const char *here)
{
	sign_add(p, "driver-wanted", i, view_of(least));
	paste_fact(p, "driver.version", view_of(here), i);
}

/* A feature that wants a newer GPU leaves the rest of the build as it is: other rows know those. */
static bool of_feature(struct paste *p, size_t i)
{
	return paste_match(
		p,
		"\\b(?:bf16|bfloat16|[bm]?x?fp\\d+|float8|int[48]|flash\\w*|attention|tensor cores?|"
		"marlin|awq|gptq|quanti\\w+|kernels?|precision|cooperative|features?|dtype|"
		"cache|op|backend)\\b",
		p->t.lines[i].s, NULL);
}

/* here: NULL where it is another line, if any, that tells of the GPU. */
static void capability(struct paste *p, size_t i, const char *least, const char *here)
{
	if ((here && version_cmp_str(here, least) >= 0) || of_feature(p, i))
		return;
	sign_add(p, here ? "capability-least" : "capability-needed", i, view_of(least));
	if (here)
		paste_fact(p, "gpu.cc", view_of(here), i);
}

static long major_of(const char *version)
{
	return strtol(version, NULL, 10);
}

static void driver_cuda(struct paste *p, size_t i, const char *least, const char *here)
{
	/* Within one major release of CUDA an older driver will do. */
	if (major_of(here) >= major_of(least))
		return;
	paste_fact(p, "driver.ceiling", view_of(here), i);
	sign_add(p, "needs-cuda", i, view_of(least));
	sign_add(p, "needs-cuda-fails", i, view_of(here));
}

static void cudnn(struct paste *p, size_t i, const char *least, const char *here)
{
	if (major_of(here) != major_of(least))
		sign_add(p, "cudnn-least-major", i, view_of(here));
	else if (version_cmp_str(here, least) < 0)
		sign_add(p, "cudnn-least", i, view_of(here));
}

static const struct quantity {
	const char *hint, *line; /* a line without them isn't looked at */
	const char *version;
	const char *wanted; /* before it; NULL: the usual words */
	bool coded;	    /* 11040 is 11.4 */
	bool alone;	    /* what is wanted counts without what is here, too */
	void (*take)(struct paste *p, size_t i, const char *least, const char *here);
} quantities[] = {
	{ .hint = "river",
	  .version = "(?<![\\w.-])v?([3-6]\\d\\d(?:\\.\\d{1,3}){1,2})(?![\\w.]*\\w)",
	  .take = driver },
	{ .hint = "apability",
	  .version = "(?<![\\w.-])((?:[1-9]|1[0-2])\\.\\d)(?![\\w.]*\\w)",
	  .alone = true,
	  .take = capability },
	{ .hint = "SM ",
	  .version = "\\bSM ((?:[1-9]|1[0-2])\\.\\d)(?![\\w.]*\\w)",
	  .take = capability },
	{ .hint = "river",
	  .line = "CUDA",
	  .version = "\\bCUDA(?: version)?[ :=v]{1,3}((?:[89]|1\\d)\\.\\d)(?![\\w.]*\\w)",
	  .wanted = "(?:minimum|required|requires?|needs?|at least|built|compiled|linked|made)"
		    "[^.;\\d]{0,50}$",
	  .take = driver_cuda },
	{ .hint = "river",
	  .line = "untime",
	  .version = "(?<![\\w.-])((?:[89]|1\\d)0\\d0)(?![\\w.]*\\w)",
	  .wanted = "(?:runtime|minimum|required|requires?|needs?)[^.;\\d]{0,30}$",
	  .coded = true,
	  .take = driver_cuda },
	{ .hint = "DNN",
	  .version = "(?<![\\w.-])v?([5-9]\\.\\d{1,2}(?:\\.\\d{1,2})?)(?![\\w.]*\\w)",
	  .take = cudnn },
};

struct release {
	struct view v;
	bool wanted;
};

static size_t releases(struct paste *p, const struct quantity *q, struct view s,
		       struct release *ret)
{
	struct view rest = s, before;
	struct regex_match m;
	size_t n;

	for (n = 0; n < VERSIONS && paste_match(p, q->version, rest, &m); n++) {
		before = (struct view){ .p = s.p, .n = (size_t)(m.group[1].p - s.p) };
		ret[n].v = m.group[1];
		rest = view_skip(s, before.n + m.group[1].n);
		ret[n].wanted =
			paste_match(p, q->wanted ? q->wanted : before_wanted, before, NULL) ||
			paste_match(p, behind_wanted, rest, NULL);
	}
	return n;
}

static const char *text_of(struct paste *p, const struct quantity *q, struct view v)
{
	const char *text = view_dup(p->a, v);

	return q->coded ? version_of_cuda_number(p->a, strtol(text, NULL, 10)) : text;
}

/* Two releases in one line, the one wanted and the other not: that one is here. */
static void compare(struct paste *p, const struct quantity *q, size_t i)
{
	struct release r[VERSIONS];
	const struct release *least, *here;
	size_t n = releases(p, q, p->t.lines[i].s, r);

	if (n == 1 && r[0].wanted && q->alone)
		q->take(p, i, text_of(p, q, r[0].v), NULL);
	if (n != 2 || r[0].wanted == r[1].wanted)
		return;
	least = r[0].wanted ? &r[0] : &r[1];
	here = r[0].wanted ? &r[1] : &r[0];
	q->take(p, i, text_of(p, q, least->v), text_of(p, q, here->v));
}

static void least_line(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;
	size_t k;

	/* Who asks what is needed has not met it yet. */
	if (p->t.lines[i].cmd_at || s.n > LINE_MAX_BYTES || view_chr(s, '?') >= 0 ||
	    paste_foreign(p, i, SCOPE_MACHINE))
		return;
	for (k = 0; k < ARRAY_LEN(quantities); k++)
		if (view_find(s, quantities[k].hint) >= 0 &&
		    (!quantities[k].line || view_find(s, quantities[k].line) >= 0))
			compare(p, &quantities[k], i);
}

const struct extractor extract_least = { .name = "least", .line = least_line };
