/* SPDX-License-Identifier: Apache-2.0 */
/* Save, load, report and walk the snapshot by its field tables; no field is named here. */
#include "model/snapshot_json.h"

#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/jsonw.h"

enum field_kind { FIELD_FACT, FIELD_LIST, FIELD_OBJECT, FIELD_ARRAY };

struct schema;
struct field {
	const char *key, *label;
	enum field_kind kind;
	size_t offset, count_offset;
	const struct schema *sub;
};

struct schema {
	const struct field *fields;
	size_t n, size;
};

#define SCHEMA(TYPE, tag)                                                                     \
	static const struct field tag##_fields[] = { TYPE##_FIELDS(ROW_F, ROW_L, ROW_O, ROW_A) }; \
	static const struct schema schema_##TYPE = { .fields = tag##_fields,                      \
						     .n = ARRAY_LEN(tag##_fields),                \
						     .size = sizeof(struct tag) }
#define ROW(name_, label_, kind_) \
	.key = #name_, .label = label_, .kind = kind_, .offset = offsetof(struct THIS, name_)
#define ROW_F(name, label) { ROW(name, label, FIELD_FACT) },
#define ROW_L(name, label) { ROW(name, label, FIELD_LIST) },
#define ROW_O(name, type, label) { ROW(name, label, FIELD_OBJECT), .sub = &schema_##type },
#define ROW_A(name, type, label)                          \
	{ ROW(name, label, FIELD_ARRAY), .sub = &schema_##type, \
	  .count_offset = offsetof(struct THIS, n_##name) },

#define THIS parts
SCHEMA(PARTS, parts);
#undef THIS
#define THIS host
SCHEMA(HOST, host);
#undef THIS
#define THIS container
SCHEMA(CONTAINER, container);
#undef THIS
#define THIS gpu
SCHEMA(GPU, gpu);
#undef THIS
#define THIS module
SCHEMA(MODULE, module);
#undef THIS
#define THIS library
SCHEMA(LIBRARY, library);
#undef THIS
#define THIS block
SCHEMA(BLOCK, block);
#undef THIS
#define THIS dkms
SCHEMA(DKMS, dkms);
#undef THIS
#define THIS driver
SCHEMA(DRIVER, driver);
#undef THIS
#define THIS node
SCHEMA(NODE, node);
#undef THIS
#define THIS var
SCHEMA(VAR, var);
#undef THIS
#define THIS unit
SCHEMA(UNIT, unit);
#undef THIS
#define THIS toolkit
SCHEMA(TOOLKIT, toolkit);
#undef THIS
#define THIS package
SCHEMA(PACKAGE, package);
#undef THIS
#define THIS torch
SCHEMA(TORCH, torch);
#undef THIS
#define THIS extension
SCHEMA(EXTENSION, extension);
#undef THIS
#define THIS load
SCHEMA(LOAD, load);
#undef THIS
#define THIS triton
SCHEMA(TRITON, triton);
#undef THIS
#define THIS kernelspec
SCHEMA(KERNEL, kernelspec);
#undef THIS
#define THIS python
SCHEMA(PYTHON, python);
#undef THIS
#define THIS require
SCHEMA(REQUIRE, require);
#undef THIS
#define THIS runtime
SCHEMA(RUNTIME, runtime);
#undef THIS
#define THIS sign
SCHEMA(SIGN, sign);
#undef THIS
#define THIS wanted
SCHEMA(WANTED, wanted);
#undef THIS
#define THIS deed
SCHEMA(DEED, deed);
#undef THIS
#define THIS undecided
SCHEMA(DOUBT, undecided);
#undef THIS
#define THIS left_out
SCHEMA(PRAGMA, left_out);
#undef THIS
#define THIS planned
SCHEMA(PLANNED, planned);
#undef THIS
#define THIS cdi
SCHEMA(CDI, cdi);
#undef THIS
#define THIS ospackage
SCHEMA(OSPACKAGE, ospackage);
#undef THIS
#define THIS event
SCHEMA(EVENT, event);
#undef THIS
#define THIS snapshot
SCHEMA(SNAPSHOT, snapshot);
#undef THIS

/* Array field access: the pointer and the count behind a field. */
static const unsigned char *array_of(const struct field *f, const void *obj, size_t *n)
{
	const unsigned char *base = obj;
	const unsigned char *elems;

	memcpy(&elems, base + f->offset, sizeof(elems));
	memcpy(n, base + f->count_offset, sizeof(*n));
	return elems;
}

static const void *at(const struct field *f, const void *obj)
{
	return (const unsigned char *)obj + f->offset;
}

/* ------------------------------------------------------------------ save */

static void save_state(struct jsonw *w, enum fact_state state, const char *source, const char *why)
{
	if (state != FACT_KNOWN)
		jsonw_kstr(w, "state", fact_state_name(state));
	if (why)
		jsonw_kstr(w, "why", why);
	if (source)
		jsonw_kstr(w, "s", source);
}

static void save_fact(struct jsonw *w, const char *key, const struct fact *f)
{
	if (f->state == FACT_NOT_ASKED && !f->why)
		return;
	jsonw_key(w, key);
	jsonw_object(w);
	if (f->state == FACT_KNOWN)
		jsonw_kstr(w, "v", f->value);
	save_state(w, f->state, f->source, f->why);
	jsonw_end_object(w);
}

static void save_list(struct jsonw *w, const char *key, const struct fact_list *f)
{
	if (f->state == FACT_NOT_ASKED && !f->why)
		return;
	jsonw_key(w, key);
	jsonw_object(w);
	if (f->state == FACT_KNOWN)
		jsonw_kstrs(w, "v", f->values, f->n);
	save_state(w, f->state, f->source, f->why);
	jsonw_end_object(w);
}

static void save_object(struct jsonw *w, const struct schema *sc, const void *obj)
{
	const struct field *f;
	const unsigned char *e;
	size_t i, n;

	jsonw_object(w);
	for (f = sc->fields; f < sc->fields + sc->n; f++) {
		switch (f->kind) {
		case FIELD_FACT:
			save_fact(w, f->key, at(f, obj));
			break;
		case FIELD_LIST:
			save_list(w, f->key, at(f, obj));
			break;
		case FIELD_OBJECT:
			jsonw_key(w, f->key);
			save_object(w, f->sub, at(f, obj));
			break;
		case FIELD_ARRAY:
			e = array_of(f, obj, &n);
			jsonw_key(w, f->key);
			jsonw_array(w);
			for (i = 0; i < n; i++)
				save_object(w, f->sub, e + i * f->sub->size);
			jsonw_end_array(w);
			break;
		}
	}
	jsonw_end_object(w);
}

void snapshot_save(struct jsonw *w, const struct snapshot *s)
{
	save_object(w, &schema_SNAPSHOT, s);
}

/* ------------------------------------------------------------------ load */

struct loader {
	struct arena *a;
	const char *name; /* of the file, source of plain values */
	struct err *err;
};

static int wrong(struct loader *l, const char *key, const char *wanted)
{
	return err_set(l->err, ERR_PARSE, _("%s: \"%s\" is not %s"), l->name, key, wanted);
}

static int load_state(struct loader *l, const struct json *v, const char *key, enum fact_state *ret)
{
	const char *state = json_get_str(v, "state");

	if (!state)
		return wrong(l, key, _("a fact"));
	if (!fact_state_from_name(state, ret) || *ret == FACT_KNOWN)
		return wrong(l, key, _("a fact with a known state"));
	return 0;
}

/* Text of a plain JSON value; NULL for arrays and objects. */
static const char *plain_text(struct loader *l, const struct json *v)
{
	int64_t i;

	switch (json_type(v)) {
	case JSON_STRING:
		return json_str(v);
	case JSON_BOOL:
		return json_is_true(v) ? "yes" : "no";
	case JSON_NUMBER:
		return json_int(v, &i) ? arena_printf(l->a, "%lld", (long long)i) : NULL;
	default:
		return NULL;
	}
}

static int load_fact(struct loader *l, const struct json *v, const char *key, struct fact *f)
{
	const struct json *inner = json_get(v, "v");

	if (json_type(v) == JSON_NULL) {
		fact_absent(f, l->name);
		return 0;
	}
	if (json_type(v) != JSON_OBJECT) {
		fact_set(f, plain_text(l, v), l->name);
		return f->state == FACT_KNOWN ? 0 : wrong(l, key, _("one value"));
	}
	f->source = json_get_str(v, "s");
	f->why = json_get_str(v, "why");
	if (!inner)
		return load_state(l, v, key, &f->state);
	f->value = plain_text(l, inner);
	if (!f->value)
		return wrong(l, key, _("one value"));
	f->state = FACT_KNOWN;
	return 0;
}

static int load_list(struct loader *l, const struct json *v, const char *key, struct fact_list *f)
{
	const struct json *inner = json_type(v) == JSON_ARRAY ? v : json_get(v, "v");

	f->source = json_type(v) == JSON_OBJECT ? json_get_str(v, "s") : l->name;
	f->why = json_get_str(v, "why");
	if (json_type(v) == JSON_NULL) {
		f->state = FACT_ABSENT;
		return 0;
	}
	if (!inner)
		return load_state(l, v, key, &f->state);
	f->values = json_str_list(l->a, inner, &f->n);
	if (!f->values || f->n != json_count(inner))
		return wrong(l, key, _("a list of texts"));
	f->state = FACT_KNOWN;
	return 0;
}

static int load_object(struct loader *l, const struct schema *sc, const struct json *v, void *obj);

static int load_array(struct loader *l, const struct field *f, const struct json *v, void *obj)
{
	unsigned char *base = obj, *elems;
	size_t n = json_count(v), i = 0;
	const struct json *e;
	int r;

	if (json_type(v) != JSON_ARRAY)
		return wrong(l, f->key, _("a list"));
	/* Assumptions and requirements are appended to what was loaded. */
	elems = arena_calloc(l->a, arena_room(n), f->sub->size);
	for (e = json_first(v); e; e = json_next(e)) {
		if (json_type(e) != JSON_OBJECT)
			return wrong(l, f->key, _("a list of objects"));
		r = load_object(l, f->sub, e, elems + i++ * f->sub->size);
		if (r)
			return err_wrap(l->err, "%s", f->key);
	}
	memcpy(base + f->offset, &elems, sizeof(elems));
	memcpy(base + f->count_offset, &n, sizeof(n));
	return 0;
}

static int load_object(struct loader *l, const struct schema *sc, const struct json *v, void *obj)
{
	const struct field *f;
	const struct json *m;
	unsigned char *base = obj;
	int r;

	for (f = sc->fields; f < sc->fields + sc->n; f++) {
		m = json_get(v, f->key);
		if (!m)
			continue;
		if (f->kind == FIELD_FACT)
			r = load_fact(l, m, f->key, (struct fact *)(void *)(base + f->offset));
		else if (f->kind == FIELD_LIST)
			r = load_list(l, m, f->key, (struct fact_list *)(void *)(base + f->offset));
		else if (f->kind == FIELD_ARRAY)
			r = load_array(l, f, m, obj);
		else if (json_type(m) == JSON_OBJECT)
			r = load_object(l, f->sub, m, base + f->offset);
		else
			r = wrong(l, f->key, _("an object"));
		if (r)
			return r;
	}
	return 0;
}

int snapshot_load(struct arena *a, const struct json *obj, const char *name, struct snapshot *ret,
		  struct err *err)
{
	struct loader l = { .a = a, .name = name, .err = err };
	struct snapshot s = { 0 };
	int r;

	if (json_type(obj) != JSON_OBJECT)
		return err_set(err, ERR_PARSE, _("%s: the snapshot is not an object"), name);
	r = load_object(&l, &schema_SNAPSHOT, obj, &s);
	if (!r)
		*ret = s;
	return r;
}

/* ------------------------------------------------------------------ report and walk */

static void report_object(struct jsonw *w, const struct schema *sc, const void *obj);

static void report_fields(struct jsonw *w, const struct schema *sc, const void *obj)
{
	const struct field *f;
	const struct fact_list *list;
	const struct fact *fact;
	const unsigned char *e;
	size_t i, n;

	for (f = sc->fields; f < sc->fields + sc->n; f++) {
		if (f->kind == FIELD_FACT) {
			fact = at(f, obj);
			if (fact->state == FACT_KNOWN || fact->state == FACT_ABSENT)
				jsonw_kstr(w, f->key, fact->value);
		} else if (f->kind == FIELD_LIST) {
			list = at(f, obj);
			if (list->state == FACT_KNOWN)
				jsonw_kstrs(w, f->key, list->values, list->n);
		} else if (f->kind == FIELD_OBJECT) {
			jsonw_key(w, f->key);
			report_object(w, f->sub, at(f, obj));
		} else {
			e = array_of(f, obj, &n);
			jsonw_key(w, f->key);
			jsonw_array(w);
			for (i = 0; i < n; i++)
				report_object(w, f->sub, e + i * f->sub->size);
			jsonw_end_array(w);
		}
	}
}

static void report_object(struct jsonw *w, const struct schema *sc, const void *obj)
{
	jsonw_object(w);
	report_fields(w, sc, obj);
	jsonw_end_object(w);
}

struct walker {
	struct arena *a;
	fact_visit_fn *fn;
	void *ctx;
};

static void walk_object(struct walker *w, const struct schema *sc, const void *obj,
			const char *path)
{
	const struct fact_list *list;
	const struct field *f;
	const unsigned char *e;
	struct fact as_fact;
	const char *sub;
	size_t i, n;

	for (f = sc->fields; f < sc->fields + sc->n; f++) {
		sub = *path ? arena_printf(w->a, "%s.%s", path, f->key) : f->key;
		if (f->kind == FIELD_FACT) {
			w->fn(w->ctx, sub, f->label, at(f, obj));
		} else if (f->kind == FIELD_LIST) {
			list = at(f, obj);
			as_fact = (struct fact){ .state = list->state,
						 .value = "",
						 .source = list->source,
						 .why = list->why };
			for (i = 0; i < list->n; i++)
				as_fact.value = i ? arena_printf(w->a, "%s %s", as_fact.value,
								 list->values[i]) :
						    list->values[i];
			w->fn(w->ctx, sub, f->label, &as_fact);
		} else if (f->kind == FIELD_OBJECT) {
			walk_object(w, f->sub, at(f, obj), sub);
		} else {
			e = array_of(f, obj, &n);
			for (i = 0; i < n; i++)
				walk_object(w, f->sub, e + i * f->sub->size,
					    arena_printf(w->a, "%s[%zu]", sub, i));
		}
	}
}

void snapshot_walk(struct arena *a, const struct snapshot *s, fact_visit_fn *fn, void *ctx)
{
	struct walker w = { .a = a, .fn = fn, .ctx = ctx };

	walk_object(&w, &schema_SNAPSHOT, s, "");
}

static void report_state(void *ctx, const char *path, const char *label, const struct fact *f)
{
	struct jsonw *w = ctx;

	(void)label;
	if (f->state != FACT_DENIED && f->state != FACT_BROKEN)
		return;
	jsonw_object(w);
	jsonw_kstr(w, "field", path);
	jsonw_kstr(w, "state", fact_state_name(f->state));
	jsonw_kstr(w, "why", f->why);
	jsonw_kstr(w, "source", f->source);
	jsonw_end_object(w);
}

void snapshot_report(struct arena *a, struct jsonw *w, const struct snapshot *s)
{
	struct walker walk = { .a = a, .fn = report_state, .ctx = w };

	jsonw_object(w);
	report_fields(w, &schema_SNAPSHOT, s);
	jsonw_key(w, "states");
	jsonw_array(w);
	walk_object(&walk, &schema_SNAPSHOT, s, "");
	jsonw_end_array(w);
	jsonw_end_object(w);
}

/* ------------------------------------------------------------------ rewrite */

struct rewriter {
	snapshot_text_fn *fn;
	void *ctx;
};

static void rewrite_text(const struct rewriter *r, const char **text)
{
	if (*text)
		*text = r->fn(r->ctx, *text);
}

static void rewrite_object(const struct rewriter *r, const struct schema *sc, void *obj)
{
	unsigned char *base = obj, *elems;
	const struct field *f;
	struct fact_list *list;
	struct fact *fact;
	size_t i, n;

	for (f = sc->fields; f < sc->fields + sc->n; f++) {
		if (f->kind == FIELD_FACT) {
			fact = (struct fact *)(void *)(base + f->offset);
			rewrite_text(r, &fact->value);
			rewrite_text(r, &fact->source);
			rewrite_text(r, &fact->why);
		} else if (f->kind == FIELD_LIST) {
			list = (struct fact_list *)(void *)(base + f->offset);
			for (i = 0; i < list->n; i++)
				rewrite_text(r, &list->values[i]);
			rewrite_text(r, &list->source);
			rewrite_text(r, &list->why);
		} else if (f->kind == FIELD_OBJECT) {
			rewrite_object(r, f->sub, base + f->offset);
		} else {
			memcpy(&elems, base + f->offset, sizeof(elems));
			memcpy(&n, base + f->count_offset, sizeof(n));
			for (i = 0; i < n; i++)
				rewrite_object(r, f->sub, elems + i * f->sub->size);
		}
	}
}

void snapshot_rewrite(struct snapshot *s, snapshot_text_fn *fn, void *ctx)
{
	struct rewriter r = { .fn = fn, .ctx = ctx };

	rewrite_object(&r, &schema_SNAPSHOT, s);
}
