/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The snapshot's file form loses nothing; damaged files are refused with the place; redaction is
 * consistent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/jsonw.h"
#include "model/snapshot_json.h"
#include "source/redact.h"

static struct snapshot sample(struct arena *a)
{
	static const char *arch[] = { "sm_80", "sm_90", "compute_90" };
	struct snapshot s = { 0 };
	struct python *p;
	struct gpu *g;

	fact_set(&s.source, "live", "/");
	fact_set(&s.parts.pci, "yes", "/sys/bus/pci/devices");
	s.parts.log = (struct fact){ .state = FACT_DENIED, .source = "/dev/kmsg", .why = "EPERM" };
	g = ARENA_APPEND(a, s.gpus, s.n_gpus);
	fact_set(&g->name, "NVIDIA H200", "nvml");
	fact_set(&g->uuid, "GPU-967d376f-92b8-50f4-33b0-d6423abaa015", "nvml");
	g = ARENA_APPEND(a, s.gpus, s.n_gpus);
	fact_broken(&g->config, "/sys/x/config", "short read");
	fact_absent(&g->uuid, "nvml");
	p = ARENA_APPEND(a, s.pythons, s.n_pythons);
	fact_set(&p->prefix, "/home/ana/venv", "pyvenv.cfg");
	fact_list_set(&p->torch.arch_list, arch, 3, "libtorch_cuda.so");
	fact_absent(&p->torch.cuda, "version.py");
	fact_set(&ARENA_APPEND(a, p->packages, p->n_packages)->name, "torch", "/home/ana/venv/lib");
	return s;
}

static const char *saved(struct arena *a, const struct snapshot *s)
{
	struct strbuf b;
	struct jsonw w;

	strbuf_init(&b, a);
	jsonw_init(&w, &b, true);
	snapshot_save(&w, s);
	return b.s;
}

static int load(struct arena *a, const char *text, struct snapshot *ret, struct err *err)
{
	const struct json *doc;

	assert_int_equal(json_parse(a, view_of(text), "s.json", &doc, err), 0);
	return snapshot_load(a, doc, "s.json", ret, err);
}

static void a_saved_snapshot_loads_to_the_same(void **state)
{
	struct arena *a = arena_new(NULL);
	struct snapshot s = sample(a), t = { 0 };
	const char *first = saved(a, &s);

	(void)state;
	assert_int_equal(load(a, first, &t, NULL), 0);
	assert_string_equal(saved(a, &t), first);
	assert_int_equal(t.parts.log.state, FACT_DENIED);
	assert_int_equal(t.gpus[1].config.state, FACT_BROKEN);
	assert_string_equal(t.gpus[1].config.why, "short read");
	assert_int_equal(t.pythons[0].torch.cuda.state, FACT_ABSENT);
	assert_int_equal(t.pythons[0].torch.hip.state, FACT_NOT_ASKED);
	assert_true(fact_list_has(&t.pythons[0].torch.arch_list, "compute_90"));
	arena_free(a);
}

static void the_report_holds_plain_values_and_loads_too(void **state)
{
	struct arena *a = arena_new(NULL);
	struct snapshot s = sample(a), t = { 0 };
	struct strbuf b;
	struct jsonw w;

	(void)state;
	strbuf_init(&b, a);
	jsonw_init(&w, &b, true);
	snapshot_report(a, &w, &s);
	assert_non_null(strstr(b.s, "\"name\": \"NVIDIA H200\""));
	assert_non_null(strstr(b.s, "\"state\": \"denied\""));
	assert_int_equal(load(a, b.s, &t, NULL), 0);
	assert_true(fact_is(&t.gpus[0].name, "NVIDIA H200"));
	assert_string_equal(t.gpus[0].name.source, "s.json");
	arena_free(a);
}

static void damaged_snapshots_are_refused(void **state)
{
	static const char *const bad[] = {
		"[]",
		"{\"host\":5}",
		"{\"gpus\":{}}",
		"{\"gpus\":[5]}",
		"{\"source\":{\"state\":\"magic\"}}",
		"{\"source\":{\"state\":\"known\"}}",
		"{\"source\":{\"v\":{}}}",
		"{\"source\":[1]}",
		"{\"pythons\":[{\"torch\":{\"arch_list\":{\"v\":[1,2]}}}]}",
		"{\"host\":{\"gids\":\"x\"}}",
	};
	struct arena *a = arena_new(NULL);
	struct snapshot t = { 0 };
	struct err err;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(bad); i++) {
		err = (struct err){ 0 };
		assert_int_equal(load(a, bad[i], &t, &err), -ERR_PARSE);
		assert_non_null(strstr(err.msg, "s.json"));
	}
	assert_int_equal(load(a, "{\"later\":{\"x\":1},\"gpus\":[{\"also_later\":2}]}", &t, &err),
			 0);
	assert_int_equal(t.n_gpus, 1);
	arena_free(a);
}

static void P7_redaction_masks_the_same_thing_the_same_way(void **state)
{
	struct arena *a = arena_new(NULL);
	struct snapshot s = sample(a);
	struct var *v = ARENA_APPEND(a, s.environment, s.n_environment);
	const char *text;

	(void)state;
	fact_set(&v->name, "CUDA_VISIBLE_DEVICES", "environ");
	fact_set(&v->value, "GPU-967d376f-92b8-50f4-33b0-d6423abaa015", "environ");
	v = ARENA_APPEND(a, s.environment, s.n_environment);
	fact_set(&v->name, "PIP_INDEX_URL", "environ");
	fact_set(&v->value, "https://bob:hunter2@pkg.example/simple hf_abcdefghijklmnopqrstuv",
		 "environ");
	v = ARENA_APPEND(a, s.environment, s.n_environment);
	fact_set(&v->name, "PROMPT", "environ");
	fact_set(&v->value, "(base) C:\\Users\\ana>pip3 list", "environ");
	source_redact(a, &s);
	text = saved(a, &s);
	assert_null(strstr(text, "ana"));
	assert_non_null(strstr(text, "user1>pip3 list"));
	assert_null(strstr(text, "967d376f"));
	assert_null(strstr(text, "hunter2"));
	assert_null(strstr(text, "hf_abc"));
	assert_string_equal(s.gpus[0].uuid.value, s.environment[0].value.value);
	assert_string_equal(s.pythons[0].prefix.value, "/home/user1/venv");
	arena_free(a);
}

static void P7_only_what_rules_read_of_the_command_line_leaves(void **state)
{
	struct arena *a = arena_new(NULL);
	struct snapshot s = sample(a);

	(void)state;
	fact_set(
		&s.host.cmdline,
		"root=UUID=9b8c ip=10.0.0.7 nouveau.modeset=0 nvidia-drm.modeset=1 pci=realloc=off -- --listen 9 iommu=x",
		"/proc/cmdline");
	source_redact(a, &s);
	assert_string_equal(s.host.cmdline.value,
			    "nouveau.modeset=0 nvidia-drm.modeset=1 pci=realloc=off");
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_saved_snapshot_loads_to_the_same),
		cmocka_unit_test(the_report_holds_plain_values_and_loads_too),
		cmocka_unit_test(damaged_snapshots_are_refused),
		cmocka_unit_test(P7_redaction_masks_the_same_thing_the_same_way),
		cmocka_unit_test(P7_only_what_rules_read_of_the_command_line_leaves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
