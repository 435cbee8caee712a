/* SPDX-License-Identifier: Apache-2.0 */
/* prove: runs kernels on every GPU and says which rung is the first that breaks. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/view.h"
#include "cli/judged.h"
#include "cli/opts.h"
#include "cli/present.h"
#include "compat/compat.h"
#include "prove/prove.h"
#include "prove/signals.h"
#include "prove/stack.h"
#include "report/prove_text.h"
#include "report/report.h"
#include "rule/rule.h"
#include "sys/dl.h"
#include "sys/sysroot.h"

enum { TIMEOUT_MAX = 86400 };

#define AT(field) .offset = offsetof(struct options, field)
/* clang-format off */
static const struct opt opt_quick = { .name = "quick", .kind = OPT_FLAG, AT(quick),
	.help = N_("about a second a GPU; a tenth of the free memory is tested (default)") };
static const struct opt opt_full = { .name = "full", .kind = OPT_FLAG, AT(full),
	.help = N_("nearly all memory by every pattern, and device-side assertions") };
static const struct opt opt_bench = { .name = "bench", .kind = OPT_FLAG, AT(bench),
	.help = N_("measure transfers, memory and launches too (with --stack: products)") };
static const struct opt opt_keep_going = { .name = "keep-going", .kind = OPT_FLAG, AT(keep_going),
	.help = N_("go on after a broken kernel, in a new process after a hang or a crash") };
static const struct opt opt_stack = { .name = "stack", .kind = OPT_STRING, .arg = "PREFIX|auto", AT(stack),
	.help = N_("run the libraries of this environment (venv, conda, toolkit, root) too") };
static const struct opt opt_exec = { .name = "exec", .kind = OPT_FLAG, AT(exec),
	.help = N_("with --stack: run its Python and frameworks too") };
static const struct opt opt_index = { .name = "gpu", .kind = OPT_STRING, .arg = "INDEX", AT(gpu),
	.help = N_("this GPU alone, as nvidia-smi counts them") };
static const struct opt opt_rung_timeout = { .name = "timeout", .kind = OPT_STRING, .arg = "S", AT(timeout),
	.help = N_("seconds after which a rung counts as hung (default: each its own, 20 to 180)") };
/* clang-format on */

static int number(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *ret)
{
	struct err e = { 0 };

	if (view_u64(view_of(text), 10, ret) && *ret >= min && *ret <= max)
		return 0;
	err_set(&e, ERR_USAGE, _("--%s %.40s: must be a number from %llu to %llu"), option, text,
		(unsigned long long)min, (unsigned long long)max);
	return cli_fail(&e);
}

/* The line of a terminal that says what is under way; nothing of it stays. */
static void show_doing(void *ctx, int gpu, const char *rung)
{
	struct run *r = ctx;
	const char *line = arena_printf(r->a, "\r\033[KGPU %d: %s", gpu, rung);
	ssize_t n = write(STDERR_FILENO, line, strlen(line));

	(void)n;
}

static void clear_doing(void)
{
	ssize_t n = write(STDERR_FILENO, "\r\033[K", 4);

	(void)n;
}

/* Why no GPU was reached is what `check` finds out. */
static int find_cause(struct run *r, struct proof *p)
{
	struct options o = { .data = r->o->data, .lang = r->o->lang };
	struct judge_options jo = { .n_ignore = 0 };
	struct results results = { 0 };
	struct run quiet = *r;
	struct snapshot s;
	struct compat *c;
	int code;

	quiet.o = &o;
	code = judged_snapshot(&quiet, &c, &s);
	if (code)
		return code;
	judge_run(r->a, &s, c, &jo, &results);
	if (compat_error(c))
		return cli_fail(compat_error(c));
	if (results.root)
		p->cause = finding_info(results.root->id)->name;
	/* No GPU is no failure of the stack: nothing was there to be proved. */
	p->nothing = p->cause && (strcmp(p->cause, "gpu-not-found") == 0 ||
				  strcmp(p->cause, "visible-devices-wrong") == 0);
	return 0;
}

static int render(struct run *r, const struct proof *p)
{
	struct prove_view v = {
		.width = present_width(r),
		.colour = present_colour(r),
		.markdown = r->o->format && strcmp(r->o->format, "markdown") == 0,
	};
	struct strbuf out;
	int code;

	strbuf_init(&out, r->a);
	if (r->o->json)
		proof_json(p, &out);
	else
		prove_text(r->a, p, &v, &out);
	code = cli_write(r, out.s, out.n);
	if (!code)
		code = proof_exit(p);
	if (!code && r->o->strict && strcmp(proof_verdict(p), "degraded") == 0)
		code = EXIT_BLOCKED;
	return code;
}

static int usage(const struct options *o)
{
	struct err e = { 0 };

	if (o->args.n)
		err_set(&e, ERR_USAGE, _("prove takes no operand: %.200s"), o->args.v[0]);
	else if (o->exec && !o->stack)
		err_set(&e, ERR_USAGE, _("--exec goes with --stack PREFIX|auto"));
	else if (o->quick && o->full)
		err_set(&e, ERR_USAGE, _("--quick and --full exclude each other"));
	else if (o->root || o->facts || o->assume.n || o->no_live)
		err_set(&e, ERR_USAGE,
			_("prove runs on this machine: --root, --facts, --assume and "
			  "--no-live do not go with it"));
	else if (o->python || o->error.n || o->ignore.n)
		err_set(&e, ERR_USAGE,
			_("--python, --error and --ignore are for findings; prove has rungs "
			  "(an environment: --stack PREFIX)"));
	else
		return 0;
	return cli_fail(&e);
}

/* The folder of --stack; a path counts from the working directory. */
static int find_stack(struct run *r, struct stack *ret)
{
	const char *prefix = r->o->stack;
	struct err e = { 0 };
	char cwd[4096];

	if (prefix[0] && prefix[0] != '/' && strcmp(prefix, "auto") != 0) {
		if (!getcwd(cwd, sizeof(cwd))) {
			err_errno(&e, errno, "%s", _("the working directory"));
			return cli_fail(&e);
		}
		prefix = path_join(r->a, cwd, prefix);
	}
	return stack_find(r->a, prefix, ret, &e) ? cli_fail(&e) : 0;
}

/* What rests on the ladders. */
static void more(struct run *r, const struct prove_options *po, const struct stack *s,
		 struct proof *p)
{
	int gpu = po->gpu < 0 ? prove_sound(r->a, p) : po->gpu;

	/* Where none is sound, rows of the first one say so. */
	if (gpu < 0)
		gpu = p->n ? p->tests[0].gpu : 0;

	if (po->gpu < 0)
		peer_run(r->a, po, p);
	if (s)
		stack_run(r->a, po, s, gpu, p);
	if (s && r->o->exec)
		exec_run(r->a, po, s, gpu, p);
	proof_sort(p);
}

static int run(struct run *r)
{
	const struct options *o = r->o;
	struct prove_options po = {
		.full = o->full, .bench = o->bench, .gpu = -1, .keep_going = o->keep_going
	};
	struct prove_signals signals;
	struct prove_watch watch = { .doing = show_doing, .ctx = r };
	bool tell = !o->json && isatty(STDERR_FILENO);
	struct proof p = { 0 };
	struct err e = { 0 };
	struct stack stack;
	uint64_t n;
	int code = usage(o);

	if (!code && o->gpu) {
		code = number("gpu", o->gpu, 0, 63, &n);
		po.gpu = code ? -1 : (int)n;
	}
	if (!code && o->timeout) {
		code = number("timeout", o->timeout, 1, TIMEOUT_MAX, &n);
		po.timeout_s = code ? 0 : (long)n;
	}
	if (code)
		return code;
	if (!dl_possible()) {
		err_set(&e, ERR_UNSUPPORTED,
			_("this static build loads no library of the driver; `cuvet` does"));
		return cli_fail(&e);
	}
	if (o->stack && (code = find_stack(r, &stack)))
		return code;
	/* What is to be expected of it; which driver a CUDA needs can go unsaid. */
	if (compat_open(r->a, o->data, &po.compat, &e)) {
		if (po.bench || o->data)
			return cli_fail(&e);
		po.compat = NULL;
	}
	/* From here on processes run, which a signal has to end. */
	signals_hold(&signals);
	po.signals = &signals;
	prove_run(r->a, &po, tell ? &watch : NULL, &p);
	more(r, &po, o->stack ? &stack : NULL, &p);
	if (tell)
		clear_doing();
	signals_release(&signals);
	if ((!p.cuda || !p.n_gpus) && !p.interrupted) {
		code = find_cause(r, &p);
		if (code)
			return code;
	}
	if (po.bench && compat_error(po.compat))
		return cli_fail(compat_error(po.compat));
	return render(r, &p);
}

static const struct opt *const opts[] = {
	&opt_quick, &opt_full,	       &opt_bench, &opt_keep_going, &opt_stack, &opt_exec,
	&opt_index, &opt_rung_timeout, NULL,
};

extern const struct cmd cmd_prove;
const struct cmd cmd_prove = {
	.name = "prove",
	.args = "",
	.summary = N_("run validation kernels on every GPU"),
	.details = N_(
		"Climbs a ladder on every GPU at once: libcuda, cuInit, device, context, memory, copies, "
		"compiling PTX, loading machine code, then kernels whose results are checked against this "
		"processor's, on new random data in every run: fused multiply-add, integers and 64-bit "
		"atomics, shared memory, the warp's own instructions, reductions, constant memory, textures "
		"and surfaces, streams, graphs, large shared memory, tensor cores of every format that the "
		"GPU has, a test of the memory, cooperative launch, printf, pinned and mapped memory.\n"
		"\n"
		"The first broken rung ends the ladder of that GPU; what comes after it is skipped. Each GPU "
		"has a process of its own, so that a hang or a crash of the driver is a result; a first start "
		"may take 7 seconds, and compiling in bad cases minutes, before it counts as hung. Nothing is "
		"set on the GPU: no clocks, no modes, no reset. --full takes nearly all free memory, and "
		"lets an assertion fail on purpose, which may leave a line (Xid 43 or 13) in the kernel's log. "
		"No toolkit is needed.\n"
		"\n"
		"What --exec starts runs below one process of ours and is ended with it, daemons too: at the end, "
		"after a time-out, on Ctrl-C.\n"
		"\n"
		"Exit code: 0 all passed (skips allowed), 1 something failed, hung or crashed, 3 nothing could "
		"be proved.\n"
		"\n"
		"  cuvet prove\n"
		"  cuvet prove --full --gpu 0\n"
		"  cuvet prove --stack auto --exec\n"
		"  cuvet prove --bench --json\n"),
	.opts = opts,
	.run = run,
};
