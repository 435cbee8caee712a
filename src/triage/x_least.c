/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program says that it needs at least beside what it found: "Driver version 470.57 is below
 * the minimum 525.60.11". Which of two releases is which, words before and behind them say.
 */
#include "base/attr.h"
#include "base/regex.h"
#include "triage/paste.h"
#include "triage/sign.h"

enum { LINE_MAX_BYTES = 600, VERSIONS = 4 };

/* Behind such words stands what is wanted. */
static const char before_wanted[] =
	"(?:minimum|min\\.|required|requires?|needs?|at least|lower than|older than|less than|below|"
	"newer than|>=?)[^.;\\d]{0,50}$";
static const char behind_wanted[] =
	"^(?:[ ,)]*(?:or|and) (?:newer|higher|later|above|greater|up)|\\+|[^.;\\d]{0,20} (?:is|are) (?:required|needed))";

struct release {
	struct view v;
	bool wanted;
};

static size_t releases(struct paste *p, struct view s, struct release *ret)
{
	struct view rest = s, before;
	struct regex_match m;
	size_t n;

	for (n = 0; n < VERSIONS &&
		    paste_match(p, "(?<![\\w.-])v?([3-6]\\d\\d(?:\\.\\d{1,3}){1,2})(?![\\w.]*\\w)",
				rest, &m);
	     n++) {
		before = (struct view){ .p = s.p, .n = (size_t)(m.group[1].p - s.p) };
		ret[n].v = m.group[1];
		rest = view_skip(s, before.n + m.group[1].n);
		ret[n].wanted = paste_match(p, before_wanted, before, NULL) ||
				paste_match(p, behind_wanted, rest, NULL);
	}
	return n;
}

/* Two releases in one line, the one wanted and the other not: that one is here. */
static void least_driver(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;
	struct release r[VERSIONS];
	const struct release *least, *here;

	if (p->t.lines[i].cmd_at || s.n > LINE_MAX_BYTES || view_find(s, "river") < 0 ||
	    paste_foreign(p, i, SCOPE_MACHINE) || releases(p, s, r) != 2 ||
	    r[0].wanted == r[1].wanted)
		return;
	least = r[0].wanted ? &r[0] : &r[1];
	here = r[0].wanted ? &r[1] : &r[0];
	sign_add(p, "driver-wanted", i, least->v);
	paste_fact(p, "driver.version", here->v, i);
}

const struct extractor extract_least = { .name = "least", .line = least_driver };
