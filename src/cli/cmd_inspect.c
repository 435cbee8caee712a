/* SPDX-License-Identifier: Apache-2.0 */
/* inspect: what files hold, what they would load and why; what a process has loaded. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/json.h"
#include "cli/opts.h"
#include "cli/present.h"
#include "inspect/inspect.h"
#include "inspect/process.h"
#include "probe/probe.h"
#include "report/inspect_text.h"

enum { HWCAPS_MAX = 7, PATH_SIZE = 4096 };

/* Environment, working directory and processor of what is audited. */
static int audited(struct run *r, struct inspect *in, struct err *err)
{
	struct snapshot *s = arena_alloc(r->a, sizeof(*s));
	struct sysroot *root;
	struct probe_ctx p = { .a = r->a, .s = s };
	const char *const *hwcaps = NULL;
	char *cwd = NULL;
	size_t n;

	if (sysroot_open(r->a, r->o->root ? r->o->root : "/", &root, err))
		return -(int)err->code;
	in->r = p.root = root;
	if (probe_facts_load(&p, r->o->facts, err))
		return -(int)err->code;
	probe_environ.run(&p);
	in->env.library_path = snapshot_env(s, "LD_LIBRARY_PATH");
	in->env.preload = snapshot_env(s, "LD_PRELOAD");
	if (p.facts) {
		in->env.cwd = json_get_str(p.facts, "cwd");
		hwcaps = json_str_list(r->a, json_get(p.facts, "hwcaps"), &n);
	} else if (root->live) {
		cwd = arena_alloc(r->a, PATH_SIZE);
		in->env.cwd = getcwd(cwd, PATH_SIZE);
	}
	if (in->env.cwd && in->env.cwd[0] != '/')
		in->env.cwd = NULL;
	in->w = arena_alloc(r->a, sizeof(*in->w));
	ldso_root_init(in->w, root, r->a, hwcaps);
	return 0;
}

/* Operands count from the working directory, with --root from the root. */
static int operands(struct run *r, struct inspect *in, struct err *err)
{
	char cwd[PATH_SIZE];
	const char *base = "/";
	size_t i;

	if (!r->o->root) {
		if (!getcwd(cwd, sizeof(cwd)))
			return err_errno(err, errno, "%s", _("the working directory"));
		base = cwd;
	}
	for (i = 0; i < r->o->args.n; i++) {
		const char *arg = r->o->args.v[i];

		if (!*arg)
			return err_set(err, ERR_USAGE, _("an empty path"));
		if (inspect_path(in, arg[0] == '/' ? arg : path_join(r->a, base, arg), err))
			return -(int)err->code;
	}
	return 0;
}

static bool markdown(const struct options *o)
{
	return o->format && strcmp(o->format, "markdown") == 0;
}

static int usage(const struct options *o, long *ret_pid, struct err *err)
{
	uint64_t pid = 0;

	if (o->pid && (!view_u64(view_of(o->pid), 10, &pid) || !pid || pid > INT32_MAX))
		return err_set(err, ERR_USAGE, _("--pid %.40s: not a number of a process"), o->pid);
	if (o->pid && (o->args.n || o->root))
		return err_set(err, ERR_USAGE, _("--pid goes with no path and not with --root"));
	if (!o->pid && !o->args.n)
		return err_set(err, ERR_USAGE,
			       _("inspect what? name a file, a folder, or --pid N"));
	if (o->facts && !o->root)
		return err_set(err, ERR_USAGE, _("--facts goes with --root"));
	*ret_pid = (long)pid;
	return 0;
}

static int run(struct run *r)
{
	struct inspect in = { .a = r->a };
	struct inspect_view v = { .width = present_width(r),
				  .colour = present_colour(r) && !markdown(r->o) };
	struct process process;
	struct err err = { 0 };
	struct strbuf out;
	long pid = 0;
	int e;

	if (usage(r->o, &pid, &err))
		return cli_fail(&err);
	if (pid)
		e = process_open(&in, pid, &err) || process_read(&in, pid, &process, &err);
	else
		e = audited(r, &in, &err) || operands(r, &in, &err);
	if (e)
		return cli_fail(&err);
	strbuf_init(&out, r->a);
	if (r->o->json)
		inspect_json(&in, pid ? &process : NULL, &out);
	else
		inspect_text(&in, pid ? &process : NULL, &v, &out);
	return r->o->json ? cli_write(r, out.s, out.n) : present_page(r, out.s, out.n);
}

/* clang-format off */
static const struct opt opt_pid = { .name = "pid", .kind = OPT_STRING, .arg = "N",
	.offset = offsetof(struct options, pid),
	.help = N_("what process N has loaded, against what it would load now") };
/* clang-format on */
static const struct opt *const opts[] = { &opt_pid, NULL };

const struct cmd cmd_inspect = {
	.name = "inspect",
	.args = "FILE|DIR...",
	.summary = N_("what a binary holds, what it would load and why"),
	.details = N_(
		"Says for libraries, programs, objects and archives: the GPUs that their code was compiled "
		"for, the libraries that they need, and which files the loader of the root would take for "
		"them, by which rule, and which copies that hides. Wheels, source archives and .a files are "
		"looked into; nothing is unpacked to disk, loaded or run.\n"
		"\n"
		"  cuvet inspect libtorch_cuda.so\n"
		"  cuvet inspect /usr/local/cuda/lib64 --json\n"
		"  cuvet inspect torch-2.7.1-cp312-cp312-manylinux_2_28_x86_64.whl\n"
		"  cuvet inspect --root /mnt/image /usr/bin/python3\n"
		"  cuvet inspect --pid 4711\n"),
	.opts = opts,
	.run = run,
};
