/* SPDX-License-Identifier: Apache-2.0 */
/* Plans over the real tables, held to what no later release of the data changes: each row is
 * bounded from above. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/json.h"
#include "compat/table.h"
#include "plan/plan.h"
#include "report/plan_json.h"
#include "source/source.h"

struct asked {
	const char *assume[8]; /* NULL-terminated */
	const char *req[6];
};

struct world {
	struct arena *a;
	struct compat *c;
	struct matrix *m;
};

static void begin(struct world *w)
{
	struct err err;

	w->a = arena_new(NULL);
	assert_int_equal(compat_open(w->a, NULL, &w->c, &err), 0);
	w->m = matrix_new(w->a, w->c);
}

static const struct plan *solve(struct world *w, const struct asked *q, struct err *err)
{
	struct snapshot *s = arena_alloc(w->a, sizeof(*s));
	struct plan_target *t = arena_alloc(w->a, sizeof(*t));
	struct requirement_list list = { .n = 0 };
	struct plan_options o = { .driver_upgrade = true };
	struct wishes *wishes;
	size_t n = 0, i;

	while (q->assume[n])
		n++;
	if (source_assume(w->a, w->c, q->assume, n, s, err))
		fail_msg("%s", err->msg);
	for (i = 0; q->req[i]; i++)
		if (requirement_argument(w->a, q->req[i], i + 1,
					 ARENA_APPEND(w->a, list.v, list.n), err))
			return NULL;
	if (plan_wishes(w->a, w->m, &list, &wishes, err) ||
	    plan_target_read(w->a, w->m, s, t, err))
		return NULL;
	return plan_solve(w->a, w->m, t, wishes, &o);
}

static const struct best_row {
	struct asked q;
	const char *torch, *variant, *python, *package;
} best_rows[] = {
	/* sm_60 code of the CUDA 12.4 build runs on 6.1; cu128 has none */
	{ .q = { .assume = { "gpu=GTX 1080 Ti", "driver=580", "python=3.12" },
		 .req = { "torch>=2.4,<2.7" } },
	  .torch = "2.6.0",
	  .variant = "cu124",
	  .python = "3.12" },
	/* minor-version compatibility: CUDA 11.8 on branch 450 */
	{ .q = { .assume = { "gpu=T4", "driver=450.80.02", "python=3.10" },
		 .req = { "torch<2.7" } },
	  .torch = "2.6.0",
	  .variant = "cu118",
	  .python = "3.10" },
	/* native before PyPI's default: branch 525 knows 12.0, PyPI serves 12.1 */
	{ .q = { .assume = { "gpu=T4", "driver=525.60.13", "python=3.9" },
		 .req = { "torch==2.1.*" } },
	  .torch = "2.1.2",
	  .variant = "cu118",
	  .python = "3.9" },
	/* PyPI's default before a newer CUDA when the driver knows both */
	{ .q = { .assume = { "gpu=T4", "driver=460.32.03", "python=3.7" },
		 .req = { "torch==1.10.*" } },
	  .torch = "1.10.2",
	  .variant = "cu102",
	  .python = "3.7" },
	/* a mixed pair: Volta and Hopper */
	{ .q = { .assume = { "gpu=V100-SXM2-16GB", "gpu=cc:9.0", "driver=580",
			     "python=3.11" },
		 .req = { "torch<2.8" } },
	  .torch = "2.7.1",
	  .variant = "cu126",
	  .python = "3.11" },
	/* Blackwell needs cu128, whatever PyPI serves */
	{ .q = { .assume = { "gpu=RTX 5090", "driver=580", "python=3.11" },
		 .req = { "torch<2.8" } },
	  .torch = "2.7.1",
	  .variant = "cu128",
	  .python = "3.11" },
	/* old glibc: wheels before manylinux_2_28 */
	{ .q = { .assume = { "gpu=T4", "driver=580", "python=3.11", "glibc=2.17" },
		 .req = { "torch<2.7" } },
	  .torch = "2.6.0",
	  .variant = "cu124",
	  .python = "3.11" },
	{ .q = { .assume = { "gpu=T4", "driver=580" }, .req = { "torch==2.0.1" } },
	  .torch = "2.0.1",
	  .variant = "cu117",
	  .python = "3.11" },
	{ .q = { .assume = { "gpu=T4", "driver=580", "python=3.11" },
		 .req = { "torch==2.6.0+cu118" } },
	  .torch = "2.6.0",
	  .variant = "cu118",
	  .python = "3.11" },
	{ .q = { .assume = { "gpu=T4", "python=3.11" }, .req = { "torch==2.6.0+cpu" } },
	  .torch = "2.6.0",
	  .variant = "cpu",
	  .python = "3.11" },
	{ .q = { .assume = { "gpu=T4", "driver=580", "python=3.11" },
		 .req = { "torchvision==0.20.1" } },
	  .torch = "2.5.1",
	  .variant = "cu124",
	  .python = "3.11" },
	/* a marker that does not hold limits nothing */
	{ .q = { .assume = { "gpu=T4", "driver=580", "python=3.11" },
		 .req = { "torch==1.13.1; python_version < '3.9'", "torch==2.6.0" } },
	  .torch = "2.6.0",
	  .variant = "cu124",
	  .python = "3.11" },
	/* flash-attn's wheels decide the release of torch */
	{ .q = { .assume = { "gpu=A100-SXM4-40GB", "driver=580", "python=3.11" },
		 .req = { "flash-attn==2.7.4.post1" } },
	  .torch = "2.6.0",
	  .variant = "cu124",
	  .python = "3.11",
	  .package = "flash-attn==2.7.4.post1" },
	{ .q = { .assume = { "gpu=A100-SXM4-40GB", "driver=580", "python=3.11" },
		 .req = { "vllm<0.8", "torch" } },
	  .torch = "2.5.1",
	  .variant = "cu124",
	  .python = "3.11",
	  .package = "vllm==0.7.3" },
	/* one cuDNN for both: cu124 pins 9.1, TensorFlow 2.18 needs 9.3 */
	{ .q = { .assume = { "gpu=T4", "driver=580", "python=3.11" },
		 .req = { "torch==2.6.0", "tensorflow==2.18.0" } },
	  .torch = "2.6.0", .variant = "cu126", .python = "3.11",
	  .package = "tensorflow[and-cuda]==2.18.0" },
	/* vLLM is built for the torch that PyPI serves, though cu118 would be native here */
	{ .q = { .assume = { "gpu=A100-SXM4-40GB", "driver=525.60.13", "python=3.11" },
		 .req = { "vllm==0.9.1" } },
	  .torch = "2.7.0", .variant = "cu126", .python = "3.11", .package = "vllm==0.9.1" },
	{ .q = { .assume = { "gpu=A100-SXM4-40GB", "driver=580", "python=3.11" },
		 .req = { "xformers==0.0.30" } },
	  .torch = "2.7.0",
	  .variant = "cu126",
	  .python = "3.11",
	  .package = "xformers==0.0.30" },
	{ .q = { .assume = { "gpu=T4", "driver=535", "python=3.11" },
		 .req = { "tensorflow<2.20" } },
	  .python = "3.11",
	  .package = "tensorflow[and-cuda]==2.19.0" },
	/* CUDA 13 needs branch 580 */
	{ .q = { .assume = { "gpu=T4", "driver=535", "python=3.12" },
		 .req = { "jax==0.9.0" } },
	  .python = "3.12",
	  .package = "jax[cuda12]==0.9.0" },
	{ .q = { .assume = { "gpu=T4", "driver=580", "python=3.12" },
		 .req = { "jax==0.9.0" } },
	  .python = "3.12",
	  .package = "jax[cuda13]==0.9.0" },
	{ .q = { .assume = { "gpu=T4", "driver=535", "python=3.12" },
		 .req = { "onnxruntime-gpu<1.27" } },
	  .python = "3.12",
	  .package = "onnxruntime-gpu[cuda,cudnn]==1.26.*" },
	{ .q = { .assume = { "gpu=T4", "driver=535", "python=3.12" },
		 .req = { "cupy<14" } },
	  .python = "3.12" },
};

static void the_best_set_is_chosen(void **state)
{
	struct world w;
	size_t i, k;

	(void)state;
	begin(&w);
	for (i = 0; i < ARRAY_LEN(best_rows); i++) {
		struct err err = { .msg = "" };
		const struct plan *p = solve(&w, &best_rows[i].q, &err);
		const struct plan_choice *c = p ? p->chosen : NULL;

		if (!c)
			fail_msg("row %zu: nothing chosen %s", i, err.msg);
		if (best_rows[i].torch && (strcmp(c->torch->version, best_rows[i].torch) != 0 ||
				      strcmp(c->torch->variant, best_rows[i].variant) != 0))
			fail_msg("row %zu: %s+%s", i, c->torch->version, c->torch->variant);
		if (!best_rows[i].torch)
			assert_null(c->torch);
		assert_string_equal(c->python->text, best_rows[i].python);
		for (k = 0; best_rows[i].package && k < c->n_packages; k++)
			if (strcmp(c->packages[k].pin, best_rows[i].package) == 0)
				break;
		if (best_rows[i].package && k == c->n_packages)
			fail_msg("row %zu: %s", i,
				 c->n_packages ? c->packages[0].pin : "no package");
		assert_true(c->n_why > 0 && c->commands[TOOL_PIP].n > 0);
	}
	assert_null(compat_error(w.c));
	arena_free(w.a);
}

static const struct plan_build *build_of(const struct plan *p, const char *version,
					 const char *variant)
{
	size_t i;

	for (i = 0; i < p->n_refused; i++)
		if (strcmp(p->refused[i].torch->version, version) == 0 &&
		    strcmp(p->refused[i].torch->variant, variant) == 0)
			return &p->refused[i];
	return NULL;
}

static const struct refused_row {
	struct asked q;
	const char *version, *variant, *name, *text;
} refused_rows[] = {
	{ .q = { .assume = { "gpu=GTX 1080 Ti", "driver=535.183.01", "python=3.12" } },
	  .version = "2.11.0",
	  .variant = "cu130",
	  .name = "driver-too-old",
	  .text = "driver 535.183.01 < 580.65.06" },
	{ .q = { .assume = { "gpu=GTX 1080 Ti", "driver=535.183.01", "python=3.12" } },
	  .version = "2.11.0",
	  .variant = "cu130",
	  .name = "gpu-too-old-for-build",
	  .text = "no sm_61 in 75 80 86 90 100 120" },
	{ .q = { .assume = { "gpu=RTX 5090", "driver=580", "python=3.11" } },
	  .version = "2.6.0",
	  .variant = "cu118",
	  .name = "gpu-too-new-for-build",
	  .text = "no sm_120 in 50 60 70 75 80 86 37 90" },
	{ .q = { .assume = { "gpu=T4", "driver=580", "python=3.9" } },
	  .version = "2.9.0",
	  .variant = "cu128",
	  .name = "python-no-wheel",
	  .text = "no Python 3.9 in 3.10 3.11 3.12 3.13 3.14" },
	{ .q = { .assume = { "gpu=T4", "driver=580", "glibc=2.17" } },
	  .version = "2.9.0",
	  .variant = "cu128",
	  .name = "glibc-too-old",
	  .text = "glibc 2.17 < 2.28" },
	{ .q = { .assume = { "gpu=T4", "driver=580" }, .req = { "torch<2.7" } },
	  .version = "2.7.0",
	  .variant = "cu126",
	  .name = "conflicting-pins",
	  .text = "2.7.0+cu126 is not torch<2.7" },
	{ .q = { .assume = { "gpu=T4", "driver=580" } },
	  .version = "2.6.0",
	  .variant = "cpu",
	  .name = "cpu-only-wheel",
	  .text = "built without CUDA" },
	{ .q = { .assume = { "gpu=T4", "driver=580" } },
	  .version = "2.6.0",
	  .variant = "rocm6.2.4",
	  .name = "rocm-build-on-nvidia",
	  .text = "built for AMD GPUs" },
	{ .q = { .assume = { "gpu=T4", "driver=580" }, .req = { "torchvision<0.21" } },
	  .version = "2.6.0",
	  .variant = "cu124",
	  .name = "torch-torchvision-mismatch",
	  .text = "goes with torchvision 0.21.0, not torchvision<0.21" },
	{ .q = { .assume = { "gpu=cc:10.0", "driver=535" } },
	  .version = "2.6.0",
	  .variant = "cu124",
	  .name = "gpu-needs-newer-driver" },
	{ .q = { .assume = { "gpu=GTX 1080 Ti", "driver=595.71.05" } },
	  .version = "2.6.0",
	  .variant = "cu124",
	  .name = "gpu-dropped-by-driver",
	  .text = "driver 595.71.05 > 580, the last branch for NVIDIA GeForce GTX 1080 Ti" },
	{ .q = { .assume = { "gpu=A100-SXM4-40GB", "driver=580" },
		 .req = { "flash-attn" } },
	  .version = "2.9.1",
	  .variant = "cu128",
	  .name = "extension-no-build-for-cuda",
	  .text = "no release of flash-attn is known for 2.9.1+cu128" },
};

static void refusals_name_the_two_values(void **state)
{
	struct world w;
	size_t i, k;

	(void)state;
	begin(&w);
	for (i = 0; i < ARRAY_LEN(refused_rows); i++) {
		struct err err = { .msg = "" };
		const struct plan *p = solve(&w, &refused_rows[i].q, &err);
		const struct plan_build *b =
			p ? build_of(p, refused_rows[i].version, refused_rows[i].variant) : NULL;

		if (!b)
			fail_msg("row %zu: not refused %s", i, err.msg);
		for (k = 0; k < b->n_reasons; k++)
			if (strcmp(finding_info(b->reasons[k].id)->name, refused_rows[i].name) ==
				    0 &&
			    (!refused_rows[i].text ||
			     strcmp(b->reasons[k].text, refused_rows[i].text) == 0))
				break;
		if (k == b->n_reasons)
			fail_msg("row %zu: %s: %s", i,
				 b->n_reasons ? finding_info(b->reasons[0].id)->name : "none",
				 b->n_reasons ? b->reasons[0].text : "");
	}
	arena_free(w.a);
}

static void a_clash_is_named_and_no_larger_than_it_is(void **state)
{
	static const struct {
		struct asked q;
		const char *clash[3];
		const char *remedy; /* part of the first one */
	} rows[] = {
		{ .q = { .assume = { "gpu=T4", "driver=580" }, .req = { "torch==9.9" } },
		  .clash = { "torch==9.9" }, .remedy = "Without torch==9.9" },
		{ .q = { .assume = { "gpu=T4", "driver=580" },
			 .req = { "torch>=2.7", "torch<2.5", "torchvision" } },
		  .clash = { "torch<2.5", "torch>=2.7" }, .remedy = "Without torch<2.5" },
		{ .q = { .assume = { "gpu=cc:3.5", "driver=470", "python=3.12" } },
		  .clash = { "compute capability 3.5", "Python 3.12" },
		  .remedy = "With Python 3.7 instead of 3.12" },
		{ .q = { .assume = { "gpu=T4", "driver=470", "python=3.11" },
			 .req = { "torch>=2.8,<2.9" } },
		  .clash = { "torch>=2.8", "driver 470" }, .remedy = "With driver branch " },
		{ .q = { .assume = { "gpu=T4", "driver=580" }, .req = { "flash-attn" } },
		  .clash = { "flash-attn", "T4 (compute capability 7.5)" },
		  .remedy = "Without what is built on torch" },
		{ .q = { .assume = { "gpu=GTX 1080 Ti", "driver=580" }, .req = { "vllm" } },
		  .clash = { "vllm", "(compute capability 6.1)" },
		  .remedy = "Without what is built on torch" },
		{ .q = { .assume = { "gpu=T4", "driver=580", "python=3.4" } },
		  .clash = { "Python 3.4" }, .remedy = "With Python " },
		{ .q = { .assume = { "gpu=T4", "python=3.15" }, .req = { "tensorflow" } },
		  .clash = { "Python 3.15" }, .remedy = "With Python " },
	};
	struct world w;
	size_t i, k;

	(void)state;
	begin(&w);
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = { .msg = "" };
		const struct plan *p = solve(&w, &rows[i].q, &err);
		size_t n = 0;

		assert_non_null(p);
		if (p->chosen)
			fail_msg("row %zu: chosen", i);
		while (n < 3 && rows[i].clash[n])
			n++;
		for (k = 0; k < p->n_clash; k++)
			if (k >= n || !strstr(p->clash[k].what, rows[i].clash[k]))
				fail_msg("row %zu: clash %s", i, p->clash[k].what);
		assert_int_equal(p->n_clash, n);
		assert_true(p->n_why > 0 && p->n_remedies > 0);
		if (!strstr(p->remedies[0].text, rows[i].remedy))
			fail_msg("row %zu: %s", i, p->remedies[0].text);
	}
	arena_free(w.a);
}

static void what_serves_each_gpu_is_said_when_nothing_serves_all(void **state)
{
	static const struct asked q = {
		.assume = { "gpu=cc:3.7", "gpu=T4", "python=3.11" }, .req = { "torch>=2.3,<2.5" },
	};
	static const struct asked kepler = {
		.assume = { "gpu=cc:3.5", "gpu=cc:9.0", "python=3.7" },
	};
	struct err err = { .msg = "" };
	const struct plan *p;
	struct world w;

	(void)state;
	begin(&w);
	p = solve(&w, &q, &err);
	assert_non_null(p);
	assert_non_null(p->chosen); /* cu118 has code for both */
	assert_string_equal(p->chosen->torch->variant, "cu118");
	p = solve(&w, &kepler, &err);
	assert_non_null(p);
	assert_null(p->chosen);
	assert_int_equal(p->n_serves, 2);
	assert_string_equal(p->serves[0].torch->version, "1.3.0");
	/* No driver drives both, whatever the build. */
	assert_int_equal(p->n_clash, 2);
	arena_free(w.a);
}

static void unverified_builds_are_never_chosen(void **state)
{
	static const struct asked q = { .assume = { "gpu=T4", "driver=620", "python=3.12" },
					.req = { "torch==2.15.0" } };
	static const struct asked any = { .assume = { "gpu=T4", "driver=620", "python=3.12" } };
	struct err err = { .msg = "" };
	const struct plan *p;
	struct world w;
	size_t i, n = 0;

	(void)state;
	begin(&w);
	p = solve(&w, &q, &err);
	assert_null(p->chosen);
	p = solve(&w, &any, &err);
	assert_non_null(p->chosen);
	for (i = 0; i < p->n_alternatives; i++) {
		if (strcmp(p->alternatives[i].torch->version, "2.15.0") != 0)
			continue;
		n++;
		assert_int_equal(p->alternatives[i].reasons[0].id, FINDING_INSUFFICIENT_EVIDENCE);
	}
	assert_true(n > 0);
	arena_free(w.a);
}

static void names_that_look_like_a_slip_are_refused(void **state)
{
	static const struct {
		const char *name, *says; /* says NULL: passed on */
	} rows[] = {
		{ .name = "torhc", .says = "did you mean torch?" },
		{ .name = "torchvison", .says = "did you mean torchvision?" },
		{ .name = "tensorflw>=2", .says = "did you mean tensorflow?" },
		{ .name = "pytorch", .says = "did you mean torch?" },
		{ .name = "xformer", .says = "did you mean xformers?" },
		{ .name = "tensorflow-gpu", .says = "did you mean tensorflow?" },
		{ .name = "no-such-thing", .says = "unknown package no-such-thing" },
		{ .name = "transformers>=4" },
		{ .name = "Scikit_Learn" },
		{ .name = "torchx" },
		{ .name = "numpy" },
	};
	struct world w;
	size_t i;

	(void)state;
	begin(&w);
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct asked q = { .assume = { "gpu=T4" }, .req = { rows[i].name } };
		struct err err = { .msg = "" };
		const struct plan *p = solve(&w, &q, &err);

		if (!rows[i].says && !p)
			fail_msg("%s", err.msg);
		if (rows[i].says && (p || !strstr(err.msg, rows[i].says)))
			fail_msg("%s: %s", rows[i].name, err.msg);
		if (!p)
			assert_int_equal(err_exit_code(err.code), 2);
	}
	arena_free(w.a);
}

static void a_driver_upgrade_keeps_the_gpu(void **state)
{
	static const struct asked old = { .assume = { "gpu=T4", "driver=450.80.02",
						      "python=3.12" } };
	static const struct asked enough = { .assume = { "gpu=GTX 1080 Ti", "driver=580",
							 "python=3.12" } };
	struct err err = { .msg = "" };
	const struct plan *p;
	struct world w;

	(void)state;
	begin(&w);
	p = solve(&w, &old, &err);
	assert_non_null(p->chosen);
	assert_non_null(p->upgrade);
	assert_true(version_cmp_str(p->upgrade->version, p->chosen->torch->version) > 0);
	assert_non_null(p->upgrade_driver);
	/* Branch 580 is Pascal's last, so there is nothing newer to go to. */
	p = solve(&w, &enough, &err);
	assert_null(p->upgrade);
	arena_free(w.a);
}

/* A table in which the newest release has PTX alone, and the one before it code. */
static const char ptx_table[] =
	"{\"schema\":\"cuvet.compat/1\",\"table\":\"torch\",\"date\":\"2026-11-30\",\"sources\":{},\"rows\":["
	"{\"version\":\"8.0.0\",\"platform\":\"linux_x86_64\",\"variant\":\"cu124\",\"cuda\":\"12.4\","
	"\"python\":[\"3.12\"],\"arch_list\":[\"sm_90\"],\"index_url\":\"https://e.org/cu124\"},"
	"{\"version\":\"9.0.0\",\"platform\":\"linux_x86_64\",\"variant\":\"cu124\",\"cuda\":\"12.4\","
	"\"python\":[\"3.12\"],\"arch_list\":[\"sm_50\",\"compute_70\"],"
	"\"index_url\":\"https://e.org/cu124\"},"
	"{\"version\":\"9.0.0\",\"platform\":\"linux_x86_64\",\"variant\":\"cu130\",\"cuda\":\"13.0\","
	"\"python\":[\"3.12\"],\"arch_list\":[\"sm_37\"],\"index_url\":\"https://e.org/cu130\"}]}";

static void ptx_is_the_last_resort_and_needs_the_drivers_own_cuda(void **state)
{
	static const struct {
		struct asked q;
		const char *torch; /* NULL: nothing fits, and `variant` is refused for `why` */
		bool ptx;
		const char *variant;
		enum finding_id why;
	} rows[] = {
		/* the older release has code, so PTX has to wait */
		{ .q = { .assume = { "gpu=cc:9.0", "driver=550", "python=3.12" } },
		  .torch = "8.0.0" },
		/* nothing has code for 7.5, and 550 knows CUDA 12.4 */
		{ .q = { .assume = { "gpu=T4", "driver=550", "python=3.12" } },
		  .torch = "9.0.0",
		  .ptx = true },
		/* 535 would run code for 12.4, but does not compile its PTX */
		{ .q = { .assume = { "gpu=T4", "driver=535", "python=3.12" } },
		  .variant = "cu124", .why = FINDING_PTX_NEWER_THAN_DRIVER },
		{ .q = { .assume = { "gpu=T4", "python=3.12" } }, .torch = "9.0.0", .ptx = true },
		/* code for 3.7, but CUDA 13 needs a driver that its last branch is too old for */
		{ .q = { .assume = { "gpu=cc:3.7", "python=3.12" } },
		  .variant = "cu130", .why = FINDING_NO_DRIVER_CAN_HELP },
		/* one by code, one by PTX: PTX */
		{ .q = { .assume = { "gpu=T4", "gpu=cc:5.2", "driver=550", "python=3.12" } },
		  .torch = "9.0.0",
		  .ptx = true },
	};
	struct err err = { .msg = "" };
	const struct plan *p;
	struct world w;
	size_t i;

	(void)state;
	begin(&w);
	compat_replace(w.c, "torch", view_of(ptx_table));
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		p = solve(&w, &rows[i].q, &err);
		assert_non_null(p);
		if (!p->chosen != !rows[i].torch)
			fail_msg("row %zu: %s", i, p->chosen ? "chosen" : p->why[0]);
		if (!p->chosen) {
			assert_int_equal(build_of(p, "9.0.0", rows[i].variant)->reasons[0].id,
					 rows[i].why);
			continue;
		}
		assert_string_equal(p->chosen->torch->version, rows[i].torch);
		assert_int_equal(p->chosen->ptx, rows[i].ptx);
	}
	assert_null(compat_error(w.c));
	arena_free(w.a);
}

static void the_json_form_is_whole(void **state)
{
	static const struct asked q = { .assume = { "gpu=T4", "driver=580", "python=3.12" },
					.req = { "torch<2.7", "transformers" } };
	static const char *const keys[] = { "torch",	   "variant",	 "cuda",  "python",
					    "torchvision", "torchaudio", "cudnn", "index_url",
					    "commands" };
	struct err err = { .msg = "" };
	const struct json *doc, *chosen;
	struct world w;
	struct strbuf out;
	size_t i;

	(void)state;
	begin(&w);
	strbuf_init(&out, w.a);
	plan_json(solve(&w, &q, &err), "2026-11-30", false, &out);
	assert_int_equal(json_parse(w.a, view_of(out.s), "plan", &doc, &err), 0);
	assert_string_equal(json_get_str(doc, "schema"), "cuvet.plan/1");
	chosen = json_get(doc, "chosen");
	for (i = 0; i < ARRAY_LEN(keys); i++)
		assert_non_null(json_get(chosen, keys[i]));
	for (i = 0; i < TOOL_COUNT; i++)
		assert_int_equal(json_type(json_get(json_get(chosen, "commands"),
						    plan_tool_name((enum plan_tool)i))),
				 JSON_ARRAY);
	assert_true(json_count(json_get(doc, "refused")) > 50);
	assert_true(json_count(json_get(doc, "alternatives")) > 5);
	assert_int_equal(json_type(json_get(doc, "remedies")), JSON_ARRAY);
	arena_free(w.a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_set_is_chosen),
		cmocka_unit_test(refusals_name_the_two_values),
		cmocka_unit_test(a_clash_is_named_and_no_larger_than_it_is),
		cmocka_unit_test(what_serves_each_gpu_is_said_when_nothing_serves_all),
		cmocka_unit_test(unverified_builds_are_never_chosen),
		cmocka_unit_test(names_that_look_like_a_slip_are_refused),
		cmocka_unit_test(a_driver_upgrade_keeps_the_gpu),
		cmocka_unit_test(ptx_is_the_last_resort_and_needs_the_drivers_own_cuda),
		cmocka_unit_test(the_json_form_is_whole),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
