/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA_VISIBLE_DEVICES as the driver reads it: what driver 580 answered on one H200 and on two
 * (tests/captures/driver/h200-visible-devices.json); rows for three follow from the same rules.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "rule/look.h"

#define CAPTURE "tests/captures/driver/h200-visible-devices.json"

enum { GPUS = 3 };

static const char *const uuids[GPUS] = {
	"GPU-0a2b3c4d-0000-4000-8000-00000000abcd",
	"GPU-0b2b9999-0000-4000-8000-00000000abcd",
	"GPU-77777777-0000-4000-8000-00000000abcd",
};

static struct snapshot *machine(struct arena *a, size_t n, const char *visible)
{
	struct snapshot *s = arena_calloc(a, 1, sizeof(*s));
	struct gpu *g;
	struct var *v;
	size_t i;

	for (i = 0; i < n; i++) {
		g = ARENA_APPEND(a, s->gpus, s->n_gpus);
		fact_set(&g->uuid, uuids[i], "test");
		fact_set(&g->compute_capability, "9.0", "test");
		fact_int(a, &g->nvml_index, (int64_t)i, "test");
		fact_set(&g->mig_mode, "disabled", "test");
	}
	if (visible) {
		v = ARENA_APPEND(a, s->environment, s->n_environment);
		fact_set(&v->name, "CUDA_VISIBLE_DEVICES", "test");
		fact_set(&v->value, visible, "test");
	}
	return s;
}

/* Which GPUs are used, as "0 2". */
static const char *used(struct arena *a, size_t n, const char *visible)
{
	struct snapshot *s = machine(a, n, visible);
	const char *text = "";
	size_t i;

	if (look_visible_twice(s))
		return "twice";
	for (i = 0; i < n; i++)
		if (look_gpu_used(s, i))
			text = arena_printf(a, "%s%s%zu", text, *text ? " " : "", i);
	return text;
}

static const struct json *capture(struct arena *a)
{
	const struct json *doc;
	struct view text;

	assert_int_equal(file_read(a, CAPTURE, 1 << 20, &text, NULL), 0);
	assert_int_equal(json_parse(a, text, "capture", &doc, NULL), 0);
	return doc;
}

/* "0 1" of the devices, by their indices. */
static const char *devices_of(struct arena *a, const struct json *row)
{
	const struct json *d;
	const char *text = "";
	bool has[2] = { false, false };
	int64_t k;

	for (d = json_first(json_get(row, "devices")); d; d = json_next(d))
		if (json_int(d, &k) && k >= 0 && k < 2)
			has[k] = true;
	for (k = 0; k < 2; k++)
		if (has[k])
			text = arena_printf(a, "%s%s%d", text, *text ? " " : "", (int)k);
	return text;
}

static void two_gpus_as_the_driver_answered(void **state)
{
	struct arena *a = arena_new(NULL);
	const struct json *row;
	size_t rows = 0;

	(void)state;
	for (row = json_first(json_get(capture(a), "two")); row; row = json_next(row), rows++) {
		const char *value = json_get_str(row, "value"), *got = used(a, 2, value);
		int64_t init = -1;

		assert_true(json_get_int(row, "cuInit", &init));
		if (strcmp(got, init == 101 ? "twice" : devices_of(a, row)) != 0)
			fail_msg("%s: %s, the driver gave %d and %s", value ? value : "(unset)",
				 got, (int)init, devices_of(a, row));
	}
	assert_true(rows > 35);
	arena_free(a);
}

/* The capture: every value that was tried, and cuInit's code with the number of devices. */
static void one_gpu_as_the_driver_answered(void **state)
{
	struct arena *a = arena_new(NULL);
	const struct json *row;
	size_t rows = 0;

	(void)state;
	for (row = json_first(json_get(capture(a), "one")); row; row = json_next(row), rows++) {
		const char *value = json_get_str(row, "value"), *got;
		int64_t init = -1;

		assert_true(json_get_int(row, "cuInit", &init));
		got = used(a, 1, value);
		if (strcmp(got, init == 0 ? "0" : init == 101 ? "twice" : "") != 0)
			fail_msg("%s: %s, the driver gave %d", value ? value : "(unset)", got,
				 (int)init);
	}
	assert_true(rows > 40);
	arena_free(a);
}

static void several_gpus(void **state)
{
	static const struct {
		const char *visible, *used;
	} rows[] = {
		{ .visible = NULL, .used = "0 1 2" },
		{ .visible = "2,0", .used = "0 2" },
		{ .visible = "0,7,1", .used = "0" },
		{ .visible = "0,1,-1,2", .used = "0 1" },
		{ .visible = "0,,1", .used = "0" },
		{ .visible = "1,x,0", .used = "1" },
		{ .visible = "7,0,1", .used = "" },
		{ .visible = "0,1,0", .used = "twice" },
		{ .visible = "0,9,0", .used = "0" },
		{ .visible = "2x,1y", .used = "1 2" },
		{ .visible = "GPU-7", .used = "2" },
		{ .visible = "GPU-0b2b9,GPU-77", .used = "1 2" },
		{ .visible = "GPU-0A2B3C,GPU-77", .used = "0 2" },
		{ .visible = "GPU-77,0,1", .used = "2" },
		{ .visible = "0,GPU-77,1", .used = "0" },
		{ .visible = "GPU-77,GPU-7777", .used = "twice" },
		{ .visible = "GPU-", .used = "" },
		{ .visible = "gpu-7", .used = "" },
		{ .visible = "NoDevFiles", .used = "" },
		{ .visible = "", .used = "" },
	};
	struct arena *a = arena_new(NULL);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(used(a, GPUS, rows[i].visible), rows[i].used) != 0)
			fail_msg("%s: %s, not %s", rows[i].visible ? rows[i].visible : "(unset)",
				 used(a, GPUS, rows[i].visible), rows[i].used);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_gpu_as_the_driver_answered),
		cmocka_unit_test(two_gpus_as_the_driver_answered),
		cmocka_unit_test(several_gpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
