/* SPDX-License-Identifier: Apache-2.0 */
/* SARIF 2.1.0 (OASIS): one run, a rule for each name that was found, a result a finding. */
#include <string.h>

#include "base/arena.h"
#include "base/jsonw.h"
#include "base/version.h"
#include "report/formats.h"
#include "report/place.h"

/* GitHub takes no result without a place: a finding about a machine stands at this name. */
static const char machine[] = "cuvet.machine";

static const char *level(enum severity s)
{
	return s == SEVERITY_ERROR ? "error" : s == SEVERITY_WARNING ? "warning" : "note";
}

/* A reference of RFC 3986: relative as given, absolute as file://. */
static const char *uri(struct arena *a, const char *path)
{
	static const char hex[] = "0123456789ABCDEF";
	struct strbuf b;
	const char *p;

	strbuf_init(&b, a);
	while (path[0] == '.' && path[1] == '/')
		path += 2;
	if (path[0] == '/')
		strbuf_add(&b, "file://");
	for (p = path; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		    strchr("/-._~", c)) {
			strbuf_addc(&b, *p);
		} else {
			strbuf_addc(&b, '%');
			strbuf_addc(&b, hex[c >> 4]);
			strbuf_addc(&b, hex[c & 15]);
		}
	}
	return b.s;
}

static void text(struct jsonw *w, const char *key, const char *s)
{
	jsonw_key(w, key);
	jsonw_object(w);
	jsonw_kstr(w, "text", s);
	jsonw_end_object(w);
}

static void put_rule(struct jsonw *w, enum finding_id id)
{
	const struct finding_info *i = finding_info(id);

	jsonw_object(w);
	jsonw_kstr(w, "id", i->code);
	jsonw_kstr(w, "name", i->name);
	text(w, "shortDescription", _(i->title));
	text(w, "fullDescription", _(i->means));
	text(w, "help", _(i->fix));
	jsonw_key(w, "defaultConfiguration");
	jsonw_object(w);
	jsonw_kstr(w, "level", level(i->severity));
	jsonw_end_object(w);
	jsonw_key(w, "properties");
	jsonw_object(w);
	jsonw_kstrs(w, "tags", (const char *const[]){ layer_name(i->layer) }, 1);
	jsonw_end_object(w);
	jsonw_end_object(w);
}

static void put_location(struct arena *a, struct jsonw *w, const struct finding *f)
{
	struct report_place p = report_place(a, f);

	jsonw_key(w, "locations");
	jsonw_array(w);
	jsonw_object(w);
	jsonw_key(w, "physicalLocation");
	jsonw_object(w);
	jsonw_key(w, "artifactLocation");
	jsonw_object(w);
	jsonw_kstr(w, "uri", p.file ? uri(a, p.file) : machine);
	jsonw_end_object(w);
	jsonw_key(w, "region");
	jsonw_object(w);
	jsonw_kint(w, "startLine", p.line ? (int64_t)p.line : 1);
	if (p.column)
		jsonw_kint(w, "startColumn", (int64_t)p.column);
	jsonw_end_object(w);
	jsonw_end_object(w);
	jsonw_end_object(w);
	jsonw_end_array(w);
}

static void put_result(struct arena *a, struct jsonw *w, const struct finding *f, size_t rule)
{
	jsonw_object(w);
	jsonw_kstr(w, "ruleId", finding_info(f->id)->code);
	jsonw_kint(w, "ruleIndex", (int64_t)rule);
	jsonw_kstr(w, "level", level(f->severity));
	text(w, "message", report_words(a, f));
	put_location(a, w, f);
	jsonw_key(w, "partialFingerprints");
	jsonw_object(w);
	jsonw_kstr(w, "cuvetFinding/v1", report_fingerprint(a, f));
	jsonw_end_object(w);
	jsonw_end_object(w);
}

static void render(struct arena *a, const struct report *rep, struct strbuf *out)
{
	const struct results *r = rep->r;
	size_t *index = arena_calloc(a, FINDING_COUNT, sizeof(*index)), n = 0, i;
	struct jsonw w;

	jsonw_init(&w, out, true);
	jsonw_object(&w);
	jsonw_kstr(&w, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
	jsonw_kstr(&w, "version", "2.1.0");
	jsonw_key(&w, "runs");
	jsonw_array(&w);
	jsonw_object(&w);
	jsonw_key(&w, "tool");
	jsonw_object(&w);
	jsonw_key(&w, "driver");
	jsonw_object(&w);
	jsonw_kstr(&w, "name", "cuvet");
	jsonw_kstr(&w, "version", CUVET_VERSION);
	jsonw_key(&w, "rules");
	jsonw_array(&w);
	for (i = 0; i < r->n_findings; i++) {
		enum finding_id id = r->findings[i]->id;

		if (index[id])
			continue;
		index[id] = ++n;
		put_rule(&w, id);
	}
	jsonw_end_array(&w);
	jsonw_end_object(&w);
	jsonw_end_object(&w);
	jsonw_kstr(&w, "columnKind", "utf16CodeUnits");
	jsonw_key(&w, "results");
	jsonw_array(&w);
	for (i = 0; i < r->n_findings; i++)
		put_result(a, &w, r->findings[i], index[r->findings[i]->id] - 1);
	jsonw_end_array(&w);
	jsonw_end_object(&w);
	jsonw_end_array(&w);
	jsonw_end_object(&w);
	strbuf_addc(out, '\n');
}

const struct report_format report_sarif = { .name = "sarif", .render = render };
