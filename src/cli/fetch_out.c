/* SPDX-License-Identifier: Apache-2.0 */
/* Results of fetch as text and JSON. */
#include "cli/fetch_out.h"

#include <string.h>

#include "base/arena.h"
#include "base/jsonw.h"
#include "report/report.h"

static const char *licence_path(struct arena *a, const struct fetch_item *i)
{
	return i->licence_file ? arena_printf(a, "%s/%s", i->path, i->licence_file) : NULL;
}

static void put_item(struct arena *a, struct jsonw *w, const struct fetch_item *i,
		     const char *prefix)
{
	jsonw_kstr(w, "name", i->name);
	jsonw_kstr(w, "version", i->version);
	jsonw_kstr(w, "cuda", i->cuda);
	jsonw_kstr(w, "platform", i->platform);
	jsonw_kstr(w, "url", i->url);
	jsonw_kstr(w, "sha256", i->sha256);
	jsonw_kint(w, "size", (int64_t)i->size);
	jsonw_kstr(w, "state", fetch_state_name(i->state));
	jsonw_kstr(w, "prefix", prefix);
	jsonw_kstr(w, "path", i->path);
	jsonw_kint(w, "files", (int64_t)i->files);
	jsonw_kstr(w, "label", i->label);
	jsonw_kstr(w, "license", i->licence);
	jsonw_kstr(w, "license_url", i->licence_url);
	jsonw_kstr(w, "license_file", licence_path(a, i));
}

/* Several components are one answer: what they have in common, and each of them. */
static struct fetch_item sum_of(const struct fetch_shown *f)
{
	struct fetch_item sum = f->items[0];
	size_t i;

	if (f->n == 1)
		return sum;
	sum.name = f->product;
	sum.version = f->label;
	sum.url = sum.sha256 = sum.licence_file = NULL;
	sum.path = f->into ? f->into : f->prefix;
	for (i = 1; i < f->n; i++) {
		sum.size += f->items[i].size;
		sum.files += f->items[i].files;
		if (f->items[i].state < sum.state)
			sum.state = f->items[i].state;
	}
	return sum;
}

static int show_json(struct run *r, const struct fetch_shown *f)
{
	const struct fetch_item sum = sum_of(f);
	struct strbuf out;
	struct jsonw w;
	size_t i;

	strbuf_init(&out, r->a);
	jsonw_init(&w, &out, true);
	jsonw_object(&w);
	jsonw_kstr(&w, "schema", "cuvet.fetch/1");
	put_item(r->a, &w, &sum, f->prefix);
	jsonw_kstr(&w, "why", f->why);
	jsonw_key(&w, "items");
	jsonw_array(&w);
	for (i = 0; i < f->n; i++) {
		jsonw_object(&w);
		put_item(r->a, &w, &f->items[i], f->prefix);
		jsonw_end_object(&w);
	}
	jsonw_end_array(&w);
	jsonw_end_object(&w);
	strbuf_addc(&out, '\n');
	return cli_write(r, out.s, out.n);
}

static void put_plan(struct strbuf *out, const struct fetch_item *i)
{
	strbuf_printf(out, "%s %s%s%s\n", i->name, i->version, i->cuda ? _(" for CUDA ") : "",
		      i->cuda ? i->cuda : "");
	strbuf_add(out, _("  from     "));
	put_clean(out, i->url);
	strbuf_printf(out, _("\n  sha256   %s\n  size     %.1f MiB\n  licence  "), i->sha256,
		      (double)i->size / (1 << 20));
	put_clean(out, i->licence_url ? i->licence_url : "?");
	strbuf_add(out, _("\n  to       "));
	put_clean(out, i->path);
	strbuf_printf(out, _("\n  state    %s\n"), fetch_state_name(i->state));
}

/* In single quotes where a shell would take it apart. */
static const char *quoted(struct arena *a, const char *s)
{
	struct strbuf b;
	size_t i;

	for (i = 0; s[i]; i++)
		if (!((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') ||
		      (s[i] >= '0' && s[i] <= '9') || strchr("/._-+,:@", s[i])))
			break;
	if (!s[i])
		return s;
	strbuf_init(&b, a);
	strbuf_addc(&b, '\'');
	for (i = 0; s[i]; i++) {
		if (s[i] == '\'')
			strbuf_add(&b, "'\\''");
		else
			strbuf_addc(&b, s[i]);
	}
	strbuf_addc(&b, '\'');
	return b.s;
}

/* The line that puts it to use, where `cuvet env` knows one. */
static void put_env_line(struct run *r, struct strbuf *out, const struct fetch_shown *f,
			 const struct fetch_item *i)
{
	const char *option = NULL;

	/* A component in a folder of its own is no toolkit; into one, and it is. */
	if (f->into && fetch_is_toolkit(i->path))
		option = "--cuda";
	else if (strcmp(i->name, "cudnn") == 0)
		option = "--cudnn";
	if (!option)
		return;
	strbuf_printf(out, "  eval \"$(cuvet env %s ", option);
	put_clean(out, quoted(r->a, i->path));
	strbuf_add(out, ")\"\n");
}

int fetch_show(struct run *r, const struct fetch_shown *f)
{
	struct strbuf out;
	size_t i;

	if (r->o->json)
		return show_json(r, f);
	strbuf_init(&out, r->a);
	if (f->why) {
		put_clean(&out, f->why);
		strbuf_addc(&out, '\n');
	}
	for (i = 0; i < f->n; i++) {
		const struct fetch_item *item = &f->items[i];

		if (f->dry_run) {
			put_plan(&out, item);
			continue;
		}
		strbuf_printf(&out, item->fresh ? _("installed %s %s%s%s: ")
						: _("already installed %s %s%s%s: "),
			      item->name, item->version, item->cuda ? _(" for CUDA ") : "",
			      item->cuda ? item->cuda : "");
		put_clean(&out, item->path);
		strbuf_printf(&out, _(" (%llu files)\n"), (unsigned long long)item->files);
		if (item->licence_file) {
			strbuf_add(&out, _("  licence: "));
			put_clean(&out, licence_path(r->a, item));
			strbuf_addc(&out, '\n');
		}
		if (!f->into || i + 1 == f->n)
			put_env_line(r, &out, f, item);
	}
	return cli_write(r, out.s, out.n);
}

/* -------- list, verify */

static void put_installed(struct jsonw *w, const struct installed_item *i)
{
	jsonw_object(w);
	jsonw_kstr(w, "name", i->name);
	jsonw_kstr(w, "version", i->version);
	jsonw_kstr(w, "cuda", i->cuda);
	jsonw_kstr(w, "path", i->path);
	jsonw_kbool(w, "current", i->current);
	jsonw_kint(w, "files", (int64_t)i->files);
	jsonw_kstrs(w, "changed", i->changed, i->n_changed);
	jsonw_kstrs(w, "missing", i->missing, i->n_missing);
	jsonw_kstrs(w, "extra", i->extra, i->n_extra);
	jsonw_kstr(w, "label", i->label);
	jsonw_kstr(w, "platform", i->platform);
	jsonw_kstr(w, "url", i->url);
	jsonw_kstr(w, "sha256", i->sha256);
	jsonw_kstr(w, "into", i->into);
	jsonw_end_object(w);
}

static void put_paths(struct strbuf *out, const char *mark, const char *const *paths, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		strbuf_printf(out, "  %s", mark);
		put_clean(out, paths[i]);
		strbuf_addc(out, '\n');
	}
}

static void put_line(struct strbuf *out, const struct installed_item *i, bool verified)
{
	bool differs = i->n_changed || i->n_missing || i->n_extra;

	strbuf_printf(out, "%s/%s%s  ", i->name, i->dir, i->current ? _(" (current)") : "");
	put_clean(out, i->path);
	strbuf_printf(out, _("  %llu files%s\n"), (unsigned long long)i->files,
		      !verified ? "" : differs ? _(", not as installed:") : _(", as installed"));
	put_paths(out, _("changed  "), i->changed, i->n_changed);
	put_paths(out, _("missing  "), i->missing, i->n_missing);
	put_paths(out, _("extra    "), i->extra, i->n_extra);
	/* While its record is there, it counts as installed. */
	if (i->n_changed || i->n_missing)
		strbuf_printf(
			out,
			_("  to put it right: `cuvet fetch remove %s/%s`, then fetch it again\n"),
			i->name, i->dir);
}

int fetch_show_installed(struct run *r, const struct installed_item *items, size_t n, bool verified,
			 const char *prefix)
{
	struct strbuf out;
	struct jsonw w;
	bool differs = false;
	size_t i;
	int code;

	strbuf_init(&out, r->a);
	for (i = 0; i < n; i++)
		differs |= items[i].n_changed || items[i].n_missing || items[i].n_extra;
	if (r->o->json) {
		jsonw_init(&w, &out, true);
		jsonw_object(&w);
		jsonw_kstr(&w, "schema", "cuvet.installed/1");
		jsonw_key(&w, "items");
		jsonw_array(&w);
		for (i = 0; i < n; i++)
			put_installed(&w, &items[i]);
		jsonw_end_array(&w);
		jsonw_end_object(&w);
		strbuf_addc(&out, '\n');
	} else if (!n) {
		strbuf_add(&out, _("nothing is installed below "));
		put_clean(&out, prefix);
		strbuf_addc(&out, '\n');
	} else {
		for (i = 0; i < n; i++)
			put_line(&out, &items[i], verified);
	}
	code = cli_write(r, out.s, out.n);
	return code ? code : differs ? EXIT_CANNOT : EXIT_OK;
}
