/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders of packages: where pip says that PyTorch is, and from where it is imported. When the two
 * differ, two environments are in play. Judges nothing else about them.
 */
#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/regex.h"
#include "triage/paste.h"
#include "triage/sign.h"

/* "c:\\x\\Lib\\site-packages" and "C:/x/lib/site-packages" are one; Linux tells case apart. */
static const char *normal(struct paste *p, struct view v)
{
	char *s = view_dup(p->a, v);
	bool windows = v.n > 2 && isalpha((unsigned char)v.p[0]) && v.p[1] == ':';
	size_t i, n = 0;

	for (i = 0; i < v.n; i++) {
		char c = s[i] == '\\' ? '/' : s[i];

		if (c == '/' && n && s[n - 1] == '/')
			continue;
		s[n++] = windows ? (char)tolower((unsigned char)c) : c;
	}
	while (n > 1 && s[n - 1] == '/')
		n--;
	s[n] = '\0';
	return s;
}

/* Notes it, and that it is another than the one that was noted under `other`. */
static void site(struct paste *p, const char *id, const char *other, struct view path, size_t i)
{
	const char *folder = normal(p, path), *had = sign_value(p, other);

	if (p->filling || owner_other_machine(&p->owners, p->t.lines[i].owner) ||
	    !strpbrk(folder, "/"))
		return;
	if (!sign_value(p, id))
		sign_add(p, id, i, view_of(folder));
	/* Of the user's own folder, which every Python of that release searches first. */
	if (strcmp(id, "run-site") == 0 && strstr(folder, "/.local/lib/"))
		sign_add(p, "torch-user-site", i, view_of(folder));
	if (had && strcmp(had, folder) != 0 && !sign_has(p, "torch-elsewhere"))
		sign_add(p, "torch-elsewhere", i, view_of(folder));
}

/* "Location: /x/site-packages" some lines below "Name: torch". */
static bool of_torch(const struct paste *p, size_t i)
{
	size_t back;

	for (back = 1; back <= 10 && back <= i; back++)
		if (view_starts(p->t.lines[i - back].s, "Name:"))
			return view_is(view_trim(view_skip(p->t.lines[i - back].s, 5)), "torch");
	return false;
}

static void sites_line(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;
	struct regex_match m;

	if (s.n > 600)
		s.n = 600;
	if (view_starts(s, "Location:") && of_torch(p, i))
		site(p, "pip-site", "run-site", view_trim(view_skip(s, 9)), i);
	else if (
		view_starts(s, "Requirement already satisfied: torch") &&
		paste_match(
			p,
			"^Requirement already satisfied: torch(?:[=<>~! ]\\S*)? in (\\S.*?)(?: \\(|$)",
			s, &m))
		site(p, "pip-site", "run-site", m.group[1], i);
	else if (
		view_find(s, "-packages") >= 0 &&
		paste_match(
			p,
			"(?:^|['\"\\s(])((?:[A-Za-z]:[\\\\/]|/)[^'\"\\n]{0,300}?(?:site|dist)-packages)"
			"[\\\\/]+torch[\\\\/]",
			s, &m))
		site(p, "run-site", "pip-site", m.group[1], i);
}

const struct extractor extract_sites = { .name = "sites", .line = sites_line };
