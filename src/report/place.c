/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of findings, fingerprints and plain words, shared by the formats that CI systems read. */
#include "report/place.h"

#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"

/* "PATH:12" or "PATH:12:3"; a path of Windows ("C:...") has no number behind its first colon. */
static bool parse(struct arena *a, const char *source, struct report_place *ret)
{
	size_t n = strlen(source), at;
	uint64_t number[2];
	int found = 0;

	while (found < 2) {
		at = n;
		while (at && source[at - 1] >= '0' && source[at - 1] <= '9')
			at--;
		if (at == n || at < 2 || source[at - 1] != ':' ||
		    !view_u64((struct view){ .p = source + at, .n = n - at }, 10, &number[found]) ||
		    !number[found])
			break;
		found++;
		n = at - 1;
	}
	if (!found || !n || memchr(source, '\n', n))
		return false;
	ret->file = arena_strndup(a, source, n);
	ret->line = (size_t)number[found - 1];
	ret->column = found == 2 ? (size_t)number[0] : 0;
	return true;
}

struct report_place report_place(struct arena *a, const struct finding *f)
{
	struct report_place p = { .file = NULL };
	size_t i;

	for (i = 0; i < f->n_evidence; i++)
		if (parse(a, f->evidence[i].source, &p))
			return p;
	return p;
}

static uint64_t fnv(uint64_t h, const char *s)
{
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 1099511628211U;
	return (h ^ 0xff) * 1099511628211U;
}

const char *report_fingerprint(struct arena *a, const struct finding *f)
{
	struct report_place p = report_place(a, f);
	uint64_t h = 14695981039346656037U;

	h = fnv(h, finding_info(f->id)->code);
	h = fnv(h, p.file ? p.file : f->subject);
	if (f->n_evidence) {
		h = fnv(h, f->evidence[0].field);
		h = fnv(h, f->evidence[0].seen);
	}
	return arena_printf(a, "%016llx", (unsigned long long)h);
}

const char *report_words(struct arena *a, const struct finding *f)
{
	struct strbuf b;
	size_t i, k;

	strbuf_init(&b, a);
	strbuf_add(&b, clean(a, f->message));
	for (i = 0; i < f->n_remedies; i++) {
		strbuf_printf(&b, "\n%s", clean(a, f->remedies[i].text));
		for (k = 0; k < f->remedies[i].n_commands; k++) {
			struct view rest = view_of(f->remedies[i].commands[k]), line;

			while (view_line(&rest, &line))
				strbuf_printf(&b, "\n  %s", clean(a, view_dup(a, line)));
		}
	}
	return b.s;
}

void put_xml(struct arena *a, struct strbuf *out, const char *s)
{
	struct view rest = view_of(s), line;
	bool first = true;

	while (view_line(&rest, &line)) {
		const char *c;

		if (!first)
			strbuf_add(out, "&#10;");
		first = false;
		for (c = clean(a, view_dup(a, line)); *c; c++)
			switch (*c) {
			case '&':
				strbuf_add(out, "&amp;");
				break;
			case '<':
				strbuf_add(out, "&lt;");
				break;
			case '>':
				strbuf_add(out, "&gt;");
				break;
			case '"':
				strbuf_add(out, "&quot;");
				break;
			default:
				strbuf_addc(out, *c);
			}
	}
}
