/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does somebody complain, or a program report a failure, in whatever words?  A rule that takes a
 * text for healthy asks it. Errs towards yes, and names no cause.  And does somebody ask about what
 * is shown, where no words say that anything fails?  "Is that normal?" over a healthy table.
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
	"\\bno running processes found\\b(*SKIP)(*FAIL)|"
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
	"corrupt\\w*|dead|nan|weird|strange|odd|xid|warn\\w*|help|reboots|restarts|(?:shuts|powers|turns) "
	"(?:itself )?(?:down|off))\\b|"
	"\\w(?:n't|n\xe2\x80\x99t)\\b|\\b\\d+ (?:out )?of (?:the |my |our )?\\d+\\b";

/*
 * What says that something fails, beyond the "but" and "only" of somebody who wonders. A question
 * whether it is an error says none.
 */
static const char trouble[] =
	"\\b(?:without|no|zero|0)(?: an[dy])?(?: known| further)? (?:issues?|problems?|errors?|"
	"trouble|failures?|warnings?|crash\\w*)\\b(*SKIP)(*FAIL)|"
	"\\b(?:not|n't|never) (?:an? )?(?:errors?|problems?|fail\\w*|crash\\w*|hang\\w*|slow\\w*|"
	"thrott\\w*)\\b(*SKIP)(*FAIL)|"
	"\\b(?:is|are|was|be) [^?\\n]{0,90}\\b(?:an? |any )?(?:errors?|problems?|issues?|bugs?|leaks?|"
	"faults?|failures?)(?: of mine)?\\?(*SKIP)(*FAIL)|"
	"\\b(?:any|some)thing (?:is )?wrong\\b[^?\\n]{0,40}\\?(*SKIP)(*FAIL)|"
	"\\b(?:is|are) (?:it|this|that|there|these) (?:really )?(?:an? |any )?(?:problem|issue|error|bug)s?\\b"
	"[^?\\n]{0,80}\\?(*SKIP)(*FAIL)|"
	"\\bslow(?:down)?\\b[^\\n:]{0,24}:\\s*Not Active(*SKIP)(*FAIL)|"
	"\\b(?:any )?thrott\\w+(?: problem| issue)?\\?(*SKIP)(*FAIL)|"
	"_STATUS_(?!SUCCESS)|\\w*(?:Error|Exception)\\b|\\berrors?\\b(?!\\.[a-z])|\\bexception|fail|crash|unsupported|"
	"incompatib|invalid|illegal|denied|refus|abort|missing|\\bERR!|"
	"\\b(?:hang(?:s|ing)?|hung|stuck|freez\\w*|froze\\w*|slow\\w*|miss(?:ed|es)|unable|lost|gone|"
	"broke\\w*|problems?|issues?|trouble\\w*|kill\\w*|thrott\\w*|timed?[- ]?out|unavailable|"
	"falls? back|falling back|fallback|degrad\\w*|stop(?:s|ped)|lags?|stutter\\w*|halt\\w*|"
	"poor\\w*|worse|low|panic|oops|corrupt\\w*|dead|nan|xid|false|OOM|out of memory|disappear\\w*|"
	"refuse\\w*|instead of (?:the |my )?(?:gpu|cuda)|on (?:the |my )?cpu|cpu[- ]only|wrong|bad)\\b|"
	"(?:\\bnot|n't|n\xe2\x80\x99t|\\bnever|\\bcannot|\\bno longer) (?:\\w+ )?(?:work|us(?:e|ed|ing)\\b|detect|"
	"find|found|recogni|avail|load|start|run|support|compat|install|access|enabl|import|buil[dt]|"
	"compil|match|get (?:it|the gpu|cuda)|respond|boot|display\\b|see (?:the|my|any|both|all))|"
	"\\bno (?:cuda|gpus?|nvidia|devices?|driver|such|module|display|signal|picture|image)\\b|"
	"\\bonly (?:\\w+ )?(?:(?:one|two|three|[1-4]|half)(?: of\\b| gpu| card| device)|sees?\\b|finds?\\b|"
	"detects?\\b|recogni|uses?\\b|works?\\b|the cpu\\b)|\\bwould happen if\\b|\\bwhat if\\b|"
	"\\b\\d+ (?:out )?of (?:the |my |our )?\\d+ (?:gpu|card|device)|\\bcould(?:n't| not)\\b|\\bhelp me\\b|"
	"\\bbut (?:torch|pytorch|tensorflow|jax|python|cuda|the program|my script)\\b";

static const char question[] = "(?:^|[.,;:!)(\"] ?|\\b(?:and|but|so|or) )(?:\\w+,? ){0,3}?"
			       "(?:why|is|are|do|does|did|should|can|could|what|how|which|must|"
			       "will|would|where|am|any|whether)\\b[^\\n?]{2,200}\\?(?![\\w=&])";

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

/* "Normal", "no problem"; and what fails. In Chinese, Korean, Japanese. */
static const char foreign_fine[] =
	"\xe6\xad\xa3\xe5\xb8\xb8|\xe6\xb2\xa1\xe9\x97\xae\xe9\xa2\x98|"
	"\xe6\xb2\xa1\xe6\x9c\x89\xe9\x97\xae\xe9\xa2\x98|"
	"\xec\xa0\x95\xec\x83\x81|\xeb\xac\xb8\xec\xa0\x9c\x20\xec\x97\x86|"
	"\xeb\xac\xb8\xec\xa0\x9c\xec\x97\x86|"
	"\xe5\x95\x8f\xe9\xa1\x8c\xe3\x81\xaa";
static const char foreign_trouble[] =
	"\xe6\x8a\xa5\xe9\x94\x99|\xe5\xa4\xb1\xe8\xb4\xa5|"
	"\xe9\x94\x99\xe8\xaf\xaf|\xe4\xb8\x8d\xe8\x83\xbd|"
	"\xe6\x97\xa0\xe6\xb3\x95|\xe6\x89\xbe\xe4\xb8\x8d\xe5\x88\xb0|"
	"\xe5\xb4\xa9\xe6\xba\x83|\xe5\xbe\x88\xe6\x85\xa2|"
	"\xe4\xb8\x8d\xe6\xad\xa3\xe5\xb8\xb8|"
	"\xe7\x94\xa8\xe4\xb8\x8d\xe4\xba\x86|"
	"\xe4\xb8\x8d\xe5\x8f\xaf\xe7\x94\xa8|\xec\x98\xa4\xeb\xa5\x98|"
	"\xec\x97\x90\xeb\x9f\xac|\xe3\x82\xa8\xe3\x83\xa9\xe3\x83\xbc|"
	"\xe3\x81\xa7\xe3\x81\x8d\xe3\x81\xaa";
/* Ends of questions. */
static const char foreign_asks[] =
	"(?:\\?|\xef\xbc\x9f|\xe5\x90\x97|\xe5\x98\x9b|\xea\xb0\x80\xec\x9a\x94|\xeb\x82\x98\xec\x9a\x94|\xe3\x81\x8b)\\s*$";

static bool foreign_calm(struct paste *p, struct view s)
{
	return paste_match(p, foreign_fine, s, NULL) && !paste_match(p, foreign_trouble, s, NULL);
}

static bool asks(struct paste *p, struct view s)
{
	return is_foreign(s) ? foreign_calm(p, s) && paste_match(p, foreign_asks, s, NULL)
			     : paste_match(p, question, s, NULL);
}

/* A program's line or table is judged by the other rules; here what people and logs say counts. */
static bool troubled(struct paste *p, const struct line *l)
{
	struct view s = l->cmd_at ? remark(line_cmd(l)) : l->s;

	if (!s.n || l->benign)
		return false;
	return s.n > LINE_MOST || (is_foreign(s) && !foreign_calm(p, s)) ||
	       paste_match(p, trouble, s, NULL);
}

/* A question alone shows nothing that could be called healthy. */
static void question_take(struct paste *p)
{
	size_t i, shown = 0, asked = p->t.n;

	if (p->t.n > LINES_MOST)
		return;
	for (i = 0; i < p->t.n; i++) {
		shown += p->t.lines[i].s.n > 0;
		if (troubled(p, &p->t.lines[i]))
			return;
		if (asked == p->t.n && !p->t.lines[i].cmd_at &&
		    asks(p, p->t.lines[i].s))
			asked = i;
	}
	if (asked < p->t.n && shown > 1)
		sign_add(p, "plain-question", asked, p->t.lines[asked].s);
}

void complaint_take(struct paste *p)
{
	size_t i;

	question_take(p);
	for (i = 0; i < p->t.n; i++)
		if (i == LINES_MOST || complains(p, &p->t.lines[i])) {
			sign_add(p, "complaint", i, (struct view){ 0 });
			return;
		}
}
