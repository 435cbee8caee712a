/* SPDX-License-Identifier: Apache-2.0 */
/* env: what to set for a toolkit, in every shell and file format; written to a file, or judged. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/jsonw.h"
#include "base/suggest.h"
#include "cli/judged.h"
#include "cli/opts.h"
#include "cli/present.h"
#include "env/check.h"
#include "env/env.h"
#include "report/report.h"
#include "source/source.h"

#define SHELLS "bash|zsh|dash|ksh|fish|tcsh|elvish|nu|powershell|cmd|xonsh|sh|csh|mksh|pwsh"
#define FORMATS \
	"dockerfile|compose|systemd|environment.d|modulefile|lmod|conda|venv|direnv|vscode|" \
	"jupyter|github|gitlab|ldconf|cmake"

#define MODULE_COOKIE "#%Module1.0" /* what stays of a modulefile that held nothing else */

struct job {
	struct run *r;
	const struct sysroot *root;
	const struct env_form *form, *shell; /* shell: of a conda hook */
	struct env_set set;
	const char *text; /* the snippet */
	bool json;
};

static int usage(const char *text)
{
	struct err err;

	err_set(&err, ERR_USAGE, "%s", text);
	return cli_fail(&err);
}

/* -------- which form */

/* The shell that will read the snippet: who started this, else SHELL, else any POSIX shell. */
static const struct env_form *shell_here(struct run *r)
{
	const struct env_form *f;
	struct sysroot *live;
	const char *name;

	if (sysroot_open(r->a, "/", &live, NULL) == 0 &&
	    sysroot_read_line(live, r->a, arena_printf(r->a, "/proc/%ld/comm", (long)getppid()),
			      &name) == 0) {
		f = env_shell(name);
		if (f)
			return f;
	}
	name = getenv("SHELL");
	f = name ? env_shell(path_base(name)) : NULL;
	return f ? f : env_shell("dash");
}

static bool wants(const struct options *o, const char *format)
{
	return o->env_format && strcmp(o->env_format, format) == 0;
}

static int choose_form(struct job *j)
{
	const struct options *o = j->r->o;
	const char *file = o->write;

	/* NULL for json, text and markdown: the shell's snippet in another dress. */
	if (o->env_format)
		j->form = env_format(o->env_format);
	if (file && wants(o, "markdown"))
		return usage(_("--format markdown and --write exclude each other"));
	if (o->shell)
		j->shell = env_shell(o->shell);
	if (j->form && j->shell && strcmp(j->form->name, "conda") == 0)
		j->form = j->shell;
	else if (j->form && j->shell)
		return usage(_("--shell and --format exclude each other, but with conda"));
	if (!j->form)
		j->form = j->shell;
	if (!j->form && file)
		j->form = env_form_of_file(file);
	if (!j->form)
		j->form = shell_here(j->r);
	return 0;
}

/* -------- the plan */

/* Absolute, with single slashes and none at the end; as the user spelled it otherwise. */
static const char *prefix_of(struct arena *a, const char *path)
{
	char *cwd = NULL;
	struct strbuf b;
	size_t n;

	if (!env_is_prefix(path) || strchr(path, '\\') || (path[0] && path[1] == ':'))
		return path;
	strbuf_init(&b, a);
	if (path[0] != '/') {
		cwd = getcwd(NULL, 0);
		strbuf_add(&b, cwd ? cwd : "");
		free(cwd);
	}
	while (*path) {
		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (n && !(n == 1 && path[0] == '.')) {
			strbuf_addc(&b, '/');
			strbuf_addn(&b, path, n);
		}
		path += n;
	}
	return b.n ? b.s : "/";
}

/* An explicit prefix needs no look at the machine, and undoing what was noted needs none either. */
static bool asks_machine(const struct options *o)
{
	if (o->cudnn && !env_is_prefix(o->cudnn))
		return true;
	return o->cuda ? !env_is_prefix(o->cuda) : !o->unset;
}

static int make_plan(struct job *j)
{
	struct options o = *j->r->o;
	struct run quiet = *j->r;
	struct env_request q = { .dev = o.dev, .unset = o.unset };
	struct err err = { 0 };
	struct snapshot s;
	struct compat *c;
	struct sysroot *root;
	int code;

	q.elsewhere = j->form->elsewhere;
	q.cuda = o.cuda ? prefix_of(j->r->a, o.cuda) : NULL;
	q.cudnn = o.cudnn ? prefix_of(j->r->a, o.cudnn) : NULL;
	if (!asks_machine(&o) && !o.root)
		o.no_live = true;
	quiet.o = &o;
	code = judged_snapshot(&quiet, &c, &s);
	if (code)
		return code;
	if (sysroot_open(j->r->a, o.root ? o.root : "/", &root, &err))
		return cli_fail(&err);
	j->root = root;
	code = env_plan(j->r->a, root, c, &s, &q, &j->set, &err);
	if (code) {
		code = cli_fail(&err);
		return err.code == ERR_NOENT ? EXIT_BLOCKED : code;
	}
	if (compat_error(c))
		return cli_fail(compat_error(c));
	j->set.assume = o.assume.v;
	j->set.n_assume = o.assume.n;
	if (env_render(j->r->a, j->form, &j->set, &j->text, &err))
		return cli_fail(&err);
	return 0;
}

/* -------- the answer */

static void put_item(struct jsonw *w, const struct env_item *it)
{
	jsonw_object(w);
	jsonw_kstr(w, "name", it->name);
	if (it->kind == ENV_SCALAR)
		jsonw_kstr(w, "value", it->values[0]);
	else
		jsonw_kstrs(w, "prepend", it->values, it->n);
	jsonw_end_object(w);
}

static int put_json(struct job *j, const char *file, bool changed)
{
	struct strbuf out;
	struct jsonw w;
	size_t i;

	strbuf_init(&out, j->r->a);
	jsonw_init(&w, &out, true);
	jsonw_object(&w);
	jsonw_kstr(&w, "schema", "cuvet.env/1");
	jsonw_key(&w, "toolkit");
	if (j->set.toolkit) {
		jsonw_object(&w);
		jsonw_kstr(&w, "path", j->set.toolkit);
		jsonw_kstr(&w, "version", j->set.version);
		jsonw_end_object(&w);
	} else {
		jsonw_null(&w);
	}
	jsonw_kstr(&w, "why", j->set.why);
	jsonw_kstr(&w, "cudnn", j->set.cudnn);
	jsonw_kstr(&w, j->form->shell ? "shell" : "format", j->form->name);
	jsonw_kbool(&w, "unset", j->set.unset);
	jsonw_key(&w, "set");
	jsonw_array(&w);
	for (i = 0; i < j->set.n_items; i++)
		put_item(&w, &j->set.items[i]);
	jsonw_end_array(&w);
	jsonw_kstrs(&w, "notes", j->set.notes, j->set.n_notes);
	jsonw_kstr(&w, "snippet", j->text);
	if (file) {
		jsonw_kstr(&w, "file", file);
		jsonw_kbool(&w, "changed", changed);
	}
	jsonw_end_object(&w);
	strbuf_addc(&out, '\n');
	return cli_write(j->r, out.s, out.n);
}

/* -------- files */

/* One file: body NULL takes the block out. *ret_changed: is there a difference? */
static int edit(struct job *j, const char *path, const char *body, struct strbuf *out,
		bool *ret_changed)
{
	const char *comment = j->form ? j->form->comment : "#", *text, *first;
	struct err err = { 0 };
	struct env_file f;
	struct view new, left;
	bool had, whole;
	size_t n;

	if (env_file_read(j->r->a, path, &f, &err))
		return cli_fail(&err);
	if (env_block_edit(j->r->a, f.text, comment, body, &text, &n, &had, &err)) {
		err_wrap(&err, "%s", path);
		return cli_fail(&err);
	}
	first = j->form ? j->form->first : NULL;
	if (body && first && !view_starts(f.text, first)) {
		text = arena_printf(j->r->a, "%s\n%s", first, text);
		n = strlen(text);
	}
	new = (struct view){ .p = text, .n = n };
	*ret_changed = n != f.text.n || (n && memcmp(text, f.text.p, n) != 0);
	if (!*ret_changed)
		return 0;
	if (j->r->o->dry_run) {
		strbuf_add(out, env_diff(j->r->a, path, f.text, new));
		return 0;
	}
	/* A file that held nothing else goes as a whole, unless a link leads to it. */
	left = view_trim(new);
	whole = !body && !f.linked && (!left.n || view_is(left, MODULE_COOKIE));
	if (env_file_write(j->r->a, &f, whole ? NULL : &new, strstr(path, "activate.d/") != NULL,
			   &err))
		return cli_fail(&err);
	return 0;
}

/* .../activate.d/NAME has its counterpart in .../deactivate.d/NAME; NULL: it is no such hook. */
static const char *counterpart(struct arena *a, const char *path)
{
	const char *at = strstr(path, "/activate.d/"), *next;

	while (at && (next = strstr(at + 1, "/activate.d/")) != NULL)
		at = next;
	if (!at || strchr(at + strlen("/activate.d/"), '/'))
		return NULL;
	return arena_printf(a, "%.*s/deactivate.d/%s", (int)(at - path), path,
			    at + strlen("/activate.d/"));
}

static int edit_all(struct job *j, const char *path, bool remove, struct strbuf *out,
		    bool *ret_changed)
{
	const char *other = counterpart(j->r->a, path), *undo = NULL;
	const struct env_set unset = { .unset = true };
	struct err err = { 0 };
	bool more = false;
	int code;

	if (other && !remove && env_render(j->r->a, j->form, &unset, &undo, &err))
		return cli_fail(&err);
	code = edit(j, path, remove ? NULL : j->text, out, ret_changed);
	if (!code && other)
		code = edit(j, other, undo, out, &more);
	*ret_changed |= more;
	return code;
}

static int write_file(struct job *j)
{
	const char *path = j->r->o->write;
	struct strbuf out;
	bool changed = false;
	int code;

	if (!j->form->comment)
		return usage(_("this format has no comments to mark a block with; merge what is "
			       "printed by hand"));
	if (j->set.unset)
		return usage(_("--write and --unset exclude each other; --remove FILE takes a "
			       "block out"));
	strbuf_init(&out, j->r->a);
	code = edit_all(j, path, false, &out, &changed);
	if (code)
		return code;
	if (j->json)
		return put_json(j, path, changed);
	if (!j->r->o->dry_run) {
		put_clean(&out, path);
		strbuf_add(&out, changed ? _(": written\n") : _(": unchanged\n"));
	}
	return cli_write(j->r, out.s, out.n);
}

static int remove_from(struct run *r)
{
	struct job j = { .r = r };
	const char *path = r->o->remove;
	struct strbuf out;
	struct jsonw w;
	bool changed = false;
	int code;

	strbuf_init(&out, r->a);
	code = edit_all(&j, path, true, &out, &changed);
	if (code)
		return code;
	if (r->o->json) {
		strbuf_init(&out, r->a);
		jsonw_init(&w, &out, true);
		jsonw_object(&w);
		jsonw_kstr(&w, "schema", "cuvet.env/1");
		jsonw_kstr(&w, "file", path);
		jsonw_kbool(&w, "changed", changed);
		jsonw_end_object(&w);
		strbuf_addc(&out, '\n');
	} else if (!r->o->dry_run) {
		put_clean(&out, path);
		strbuf_add(&out, changed ? _(": block taken out\n") : _(": no block in it\n"));
	}
	return cli_write(r, out.s, out.n);
}

/* -------- check */

static int check(struct run *r)
{
	struct options o = *r->o;
	struct run own = *r;
	struct env_check with = { .fix = "eval \"$(cuvet env)\"" };
	const struct judged_subject of = {
		.covers = env_check_covers, .more = env_check, .with = &with
	};
	struct err err = { 0 };
	struct sysroot *root;

	o.format = o.json ? "json" : o.env_format;
	if (o.format && !report_format(o.format))
		return usage(_("--check prints text, json or markdown"));
	if (sysroot_open(r->a, o.root ? o.root : "/", &root, &err))
		return cli_fail(&err);
	with.root = root;
	own.o = &o;
	return judged_run_of(&own, "env", &of);
}

static int run(struct run *r)
{
	const struct options *o = r->o;
	struct job j = { .r = r, .text = "" };
	int code;

	if (o->args.n)
		return usage(arena_printf(r->a,
					  _("env takes no operand (%.80s); --shell, --format, "
					    "--cuda name what is wanted"),
					  o->args.v[0]));
	if (o->check + (o->write != NULL) + (o->remove != NULL) > 1)
		return usage(_("--check, --write and --remove exclude each other"));
	if (o->dry_run && !o->write && !o->remove)
		return usage(_("--dry-run goes with --write and --remove"));
	if (o->check)
		return check(r);
	if (o->remove)
		return remove_from(r);
	j.json = o->json || wants(o, "json");
	code = choose_form(&j);
	if (!code)
		code = make_plan(&j);
	if (code)
		return code;
	if (o->write)
		return write_file(&j);
	if (j.form->first)
		j.text = arena_printf(r->a, "%s\n%s", j.form->first, j.text);
	if (j.json)
		return put_json(&j, NULL, false);
	return wants(o, "markdown") ? present_block(r, j.text, strlen(j.text))
				    : cli_write(r, j.text, strlen(j.text));
}

#define AT(field) .offset = offsetof(struct options, field)
/* clang-format off */
static const struct opt opt_shell = { .name = "shell", .kind = OPT_STRING, .arg = "SHELL",
	AT(shell), .choices = SHELLS,
	.help = N_("language of the snippet (default: the shell that asks)") };
static const struct opt opt_env_format = { .name = "format", .kind = OPT_STRING, .arg = "FORMAT",
	AT(env_format), .choices = FORMATS "|json|text|markdown",
	.help = N_("a file format instead of a shell; or json, text, markdown") };
static const struct opt opt_cuda = { .name = "cuda", .kind = OPT_STRING, .arg = "VERSION|PREFIX",
	AT(cuda), .help = N_("the toolkit: a version that is installed, or a folder") };
static const struct opt opt_cudnn = { .name = "cudnn", .kind = OPT_STRING, .arg = "VERSION|PREFIX",
	AT(cudnn), .help = N_("the cuDNN: a version that `cuvet fetch` installed, or a folder") };
static const struct opt opt_dev = { .name = "dev", .kind = OPT_FLAG, AT(dev),
	.help = N_("also what is needed to compile: headers, link-time paths, CUDNN_*") };
static const struct opt opt_unset = { .name = "unset", .kind = OPT_FLAG, AT(unset),
	.help = N_("take back what such a snippet set; with --cuda also what others set for "
		   "that toolkit") };
static const struct opt opt_env_check = { .name = "check", .kind = OPT_FLAG, AT(check),
	.help = N_("judge the present environment instead") };
static const struct opt opt_write = { .name = "write", .kind = OPT_STRING, .arg = "FILE", AT(write),
	.help = N_("put the snippet into FILE as a marked block, in the place of an earlier one") };
static const struct opt opt_remove = { .name = "remove", .kind = OPT_STRING, .arg = "FILE",
	AT(remove),
	.help = N_("take the marked block out of FILE") };
static const struct opt opt_dry_run = { .name = "dry-run", .kind = OPT_FLAG, AT(dry_run),
	.help = N_("only show the difference that --write or --remove would make") };
/* clang-format on */
static const struct opt *const opts[] = { &opt_shell,	  &opt_env_format, &opt_cuda,
					  &opt_cudnn,	  &opt_dev,	   &opt_unset,
					  &opt_env_check, &opt_write,	   &opt_remove,
					  &opt_dry_run,	  NULL };

const struct cmd cmd_env = {
	.name = "env",
	.args = "",
	.summary = N_("PATH and LD_LIBRARY_PATH for a toolkit, in every shell and file format"),
	.details = N_(
		"Prints lines that set the variables of a CUDA toolkit and of an installed "
		"cuDNN, and comments that "
		"say which toolkit was chosen and why. The lines can be read twice, leave no "
		"empty element, put one "
		"toolkit in the place of another, and can be taken back with --unset. "
		"LD_LIBRARY_PATH is set only "
		"where the loader needs it.\n"
		"\n"
		"  eval \"$(cuvet env)\"\n"
		"  cuvet env --shell fish --cuda 12.4 | source\n"
		"  eval \"`cuvet env --shell tcsh`\"\n"
		"  cuvet env --write ~/.bashrc --dry-run\n"
		"  cuvet env --format dockerfile --cuda /usr/local/cuda-12.4 --assume gpu=A100\n"
		"  cuvet env --write $CONDA_PREFIX/etc/conda/activate.d/cuda.sh\n"
		"  cuvet env --check\n"
		"\n"
		"Without --cuda the toolkit is the one that CUDA_HOME names, else the one for "
		"the CUDA of PyTorch, "
		"else the newest that the driver runs.\n"
		"\n"
		"PowerShell: `cuvet env --shell powershell | Out-String | Invoke-Expression`. "
		"elvish: "
		"`eval (cuvet env --shell elvish | slurp)`. nu and cmd: write it into a file, then "
		"`source FILE` or `call FILE`. xonsh: `execx($(cuvet env --shell xonsh))`.\n"),
	.opts = opts,
	.run = run,
};
