/* SPDX-License-Identifier: Apache-2.0 */
/* explain: what a finding means, how it is decided, how to fix it. */
#include <string.h>

#include "base/arena.h"
#include "base/jsonw.h"
#include "cli/opts.h"
#include "cli/present.h"
#include "report/report.h"
#include "report/wrap.h"
#include "rule/finding.h"

static int unknown(const char *name)
{
	const char *near = finding_near(name);
	struct err err;

	if (near)
		err_set(&err, ERR_UNKNOWN_NAME, _("no finding is called %.80s; did you mean %s?"),
			name, near);
	else
		err_set(&err, ERR_UNKNOWN_NAME,
			_("no finding is called %.80s; `cuvet explain` lists them"), name);
	return cli_fail(&err);
}

static void put_json(struct jsonw *w, const struct finding_info *f)
{
	jsonw_object(w);
	jsonw_kstr(w, "code", f->code);
	jsonw_kstr(w, "name", f->name);
	jsonw_kstr(w, "layer", layer_name(f->layer));
	jsonw_kstr(w, "severity", severity_name(f->severity));
	jsonw_kstr(w, "title", _(f->title));
	jsonw_kstr(w, "means", _(f->means));
	jsonw_kstr(w, "decided", _(f->decided));
	jsonw_kstr(w, "fix", _(f->fix));
	jsonw_kstr(w, "not_this", *f->not_this ? _(f->not_this) : NULL);
	jsonw_end_object(w);
}

static void put_part(struct strbuf *out, const char *label, const char *text, int width)
{
	if (!*text)
		return;
	strbuf_printf(out, "\n%s\n  ", label);
	wrap_text(out, _(text), 2, 2, width);
}

static void put_text(struct strbuf *out, const struct finding_info *f, int width)
{
	strbuf_printf(out, _("%s (%s), layer %s, %s by default\n"), f->name, f->code,
		      layer_name(f->layer), severity_name(f->severity));
	wrap_text(out, _(f->title), 0, 0, width);
	put_part(out, _("What it means"), f->means, width);
	put_part(out, _("How it is decided"), f->decided, width);
	put_part(out, _("How to fix it"), f->fix, width);
	put_part(out, _("Not to be confused with"), f->not_this, width);
}

static void put_list(struct strbuf *out)
{
	size_t i;

	for (i = 0; i < FINDING_COUNT; i++) {
		const struct finding_info *f = finding_info((enum finding_id)i);

		strbuf_printf(out, "%s  %-11s %s\n", f->code, layer_name(f->layer), f->name);
	}
}

static int run(struct run *r)
{
	const struct options *o = r->o;
	int width = wrap_width(present_width(r));
	enum finding_id id;
	struct strbuf out;
	struct jsonw w;
	size_t i;

	if (present_formats(r))
		return EXIT_USAGE;
	strbuf_init(&out, r->a);
	jsonw_init(&w, &out, true);
	if (o->json) {
		jsonw_object(&w);
		jsonw_kstr(&w, "schema", "cuvet.explain/1");
		jsonw_key(&w, "findings");
		jsonw_array(&w);
	}
	for (i = 0; i < o->args.n; i++) {
		if (!finding_lookup(o->args.v[i], &id))
			return unknown(o->args.v[i]);
		if (o->json)
			put_json(&w, finding_info(id));
		else
			put_text(&out, finding_info(id), width);
		if (!o->json && i + 1 < o->args.n)
			strbuf_addc(&out, '\n');
	}
	for (i = 0; !o->args.n && o->json && i < FINDING_COUNT; i++)
		put_json(&w, finding_info((enum finding_id)i));
	if (o->json) {
		jsonw_end_array(&w);
		jsonw_end_object(&w);
		strbuf_addc(&out, '\n');
	} else if (!o->args.n) {
		put_list(&out);
	}
	return o->json ? cli_write(r, out.s, out.n) : present_page(r, out.s, out.n);
}

const struct cmd cmd_explain = {
	.name = "explain",
	.args = "[NAME|CODE]...",
	.summary = N_("what a finding means, how it is decided, how to fix it"),
	.details = N_(
		"Prints the entry of each finding, by name or code. Without one: the list of all names.\n"
		"\n"
		"  cuvet explain driver-too-old\n"
		"  cuvet explain CV0301\n"),
	.run = run,
};
