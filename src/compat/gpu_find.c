/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what a person or a program calls a GPU to rows. A name is compared whole; what does not fit
 * finds nothing.
 */
#include <string.h>

#include "compat/gpu.h"
#include "compat/near.h"

/* How a name fits, best first. A worse kind counts only where no better one was met. */
enum fit { FIT_WHOLE, FIT_NAMED, FIT_SHORT, FIT_SHORTER, FIT_KINDS };

/*
 * nvidia-smi's table cuts a name longer than `longer` to `keep` and "...". Source: facts.cut of the
 * name table.
 */
static const struct {
	size_t keep, longer;
} cuts[] = {
	{ .keep = 15, .longer = 18 }, /* drivers up to 525 */
	{ .keep = 24, .longer = 27 }, /* from 530 on */
};

struct hit {
	struct table *t;
	size_t row;
	const char *name;
};

struct hits {
	struct hit *v;
	size_t n;
};

struct search {
	struct compat *c;
	struct gpu_name plain;
	struct gpu_words words;	   /* of the query, brands left out */
	bool branded;		   /* the query names a brand or the maker */
	bool bare; /* "4090", "TITAN X": only with a series word would it be a name */
	bool series;		   /* "RTX 4090": a series word stands in the query */
	struct view stem;	   /* of a cut name; p NULL for a whole one */
	size_t longer;
	struct hits hits[FIT_KINDS];
	struct near near;
};

static bool is_table(const struct table *t, const char *name)
{
	return strcmp(t->name, name) == 0;
}

static void add_hit(struct search *s, enum fit fit, struct table *t, size_t row, struct view name)
{
	struct hits *h = &s->hits[fit];
	struct hit *hit;
	size_t i;

	/*
	 * A row's names come one after another. A cut name asks for each of them, any other for the
	 * row.
	 */
	for (i = h->n; i-- > 0 && h->v[i].t == t && h->v[i].row == row;)
		if (!s->stem.p || view_is(name, h->v[i].name))
			return;
	hit = ARENA_APPEND(s->c->a, h->v, h->n);
	*hit = (struct hit){ .t = t, .row = row, .name = view_dup(s->c->a, name) };
}

static bool is_guest(struct search *s, struct table *t, size_t row)
{
	struct view kind = { .p = NULL, .n = 0 };

	if (is_table(t, "name"))
		kind = table_text(s->c, t, row, "kind");
	return kind.p && view_is(kind, "vgpu");
}

static bool starts_nocase(struct view v, struct view stem)
{
	size_t i;

	for (i = 0; i < stem.n; i++)
		if (i >= v.n || (v.p[i] | 0x20) != (stem.p[i] | 0x20))
			return false;
	return true;
}

static const struct view maker = { .p = "NVIDIA ", .n = 7 };

/*
 * Drivers before 465 knew no device that was first listed later, and only they left "NVIDIA " out.
 */
static bool bare_known(struct search *s, struct table *t, size_t row)
{
	struct view first = table_text(s->c, t, row, "first_driver");

	return !first.p || view_is(first, "<=460");
}

/*
 * The driver's release decides whether "NVIDIA " stands in front, so both forms of each name may
 * have been cut.
 */
static bool cut_fits(struct search *s, struct table *t, size_t row, struct view name)
{
	size_t front = starts_nocase(s->stem, maker) ? maker.n : 0;
	struct view bare = name;

	if (starts_nocase(name, maker)) {
		if (!front && !bare_known(s, t, row))
			return false;
		bare = view_skip(name, maker.n);
	}
	return bare.n + front > s->longer && starts_nocase(bare, view_skip(s->stem, front));
}

static void offer_whole(struct search *s, struct table *t, size_t row, struct view name)
{
	struct gpu_name plain;

	if (s->stem.p) {
		/* A guest's name counts where no board has the name. */
		if (cut_fits(s, t, row, name))
			add_hit(s, is_guest(s, t, row) ? FIT_SHORT : FIT_WHOLE, t, row, name);
		return;
	}
	if (gpu_name_plain(name, &plain) && strcmp(plain.s, s->plain.s) == 0)
		add_hit(s, FIT_WHOLE, t, row, name);
}

static void offer_short(struct search *s, struct table *t, size_t row, struct view name)
{
	struct gpu_name plain;
	struct gpu_words words;

	if (is_guest(s, t, row) || !gpu_name_plain(name, &plain))
		return;
	gpu_name_words(&plain, NAME_DROP_BRAND, &words);
	if (!s->bare && gpu_words_fit(&s->words, &words)) {
		add_hit(s, FIT_SHORT, t, row, name);
		if (words.n == s->words.n)
			add_hit(s, FIT_NAMED, t, row, name);
	}
	if (s->series)
		return;
	gpu_name_words(&plain, NAME_DROP_BRAND | NAME_DROP_SERIES, &words);
	if (gpu_words_fit(&s->words, &words))
		add_hit(s, FIT_SHORTER, t, row, name);
}

static void offer_near(struct search *s, struct table *t, size_t row, struct view name)
{
	struct gpu_name plain;
	struct view form;

	if (!gpu_name_plain(name, &plain))
		return;
	form = view_of(plain.s);
	/* People leave "GeForce" and the like out, so what they typed is compared without. */
	if (!s->branded && view_starts(form, "geforce "))
		form = view_skip(form, strlen("geforce "));
	near_offer(&s->near, form, name, is_guest(s, t, row) ? 1 : 0);
}

typedef void visit_name(struct search *s, struct table *t, size_t row, struct view name);

/* Names beside `name`: other_names, and those of subsystems. */
static void visit_others(struct search *s, struct table *t, size_t row, visit_name *visit)
{
	const struct json *doc = table_row(s->c, t, row), *v;

	for (v = json_first(json_get(doc, "other_names")); v; v = json_next(v))
		if (json_str(v))
			visit(s, t, row, view_of(json_str(v)));
	for (v = json_first(json_get(doc, "sub")); v; v = json_next(v))
		if (json_get_str(v, "name"))
			visit(s, t, row, view_of(json_get_str(v, "name")));
}

static void visit_names(struct search *s, const char *table, visit_name *visit)
{
	struct table *t = table_get(s->c, table);
	struct view name;
	size_t i;

	for (i = 0; t && i < t->n; i++) {
		name = table_text(s->c, t, i, "name");
		if (name.p)
			visit(s, t, i, name);
		/*
		 * Most rows have one name: the others are not parsed for it. The keys are looked
		 * for without the first quote, at each of which the search would stop.
		 */
		if (t->rows[i].json || view_find(t->rows[i].line, "other_names\"") >= 0 ||
		    view_find(t->rows[i].line, "sub\"") >= 0)
			visit_others(s, t, i, visit);
	}
}

static void add_row(struct search *s, struct gpu_match *m, const struct gpu_row *g)
{
	const struct gpu_row **slot;

	if (!g)
		return;
	slot = ARENA_APPEND(s->c->a, m->rows, m->n);
	*slot = g;
	if (m->n == 1)
		m->cc = g->cc;
	else if (m->cc != g->cc)
		m->cc = -1;
}

/* A name of the name table is that of its devices, or, without any, of its chips. */
static void add_named(struct search *s, struct gpu_match *m, const struct hit *hit)
{
	const struct json *row = table_row(s->c, hit->t, hit->row), *v;
	const char *kind = json_get_str(row, "kind"), *cls = json_get_str(row, "class");
	size_t before = m->n, i;
	struct gpu_row *g;

	for (v = json_first(json_get(row, "ids")); v; v = json_next(v))
		add_row(s, m, gpu_renamed(s->c, compat_gpu(s->c, json_str(v)), hit->name));
	for (v = m->n > before ? NULL : json_first(json_get(row, "chips")); v; v = json_next(v)) {
		if (!json_str(v))
			continue;
		g = arena_alloc(s->c->a, sizeof(*g));
		gpu_from_chip(s->c, json_str(v), g);
		g->name = hit->name;
		add_row(s, m, g);
	}
	for (i = before; i < m->n; i++) {
		g = arena_alloc(s->c->a, sizeof(*g));
		*g = *m->rows[i];
		if (kind && strcmp(kind, "vgpu") == 0) {
			cls = "vgpu";
			g->memory_gib = 0; /* the guest has a share of the board's */
		}
		g->gpu_class = cls ? cls : g->gpu_class;
		if (json_num(json_get(row, "memory_gib"), &g->memory_gib) && g->memory_gib < 0)
			g->memory_gib = 0;
		g->source = arena_printf(s->c->a, "matrix name %s", hit->name);
		g->doubtful = row_doubtful(row);
		m->rows[i] = g;
	}
}

static void add_hits(struct search *s, struct gpu_match *m, enum fit fit)
{
	struct compat *c = s->c;
	size_t i;

	for (i = 0; i < s->hits[fit].n; i++) {
		const struct hit *hit = &s->hits[fit].v[i];

		if (is_table(hit->t, "name"))
			add_named(s, m, hit);
		else
			add_row(s, m, gpu_renamed(c, gpu_at(c, hit->t, hit->row), hit->name));
	}
}

/* A cloud guest may carry a card's name on another chip; who types the name means the card. */
static void prefer_boards(struct gpu_match *m)
{
	size_t i, n = 0;
	int cc = 0;

	for (i = 0; i < m->n; i++) {
		const struct gpu_row *g = m->rows[i];

		if (g->gpu_class && strcmp(g->gpu_class, "vgpu") == 0)
			continue;
		cc = !cc || cc == g->cc ? g->cc : -1;
		n++;
	}
	if (m->cc >= 0 || !n || cc <= 0)
		return;
	for (i = 0, n = 0; i < m->n; i++)
		if (!m->rows[i]->gpu_class || strcmp(m->rows[i]->gpu_class, "vgpu") != 0)
			m->rows[n++] = m->rows[i];
	m->n = n;
	m->cc = cc;
}

static void look(struct search *s, visit_name *visit)
{
	visit_names(s, "gpu", visit);
	visit_names(s, "name", visit);
}

/*
 * The whole name decides. Without the maker's name it may also have been meant for the boards that
 * share it ("H100" for H100 PCIe, H100 NVL ...), as long as that leaves the capability certain.
 */
static void choose_hits(struct search *s, struct gpu_match *m)
{
	struct gpu_match wide = { .rows = NULL, .cc = -1 };

	look(s, offer_whole);
	add_hits(s, m, FIT_WHOLE);
	if (!s->stem.p)
		prefer_boards(m);
	if (s->stem.p && !m->n)
		add_hits(s, m, FIT_SHORT);
	if (s->stem.p || (m->n && (s->branded || m->cc < 0)))
		return;
	look(s, offer_short);
	add_hits(s, &wide, FIT_SHORT);
	/* "GTX 1080 Ti" is a card's whole name but for its brand: the one with 10 GB is another. */
	if (!m->n && s->series && wide.cc >= 0) {
		add_hits(s, m, FIT_NAMED);
		if (m->n)
			return;
	}
	if (!m->n || (wide.n > m->n && wide.cc == m->cc))
		*m = wide;
	if (!m->n)
		add_hits(s, m, FIT_SHORTER);
}

/* "10de:2684", "10DE:2684:10DE:16F4", "0x2684", "0x10de2684", and NVML's "0x268410DE". */
static bool find_device(struct compat *c, struct view name, struct gpu_match *m)
{
	struct view head, rest, id, sub = { .p = NULL, .n = 0 };
	struct search s = { .c = c };
	uint64_t x, vendor = 0x10de;
	const struct gpu_row *g;

	head = view_cut(name, ':', &rest);
	if (rest.n) {
		id = view_cut(rest, ':', &sub);
		if (head.n != 4 || id.n != 4 || !view_u64(head, 16, &vendor) ||
		    !view_u64(id, 16, &x))
			return false;
	} else if ((view_starts(name, "0x") || view_starts(name, "0X")) && view_u64(name, 16, &x)) {
		if (name.n > 6 && x >> 16 == 0x10de) {
			x &= 0xffff;
		} else if (name.n > 6) {
			vendor = x & 0xffff;
			x >>= 16;
		}
	} else {
		return false;
	}
	if (vendor != 0x10de || x > 0xffff)
		return true;
	g = compat_gpu_subsystem(c, arena_printf(c->a, "%04x", (unsigned)x),
				 sub.n ? view_dup(c->a, sub) : NULL);
	add_row(&s, m, g);
	return true;
}

static bool find_capability(struct compat *c, struct view name, struct gpu_match *m)
{
	struct search s = { .c = c };

	if (name.n < 4 || !view_is_nocase((struct view){ .p = name.p, .n = 3 }, "cc:"))
		return false;
	add_row(&s, m,
		compat_gpu_of_cc(c, cc_parse(view_dup(c->a, view_trim(view_skip(name, 3))))));
	return true;
}

/* "MIG 1g.5gb Device on NAME" and "NAME MIG 1g.5gb" are slices of NAME. */
static struct view mig_parent(struct view name)
{
	ptrdiff_t at;

	if (starts_nocase(name, VIEW("MIG "))) {
		at = view_find(name, " on ");
		return at > 0 ? view_trim(view_skip(name, (size_t)at + 4)) : name;
	}
	at = view_find(name, " MIG ");
	return at > 0 ? view_trim((struct view){ .p = name.p, .n = (size_t)at }) : name;
}

static void take_stem(struct search *s, struct view name)
{
	size_t i;

	if (!view_ends(name, "..."))
		return;
	s->stem = (struct view){ .p = name.p, .n = name.n - 3 };
	s->longer = s->stem.n;
	for (i = 0; i < ARRAY_LEN(cuts); i++)
		if (s->stem.n == cuts[i].keep)
			s->longer = cuts[i].longer;
}

static bool has_letter(const char *s)
{
	for (; *s; s++)
		if ((*s >= 'a' && *s <= 'z') || (*s & 0x80))
			return true;
	return false;
}

static void find_by_name(struct compat *c, struct view name, struct gpu_match *m)
{
	struct search s = { .c = c };
	struct gpu_words bare;

	take_stem(&s, name);
	if (!s.stem.p) {
		if (!gpu_name_plain(name, &s.plain))
			return;
		gpu_name_words(&s.plain, NAME_DROP_BRAND, &s.words);
		gpu_name_words(&s.plain, NAME_DROP_BRAND | NAME_DROP_SERIES, &bare);
		s.series = bare.n != s.words.n;
		s.branded = s.plain.branded || gpu_words_branded(&s.words);
		s.bare = !has_letter(s.plain.s) || strncmp(s.plain.s, "titan", 5) == 0;
	}
	choose_hits(&s, m);
	if (m->n || s.stem.p)
		return;
	near_init(&s.near, view_of(s.plain.s));
	look(&s, offer_near);
	m->near = near_list(c->a, &s.near);
}

struct gpu_found {
	const char *name;
	struct gpu_match match;
};
enum { FOUND_MAX = 64 };

static void find_new(struct compat *c, const char *name, struct gpu_match *ret)
{
	struct view v = view_trim(view_of(name));

	*ret = (struct gpu_match){ .rows = NULL, .cc = -1 };
	if (v.n && !find_device(c, v, ret) && !find_capability(c, v, ret))
		find_by_name(c, mig_parent(v), ret);
	if (!ret->near)
		ret->near = arena_calloc(c->a, 1, sizeof(*ret->near));
}

void compat_gpu_find(struct compat *c, const char *name, struct gpu_match *ret)
{
	size_t i;

	name = name ? name : "";
	for (i = 0; i < c->n_gpu_found; i++)
		if (strcmp(c->gpu_found[i].name, name) == 0) {
			*ret = c->gpu_found[i].match;
			return;
		}
	find_new(c, name, ret);
	if (c->n_gpu_found < FOUND_MAX)
		*ARENA_APPEND(c->a, c->gpu_found, c->n_gpu_found) = (struct gpu_found){
			.name = arena_strdup(c->a, name), .match = *ret
		};
}
