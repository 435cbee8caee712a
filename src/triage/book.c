/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the rows, finds the four bytes of each literal by which fewest others are found. */
#include "triage/book.h"

#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/regex.h"
#include "compat/compat.h"

#define TABLE "signatures"

/* Case does not matter, and a blank is a blank. */
static void fold_all(unsigned char folded[256])
{
	size_t c;

	for (c = 0; c < 256; c++)
		folded[c] = (unsigned char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
	folded['\n'] = folded['\t'] = ' ';
}

/* Many literals begin alike: `length` is that of each chain so far. */
static void choose_word(const struct book *b, const uint16_t *length, struct literal *l)
{
	uint32_t word = 0, fewest = UINT32_MAX;
	size_t i;

	for (i = 0; i < l->s.n; i++) {
		word = word << 8 | b->folded[(unsigned char)l->s.p[i]];
		if (i + 1 < LITERAL_MIN || length[book_hash(word)] >= fewest)
			continue;
		fewest = length[book_hash(word)];
		l->word = word;
		l->at = (uint32_t)(i + 1 - LITERAL_MIN);
		if (!fewest)
			break;
	}
}

static int add_literal(struct arena *a, struct book *b, struct view s, uint16_t *length,
		       struct err *err)
{
	struct literal *l, lit = { .s = s, .row = (uint32_t)b->n_rows };
	uint32_t h;

	if (s.n < LITERAL_MIN)
		return err_set(err, ERR_DATA, "%s row %zu: a literal of \"any\" needs %d bytes",
			       TABLE, b->n_rows, LITERAL_MIN);
	choose_word(b, length, &lit);
	h = book_hash(lit.word);
	lit.next = b->bucket[h];
	l = ARENA_APPEND(a, b->literals, b->n_literals);
	*l = lit;
	length[h]++;
	b->bucket[h] = (uint32_t)b->n_literals;
	return 0;
}

/* As the row is written where that suffices: to parse them all costs more than all the rest. */
static int add_literals(struct compat *c, struct book *b, uint16_t *length, struct err *err)
{
	const struct json *v;
	struct view raw, s;
	int r = 0;

	if (compat_raw_list(c, TABLE, b->n_rows, "any", &raw)) {
		while (!r && view_chr(raw, '"') >= 0) {
			(void)view_cut(raw, '"', &raw);
			s = view_cut(raw, '"', &raw);
			r = add_literal(compat_arena(c), b, s, length, err);
		}
		return r;
	}
	v = json_first(json_get(compat_row(c, TABLE, b->n_rows), "any"));
	for (; v && !r; v = json_next(v))
		r = add_literal(compat_arena(c), b, view_of(json_str(v)), length, err);
	return r;
}

int book_open(struct compat *c, struct book **ret, struct err *err)
{
	struct arena *a = compat_arena(c);
	void **made = compat_made(c);
	struct book *b = *made;
	uint16_t *length;
	size_t n;
	int r = 0;

	*ret = b;
	if (b)
		return 0;
	b = arena_calloc(a, 1, sizeof(*b));
	length = arena_calloc(a, BOOK_BUCKETS, sizeof(*length));
	fold_all(b->folded);
	n = compat_count(c, TABLE);
	b->rows = arena_calloc(a, n + 1, sizeof(*b->rows));
	for (; b->n_rows < n && !r; b->n_rows++)
		r = add_literals(c, b, length, err);
	if (!r)
		*made = *ret = b;
	return r;
}

static int compile(struct compat *c, const char *id, const char *pattern, struct regex **ret,
		   struct err *err)
{
	struct err e;

	if (!pattern || !regex_new(compat_arena(c), pattern, ret, &e))
		return 0;
	return err_set(err, ERR_DATA, "%s %s: %.300s", TABLE, id, e.msg);
}

static bool is_benign(const struct json *row)
{
	const struct json *v, *weights = json_get(row, "for");

	for (v = json_first(json_get(row, "tags")); v; v = json_next(v))
		if (json_str(v) && strcmp(json_str(v), "benign") == 0)
			return true;
	return json_get(weights, "harmless-warning") || json_get(weights, "no-fault");
}

int book_row(struct compat *c, struct book *b, size_t i, const struct book_row **ret,
	     struct err *err)
{
	struct book_row *row = &b->rows[i];
	const struct json *json;
	const char *on, *id;
	int r;

	*ret = row;
	if (row->id)
		return 0;
	json = compat_row(c, TABLE, i);
	id = json_get_str(json, "id");
	if (!id)
		return err_set(err, ERR_DATA, "%s row %zu: no id", TABLE, i);
	on = json_get_str(json, "on");
	row->where = !on ? ON_LINE : strcmp(on, "silent") == 0 ? ON_SILENT : ON_COMMAND;
	row->facts = json_get(json, "facts");
	row->tags = json_get(json, "tags");
	row->benign = is_benign(json);
	r = compile(c, id, json_get_str(json, "pattern"), &row->re, err);
	if (!r)
		r = compile(c, id, json_get_str(json, "under"), &row->under, err);
	if (!r)
		row->id = id;
	return r;
}

struct regex *book_regex(struct compat *c, struct book *b, const char *pattern)
{
	struct regex *re;
	size_t i;

	for (i = 0; i < b->n_patterns; i++)
		if (b->patterns[i].pattern == pattern)
			return b->patterns[i].re;
	if (regex_new(compat_arena(c), pattern, &re, NULL))
		return NULL;
	*ARENA_APPEND(compat_arena(c), b->patterns, b->n_patterns) =
		(struct book_pattern){ .pattern = pattern, .re = re };
	return re;
}
