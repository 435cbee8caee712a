/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of packages (pip list, freeze, show, conda list, collect_env) and logs of installing. */
#include <string.h>

#include "base/attr.h"
#include "base/regex.h"
#include "triage/paste.h"
#include "triage/sign.h"

static bool under(const struct paste *p, size_t i, const char *what)
{
	int32_t by = p->t.lines[i].by;

	return by != NO_COMMAND && view_find(line_cmd(&p->t.lines[by]), what) >= 0;
}

static void conda_row(struct paste *p, const struct regex_match *m, size_t i)
{
	paste_package(p, m->group[1], m->group[2], i);
	p->packages_seen++;
	if (!view_is(m->group[1], "pytorch") && !view_is(m->group[1], "torch"))
		return;
	if (paste_match(p, "cpu", m->group[3], NULL))
		sign_add(p, "conda-torch-cpu", i, m->group[3]);
	else if (paste_match(p, "cuda", m->group[3], NULL))
		sign_add(p, "conda-torch-cuda", i, m->group[3]);
	sign_add(p, "conda", i, m->group[4]);
}

static void packages_line(struct paste *p, size_t i)
{
	const struct line *l = &p->t.lines[i];
	struct view s = l->s;
	struct regex_match m;

	if (l->cmd_at || s.n > 400)
		return;
	if (view_starts(s, "[pip3] ") || view_starts(s, "[pip] "))
		s = view_trim(view_skip(s, view_starts(s, "[pip3]") ? 7 : 6));
	else if (view_starts(s, "[conda] "))
		s = view_trim(view_skip(s, 8));
	if (view_find(s, "==") > 0 &&
	    paste_match(p, "^([A-Za-z][\\w.-]+)==([\\w.+!-]+)$", s, &m)) {
		paste_package(p, m.group[1], m.group[2], i);
		p->packages_seen++;
		return;
	}
	if (paste_match(
		    p,
		    "^([a-z_][\\w.-]+)\\s+(\\d[\\w.+]*)\\s+(\\w*(?:py|cpu|cuda|h)[0-9a-f]\\S*|\\w+_\\d+|\\d+)"
		    "(?:\\s+(\\S+))?$",
		    s, &m) ||
	    paste_match(p,
			"^((?:py)?torch)\\s+(\\d[\\w.+]*)\\s+(\\S*(?:cpu|cuda)\\S*)(?:\\s+(\\S+))?",
			s, &m)) {
		conda_row(p, &m, i);
		return;
	}
	if (paste_match(p,
			"^([A-Za-z][\\w.-]+)\\s+(\\d+(?:\\.\\w+)+(?:\\+[\\w.]+)?)(?:\\s+/\\S+)?$",
			s, &m) &&
	    (under(p, i, "pip") || under(p, i, "list") || l->by == NO_COMMAND)) {
		paste_package(p, m.group[1], m.group[2], i);
		p->packages_seen++;
	}
}

const struct extractor extract_packages = { .name = "packages", .line = packages_line };

/* -------- installing */

/* Names with versions in a sentence of pip: "Successfully installed torch-2.5.1 numpy-2.0". */
static void installed(struct paste *p, struct view s, size_t i)
{
	struct view w;

	while (view_word(&s, &w)) {
		struct regex_match m;

		if (view_starts(w, "torch-") &&
		    paste_match(p, "^torch-(\\d[\\w.+]*)", w, &m)) {
			sign_add(p, "installed-torch", i, m.group[1]);
			paste_fact(p, "torch.version", m.group[1], i);
		}
	}
}

static void index_tag(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (!paste_match(
		    p,
		    "download\\.pytorch\\.org/whl/(?:nightly/|test/)?(c[pu]+\\d*|rocm[\\d.]+|xpu)\\b",
		    s, &m))
		return;
	sign_add(p, "index-tag", i, m.group[1]);
	if (view_find(s, "--extra-index-url") >= 0)
		sign_add(p, "extra-index", i, m.group[1]);
}

static void wanted(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (paste_match(
		    p,
		    "(?:requirement|distribution found for|install(?: \\S+)*?)\\s+[\"']?(torch==[\\w.+]+)",
		    s, &m))
		sign_add(p, "wants-torch", i, view_skip(m.group[1], 7));
	else if (paste_match(p,
			     "(?:requirement|distribution found for)\\s+([\\w.-]+)(?:[=<>~! (]|$)",
			     s, &m))
		sign_add(p, "wants-package", i, m.group[1]);
}

static void install_line(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;
	struct regex_match m;

	if (s.n > 1000)
		s.n = 1000;
	if (view_find(s, "/whl/") >= 0)
		index_tag(p, s, i);
	if (view_starts(s, "Successfully installed") ||
	    view_find(s, "Successfully installed ") >= 0)
		installed(p, view_skip(s, (size_t)view_find(s, "Successfully installed")), i);
	if (paste_match(
		    p,
		    "Uninstalling torch-(\\d[\\w.+]*)|Found existing installation: torch (\\d[\\w.+]*)|"
		    "Successfully uninstalled torch-(\\d[\\w.+]*)",
		    s, &m))
		sign_add(p, "uninstalled-torch", i,
			 m.group[1].n	? m.group[1]
			 : m.group[2].n ? m.group[2]
					: m.group[3]);
	if (view_find(s, "==") >= 0 || view_find(s, "requirement") >= 0 ||
	    view_find(s, "distribution") >= 0)
		wanted(p, s, i);
}

const struct extractor extract_install = { .name = "install", .line = install_line };
