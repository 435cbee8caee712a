/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does somebody complain, or a program report a failure, in whatever words?  A rule that takes a
 * text for healthy asks it. Errs towards yes, and names no cause.
 */
#include "base/regex.h"
#include "triage/paste.h"
#include "triage/prose.h"
#include "triage/sign.h"

enum {
	LINES_MOST = 120, /* a longer text holds more than anyone vouches for by its silence */
	LINE_MOST = 1200, /* bytes */
};

/* "Without any problem" is none, "this warning" one that is asked about. */
static const char words[] =
	"\\b(?:without|no)(?: an[dy])?(?: known| further)? (?:issues?|problems?|errors?|trouble|"
	"failures?)\\b(*SKIP)(*FAIL)|"
	"\\b(?:this|these|that|those|the|such|following) (?:warning|message|notice)s?\\b(*SKIP)(*FAIL)|"
	"\\b(?:can|safe|to|be|I|just|safely) ignored?\\b(*SKIP)(*FAIL)|"
	"_STATUS_(?!SUCCESS)|_NOT_|error|exception|fail|crash|unsupported|incompatib|invalid|illegal|"
	"denied|refus|abort|missing|"
	"\\b(?:not?|none|never|nothing|nobody|only|but|yet|still|low|wrong|false|err|hang\\w*|hung|"
	"stuck|freez\\w*|froze\\w*|slow\\w*|miss(?:ed|es)|disab\\w*|unable|cannot|can't|without|"
	"instead|lost|gone|broke\\w*|problems?|issues?|trouble\\w*|unknown|black|kill\\w*|thrott\\w*|"
	"timed?[- ]?out|bad|cpu|unavailable|ignor\\w*|fall(?:s|ing)? back|fallback|degrad\\w*|stops?|"
	"stopped|lags?|stutter\\w*|drops?|dropped|poor\\w*|halt\\w*|forever|worse|panic|oops|"
	"corrupt\\w*|dead|nan|weird|strange|odd|xid|warn\\w*|help)\\b|"
	"\\w(?:n't|n\xe2\x80\x99t)\\b|\\b\\d+ (?:out )?of (?:the |my |our )?\\d+\\b";

/* Letters that are not Latin: words that are not known here. */
static bool is_foreign(struct view s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] >= 0xce && (unsigned char)s.p[i] != 0xe2)
			return true;
	return false;
}

/* What a person wrote behind a typed command. */
static struct view remark(struct view cmd)
{
	ptrdiff_t at = view_find(cmd, " #");

	return at < 0 ? (struct view){ 0 } : view_skip(cmd, (size_t)at + 2);
}

static bool complains(struct paste *p, const struct line *l)
{
	struct view s = l->cmd_at ? remark(line_cmd(l)) : l->s;

	if (!s.n || l->benign || s.p[0] == '|' || s.p[0] == '+')
		return false;
	return s.n > LINE_MOST || is_foreign(s) || paste_match(p, words, s, NULL);
}

void complaint_take(struct paste *p)
{
	size_t i;

	for (i = 0; i < p->t.n; i++)
		if (i == LINES_MOST || complains(p, &p->t.lines[i])) {
			sign_add(p, "complaint", i, (struct view){ 0 });
			return;
		}
}
