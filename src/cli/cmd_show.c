/* SPDX-License-Identifier: Apache-2.0 */
/* show: looks into the matrix, with sources. A key is compared whole, never as a part. */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/jsonw.h"
#include "base/suggest.h"
#include "cli/opts.h"
#include "cli/present.h"
#include "cli/show.h"
#include "cli/show_check.h"
#include "report/wrap.h"

static bool is_table(const struct show *s, const char *name)
{
	return strcmp(s->table, name) == 0;
}

static void add_row(struct show *s, size_t i)
{
	const struct json *row = compat_row(s->c, s->table, i);
	struct show_row *r;

	if (!row)
		return;
	r = ARENA_APPEND(s->r->a, s->rows, s->n);
	r->row = row;
	r->table = s->table;
}

static bool same_version(const char *a, const char *b)
{
	struct version va, vb;

	return version_parse(view_of(a), &va) && version_parse(view_of(b), &vb) &&
	       version_cmp(&va, &vb) == 0;
}

/* "2.6" is the release 2.6.0 of a package; CUDA's 12.4 and 12.4.0 are rows of their own. */
static bool field_is(const struct show *s, const char *field, const char *value, const char *key)
{
	if (view_is_nocase(view_of(value), key))
		return true;
	return is_table(s, "torch") && strcmp(field, "version") == 0 && same_version(value, key);
}

static bool key_fits(struct show *s, size_t i, const char *key)
{
	const struct table_key *k = compat_table_keys(s->table);
	const char *value;

	if (!k) {
		/* A table that this program does not know of has its key in front. */
		value = json_key(json_first(compat_row(s->c, s->table, i)));
		value = value ? compat_value(s->c, s->table, i, value) : NULL;
		return value && view_is_nocase(view_of(value), key);
	}
	for (; k->field; k++) {
		value = compat_value(s->c, s->table, i, k->field);
		if (value && field_is(s, k->field, value, key))
			return true;
	}
	return false;
}

/* "2.6.0+cu124" is two keys. */
static struct str_list split_keys(struct show *s, const struct str_list *args)
{
	struct str_list keys = { .n = 0 };
	struct view head, rest;
	size_t i;

	keys.v = arena_calloc(s->r->a, 2 * args->n + 1, sizeof(*keys.v));
	for (i = 1; i < args->n; i++) {
		head = view_cut(view_of(args->v[i]), '+', &rest);
		if (!is_table(s, "torch") || !rest.n || !head.n) {
			keys.v[keys.n++] = args->v[i];
			continue;
		}
		keys.v[keys.n++] = view_dup(s->r->a, head);
		keys.v[keys.n++] = view_dup(s->r->a, rest);
	}
	return keys;
}

static void put_near(struct strbuf *b, const char *const *near)
{
	size_t i;

	for (i = 0; near && near[i]; i++)
		strbuf_printf(b, "%s%s", i ? ", " : _("; near: "), near[i]);
}

static int nothing_fits(struct show *s, const char *key, const char *const *near)
{
	struct strbuf b;
	struct err e;

	strbuf_init(&b, s->r->a);
	put_near(&b, near);
	if (b.n)
		err_set(&e, ERR_UNKNOWN_NAME, _("show %s: nothing fits \"%.200s\"%s"), s->table,
			key, b.s);
	else
		err_set(&e, ERR_UNKNOWN_NAME,
			_("show %s: nothing fits \"%.200s\"; `cuvet show %s` lists all"), s->table,
			key, s->table);
	return cli_fail(&e);
}

/* Says which key is to blame: one that fits no row at all, or else all of them together. */
static int blame(struct show *s, const struct str_list *keys)
{
	size_t k, i, n = compat_count(s->c, s->table);
	struct strbuf b;

	strbuf_init(&b, s->r->a);
	for (k = 0; k < keys->n; k++) {
		for (i = 0; i < n && !key_fits(s, i, keys->v[k]); i++)
			;
		if (i == n)
			return nothing_fits(s, keys->v[k], compat_near(s->c, s->table, keys->v[k]));
		strbuf_sep(&b, " ");
		strbuf_add(&b, keys->v[k]);
	}
	return nothing_fits(s, b.s, NULL);
}

static int select_rows(struct show *s, const struct str_list *keys)
{
	size_t n = compat_count(s->c, s->table), i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < keys->n && key_fits(s, i, keys->v[k]); k++)
			;
		if (k == keys->n)
			add_row(s, i);
	}
	return s->n || !n ? EXIT_OK : blame(s, keys);
}

static const char *joined(struct show *s, const struct str_list *args)
{
	struct strbuf b;
	size_t i;

	strbuf_init(&b, s->r->a);
	for (i = 1; i < args->n; i++) {
		if (i > 1)
			strbuf_addc(&b, ' ');
		strbuf_add(&b, args->v[i]);
	}
	return b.s;
}

/* A GPU by any of its names; without quotes the words of the name are operands of their own. */
static int select_gpus(struct show *s, const struct str_list *args)
{
	const char *name = joined(s, args);
	struct gpu_match m;
	struct show_row *r;
	size_t i, n, k;

	if (args->n > 1 && show_gpus(s, name, &m))
		return EXIT_OK;
	n = compat_count(s->c, s->table);
	for (i = 0; i < n; i++) {
		for (k = 1; k < args->n && key_fits(s, i, args->v[k]); k++)
			;
		if (k < args->n)
			continue;
		r = ARENA_APPEND(s->r->a, s->rows, s->n);
		r->row = compat_row(s->c, s->table, i);
		r->table = s->table;
		r->gpu = compat_gpu_at(s->c, i);
		if (!r->gpu) {
			s->n--;
			continue;
		}
		r->ids = arena_alloc(s->r->a, sizeof(*r->ids));
		r->ids[r->n_ids++] = arena_printf(s->r->a, "10de:%s", r->gpu->id);
	}
	return s->n || !n ? EXIT_OK : nothing_fits(s, name, args->n > 1 ? m.near : NULL);
}

/* "580.65.06" is a release of branch 580. */
static int select_drivers(struct show *s, const struct str_list *keys)
{
	const struct driver_row *d;
	struct str_list branch = { .v = arena_calloc(s->r->a, keys->n + 1, sizeof(*branch.v)) };
	struct version v;
	size_t i;

	for (i = 0; i < keys->n; i++) {
		d = version_parse(view_of(keys->v[i]), &v) ? compat_driver(s->c, keys->v[i], NULL)
							   : NULL;
		branch.v[branch.n++] = d ? arena_printf(s->r->a, "%u", v.part[0]) : keys->v[i];
	}
	return select_rows(s, &branch);
}

static int ambiguous(struct show *s, const char *name, const struct gpu_match *m)
{
	struct strbuf b;
	struct err e;
	size_t i;

	strbuf_init(&b, s->r->a);
	for (i = 0; i < m->n && i < 8; i++) {
		const struct gpu_row *g = m->rows[i];

		strbuf_sep(&b, ", ");
		strbuf_printf(&b, "%s%s (%s, %s)", g->id ? "10de:" : "", g->id ? g->id : g->name,
			      g->chip ? g->chip : "?", g->cc > 0 ? cc_text(s->r->a, g->cc) : "?");
	}
	if (i < m->n)
		strbuf_add(&b, ", ...");
	err_set(&e, ERR_UNKNOWN_NAME,
		_("--gpu %.100s: several GPUs have this name; give one of %s"), name, b.s);
	return cli_fail(&e);
}

/* Keeps the rows whose code runs on the GPU, and says how. */
static int filter_by_gpu(struct show *s, const char *name)
{
	struct gpu_match m;
	const char **list;
	size_t i, kept = 0, n;
	struct strbuf b;
	struct err e;

	compat_gpu_find(s->c, name, &m);
	if (!m.n) {
		strbuf_init(&b, s->r->a);
		put_near(&b, m.near);
		err_set(&e, ERR_UNKNOWN_NAME, _("--gpu %.200s: no such GPU is known%s"), name, b.s);
		return cli_fail(&e);
	}
	if (m.cc < 0)
		return ambiguous(s, name, &m);
	for (i = 0; i < s->n; i++) {
		struct show_row r = s->rows[i];
		enum arch_fit fit;

		list = json_str_list(s->r->a, json_get(r.row, "arch_list"), &n);
		fit = list ? compat_arch_fit((const char *const *)list, n, m.cc, &r.runs_from)
			   : ARCH_FIT_NONE;
		if (fit == ARCH_FIT_NONE)
			continue;
		r.runs_by = fit == ARCH_FIT_SASS ? "SASS" : "PTX";
		s->rows[kept++] = r;
	}
	s->n = kept;
	if (kept)
		return EXIT_OK;
	err_set(&e, ERR_UNKNOWN_NAME,
		_("--gpu %.200s: none of these builds holds code for compute capability %s"), name,
		cc_text(s->r->a, m.cc));
	return cli_fail(&e);
}

static int select_all(struct show *s)
{
	const struct options *o = s->r->o;
	struct str_list keys = split_keys(s, &o->args);
	int code;

	if (is_table(s, "gpu"))
		return select_gpus(s, &o->args);
	code = is_table(s, "driver") ? select_drivers(s, &keys) : select_rows(s, &keys);
	return code || !o->gpu ? code : filter_by_gpu(s, o->gpu);
}

static int write_rows(struct show *s)
{
	const struct json *doc;
	struct strbuf json, text;
	struct err e;

	strbuf_init(&json, s->r->a);
	show_json(s, &json);
	if (compat_error(s->c))
		return cli_fail(compat_error(s->c));
	if (s->r->o->json)
		return cli_write(s->r, json.s, json.n);
	if (json_parse_trusted(s->r->a, (struct view){ .p = json.s, .n = json.n }, s->table, &doc,
			       &e))
		return cli_fail(&e);
	strbuf_init(&text, s->r->a);
	show_text(s, doc, &text);
	return present_page(s->r, text.s, text.n);
}

/* All tables: what there is to look into. */
static int list_tables(struct show *s)
{
	const char *const *t = compat_tables(s->c);
	struct strbuf out;
	struct jsonw w;

	strbuf_init(&out, s->r->a);
	jsonw_init(&w, &out, true);
	if (s->r->o->json) {
		jsonw_object(&w);
		jsonw_kstr(&w, "schema", "cuvet.table/1");
		jsonw_kstr(&w, "table", "tables");
		jsonw_key(&w, "rows");
		jsonw_array(&w);
	} else {
		strbuf_printf(&out, "%-16s %6s  %s\n", _("table"), _("rows"), _("date"));
	}
	for (; *t; t++) {
		size_t n = compat_count(s->c, *t);
		const char *date = compat_table_date(s->c, *t);

		if (!s->r->o->json) {
			strbuf_printf(&out, "%-16s %6zu  %s\n", *t, n, date ? date : "-");
			continue;
		}
		jsonw_object(&w);
		jsonw_kstr(&w, "name", *t);
		jsonw_kint(&w, "count", (int64_t)n);
		jsonw_kstr(&w, "date", date);
		jsonw_kstrs(&w, "sources", NULL, 0);
		jsonw_end_object(&w);
	}
	if (s->r->o->json) {
		jsonw_end_array(&w);
		jsonw_end_object(&w);
		strbuf_addc(&out, '\n');
	}
	if (compat_error(s->c))
		return cli_fail(compat_error(s->c));
	return s->r->o->json ? cli_write(s->r, out.s, out.n) : present_page(s->r, out.s, out.n);
}

static int unknown_table(struct show *s, const char *name)
{
	const char *near = suggest(name, compat_tables(s->c));
	struct err e;

	if (near)
		err_set(&e, ERR_UNKNOWN_NAME, _("no table is called %.80s; did you mean %s?"), name,
			near);
	else
		err_set(&e, ERR_UNKNOWN_NAME,
			_("no table is called %.80s; `cuvet show` lists them"), name);
	return cli_fail(&e);
}

static int run(struct run *r)
{
	const struct options *o = r->o;
	struct show s = { .r = r };
	const char *const *t;
	struct err e;
	int code;

	if (present_formats(r))
		return EXIT_USAGE;
	if (compat_open(r->a, o->data, &s.c, &e))
		return cli_fail(&e);
	if (o->check)
		return show_check(r, s.c);
	if (!o->args.n)
		return list_tables(&s);
	for (t = compat_tables(s.c); *t && strcmp(*t, o->args.v[0]) != 0; t++)
		;
	if (!*t)
		return unknown_table(&s, o->args.v[0]);
	s.table = *t;
	if (o->gpu && !is_table(&s, "torch")) {
		err_set(&e, ERR_USAGE, _("--gpu goes with `show torch`"));
		return cli_fail(&e);
	}
	/* A damaged table is the reason for whatever seems to be missing from it. */
	if (!compat_count(s.c, s.table) && compat_error(s.c))
		return cli_fail(compat_error(s.c));
	code = select_all(&s);
	return code ? code : write_rows(&s);
}

static const struct opt *const opts[] = { &opt_gpu, &opt_check, NULL };

extern const struct cmd cmd_show;
const struct cmd cmd_show = {
	.name = "show",
	.args = "[TABLE [KEY...]]",
	.summary = N_("look into the matrix of what goes with what, with sources"),
	.details = N_(
		"Without a table: the tables, how many rows each has and its date. With keys: the rows that fit "
		"all of them; a key is compared whole. Few rows are shown with all their fields and where "
		"each comes from, many as a list. With --check nothing is shown: the tables are validated, "
		"one line a problem and exit code 4, or \"ok\" and how much was looked at.\n"
		"\n"
		"  cuvet show gpu 'RTX 4090'\n"
		"  cuvet show gpu 10de:2684\n"
		"  cuvet show gpu 'NVIDIA GeForce RTX 2070 ...'\n"
		"  cuvet show torch 2.6.0 cu124 linux_aarch64\n"
		"  cuvet show torch --gpu 'GTX 1080 Ti'\n"
		"  cuvet show driver 580.65.06\n"
		"  cuvet show cuda 12.4 --json\n"
		"  cuvet show --check --data DIR\n"),
	.opts = opts,
	.run = run,
};
