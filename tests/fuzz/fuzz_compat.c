/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as one table of the matrix, and every query over it: the first byte says which table.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "compat/raw.h"
#include "compat/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const tables[] = { "gpu", "chip", "name", "driver", "cuda", "torch" };

/* What stands in for the other tables: one good row each, so that a run costs little. */
static const char *const good[ARRAY_LEN(tables)] = {
	"{\"id\":\"2684\",\"name\":\"NVIDIA GeForce RTX 4090\",\"chip\":\"AD102\",\"cc\":\"8.9\",\"open\":\"supported\"}",
	"{\"chip\":\"AD102\",\"arch\":\"Ada\",\"cc\":\"8.9\",\"last_driver\":null,\"open\":\"supported\"}",
	"{\"name\":\"Orin\",\"kind\":\"module\",\"chips\":[\"AD102\"],\"cc\":\"8.9\",\"ids\":[\"2684\"]}",
	"{\"branch\":580,\"max_cuda\":\"13.0\",\"kind\":\"LTSB\",\"eol\":\"2028-06\"}",
	"{\"cuda\":\"12.4\",\"kind\":\"minor\",\"min_driver_linux\":\"550.54.14\",\"minor_compat_linux\":\"525.60.13\"}",
	"{\"version\":\"2.6.0\",\"platform\":\"linux_x86_64\",\"variant\":\"cu124\",\"cuda\":\"12.4\","
	"\"python\":[\"3.12\"],\"arch_list\":[\"sm_60\",\"sm_90\"],\"min_glibc\":\"2.17\",\"index_url\":\"u\"}",
};

static void put_good(struct arena *a, struct compat *c)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(tables); i++)
		compat_replace(
			c, tables[i],
			view_of(arena_printf(
				a, "{\"schema\":\"cuvet.compat/1\",\"table\":\"%s\",\"rows\":[%s]}",
				tables[i], good[i])));
}
static const char *const names[] = { "2684",   "RTX 4090",	   "NVIDIA GeForce ...",
				     "cc:8.9", "10de:2684:10de:1", "A100",
				     "Orin" };

static void ask_gpus(struct compat *c)
{
	struct gpu_match m;
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		compat_gpu_find(c, names[i], &m);
	compat_gpu_subsystem(c, "2684", "10de:0001");
	for (i = 0; i < 8; i++)
		compat_gpu_at(c, i);
	compat_gpu_of_cc(c, 89);
}

static void ask_builds(struct compat *c)
{
	static const int ccs[] = { 61, 90 };
	struct torch_wish w = {
		.ccs = ccs, .n_ccs = 2, .driver = "580.65.06", .python = "3.12", .glibc = "2.31"
	};
	size_t n, i;

	compat_torch_choose(c, &w);
	compat_torch(c, "2.6.0", "linux_x86_64", "cu124");
	compat_torch_of(c, "torchvision", "0.21.0");
	compat_torch_of_release(c, "2.6.0");
	compat_torch_release(c, "2.6.0");
	compat_torch_rows(c, &n);
	for (i = 0; i < 4; i++)
		compat_torch_at(c, i);
}

static void ask_drivers(struct compat *c)
{
	bool flag;

	compat_driver(c, "580.65.06", &flag);
	compat_driver_cuda(c, "535.183.01");
	compat_recommended_branch(c, "12.4");
	compat_cuda(c, "12.4");
	compat_min_driver(c, "12.4", false, &flag);
	compat_min_driver(c, "13.9", true, &flag);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(NULL);
	struct view text = { .p = (const char *)data, .n = size }, v;
	struct compat *c;

	if (!size || compat_open(a, NULL, &c, NULL)) {
		arena_free(a);
		return 0;
	}
	raw_member(text, "rows", &v);
	raw_string(view_skip(text, 1), "name", &v);
	put_good(a, c);
	compat_replace(c, tables[data[0] % ARRAY_LEN(tables)], view_skip(text, 1));
	ask_gpus(c);
	ask_builds(c);
	ask_drivers(c);
	compat_table(c, tables[data[0] % ARRAY_LEN(tables)]);
	compat_near(c, tables[data[0] % ARRAY_LEN(tables)], "580");
	compat_source(c, tables[data[0] % ARRAY_LEN(tables)], "A");
	if (compat_error(c) && !compat_error(c)->msg[0])
		abort();
	arena_free(a);
	return 0;
}
