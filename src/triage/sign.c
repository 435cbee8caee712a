/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the rows of "signatures" in a text: one pass for all literals, then the patterns of those
 * rows alone whose literal stands there. */
#include "triage/sign.h"

#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/regex.h"
#include "triage/book.h"
#include "triage/hearsay.h"

enum {
	SIGNS_PER_ROW = 6,  /* kept; more are counted */
	WORK_PER_ROW = 900, /* matches that are tried, long windows counting more */
	WORK_TOTAL = 90000, /* of all rows; beyond it each may do no more than WORK_LATE */
	WORK_LATE = 100,
	WORK_UNIT = 200, /* bytes */
	GIVE_UPS = 4,	 /* patterns that reach their bounds are not tried further */
	WINDOW = 2000,	 /* bytes of a line, and of those behind it, that a pattern sees */
	WINDOW_LINES = 4,
	TEXT_SHOWN = 300,
};

/* What a row did in this text. */
struct row {
	const struct book_row *b; /* NULL: not tried yet */
	uint32_t tries, gave_up, found;
	size_t last_line; /* + 1: a line counts once */
};

struct scan {
	struct paste *p;
	struct book *book;
	struct row *rows;
	uint32_t *bucket, *next; /* the book's chains, without rows that are done */
	size_t work;		 /* tries of all rows */
	size_t said_line;	 /* + 1: of which `said` was found out */
	struct view said;
	struct err *err;
};

/* -------- a sign of the snapshot */

/* Where one is after it has another name: the command that led there still counts. */
static bool leads_elsewhere(const char *id)
{
	return strncmp(id, "shell-", 6) == 0 || strcmp(id, "slurm-allocation") == 0;
}

static void set_shown(struct paste *p, struct fact *f, struct view v, const char *source)
{
	if (v.n > TEXT_SHOWN)
		v.n = TEXT_SHOWN;
	if (v.n)
		fact_set(f, view_dup(p->a, v), source);
}

/* The command only looks: its answer is short, and says what is meant. */
static bool only_looks(struct view cmd)
{
	static const char *const programs[] = { "cat",	    "echo",  "getenforce", "grep",
						"ls",	    "lsmod", "mokutil",	   "modinfo",
						"readlink", "stat",  "uname",	   "which" };
	struct view word;
	size_t i;

	if (!view_word(&cmd, &word) || (view_is(word, "sudo") && !view_word(&cmd, &word)))
		return false;
	for (i = 0; i < ARRAY_LEN(programs); i++)
		if (view_is(word, programs[i]))
			return true;
	return view_ends(word, "nvcc");
}

/* The line where the hit ends, or the first of the answer to a command that only looks. */
static size_t last_line(const struct paste *p, size_t line, struct view hit)
{
	const struct text *t = &p->t;
	struct view cmd = line_cmd(&t->lines[line]);
	size_t last;

	if (!hit.n || hit.p < t->s.p || hit.p + hit.n > t->s.p + t->s.n)
		return line;
	last = text_line_at(t, (size_t)(hit.p + hit.n - 1 - t->s.p));
	/* Not where the prompt is what was noticed. */
	if (last <= line && cmd.n && hit.p + hit.n > cmd.p && only_looks(cmd))
		for (last = line + 1; last < t->n && !t->lines[last].s.n;)
			last++;
	while (last > line && last < t->n && !t->lines[last].s.n)
		last--;
	return last < t->n && last > line && !t->lines[last].cmd_at &&
			       t->lines[last].file == t->lines[line].file
		       ? last
		       : line;
}

static void sign_add_hit(struct paste *p, const char *id, size_t line, struct view value,
			 struct view hit)
{
	const char *source;
	struct view text;
	uint32_t number;
	struct sign *g;
	size_t last;

	if (!p->t.n || p->s->n_signs >= 2000 || p->filling || hearsay(p, line, value.p))
		return;
	if (strncmp(id, "cuda-available-", 15) == 0 && paste_foreign(p, line, SCOPE_ENV))
		id = arena_printf(p->a, "other-%s", id);
	else if (!leads_elsewhere(id) && paste_foreign(p, line, SCOPE_ENV) &&
		 owner_other_machine(&p->owners, p->t.lines[line].owner))
		return;
	text = text_piece(&p->t, line, hit, &number);
	source = paste_source_at(p, line, number);
	last = last_line(p, line, hit);
	g = ARENA_APPEND(p->a, p->s->signs, p->s->n_signs);
	fact_set(&g->id, id, source);
	fact_set(&g->text,
		 view_dup(p->a, text.n > TEXT_SHOWN ? (struct view){ text.p, TEXT_SHOWN } : text),
		 source);
	if (last > line)
		set_shown(p, &g->end, p->t.lines[last].s, paste_source(p, last));
	set_shown(p, &g->value, value, source);
}

void sign_add(struct paste *p, const char *id, size_t line, struct view value)
{
	sign_add_hit(p, id, line, value, value);
}

bool sign_match(struct paste *p, const char *id, const char *pattern, struct view s, size_t line)
{
	struct regex_match m;
	bool found = paste_match(p, pattern, s, &m);

	if (found)
		sign_add(p, id, line, m.group[1]);
	return found;
}

/* -------- one candidate */

/* The line and a few behind it, since messages wrap; of an endless line the part around the hit. */
static struct view window_of(const struct paste *p, size_t line, size_t at)
{
	const struct text *t = &p->t;
	size_t start = (size_t)(t->lines[line].s.p - t->s.p), last = line, end;

	if (at > start + WINDOW / 2)
		start = at - WINDOW / 2;
	while (last + 1 < t->n && last < line + WINDOW_LINES)
		last++;
	end = (size_t)(t->lines[last].s.p - t->s.p) + t->lines[last].s.n;
	if (end > start + WINDOW)
		end = start + WINDOW;
	if (end < start)
		end = start;
	return (struct view){ .p = t->s.p + start, .n = end - start };
}

/*
 * "`lsmod | grep nvidia` returns nothing", "$ lspci | grep -i nvidia   # empty": the part before
 * the phrase, which is empty where nobody says so, or where it is only supposed.
 */
static struct view said_silent(struct scan *s, size_t line)
{
	static const char phrase[] =
		"^(.{4,400}?)[`'\")\\]\\s,]*(?:(?:also |still |just |only )*(?:gives?|returns?|"
		"returned|shows?|showed|prints?|outputs?|lists?|has|yields?|reports?|gave|is|was|comes "
		"back|produces?|says)\\s+(?:me |us |back |just |absolutely |literally )*(?:nothing|no "
		"(?:output|results?|lines?|entr\\w+|match\\w*)|empty|blank|zilch)|(?:->|=>|:|#|-|\xe2\x86\x92)"
		"\\s*[(<]?(?:nothing|no output|empty|blank|none\\b)|\\(\\s*(?:nothing|no output|empty|"
		"blank)|(?:liefert|ergibt|zeigt) (?:nichts|keine)|ne (?:renvoie|retourne|donne) rien|no "
		"(?:devuelve|muestra) nada|\xe6\xb2\xa1\xe6\x9c\x89(?:\xe4\xbb\xbb\xe4\xbd\x95)?"
		"\xe8\xbe\x93\xe5\x87\xba|\xe6\x97\xa0\xe8\xbe\x93\xe5\x87\xba|"
		"\xec\x95\x84\xeb\xac\xb4 ?\xea\xb2\x83\xeb\x8f\x84|\xec\xb6\x9c\xeb\xa0\xa5"
		"(?:\xec\x9d\xb4|\xec\x9d\x80)? ?\xec\x97\x86)";
	struct view l = s->p->t.lines[line].s;
	struct regex_match m;

	if (!paste_match(s->p, phrase, l, &m) ||
	    paste_match(s->p, "\\b(?:if|when|whether|should|unless|until)\\b", m.group[1], NULL))
		return (struct view){ 0 };
	return m.group[1];
}

static bool place_fits(struct scan *s, struct row *row, size_t line, struct view *ret_said)
{
	const struct line *l = &s->p->t.lines[line];
	struct regex_match m;

	if (row->b->where == ON_SILENT && (!l->cmd_at || !text_silent(&s->p->t, line))) {
		/* Several rows ask it of one line. */
		if (s->said_line != line + 1)
			s->said = said_silent(s, line);
		s->said_line = line + 1;
		*ret_said = s->said;
	}
	if (row->b->where != ON_LINE && !l->cmd_at && !ret_said->n)
		return false;
	if (row->b->where == ON_SILENT && !ret_said->n && !text_silent(&s->p->t, line))
		return false;
	if (!row->b->under)
		return true;
	if (l->by == NO_COMMAND)
		return false;
	return regex_find(row->b->under, line_cmd(&s->p->t.lines[l->by]), 0, &m) == REGEX_YES;
}

static void take_facts(struct scan *s, struct row *row, const struct regex_match *m, size_t line)
{
	const struct json *v;
	int64_t group;

	for (v = json_first(row->b->facts); v; v = json_next(v)) {
		const char *text = json_str(v);

		if (json_int(v, &group) && group >= 0 && (size_t)group < m->n)
			paste_fact(s->p, json_key(v), view_trim(m->group[group]), line);
		else if (text)
			paste_fact(s->p, json_key(v), view_of(text), line);
	}
}

/* Is the row known by this name: its own, or one that it shares with others? */
static bool is_called(const struct book_row *b, const char *name)
{
	const struct json *v;

	if (strcmp(b->id, name) == 0)
		return true;
	for (v = json_first(b->tags); v; v = json_next(v))
		if (json_str(v) && strcmp(json_str(v), name) == 0)
			return true;
	return false;
}

/* That something works elsewhere does not speak for the one that fails. */
static bool counts(const struct scan *s, const struct row *row, size_t line)
{
	if (!paste_foreign(s->p, line, SCOPE_ENV))
		return true;
	return !owner_other_machine(&s->p->owners, s->p->t.lines[line].owner) &&
	       !is_called(row->b, "works") && !is_called(row->b, "cuda-works") &&
	       !is_called(row->b, "smi-said-ok");
}

static void keep(struct scan *s, struct row *row, const struct regex_match *m, size_t line,
		 struct view hit)
{
	struct view value = { 0 };
	size_t i;

	if (!counts(s, row, line))
		return;

	for (i = 1; i < m->n && !value.n; i++)
		value = view_trim(m->group[i]);
	row->found++;
	if (row->found <= SIGNS_PER_ROW) {
		sign_add_hit(s->p, row->b->id, line, value, hit);
		take_facts(s, row, m, line);
	}
}

/* The lines of the message. */
static void mark_benign(struct text *t, size_t line, struct view hit)
{
	const char *end = hit.p + hit.n;

	do
		t->lines[line++].benign = true;
	while (line < t->n && t->lines[line].s.p < end);
}

static int try_row(struct scan *s, struct row *row, size_t at)
{
	struct regex_match m = { .n = 0 };
	struct view win, said = { 0 }, hit = { .p = s->p->t.s.p + at, .n = 1 };
	size_t line;

	row->tries++;
	s->work++;
	line = text_line_at(&s->p->t, at);
	if (row->last_line == line + 1)
		return 0;
	if (book_row(s->p->c, s->book, (size_t)(row - s->rows), &row->b, s->err))
		return -(int)ERR_DATA;
	if (!place_fits(s, row, line, &said))
		return 0;
	if (row->b->re) {
		win = said.n ? said : window_of(s->p, line, at);
		row->tries += (uint32_t)(win.n / WORK_UNIT);
		s->work += win.n / WORK_UNIT;
		switch (regex_find(row->b->re, win, 0, &m)) {
		case REGEX_GAVE_UP:
			row->gave_up++;
			return 0;
		case REGEX_NO:
			return 0;
		case REGEX_YES:
			break;
		}
		/* A match that begins on a later line is that line's. */
		if (win.p + m.start > s->p->t.lines[line].s.p + s->p->t.lines[line].s.n)
			return 0;
		hit = (struct view){ .p = win.p + m.start, .n = m.end - m.start };
	}
	row->last_line = line + 1;
	if (row->b->benign && !said.n)
		mark_benign(&s->p->t, line, hit);
	if (!hearsay(s->p, line, s->p->t.s.p + at))
		keep(s, row, &m, line, hit);
	return 0;
}

/* -------- the pass */

/*
 * Does the literal stand around `at`, where its four bytes are?  A blank of it is any run of blanks
 * and line ends, since messages wrap and are indented. Returns where it begins.
 */
static bool literal_at(const unsigned char *folded, const struct literal *l, struct view t,
		       size_t at, size_t *ret_start)
{
	const unsigned char *lit = (const unsigned char *)l->s.p,
			    *text = (const unsigned char *)t.p;
	size_t i, k = at;

	for (i = l->at; i < l->s.n; i++, k++) {
		if (k >= t.n || folded[text[k]] != folded[lit[i]])
			return false;
		while (lit[i] == ' ' && k + 1 < t.n && folded[text[k + 1]] == ' ')
			k++;
	}
	for (i = l->at, k = at; i > 0; i--) {
		if (!k || folded[text[k - 1]] != folded[lit[i - 1]])
			return false;
		k--;
		while (lit[i - 1] == ' ' && k && folded[text[k - 1]] == ' ')
			k--;
	}
	*ret_start = k;
	return true;
}

/* What says no ill is looked for to the end: each of its lines is to be told from a complaint. */
static bool spent(const struct scan *s, const struct row *row)
{
	size_t most = s->work > WORK_TOTAL ? WORK_LATE : WORK_PER_ROW;

	return (row->found >= SIGNS_PER_ROW && !row->b->benign) || row->tries >= most ||
	       row->gave_up >= GIVE_UPS;
}

/* Rows that are done with leave the chain, so that a text of nothing but hits stays cheap. */
static int try_at(struct scan *s, uint32_t *chain, uint32_t word, size_t at)
{
	size_t start;
	int r = 0;

	while (*chain && !r) {
		const struct literal *l = &s->book->literals[*chain - 1];
		uint32_t *next = &s->next[*chain - 1];

		if (l->word == word) {
			if (spent(s, &s->rows[l->row])) {
				*chain = *next;
				continue;
			}
			if (literal_at(s->book->folded, l, s->p->t.s, at, &start))
				r = try_row(s, &s->rows[l->row], start);
		}
		chain = next;
	}
	return r;
}

static void begin(struct scan *s)
{
	const struct book *b = s->book;
	struct arena *a = s->p->a;
	size_t i;

	s->rows = arena_calloc(a, b->n_rows + 1, sizeof(*s->rows));
	s->bucket = arena_alloc(a, sizeof(b->bucket));
	memcpy(s->bucket, b->bucket, sizeof(b->bucket));
	s->next = arena_calloc(a, b->n_literals + 1, sizeof(*s->next));
	for (i = 0; i < b->n_literals; i++)
		s->next[i] = b->literals[i].next;
}

int sign_scan(struct paste *p, struct err *err)
{
	struct scan s = { .p = p, .err = err };
	struct view t = p->t.s;
	uint32_t w = 0, *chain;
	size_t i;
	int r = paste_book(p, err);

	if (r || !p->t.n)
		return r;
	s.book = p->book;
	begin(&s);
	for (i = 0; i < t.n && !r; i++) {
		w = w << 8 | s.book->folded[(unsigned char)t.p[i]];
		if (i + 1 < LITERAL_MIN)
			continue;
		chain = &s.bucket[book_hash(w)];
		if (*chain)
			r = try_at(&s, chain, w, i + 1 - LITERAL_MIN);
	}
	return r;
}

/* -------- signs */

static struct sign *sign_last(const struct paste *p, const char *id)
{
	size_t i;

	for (i = p->s->n_signs; i > 0; i--)
		if (strcmp(p->s->signs[i - 1].id.value, id) == 0)
			return &p->s->signs[i - 1];
	return NULL;
}

bool sign_has(const struct paste *p, const char *id)
{
	return sign_last(p, id) != NULL;
}

const char *sign_value(const struct paste *p, const char *id)
{
	const struct sign *g = sign_last(p, id);

	return g ? fact_value(&g->value, NULL) : NULL;
}
