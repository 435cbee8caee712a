/* SPDX-License-Identifier: Apache-2.0 */
/* The words of headings: a container, before, the other machine that works. */
#include <ctype.h>
#include <string.h>

#include "base/attr.h"
#include "triage/owner_read.h"

/* At the beginning of a heading. */
static const struct owner_mark marks[] = {
	{ .words = "in container", .place = PLACE_CONTAINER },
	{ .words = "in the container", .place = PLACE_CONTAINER },
	{ .words = "in a container", .place = PLACE_CONTAINER },
	{ .words = "in docker", .place = PLACE_CONTAINER },
	{ .words = "in the docker", .place = PLACE_CONTAINER },
	{ .words = "in the pod", .place = PLACE_CONTAINER },
	{ .words = "in pod", .place = PLACE_CONTAINER },
	{ .words = "inside container", .place = PLACE_CONTAINER },
	{ .words = "inside the container", .place = PLACE_CONTAINER },
	{ .words = "inside a container", .place = PLACE_CONTAINER },
	{ .words = "inside docker", .place = PLACE_CONTAINER },
	{ .words = "inside the docker", .place = PLACE_CONTAINER },
	{ .words = "inside the pod", .place = PLACE_CONTAINER },
	{ .words = "inside pod", .place = PLACE_CONTAINER },
	{ .words = "within the container", .place = PLACE_CONTAINER },
	{ .words = "from the container", .place = PLACE_CONTAINER },
	{ .words = "container", .place = PLACE_CONTAINER },
	{ .words = "docker container", .place = PLACE_CONTAINER },
	{ .words = "pod", .place = PLACE_CONTAINER },
	{ .words = "guest", .place = PLACE_CONTAINER },
	{ .words = "\xec\xbb\xa8\xed\x85\x8c\xec\x9d\xb4\xeb\x84\x88", .place = PLACE_CONTAINER },
	{ .words = "\xeb\x8f\x84\xec\xbb\xa4", .place = PLACE_CONTAINER },
	{ .words = "on host", .place = PLACE_HOST },
	{ .words = "on the host", .place = PLACE_HOST },
	{ .words = "on my host", .place = PLACE_HOST },
	{ .words = "from the host", .place = PLACE_HOST },
	{ .words = "from host", .place = PLACE_HOST },
	{ .words = "host", .place = PLACE_HOST },
	{ .words = "outside the container", .place = PLACE_HOST },
	{ .words = "outside docker", .place = PLACE_HOST },
	{ .words = "bare metal", .place = PLACE_HOST },
	{ .words = "\xed\x98\xb8\xec\x8a\xa4\xed\x8a\xb8", .place = PLACE_HOST },
	{ .words = "before", .time = TIME_BEFORE },
	{ .words = "previously", .time = TIME_BEFORE },
	{ .words = "earlier", .time = TIME_BEFORE },
	{ .words = "old", .time = TIME_BEFORE },
	{ .words = "working", .time = TIME_BEFORE },
	{ .words = "works", .time = TIME_BEFORE },
	{ .words = "good", .time = TIME_BEFORE },
	{ .words = "\xec\x9d\xb4\xec\xa0\x84", .time = TIME_BEFORE },
	{ .words = "after", .time = TIME_AFTER },
	{ .words = "now", .time = TIME_AFTER },
	{ .words = "new", .time = TIME_AFTER },
	{ .words = "not working", .time = TIME_AFTER },
	{ .words = "broken", .time = TIME_AFTER },
	{ .words = "failing", .time = TIME_AFTER },
	{ .words = "fails", .time = TIME_AFTER },
	{ .words = "bad", .time = TIME_AFTER },
	{ .words = "\xec\x9d\xb4\xed\x9b\x84", .time = TIME_AFTER },
};

bool owner_begins(struct view v, const char *words)
{
	size_t n = strlen(words);

	return v.n >= n && strncasecmp(v.p, words, n) == 0 &&
	       (v.n == n || !isalnum((unsigned char)v.p[n]));
}

/* Whole words, in any case; a "-" at an entry's end: as the beginning of one. */
static bool says(struct view v, const char *const *words, size_t n)
{
	size_t i, k, len;
	bool open;

	for (i = 0; i < v.n; i++) {
		if (i && isalnum((unsigned char)v.p[i - 1]))
			continue;
		for (k = 0; k < n; k++) {
			len = strlen(words[k]);
			open = words[k][len - 1] == '-';
			len -= open;
			if (i + len <= v.n && strncasecmp(v.p + i, words[k], len) == 0 &&
			    (open || i + len == v.n || !isalnum((unsigned char)v.p[i + len])))
				return true;
		}
	}
	return false;
}

/*
 * "On my other machine it works", "This PC (fails)": two machines beside each other are told apart
 * as two times of one are, the one that works and the one that does not.
 */
static const struct owner_mark *machine_mark(struct view words)
{
	static const struct owner_mark well = { .time = TIME_BEFORE, .other = true },
				       ill = { .time = TIME_AFTER };
	static const char *const machines[] = {
		"machine",
		"machines",
		"computer",
		"pc",
		"laptop",
		"desktop",
		"server",
		"workstation",
		"box",
		"node",
		"colleague",
		"colleagues",
		"friend",
		"system",
		"rig",
		"cluster",
		"\xec\xbb\xb4\xed\x93\xa8\xed\x84\xb0-",
	};
	static const char *const ills[] = { "fail-",	"broken", "not",    "doesn",   "does not",
					    "problem-", "error-", "issue-", "affected" };
	static const char *const wells[] = { "other",	  "another",
					     "different", "second",
					     "colleague", "friend",
					     "works",	  "working",
					     "worked",	  "fine",
					     "ok",	  "healthy",
					     "good",	  "\xeb\x8b\xa4\xeb\xa5\xb8-" };
	static const char *const heres[] = { "this" };

	if (!says(words, machines, ARRAY_LEN(machines)))
		return NULL;
	if (says(words, ills, ARRAY_LEN(ills)))
		return &ill;
	if (says(words, wells, ARRAY_LEN(wells)))
		return &well;
	return says(words, heres, ARRAY_LEN(heres)) ? &ill : NULL;
}

const struct owner_mark *owner_mark_of(struct view words)
{
	static const char *const of_forms[] = { " you",		  "submit", " issue", "eature",
						"nvironment var", " bug",   "post" };
	const struct owner_mark *m;
	size_t i;

	/* A sentence says more than where one is. */
	if (!words.n || words.n > 60 || memchr(words.p, '.', words.n) ||
	    memchr(words.p, '=', words.n) || memchr(words.p, '/', words.n))
		return NULL;
	/* "Before you start", "New feature" of an issue's form speak of the form. */
	for (i = 0; i < ARRAY_LEN(of_forms); i++)
		if (view_find(words, of_forms[i]) >= 0)
			return NULL;
	m = machine_mark(words);
	if (m)
		return m;
	for (i = 0; i < ARRAY_LEN(marks); i++)
		/* "Now", "After the update"; "New issue about ..." is another matter. */
		if (owner_begins(words, marks[i].words) && (marks[i].place || words.n <= 28))
			return &marks[i];
	return NULL;
}

struct view owner_heading(struct view v)
{
	static const char frame[] = "#*=->[(_ \t<";
	bool framed;

	if (!v.n || v.n > 80)
		return (struct view){ 0 };
	framed = strchr("#*=[(<", v.p[0]) != NULL || view_starts(v, "--") || view_ends(v, ":");
	/* "**Host**", "(host)": a list's dash or a sentence is no heading. */
	if (!framed)
		return (struct view){ 0 };
	while (v.n && strchr(frame, v.p[0]))
		v = view_skip(v, 1);
	while (v.n && strchr("#*=-])_: \t>", v.p[v.n - 1]))
		v.n--;
	return v;
}
