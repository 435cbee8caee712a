/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of Python: what stands behind a print or below a prompt of the interpreter. */
#include <string.h>

#include "base/attr.h"
#include "base/regex.h"
#include "triage/paste.h"
#include "triage/sign.h"
#include "triage/tuple.h"

struct question {
	const char *asks; /* in the command */
	const char *fact; /* or a sign */
};

static const struct question questions[] = {
	{ "torch.__version__", "torch.version" },
	{ "torch.version.cuda", "torch.cuda" },
	{ "torch.cuda.get_device_name", "gpu.name" },
	{ "torch.cuda.get_arch_list", "torch.archs" },
	{ "sys.version", "python.version" },
	{ "tf.__version__", "package.tensorflow" },
	{ "tensorflow.__version__", "package.tensorflow" },
	{ "jax.__version__", "package.jax" },
	{ "np.__version__", "package.numpy" },
	{ "torchvision.__version__", "package.torchvision" },
};

static void availability(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (paste_match(
		    p,
		    "is_available(?:\\(\\))?\\)*[\"'`]?\\s*(?:[:=]|->|=>|is|says|returns?|returned|returning|gives|giving|prints|#)+\\s*"
		    "(?:always |now )?(True|False)",
		    s, &m) ||
	    paste_match(p, "is_available(?:\\(\\))?\\s+(True|False)", s, &m) ||
	    paste_match(p, "cuda[ _]available\\W+(True|False)", s, &m))
		sign_add(p,
			 view_starts(m.group[1], "T") || view_starts(m.group[1], "t")
				 ? "cuda-available-true"
				 : "cuda-available-false",
			 i, m.group[1]);
}

/* "True NVIDIA A10G", "(True, 8)". */
static bool begins(struct view s, const char *word)
{
	if (view_starts(s, "("))
		s = view_skip(s, 1);
	if (!view_starts(s, word))
		return false;
	s = view_skip(s, strlen(word));
	return s.n > 1 && (s.p[0] == ' ' || s.p[0] == ',') && (s.n < 60 || s.p[1] == '/');
}

/* The name of a GPU that an answer says; a sentence below it is none. */
static struct view gpu_of(struct paste *p, struct view s)
{
	struct regex_match m;

	if (paste_match(
		    p,
		    "^\\(?(?:True|False)?,? ?['\"]?((?:NVIDIA|GeForce|Tesla|Quadro|GRID|TITAN|RTX|GTX|"
		    "Orin|Xavier|Jetson|Graphics Device|[ABHKLMPTV]\\d{1,3})\\b.*?)['\"]?\\)?$",
		    s, &m))
		return m.group[1];
	return (struct view){ 0 };
}

/* "2.1.0+cu121 True", "('1.13.1+cpu', '/home/...')": the version stands first. */
static struct view first_version(struct paste *p, struct view s)
{
	struct regex_match m;

	if (paste_match(p, "^\\(?['\"]?(\\d+\\.\\d+[\\w.+-]*)['\"]?(?:,? .*|\\))$", s, &m))
		return m.group[1];
	return s;
}

/* os.environ['CUDA_VISIBLE_DEVICES'] and its value, between the quotation marks that Python prints.
 */
static void environment(struct paste *p, struct view cmd, struct view s, size_t i)
{
	struct regex_match name, value;

	if (paste_match(
		    p,
		    "(?:environ(?:\\.get\\(|\\[)|getenv\\()['\"]([A-Z][A-Z0-9_]+)['\"][^)\\]]*[)\\]]+$",
		    cmd, &name) &&
	    paste_match(p, "^(?:'([^']*)'|\"([^\"]*)\")$", s, &value))
		paste_variable(p, name.group[1], value.group[1].n ? value.group[1] : value.group[2],
			       i);
}

/* The PyTorch that answers is of another release than the one that was installed just above. */
static void other_than_installed(struct paste *p, struct view cmd, struct view s, size_t i)
{
	const char *put = sign_value(p, "installed-torch");
	struct regex_match m;
	size_t n;

	if (!put || view_find(cmd, "torch.__version__") < 0 ||
	    !paste_match(p, "(?<![\\w.])(\\d+\\.\\d+\\.\\d+)", s, &m))
		return;
	n = strcspn(put, "+");
	if (m.group[1].n != n || strncmp(m.group[1].p, put, n) != 0)
		sign_add(p, "runs-other-torch", i, m.group[1]);
}

static void answer(struct paste *p, struct view cmd, struct view s, size_t i)
{
	size_t k, asked = 0;

	if (view_find(cmd, "__version__") >= 0 || view_find(cmd, "version.cuda") >= 0 ||
	    view_find(cmd, "sys.") >= 0) {
		other_than_installed(p, cmd, s, i);
		tuple_answer(p, cmd, s, i);
	}
	/* "julia> CUDA.functional()" answers true; "> cuda_is_available()" of R "[1] FALSE". */
	if (view_find(cmd, "CUDA.functional") >= 0 || view_find(cmd, "cuda_is_available") >= 0) {
		if (view_is(s, "true") || view_is(s, "[1] TRUE"))
			sign_add(p, "cuda-available-true", i, s);
		else if (view_is(s, "false") || view_is(s, "[1] FALSE"))
			sign_add(p, "cuda-available-false", i, s);
	}
	if (view_find(cmd, "cuda.get_device_name") >= 0 && gpu_of(p, s).n)
		sign_add(p, "gpu-answers", i, s);
	if (view_find(cmd, "cuda.is_available") >= 0 || view_find(cmd, "is_built_with_cuda") >= 0) {
		if (view_is(s, "True") || view_ends(s, " True") || begins(s, "True"))
			sign_add(p, "cuda-available-true", i, s);
		else if (view_is(s, "False") || view_ends(s, " False") || begins(s, "False"))
			sign_add(p, "cuda-available-false", i, s);
	}
	/* The two together: "(False, None)". */
	if (view_find(cmd, "is_available") >= 0 && view_find(cmd, "version.cuda") >= 0 &&
	    view_find(s, "False") >= 0) {
		sign_add(p, "cuda-available-false", i, s);
		if (view_find(s, "None") >= 0)
			paste_fact(p, "torch.cuda", VIEW("None"), i);
	}
	/* What torch would compile with: None where it finds no nvcc. */
	if ((view_find(cmd, "print(CUDA_HOME") >= 0 || view_is(cmd, "CUDA_HOME")) &&
	    view_is(s, "None"))
		sign_add(p, "cuda-home-none", i, s);
	if (view_find(cmd, "backends.cuda.is_built") >= 0 && view_is(s, "False"))
		sign_add(p, "torch-is-cpu", i, s);
	if (view_find(cmd, "environ") >= 0 || view_find(cmd, "getenv") >= 0)
		environment(p, cmd, s, i);
	if (view_find(cmd, "list_physical_devices") >= 0) {
		if (view_is(s, "[]") || (view_ends(s, " []") && view_find(cmd, "GPU") >= 0))
			sign_add(p, "tf-no-gpu", i, s);
		else if (view_find(s, "GPU:0") >= 0)
			sign_add(p, "cuda-available-true", i, s);
	}
	for (k = 0; k < ARRAY_LEN(questions); k++)
		asked += view_find(cmd, questions[k].asks) >= 0;
	for (k = 0; k < ARRAY_LEN(questions) && asked == 1; k++)
		if (view_find(cmd, questions[k].asks) >= 0 && s.n < 400) {
			/* Warnings come first; the answer is short. */
			if (strcmp(questions[k].fact, "gpu.name") == 0)
				s = gpu_of(p, s);
			else if (strcmp(questions[k].fact, "torch.version") == 0)
				s = first_version(p, s);
			if (s.n && (strcmp(questions[k].fact, "torch.archs") == 0 || s.n < 80))
				paste_fact(p, questions[k].fact, s, i);
		}
}

/* "True" or "False" alone in what a script or a container printed, whose code stands above. */
static void script_answer(struct paste *p, size_t i)
{
	enum { LINES_ABOVE = 60 };
	const struct line *l = &p->t.lines[i];
	size_t k, from = i > LINES_ABOVE ? i - LINES_ABOVE : 0;
	bool yes = view_is(l->s, "True");

	if ((!yes && !view_is(l->s, "False")) || !paste_may_look(p) ||
	    !paste_match(
		    p,
		    "\\b(?:logs|compose\\b.* up)\\b|\\bpython[\\d.]*\\s+\\S+\\.py\\b|\\bcat\\s+"
		    "\\S+\\.(?:out|log)\\b|\\b(?:run|exec|srun)\\b",
		    line_cmd(&p->t.lines[l->by]), NULL))
		return;
	for (k = from; k < (size_t)l->by; k++)
		if (view_find(p->t.lines[k].s, "print(torch.cuda.is_available())") >= 0) {
			sign_add(p, yes ? "cuda-available-true" : "cuda-available-false", i, l->s);
			return;
		}
}

/* Code of a notebook or a script, with no prompt before it, that prints something; or an expression
 * that a notebook shows. */
static bool prints(struct paste *p, size_t i)
{
	const struct line *l = &p->t.lines[i];

	if (l->cmd_at || l->wished || l->s.n > 300)
		return false;
	return view_starts(l->s, "print(") ||
	       (view_starts(l->s, "import ") && view_find(l->s, "; print(") > 0) ||
	       (view_starts(l->s, "torch.") &&
		paste_match(p,
			    "^torch\\.(?:__version__|version\\.cuda|cuda\\.is_available\\(\\)|"
			    "cuda\\.get_device_name\\(\\d?\\))$",
			    l->s, NULL));
}

static bool is_code(struct view s)
{
	return view_starts(s, "import ") || view_starts(s, "from ") || view_starts(s, "#");
}

/* Several prints, and below them what they printed, a line each. */
static void cell(struct paste *p, size_t i)
{
	enum { PRINTS_MAX = 12, LINES_MAX = 40 };
	size_t at[PRINTS_MAX], n = 0, k = i, said = 0, end;

	if (!prints(p, i) || (i > 0 && prints(p, i - 1)))
		return;
	end = i + LINES_MAX < p->t.n ? i + LINES_MAX : p->t.n;
	for (; k < end && (prints(p, k) || is_code(p->t.lines[k].s)); k++)
		if (prints(p, k) && n < PRINTS_MAX)
			at[n++] = k;
	for (; k < end && said < n; k++) {
		struct view s = p->t.lines[k].s;

		if (!s.n || (!said && view_ends(s, ":") && s.n < 24))
			continue;
		if (p->t.lines[k].cmd_at || prints(p, k) || is_code(s) || s.n > 200)
			return;
		answer(p, p->t.lines[at[said++]].s, s, k);
	}
}

/* The interpreter prints nothing for None: the next prompt follows at once. */
static void silent(struct paste *p, size_t i)
{
	const struct line *next = &p->t.lines[i + 1];

	if (i + 1 < p->t.n && view_starts(p->t.lines[i].s, ">>>") && view_starts(next->s, ">>>") &&
	    view_is(line_cmd(&p->t.lines[i]), "torch.version.cuda"))
		paste_fact(p, "torch.cuda", VIEW("None"), i);
}

/* The call and what it gave, in one line or in two: "list_physical_devices('GPU') -> []". */
static void tf_listed(struct paste *p, struct view s, size_t i)
{
	struct view next = i + 1 < p->t.n ? p->t.lines[i + 1].s : (struct view){ 0 };

	if (paste_match(p, "list_physical_devices\\([^)]*\\)`?\\s*(?:->|=>|=|:|#)?\\s*\\[\\]", s,
			NULL) ||
	    paste_match(
		    p,
		    "^(?!.*\\b(?:if|If|when|whether)\\b).*list_physical_devices\\([^)]*\\)\\W{0,3}"
		    "(?:returns?|gives?|prints?|shows?|is) (?:me )?(?:an )?(?:empty|\\[\\])",
		    s, NULL) ||
	    (paste_match(p, "list_physical_devices\\(['\"]GPU", s, NULL) &&
	     paste_match(p, "^(?:[A-Za-z ]{0,24}:? ?)?\\[\\]$", next, NULL)))
		sign_add(p, "tf-no-gpu", i, (struct view){ 0 });
}

/* "[PhysicalDevice(name='/physical_device:CPU:0', ...)]" and no GPU; "Num GPUs Available:  0". */
static void tf_devices(struct paste *p, struct view s, size_t i)
{
	if (view_find(s, "physical_device:") >= 0) {
		if (view_find(s, "device:GPU:0") >= 0)
			sign_add(p, "cuda-works", i, (struct view){ 0 });
		else if (paste_match(p, "device:CPU:0', device_type='CPU'\\)\\]", s, NULL))
			sign_add(p, "tf-no-gpu", i, (struct view){ 0 });
	}
	if (view_find(s, "GPUs Available") >= 0 &&
	    paste_match(p, "Num GPUs Available:?\\s+0$", s, NULL))
		sign_add(p, "tf-no-gpu", i, (struct view){ 0 });
}

static void repl_line(struct paste *p, size_t i)
{
	const struct line *l = &p->t.lines[i];
	struct regex_match m;

	if (l->cmd_at)
		silent(p, i);
	else
		cell(p, i);

	if (view_find(l->s, "available") >= 0)
		availability(p, l->s, i);
	if (view_find(l->s, "list_physical_devices") >= 0)
		tf_listed(p, l->s, i);
	tf_devices(p, l->s, i);
	if (view_find(l->s, "ython") >= 0 && view_find(l->s, ".final.") < 0 &&
	    paste_match(p, "\\bpython(?: version)?[ :=]+v?(\\d\\.\\d+(?:\\.\\d+)?)\\b", l->s, &m))
		paste_fact(p, "python.version", m.group[1], i);
	if (l->cmd_at || l->by == NO_COMMAND || !l->s.n)
		return;
	answer(p, line_cmd(&p->t.lines[l->by]), l->s, i);
	if (l->s.n <= 5)
		script_answer(p, i);
}

const struct extractor extract_repl = { .name = "repl", .line = repl_line };
