/* SPDX-License-Identifier: Apache-2.0 */
/* NVML beside a measurement. */
#include "prove/gauge.h"

#include <stdio.h>
#include <string.h>

#include "prove/signals.h"
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
	ROW(nvmlDeviceGetEnforcedPowerLimit, false),
	ROW(nvmlDeviceGetPowerManagementDefaultLimit, false),
	ROW(nvmlDeviceGetEccMode, false),
};

void gauge_open(struct lab *l, struct gauge *g)
{
	struct dl_report r;
	char address[32] = "", name[96] = "";

	*g = (struct gauge){ .there = false };
	if (l->opt->compat && !CU(l, cuDeviceGetName, name, (int)sizeof(name), l->dev)) {
		name[sizeof(name) - 1] = '\0';
		g->slice = strstr(name, " MIG ") != NULL;
		compat_perf(l->opt->compat, name, &g->perf);
	}
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

bool gauge_busy(struct prove_signals *signals)
{
	struct child_result r;
	struct child c;
	char busy = 0;

	child_start(&c, ask_busy, NULL, 1, NULL, BUSY_DEADLINE_MS);
	if (!signals_wait(signals, &c, 0))
		return false;
	child_wait(&c, &busy, 1, &r);
	return r.end == CHILD_ANSWERED && r.n == 1 && busy;
}

static unsigned ask(const struct gauge *g, nvmlReturn_t (*fn)(nvmlDevice_t, unsigned int *),
		    unsigned most)
{
	unsigned n = 0;

	return fn && !fn(g->dev, &n) && n <= most ? n : 0;
}

void gauge_read(struct gauge *g)
{
	enum { LINK_MOST = 32, MILLIWATTS_MOST = 10000000 };
	unsigned long long reasons = 0;
	int ecc = 0, pending = 0;

	if (!g->there)
		return;
	g->gen = ask(g, g->api.nvmlDeviceGetCurrPcieLinkGeneration, LINK_MOST);
	g->width = ask(g, g->api.nvmlDeviceGetCurrPcieLinkWidth, LINK_MOST);
	g->max_gen = ask(g, g->api.nvmlDeviceGetMaxPcieLinkGeneration, LINK_MOST);
	g->max_width = ask(g, g->api.nvmlDeviceGetMaxPcieLinkWidth, LINK_MOST);
	g->watts = ask(g, g->api.nvmlDeviceGetEnforcedPowerLimit, MILLIWATTS_MOST) / 1000;
	g->full_watts =
		ask(g, g->api.nvmlDeviceGetPowerManagementDefaultLimit, MILLIWATTS_MOST) / 1000;
	g->ecc = g->api.nvmlDeviceGetEccMode &&
		 !g->api.nvmlDeviceGetEccMode(g->dev, &ecc, &pending) && ecc == 1;
	if (g->api.nvmlDeviceGetCurrentClocksThrottleReasons &&
	    !g->api.nvmlDeviceGetCurrentClocksThrottleReasons(g->dev, &reasons))
		g->held_back |= reasons;
}

double gauge_link_rate(struct lab *l, const struct gauge *g)
{
	double share, rate;

	if (!l->opt->compat || g->slice)
		return 0;
	rate = compat_perf_link(l->opt->compat, g->gen > g->max_gen ? g->gen : g->max_gen,
				g->width > g->max_width ? g->width : g->max_width, &share);
	/* A generation that the table does not have yet. */
	if (rate <= 0)
		rate = compat_perf_link(l->opt->compat, g->gen, g->width, &share);
	return rate * share;
}

double gauge_expected(const struct gauge *g, enum perf_kind kind)
{
	return kind < PERF_KINDS && !g->slice ? g->perf.peak[kind] * g->perf.share[kind] : 0;
}

/* Why clocks are held back; NULL: they are not. Others than those named are the idle GPU's. */
static const char *throttle(const struct gauge *g)
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

	for (i = 0; i < ARRAY_LEN(reasons); i++)
		if (g->held_back & reasons[i].bit)
			return _(reasons[i].text);
	return NULL;
}

static const char *cause_of_link(struct lab *l, const struct gauge *g)
{
	if (g->width && g->width < g->max_width)
		return arena_printf(l->a, _("the link has %u of %u lanes"), g->width, g->max_width);
	if (g->gen && g->gen < g->max_gen)
		return arena_printf(l->a, _("the link runs at generation %u of %u"), g->gen,
				    g->max_gen);
	return NULL;
}

/* What NVML shows that could explain a low figure. */
static const char *cause(struct lab *l, const struct gauge *g, int of)
{
	const char *text = of == GAUGE_LINK ? cause_of_link(l, g) : throttle(g);

	if (!text && of == GAUGE_LINK)
		text = throttle(g);
	/* A cap that the reasons name is told by them. */
	if (of != GAUGE_LINK && g->watts && g->watts < g->full_watts &&
	    (!text || (g->held_back & 0x4)))
		return arena_printf(l->a, _("the power limit is %u of %u W"), g->watts,
				    g->full_watts);
	if (!text && of == GAUGE_MEMORY && g->ecc)
		return _("ECC is on, which takes bandwidth where the memory is GDDR");
	if (text)
		return text;
	return g->there ? _("NVML shows no cause") : _("NVML is not there to say why");
}

void gauge_figures(struct lab *l, const struct gauge_claim *c)
{
	char name[PROOF_NAME];

	if (c->expected <= 0)
		return;
	snprintf(name, sizeof(name), "%s%sratio", c->name, c->name[0] ? "_" : "");
	if (!c->name[0])
		lab_figure(l, "expected_gb_per_s", c->expected);
	lab_figure(l, name, c->value / c->expected);
}

int gauge_judge(struct lab *l, const struct gauge *g, const struct gauge_claim *c)
{
	double percent;

	if (c->expected <= 0)
		return 0;
	percent = c->value / c->expected * 100;
	if (percent >= 80)
		return 0;
	if (l->opt->busy)
		return lab_doubt(l, N_("%s%sslow (%.0f%%), but GPUs here are in use: not judged"),
				 c->name, c->name[0] ? " " : "", percent);
	return lab_doubt(l, N_("%s%s%.0f%% of what is to be expected%s; %s"), c->name,
			 c->name[0] ? ": " : "", percent, c->inferred ? _(" (inferred)") : "",
			 cause(l, g, c->of));
}
