/* SPDX-License-Identifier: Apache-2.0 */
/* Tells what is only told of or asked about from what happened to the writer. Judges no cause. */
#include "triage/hearsay.h"

#include <stdint.h>

#include "base/regex.h"

enum {
	BEFORE_MIN = 6,
	BEFORE_MAX = 240, /* bytes before the place that are looked at */
	CURE_MIN = 12,
};

/* Sentences that tell of others, or of what might be. */
static const char told[] =
	"\\b(?:readme(?:\\.md)?|docs?|documentation|manual|wiki|blog(?: post)?|guide|tutorial|"
	"article|faq|release notes)\\b[^.!?]{0,30}\\b(?:says?|said|states?|mentions?|warns?|writes?|"
	"describes?|claims?)\\b"
	"|\\b(?:in|from|unlike|see|read) (?:the )?(?:issue|bug|thread|discussion|PR|ticket)? ?#\\d+\\b"
	"[^.!?]{0,30}\\b(?:they|he|she|someone|somebody|people|others)\\b"
	"|\\bI(?:'ve| have)? (?:also )?(?:read|heard)\\b[^.!?]{0,40}\\b(?:that|about|of)\\b"
	"|\\bpeople\\b[^.!?]{0,25}\\b(?:keep (?:telling|saying)|mention|say|said|report|claim|talk|"
	"tell)\\b"
	"|\\b(?:someone|somebody|some (?:people|users)|other (?:people|users)|others|many people)\\b"
	"[^.!?]{0,20}\\b(?:had|gets?|got|saw|sees?|have|has|reports?|reported|mentions?|mentioned)\\b"
	"|^[-*] (?:fix(?:e[sd])?|catch(?:es)?|handles?|avoids?|detects?|works? around)\\b[^\\n]{0,60}"
	"[\"'`]$"
	"|\\bwhat if\\b(?: (?:I|we|it|this|that)\\b(?: \\w+)?)?|\\bwhat (?:would|will|might) happen\\b"
	"|\\b(?:would|will|could|might) (?:I|we|this|that) (?:also |then |still |not )?"
	"(?:get|see|end up|run into|hit)\\b";

/* From here on it is the writer's own. */
static const char own[] =
	"\\b(?:but|however|yet|instead|mine|my own|same (?:here|error|problem|issue|for me)|"
	"I(?:'m| am)? (?:also |still |now |always |only |just )*(?:gets?|got|getting|see|seeing|have|"
	"had|run|hit|receive|encounter\\w*))\\b";

/* Said behind it: whose it was, or that it is only asked about. */
static const char said_behind[] =
	"^[^\\n]{0,160}?[\"'`)] on (?:his|her|their) (?:own )?(?:laptop|machine|pc|computer|server|box|"
	"workstation|desktop|system)\\b|"
	"^[^\\n]{0,160}?[\"'`)]{0,2} ?(?:--?|[;,.(]) ?(?:"
	"that(?: is|'s| was) what (?:my |the |a )?(?!I\\b|we\\b)\\w+ (?:\\w+ )?"
	"(?:had|got|saw|reported|gets|sees)\\b"
	"|I (?:saw|read|found) (?:this|that|it)(?: line| error| message)? (?:in|on) "
	"(?:a|the|some|another)\\b"
	"|is (?:this|that|it)(?: \\w+)? the same\\b[^.!\\n]*\\?"
	"|can (?:this|that|it) (?:also |even )?(?:come up|happen|occur|appear)\\b[^.!\\n]*\\?)";

/* What made it work: "solved by downgrading to torch 2.1.2", "works with 2.3.0 again". */
static const char cures[] =
	"(?<!to )(?<!not )(?<!n't )\\b(?:solved|fixed|resolved|cured|fix|solution)\\b"
	"(?:\\s+(?:it|this|the (?:issue|problem|error)|was|is|for me|now)\\b){0,3}\\s*"
	"(?:\\b(?:by|with|in|using|after|once|when|to)\\b|:)"
	"[^\\n]{0,80}$";

/* The same said behind: "downgrading to torch 2.1.1 solved it", "with torch 2.1.1 it works". */
static const char cures_behind[] =
	"^[\"'`]?[\\w.+]{1,24}[\"'`)]{0,2},?(?: instead| then| also| has| have| finally){0,2} (?:"
	"(?:solved|fixed|resolved|cured|solves|fixes|resolves) (?:it|this|that|the|my|all)\\b|"
	"did the trick\\b|(?:works|worked|helped) for me\\b)(?![^\\n]*\\b(?:but|however|except)\\b)";

/* "with torch 2.1.1 it works": of what was there before it says nothing. */
static const char works_with[] = "\\b(?:with|after|once|downgrad\\w+|upgrad\\w+|reinstall\\w+|"
				 "switch\\w+|updat\\w+|chang\\w+)\\b[^.\\n]{0,40}$";
static const char works_behind[] =
	"^[\"'`]?[\\w.+]{1,24}[\"'`)]{0,2},?(?: and| then)? (?:it|everything|all|this) "
	"(?:now |just |then )?(?:works|worked|runs|is fine)\\b(?![^\\n]*\\b(?:but|however|except|in|on|only)\\b)";

static bool cure_behind(struct paste *p, struct view before, struct view behind)
{
	return paste_match(p, cures_behind, behind, NULL) ||
	       (paste_match(p, works_with, before, NULL) &&
		paste_match(p, works_behind, behind, NULL));
}

/* What stands before the place in its line, at most BEFORE_MAX bytes, and from it on; false: a
 * command, or a value that does not lie in the text. */
static bool around(const struct paste *p, size_t line, const char *at, struct view *before,
		   struct view *behind)
{
	const struct line *l;

	if (!at || line >= p->t.n)
		return false;
	l = &p->t.lines[line];
	if (l->cmd_at || (uintptr_t)at < (uintptr_t)l->s.p ||
	    (uintptr_t)at > (uintptr_t)l->s.p + l->s.n)
		return false;
	*before = (struct view){ l->s.p, (size_t)(at - l->s.p) };
	*behind = view_skip(l->s, before->n);
	if (before->n > BEFORE_MAX)
		*before = view_skip(*before, before->n - BEFORE_MAX);
	return true;
}

/* A sentence that ended, or turned to what happens here. */
static bool turned(struct paste *p, struct view since)
{
	return paste_match(p, "[.!?;] +\\S", since, NULL) || paste_match(p, own, since, NULL);
}

bool told_of_cure(struct paste *p, size_t line, const char *at)
{
	struct view before, behind;
	struct regex_match m;

	if (!around(p, line, at, &before, &behind))
		return false;
	return cure_behind(p, before, behind) ||
	       (before.n >= CURE_MIN && paste_match(p, cures, before, &m) &&
		!turned(p, view_skip(before, m.start)));
}

bool hearsay(struct paste *p, size_t line, const char *at)
{
	struct view before, behind;
	struct regex_match m;

	if (!around(p, line, at, &before, &behind))
		return false;
	if (paste_match(p, said_behind, behind, NULL))
		return true;
	if (before.n < BEFORE_MIN || !paste_match(p, told, before, &m))
		return false;
	do
		before = view_skip(before, m.end);
	while (paste_match(p, told, before, &m));
	return !turned(p, before);
}
