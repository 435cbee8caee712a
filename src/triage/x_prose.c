/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Versions that a sentence says: "a 4090 on 535 with torch 2.1 under Ubuntu 22.04". Taken last, and
 * only where no output of a program says it, since people remember roughly.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/regex.h"
#include "triage/paste.h"
#include "triage/prose.h"
#include "triage/sign.h"

enum { PROSE_LINES = 4000, SENTENCE_MAX = 1200 };

/* What should be, was, or is asked for is not what there is. */
static bool speaks_of_wishes(struct paste *p, struct view s)
{
	return paste_match(
		p,
		"\\b(?:requires?|required|needs?|minimum|at least|or (?:newer|later|higher)|"
		"should|(?<!as )recommend(?:s|ed)?|supports?|supported|please install|instead of|"
		"for example)\\b|\\be\\.g\\.|>=|\\?$|"
		"\xed\x95\x84\xec\x9a\x94|\xec\x9d\xb4\xec\x83\x81",
		s, NULL);
}

/* Is this a person's sentence, and no output, path or command? */
static bool is_sentence(const struct paste *p, size_t i)
{
	const struct line *l = &p->t.lines[i];

	if (l->cmd_at || l->s.n < 12 || l->s.n > SENTENCE_MAX || l->s.p[0] == '|' ||
	    paste_foreign(p, i, SCOPE_MACHINE))
		return false;
	/* Chinese has no blanks. */
	return (memchr(l->s.p, ' ', l->s.n) || view_find(l->s, "\xe4\xb8\x8a") >= 0 ||
		view_find(l->s, "\xe7\x94\xa8") >= 0) &&
	       view_find(l->s, "File \"") < 0 && view_find(l->s, "://") < 0;
}

/* -------- the GPU */

static const char *family(struct paste *p, struct view number)
{
	long n = strtol(view_dup(p->a, number), NULL, 10);

	return n >= 2000 ? "RTX" : "GTX";
}

/* "a 4090", "my 3060 Ti", "two 3090s", "4090 laptop". */
static void gpu(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;
	const char *name;
	bool ti, super;

	if (!paste_match(
		    p,
		    "(?:^|\\b(?:an?|my|the|our|with|two|three|four|dual|single|on|has|\\dx?|gpu:?|"
		    "card:?|(?:card|gpu) (?:to|is|was)|geforce|discrete|dedicated|nvidia)\\s+"
		    "(?:new |old |nvidia |geforce )?|(?<![\\w.-])(?=\\d{4} ?ti\\b))"
		    "((?:10[5-8]0|16[5-6]0|20[6-8]0|30[5-9]0|40[5-9]0|50[5-9]0))\\s?(ti)?\\s?(super)?s?"
		    "(?=[\\s,.;:()]|[\xe3-\xe9]|$)(?!\\s?(?:mib|mb|gb|it/s|steps|images|epochs|files|lines|ms|px|"
		    "samples|tokens|users|times|iterations|%))",
		    s, &m))
		return;
	ti = m.group[2].n > 0;
	super = m.group[3].n > 0;
	name = arena_printf(p->a, "%s %s%s%s", family(p, m.group[1]), view_dup(p->a, m.group[1]),
			    ti ? " Ti" : "", super ? " SUPER" : "");
	paste_fact(p, "gpu.name", view_of(name), i);
}

/* "GPU 3090", "gpu:rtx-2080", "4x3090", "5060Ti": a line of a list. */
static void gpu_of_list(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (s.n > 40 || p->s->n_gpus ||
	    !paste_match(
		    p,
		    "^\\W{0,4}(?:(?:gpus?|(?:graphics )?card|\xe6\x98\xbe\xe5\x8d\xa1)\\W{0,4}|"
		    "[1-9] ?[x*] ?|(?=\\d{4} ?ti\\W*$))"
		    "(?:nvidia )?(?:geforce )?(?:[rg]tx)?[ -]?"
		    "(10[5-8]0|16[5-6]0|20[6-8]0|30[5-9]0|40[5-9]0|50[5-9]0)\\s?(ti)?\\s?(super)?\\s*$",
		    s, &m))
		return;
	paste_fact(p, "gpu.name",
		   view_of(arena_printf(p->a, "%s %s%s%s", family(p, m.group[1]),
					view_dup(p->a, m.group[1]), m.group[2].n ? " Ti" : "",
					m.group[3].n ? " SUPER" : "")),
		   i);
}

/* "upgraded to RTX50", "the RTX 40 series": the model does not matter for the capability. More than
 * one series says nothing. */
static void gpu_series(struct paste *p, size_t n)
{
	static const char *const cc[] = { "7.5", "8.6", "8.9", "12.0" };
	struct regex_match m;
	size_t i, at = 0;
	char series = 0;

	for (i = 0; i < n; i++) {
		struct view s = p->t.lines[i].s;

		while (paste_match(p,
				   "\\bRTX ?([2-5])0(?:[ -]?series|xx|\\xe7\\xb3\\xbb)?(?![\\w.])",
				   s, &m)) {
			if (!is_sentence(p, i) || speaks_of_wishes(p, p->t.lines[i].s))
				break;
			if (series && series != m.group[1].p[0])
				return;
			series = m.group[1].p[0];
			at = i;
			s = view_skip(s, m.end);
		}
	}
	if (series)
		paste_fact(p, "gpu.cc", view_of(cc[series - '2']), at);
}

/* -------- versions */

static const struct {
	const char *hint, *pattern, *fact;
} said[] = {
	{ "river",
	  "\\bdrivers?\\b.{0,16}\\bfrom\\s+\\d{3}[\\d.]*\\s+to\\s+(\\d{3}(?:\\.\\d{2,3}){0,2})",
	  "driver.version" },
	{ "river",
	  "\\bdrivers?(?: (?:there|here))?(?: version| is| are|:)?\\s*(?:nvidia\\s*)?v?((?:39|4[1-7]|5[0-9]|6[0-2])\\d"
	  "(?:\\.\\d{2,3}){0,2})(?![\\w.-])",
	  "driver.version" },
	{ "river",
	  "\\b(?:nvidia )?((?:39|4[1-7]|5[0-9]|6[0-2])\\d(?:\\.\\d{2,3}){0,2})\\s+"
	  "(?:nvidia )?drivers?\\b",
	  "driver.version" },
	/* Three parts are a release of the driver and of nothing else. */
	{ ".",
	  "\\b(?:nvidia|drivers?|pilote|treiber|controlador)\\b(?!.{0,80}(?:mismatch|client|librar|toolkit|"
	  "nvml))\\S*.{0,60}?(?<![\\w.-])v?((?:39|4[1-7]|5[0-9]|6[0-2])\\d\\.\\d{2,3}\\.\\d{2})(?![\\w.-])",
	  "driver.version" },
	{ " on ",
	  "\\b(?:[1-5]0[5-9]0|[AHVBLT]\\d{1,3}|geforce|tesla)\\S*.{0,24}\\bon\\s+((?:4[5-7]|5[0-9]|"
	  "6[0-2])\\d(?:\\.\\d{2,3}){0,2})(?=[\\s,;]|\\.(?:\\s|$)|$)",
	  "driver.version" },
	{ "\xeb\x93\x9c\xeb\x9d\xbc\xec\x9d\xb4\xeb\xb2\x84",
	  "\xeb\x93\x9c\xeb\x9d\xbc\xec\x9d\xb4\xeb\xb2\x84(?: \xeb\xb2\x84\xec\xa0\x84)?\\S{0,6}\\s*"
	  "((?:4[5-7]|5[0-9]|6[0-2])\\d(?:\\.\\d{2,3}){0,2})",
	  "driver.version" },
	{ "orch",
	  "\\b(?:(?<=upgraded |downgraded |updated |switched )(?:py)?torch to|"
	  "(?:py)?torch(?: version| is|:)?)\\s*v?(\\d\\.\\d+(?:\\.\\d+)?(?:\\+[a-z]+[\\d.]*)?)"
	  "(?=[\\s,;:)]|\\.(?:\\s|$)|$)",
	  "torch.version" },
	/* Of what comes with a CUDA tag and from 1.0 on, it is PyTorch whose name is left out. */
	{ "+cu",
	  "(?:^|\\b(?:installed|version|using|have|had|is|got|prints?|gives|run|running|on|with)|[:=>])"
	  "\\s*['\"`(]{0,2}([12]\\.\\d{1,2}\\.\\d\\+cu1[0-3]\\d)(?![\\w.])",
	  "torch.version" },
	{ "\xed\x8c\x8c\xec\x9d\xb4\xed\x86\xa0\xec\xb9\x98",
	  "\xed\x8c\x8c\xec\x9d\xb4\xed\x86\xa0\xec\xb9\x98\\s*(\\d\\.\\d+(?:\\.\\d+)?)",
	  "torch.version" },
	/* Chinese */
	{ "orch\xe7\x89\x88\xe6\x9c\xac",
	  "torch\xe7\x89\x88\xe6\x9c\xac(?:[\\s:=]|\xef\xbc\x9a)*(\\d\\.\\d+(?:\\.\\d+)?(?:\\+[a-z]+\\d*)?)",
	  "torch.version" },
	{ "ython", "\\bpython\\s*(3\\.\\d{1,2}(?:\\.\\d+)?)(?=[\\s,;:)]|\\.(?:\\s|$)|$)",
	  "python.version" },
	{ "\xed\x8c\x8c\xec\x9d\xb4\xec\x8d\xac",
	  "\xed\x8c\x8c\xec\x9d\xb4\xec\x8d\xac\\s*(3\\.\\d{1,2}(?:\\.\\d+)?)", "python.version" },
	{ "nvcc",
	  "\\bnvcc(?: --version| -V)?(?: version| release| is| says| reports| shows| at| from|:| =|,)*"
	  "\\s*(?:cuda |release )?v?((?:[89]|1[0-3])\\.\\d)(?=[\\s,;:)]|\\.(?:\\s|$)|$)",
	  "toolkit.version" },
	{ "indows", "\\b(windows)\\s+(?:1[01]|7|8|server)\\b", "host.system" },
	/* Korean */
	{ "\xec\x9c\x88\xeb\x8f\x84\xec\x9a\xb0",
	  "(\xec\x9c\x88\xeb\x8f\x84\xec\x9a\xb0)\\s*(?:1[01]|7|8)\\b", "host.system" },
	{ "buntu", "(?<![\\w:/-])ubuntu\\s+(\\d\\d\\.\\d\\d)\\b", "ubuntu" },
};

/* "from 470 to 535": what holds now is the second. */
static struct view changed_to(struct paste *p, struct view s, struct view first)
{
	struct regex_match m;

	if (paste_match(
		    p,
		    "\\bfrom\\s.{0,24}?\\d[\\d.]*\\s+to\\s+(?:version\\s+|driver\\s+)?(\\d{3}[\\d.]*)",
		    s, &m) &&
	    first.n >= 3)
		return m.group[1];
	return first;
}

static bool known_already(const struct paste *p, const char *fact)
{
	const struct snapshot *s = p->s;
	const struct python *py = s->n_pythons ? &s->pythons[0] : NULL;

	if (strcmp(fact, "driver.version") == 0)
		return fact_known(&s->driver.version);
	if (strcmp(fact, "torch.version") == 0)
		return py && fact_known(&py->torch.version);
	if (strcmp(fact, "python.version") == 0)
		return py && fact_known(&py->version);
	if (strcmp(fact, "toolkit.version") == 0)
		return s->n_toolkits > 0;
	if (strcmp(fact, "host.system") == 0)
		return fact_known(&s->host.system) || sign_has(p, "wsl-word") ||
		       sign_has(p, "wsl-kernel");
	return fact_known(&s->host.os_id);
}

/* "torch 2.2 cu121", "torch 2.6.0 with cu126", "pytorch cu121 wheels". */
static void torch_built_for(struct paste *p, struct view s, size_t i)
{
	struct torch *t = p->s->n_pythons ? &p->s->pythons[0].torch : NULL;
	struct regex_match m;

	if ((t && (t->cuda.state != FACT_NOT_ASKED || t->variant.state != FACT_NOT_ASKED)) ||
	    view_find(s, "cu1") < 0 ||
	    !paste_match(
		    p,
		    "(?<![\\w./+-])(?:py)?torch((?: to)?\\s+v?\\d\\.\\d+(?:\\.\\d+)?)?[\\s,(]{1,3}"
		    "(?:with |for |built for )?(cu(1[0-3])(\\d))\\b(?![/-])",
		    s, &m))
		return;
	/* Of one build that its version stands before, or the only one that is spoken of. */
	if (m.group[1].n ? !t || !fact_known(&t->version)
			 : paste_match(p, "\\bcu1[0-3]\\d\\b", view_skip(s, m.end), NULL))
		return;
	paste_fact(p, "torch.cuda",
		   view_of(arena_printf(p->a, "%s.%s", view_dup(p->a, m.group[3]),
					view_dup(p->a, m.group[4]))),
		   i);
	if (m.group[1].n)
		fact_set(&t->variant, view_dup(p->a, m.group[2]), paste_source(p, i));
}

/* "my torch.version.cuda is 9.0.176". */
static void torch_cuda_told(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (view_find(s, "torch.version.cuda") >= 0 &&
	    paste_match(
		    p,
		    "\\btorch\\.version\\.cuda`?\\s*(?:is|was|says|shows|gives|returns|prints)\\s+"
		    "[`'\"]?(\\d{1,2}\\.\\d{1,2})(?:\\.\\d+)?\\b",
		    s, &m))
		paste_fact(p, "torch.cuda", m.group[1], i);
}

/* "nvidia-cublas-cu12 12.8.4.1" among other versions; not what is to be installed. */
static void wheels(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;
	size_t n;

	if (view_find(s, "nvidia-") < 0 ||
	    paste_match(
		    p,
		    "\\b(?:(?:pip|uv|conda)(?! (?:list|freeze)\\b)|install\\w*|upgrad\\w*|updat\\w*|fix\\w*|try|want\\w*|"
		    "change\\w*|downgrad\\w*|Collecting|Downloading)\\b",
		    s, NULL))
		return;
	for (n = 0;
	     n < 12 && paste_match(p,
				   "(?<![\\w/-])(nvidia-(?:cublas|cudnn|nccl|cusparse|nvjitlink|"
				   "cuda-runtime)(?:-cu1\\d)?)(?: |==?)v?(\\d+(?:\\.\\d+){2,3})"
				   "(?=[\\s,;)]|$)",
				   s, &m);
	     n++) {
		paste_package(p, m.group[1], m.group[2], i);
		s = view_skip(s, m.end);
	}
}

static void sentence(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s, v;
	struct regex_match m;
	size_t k;

	if (speaks_of_wishes(p, s))
		return;
	if (!p->s->n_gpus)
		gpu(p, s, i);
	for (k = 0; k < ARRAY_LEN(said); k++) {
		if (known_already(p, said[k].fact) || view_find(s, said[k].hint) < 0 ||
		    !paste_match(p, said[k].pattern, s, &m))
			continue;
		v = m.group[1];
		if (strcmp(said[k].fact, "host.system") == 0)
			v = VIEW("windows");
		if (strcmp(said[k].fact, "driver.version") == 0)
			v = changed_to(p, s, v);
		if (strcmp(said[k].fact, "ubuntu") == 0) {
			paste_fact(p, "host.os_id", VIEW("ubuntu"), i);
			paste_fact(p, "host.os_version", v, i);
		} else {
			paste_fact(p, said[k].fact, v, i);
		}
	}
	torch_built_for(p, s, i);
	torch_cuda_told(p, s, i);
	wheels(p, s, i);
}

/* ".../lib/python3.10/site-packages/torch/...", "C:\\Python310\\lib\\site-packages\\...": of a
 * traceback. */
static void path_of_packages(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;
	struct regex_match m;

	if (s.n > SENTENCE_MAX || paste_foreign(p, i, SCOPE_ENV) || view_find(s, "-packages") < 0)
		return;
	if (!known_already(p, "python.version") &&
	    (paste_match(p, "/python(3\\.\\d{1,2})/(?:site|dist)-packages/", s, &m) ||
	     paste_match(p, "\\\\Python(3)(\\d{1,2})(?:-\\d\\d)?\\\\lib\\\\site-packages\\\\", s,
			 &m))) {
		if (m.group[2].n)
			paste_fact(p, "python.version",
				   view_of(arena_printf(p->a, "3.%s", view_dup(p->a, m.group[2]))),
				   i);
		else
			paste_fact(p, "python.version", m.group[1], i);
	}
	if (paste_match(p, "\\b[A-Z]:\\\\.{0,300}\\\\site-packages\\\\torch\\\\", s, NULL))
		paste_fact(p, "host.system", VIEW("windows"), i);
}

/* "(base) D:\\ai\\app>pip list": what is typed there runs under Windows. */
static void shell_of_windows(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;

	if (s.n < 4 || s.n > SENTENCE_MAX || view_find(s, ":\\") < 0 || view_chr(s, '>') < 0 ||
	    known_already(p, "host.system") || paste_foreign(p, i, SCOPE_MACHINE) ||
	    !paste_match(p,
			 "^\\s*(?:\\([\\w .-]+\\) ?)?(?:PS )?(?-i:[C-Z]):\\\\[^>:|\"]{0,200}>(?!>)",
			 s, NULL))
		return;
	paste_fact(p, "host.system", VIEW("windows"), i);
}

void prose_take(struct paste *p)
{
	size_t i, n = p->t.n < PROSE_LINES ? p->t.n : PROSE_LINES;

	for (i = 0; i < n; i++)
		if (is_sentence(p, i))
			sentence(p, i);
	for (i = 0; i < n; i++) {
		path_of_packages(p, i);
		shell_of_windows(p, i);
		gpu_of_list(p, p->t.lines[i].s, i);
	}
	if (!p->s->n_gpus)
		gpu_series(p, n);
}
