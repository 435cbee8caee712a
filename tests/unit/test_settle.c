/* SPDX-License-Identifier: Apache-2.0 */
/* The catalogue and how findings are settled: root cause, consequences, second causes,
 * environments, verdict. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "base/arena.h"
#include "rule/settle.h"
#include "rule_world.h"

/* -------- catalogue */

static void catalogue_is_whole(void **state)
{
	enum finding_id found;
	size_t i, k;

	(void)state;
	for (i = 0; i < FINDING_COUNT; i++) {
		const struct finding_info *info = finding_info((enum finding_id)i);

		assert_true(info->name && *info->name && info->code && *info->code && info->title &&
			    *info->title);
		assert_true(finding_lookup(info->name, &found) && found == (enum finding_id)i);
		assert_true(finding_lookup(info->code, &found) && found == (enum finding_id)i);
		for (k = i + 1; k < FINDING_COUNT; k++) {
			assert_string_not_equal(info->code, finding_info((enum finding_id)k)->code);
			assert_string_not_equal(info->name, finding_info((enum finding_id)k)->name);
		}
	}
	assert_true(finding_lookup("DRIVER-TOO-OLD", &found) && found == FINDING_DRIVER_TOO_OLD);
	assert_false(finding_lookup("driver-too", &found));
	assert_false(finding_lookup(NULL, &found));
}

static void causes_close_and_never_turn(void **state)
{
	size_t i, k;

	(void)state;
	/* Over one step, over two, and not backwards. */
	assert_true(finding_explains(FINDING_DRIVER_NOT_INSTALLED, FINDING_DRIVER_MODULE_MISSING));
	assert_true(finding_explains(FINDING_GPU_NOT_FOUND, FINDING_UVM_NOT_LOADED));
	assert_false(finding_explains(FINDING_DRIVER_MODULE_MISSING, FINDING_DRIVER_NOT_INSTALLED));
	for (i = 0; i < FINDING_COUNT; i++)
		for (k = 0; k < FINDING_COUNT; k++)
			if (finding_explains((enum finding_id)i, (enum finding_id)k) &&
			    finding_explains((enum finding_id)k, (enum finding_id)i))
				fail_msg("%s and %s explain each other",
					 finding_info((enum finding_id)i)->name,
					 finding_info((enum finding_id)k)->name);
}

static void every_rule_is_named(void **state)
{
	enum finding_id found;
	size_t i;

	(void)state;
	for (i = 0; rules[i]; i++) {
		assert_non_null(rules[i]->run);
		/* What the user demands has no finding of its own; project files are read by
		 * subject, and a rule sees several findings. */
		if (strcmp(rules[i]->name, "require") != 0 &&
		    strncmp(rules[i]->name, "project-", 8) != 0 &&
		    !finding_lookup(rules[i]->name, &found))
			fail_msg("rule %s is named after no finding", rules[i]->name);
	}
	assert_true(i > 40);
}

/* -------- settling hand-made findings */

struct bench {
	struct judge j;
	struct results r;
	struct snapshot s;
	struct python pythons[2];
};

static void bench_open(struct bench *b)
{
	*b = (struct bench){ 0 };
	b->j.a = arena_new(NULL);
	b->j.s = &b->s;
	fact_set(&b->pythons[0].prefix, "/active", "test");
	fact_flag(&b->pythons[0].active, true, "test");
	fact_set(&b->pythons[1].prefix, "/other", "test");
	b->s.pythons = b->pythons;
	b->s.n_pythons = 2;
}

static struct finding *add(struct bench *b, enum finding_id id, const char *subject)
{
	struct finding *f = finding_add(&b->j, id, subject);

	finding_evidence(&b->j, f, "field", "seen", NULL, "test");
	return f;
}

static void close_bench(struct bench *b, const struct judge_options *o)
{
	static const struct judge_options none = { .n_ignore = 0 };

	settle(&b->j, o ? o : &none, 1, &b->r);
}

static void the_deepest_is_the_root(void **state)
{
	struct bench b;
	struct finding *uvm, *missing, *none;

	(void)state;
	bench_open(&b);
	uvm = add(&b, FINDING_UVM_NOT_LOADED, "m");
	missing = add(&b, FINDING_DRIVER_MODULE_MISSING, "m");
	none = add(&b, FINDING_DRIVER_NOT_INSTALLED, "m");
	close_bench(&b, NULL);
	assert_ptr_equal(b.r.root, none);
	assert_false(none->has_cause);
	assert_true(missing->has_cause && missing->cause == FINDING_DRIVER_NOT_INSTALLED);
	assert_true(uvm->has_cause && uvm->cause == FINDING_DRIVER_NOT_INSTALLED);
	assert_int_equal(b.r.verdict, VERDICT_BLOCKED);
	assert_ptr_equal(b.r.findings[0], none);
	arena_free(b.j.a);
}

static void a_boundary_comes_before_the_machine(void **state)
{
	struct bench b;
	struct finding *gpu;

	(void)state;
	bench_open(&b);
	gpu = add(&b, FINDING_GPU_NOT_FOUND, "m");
	add(&b, FINDING_CONTAINER_NO_GPU_REQUESTED, "m");
	close_bench(&b, NULL);
	assert_int_equal(b.r.root->id, FINDING_CONTAINER_NO_GPU_REQUESTED);
	assert_true(gpu->has_cause);
	arena_free(b.j.a);
}

static void a_second_cause_becomes_a_warning(void **state)
{
	struct bench b;
	struct finding *too_new, *mismatch, *again;

	(void)state;
	bench_open(&b);
	mismatch = add(&b, FINDING_TORCH_TORCHVISION_MISMATCH, "/active");
	add(&b, FINDING_GPU_DROPPED_BY_DRIVER, "GPU 0");
	again = add(&b, FINDING_GPU_DROPPED_BY_DRIVER, "GPU 1");
	too_new = add(&b, FINDING_GPU_TOO_NEW_FOR_BUILD, "GPU 0");
	close_bench(&b, NULL);
	assert_int_equal(b.r.root->id, FINDING_GPU_DROPPED_BY_DRIVER);
	assert_int_equal(again->severity, SEVERITY_ERROR);
	assert_int_equal(mismatch->severity, SEVERITY_WARNING);
	assert_int_equal(too_new->severity, SEVERITY_WARNING);
	assert_int_equal(b.r.verdict, VERDICT_BLOCKED);
	arena_free(b.j.a);
}

static void one_gpu_does_not_explain_another(void **state)
{
	struct bench b;
	struct finding *required;

	(void)state;
	bench_open(&b);
	add(&b, FINDING_GPU_NEEDS_NEWER_DRIVER, "GPU 0");
	required = add(&b, FINDING_OPEN_MODULE_REQUIRED, "GPU 1");
	close_bench(&b, NULL);
	assert_false(required->has_cause);
	arena_free(b.j.a);
}

static void another_environment_only_warns(void **state)
{
	static const enum finding_id raise[] = { FINDING_CPU_ONLY_WHEEL };
	const struct judge_options o = { .error = raise, .n_error = 1 };
	struct bench b;
	struct finding *f;

	(void)state;
	bench_open(&b);
	f = add(&b, FINDING_CPU_ONLY_WHEEL, "/other");
	close_bench(&b, NULL);
	assert_int_equal(f->severity, SEVERITY_WARNING);
	assert_int_equal(b.r.verdict, VERDICT_DEGRADED);
	assert_null(b.r.root);
	arena_free(b.j.a);
	bench_open(&b);
	f = add(&b, FINDING_CPU_ONLY_WHEEL, "/active");
	close_bench(&b, NULL);
	assert_ptr_equal(b.r.root, f);
	arena_free(b.j.a);
	/* The user's word is the last. */
	bench_open(&b);
	f = add(&b, FINDING_CPU_ONLY_WHEEL, "/other");
	close_bench(&b, &o);
	assert_ptr_equal(b.r.root, f);
	arena_free(b.j.a);
}

static void what_is_ignored_is_gone(void **state)
{
	static const enum finding_id ids[] = { FINDING_DRIVER_NOT_INSTALLED };
	const struct judge_options o = { .ignore = ids, .n_ignore = 1 };
	struct bench b;

	(void)state;
	bench_open(&b);
	add(&b, FINDING_DRIVER_NOT_INSTALLED, "m");
	close_bench(&b, &o);
	assert_int_equal(b.r.n_findings, 0);
	assert_int_equal(b.r.verdict, VERDICT_STACK_OK);
	arena_free(b.j.a);
}

static void a_warning_explains_no_error(void **state)
{
	struct bench b;
	struct finding *uvm, *mixed;

	(void)state;
	bench_open(&b);
	mixed = add(&b, FINDING_DRIVER_MODULE_SET_MIXED, "m");
	mixed->severity = SEVERITY_WARNING;
	uvm = add(&b, FINDING_UVM_NOT_LOADED, "m");
	close_bench(&b, NULL);
	assert_false(uvm->has_cause);
	assert_ptr_equal(b.r.root, uvm);
	arena_free(b.j.a);
}

static void verdicts(void **state)
{
	struct bench b;

	(void)state;
	bench_open(&b);
	add(&b, FINDING_INSUFFICIENT_EVIDENCE, "m")->severity = SEVERITY_INFO;
	add(&b, FINDING_SHM_TOO_SMALL, "m")->severity = SEVERITY_WARNING;
	close_bench(&b, NULL);
	assert_int_equal(b.r.verdict, VERDICT_UNDETERMINED);
	assert_int_equal(b.r.root->id, FINDING_INSUFFICIENT_EVIDENCE);
	arena_free(b.j.a);
	bench_open(&b);
	add(&b, FINDING_NO_FAULT, "m")->severity = SEVERITY_INFO;
	close_bench(&b, NULL);
	assert_int_equal(b.r.verdict, VERDICT_STACK_OK);
	assert_int_equal(b.r.root->id, FINDING_NO_FAULT);
	arena_free(b.j.a);
	bench_open(&b);
	settle(&b.j, &(struct judge_options){ 0 }, 0, &b.r);
	assert_int_equal(b.r.verdict, VERDICT_UNDETERMINED);
	assert_true(b.r.n_asks >= 3);
	arena_free(b.j.a);
}

/* -------- the engine */

static const struct skip *skipped(const struct world *w, const char *rule)
{
	size_t i;

	for (i = 0; i < w->r.n_skipped; i++)
		if (strcmp(w->r.skipped[i].rule, rule) == 0)
			return &w->r.skipped[i];
	return NULL;
}

static void what_was_not_asked_is_skipped(void **state)
{
	const char *const image[] = { IMAGE, TORCH };
	const char *const denied[] = { HOST, TORCH,
				       "{'parts':{'kernel':{'state':'denied','why':'EACCES'}}}" };
	struct world w;

	(void)state;
	world_judge(&w, image, 2, NULL);
	assert_non_null(skipped(&w, "gpu-not-found"));
	assert_string_equal(skipped(&w, "gpu-not-found")->needs, "pci");
	assert_non_null(strstr(skipped(&w, "gpu-not-found")->why, "image"));
	assert_false(w.r.layer_judged[LAYER_HARDWARE]);
	assert_true(w.r.layer_judged[LAYER_FRAMEWORK]);
	assert_int_equal(w.r.verdict, VERDICT_STACK_OK);
	world_free(&w);
	world_judge(&w, denied, 3, NULL);
	assert_string_equal(skipped(&w, "driver-not-installed")->why, "denied: EACCES");
	world_free(&w);
	world_judge(&w, (const char *const[]){ HOST, TORCH }, 2, NULL);
	assert_null(skipped(&w, "gpu-not-found"));
	assert_true(w.r.layer_judged[LAYER_HARDWARE] && w.r.layer_judged[LAYER_DRIVER]);
	world_free(&w);
}

static void assumptions_show(void **state)
{
	const char *const layers[] = {
		DECLARED,
		"{'gpus':[{'name':{'v':'GeForce RTX 5070 Ti','s':'assumed'},"
		"'pci_id':{'v':'10de:2c05','s':'assumed'}}],'driver':{'version':{'v':'550.120',"
		"'s':'assumed'}}}"
	};
	struct world w;

	(void)state;
	world_judge(&w, layers, 2, NULL);
	assert_non_null(w.r.root);
	assert_int_equal(w.r.root->certainty, CERTAINTY_ASSUMED);
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(catalogue_is_whole),
		cmocka_unit_test(causes_close_and_never_turn),
		cmocka_unit_test(every_rule_is_named),
		cmocka_unit_test(the_deepest_is_the_root),
		cmocka_unit_test(a_boundary_comes_before_the_machine),
		cmocka_unit_test(a_second_cause_becomes_a_warning),
		cmocka_unit_test(one_gpu_does_not_explain_another),
		cmocka_unit_test(another_environment_only_warns),
		cmocka_unit_test(what_is_ignored_is_gone),
		cmocka_unit_test(a_warning_explains_no_error),
		cmocka_unit_test(verdicts),
		cmocka_unit_test(what_was_not_asked_is_skipped),
		cmocka_unit_test(assumptions_show),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
