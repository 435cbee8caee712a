/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What pip says of PyTorch, and what runs: the folder and the version of each. When the two differ,
 * two environments are in play. Judges nothing else about them.
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
	else if (strcmp(id, "run-site") == 0 && strcmp(sign_value(p, id), folder) != 0 &&
		 !sign_has(p, "torch-two-sites"))
		sign_add(p, "torch-two-sites", i, view_of(folder));
	/* Of the user's own folder, which every Python of that release searches first. */
	if (strcmp(id, "run-site") == 0 && strstr(folder, "/.local/lib/"))
		sign_add(p, "torch-user-site", i, view_of(folder));
	if (had && strcmp(had, folder) != 0 && !sign_has(p, "torch-elsewhere"))
		sign_add(p, "torch-elsewhere", i, view_of(folder));
}

/* torchvision or torchaudio of a traceback, in another folder than the PyTorch that it loads. */
static void companion(struct paste *p, size_t i)
{
	const char *torch = sign_value(p, "run-site"), *own = sign_value(p, "companion-site");

	if (torch && own && strcmp(torch, own) != 0 && !sign_has(p, "companion-elsewhere"))
		sign_add(p, "companion-elsewhere", i, view_of(own));
}

static void companion_site(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (p->filling || sign_has(p, "companion-site") ||
	    owner_other_machine(&p->owners, p->t.lines[i].owner) ||
	    !paste_match(p,
			 "File \"((?:[A-Za-z]:[\\\\/]|/)[^\"\\n]{0,300}?(?:site|dist)-packages)"
			 "[\\\\/]+torch(?:vision|audio)[\\\\/]",
			 s, &m))
		return;
	sign_add(p, "companion-site", i, view_of(normal(p, m.group[1])));
	companion(p, i);
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

/* -------- versions */

/* Equal releases, and equal builds where both name one. */
static bool one_build(const char *a, const char *b)
{
	size_t n = strcspn(a, "+");

	if (n != strcspn(b, "+") || strncmp(a, b, n) != 0)
		return false;
	return !a[n] || !b[n] || strcmp(a, b) == 0;
}

static const char *first_value(const struct paste *p, const char *id)
{
	size_t i;

	for (i = 0; i < p->s->n_signs; i++)
		if (fact_is(&p->s->signs[i].id, id))
			return fact_value(&p->s->signs[i].value, NULL);
	return NULL;
}

/* Notes a version under `id`, and that it is another than the last one under `other`. */
static void version(struct paste *p, const char *id, const char *other, struct view v, size_t i)
{
	const char *said = view_dup(p->a, v), *had = sign_value(p, other);

	if (p->filling || owner_other_machine(&p->owners, p->t.lines[i].owner))
		return;
	sign_add(p, id, i, v);
	if (had && !one_build(had, said) && !sign_has(p, "torch-disagrees"))
		sign_add(p, "torch-disagrees", i, v);
	had = strcmp(id, "run-torch") == 0 ? first_value(p, id) : NULL;
	if (had && !one_build(had, said) && !sign_has(p, "torch-two-runs"))
		sign_add(p, "torch-two-runs", i, v);
}

/* What a program prints of the PyTorch that it runs on. */
static bool of_run(struct paste *p, struct view s, struct regex_match *m)
{
	return paste_match(
		p,
		"(?:^|[^\\w-])(?i:torch|pytorch version(?: \\(GPU\\?\\))?): ?(\\d+\\.\\d+\\.\\d+[\\w.+]*)|"
		"\\(you have (\\d+\\.\\d+\\.\\d+\\+\\w+)\\)|"
		"torch\\.__version__\\W{1,8}(\\d+\\.\\d+\\.\\d+[\\w.+]*)|"
		"Python-3\\.[\\d.]+ torch-(\\d+\\.\\d+\\.\\d+[\\w.+]*) |"
		"[\\\\/]torch[\\\\/]__init__\\.pyc?['\"]?,? ['\"]?(\\d+\\.\\d+\\.\\d+[\\w.+]*)['\"]?\\)?$",
		s, m);
}

/* A program that says so below the end of an installation has another PyTorch than that one's. */
static void after_install(struct paste *p, struct view v, size_t i)
{
	const char *put = sign_value(p, "installed-torch");
	size_t n = put ? strcspn(put, "+") : 0;

	if (n && v.n >= n && (strncmp(v.p, put, n) != 0 || (v.n > n && v.p[n] == '.')))
		sign_add(p, "runs-other-torch", i, v);
}

/* Behind a command that prints it, or below a cell of a notebook that ends with it. */
static bool asked_above(const struct paste *p, size_t i)
{
	struct view up = i ? p->t.lines[i - 1].s : (struct view){ 0 };

	return paste_under(p, i, "torch.__version__") || view_ends(up, "torch.__version__") ||
	       view_ends(up, "print(torch.__version__)");
}

static void versions_line(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;
	struct regex_match m;
	size_t k;

	if (s.n > 400 || view_find(s, ".") < 0)
		return;
	if ((view_find(s, "orch") >= 0 || view_find(s, "you have ") >= 0) && of_run(p, s, &m)) {
		for (k = 1; k + 1 < m.n && !m.group[k].n; k++)
			;
		version(p, "run-torch", "pip-torch-version", m.group[k], i);
		after_install(p, m.group[k], i);
	} else if (
		view_find(s, "orch") >= 0 &&
		paste_match(
			p,
			"\\bpip3? (?:list|freeze|show)\\b[^\\n]{0,30}?\\btorch\\W{1,5}(?:Version: ?)?"
			"(\\d+\\.\\d+\\.\\d+[\\w.+]*)",
			s, &m)) {
		version(p, "pip-torch-version", "run-torch", m.group[1], i);
	} else if (view_starts(s, "Version:") && paste_under(p, i, "show torch") &&
		   (of_torch(p, i) || (size_t)p->t.lines[i].by + 1 == i)) {
		version(p, "pip-torch-version", "run-torch", view_trim(view_skip(s, 8)), i);
	} else if (view_starts(s, "torch") && paste_under(p, i, "pip") &&
		   paste_match(p, "^torch\\s*(?:==)?\\s*(\\d+\\.\\d+\\.\\d+[\\w.+]*)(?:\\s|$)", s,
			       &m)) {
		version(p, "pip-torch-version", "run-torch", m.group[1], i);
	} else if (asked_above(p, i) &&
		   paste_match(p, "^(?:Out\\[\\d+\\]: ?)?['\"]?(\\d+\\.\\d+\\.\\d+[\\w.+]*)['\"]?$",
			       s, &m)) {
		version(p, "run-torch", "pip-torch-version", m.group[1], i);
		if (sign_value(p, "installed-torch") &&
		    !one_build(sign_value(p, "installed-torch"), view_dup(p->a, m.group[1])))
			sign_add(p, "runs-other-torch", i, m.group[1]);
	}
}

/* -------- lines */

static void sites_line(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;
	struct regex_match m;

	versions_line(p, i);
	/* "ls ~/.local/lib/python3.7/site-packages | grep torch" lists one. */
	if (view_starts(s, "torch") &&
	    (s.n == 5 || s.p[5] == '-' || s.p[5] == '/' || s.p[5] == ' ') &&
	    paste_under(p, i, "/.local/lib/python") && !sign_has(p, "torch-user-site"))
		sign_add(p, "torch-user-site", i, s);
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
			"[\\\\/]+torch(?:[\\\\/,]|\\s|$)",
			s, &m)) {
		site(p, "run-site", "pip-site", m.group[1], i);
		companion(p, i);
	} else if (view_find(s, "File \"") >= 0 && view_find(s, "-packages") >= 0) {
		companion_site(p, s, i);
	}
}

const struct extractor extract_sites = { .name = "sites", .line = sites_line };
