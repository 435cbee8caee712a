/* SPDX-License-Identifier: Apache-2.0 */
/* show as text. It reads the JSON document that show_json made, so that both say the same. */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/present.h"
#include "cli/show.h"
#include "report/report.h"
#include "report/wrap.h"

enum { COLUMNS_MAX = 10, LABEL_WIDTH = 20, GAP = 2, CELL_LEAST = 16 };

struct column {
	const char *field, *head;
	int width;
};

/* Which fields a list shows; all of them stand in the records and in JSON. */
static const struct {
	const char *table;
	struct column columns[COLUMNS_MAX];
} layouts[] = {
	{ .table = "gpu",
	  .columns = { { .field = "pci_ids", .head = N_("PCI id") },
		       { .field = "name", .head = N_("name") },
		       { .field = "chip", .head = N_("chip") },
		       { .field = "compute_capability", .head = N_("cc") },
		       { .field = "last_driver_branch", .head = N_("last driver") },
		       { .field = "open_kernel_module", .head = N_("open module") } } },
	{ .table = "torch",
	  .columns = { { .field = "version", .head = N_("torch") },
		       { .field = "variant", .head = N_("variant") },
		       { .field = "platform", .head = N_("platform") },
		       { .field = "runs_by", .head = N_("runs by") },
		       { .field = "cudnn", .head = N_("cuDNN") },
		       { .field = "python", .head = N_("Python") },
		       { .field = "min_glibc", .head = N_("glibc") },
		       { .field = "torchvision", .head = N_("vision") },
		       { .field = "torchaudio", .head = N_("audio") } } },
	{ .table = "driver",
	  .columns = { { .field = "branch", .head = N_("branch") },
		       { .field = "max_cuda", .head = N_("CUDA") },
		       { .field = "kind", .head = N_("kind") },
		       { .field = "eol", .head = N_("end of life") },
		       { .field = "cc_min", .head = N_("cc from") },
		       { .field = "cc_max", .head = N_("cc to") },
		       { .field = "last", .head = N_("last seen") } } },
	{ .table = "cuda",
	  .columns = { { .field = "cuda", .head = N_("CUDA") },
		       { .field = "kind", .head = N_("kind") },
		       { .field = "min_driver_linux", .head = N_("driver") },
		       { .field = "min_driver_windows", .head = N_("on Windows") },
		       { .field = "minor_compat_linux", .head = N_("for SASS") },
		       { .field = "nvcc_min_cc", .head = N_("cc from") },
		       { .field = "nvcc_max_cc", .head = N_("cc to") },
		       { .field = "date", .head = N_("date") } } },
};

struct page {
	struct show *s;
	struct strbuf *out;
	int width;
	bool bold;
};

static void put_scalar(struct strbuf *b, const struct json *v)
{
	int64_t i;
	double d;

	switch (json_type(v)) {
	case JSON_BOOL:
		strbuf_add(b, json_is_true(v) ? _("yes") : _("no"));
		break;
	case JSON_NUMBER:
		if (json_int(v, &i))
			strbuf_printf(b, "%lld", (long long)i);
		else if (json_num(v, &d))
			strbuf_printf(b, "%g", d);
		break;
	case JSON_STRING:
		put_clean(b, json_str(v));
		break;
	default:
		strbuf_addc(b, '-');
	}
}

static void put_flat(struct strbuf *b, const struct json *v, const char *sep)
{
	enum json_type type = json_type(v);
	const struct json *m;

	if (type != JSON_ARRAY && type != JSON_OBJECT) {
		put_scalar(b, v);
		return;
	}
	if (!json_first(v))
		strbuf_addc(b, '-');
	for (m = json_first(v); m; m = json_next(m)) {
		bool nested = json_type(m) == JSON_ARRAY || json_type(m) == JSON_OBJECT;

		if (m != json_first(v))
			strbuf_add(b, sep);
		if (type == JSON_OBJECT) {
			put_clean(b, json_key(m));
			strbuf_add(b, ": ");
		}
		put_flat(b, m, nested ? ", " : " ");
	}
}

/* A list of versions is shown by its ends, other lists by their first member. */
static const char *cell(struct page *p, const struct json *row, const char *field)
{
	const struct json *v = json_get(row, field), *first = json_first(v), *last = first, *m;
	struct strbuf b;

	strbuf_init(&b, p->s->r->a);
	if (json_type(v) != JSON_ARRAY || json_count(v) < 2) {
		put_flat(&b, v, " ");
		return b.s;
	}
	for (m = first; m; m = json_next(m))
		last = m;
	put_scalar(&b, first);
	if (strcmp(field, "python") == 0) {
		strbuf_addc(&b, '-');
		put_scalar(&b, last);
	} else {
		strbuf_printf(&b, " +%zu", json_count(v) - 1);
	}
	return b.s;
}

static void put_cell(struct page *p, const char *text, int width, bool last)
{
	struct view v = view_of(text);
	int room = width, w = 0;
	size_t i = 0, start, cut = 0;

	/* Cut where it is too long, leaving room for the dots. */
	if ((int)utf8_columns(text) > width)
		room = width > 3 ? width - 3 : width;
	while (i < v.n) {
		start = i;
		w += utf8_width(utf8_next(v, &i));
		if (w > room) {
			w -= utf8_width(utf8_next((struct view){ .p = v.p, .n = i }, &start));
			break;
		}
		cut = i;
	}
	strbuf_addn(p->out, text, cut);
	if (cut < v.n && width > 3) {
		strbuf_add(p->out, "...");
		w += 3;
	}
	if (!last)
		strbuf_printf(p->out, "%*s", width - w + GAP, "");
}

static bool shown_anywhere(const struct json *rows, const char *field)
{
	const struct json *row, *v;

	for (row = json_first(rows); row; row = json_next(row)) {
		v = json_get(row, field);
		if (json_type(v) != JSON_NULL)
			return true;
	}
	return false;
}

static bool is_remark(const char *field)
{
	return strcmp(field, "confidence") == 0 || strcmp(field, "note") == 0 ||
	       strcmp(field, "doubt") == 0;
}

/* Tables without a layout of their own show their key and what else is plain. */
static size_t default_columns(struct page *p, const struct json *rows, struct column *columns)
{
	const struct table_key *k = compat_table_keys(p->s->table);
	const struct json *m;
	size_t n = 0, i;

	for (; k && k->field && n < COLUMNS_MAX; k++)
		columns[n++] = (struct column){ .field = k->field, .head = k->field };
	for (m = json_first(json_first(rows)); m && n < 6; m = json_next(m)) {
		enum json_type type = json_type(m);

		for (i = 0; i < n && strcmp(columns[i].field, json_key(m)) != 0; i++)
			;
		if (i == n && type != JSON_ARRAY && type != JSON_OBJECT && !is_remark(json_key(m)))
			columns[n++] = (struct column){ .field = json_key(m), .head = json_key(m) };
	}
	return n;
}

static size_t choose_columns(struct page *p, const struct json *rows, struct column *columns)
{
	size_t i, k, n = 0, all = 0;
	struct column found[COLUMNS_MAX] = { { .field = NULL } };

	for (i = 0; i < ARRAY_LEN(layouts); i++) {
		if (strcmp(layouts[i].table, p->s->table) != 0)
			continue;
		for (; all < COLUMNS_MAX && layouts[i].columns[all].field; all++) {
			found[all] = layouts[i].columns[all];
			found[all].head = _(found[all].head);
		}
	}
	if (!all)
		all = default_columns(p, rows, found);
	for (k = 0; k < all; k++)
		if (shown_anywhere(rows, found[k].field))
			columns[n++] = found[k];
	return n;
}

/*
 * Natural widths, then the widest gives way until the line fits; at last columns fall off the right
 * end.
 */
static size_t fit_columns(struct page *p, const struct json *rows, struct column *columns, size_t n)
{
	const struct json *row;
	size_t i, widest;
	int total, w;

	for (i = 0; i < n; i++) {
		columns[i].width = (int)utf8_columns(columns[i].head);
		for (row = json_first(rows); row; row = json_next(row)) {
			w = (int)utf8_columns(cell(p, row, columns[i].field));
			if (w > columns[i].width)
				columns[i].width = w;
		}
	}
	while (n) {
		total = -GAP;
		widest = 0;
		for (i = 0; i < n; i++) {
			total += columns[i].width + GAP;
			if (columns[i].width > columns[widest].width)
				widest = i;
		}
		if (total <= p->width)
			break;
		if (columns[widest].width > CELL_LEAST)
			columns[widest].width--;
		else if (n > 1)
			n--;
		else
			break;
	}
	return n;
}

static void put_table(struct page *p, const struct json *rows)
{
	struct column columns[COLUMNS_MAX];
	size_t n = choose_columns(p, rows, columns), i;
	const struct json *row;

	n = fit_columns(p, rows, columns, n);
	if (p->bold)
		strbuf_add(p->out, "\033[1m");
	for (i = 0; i < n; i++)
		put_cell(p, columns[i].head, columns[i].width, i + 1 == n);
	strbuf_add(p->out, p->bold ? "\033[0m\n" : "\n");
	for (row = json_first(rows); row; row = json_next(row)) {
		for (i = 0; i < n; i++)
			put_cell(p, cell(p, row, columns[i].field), columns[i].width, i + 1 == n);
		strbuf_addc(p->out, '\n');
	}
}

static void put_field(struct page *p, const char *label, const char *text)
{
	int at = (int)utf8_columns(label), indent = LABEL_WIDTH + GAP;

	if (!*text) {
		strbuf_printf(p->out, "%s%s%s\n", p->bold ? "\033[1m" : "", label,
			      p->bold ? "\033[0m" : "");
		return;
	}
	strbuf_printf(p->out, "%s%s%s%*s", p->bold ? "\033[1m" : "", label,
		      p->bold ? "\033[0m" : "", at < indent ? indent - at : 1, "");
	wrap_text(p->out, text, at < indent ? indent : at + 1, indent, p->width);
}

/* A commit is known by its first digits; all of them would break the line. */
static const char *short_hash(struct arena *a, const char *text)
{
	const char *at = strchr(text, '@');
	size_t n;

	if (!at)
		return text;
	n = strspn(at + 1, "0123456789abcdef");
	if (n != 40)
		return text;
	return arena_printf(a, "%.*s%s", (int)(at + 1 + 12 - text), text, at + 1 + n);
}

static void put_sources(struct page *p, const struct json *list)
{
	const struct json *v;

	put_field(p, _("sources"), json_first(list) ? "" : "-");
	for (v = json_first(list); v; v = json_next(v)) {
		strbuf_add(p->out, "  - ");
		wrap_text(p->out, clean(p->s->r->a, short_hash(p->s->r->a, json_str(v))), 4, 4,
			  p->width);
	}
}

/* "Not dropped yet" and "not known" are both null in the document. */
static const char *last_driver(const struct json *row)
{
	return json_get_bool(row, "last_driver_known", false) ? _("none yet") : _("not known");
}

static void put_record(struct page *p, const struct json *row)
{
	const struct json *m;
	struct strbuf b;

	for (m = json_first(row); m; m = json_next(m)) {
		const char *label = clean(p->s->r->a, json_key(m));

		if (strcmp(label, "sources") == 0) {
			put_sources(p, m);
		} else if (strcmp(label, "last_driver_branch") == 0 && !json_str(m)) {
			put_field(p, label, last_driver(row));
		} else if (strcmp(label, "last_driver_known") != 0 && json_type(m) != JSON_NULL) {
			strbuf_init(&b, p->s->r->a);
			put_flat(&b, m, json_type(json_first(m)) == JSON_OBJECT ? "; " : " ");
			put_field(p, label, b.s);
		}
	}
}

void show_text(struct show *s, const struct json *doc, struct strbuf *out)
{
	struct page p = { .s = s, .out = out, .width = wrap_width(present_width(s->r)) };
	const struct json *rows = json_get(doc, "rows"), *row;

	p.bold = present_colour(s->r);
	if (json_count(rows) > SHOW_RECORDS_MAX) {
		put_table(&p, rows);
		return;
	}
	for (row = json_first(rows); row; row = json_next(row)) {
		if (row != json_first(rows))
			strbuf_addc(out, '\n');
		put_record(&p, row);
	}
}
