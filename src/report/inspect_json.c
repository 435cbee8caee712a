/* SPDX-License-Identifier: Apache-2.0 */
/* The document cuvet.binary/1. Fields are added, never changed. */
#include <string.h>

#include "base/arena.h"
#include "base/jsonw.h"
#include "base/version.h"
#include "report/inspect_text.h"

static void put_paths(struct jsonw *w, const char *key, const char *list)
{
	size_t n;

	jsonw_key(w, key);
	jsonw_array(w);
	/* An empty element counts, the last one too: it is the working directory. */
	for (; list && *list; list += n + 1) {
		n = strcspn(list, ":");
		jsonw_view(w, (struct view){ .p = list, .n = n });
		if (!list[n])
			break;
		if (!list[n + 1])
			jsonw_str(w, "");
	}
	jsonw_end_array(w);
}

static void put_targets(struct jsonw *w, const char *key, struct arena *a, const struct fatbin *f,
			enum fatbin_kind kind)
{
	size_t n;
	const char **names = fatbin_names(a, f, kind, &n);

	jsonw_kstrs(w, key, names, n);
}

static void put_numbers(struct jsonw *w, const char *key, const unsigned *v, size_t n)
{
	size_t i;

	jsonw_key(w, key);
	jsonw_array(w);
	for (i = 0; i < n; i++)
		jsonw_int(w, v[i]);
	jsonw_end_array(w);
}

static void put_code(struct jsonw *w, struct arena *a, const struct inspect_code *c)
{
	const struct fatbin *f = &c->f;

	jsonw_object(w);
	jsonw_kstr(w, "section", c->section);
	put_targets(w, "cubins", a, f, FATBIN_CUBIN);
	put_targets(w, "ptx", a, f, FATBIN_PTX);
	put_targets(w, "lto", a, f, FATBIN_LTO);
	jsonw_kint(w, "blobs", f->total);
	jsonw_kint(w, "entries", f->entries);
	if (c->records >= 0)
		jsonw_kint(w, "registered", c->records);
	jsonw_key(w, "packing");
	jsonw_object(w);
	jsonw_kint(w, "none", f->plain);
	jsonw_kint(w, "lz4", f->lz4);
	jsonw_kint(w, "zstd", f->zstd);
	jsonw_kint(w, "other", f->packed);
	jsonw_end_object(w);
	if (f->unknown) {
		jsonw_key(w, "unknown");
		jsonw_object(w);
		jsonw_kint(w, "count", f->unknown);
		put_numbers(w, "kinds", f->kinds, f->n_kinds);
		put_numbers(w, "versions", f->versions, f->n_versions);
		jsonw_end_object(w);
	}
	jsonw_kint(w, "bytes_read", (int64_t)f->bytes);
	jsonw_kstr(w, "why", f->damage);
	jsonw_end_object(w);
}

static void put_all_code(struct jsonw *w, const struct inspect_file *f, struct arena *a,
			 const char *key, bool linked)
{
	size_t i;

	jsonw_key(w, key);
	jsonw_array(w);
	for (i = 0; i < f->n_code; i++)
		if (f->code[i].linked == linked)
			put_code(w, a, &f->code[i]);
	jsonw_end_array(w);
}

static void put_resolved(struct jsonw *w, const struct inspect_file *f)
{
	const struct load_answer *list = NULL;
	size_t n = 0, i, k;

	if (f->session)
		list = load_session_answers(f->session, &n);
	jsonw_key(w, "resolved");
	jsonw_array(w);
	for (i = 0; i < n; i++) {
		const struct load_object *o = list[i].object;

		jsonw_object(w);
		jsonw_kstr(w, "name", list[i].name);
		jsonw_kstr(w, "path", o->path);
		jsonw_kstr(w, "via", load_via_name(list[i].via));
		if (o->holder && list[i].via == VIA_RPATH_INHERITED)
			jsonw_kstr(w, "via_object", o->holder->path);
		jsonw_kstr(w, "asked_by", list[i].asker ? list[i].asker->path : NULL);
		if (o->state == LOAD_FATAL)
			jsonw_kstr(w, "why", o->why);
		jsonw_key(w, "shadowed");
		jsonw_array(w);
		for (k = 0; list[i].via != VIA_LOADED && k < o->n_shadowed; k++) {
			jsonw_object(w);
			jsonw_kstr(w, "path", o->shadowed[k].path);
			jsonw_kstr(w, "via", load_via_name(o->shadowed[k].via));
			jsonw_end_object(w);
		}
		jsonw_end_array(w);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void put_compat(struct jsonw *w, const struct inspect_compat *c)
{
	jsonw_key(w, "compat");
	if (!c) {
		jsonw_null(w);
		return;
	}
	jsonw_object(w);
	jsonw_kstr(w, "cuda", c->cuda);
	jsonw_kstrs(w, "drivers", c->drivers, c->n_drivers);
	jsonw_kstr(w, "why", c->why);
	jsonw_end_object(w);
}

static void put_names(struct jsonw *w, struct arena *a, const struct inspect_file *f,
		      const char *key, enum fatbin_kind kind)
{
	size_t n;
	const char **names = inspect_targets(a, f, kind, true, &n);

	jsonw_kstrs(w, key, names, n);
}

static void put_file(struct jsonw *w, struct arena *a, const struct inspect_file *f)
{
	jsonw_object(w);
	jsonw_kstr(w, "path", f->path);
	jsonw_kstr(w, "container", f->container);
	jsonw_kstr(w, "kind", inspect_kind_word(f->kind));
	jsonw_kstr(w, "machine", f->machine);
	jsonw_kstr(w, "soname", f->soname);
	jsonw_kstrs(w, "needed", f->needed, f->n_needed);
	jsonw_kstrs(w, "needed_delayed", f->delayed, f->n_delayed);
	put_paths(w, "rpath", f->rpath);
	put_paths(w, "runpath", f->runpath);
	jsonw_kstr(w, "glibc", f->glibc);
	jsonw_kstr(w, "glibcxx", f->glibcxx);
	jsonw_kstr(w, "cxxabi", f->cxxabi);
	jsonw_kstr(w, "interpreter", f->interp);
	jsonw_kstr(w, "python", f->python);
	if (f->has_exports)
		jsonw_kint(w, "exports", f->exports);
	if (f->kind == INSPECT_AR || f->kind == INSPECT_WHEEL || f->kind == INSPECT_SDIST)
		jsonw_kint(w, "members", (int64_t)f->members);
	put_names(w, a, f, "cubins", FATBIN_CUBIN);
	put_names(w, a, f, "ptx", FATBIN_PTX);
	put_names(w, a, f, "lto", FATBIN_LTO);
	put_all_code(w, f, a, "linked", true);
	put_all_code(w, f, a, "elsewhere", false);
	put_compat(w, f->compat);
	put_resolved(w, f);
	jsonw_kstr(w, "note", f->note);
	jsonw_kstr(w, "why", f->why);
	jsonw_end_object(w);
}

static void put_loader(struct jsonw *w, const struct ldso_root *l)
{
	size_t n = 0;

	jsonw_key(w, "loader");
	if (!l || !l->loader) {
		jsonw_null(w);
		return;
	}
	while (l->hwcaps[n])
		n++;
	jsonw_object(w);
	jsonw_kstr(w, "path", l->loader);
	jsonw_kstr(w, "libc", l->musl ? "musl" : "glibc");
	jsonw_kstr(w, "version", l->version);
	jsonw_kstrs(w, "hwcaps", l->hwcaps, n);
	jsonw_kbool(w, "hwcaps_known", l->hwcaps_known);
	jsonw_kstrs(w, "default_dirs", l->dirs, l->n_dirs);
	jsonw_kbool(w, "cache", !l->cache_error);
	jsonw_end_object(w);
}

static void put_process(struct jsonw *w, const struct process *p)
{
	size_t i;

	jsonw_key(w, "process");
	jsonw_object(w);
	jsonw_kint(w, "pid", p->pid);
	jsonw_kstr(w, "executable", p->exe);
	jsonw_key(w, "loaded");
	jsonw_array(w);
	for (i = 0; i < p->n; i++) {
		jsonw_object(w);
		jsonw_kstr(w, "path", p->v[i].path);
		jsonw_kstr(w, "soname", p->v[i].soname);
		jsonw_kstr(w, "state", mapped_state_word(p->v[i].state));
		jsonw_kstr(w, "expected", p->v[i].expected);
		jsonw_kstr(w, "via", p->v[i].expected ? load_via_name(p->v[i].via) : NULL);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
	jsonw_key(w, "not_loaded");
	jsonw_array(w);
	for (i = 0; i < p->n_missing; i++) {
		jsonw_object(w);
		jsonw_kstr(w, "name", p->missing[i]->name);
		jsonw_kstr(w, "expected", p->missing[i]->object->path);
		jsonw_kstr(w, "via", load_via_name(p->missing[i]->via));
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
	jsonw_end_object(w);
}

void inspect_json(const struct inspect *in, const struct process *process, struct strbuf *out)
{
	struct jsonw w;
	size_t i;

	jsonw_init(&w, out, true);
	jsonw_object(&w);
	jsonw_kstr(&w, "schema", "cuvet.binary/1");
	jsonw_kstr(&w, "cuvet", CUVET_VERSION);
	jsonw_key(&w, "files");
	jsonw_array(&w);
	for (i = 0; i < in->n; i++)
		put_file(&w, in->a, &in->files[i]);
	jsonw_end_array(&w);
	put_loader(&w, in->w);
	if (process)
		put_process(&w, process);
	jsonw_kbool(&w, "cut", in->cut);
	jsonw_end_object(&w);
	strbuf_addc(out, '\n');
}
