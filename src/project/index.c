/* SPDX-License-Identifier: Apache-2.0 */
/* Package indexes by their address, and requirements by their text. */
#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "model/requirement.h"
#include "project/project.h"

/* -------- indexes */

static bool has(const char *url, const char *part)
{
	return strstr(url, part) != NULL;
}

/* Last part of a path, without a slash behind it. */
static const char *last_part(struct arena *a, const char *url)
{
	size_t n = strcspn(url, "?#"), start;

	while (n && url[n - 1] == '/')
		n--;
	for (start = n; start && url[start - 1] != '/'; start--)
		;
	return arena_strndup(a, url + start, n - start);
}

static bool is_variant(const char *s)
{
	if (strcmp(s, "cpu") == 0 || strcmp(s, "xpu") == 0 || strncmp(s, "cpu-cxx11", 9) == 0)
		return true;
	if (strncmp(s, "cu", 2) == 0)
		return s[2] && strspn(s + 2, "0123456789.") == strlen(s + 2);
	return strncmp(s, "rocm", 4) == 0;
}

void index_classify(struct arena *a, struct index *i)
{
	static const char *const pypi[] = { "pypi.org/simple",
					    "pypi.python.org",
					    "files.pythonhosted.org",
					    "pypi.tuna.tsinghua",
					    "mirrors.aliyun.com/pypi",
					    "pypi.douban.com",
					    "mirrors.cloud.tencent.com/pypi",
					    "mirrors.ustc.edu.cn/pypi",
					    "pypi.mirrors.ustc.edu.cn",
					    "repo.huaweicloud.com/repository/pypi",
					    "mirrors.bfsu.edu.cn/pypi" };
	static const char *const torch[] = { "download.pytorch.org/whl",
					     "download-r2.pytorch.org/whl",
					     "mirrors.aliyun.com/pytorch-wheels",
					     "mirror.sjtu.edu.cn/pytorch-wheels",
					     "mirrors.nju.edu.cn/pytorch/whl" };
	const char *last = last_part(a, i->url), *page = strstr(i->url, "/torch_stable.html");
	size_t k;

	/* A page of links below a variant lists that one alone: .../whl/cu111/torch_stable.html */
	if (page)
		last = last_part(a, arena_strndup(a, i->url, (size_t)(page - i->url)));

	i->kind = INDEX_OTHER;
	for (k = 0; k < ARRAY_LEN(pypi); k++)
		if (has(i->url, pypi[k]))
			i->kind = INDEX_PYPI;
	for (k = 0; k < ARRAY_LEN(torch); k++) {
		if (!has(i->url, torch[k]))
			continue;
		if (has(i->url, "/nightly") || has(i->url, "/test/")) {
			i->kind = INDEX_NIGHTLY;
		} else if (is_variant(last)) {
			i->kind = INDEX_TORCH;
			i->variant = last;
		} else {
			i->kind = INDEX_ALL;
		}
	}
}

struct index *step_index(struct project_reader *r, struct step *s, const char *url, struct place at)
{
	struct index *i = ARENA_APPEND(r->a, s->indexes, s->n_indexes);
	const char *scheme = strstr(url, "://"), *user = scheme ? strchr(scheme + 3, '@') : NULL;

	/* A password in an address is nobody's business (faults: P7). */
	if (user && user < scheme + 3 + strcspn(scheme + 3, "/"))
		url = arena_printf(r->a, "%.*s%s", (int)(scheme + 3 - url), url, user + 1);
	i->url = url;
	i->at = at;
	index_classify(r->a, i);
	return i;
}

/* -------- requirements */

/* NAME-VERSION(-BUILD)-PY-ABI-PLATFORM.whl at the end of an address. */
static bool wheel_name(struct arena *a, const char *url, const char **ret_name,
		       const char **ret_version)
{
	const char *base = last_part(a, url);
	struct strbuf b;
	struct view rest, name, version;
	size_t n = strlen(base), i;

	if (n < 5 || strcmp(base + n - 4, ".whl") != 0)
		return false;
	name = view_cut(view_of(base), '-', &rest);
	version = view_cut(rest, '-', &rest);
	if (!rest.n)
		return false;
	strbuf_init(&b, a);
	for (i = 0; i < version.n; i++) {
		if (version.n - i >= 3 && version.p[i] == '%' && version.p[i + 1] == '2' &&
		    (version.p[i + 2] == 'B' || version.p[i + 2] == 'b')) {
			strbuf_addc(&b, '+');
			i += 2;
		} else {
			strbuf_addc(&b, version.p[i]);
		}
	}
	*ret_name = requirement_normal(a, name);
	*ret_version = b.s;
	return true;
}

/* A repository or an archive whose name says what it is ("git+https://.../flash-attention.git"). */
static const char *source_name(struct arena *a, const char *url)
{
	const char *egg = strstr(url, "#egg="), *base;
	size_t n;

	if (egg)
		return requirement_normal(
			a, (struct view){ .p = egg + 5, .n = strcspn(egg + 5, "&[") });
	base = last_part(a, url);
	n = strcspn(base, "@");
	if (n > 4 && strncmp(base + n - 4, ".git", 4) == 0)
		n -= 4;
	base = requirement_normal(a, (struct view){ .p = base, .n = n });
	return strcmp(base, "flash-attention") == 0 ? "flash-attn" : base;
}

/* "3.10" of the tags "cp310-cp310-..."; NULL for abi3, py3 and what is not clear. */
static const char *wheel_python(struct arena *a, const char *url)
{
	const char *tag = strstr(last_part(a, url), "-cp3");
	size_t n = tag ? strspn(tag + 4, "0123456789") : 0;

	if (!n || n > 2 || strncmp(tag + 4 + n, "-cp3", 4) != 0)
		return NULL;
	return arena_printf(a, "3.%.*s", (int)n, tag + 4);
}

static void take_url(struct project_reader *r, struct step *s, const char *url, const char *name,
		     struct place at)
{
	struct want *w = step_want(r, s, at);
	const char *version;

	w->url = url;
	w->text = url;
	w->spec = NULL;
	if (wheel_name(r->a, url, &w->name, &version)) {
		w->spec = arena_printf(r->a, "==%s", version);
		w->wheel_python = wheel_python(r->a, url);
	} else
		w->name = name ? name : source_name(r->a, url);
}

static bool is_path(struct view v)
{
	return v.p[0] == '.' || v.p[0] == '/' || v.p[0] == '~' || view_starts(v, "file:") ||
	       (view_chr(v, '/') >= 0 && view_find(v, "@") < 0 && view_find(v, "://") < 0);
}

static const char *spec_text(struct arena *a, const struct pep440_spec *s)
{
	struct strbuf b;
	size_t i;

	strbuf_init(&b, a);
	for (i = 0; i < s->n; i++) {
		strbuf_sep(&b, ",");
		strbuf_addv(&b, s->clauses[i].text);
	}
	return b.s;
}

/* "name @ url ; marker" */
static bool take_at(struct project_reader *r, struct step *s, struct view v, struct place at)
{
	struct view url, name = view_trim(view_cut(v, '@', &url)), marker;
	size_t n = 0;

	if (!name.n || !url.n || view_find(url, "://") < 0)
		return false;
	while (n < name.n && !strchr("[ ", name.p[n]))
		n++;
	url = view_trim(url);
	url = view_trim(view_cut(url, ' ', &marker));
	take_url(r, s, view_dup(r->a, url),
		 requirement_normal(r->a, (struct view){ .p = name.p, .n = n }), at);
	marker = view_trim(marker);
	if (marker.n > 1 && marker.p[0] == ';')
		s->wants[s->n_wants - 1].marker = view_dup(r->a, view_trim(view_skip(marker, 1)));
	return true;
}

void want_parse(struct project_reader *r, struct project *p, struct step *s, struct view text,
		struct place at)
{
	struct requirement q = { .from = "" };
	struct want *w;
	const char *what;
	size_t bad;

	text = view_trim(text);
	if (!text.n)
		return;
	if (view_starts(text, "git+") || view_find(text, "://") >= 0) {
		if (!view_starts(text, "git+") && !view_starts(text, "http") &&
		    take_at(r, s, text, at))
			return;
		take_url(r, s, view_dup(r->a, text), NULL, at);
		return;
	}
	if (is_path(text) || view_ends(text, ".whl")) {
		take_url(r, s, view_dup(r->a, text), NULL, at);
		return;
	}
	if (!requirement_parse(r->a, text, &q, &bad, &what)) {
		at.column += at.column ? bad : 0;
		/* The text itself is not shown: a file that was included may be anything. */
		project_doubt(r, p, at, "%s", _(what));
		return;
	}
	w = step_want(r, s, at);
	w->name = q.name;
	w->extras = q.extras;
	w->spec = spec_text(r->a, &q.spec);
	w->text = q.text;
	w->marker = q.marker.n ? view_dup(r->a, q.marker) : NULL;
}
