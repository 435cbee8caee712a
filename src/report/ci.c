/* SPDX-License-Identifier: Apache-2.0 */
/* What CI systems read: JUnit, GitHub's workflow commands, GitLab's code quality, Checkstyle. */
#include <string.h>

#include "base/arena.h"
#include "base/jsonw.h"
#include "base/version.h"
#include "report/formats.h"
#include "report/place.h"

/* -------- github: ::error file=F,line=N,col=N,title=T::MESSAGE */

/* Properties escape more than data do: "%", newlines, ":" and ",". */
static void put_command(struct strbuf *out, const char *s, bool property)
{
	for (; *s; s++) {
		if (*s == '%')
			strbuf_add(out, "%25");
		else if (*s == '\r')
			strbuf_add(out, "%0D");
		else if (*s == '\n')
			strbuf_add(out, "%0A");
		else if (property && *s == ':')
			strbuf_add(out, "%3A");
		else if (property && *s == ',')
			strbuf_add(out, "%2C");
		else
			strbuf_addc(out, *s);
	}
}

static void render_github(struct arena *a, const struct report *rep, struct strbuf *out)
{
	static const char *const kinds[] = { [SEVERITY_INFO] = "notice",
					     [SEVERITY_WARNING] = "warning",
					     [SEVERITY_ERROR] = "error" };
	size_t i;

	for (i = 0; i < rep->r->n_findings; i++) {
		const struct finding *f = rep->r->findings[i];
		struct report_place p = report_place(a, f);

		strbuf_printf(out, "::%s ", kinds[f->severity]);
		if (p.file) {
			strbuf_add(out, "file=");
			put_command(out, clean(a, p.file), true);
			strbuf_printf(out, ",line=%zu,", p.line);
			if (p.column)
				strbuf_printf(out, "col=%zu,", p.column);
		}
		strbuf_printf(out, "title=cuvet %s::", finding_info(f->id)->name);
		put_command(out, report_words(a, f), false);
		strbuf_addc(out, '\n');
	}
	strbuf_printf(out, "cuvet: %s\n", verdict_name(rep->r->verdict));
}

const struct report_format report_github = { .name = "github", .render = render_github };

/* -------- gitlab: code quality, a list of issues */

static void render_gitlab(struct arena *a, const struct report *rep, struct strbuf *out)
{
	static const char *const severities[] = { [SEVERITY_INFO] = "info",
						  [SEVERITY_WARNING] = "minor",
						  [SEVERITY_ERROR] = "critical" };
	struct jsonw w;
	size_t i;

	jsonw_init(&w, out, true);
	jsonw_array(&w);
	for (i = 0; i < rep->r->n_findings; i++) {
		const struct finding *f = rep->r->findings[i];
		struct report_place p = report_place(a, f);
		const char *file = p.file ? p.file : "cuvet.machine";

		while (file[0] == '.' && file[1] == '/')
			file += 2;
		jsonw_object(&w);
		jsonw_kstr(&w, "description", f->message);
		jsonw_kstr(&w, "check_name", finding_info(f->id)->name);
		/* Two of a name on one line are told apart by their number. */
		jsonw_kstr(&w, "fingerprint",
			   arena_printf(a, "%s%04zx", report_fingerprint(a, f), i));
		jsonw_kstr(&w, "severity", severities[f->severity]);
		jsonw_key(&w, "location");
		jsonw_object(&w);
		jsonw_kstr(&w, "path", file);
		jsonw_key(&w, "lines");
		jsonw_object(&w);
		jsonw_kint(&w, "begin", p.line ? (int64_t)p.line : 1);
		jsonw_end_object(&w);
		jsonw_end_object(&w);
		jsonw_end_object(&w);
	}
	jsonw_end_array(&w);
	strbuf_addc(out, '\n');
}

const struct report_format report_gitlab = { .name = "gitlab", .render = render_gitlab };

/* -------- checkstyle: one file element a finding, in the order of the findings */

static void render_checkstyle(struct arena *a, const struct report *rep, struct strbuf *out)
{
	static const char *const severities[] = { [SEVERITY_INFO] = "info",
						  [SEVERITY_WARNING] = "warning",
						  [SEVERITY_ERROR] = "error" };
	size_t i;

	strbuf_add(out,
		   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<checkstyle version=\"4.3\">\n");
	for (i = 0; i < rep->r->n_findings; i++) {
		const struct finding *f = rep->r->findings[i];
		struct report_place p = report_place(a, f);

		strbuf_add(out, "  <file name=\"");
		put_xml(a, out, p.file ? p.file : "cuvet.machine");
		strbuf_printf(out, "\">\n    <error line=\"%zu\"", p.line ? p.line : 1);
		if (p.column)
			strbuf_printf(out, " column=\"%zu\"", p.column);
		strbuf_printf(out, " severity=\"%s\" message=\"", severities[f->severity]);
		put_xml(a, out, report_words(a, f));
		strbuf_printf(out, "\" source=\"cuvet.%s\"/>\n  </file>\n",
			      finding_info(f->id)->name);
	}
	strbuf_add(out, "</checkstyle>\n");
}

const struct report_format report_checkstyle = { .name = "checkstyle",
						 .render = render_checkstyle };

/* -------- junit: a case for each finding and for each rule that could not run */

static void put_case(struct arena *a, struct strbuf *out, const struct finding *f)
{
	struct report_place p = report_place(a, f);

	strbuf_printf(out, "    <testcase classname=\"cuvet.%s\" name=\"%s",
		      layer_name(finding_info(f->id)->layer), finding_info(f->id)->name);
	if (p.file) {
		strbuf_addc(out, ' ');
		put_xml(a, out, p.file);
		strbuf_printf(out, ":%zu", p.line);
	} else if (*f->subject) {
		strbuf_addc(out, ' ');
		put_xml(a, out, f->subject);
	}
	strbuf_add(out, "\">\n");
	if (f->severity == SEVERITY_ERROR) {
		strbuf_printf(out, "      <failure type=\"%s\" message=\"",
			      finding_info(f->id)->code);
		put_xml(a, out, f->message);
		strbuf_add(out, "\">");
		put_xml(a, out, report_words(a, f));
		strbuf_add(out, "</failure>\n");
	} else {
		strbuf_add(out, "      <system-out>");
		put_xml(a, out, report_words(a, f));
		strbuf_add(out, "</system-out>\n");
	}
	strbuf_add(out, "    </testcase>\n");
}

static void render_junit(struct arena *a, const struct report *rep, struct strbuf *out)
{
	const struct results *r = rep->r;
	size_t i, failures = 0, tests;

	for (i = 0; i < r->n_findings; i++)
		failures += r->findings[i]->severity == SEVERITY_ERROR;
	tests = r->n_findings + r->n_skipped + 1;
	strbuf_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	strbuf_printf(out, "<testsuites name=\"cuvet\" tests=\"%zu\" failures=\"%zu\">\n", tests,
		      failures);
	strbuf_printf(
		out,
		"  <testsuite name=\"cuvet %s\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n",
		rep->command, tests, failures, r->n_skipped);
	strbuf_printf(out, "    <testcase classname=\"cuvet\" name=\"verdict: %s\"/>\n",
		      verdict_name(r->verdict));
	for (i = 0; i < r->n_findings; i++)
		put_case(a, out, r->findings[i]);
	for (i = 0; i < r->n_skipped; i++) {
		strbuf_add(out, "    <testcase classname=\"cuvet.skipped\" name=\"");
		put_xml(a, out, r->skipped[i].rule);
		strbuf_add(out, " ");
		put_xml(a, out, r->skipped[i].needs);
		strbuf_add(out, "\">\n      <skipped message=\"");
		put_xml(a, out, r->skipped[i].why);
		strbuf_add(out, "\"/>\n    </testcase>\n");
	}
	strbuf_add(out, "  </testsuite>\n</testsuites>\n");
}

const struct report_format report_junit = { .name = "junit", .render = render_junit };
