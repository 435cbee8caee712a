/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the rows of "signatures" in a text: one pass for all literals, then the patterns of those
 * rows alone whose literal stands there. */
#include "triage/sign.h"

#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/regex.h"

#define TABLE "signatures"

enum {
	BUCKETS = 1 << 14,
	LITERAL_MIN = 4,
	SIGNS_PER_ROW = 6,   /* kept; more are counted */
	WORK_PER_ROW = 900,  /* matches that are tried, long windows counting more */
	WORK_TOTAL = 150000, /* of all rows; beyond it each may do no more than WORK_LATE */
	WORK_LATE = 100,
	WORK_UNIT = 200, /* bytes */
	GIVE_UPS = 4,	 /* patterns that reach their bounds are not tried further */
	WINDOW = 2000,	 /* bytes of a line, and of those behind it, that a pattern sees */
	WINDOW_LINES = 4,
	TEXT_SHOWN = 300,
};

enum where { ON_LINE, ON_COMMAND, ON_SILENT };

struct literal {
	struct view s;
	uint32_t row, next; /* next: index + 1 in its bucket's chain */
	uint32_t at;	    /* of the four bytes by which it is found */
};

struct row {
	const struct json *json;
	const char *id;
	const char *pattern, *under_pattern;
	struct regex *re, *under;
	enum where where;
	uint32_t tries, gave_up, found;
	size_t last_line; /* + 1: a line counts once */
};

struct scan {
	struct paste *p;
	struct row *rows;
	size_t n_rows;
	struct literal *literals;
	size_t n_literals;
	uint32_t *bucket;
	uint16_t *length; /* of each chain */
	size_t work;	  /* tries of all rows */
	struct err *err;
};

/* -------- the table */

static unsigned char fold(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (unsigned char)(c + 32);
	return c == '\n' || c == '\t' ? ' ' : (unsigned char)c;
}

static uint32_t hash4(uint32_t w)
{
	return (w * 2654435761u) >> 18;
}

static uint32_t word_of(const char *p)
{
	return (uint32_t)fold(p[0]) << 24 | (uint32_t)fold(p[1]) << 16 | (uint32_t)fold(p[2]) << 8 |
	       fold(p[3]);
}

/* Where in it the four bytes stand that fewest others are found by: many begin alike. */
static size_t rarest(const struct scan *s, struct view lit)
{
	size_t i, best = 0;

	for (i = 1; i + LITERAL_MIN <= lit.n; i++)
		if (s->length[hash4(word_of(lit.p + i))] < s->length[hash4(word_of(lit.p + best))])
			best = i;
	return best;
}

static int add_literals(struct scan *s, uint32_t row)
{
	const struct json *v;

	for (v = json_first(json_get(s->rows[row].json, "any")); v; v = json_next(v)) {
		struct view lit = view_of(json_str(v));
		struct literal *l;
		uint32_t h;
		size_t at;

		if (lit.n < LITERAL_MIN)
			return err_set(s->err, ERR_DATA,
				       "%s %s: a literal of \"any\" needs %d bytes", TABLE,
				       s->rows[row].id, LITERAL_MIN);
		l = ARENA_APPEND(s->p->a, s->literals, s->n_literals);
		at = rarest(s, lit);
		h = hash4(word_of(lit.p + at));
		*l = (struct literal){
			.s = lit, .row = row, .next = s->bucket[h], .at = (uint32_t)at
		};
		s->length[h]++;
		s->bucket[h] = (uint32_t)s->n_literals;
	}
	return 0;
}

static int load(struct scan *s)
{
	size_t i, n = compat_count(s->p->c, TABLE);
	int r = 0;

	s->rows = arena_calloc(s->p->a, n + 1, sizeof(*s->rows));
	s->bucket = arena_calloc(s->p->a, BUCKETS, sizeof(*s->bucket));
	s->length = arena_calloc(s->p->a, BUCKETS, sizeof(*s->length));
	for (i = 0; i < n && !r; i++) {
		struct row *row = &s->rows[i];
		const char *on;

		row->json = compat_row(s->p->c, TABLE, i);
		row->id = json_get_str(row->json, "id");
		row->pattern = json_get_str(row->json, "pattern");
		row->under_pattern = json_get_str(row->json, "under");
		on = json_get_str(row->json, "on");
		row->where = !on ? ON_LINE : strcmp(on, "silent") == 0 ? ON_SILENT : ON_COMMAND;
		if (!row->id)
			return err_set(s->err, ERR_DATA, "%s row %zu: no id", TABLE, i);
		r = add_literals(s, (uint32_t)i);
	}
	s->n_rows = n;
	return r;
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

static int compile(struct scan *s, struct row *row)
{
	struct err e;

	if (row->pattern && !row->re && regex_new(s->p->a, row->pattern, &row->re, &e))
		return err_set(s->err, ERR_DATA, "%s %s: %.300s", TABLE, row->id, e.msg);
	if (row->under_pattern && !row->under &&
	    regex_new(s->p->a, row->under_pattern, &row->under, &e))
		return err_set(s->err, ERR_DATA, "%s %s: %.300s", TABLE, row->id, e.msg);
	return 0;
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

	if (row->where == ON_SILENT && (!l->cmd_at || !text_silent(&s->p->t, line)))
		*ret_said = said_silent(s, line);
	if (row->where != ON_LINE && !l->cmd_at && !ret_said->n)
		return false;
	if (row->where == ON_SILENT && !ret_said->n && !text_silent(&s->p->t, line))
		return false;
	if (!row->under)
		return true;
	if (l->by == NO_COMMAND)
		return false;
	return regex_find(row->under, line_cmd(&s->p->t.lines[l->by]), 0, &m) == REGEX_YES;
}

static void take_facts(struct scan *s, struct row *row, const struct regex_match *m, size_t line)
{
	const struct json *v;
	int64_t group;

	for (v = json_first(json_get(row->json, "facts")); v; v = json_next(v)) {
		const char *text = json_str(v);

		if (json_int(v, &group) && group >= 0 && (size_t)group < m->n)
			paste_fact(s->p, json_key(v), view_trim(m->group[group]), line);
		else if (text)
			paste_fact(s->p, json_key(v), view_of(text), line);
	}
}

/* That something works elsewhere does not speak for the one that fails. */
static bool counts(const struct scan *s, const struct row *row, size_t line)
{
	static const char *const works[] = { "works", "cuda-works", "smi-said-ok" };
	const struct json *v;
	size_t i;

	if (!paste_foreign(s->p, line, SCOPE_ENV))
		return true;
	if (owner_other_machine(&s->p->owners, s->p->t.lines[line].owner))
		return false;
	for (v = json_first(json_get(row->json, "tags")); v; v = json_next(v))
		for (i = 0; i < ARRAY_LEN(works); i++)
			if (json_str(v) && strcmp(json_str(v), works[i]) == 0)
				return false;
	return true;
}

static void keep(struct scan *s, struct row *row, const struct regex_match *m, size_t line)
{
	struct view value = { 0 };
	size_t i;

	if (!counts(s, row, line))
		return;

	for (i = 1; i < m->n && !value.n; i++)
		value = view_trim(m->group[i]);
	row->found++;
	if (row->found <= SIGNS_PER_ROW) {
		sign_add(s->p, row->id, line, value);
		take_facts(s, row, m, line);
	}
}

static int try_row(struct scan *s, struct row *row, size_t at)
{
	struct regex_match m = { .n = 0 };
	struct view win, said = { 0 };
	size_t line;

	row->tries++;
	s->work++;
	line = text_line_at(&s->p->t, at);
	if (row->last_line == line + 1)
		return 0;
	if (compile(s, row))
		return -(int)ERR_DATA;
	if (!place_fits(s, row, line, &said))
		return 0;
	if (row->re) {
		win = said.n ? said : window_of(s->p, line, at);
		row->tries += (uint32_t)(win.n / WORK_UNIT);
		s->work += win.n / WORK_UNIT;
		switch (regex_find(row->re, win, 0, &m)) {
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
	}
	row->last_line = line + 1;
	keep(s, row, &m, line);
	return 0;
}

/* -------- the pass */

/*
 * Does the literal stand around `at`, where its four bytes are?  A blank of it is any run of blanks
 * and line ends, since messages wrap and are indented. Returns where it begins.
 */
static bool literal_at(const struct literal *l, struct view t, size_t at, size_t *ret_start)
{
	size_t i, k = at;

	for (i = l->at; i < l->s.n; i++, k++) {
		if (k >= t.n || fold(t.p[k]) != fold(l->s.p[i]))
			return false;
		while (l->s.p[i] == ' ' && k + 1 < t.n && fold(t.p[k + 1]) == ' ')
			k++;
	}
	for (i = l->at, k = at; i > 0; i--) {
		if (!k || fold(t.p[k - 1]) != fold(l->s.p[i - 1]))
			return false;
		k--;
		while (l->s.p[i - 1] == ' ' && k && fold(t.p[k - 1]) == ' ')
			k--;
	}
	*ret_start = k;
	return true;
}

static bool spent(const struct scan *s, const struct row *row)
{
	size_t most = s->work > WORK_TOTAL ? WORK_LATE : WORK_PER_ROW;

	return row->found >= SIGNS_PER_ROW || row->tries >= most || row->gave_up >= GIVE_UPS;
}

/* Rows that are done with leave the chain, so that a text of nothing but hits stays cheap. */
static int try_at(struct scan *s, uint32_t *chain, size_t at)
{
	struct view t = s->p->t.s;
	size_t start;
	int r = 0;

	while (*chain && !r) {
		struct literal *l = &s->literals[*chain - 1];

		if (spent(s, &s->rows[l->row])) {
			*chain = l->next;
			continue;
		}
		if (literal_at(l, t, at, &start))
			r = try_row(s, &s->rows[l->row], start);
		chain = &l->next;
	}
	return r;
}

int sign_scan(struct paste *p, struct err *err)
{
	struct scan s = { .p = p, .err = err };
	struct view t = p->t.s;
	uint32_t w = 0, *chain;
	size_t i;
	int r = load(&s);

	if (r)
		return r;
	if (!p->t.n)
		return 0;
	for (i = 0; i < t.n; i++) {
		w = w << 8 | fold(t.p[i]);
		if (i + 1 < LITERAL_MIN)
			continue;
		chain = &s.bucket[hash4(w)];
		if (!*chain)
			continue;
		r = try_at(&s, chain, i + 1 - LITERAL_MIN);
		if (r)
			return r;
	}
	return 0;
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

/* Where one is after it has another name: the command that led there still counts. */
static bool leads_elsewhere(const char *id)
{
	return strncmp(id, "shell-", 6) == 0 || strcmp(id, "slurm-allocation") == 0;
}

void sign_add(struct paste *p, const char *id, size_t line, struct view value)
{
	const char *source;
	struct view text;
	struct sign *g;

	if (!p->t.n || p->s->n_signs >= 2000 || p->filling)
		return;
	if (strncmp(id, "cuda-available-", 15) == 0 && paste_foreign(p, line, SCOPE_ENV))
		id = arena_printf(p->a, "other-%s", id);
	else if (!leads_elsewhere(id) && paste_foreign(p, line, SCOPE_ENV) &&
		 owner_other_machine(&p->owners, p->t.lines[line].owner))
		return;
	source = paste_source(p, line);
	text = p->t.lines[line].s;
	if (text.n > TEXT_SHOWN)
		text.n = TEXT_SHOWN;
	g = ARENA_APPEND(p->a, p->s->signs, p->s->n_signs);
	fact_set(&g->id, id, source);
	fact_set(&g->text, view_dup(p->a, text), source);
	if (value.n)
		fact_set(&g->value,
			 view_dup(p->a, value.n > TEXT_SHOWN ? (struct view){ value.p, TEXT_SHOWN }
							     : value),
			 source);
}
