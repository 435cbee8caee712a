/* SPDX-License-Identifier: Apache-2.0 */
/* Order of rows and unique keys, as data/compat/README.md defines them. */
#include <stdlib.h>
#include <string.h>

#include "compat/validate_parts.h"

/*
 * Order of Python's releases as far as the tables need it: numbers, then dev, a, b, rc, none, post.
 */
struct version_key {
	struct view numbers; /* "2.6.0"; empty when the text begins otherwise */
	int stage;
	uint64_t stage_number;
};

enum { STAGE_RELEASE = 4 };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static struct view digits(struct view *v)
{
	struct view d = { .p = v->p, .n = 0 };

	while (d.n < v->n && is_digit(v->p[d.n]))
		d.n++;
	*v = view_skip(*v, d.n);
	return d;
}

static void take_stage(struct view rest, struct version_key *k)
{
	static const struct {
		const char *word;
		int stage;
	} stages[] = {
		{ .word = "dev", .stage = 0 },
		{ .word = "a", .stage = 1 },
		{ .word = "b", .stage = 2 },
		{ .word = "rc", .stage = 3 },
		{ .word = "post", .stage = 5 },
	};
	struct view number;
	size_t i;

	if (rest.n && rest.p[0] == '.')
		rest = view_skip(rest, 1);
	for (i = 0; i < ARRAY_LEN(stages); i++) {
		if (!view_starts(rest, stages[i].word))
			continue;
		rest = view_skip(rest, strlen(stages[i].word));
		number = digits(&rest);
		k->stage = stages[i].stage;
		if (number.n && !view_u64(number, 10, &k->stage_number))
			k->stage_number = UINT64_MAX;
		return;
	}
}

static struct version_key version_key(const char *text)
{
	struct view v = view_of(text), rest = v, part;
	struct version_key k = { .numbers = { .p = v.p, .n = 0 }, .stage = STAGE_RELEASE };

	for (;;) {
		part = digits(&rest);
		if (!part.n)
			break;
		k.numbers.n = (size_t)(rest.p - v.p);
		if (rest.n < 2 || rest.p[0] != '.' || !is_digit(rest.p[1]))
			break;
		rest = view_skip(rest, 1);
	}
	if (k.numbers.n)
		take_stage(view_skip(v, k.numbers.n), &k);
	return k;
}

/* A part that is missing counts as 0, so that 2.6 and 2.6.0 are equal. */
static int compare_numbers(struct view a, struct view b)
{
	struct view x, y;
	uint64_t m, n;

	if (!a.n || !b.n)
		return (a.n > 0) - (b.n > 0);
	while (a.n || b.n) {
		x = view_cut(a, '.', &a);
		y = view_cut(b, '.', &b);
		m = n = 0;
		if (x.n && !view_u64(x, 10, &m))
			m = UINT64_MAX;
		if (y.n && !view_u64(y, 10, &n))
			n = UINT64_MAX;
		if (m != n)
			return m < n ? -1 : 1;
	}
	return 0;
}

static int compare_versions(const char *a, const char *b)
{
	struct version_key x = version_key(a), y = version_key(b);
	int d = compare_numbers(x.numbers, y.numbers);

	if (d)
		return d;
	if (x.stage != y.stage)
		return x.stage < y.stage ? -1 : 1;
	if (x.stage_number != y.stage_number)
		return x.stage_number < y.stage_number ? -1 : 1;
	/* "2.6" and "2.6.0": equal as releases, and yet two rows. */
	return strcmp(a, b);
}

int validate_order(const char *kind, const char *a, const char *b)
{
	int64_t m = -1, n = -1;

	if (strcmp(kind, "version") == 0)
		return compare_versions(a, b);
	if (strcmp(kind, "int") != 0)
		return strcmp(a, b);
	if (!view_i64(view_of(a), &m))
		m = -1;
	if (!view_i64(view_of(b), &n))
		n = -1;
	return (m > n) - (m < n);
}

struct keyed {
	const char *text[VALIDATE_KEYS];
	size_t n;
	const struct json *row;
};

static int exact(const void *x, const void *y)
{
	const struct keyed *a = x, *b = y;
	size_t i;
	int d = 0;

	for (i = 0; i < a->n && !d; i++)
		d = strcmp(a->text[i], b->text[i]);
	return d;
}

void validate_rows(struct checked *k)
{
	struct keyed *rows = arena_calloc(k->c->a, k->n + 1, sizeof(*rows));
	size_t i, f;
	int d;

	for (i = 0; i < k->n; i++) {
		rows[i].row = k->rows[i];
		rows[i].n = k->n_key;
		for (f = 0; f < k->n_key; f++)
			rows[i].text[f] =
				validate_text(k->c->a, json_get(k->rows[i], k->key[f].field));
		for (f = 0, d = 0; i > 0 && f < k->n_key && !d; f++)
			d = validate_order(k->key[f].kind, rows[i - 1].text[f], rows[i].text[f]);
		if (d > 0)
			validate_say(k, k->rows[i], _("is out of order"));
	}
	qsort(rows, k->n, sizeof(*rows), exact);
	for (i = 1; i < k->n; i++)
		if (exact(&rows[i - 1], &rows[i]) == 0)
			validate_say(k, rows[i].row, _("its key is not unique"));
}
