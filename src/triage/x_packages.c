/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of packages (pip list, freeze, show, conda list, collect_env) and logs of installing. */
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/regex.h"
#include "triage/paste.h"
#include "triage/sign.h"

/* conda's builds of TensorFlow: "mkl_py310h...", "eigen_...", "cpu_..."; "gpu_...", "cuda112...".
 */
static void conda_tensorflow(struct paste *p, const struct regex_match *m, size_t i)
{
	if (!view_starts(m->group[1], "tensorflow"))
		return;
	if (paste_match(p, "^(?:mkl|eigen|cpu)_", m->group[3], NULL))
		sign_add(p, "conda-tf-cpu", i, m->group[3]);
	else if (paste_match(p, "^(?:gpu|cuda)", m->group[3], NULL))
		sign_add(p, "conda-tf-cuda", i, m->group[3]);
}

static void conda_row(struct paste *p, const struct regex_match *m, size_t i)
{
	paste_package(p, m->group[1], m->group[2], i);
	p->packages_seen++;
	conda_tensorflow(p, m, i);
	if (!view_is(m->group[1], "pytorch") && !view_is(m->group[1], "torch"))
		return;
	if (paste_match(p, "cpu", m->group[3], NULL))
		sign_add(p, "conda-torch-cpu", i, m->group[3]);
	else if (paste_match(p, "cuda", m->group[3], NULL))
		sign_add(p, "conda-torch-cuda", i, m->group[3]);
	sign_add(p, "conda", i, m->group[4]);
}

/* "[pip3] torch==2.5.1", "- pytorch=2.5.1=py3.12_cuda12.4_0" of an exported environment. */
static struct view without_mark(struct view s)
{
	static const char *const marks[] = { "[pip3] ", "[pip] ", "[conda] ", "- ", "* ", "+ " };
	size_t i;

	for (i = 0; i < ARRAY_LEN(marks); i++)
		if (view_starts(s, marks[i]))
			return view_trim(view_skip(s, strlen(marks[i])));
	return s;
}

/* "pytorch=2.5.1=py3.12_cuda12.4_cudnn9.1.0_0": conda env export, conda list --export. */
static bool exported(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	/* conda info's virtual packages: what it found of the machine. */
	if (paste_match(p, "(?:^|[\\s:])__cuda(?:={1,2}|-)(\\d+\\.\\d+)", s, &m))
		paste_fact(p, "driver.ceiling", m.group[1], i);
	if (paste_match(p, "(?:^|[\\s:])__glibc=(\\d+\\.\\d+)", s, &m))
		paste_fact(p, "host.glibc", m.group[1], i);
	if (view_starts(s, "__"))
		return true;

	if (!paste_match(p, "^([a-z_][\\w.-]*)=(\\d[\\w.]*)=([\\w.]+)$", s, &m))
		return false;
	if (view_is(m.group[1], "python"))
		paste_fact(p, "python.version", m.group[2], i);
	else
		conda_row(p, &m, i);
	return true;
}

/* The first line below "pip show torch". */
static bool only_torch_shown(struct paste *p, size_t i)
{
	int32_t by = p->t.lines[i].by;

	return by != NO_COMMAND && (size_t)by + 1 == i &&
	       paste_match(p, "\\bpip3?(?:\\.exe)? show torch$", line_cmd(&p->t.lines[by]), NULL);
}

/* "Name: torch", "Version: 2.2.1" of pip show. */
static bool shown(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;
	size_t back;

	if (!view_starts(s, "Version:") || !i)
		return false;
	/* Filtered or cut: "pip show torch | grep Version", its version alone below the command. */
	if ((paste_under(p, i, "show torch ") && paste_under(p, i, "Version")) ||
	    only_torch_shown(p, i)) {
		paste_package(p, VIEW("torch"), view_trim(view_skip(s, 8)), i);
		return true;
	}
	for (back = 1; back <= 2 && back <= i; back++)
		if (paste_match(p, "^Name:\\s*([A-Za-z][\\w.-]+)$", p->t.lines[i - back].s, &m)) {
			paste_package(p, m.group[1], view_trim(view_skip(s, 8)), i);
			return true;
		}
	return false;
}

/* [{"name": "torch", "version": "2.1.0"}, ...] of pip list --format=json and conda list --json. */
static bool in_json(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;
	bool any = false;
	size_t n;

	for (n = 0;
	     n < 2000 && paste_match(p,
				     "\"name\":\\s*\"([\\w.-]+)\",[^{}]{0,200}?\"version\":\\s*"
				     "\"(\\d[\\w.+!-]*)\"",
				     s, &m);
	     n++) {
		paste_package(p, m.group[1], m.group[2], i);
		p->packages_seen++;
		any = true;
		s = view_skip(s, m.end);
	}
	return any;
}

/* "torch v2.5.1+cu124" in the trees of uv and others, "torch 2.1.0 Tensors and ..." of poetry. */
static bool in_tree(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (paste_match(
		    p,
		    "(?:^|[^\\w/])([a-z][\\w.-]+)(?:\\[[\\w,-]+\\])? v(\\d[\\w.+]*)(?: \\(.{0,40}\\))?$",
		    s, &m) &&
	    (paste_under(p, i, "uv ") || paste_under(p, i, "tree"))) {
		paste_package(p, m.group[1], m.group[2], i);
		return true;
	}
	if (paste_under(p, i, "poetry show") &&
	    paste_match(p, "^([a-z][\\w.-]+)\\s+(?:\\(!\\)\\s+)?(\\d[\\w.+]*)\\s", s, &m)) {
		paste_package(p, m.group[1], m.group[2], i);
		return true;
	}
	return false;
}

/* "- torch==2.7.1+cu128" with "+ torch==2.6.0" beside it: one was put in place of the other. */
static bool exchanged(const struct paste *p, struct view s, size_t i)
{
	ptrdiff_t n = view_find(s, "==");
	size_t k, from = i > 6 ? i - 6 : 0;

	for (k = from; n > 2 && k < p->t.n && k <= i + 6; k++) {
		struct view o = p->t.lines[k].s;

		if (o.n > (size_t)n + 1 && o.p[0] == '+' &&
		    strncmp(o.p + 1, s.p + 1, (size_t)n + 1) == 0)
			return true;
	}
	return false;
}

static void packages_line(struct paste *p, size_t i)
{
	const struct line *l = &p->t.lines[i];
	struct view s = l->s;
	struct regex_match m;

	if (l->cmd_at || l->wished)
		return;
	if (view_find(s, "\"version\"") > 0 && in_json(p, s, i))
		return;
	if (s.n > 400)
		return;
	/* uv says what it took away with the dash that an exported environment lists with. */
	if (view_starts(s, "- ") &&
	    (paste_under(p, i, "uv ") || view_starts(s, "- cuda-") || exchanged(p, s, i)))
		return;
	s = without_mark(s);
	if (view_find(s, "==") > 0 && paste_match(p, "^([A-Za-z][\\w.-]+)==([\\w.+!-]+)$", s, &m)) {
		paste_package(p, m.group[1], m.group[2], i);
		p->packages_seen++;
		return;
	}
	if ((view_chr(s, '=') > 0 && exported(p, s, i)) || shown(p, s, i) || in_tree(p, s, i))
		return;
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
	    (paste_under(p, i, "pip") || paste_under(p, i, "list") || l->by == NO_COMMAND)) {
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

		if (view_starts(w, "torch-") && paste_match(p, "^torch-(\\d[\\w.+]*)", w, &m)) {
			sign_add(p, "installed-torch", i, m.group[1]);
			paste_fact(p, "torch.version", m.group[1], i);
		} else if (view_find(w, "-") > 0 &&
			   paste_match(
				   p,
				   "^(tensorflow(?:[-_](?:cpu|intel|gpu))?|onnxruntime(?:[-_]gpu)?|"
				   "ctranslate2|jaxlib|jax)-(\\d[\\w.+]*)$",
				   w, &m)) {
			paste_package(p, m.group[1], m.group[2], i);
		}
	}
}

/* uv's " + torch==2.5.1" and " - torch==2.4.0+cu121". */
static void uv_changes(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (!paste_match(p, "^([+~-]) torch==(\\d[\\w.+]*)", s, &m))
		return;
	if (view_is(m.group[1], "-")) {
		if (!paste_under(p, i, "uv ") && !exchanged(p, s, i))
			return;
		sign_add(p, "uninstalled-torch", i, m.group[2]);
		return;
	}
	sign_add(p, "installed-torch", i, m.group[2]);
	paste_fact(p, "torch.version", m.group[2], i);
}

/* One PyTorch came in the place of another: it is the one that runs. */
static void replaced(struct paste *p, struct view old, struct view new, size_t i)
{
	sign_add(p, "uninstalled-torch", i, old);
	sign_add(p, "installed-torch", i, new);
	paste_fact(p, "torch.version", new, i);
}

/* "  - Updating torch (2.0.1+cu118 -> 2.1.1)" of poetry. */
static void poetry_changes(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (!paste_match(p, "(?:Updating|Downgrading) torch \\((\\d[\\w.+]*) -> (\\d[\\w.+]*)\\)",
			 s, &m))
		return;
	replaced(p, m.group[1], m.group[2], i);
}

/* "torch 2.10.0+cu130 -> torch 2.9.1 (no CUDA)", "torch 2.4.0+cu121 => 2.5.1+cpu". */
static void arrow(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (paste_match(
		    p,
		    "\\btorch[`'\" =-]{1,3}v?(\\d+\\.\\d[\\w.]*\\+cu\\d+)[`'\"]?\\s*"
		    "(?:-+>|=+>|\xe2\x86\x92)\\s*[`'\"]?(?:torch[ =-]{1,3})?v?(\\d+\\.\\d[\\w.]*)"
		    "(?:\\+cpu\\b|[`'\"]?,? ?\\(?(?:no|without|non-?) ?(?:cuda|gpu)|"
		    "[`'\"]?,? ?\\(?cpu\\b)",
		    s, &m))
		replaced(p, m.group[1],
			 view_of(arena_printf(p->a, "%.*s+cpu", (int)m.group[2].n, m.group[2].p)),
			 i);
}

/* "Requirement already satisfied: torch in /x (from y) (2.4.0+cu124)". */
static void satisfied(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;
	size_t n;

	/* Lines that were joined hold several. */
	for (n = 0; n < 20; n++, s = view_skip(s, m.end)) {
		if (!paste_match(
			    p,
			    "Requirement already satisfied: ([A-Za-z][\\w.-]*)\\S* in \\S.{0,300}?"
			    "\\((\\d[\\w.+]*)\\)(?=\\s|$)",
			    s, &m))
			return;
		paste_package(p, m.group[1], m.group[2], i);
	}
}

/* "it uninstalls torch 2.5.1+cu121 and replaces it with torch-2.6.0": told of an installer, not of
 * what one did oneself or advises. */
static void told_exchange(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (!paste_match(
		    p,
		    "\\b(?:uninstall|remov|replac|overwr|downgrad|chang)\\w*\\s+(?:\\w+\\s+){0,3}"
		    "[`'\"]?(?:py)?torch(?:[-=` ]|==)+v?(\\d+\\.\\d+\\.\\d+\\+cu\\d+)[`'\"]?"
		    "(?:,|\\s)[^.;?\\n]{0,40}?\\b(?:with|by|to|install\\w*)\\s+(?:it (?:with|by)\\s+)?(?:\\w+\\s+){0,2}?"
		    "[`'\"]?(?:(?:py)?torch(?:[-=` ]|==)+)?v?(\\d+\\.\\d+\\.\\d+(?:\\+cpu)?)(?![\\w.+])",
		    s, &m) ||
	    paste_match(
		    p,
		    "\\b(?:I|we|you|please)\\b(?:'ve| have| had| then| also| should| can| could| must| "
		    "need to| to| first)* (?:uninstall|remov|replac|downgrad|chang|upgrad|updat)"
		    "|^\\W*(?:uninstall|remove|replace|downgrade|change|upgrade|update)\\b",
		    s, NULL))
		return;
	replaced(p, m.group[1], m.group[2], i);
}

static void index_tag(struct paste *p, struct view s, size_t i)
{
	sign_match(
		p, "index-tag",
		"download\\.pytorch\\.org/whl/(?:nightly/|test/)?(c[pu]+\\d*|rocm[\\d.]+|xpu)\\b",
		s, i);
}

static void wanted(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (paste_match(p,
			"(?:requirement|distributions? found for|no versions? of|you require|"
			"install(?: \\S+)*?)\\s+[\"']?(torch==[\\w.+]+)",
			s, &m))
		sign_add(p, "wants-torch", i, view_skip(m.group[1], 7));
	else if (!sign_match(p, "wants-companion",
			     "(?:requirement|distributions? found for)\\s+"
			     "(torch(?:vision|audio)==\\d[\\w.]*\\+\\w+)",
			     s, i))
		sign_match(p, "wants-torch",
			   "installation candidates for torch \\((\\d[\\w.+]*)\\)", s, i);
}

/* "torch==2.3.1+cu121 (from versions: 2.3.0, 2.3.1, 2.3.1+cpu)": the release is there for this
 * Python. */
static void listed_untagged(struct paste *p, struct view s, size_t i)
{
	sign_match(p, "no-dist-untagged",
		   "torch(?:vision|audio)?==(\\d+\\.\\d+\\.\\d+)\\+cu\\d+ "
		   "\\(from versions: (?:[^)]*[ ,])?"
		   "\\1(?:\\+\\w+)?[,)]",
		   s, i);
}

/* "Using cached https://x/torch-2.7.0%2Bcu128-cp310-...whl": each wheel that pip takes up. */
static void taken_up(struct paste *p, struct view s, size_t i)
{
	struct regex_match m = { 0 };

	if (paste_match(p,
			"(?:^(?:Using cached|Downloading) (?:\\S*/)?|(?<![\\w./-]))"
			"torch-(\\d[\\w.]*(?:(?:%2[Bb]|\\+)\\w+)?)-cp\\d",
			s, &m))
		sign_add(p, "torch-taken-up", i, m.group[1]);
	/* PyPI's wheels for Windows have no CUDA; those of PyTorch's own indexes say their tag. */
	if (m.group[1].n && view_find(s, "-win_amd64.whl") > 0 && view_chr(m.group[1], '+') < 0 &&
	    view_chr(m.group[1], '%') < 0)
		sign_add(p, "torch-wheel-windows", i, m.group[1]);
}

/* pip takes a PyTorch away, and the command itself asked for another. */
static void put_away(struct paste *p, size_t i)
{
	int32_t by = p->t.lines[i].by;

	if (by != NO_COMMAND && paste_match(p, "\\binstall\\b.*?\\s[\"']?torch(?:[=<>~!\\s\"']|$)",
					    line_cmd(&p->t.lines[by]), NULL))
		sign_add(p, "torch-asked", i, (struct view){ 0 });
}

static void install_line(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;
	struct regex_match m;

	if (s.n > 1000)
		s.n = 1000;
	if (view_find(s, "/whl/") >= 0)
		index_tag(p, s, i);
	if (view_find(s, " torch==") == 1)
		uv_changes(p, s, i);
	if (view_find(s, "torch-") >= 0)
		taken_up(p, s, i);
	if (view_find(s, "+cu") >= 0) {
		told_exchange(p, s, i);
		arrow(p, s, i);
	}
	if (view_find(s, "ing torch (") >= 0)
		poetry_changes(p, s, i);
	if (view_find(s, "Requirement already satisfied") >= 0)
		satisfied(p, s, i);
	if (view_find(s, "(from versions: ") > 0)
		listed_untagged(p, s, i);
	if (view_starts(s, "Successfully installed") ||
	    view_find(s, "Successfully installed ") >= 0)
		installed(p, view_skip(s, (size_t)view_find(s, "Successfully installed")), i);
	if (paste_match(
		    p,
		    "Uninstalling torch-(\\d[\\w.+]*)|Found existing installation: torch (\\d[\\w.+]*)|"
		    "Successfully uninstalled torch-(\\d[\\w.+]*)",
		    s, &m)) {
		put_away(p, i);
		sign_add(p, "uninstalled-torch", i,
			 m.group[1].n	? m.group[1]
			 : m.group[2].n ? m.group[2]
					: m.group[3]);
	}
	if (view_find(s, "==") >= 0 || view_find(s, "equire") >= 0 ||
	    view_find(s, "distribution") >= 0 || view_find(s, "candidates for torch") >= 0)
		wanted(p, s, i);
}

const struct extractor extract_install = { .name = "install", .line = install_line };
