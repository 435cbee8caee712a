/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TOML 1.0: tables, arrays of tables, keys. Values are read in toml_value.c. Strict: what the
 * specification forbids is refused, so that a file means here what it means to its own tool.
 */
#include "base/toml.h"

#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"

/* What a table is, beside its members (struct doc.flags). */
enum {
	T_IMPLICIT = 1, /* made by a longer header: may still be defined */
	T_DOTTED = 2,	/* made by a dotted key: no header may open it */
	T_FROZEN = 4,	/* inline: nothing may be added */
	T_TABLES = 8,	/* an array of tables */
};

bool toml_fault(struct toml *t, size_t at, const char *what)
{
	if (!t->what) {
		t->what = what;
		t->fault = at;
	}
	return false;
}

char toml_peek(const struct toml *t, size_t ahead)
{
	return t->at + ahead < t->text.n ? t->text.p[t->at + ahead] : '\0';
}

bool toml_end(const struct toml *t)
{
	return t->at >= t->text.n;
}

void toml_blanks(struct toml *t)
{
	while (!toml_end(t) && (t->text.p[t->at] == ' ' || t->text.p[t->at] == '\t'))
		t->at++;
}

void toml_place(const struct toml *t, size_t at, size_t *ret_line, size_t *ret_column)
{
	/* Places are asked for near the last one: a value's, then its key's, which lies before. */
	struct toml *m = t->self;
	size_t i;

	if (at > t->text.n)
		at = t->text.n;
	if (at < m->seen) {
		for (i = m->seen; i > at; i--)
			if (t->text.p[i - 1] == '\n')
				m->seen_line--;
		while (i > 0 && t->text.p[i - 1] != '\n')
			i--;
		m->seen_start = i;
	}
	for (i = m->seen; i < at; i++)
		if (t->text.p[i] == '\n') {
			m->seen_line++;
			m->seen_start = i + 1;
		}
	m->seen = at;
	*ret_line = m->seen_line;
	*ret_column = at - m->seen_start + 1;
}

struct doc *toml_node(struct toml *t, enum doc_kind kind, size_t at)
{
	struct doc *d = arena_alloc(t->a, sizeof(*d));

	d->kind = kind;
	toml_place(t, at, &d->line, &d->column);
	d->end_line = d->line;
	if (++t->count > DOC_WEIGHT)
		toml_fault(t, at, N_("too many values"));
	return d;
}

void toml_append(struct doc *parent, struct doc *child)
{
	if (parent->last)
		parent->last->next = child;
	else
		parent->first = child;
	parent->last = child;
	parent->n++;
}

/* A comment to the end of its line; controls are forbidden in it. */
static bool comment(struct toml *t)
{
	while (!toml_end(t) && toml_peek(t, 0) != '\n') {
		unsigned char c = (unsigned char)toml_peek(t, 0);

		if (c == '\r' && toml_peek(t, 1) == '\n')
			return true;
		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return toml_fault(t, t->at, N_("a control character in a comment"));
		t->at++;
	}
	return true;
}

static bool newline(struct toml *t)
{
	if (toml_peek(t, 0) == '\r' && toml_peek(t, 1) == '\n')
		t->at++;
	if (toml_end(t) || toml_peek(t, 0) != '\n')
		return false;
	t->at++;
	return true;
}

bool toml_gap(struct toml *t)
{
	for (;;) {
		toml_blanks(t);
		if (!toml_end(t) && toml_peek(t, 0) == '#' && !comment(t))
			return false;
		if (!newline(t))
			return true;
	}
}

static bool line_end(struct toml *t)
{
	toml_blanks(t);
	if (!toml_end(t) && toml_peek(t, 0) == '#' && !comment(t))
		return false;
	if (toml_end(t) || newline(t))
		return true;
	return toml_fault(t, t->at, N_("the line should end here"));
}

static bool bare_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_';
}

static bool one_key(struct toml *t, const char **ret)
{
	size_t start = t->at;

	if (toml_peek(t, 0) == '"' || toml_peek(t, 0) == '\'')
		return toml_key_string(t, ret);
	while (!toml_end(t) && bare_char(toml_peek(t, 0)))
		t->at++;
	if (t->at == start)
		return toml_fault(t, start, N_("a key is missing"));
	*ret = arena_strndup(t->a, t->text.p + start, t->at - start);
	return true;
}

struct key {
	const char *part[DOC_DEPTH];
	size_t at[DOC_DEPTH];
	size_t n;
};

static bool read_key(struct toml *t, struct key *ret)
{
	ret->n = 0;
	for (;;) {
		toml_blanks(t);
		if (ret->n == DOC_DEPTH)
			return toml_fault(t, t->at, N_("nested too deep"));
		ret->at[ret->n] = t->at;
		if (!one_key(t, &ret->part[ret->n++]))
			return false;
		toml_blanks(t);
		if (toml_end(t) || toml_peek(t, 0) != '.')
			return true;
		t->at++;
	}
}

static struct doc *child_named(const struct doc *map, const char *key)
{
	const struct doc *d;

	for (d = map->first; d; d = d->next)
		if (strcmp(d->key, key) == 0)
			return (struct doc *)(uintptr_t)d;
	return NULL;
}

static bool add_member(struct toml *t, struct doc *map, struct doc *value, const struct key *k,
		       size_t i)
{
	if (map->n >= DOC_KEYS)
		return toml_fault(t, k->at[i], N_("too many keys in one table"));
	value->key = k->part[i];
	toml_place(t, k->at[i], &value->key_line, &value->key_column);
	toml_append(map, value);
	return true;
}

static struct doc *new_table(struct toml *t, struct doc *map, const struct key *k, size_t i,
			     unsigned flags)
{
	struct doc *d = toml_node(t, DOC_MAP, k->at[i]);

	d->flags = flags;
	return add_member(t, map, d, k, i) ? d : NULL;
}

/* key.key = value, into `map`. */
bool toml_pair(struct toml *t, struct doc *map, int depth)
{
	struct doc *value, *d;
	struct key *k = arena_alloc(t->a, sizeof(*k));
	size_t i;

	if (!read_key(t, k))
		return false;
	if (toml_end(t) || toml_peek(t, 0) != '=')
		return toml_fault(t, t->at, N_("\"=\" is missing"));
	t->at++;
	toml_blanks(t);
	for (i = 0; i + 1 < k->n; i++) {
		d = child_named(map, k->part[i]);
		if (!d)
			d = new_table(t, map, k, i, T_DOTTED);
		else if (d->kind != DOC_MAP || !(d->flags & T_DOTTED) || (d->flags & T_FROZEN))
			return toml_fault(t, k->at[i], N_("this key is defined already"));
		if (!d)
			return false;
		map = d;
	}
	if (child_named(map, k->part[i]))
		return toml_fault(t, k->at[i], N_("this key is defined already"));
	value = toml_value(t, depth + (int)i);
	return value && add_member(t, map, value, k, i);
}

/* The last table of an array of tables, or the table itself. */
static struct doc *into(struct doc *d)
{
	return d->kind == DOC_LIST && (d->flags & T_TABLES) ? d->last : d;
}

static struct doc *header_table(struct toml *t, struct doc *map, const struct key *k)
{
	size_t i = k->n - 1;
	struct doc *d = child_named(map, k->part[i]);

	if (!d)
		return new_table(t, map, k, i, 0);
	if (d->kind != DOC_MAP || !(d->flags & T_IMPLICIT)) {
		toml_fault(t, k->at[i], N_("this table is defined already"));
		return NULL;
	}
	d->flags &= ~(unsigned)T_IMPLICIT;
	toml_place(t, k->at[i], &d->line, &d->column);
	return d;
}

static struct doc *header_array(struct toml *t, struct doc *map, const struct key *k)
{
	size_t i = k->n - 1;
	struct doc *d = child_named(map, k->part[i]), *table;

	if (!d) {
		d = toml_node(t, DOC_LIST, k->at[i]);
		d->flags = T_TABLES;
		if (!add_member(t, map, d, k, i))
			return NULL;
	} else if (d->kind != DOC_LIST || !(d->flags & T_TABLES)) {
		toml_fault(t, k->at[i], N_("this key is defined already"));
		return NULL;
	}
	table = toml_node(t, DOC_MAP, k->at[i]);
	toml_append(d, table);
	return table;
}

/* [a.b] or [[a.b]]: returns the table that follows. */
static struct doc *header(struct toml *t, struct doc *root)
{
	struct key *k = arena_alloc(t->a, sizeof(*k));
	struct doc *map = root, *d;
	bool array;
	size_t i;

	t->at++;
	array = !toml_end(t) && toml_peek(t, 0) == '[';
	t->at += array;
	if (!read_key(t, k))
		return NULL;
	if (toml_peek(t, 0) != ']' || (array && toml_peek(t, 1) != ']')) {
		toml_fault(t, t->at, N_("\"]\" is missing"));
		return NULL;
	}
	t->at += array ? 2 : 1;
	for (i = 0; i + 1 < k->n; i++) {
		d = child_named(map, k->part[i]);
		if (!d)
			d = new_table(t, map, k, i, T_IMPLICIT);
		else
			d = into(d);
		if (!d)
			return NULL;
		if (d->kind != DOC_MAP || (d->flags & T_FROZEN)) {
			toml_fault(t, k->at[i], N_("this key is defined already"));
			return NULL;
		}
		map = d;
	}
	d = array ? header_array(t, map, k) : header_table(t, map, k);
	return d && line_end(t) ? d : NULL;
}

static bool document(struct toml *t, struct doc *root)
{
	struct doc *table = root;

	while (toml_gap(t) && !toml_end(t)) {
		if (toml_peek(t, 0) == '[')
			table = header(t, root);
		else if (!toml_pair(t, table, 1) || !line_end(t))
			return false;
		if (!table || t->what)
			return false;
	}
	return !t->what;
}

int toml_parse(struct arena *a, struct view text, const char *name, const struct doc **ret,
	       struct err *err)
{
	struct toml t = { .a = a, .text = text, .seen_line = 1 };
	struct doc *root;
	size_t bad, line, column;

	t.self = &t;
	if (view_starts(text, "\xef\xbb\xbf"))
		t.at = 3;
	root = toml_node(&t, DOC_MAP, t.at);
	if (!utf8_valid(text, &bad))
		toml_fault(&t, bad, N_("not UTF-8"));
	else if (document(&t, root)) {
		*ret = root;
		return 0;
	}
	toml_place(&t, t.what ? t.fault : t.at, &line, &column);
	return err_set(err, ERR_PARSE, "%.300s:%zu:%zu: %s", name, line, column,
		       _(t.what ? t.what : N_("not TOML")));
}
