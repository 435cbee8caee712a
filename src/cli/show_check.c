/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a validation as lines or as JSON; what is checked lies in compat/validate. */
#include "cli/show_check.h"

#include "base/jsonw.h"
#include "compat/installed.h"
#include "compat/validate.h"
#include "report/report.h"

static void put_text(struct strbuf *out, const struct data_report *d)
{
	size_t i;

	for (i = 0; i < d->n; i++) {
		strbuf_add(out, d->v[i].table);
		if (*d->v[i].where) {
			strbuf_addc(out, ' ');
			put_clean(out, d->v[i].where);
		}
		strbuf_add(out, ": ");
		put_clean(out, d->v[i].text);
		strbuf_addc(out, '\n');
	}
	if (!d->n)
		strbuf_printf(out, _("ok: %zu tables, %zu rows\n"), d->tables, d->rows);
}

static void put_json(struct strbuf *out, const struct data_report *d)
{
	struct jsonw w;
	size_t i;

	jsonw_init(&w, out, true);
	jsonw_object(&w);
	jsonw_kstr(&w, "schema", "cuvet.table/1");
	jsonw_kstr(&w, "table", "problems");
	jsonw_kint(&w, "tables", (int64_t)d->tables);
	jsonw_kint(&w, "checked", (int64_t)d->rows);
	jsonw_key(&w, "rows");
	jsonw_array(&w);
	for (i = 0; i < d->n; i++) {
		jsonw_object(&w);
		jsonw_kstr(&w, "in", d->v[i].table);
		jsonw_kstr(&w, "key", *d->v[i].where ? d->v[i].where : NULL);
		jsonw_kstr(&w, "problem", d->v[i].text);
		jsonw_kstrs(&w, "sources", NULL, 0);
		jsonw_end_object(&w);
	}
	jsonw_end_array(&w);
	jsonw_end_object(&w);
	strbuf_addc(out, '\n');
}

int show_check(struct run *r, struct compat *c)
{
	struct data_report d;
	struct strbuf out;
	struct err e;
	int code;

	compat_validate(c, false, &d);
	if (!d.tables) {
		err_set(&e, ERR_DATA, _("%s: holds no table that is known"),
			compat_origin(c)->path);
		return cli_fail(&e);
	}
	/* A folder of --data may be laid out as its owner likes. */
	if (compat_origin(c)->kind != DATA_FOLDER)
		compat_validate_layout(c, &d);
	strbuf_init(&out, r->a);
	if (r->o->json)
		put_json(&out, &d);
	else
		put_text(&out, &d);
	code = cli_write(r, out.s, out.n);
	return code ? code : d.n ? EXIT_CANNOT : EXIT_OK;
}
