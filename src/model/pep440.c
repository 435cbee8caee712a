/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing and ordering of Python versions. Specifiers are in pep440_spec.c. */
#include "model/pep440.h"

#include <string.h>

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_sep(char c)
{
	return c == '-' || c == '_' || c == '.';
}

static char at(struct view v, size_t i)
{
	return i < v.n ? lower(v.p[i]) : '\0';
}

/* Digits at *i; false when there are none or too many of them. */
static bool number(struct view v, size_t *i, uint64_t *ret)
{
	uint64_t n = 0;
	size_t start = *i;

	for (; is_digit(at(v, *i)); ++*i) {
		if (n > (UINT64_MAX / 2 - 9) / 10)
			return false;
		n = n * 10 + (uint64_t)(at(v, *i) - '0');
	}
	*ret = n;
	return *i > start;
}

static bool word_at(struct view v, size_t i, const char *word)
{
	size_t k;

	for (k = 0; word[k]; k++)
		if (at(v, i + k) != word[k])
			return false;
	return true;
}

/* "[-_.]?WORD[-_.]?N?" at *i for one of `words` (longest first); *ret is the word's index. */
static bool labelled(struct view v, size_t *i, const char *const *words, size_t *ret,
		     uint64_t *ret_n)
{
	size_t start = is_sep(at(v, *i)) ? *i + 1 : *i, w;

	for (w = 0; words[w]; w++)
		if (word_at(v, start, words[w]))
			break;
	if (!words[w])
		return false;
	start += strlen(words[w]);
	*ret = w;
	*ret_n = 0;
	/* The published pattern lets a separator stand there without a number. */
	if (is_sep(at(v, start)))
		start++;
	if (is_digit(at(v, start)) && !number(v, &start, ret_n))
		return false;
	*i = start;
	return true;
}

static bool release(struct view v, size_t *i, struct pep440 *ret)
{
	uint64_t n;

	if (!number(v, i, &n))
		return false;
	if (at(v, *i) == '!') {
		ret->epoch = n;
		++*i;
		if (!number(v, i, &n))
			return false;
	}
	ret->part[ret->n++] = n;
	while (at(v, *i) == '.' && is_digit(at(v, *i + 1))) {
		++*i;
		if (ret->n == PEP440_PARTS || !number(v, i, &ret->part[ret->n]))
			return false;
		ret->n++;
	}
	return true;
}

static void pre_release(struct view v, size_t *i, struct pep440 *ret)
{
	static const char *const words[] = { "alpha", "beta", "preview", "pre", "rc",
					     "a",     "b",    "c",	 NULL };
	static const enum pep440_pre kinds[] = {
		PEP440_PRE_A,  PEP440_PRE_B, PEP440_PRE_RC, PEP440_PRE_RC,
		PEP440_PRE_RC, PEP440_PRE_A, PEP440_PRE_B,  PEP440_PRE_RC,
	};
	size_t w;

	if (labelled(v, i, words, &w, &ret->pre_n))
		ret->pre = kinds[w];
}

static void post_release(struct view v, size_t *i, struct pep440 *ret)
{
	static const char *const words[] = { "post", "rev", "r", NULL };
	size_t w, k = *i + 1;

	if (at(v, *i) == '-' && is_digit(at(v, k))) {
		ret->has_post = number(v, &k, &ret->post_n);
		if (ret->has_post)
			*i = k;
		return;
	}
	ret->has_post = labelled(v, i, words, &w, &ret->post_n);
}

static bool local_part(struct view v, size_t *i, struct pep440 *ret)
{
	size_t start = *i + 1, k = start;
	bool filled = false;

	for (; k < v.n; k++) {
		char c = at(v, k);

		if (is_digit(c) || (c >= 'a' && c <= 'z')) {
			filled = true;
		} else if (is_sep(c) && filled) {
			filled = false;
		} else {
			return false;
		}
	}
	ret->local = view_skip(v, start);
	*i = k;
	return filled;
}

bool pep440_parse(struct view v, struct pep440 *ret)
{
	static const char *const dev[] = { "dev", NULL };
	struct pep440 p = { .epoch = 0 };
	size_t i = 0, w;

	v = view_trim(v);
	if (at(v, 0) == 'v')
		i++;
	if (!release(v, &i, &p))
		return false;
	pre_release(v, &i, &p);
	post_release(v, &i, &p);
	p.has_dev = labelled(v, &i, dev, &w, &p.dev_n);
	if (at(v, i) == '+' && !local_part(v, &i, &p))
		return false;
	if (i != v.n)
		return false;
	*ret = p;
	return true;
}

static int cmp_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/*
 * Where a version stands among those of its release: development releases of the final come first,
 * then pre-releases, then the final and its post-releases.
 */
static int phase(const struct pep440 *v)
{
	if (v->pre)
		return (int)v->pre;
	return v->has_dev && !v->has_post ? 0 : PEP440_PRE_RC + 1;
}

static struct view segment(struct view *local)
{
	size_t n = 0;
	struct view v;

	while (n < local->n && !is_sep(local->p[n]))
		n++;
	v = (struct view){ .p = local->p, .n = n };
	*local = view_skip(*local, n < local->n ? n + 1 : n);
	return v;
}

static bool all_digits(struct view v)
{
	size_t i;

	for (i = 0; i < v.n; i++)
		if (!is_digit(v.p[i]))
			return false;
	return v.n > 0;
}

/* Numbers of any length, without leading zeros. */
static int cmp_digits(struct view a, struct view b)
{
	while (a.n > 1 && a.p[0] == '0')
		a = view_skip(a, 1);
	while (b.n > 1 && b.p[0] == '0')
		b = view_skip(b, 1);
	if (a.n != b.n)
		return a.n > b.n ? 1 : -1;
	return a.n ? memcmp(a.p, b.p, a.n) : 0;
}

static int cmp_segment(struct view a, struct view b)
{
	bool na = all_digits(a), nb = all_digits(b);
	size_t i;

	if (na && nb)
		return cmp_digits(a, b);
	if (na != nb)
		return na ? 1 : -1; /* a number is newer than a word */
	for (i = 0; i < a.n && i < b.n; i++)
		if (lower(a.p[i]) != lower(b.p[i]))
			return lower(a.p[i]) > lower(b.p[i]) ? 1 : -1;
	return (a.n > b.n) - (a.n < b.n);
}

static int cmp_local(struct view a, struct view b)
{
	int r;

	while (a.n && b.n) {
		struct view x = segment(&a), y = segment(&b);

		r = cmp_segment(x, y);
		if (r)
			return r;
	}
	return (a.n > 0) - (b.n > 0);
}

int pep440_cmp(const struct pep440 *a, const struct pep440 *b)
{
	unsigned i;
	int r = cmp_u64(a->epoch, b->epoch);

	for (i = 0; !r && i < PEP440_PARTS; i++)
		r = cmp_u64(a->part[i], b->part[i]);
	if (!r)
		r = phase(a) - phase(b);
	if (!r && a->pre)
		r = cmp_u64(a->pre_n, b->pre_n);
	if (!r)
		r = a->has_post != b->has_post ? (a->has_post ? 1 : -1)
					       : cmp_u64(a->post_n, b->post_n);
	if (!r)
		r = a->has_dev != b->has_dev ? (a->has_dev ? -1 : 1) : cmp_u64(a->dev_n, b->dev_n);
	return r ? r : cmp_local(a->local, b->local);
}

bool pep440_is_pre(const struct pep440 *v)
{
	return v->pre || v->has_dev;
}
