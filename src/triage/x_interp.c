/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which program a shell takes: the Python and the pip that it finds, the Python whose folder a
 * traceback names, the nvcc beside a loaded module. Notes where two disagree; judges nothing else.
 */
#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "base/regex.h"
#include "model/version.h"
#include "triage/paste.h"
#include "triage/sign.h"

static bool foreign(const struct paste *p, size_t i)
{
	return p->filling || owner_other_machine(&p->owners, p->t.lines[i].owner);
}

/* -------- python against pip */

/* The folder of a Python as others write it too: "C:\x" and "c:/x/" are one. */
static const char *prefix(struct paste *p, struct view path)
{
	char *s = arena_alloc(p->a, path.n + 2);
	size_t n;

	memcpy(s, path.p, path.n);
	s[path.n] = '/';
	s[path.n + 1] = '\0';
	for (n = 0; s[n]; n++)
		s[n] = s[n] == '\\' ? '/' : s[n];
	if (s[1] == ':')
		for (n = 0; s[n]; n++)
			s[n] = (char)tolower((unsigned char)s[n]);
	return s;
}

/* An environment's own folder: of /usr and /usr/local, and of ~/.local, one serves the other. */
static bool own_folder(const char *s)
{
	static const char *const names[] = { "/envs/", "conda",	   "/venv/", "/.venv/",
					     "/env/",  "/.pyenv/", ":/" };
	size_t i;

	if (strstr(s, "/.local"))
		return false;
	for (i = 0; i < ARRAY_LEN(names); i++)
		if (strstr(s, names[i]))
			return true;
	return false;
}

/* Is the line the first answer to a question for `program`, or does it hold question and answer? */
static bool answers(const struct paste *p, size_t i, const char *program)
{
	int32_t by = p->t.lines[i].by;

	if (by == NO_COMMAND || (size_t)by + 1 != i || !paste_under(p, i, program))
		return false;
	return paste_under(p, i, "which") || paste_under(p, i, "where") ||
	       paste_under(p, i, "command -v") || paste_under(p, i, "type ") ||
	       paste_under(p, i, "Get-Command") || paste_under(p, i, "-V") ||
	       paste_under(p, i, "--version");
}

static void found(struct paste *p, const char *id, const char *other, struct view path, size_t i)
{
	const char *folder = prefix(p, path), *had = sign_value(p, other);

	if (strstr(folder, "/windowsapps"))
		return;
	if (!sign_value(p, id))
		sign_add(p, id, i, view_of(folder));
	if (had && strcmp(had, folder) != 0 && !strstr(folder, "/.local") &&
	    !strstr(had, "/.local") && (own_folder(folder) || own_folder(had)))
		sign_add(p, "pip-of-other-python", i, path);
}

static void which(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (paste_match(p,
			"^(?:\\$ )?(?:which (?:python|pip)[\\d.]*\\s*(?:->|=>|:)\\s*)?"
			"((?:[A-Za-z]:\\\\|/)\\S{0,200}?)[\\\\/](?:bin[\\\\/]|Scripts[\\\\/])?"
			"(python|pip)[\\d.]*(?:\\.exe)?$",
			s, &m) &&
	    (s.p[0] == 'w' || answers(p, i, "python") || answers(p, i, "pip")))
		found(p, m.group[2].p[1] == 'y' ? "python-prefix" : "pip-prefix",
		      m.group[2].p[1] == 'y' ? "pip-prefix" : "python-prefix", m.group[1], i);
	else if (paste_match(p,
			     "^pip \\d\\S* from ((?:[A-Za-z]:\\\\|/)\\S{0,200}?)[\\\\/]lib[\\\\/]"
			     "(?:python[\\d.]+[\\\\/])?(?:site|dist)-packages",
			     s, &m))
		found(p, "pip-prefix", "python-prefix", m.group[1], i);
}

/* -------- the release of Python in a path */

static void compare(struct paste *p, const char *other, struct view v, size_t i)
{
	const char *had = sign_value(p, other);

	if (had && !view_is(v, had))
		sign_add(p, "site-of-other-python", i, v);
}

/* "3.8" of python3.8 and of Python38. */
static struct view release(struct paste *p, struct view s)
{
	char *v;

	if (view_find(s, ".") >= 0 || s.n < 2)
		return s;
	v = arena_alloc(p->a, s.n + 2);
	v[0] = s.p[0];
	v[1] = '.';
	memcpy(v + 2, s.p + 1, s.n - 1);
	v[s.n + 1] = '\0';
	return view_of(v);
}

static void releases(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;
	struct view v;

	if (paste_match(p, "^Python (3\\.\\d+)\\.\\d+\\S*$", s, &m) &&
	    (paste_under(p, i, "python -V") || paste_under(p, i, "python3 -V") ||
	     paste_under(p, i, "python --version") || paste_under(p, i, "python3 --version"))) {
		sign_add(p, "python-printed", i, m.group[1]);
		compare(p, "site-python", m.group[1], i);
	} else if (paste_match(p,
			       "File \"[^\"]{0,200}?[pP]ython(3\\.?\\d+)[\\\\/](?:[lL]ib[\\\\/])?"
			       "(?:site|dist)-packages[\\\\/]",
			       s, &m)) {
		v = release(p, m.group[1]);
		sign_add(p, "site-python", i, v);
		compare(p, "python-printed", v, i);
	}
}

/* -------- nvcc against the module, or the folder, that was put in front */

static void toolkit(struct paste *p, struct view s, size_t i)
{
	const char *had = sign_value(p, "cuda-put-first");
	struct view cmd = line_cmd(&p->t.lines[i]);
	struct regex_match m;

	if (paste_match(p,
			"\\b(?:module|ml) (?:load |add |\\+)?(?:\\S+ )*?(?:\\w+/)?"
			"(?:cuda|cudatoolkit|cuda-toolkit)/(\\d+\\.\\d+)",
			cmd.n ? cmd : s, &m) ||
	    paste_match(
		    p,
		    "^(?:export )?PATH=\\S*/usr/local/cuda-(\\d+\\.\\d+)/bin|"
		    "(?:--cuda_home[= ]|-DCUDA_?TOOLKIT_ROOT(?:_DIR)?=)\\S*\\bcuda-(\\d+\\.\\d+)",
		    cmd.n ? cmd : s, &m))
		sign_add(p, "cuda-put-first", i, m.group[m.group[1].n ? 1 : 2]);
	else if (had &&
		 paste_match(p,
			     "\\b(?:release |CUDA compiler identification is NVIDIA )"
			     "(\\d+\\.\\d+)(?:, V\\d|\\.\\d)",
			     s, &m) &&
		 !view_is(m.group[1], had))
		sign_add(p, "nvcc-not-put-first", i, m.group[1]);
}

/* What nvcc prints when the shell finds it, and when it is called by its path: the older comes
 * first in PATH. */
static void two_nvccs(struct paste *p, struct view s, size_t i)
{
	const struct line *l = &p->t.lines[i];
	struct view cmd = l->by != NO_COMMAND ? line_cmd(&p->t.lines[l->by]) : (struct view){ 0 };
	struct regex_match m;
	const char *other, *here;
	bool path;

	if (!paste_match(p, "\\brelease (\\d+\\.\\d+), V\\d", s, &m))
		return;
	path = paste_match(p, "^(?:sudo )?(?:/usr/local|/opt)/\\S*/nvcc\\b", cmd, NULL);
	if (!path && !paste_match(p, "^(?:/usr/bin/)?nvcc\\b", cmd, NULL))
		return;
	other = sign_value(p, path ? "nvcc-of-shell" : "nvcc-of-path");
	sign_add(p, path ? "nvcc-of-path" : "nvcc-of-shell", i, m.group[1]);
	here = view_dup(p->a, m.group[1]);
	if (other && version_cmp_str(path ? here : other, path ? other : here) > 0)
		sign_add(p, "nvcc-newer-hidden", i, view_of(path ? here : other));
}

static void interp_line(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;

	if (s.n > 400 || foreign(p, i))
		return;
	if (view_find(s, "python") >= 0 || view_find(s, "Python") >= 0 ||
	    view_find(s, "pip") >= 0) {
		which(p, s, i);
		releases(p, s, i);
	}
	if (view_find(s, "cuda") >= 0 || view_find(s, "CUDA") >= 0 || view_find(s, "release ") >= 0)
		toolkit(p, s, i);
	if (view_find(s, "release ") >= 0)
		two_nvccs(p, s, i);
}

const struct extractor extract_interp = { .name = "interp", .line = interp_line };
