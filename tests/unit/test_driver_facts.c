/* SPDX-License-Identifier: Apache-2.0 */
/* The facts file beside a foreign root: what it fills, and how a damaged or hostile one fails (T15,
 * P11). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/json.h"
#include "probe/driver.h"
#include "probe/facts.h"

struct tree {
	struct arena *a;
	struct sysroot root;
	struct snapshot s;
	struct probe_ctx p;
	char dir[64];
	const char *file;
};

/* DIR/root, and DIR/facts.json with this text unless it is NULL. */
static void tree_init(struct tree *t, const char *text)
{
	FILE *f;

	memset(t, 0, sizeof(*t));
	t->a = arena_new(NULL);
	strcpy(t->dir, "/tmp/cuvet-facts-XXXXXX");
	assert_non_null(mkdtemp(t->dir));
	t->root.dir = arena_printf(t->a, "%s/root", t->dir);
	assert_int_equal(mkdir(t->root.dir, 0755), 0);
	t->file = arena_printf(t->a, "%s/facts.json", t->dir);
	t->p = (struct probe_ctx){ .a = t->a, .root = &t->root, .s = &t->s };
	if (!text)
		return;
	f = fopen(t->file, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void tree_run(struct tree *t)
{
	probe_environ.run(&t->p);
	probe_driver_start.run(&t->p);
	probe_driver_end.run(&t->p);
}

static void tree_done(struct tree *t)
{
	unlink(t->file);
	rmdir(t->root.dir);
	rmdir(t->dir);
	arena_free(t->a);
}

#define HEAD "{\"schema\":\"cuvet.facts/1\""

static void facts_fill_what_no_tree_holds(void **state)
{
	struct tree t;

	(void)state;
	tree_init(
		&t, HEAD
		",\"uname\":\"Linux 6.8.0-45-generic x86_64\",\"euid\":1000,\"gids\":[1000,44],"
		"\"env\":{\"PATH\":\"/usr/bin\",\"CUDA_HOME\":\"/x\",\"NVIDIA_API_KEY\":\"s3cret\","
		"\"EDITOR\":\"vi\"},\"cuInit\":802,\"cuDriverVersion\":12040,\"cuDeviceCount\":0,"
		"\"nvml\":{\"init\":0,\"driver\":\"550.90.07\",\"cuda\":\"12.4\",\"gpus\":[{\"index\":0,"
		"\"name\":\"NVIDIA H100\",\"pci\":\"0000:1B:00.0\",\"mig\":\"enabled\",\"mig_devices\":[],"
		"\"compute_mode\":\"Default\",\"error\":15}]}}");
	assert_int_equal(probe_facts_load(&t.p, NULL, NULL), 0);
	tree_run(&t);
	assert_string_equal(t.s.host.kernel.value, "6.8.0-45-generic");
	assert_string_equal(t.s.host.arch.value, "x86_64");
	assert_string_equal(t.s.host.euid.value, "1000");
	assert_true(fact_list_has(&t.s.host.gids, "44"));
	assert_string_equal(snapshot_env(&t.s, "CUDA_HOME"), "/x");
	assert_null(snapshot_env(&t.s, "NVIDIA_API_KEY"));
	assert_null(snapshot_env(&t.s, "EDITOR"));
	assert_string_equal(t.s.driver.cuda_init.value, "802");
	assert_string_equal(t.s.driver.cuda_devices.value, "0");
	assert_string_equal(t.s.driver.cuda_ceiling.value, "12.4");
	assert_string_equal(t.s.driver.nvml_driver.value, "550.90.07");
	assert_int_equal(t.s.n_gpus, 1);
	assert_string_equal(t.s.gpus[0].address.value, "0000:1b:00.0");
	assert_string_equal(t.s.gpus[0].nvml_error.value, "15");
	assert_int_equal(t.s.gpus[0].mig_devices.state, FACT_KNOWN);
	assert_int_equal(t.s.gpus[0].mig_devices.n, 0);
	tree_done(&t);
}

static void on_wsl_the_driver_is_that_of_windows(void **state)
{
	struct tree t;

	(void)state;
	tree_init(&t, HEAD ",\"nvml\":{\"init\":0,\"driver\":\"560.94\"}}");
	fact_set(&t.s.host.system, "wsl2", "test");
	assert_int_equal(probe_facts_load(&t.p, NULL, NULL), 0);
	tree_run(&t);
	assert_string_equal(t.s.driver.windows_driver.value, "560.94");
	tree_done(&t);
}

static void without_facts_nothing_of_this_machine_is_taken(void **state)
{
	struct tree t;

	(void)state;
	setenv("CUDA_VISIBLE_DEVICES", "99", 1);
	tree_init(&t, NULL);
	assert_int_equal(probe_facts_load(&t.p, NULL, NULL), 0);
	assert_null(t.p.facts);
	tree_run(&t);
	assert_int_equal(t.s.n_environment, 0);
	assert_int_equal(t.s.host.kernel.state, FACT_NOT_ASKED);
	assert_int_equal(t.s.host.euid.state, FACT_NOT_ASKED);
	assert_int_equal(t.s.driver.cuda_init.state, FACT_NOT_ASKED);
	assert_null(t.p.calls);
	unsetenv("CUDA_VISIBLE_DEVICES");
	tree_done(&t);
}

static void a_live_environment_is_taken_by_list(void **state)
{
	struct tree t;

	(void)state;
	setenv("CUDA_VISIBLE_DEVICES", "GPU-1", 1);
	setenv("PIP_EXTRA_INDEX_URL", "https://a.example/x https://me:pw@b.example/y", 1);
	setenv("SLURM_JWT", "token", 1);
	setenv("DATABASE_URL", "x", 1);
	tree_init(&t, NULL);
	t.root.live = true;
	probe_environ.run(&t.p);
	assert_string_equal(snapshot_env(&t.s, "CUDA_VISIBLE_DEVICES"), "GPU-1");
	assert_string_equal(snapshot_env(&t.s, "PIP_EXTRA_INDEX_URL"),
			    "https://a.example/x https://***@b.example/y");
	assert_null(snapshot_env(&t.s, "SLURM_JWT"));
	assert_null(snapshot_env(&t.s, "DATABASE_URL"));
	assert_true(fact_known(&t.s.host.kernel));
	assert_true(fact_known(&t.s.host.euid));
	assert_int_equal(t.s.host.gids.state, FACT_KNOWN);
	unsetenv("CUDA_VISIBLE_DEVICES");
	unsetenv("PIP_EXTRA_INDEX_URL");
	unsetenv("SLURM_JWT");
	unsetenv("DATABASE_URL");
	tree_done(&t);
}

static void T15_a_wrong_facts_file_says_what_is_wrong(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "", "JSON" },
		{ "[]", "object" },
		{ "{}", "schema" },
		{ "{\"schema\":\"cuvet.facts/2\"}", "cuvet.facts/2" },
		{ "{\"schema\":7}", "schema" },
		{ HEAD ",\"uname\":7}", "uname is not a text" },
		{ HEAD ",\"euid\":\"root\"}", "euid is not a whole number" },
		{ HEAD ",\"euid\":-1}", "euid" },
		{ HEAD ",\"euid\":1e300}", "euid" },
		{ HEAD ",\"cuInit\":0.5}", "cuInit" },
		{ HEAD ",\"gids\":[1,\"x\"]}", "gids: member 2" },
		{ HEAD ",\"env\":{\"A\":[]}}", "env: member 1" },
		{ HEAD ",\"dev\":[]}", "dev is not an object" },
		{ HEAD ",\"dev\":{\"nvidia0\":1}}", "dev: member 1" },
		{ HEAD ",\"nvml\":[]}", "nvml" },
		{ HEAD ",\"nvml\":{\"gpus\":{}}}", "gpus is not a list" },
		{ HEAD ",\"nvml\":{\"gpus\":[{\"pci\":7}]}}", "pci is not a text" },
		{ HEAD ",\"nvml\":{\"gpus\":[{\"mig_devices\":[7]}]}}", "mig_devices" },
		{ HEAD ",\"units\":{\"a\":1}}", "units" },
		{ HEAD ",\"euid\":1,\"euid\":2}", "twice" },
	};
	const struct json *doc = NULL;
	struct err err = { 0 };
	struct tree t;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		tree_init(&t, rows[i].text);
		assert_int_equal(facts_parse(t.a, view_of(rows[i].text), "f", &doc, &err),
				 -ERR_PARSE);
		if (!strstr(err.msg, rows[i].says))
			fail_msg("row %zu: \"%s\" does not say \"%s\"", i, err.msg, rows[i].says);
		/* Named by the user: an error. Found beside the tree: its parts are broken, the run
		 * goes on. */
		assert_int_equal(probe_facts_load(&t.p, t.file, &err), -ERR_PARSE);
		assert_int_equal(probe_facts_load(&t.p, NULL, &err), 0);
		assert_null(t.p.facts);
		assert_int_equal(t.s.parts.cuda.state, FACT_BROKEN);
		assert_int_equal(t.s.parts.environment.state, FACT_BROKEN);
		tree_run(&t);
		tree_done(&t);
	}
	assert_null(doc);
}

static void T15_deep_nesting_and_hostile_values_do_no_harm(void **state)
{
	struct tree t;
	char *deep = malloc(60000);

	(void)state;
	strcpy(deep, HEAD ",\"env\":{\"A\":");
	memset(deep + strlen(deep), '[', 50000);
	deep[50020] = '\0';
	tree_init(&t, deep);
	assert_int_equal(probe_facts_load(&t.p, NULL, NULL), 0);
	assert_null(t.p.facts);
	tree_done(&t);
	free(deep);
	tree_init(
		&t, HEAD
		",\"uname\":\"\",\"env\":{\"\":\"x\",\"PATH\":\"\\u001b[31m\"},\"cuDriverVersion\":999999999,"
		"\"nvml\":{\"init\":0,\"gpus\":[{},{\"pci\":\"../../etc\"},{\"pci\":\"0:0:0.0\"}]}}");
	assert_int_equal(probe_facts_load(&t.p, NULL, NULL), 0);
	tree_run(&t);
	assert_int_equal(t.s.driver.cuda_ceiling.state, FACT_BROKEN);
	assert_int_equal(t.s.n_gpus, 3);
	assert_int_equal(t.s.gpus[1].address.state, FACT_NOT_ASKED);
	tree_done(&t);
}

static void T6_a_fifo_is_no_facts_file(void **state)
{
	struct tree t;

	(void)state;
	tree_init(&t, NULL);
	assert_int_equal(mkfifo(t.file, 0600), 0);
	assert_int_equal(probe_facts_load(&t.p, NULL, NULL), 0);
	assert_null(t.p.facts);
	assert_int_not_equal(probe_facts_load(&t.p, t.file, NULL), 0);
	tree_done(&t);
	tree_init(&t, NULL);
	assert_int_equal(symlink("/nonexistent", t.file), 0);
	assert_int_equal(probe_facts_load(&t.p, NULL, NULL), 0);
	assert_int_equal(t.s.parts.cuda.state, FACT_NOT_ASKED);
	tree_done(&t);
}

static void addresses_have_one_form(void **state)
{
	struct arena *a = arena_new(NULL);

	(void)state;
	assert_string_equal(driver_address(a, "00000000:1B:00.0"), "0000:1b:00.0");
	assert_string_equal(driver_address(a, "0001:00:1F.7"), "0001:00:1f.7");
	assert_string_equal(driver_address(a, "00010000:00:00.0"), "10000:00:00.0");
	assert_null(driver_address(a, ""));
	assert_null(driver_address(a, "0000:1b:00"));
	assert_null(driver_address(a, "0000:1b:00.0 "));
	assert_null(driver_address(a, "0000:0x:00.0"));
	assert_null(driver_address(a, "-001:1b:00.0"));
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts_fill_what_no_tree_holds),
		cmocka_unit_test(on_wsl_the_driver_is_that_of_windows),
		cmocka_unit_test(without_facts_nothing_of_this_machine_is_taken),
		cmocka_unit_test(a_live_environment_is_taken_by_list),
		cmocka_unit_test(T15_a_wrong_facts_file_says_what_is_wrong),
		cmocka_unit_test(T15_deep_nesting_and_hostile_values_do_no_harm),
		cmocka_unit_test(T6_a_fifo_is_no_facts_file),
		cmocka_unit_test(addresses_have_one_form),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
