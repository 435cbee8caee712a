/* SPDX-License-Identifier: Apache-2.0 */
/* NVML beside a measurement. */
#include "prove/gauge.h"

#include "sys/child.h"

enum { BUSY_PERCENT = 10, BUSY_DEADLINE_MS = 5000, GPUS_MAX = 64 };

#define ROW(name, need)                                       \
	{                                                     \
#name, offsetof(struct gauge_api, name), need \
	}
static const struct dl_symbol symbols[] = {
	ROW(nvmlInit_v2, true),
	ROW(nvmlDeviceGetHandleByPciBusId_v2, true),
	ROW(nvmlDeviceGetCount_v2, false),
	ROW(nvmlDeviceGetHandleByIndex_v2, false),
	ROW(nvmlDeviceGetUtilizationRates, false),
	ROW(nvmlDeviceGetCurrPcieLinkGeneration, false),
	ROW(nvmlDeviceGetCurrPcieLinkWidth, false),
	ROW(nvmlDeviceGetMaxPcieLinkGeneration, false),
	ROW(nvmlDeviceGetMaxPcieLinkWidth, false),
	ROW(nvmlDeviceGetCurrentClocksThrottleReasons, false),
};

void gauge_open(struct lab *l, struct gauge *g)
{
	struct dl_report r;
	char address[32] = "";

	*g = (struct gauge){ .there = false };
	if (!l->cu.cuDeviceGetPCIBusId || CU(l, cuDeviceGetPCIBusId, address, 32, l->dev))
		return;
	address[sizeof(address) - 1] = '\0';
	lab_doing(l, "NVML");
	dl_load("libnvidia-ml.so.1", symbols, ARRAY_LEN(symbols), &g->api, &r);
	if (r.state != DL_LOADED || g->api.nvmlInit_v2() ||
	    g->api.nvmlDeviceGetHandleByPciBusId_v2(address, &g->dev))
		return;
	g->there = true;
}

static long ask_busy(void *ctx, void *answer, size_t size)
{
	nvmlUtilization_t u;
	struct gauge_api api = { 0 };
	struct dl_report r;
	nvmlDevice_t dev;
	unsigned n = 0, i;
	char busy = 0;

	(void)ctx;
	dl_load("libnvidia-ml.so.1", symbols, ARRAY_LEN(symbols), &api, &r);
	if (size < 1 || r.state != DL_LOADED || api.nvmlInit_v2() || !api.nvmlDeviceGetCount_v2 ||
	    !api.nvmlDeviceGetHandleByIndex_v2 || !api.nvmlDeviceGetUtilizationRates ||
	    api.nvmlDeviceGetCount_v2(&n))
		return -1;
	for (i = 0; i < n && i < GPUS_MAX; i++)
		if (!api.nvmlDeviceGetHandleByIndex_v2(i, &dev) &&
		    !api.nvmlDeviceGetUtilizationRates(dev, &u) && u.gpu <= 100 &&
		    u.gpu >= BUSY_PERCENT)
			busy = 1;
	*(char *)answer = busy;
	return 1;
}

bool gauge_busy(void)
{
	struct child_result r;
	struct child c;
	char busy = 0;

	child_start(&c, ask_busy, NULL, 1, NULL, BUSY_DEADLINE_MS);
	child_wait(&c, &busy, 1, &r);
	return r.end == CHILD_ANSWERED && r.n == 1 && busy;
}

static unsigned ask(const struct gauge *g, nvmlReturn_t (*fn)(nvmlDevice_t, unsigned int *))
{
	unsigned n = 0;

	return fn && !fn(g->dev, &n) && n <= 32 ? n : 0;
}

void gauge_read(struct gauge *g)
{
	if (!g->there)
		return;
	g->gen = ask(g, g->api.nvmlDeviceGetCurrPcieLinkGeneration);
	g->width = ask(g, g->api.nvmlDeviceGetCurrPcieLinkWidth);
	g->max_gen = ask(g, g->api.nvmlDeviceGetMaxPcieLinkGeneration);
	g->max_width = ask(g, g->api.nvmlDeviceGetMaxPcieLinkWidth);
	if (g->api.nvmlDeviceGetCurrentClocksThrottleReasons &&
	    g->api.nvmlDeviceGetCurrentClocksThrottleReasons(g->dev, &g->held_back))
		g->held_back = 0;
}

double gauge_link_rate(const struct gauge *g)
{
	/* GB/s a lane: 2.5 and 5 GT/s with 8 of 10 bits, 8 to 32 with 128 of 130, 64 with 242 of
	 * 256. */
	static const double lane[] = { 0, 0.25, 0.5, 0.9846, 1.9692, 3.9385, 7.5625 };

	return g->gen < ARRAY_LEN(lane) ? lane[g->gen] * g->width : 0;
}

/* What NVML shows that could explain a low figure. */
static const char *cause(struct lab *l, const struct gauge *g)
{
	static const struct {
		unsigned long long bit;
		const char *text;
	} reasons[] = {
		{ 0x8, N_("hardware slowdown") },
		{ 0x40, N_("thermal slowdown (hardware)") },
		{ 0x20, N_("thermal slowdown (software)") },
		{ 0x80, N_("power brake") },
		{ 0x4, N_("power cap") },
		{ 0x2, N_("clocks set by the administrator") },
	};
	size_t i;

	if (g->width && g->width < g->max_width)
		return arena_printf(l->a, _("the link has %u of %u lanes"), g->width, g->max_width);
	if (g->gen && g->gen < g->max_gen)
		return arena_printf(l->a, _("the link runs at generation %u of %u"), g->gen,
				    g->max_gen);
	for (i = 0; i < ARRAY_LEN(reasons); i++)
		if (g->held_back & reasons[i].bit)
			return _(reasons[i].text);
	return g->there ? _("NVML shows no cause") : _("NVML is not there to say why");
}

int gauge_judge(struct lab *l, const struct gauge *g, double value, double expected)
{
	double ratio = expected > 0 ? value / expected : 0;

	if (expected <= 0)
		return 0;
	lab_figure(l, "expected_gb_per_s", expected);
	lab_figure(l, "ratio", ratio);
	if (ratio >= 0.8)
		return 0;
	if (l->opt->busy)
		return lab_doubt(l, N_("slow (%.0f%%), but others use this GPU: not judged"),
				 ratio * 100);
	return lab_doubt(l, N_("%.0f%% of what is to be expected; %s"), ratio * 100, cause(l, g));
}
