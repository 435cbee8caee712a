/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts a cleaned text into lines, and says which command a line is the output of. */
#include "triage/text.h"

#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/regex.h"

/* -------- commands without a prompt */

/* Whole lines that nobody writes but as a command, though its prompt was not copied. */
static const char bare[] =
	"^(?:sudo )?(?:nvidia-smi(?: -{1,2}[\\w-]+(?:=\\S+)?| topo -m)*|uname -[a-z]+|dkms status|"
	"mokutil --sb-state|nvcc (?:--version|-V)|echo \"?\\$\\{?[A-Z_]+\\}?\"?|"
	"(?:lsmod|dmesg|journalctl|lspci|dpkg -l|ldconfig -p|env|printenv|pip3? (?:list|freeze)|"
	"conda list|rpm -qa)(?: -\\S+)*(?: ?\\| ?(?:grep|findstr|Select-String|rg)(?: [-/]\\S+)* "
	"(?:\"[^\"]*\"|'[^']*'|[^\\s|]+))+|"
	"ls(?: -\\w+)*(?: [/$~]\\S+)+(?: ?\\| ?grep(?: -\\S+)* [^\\s|]+)?|"
	"cat /(?:proc|sys|etc|dev|usr)/\\S+|which(?: -a)? [\\w-]+|"
	"find [/~]\\S* -i?name \\S+(?: 2> ?/dev/null)?|locate [\\w./*-]+|whereis [\\w.-]+|"
	"readlink(?: -\\w+)* /\\S+|ldd /\\S+|"
	"modinfo nvidia\\w*|pip3? show [\\w-]+|pip3? (?:list|freeze)|conda list|"
	"python3? -m torch\\.utils\\.collect_env|(?:(?:uv|poetry|pixi|pdm|conda) run (?:-n \\S+ )?)?"
	"(?:\\S+[\\\\/])?python3?(?:\\.exe)? (?:-\\w )?-c (?:\"[^\"]*\"|'[^']*')|"
	"wsl (?:-l -v|--list --verbose|--version|--status)|getenforce|"
	"(?:kubectl|docker|podman|nomad) logs(?: -\\S+)*(?: [\\w/.-]+){1,3})$";

/* One text being cut. */
struct cutter {
	struct text *t;
	struct regex *bare; /* NULL: none */
	size_t tried;	    /* how often */
	int32_t by;	    /* the command that is in force, or NO_COMMAND */
};

static bool is_bare(struct cutter *c, struct view v)
{
	enum { TRIES_MAX = 40000 }; /* more are no paste but a log of such lines */
	struct regex_match m;

	if (!c->bare || v.n < 7 || v.n > 160)
		return false;
	if (!(islower((unsigned char)v.p[0]) && text_is_program(v)) && view_find(v, "python") < 0)
		return false;
	return c->tried++ < TRIES_MAX && regex_find(c->bare, v, 0, &m) == REGEX_YES;
}

/* -------- lines */

/* Quotation marks of mail and Markdown; ">>>" is Python's prompt. */
static struct view unquote(struct view v)
{
	while (v.n && v.p[0] == '>' && !view_starts(v, ">>>") &&
	       (v.n == 1 || v.p[1] == ' ' || v.p[1] == '>'))
		v = view_trim(view_skip(v, 1));
	if (v.n > 2 && v.p[0] == '`' && v.p[v.n - 1] == '`' && v.p[1] != '`')
		v = (struct view){ .p = v.p + 1, .n = v.n - 2 };
	return v;
}

/* "- [ ] WSL 1" of a form: what does not hold. */
static bool is_unticked(struct view v)
{
	return view_starts(v, "- [ ] ") || view_starts(v, "* [ ] ") || view_starts(v, "[ ] ");
}

static bool is_fence(struct view v)
{
	return view_starts(v, "```") || view_starts(v, "~~~");
}

static void add_line(struct cutter *c, struct view s, uint32_t number)
{
	struct text *t = c->t;
	struct view cmd;
	struct line *l;

	if (t->n >= TEXT_LINES_MAX) {
		t->cut = true;
		return;
	}
	s = text_unlogged(unquote(view_trim(s)));
	if (is_unticked(s))
		s.n = 0;
	if (is_fence(s)) {
		c->by = NO_COMMAND;
		s.n = 0;
	}
	l = &t->lines[t->n++];
	*l = (struct line){
		.s = s, .number = number, .by = c->by, .file = (uint16_t)(t->n_files - 1)
	};
	cmd = text_prompt(s);
	if (cmd.n && cmd.p > s.p && cmd.p - s.p < UINT16_MAX) {
		l->cmd_at = (uint16_t)(cmd.p - s.p);
		c->by = (int32_t)(t->n - 1);
		l->by = NO_COMMAND;
	} else if (is_bare(c, s)) {
		l->cmd_at = CMD_BARE;
		c->by = (int32_t)(t->n - 1);
		l->by = NO_COMMAND;
	}
}

/* Room for as many lines as there are ends of lines. */
static void reserve(struct arena *a, struct text *t, const char *s, size_t n)
{
	size_t i, more = 1;

	for (i = 0; i < n; i++)
		more += s[i] == '\n' || s[i] == '\v';
	if (t->n + more > TEXT_LINES_MAX)
		more = TEXT_LINES_MAX - t->n;
	t->lines = arena_grow(a, t->lines, t->n * sizeof(*t->lines),
			      (t->n + more) * sizeof(*t->lines));
}

/* Marks of quotation become blanks, so that what a mail program broke in two can be read as one. */
static void blank_quotes(char *s, size_t n)
{
	size_t i;

	for (i = 0; i < n && (s[i] == ' ' || s[i] == '>'); i++) {
		if (s[i] == ' ')
			continue;
		if (n - i >= 3 && memcmp(s + i, ">>>", 3) == 0)
			return;
		if (i + 1 < n && s[i + 1] != ' ' && s[i + 1] != '>')
			return;
		s[i] = ' ';
	}
}

static void blank_all_quotes(char *s, size_t n)
{
	size_t i, start = 0;

	for (i = 0; i <= n; i++) {
		if (i < n && s[i] != '\n' && s[i] != '\v')
			continue;
		blank_quotes(s + start, i - start);
		start = i + 1;
	}
}

static void split(struct arena *a, struct cutter *c, size_t from, char *s, size_t n)
{
	struct text *t = c->t;
	size_t i, was, start = from;
	uint32_t number = 1, later = 0;
	bool inside = false;

	for (i = from; i <= n; i++) {
		if (i < n && s[i] == '\r') { /* an end that was taken out, before or in the line */
			s[i] = ' ';
			if (inside) {
				*ARENA_APPEND(a, t->joints, t->n_joints) = (uint32_t)i;
				later++;
			} else {
				number++;
			}
		}
		inside |= i < n && s[i] != ' ';
		if (i < n && s[i] != '\n' && s[i] != '\v')
			continue;
		was = t->n;
		if (!t->service_line &&
		    text_of_service(view_trim((struct view){ .p = s + start, .n = i - start })))
			t->service_line = was + 1;
		add_line(c, (struct view){ .p = s + start, .n = i - start }, number);
		if (t->n > was && t->lines[was].s.n)
			text_blank_log(s + start, t->lines[was].s.p);
		number += later + (i < n && s[i] == '\n');
		later = 0;
		inside = false;
		if (i < n)
			s[i] = '\n';
		start = i + 1;
	}
}

void text_add(struct arena *a, struct text *t, const char *name, struct view raw)
{
	struct view more = text_clean(text_unescape(text_decode(a, raw)));
	size_t i, from = 0;
	char *s = (char *)(uintptr_t)more.p;
	struct cutter c = { .t = t, .by = NO_COMMAND };

	if (regex_new(a, bare, &c.bare, NULL))
		c.bare = NULL;

	*ARENA_APPEND(a, t->files, t->n_files) = name ? name : "pasted";
	if (t->s.n) {
		/* Earlier lines keep pointing into the older copy, whose bytes are the same. */
		from = t->s.n + 1;
		s = arena_alloc(a, from + more.n + 1);
		memcpy(s, t->s.p, t->s.n);
		s[t->s.n] = '\n';
		memcpy(s + from, more.p, more.n);
		for (i = 0; i < t->n; i++)
			t->lines[i].s.p = s + (t->lines[i].s.p - t->s.p);
	}
	blank_all_quotes(s + from, more.n);
	text_mend_ocr(s + from, more.n);
	text_blank_examples(s + from, more.n);
	text_blank_advice(s + from, more.n);
	text_unmargin(s + from, more.n);
	text_unwrap(s + from, more.n);
	reserve(a, t, s + from, more.n);
	split(a, &c, from, s, from + more.n);
	t->s = (struct view){ .p = s, .n = from + more.n };
}

const char *text_source_at(struct arena *a, const struct text *t, size_t line, uint32_t number)
{
	const struct line *l = &t->lines[line < t->n ? line : t->n - 1];

	return arena_printf(a, "%s line %u", t->n_files > 1 ? t->files[l->file] : "pasted",
			    (unsigned)number);
}

const char *text_source(struct arena *a, const struct text *t, size_t line)
{
	return text_source_at(a, t, line, t->lines[line < t->n ? line : t->n - 1].number);
}

/* The first joint at or behind the place. */
static size_t joint_from(const struct text *t, size_t at)
{
	size_t lo = 0, hi = t->n_joints, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (t->joints[mid] < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct view text_piece(const struct text *t, size_t line, struct view hit, uint32_t *ret_number)
{
	const struct line *l = &t->lines[line];
	size_t from = (size_t)(l->s.p - t->s.p), to = from + l->s.n, i, at, end;

	*ret_number = l->number;
	if (!hit.p || hit.p < l->s.p || hit.p >= l->s.p + l->s.n)
		return l->s;
	at = (size_t)(hit.p - t->s.p);
	end = at + hit.n;
	for (i = joint_from(t, from); i < t->n_joints && t->joints[i] < to; i++) {
		if (t->joints[i] >= end) {
			to = t->joints[i];
			break;
		}
		if (t->joints[i] <= at) {
			from = t->joints[i] + 1;
			++*ret_number;
		}
	}
	return view_trim((struct view){ .p = t->s.p + from, .n = to - from });
}

bool text_fence(const struct text *t, size_t i, struct view *ret_info)
{
	const struct line *l = &t->lines[i];
	struct view v = { .p = l->s.p, .n = (size_t)(t->s.p + t->s.n - l->s.p) };
	size_t n = 0;

	if (l->s.n || !is_fence(v))
		return false;
	while (n < v.n && n < 60 && v.p[n] != '\n')
		n++;
	v.n = n;
	if (ret_info)
		*ret_info = view_trim(view_skip(v, 3));
	return true;
}

size_t text_line_at(const struct text *t, size_t at)
{
	size_t lo = 0, hi = t->n, mid;
	const char *p = t->s.p + at;

	while (lo + 1 < hi) {
		mid = lo + (hi - lo) / 2;
		if (t->lines[mid].s.p <= p)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* A prompt at which nothing was typed: "$", "me@box:~$", "PS C:\\>", ">>>". */
static bool bare_prompt(struct view s)
{
	if (!s.n || s.n > 80 || !strchr("$#%>", s.p[s.n - 1]))
		return false;
	return s.n == 1 || view_is(s, ">>>") || view_starts(s, "PS ") ||
	       (s.n > 3 && s.p[1] == ':' && s.p[2] == '\\') || view_starts(s, "sh-") ||
	       view_starts(s, "bash-") ||
	       (view_chr(s, '@') > 0 && (view_chr(s, ' ') < 0 || s.p[0] == '['));
}

bool text_silent(const struct text *t, size_t i)
{
	size_t k;
	bool sure = t->lines[i].cmd_at != CMD_BARE; /* a list of commands has no answers */

	for (k = i + 1; k < t->n && t->lines[k].file == t->lines[i].file; k++) {
		if (t->lines[k].cmd_at || bare_prompt(t->lines[k].s))
			return sure;
		if (t->lines[k].s.n)
			return view_starts(t->lines[k].s, "# ") ||
			       view_starts(t->lines[k].s, "(no ") ||
			       view_starts(t->lines[k].s, "(empty") ||
			       view_starts(t->lines[k].s, "(nothing") ||
			       view_starts(t->lines[k].s, "<no output");
	}
	return sure;
}
