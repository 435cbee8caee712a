/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The facts file beside a foreign root: found, read with a limit, checked as a whole. Probes then
 * read it without fear of a wrong type. It speaks of the audited machine alone, and may be as
 * hostile as its tree.
 */
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "probe/facts.h"
#include "probe/probe.h"

enum { FACTS_MAX = 4 << 20, ITEMS_MAX = 4096 };

/* What a key has to hold: its type, and what its members have to be. */
struct shape {
	const char *key;
	enum json_type type;
	enum json_type members; /* JSON_NULL: not looked at */
};

/* clang-format off */
static const struct shape top[] = {
	{ "uname", JSON_STRING, JSON_NULL },	    { "euid", JSON_NUMBER, JSON_NULL },
	{ "gids", JSON_ARRAY, JSON_NUMBER },	    { "env", JSON_OBJECT, JSON_STRING },
	{ "dev", JSON_OBJECT, JSON_OBJECT },	    { "cuInit", JSON_NUMBER, JSON_NULL },
	{ "cuDriverVersion", JSON_NUMBER, JSON_NULL }, { "cuDeviceCount", JSON_NUMBER, JSON_NULL },
	{ "nvml", JSON_OBJECT, JSON_NULL },	    { "units", JSON_OBJECT, JSON_STRING },
	{ "shm_bytes", JSON_NUMBER, JSON_NULL },
};
/* clang-format on */

static const struct shape nvml[] = {
	{ "init", JSON_NUMBER, JSON_NULL },
	{ "driver", JSON_STRING, JSON_NULL },
	{ "cuda", JSON_STRING, JSON_NULL },
	{ "gpus", JSON_ARRAY, JSON_OBJECT },
};

/* clang-format off */
static const struct shape gpu[] = {
	{ "index", JSON_NUMBER, JSON_NULL },	   { "error", JSON_NUMBER, JSON_NULL },
	{ "name", JSON_STRING, JSON_NULL },	   { "uuid", JSON_STRING, JSON_NULL },
	{ "pci", JSON_STRING, JSON_NULL },	   { "mig", JSON_STRING, JSON_NULL },
	{ "compute_mode", JSON_STRING, JSON_NULL }, { "mig_devices", JSON_ARRAY, JSON_STRING },
};
/* clang-format on */

static const char *type_name(enum json_type t)
{
	switch (t) {
	case JSON_NUMBER:
		return N_("a whole number");
	case JSON_STRING:
		return N_("a text");
	case JSON_ARRAY:
		return N_("a list");
	case JSON_OBJECT:
		return N_("an object");
	default:
		return N_("another type");
	}
}

/* Numbers have to be whole and not negative: codes, identities and sizes are all that a facts file
 * counts. */
static bool fits(const struct json *v, enum json_type type)
{
	int64_t n;

	return json_type(v) == type && (type != JSON_NUMBER || (json_int(v, &n) && n >= 0));
}

static int check_members(const struct json *v, const struct shape *s, const char *name,
			 struct err *err)
{
	const struct json *j;
	size_t n = 0;

	for (j = json_first(v); j; j = json_next(j)) {
		if (++n > ITEMS_MAX)
			return err_set(err, ERR_PARSE, _("%s: %s: more than %d members"), name,
				       s->key, ITEMS_MAX);
		if (s->members != JSON_NULL && !fits(j, s->members))
			return err_set(err, ERR_PARSE, _("%s: %s: member %zu is not %s"), name,
				       s->key, n, _(type_name(s->members)));
	}
	return 0;
}

static int check(const struct json *obj, const struct shape *shapes, size_t n, const char *name,
		 struct err *err)
{
	const struct json *v;
	size_t i;
	int r;

	for (i = 0; i < n; i++) {
		v = json_get(obj, shapes[i].key);
		/* null is as good as absent */
		if (json_type(v) == JSON_NULL)
			continue;
		if (!fits(v, shapes[i].type))
			return err_set(err, ERR_PARSE, _("%s: %s is not %s"), name, shapes[i].key,
				       _(type_name(shapes[i].type)));
		if (shapes[i].type != JSON_ARRAY && shapes[i].type != JSON_OBJECT)
			continue;
		r = check_members(v, &shapes[i], name, err);
		if (r)
			return r;
	}
	return 0;
}

int facts_parse(struct arena *a, struct view text, const char *name, const struct json **ret,
		struct err *err)
{
	const struct json *doc, *j;
	const char *schema;
	int r = json_parse(a, text, name, &doc, err);

	if (r)
		return r;
	if (json_type(doc) != JSON_OBJECT)
		return err_set(err, ERR_PARSE, _("%s: not an object"), name);
	schema = json_get_str(doc, "schema");
	if (!schema || strcmp(schema, "cuvet.facts/1") != 0)
		return err_set(err, ERR_PARSE, _("%s: schema is \"%.64s\", not \"cuvet.facts/1\""),
			       name, schema ? schema : "");
	r = check(doc, top, ARRAY_LEN(top), name, err);
	if (!r)
		r = check(json_get(doc, "nvml"), nvml, ARRAY_LEN(nvml), name, err);
	for (j = json_first(json_get(json_get(doc, "nvml"), "gpus")); j && !r; j = json_next(j))
		r = check(j, gpu, ARRAY_LEN(gpu), name, err);
	if (!r)
		*ret = doc;
	return r;
}

static int load(struct probe_ctx *p, const char *path, struct err *err)
{
	struct view text;
	int r = file_read(p->a, path, FACTS_MAX, &text, err);

	if (!r)
		r = facts_parse(p->a, text, path, &p->facts, err);
	if (!r)
		p->facts_name = path;
	return r;
}

/* The file came with the tree: a damaged one says nothing, and its parts say so. */
static void mark_broken(struct probe_ctx *p, const char *path, const char *why)
{
	struct parts *parts = &p->s->parts;
	struct fact *const of_file[] = { &parts->environment, &parts->nodes, &parts->cuda,
					 &parts->nvml };
	size_t i;

	why = arena_strdup(p->a, why);
	for (i = 0; i < ARRAY_LEN(of_file); i++)
		fact_broken(of_file[i], path, why);
}

int probe_facts_load(struct probe_ctx *p, const char *facts_file, struct err *err)
{
	struct err damage = { 0 };
	const char *path;

	p->facts = NULL;
	p->facts_name = NULL;
	if (p->root->live) {
		if (!facts_file)
			return 0;
		return err_set(err, ERR_USAGE,
			       _("--facts speaks of another machine: it goes with --root DIR"));
	}
	if (facts_file)
		return load(p, facts_file, err);
	path = path_join(p->a, p->root->dir, "../facts.json");
	if (load(p, path, &damage) && damage.code != ERR_NOENT && damage.code != ERR_TYPE)
		mark_broken(p, path, damage.msg);
	return 0;
}
