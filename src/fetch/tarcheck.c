/* SPDX-License-Identifier: Apache-2.0 */
/* Follows the headers of a tar; unpacks nothing and judges no name. */
#include "fetch/tarcheck.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/view.h"

enum {
	BLOCK = 512,
	NAME_AT = 0,
	NAME_BYTES = 100,
	SIZE_AT = 124,
	SIZE_BYTES = 12,
	TYPE_AT = 156,
	MORE_AT = 482,	       /* of an old GNU sparse header: a block of its map follows */
	MAP_MORE_AT = 504,     /* the same in such a block */
	EXTENDED_MAX = 1 << 20, /* bytes of a pax header */
};
/* What the field of a ustar header can hold. */
static const uint64_t ustar_max = UINT64_C(077777777777);

enum state { HEADER, EXTENDED, MAP, BODY, END };

struct tarcheck {
	struct arena *a;
	enum state state, then; /* `then`: behind the body */
	unsigned char block[BLOCK];
	size_t have;
	uint64_t skip; /* bytes of the body that are to come, padding included */
	char *text;    /* of a pax header */
	size_t text_n, text_have;
	bool global;
	bool has_size; /* the next entry's, out of a pax header */
	uint64_t size;
	bool has_name, has_link; /* the next entry's, out of a header before it */
	uint64_t body; /* of a sparse file, behind its map */
	struct err fault;
};

struct tarcheck *tarcheck_new(struct arena *a)
{
	struct tarcheck *t = arena_calloc(a, 1, sizeof(*t));

	t->a = a;
	return t;
}

static int refuse(struct tarcheck *t, const char *why)
{
	char name[NAME_BYTES + 1];

	memcpy(name, t->block + NAME_AT, NAME_BYTES);
	name[NAME_BYTES] = '\0';
	return err_set(&t->fault, ERR_DATA,
		       _("the archive is refused, nothing is installed: entry \"%s\" %s"), name,
		       why);
}

/* Octal digits with blanks before and blanks or a NUL behind; or 95 bits behind a mark (GNU). */
static bool read_size(const unsigned char *p, uint64_t *ret)
{
	uint64_t v = 0;
	size_t i = 0;

	if (p[0] & 0x80) {
		/* No negative one, and none beyond 63 bits. */
		if (p[0] != 0x80)
			return false;
		for (i = 1; i < SIZE_BYTES; i++) {
			if (v >> 55)
				return false;
			v = v << 8 | p[i];
		}
		*ret = v;
		return true;
	}
	while (i < SIZE_BYTES && p[i] == ' ')
		i++;
	for (; i < SIZE_BYTES && p[i] >= '0' && p[i] <= '7'; i++)
		v = v << 3 | (uint64_t)(p[i] - '0');
	for (; i < SIZE_BYTES; i++)
		if (p[i] && p[i] != ' ')
			return false;
	*ret = v;
	return true;
}

static void skip_body(struct tarcheck *t, uint64_t size, enum state then)
{
	/* Sizes have 63 bits at most, so that this does not overflow. */
	t->skip = (size + BLOCK - 1) / BLOCK * BLOCK;
	t->then = then;
	t->state = t->skip ? BODY : then;
}

/* A name that comes before the entry that it is for: once, for one, and without a NUL. */
static int take_name(struct tarcheck *t, bool *ret_has, struct view name)
{
	if (t->global || *ret_has || view_chr(name, '\0') >= 0)
		return refuse(t, _("has a name that readers take differently"));
	*ret_has = true;
	return 0;
}

/* "27 size=1234\n" in a pax header: the length counts itself. */
static int read_extended(struct tarcheck *t)
{
	struct view rest = { .p = t->text, .n = t->text_n }, record, value, key;
	uint64_t n;

	while (rest.n) {
		ptrdiff_t blank = view_chr(rest, ' ');

		if (blank <= 0 ||
		    !view_u64((struct view){ .p = rest.p, .n = (size_t)blank }, 10, &n) ||
		    n > rest.n || n < (uint64_t)blank + 3 || rest.p[n - 1] != '\n')
			return refuse(t, _("has an extended header that is damaged"));
		record = (struct view){ .p = rest.p + blank + 1,
					.n = (size_t)n - (size_t)blank - 2 };
		rest = view_skip(rest, (size_t)n);
		key = view_cut(record, '=', &value);
		if ((view_is(key, "path") && take_name(t, &t->has_name, value)) ||
		    (view_is(key, "linkpath") && take_name(t, &t->has_link, value)))
			return -(int)t->fault.code;
		if (!view_is(key, "size"))
			continue;
		if (t->global || t->has_size || !view_u64(value, 10, &t->size) ||
		    t->size > INT64_MAX)
			return refuse(t, _("has a size that readers take differently"));
		t->has_size = true;
	}
	t->state = HEADER;
	return 0;
}

static int begin_extended(struct tarcheck *t, uint64_t size, bool global)
{
	if (size > EXTENDED_MAX)
		return refuse(t, _("has an extended header that is too long"));
	t->global = global;
	t->text_n = (size_t)size;
	t->text_have = 0;
	/* One for all headers, of which there may be many. */
	if (!t->text)
		t->text = arena_alloc(t->a, EXTENDED_MAX);
	t->skip = (size + BLOCK - 1) / BLOCK * BLOCK;
	t->state = t->skip ? EXTENDED : HEADER;
	return 0;
}

static int read_entry(struct tarcheck *t, char type, uint64_t size)
{
	bool extended = t->has_size;

	t->has_size = t->has_name = t->has_link = false;
	if (extended && size != t->size && !(t->size > ustar_max && size <= ustar_max))
		return refuse(t, _("has two sizes: readers take the one or the other"));
	if (extended)
		size = t->size;
	/* Some readers look for contents behind these, others do not. */
	if (strchr("123456", type) && type && size)
		return refuse(t, _("has a size, though it can have no contents"));
	if (type == 'S' && t->block[MORE_AT]) {
		t->body = size;
		t->state = MAP;
		return 0;
	}
	skip_body(t, size, HEADER);
	return 0;
}

static int read_header(struct tarcheck *t)
{
	char type = (char)t->block[TYPE_AT];
	uint64_t size;
	size_t i;

	for (i = 0; i < BLOCK && !t->block[i]; i++)
		;
	if (i == BLOCK) {
		t->state = END;
		return 0;
	}
	if (!read_size(t->block + SIZE_AT, &size))
		return refuse(t, _("has a size that cannot be read"));
	switch (type) {
	case 'x':
	case 'X':
	case 'g':
		return begin_extended(t, size, type == 'g');
	case 'L':
	case 'K':
		t->global = false;
		if (take_name(t, type == 'L' ? &t->has_name : &t->has_link, view_of("")))
			return -(int)t->fault.code;
		skip_body(t, size, HEADER);
		return 0;
	default:
		return read_entry(t, type, size);
	}
}

/* Takes up to `n` bytes; *ret_taken says how many. */
static int step(struct tarcheck *t, const unsigned char *p, size_t n, size_t *ret_taken)
{
	size_t k;

	if (t->state == BODY || t->state == EXTENDED) {
		k = n < t->skip ? n : (size_t)t->skip;
		if (t->state == EXTENDED && t->text_have < t->text_n) {
			size_t want = t->text_n - t->text_have;

			memcpy(t->text + t->text_have, p, want < k ? want : k);
			t->text_have += want < k ? want : k;
		}
		t->skip -= k;
		*ret_taken = k;
		if (t->skip)
			return 0;
		if (t->state == EXTENDED)
			return read_extended(t);
		t->state = t->then;
		return 0;
	}
	k = BLOCK - t->have < n ? BLOCK - t->have : n;
	memcpy(t->block + t->have, p, k);
	t->have += k;
	*ret_taken = k;
	if (t->have < BLOCK)
		return 0;
	t->have = 0;
	if (t->state == HEADER)
		return read_header(t);
	/* A block of the map of a sparse file. */
	if (!t->block[MAP_MORE_AT])
		skip_body(t, t->body, HEADER);
	return 0;
}

int tarcheck_add(struct tarcheck *t, const void *p, size_t n, struct err *err)
{
	const unsigned char *at = p;

	while (n && t->state != END && !t->fault.code) {
		size_t taken = 0;

		if (step(t, at, n, &taken))
			break;
		at += taken;
		n -= taken;
	}
	if (!t->fault.code)
		return 0;
	return err_set(err, t->fault.code, "%s", t->fault.msg);
}
