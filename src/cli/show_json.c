/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show as JSON: rows as the table has them, with the promised fields in front and sources that can
 * be read.
 */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/jsonw.h"
#include "cli/show.h"

enum { NESTING_MAX = 32 }; /* tables of --data may nest deeper than the writer likes */

/* Fields that stand in every row, known or not. */
static const char *const torch_fields[] = { "version",	   "variant",	"platform",  "cuda",
					    "cudnn",	   "python",	"arch_list", "min_glibc",
					    "torchvision", "torchaudio" };

static void put_value(struct jsonw *w, const struct json *v, int depth)
{
	const struct json *m;
	int64_t i;
	double d;

	switch (depth > NESTING_MAX ? JSON_NULL : json_type(v)) {
	case JSON_NULL:
		jsonw_null(w);
		break;
	case JSON_BOOL:
		jsonw_bool(w, json_is_true(v));
		break;
	case JSON_NUMBER:
		if (json_int(v, &i))
			jsonw_int(w, i);
		else if (json_num(v, &d))
			jsonw_num(w, d);
		else
			jsonw_null(w);
		break;
	case JSON_STRING:
		jsonw_str(w, json_str(v));
		break;
	case JSON_ARRAY:
		jsonw_array(w);
		for (m = json_first(v); m; m = json_next(m))
			put_value(w, m, depth + 1);
		jsonw_end_array(w);
		break;
	case JSON_OBJECT:
		jsonw_object(w);
		for (m = json_first(v); m; m = json_next(m)) {
			jsonw_key(w, json_key(m));
			put_value(w, m, depth + 1);
		}
		jsonw_end_object(w);
		break;
	}
}

static void put_sources(struct show *s, struct jsonw *w, const struct show_row *r)
{
	const struct json *v;

	/* A list for a reader shows none. */
	if (!s->r->o->json && s->n > SHOW_RECORDS_MAX)
		return;
	jsonw_key(w, "sources");
	jsonw_array(w);
	for (v = json_first(json_get(r->row, "sources")); v; v = json_next(v))
		if (json_str(v))
			jsonw_str(w, compat_source(s->c, r->table, json_str(v)));
	jsonw_end_array(w);
}

static bool listed(const char *const *names, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* All members of the row but its sources and those in `done`. */
static void put_rest(struct jsonw *w, const struct json *row, const char *const *done, size_t n)
{
	const struct json *m;

	for (m = json_first(row); m; m = json_next(m)) {
		if (strcmp(json_key(m), "sources") == 0 || listed(done, n, json_key(m)))
			continue;
		jsonw_key(w, json_key(m));
		put_value(w, m, 0);
	}
}

static void put_gpu(struct run *run, struct jsonw *w, const struct show_row *r)
{
	/*
	 * Said under their public names, or true of one id alone while the row may stand for
	 * several.
	 */
	static const char *const done[] = { "id",   "name",	    "chip", "chips", "cc",
					    "ids",  "last_driver",  "open", "class", "memory_gib",
					    "kind", "first_driver", "arch" };
	const struct gpu_row *g = r->gpu;

	jsonw_kstr(w, "name", g->name);
	jsonw_kstr(w, "chip", g->chip);
	jsonw_kstr(w, "compute_capability", g->cc > 0 ? cc_text(run->a, g->cc) : NULL);
	jsonw_kstrs(w, "pci_ids", (const char *const *)r->ids, r->n_ids);
	jsonw_kstr(w, "last_driver_branch", g->last_driver);
	jsonw_kstr(w, "open_kernel_module", g->open_module);
	jsonw_kstr(w, "architecture", g->architecture);
	jsonw_kstr(w, "first_driver", g->first_driver);
	jsonw_kstr(w, "class", g->gpu_class);
	jsonw_key(w, "memory_gib");
	if (g->memory_gib > 0)
		jsonw_num(w, g->memory_gib);
	else
		jsonw_null(w);
	jsonw_kbool(w, "last_driver_known", g->last_driver_known);
	/*
	 * A capability alone has its sources from one of its chips, whose own facts are not the
	 * others'.
	 */
	if (g->chip || g->id)
		put_rest(w, r->row, done, ARRAY_LEN(done));
}

static void put_torch(struct jsonw *w, const struct show_row *r)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(torch_fields); i++) {
		jsonw_key(w, torch_fields[i]);
		put_value(w, json_get(r->row, torch_fields[i]), 0);
	}
	if (r->runs_by) {
		jsonw_kstr(w, "runs_by", r->runs_by);
		jsonw_kstr(w, "runs_from", r->runs_from);
	}
	put_rest(w, r->row, torch_fields, ARRAY_LEN(torch_fields));
}

void show_json(struct show *s, struct strbuf *out)
{
	struct jsonw w;
	size_t i;

	jsonw_init(&w, out, s->r->o->json);
	jsonw_object(&w);
	jsonw_kstr(&w, "schema", "cuvet.table/1");
	jsonw_kstr(&w, "table", s->table);
	jsonw_kstr(&w, "date", compat_table_date(s->c, s->table));
	jsonw_key(&w, "rows");
	jsonw_array(&w);
	for (i = 0; i < s->n; i++) {
		const struct show_row *r = &s->rows[i];

		jsonw_object(&w);
		if (r->gpu)
			put_gpu(s->r, &w, r);
		else if (strcmp(s->table, "torch") == 0)
			put_torch(&w, r);
		else
			put_rest(&w, r->row, NULL, 0);
		put_sources(s, &w, r);
		jsonw_end_object(&w);
	}
	jsonw_end_array(&w);
	jsonw_end_object(&w);
	strbuf_addc(out, '\n');
}
