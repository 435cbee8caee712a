/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the perf table by the driver's name of a GPU. Whole names: a slice is no whole GPU. */
#include "compat/perf.h"

#include <stdio.h>
#include <string.h>

#include "compat/gpu.h"

static const char *const kinds[PERF_KINDS] = {
	[PERF_MEMORY] = "memory", [PERF_FP32] = "fp32", [PERF_TF32] = "tf32",
	[PERF_BF16] = "bf16",	  [PERF_FP16] = "fp16", [PERF_FP8] = "fp8",
};

enum perf_kind compat_perf_kind(const char *name)
{
	int k;

	for (k = 0; k < PERF_KINDS; k++)
		if (strcmp(kinds[k], name) == 0)
			break;
	return (enum perf_kind)k;
}

static double number(const struct json *object, const char *key)
{
	double n;

	return json_num(json_get(object, key), &n) && n > 0 && n < 1e6 ? n : 0;
}

static const struct json *fact(struct compat *c, const char *name)
{
	struct table *t = table_maybe(c, "perf");

	return t ? json_get(json_get(compat_table(c, "perf"), "facts"), name) : NULL;
}

static const struct json *find(struct compat *c, const char *name)
{
	struct table *t = table_maybe(c, "perf");
	struct gpu_name wanted, known;
	size_t i;

	if (!t || !gpu_name_plain(view_of(name), &wanted))
		return NULL;
	for (i = 0; i < t->n; i++)
		if (gpu_name_plain(table_text(c, t, i, "name"), &known) &&
		    strcmp(known.s, wanted.s) == 0)
			return table_row(c, t, i);
	return NULL;
}

void compat_perf(struct compat *c, const char *name, struct perf *ret)
{
	const struct json *row = find(c, name), *share = fact(c, "share");
	char field[32];
	double part;
	int k;

	*ret = (struct perf){ .peak = { 0 } };
	for (k = 0; k < PERF_KINDS; k++) {
		part = number(share, kinds[k]);
		ret->share[k] = part > 0 && part <= 1 ? part : 1;
		if (!row)
			continue;
		snprintf(field, sizeof(field), "%s_%s_per_s", kinds[k],
			 k == PERF_MEMORY ? "gb" : "tflop");
		ret->peak[k] = number(row, field);
		ret->inferred[k] = row_doubtful(row) || row_inferred(row, field);
	}
}

double compat_perf_link(struct compat *c, unsigned generation, unsigned lanes, double *ret_share)
{
	const struct json *lane = json_first(json_get(fact(c, "link"), "gb_per_s_lane"));
	double rate = 0;

	*ret_share = number(fact(c, "share"), "link");
	if (!generation || *ret_share <= 0 || *ret_share > 1)
		return 0;
	while (lane && --generation)
		lane = json_next(lane);
	return lane && json_num(lane, &rate) && rate > 0 && rate < 1e3 ? rate * lanes : 0;
}
