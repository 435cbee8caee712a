/* SPDX-License-Identifier: Apache-2.0 */
/* nvidia-smi's tables: the header of every generation, rows of GPUs, MIG devices, -L. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/regex.h"
#include "triage/paste.h"
#include "triage/sign.h"
#include "triage/smi.h"

static void header(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	sign_add(p, "smi-header", i, (struct view){ 0 });
	if (paste_match(p, "(?:Driver|KMD)\\s+Version:\\s*([\\d.]+)", s, &m))
		paste_fact(p, "driver.version", m.group[1], i);
	else if (paste_match(p, "NVIDIA-SMI\\s+(\\d{3}\\.[\\d.]+)", s, &m))
		paste_fact(p, "driver.version", m.group[1], i);
	/* A narrow window breaks the row where it is full. */
	if (!view_ends(s, "|") && s.p[0] == '|' && i + 1 < p->t.n &&
	    s.n + p->t.lines[i + 1].s.n < 200)
		s = view_of(arena_printf(p->a, "%s%s", view_dup(p->a, s),
					 view_dup(p->a, p->t.lines[i + 1].s)));
	if (!paste_match(p, "CUDA(?:\\s+UMD)?\\s+Version:\\s*(\\d+\\.\\d+|N/A|ERR!)", s, &m))
		return;
	if (view_is(m.group[1], "N/A"))
		sign_add(p, "smi-cuda-na", i, m.group[1]);
	else if (!view_is(m.group[1], "ERR!"))
		paste_fact(p, "driver.ceiling", m.group[1], i);
}

/* -------- the table */

/* WDDM and TCC stand where Linux shows its persistence mode. */
static void driver_model(struct paste *p, struct view model, size_t i)
{
	if (!view_is(model, "WDDM") && !view_is(model, "TCC") && !view_is(model, "MCDM"))
		return;
	paste_fact(p, "host.system", VIEW("windows"), i);
	sign_add(p, "is-windows", i, model);
}

/* "|   0  NVIDIA GeForce RTX 3090    Off  | 00000000:01:00.0 Off |": every row is a GPU. */
static bool gpu_row(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (!paste_match(p,
			 "^\\|\\s*(\\d+)\\s+(\\S.*?)\\s+(On|Off|WDDM|TCC|N/A|MCDM)\\s*\\|\\s*"
			 "([0-9A-F]{4,8}:[0-9A-F]{2}:[0-9A-F]{2}\\.\\d)",
			 s, &m) &&
	    !paste_match(
		    p,
		    "^\\|?\\s*(\\d+)\\s+((?:NVIDIA|GeForce|Tesla|Quadro|TITAN|GRID)\\b.*?)\\s+"
		    "(On|Off|WDDM|TCC|N/A|MCDM)\\s*\\|?\\s*([0-9A-F]{4,8}:[0-9A-F]{2}:[0-9A-F]{2}"
		    "\\.\\d)?",
		    s, &m))
		return false;
	sign_add(p, "smi-gpu", i, m.group[2]);
	(void)paste_listed_gpu(p, m.group[1], m.group[2], m.group[4], i);
	driver_model(p, m.group[3], i);
	/* The last field: uncorrected errors of memory since the driver was loaded. */
	if (paste_match(p, "\\.\\d\\s+(?:On|Off|N/A)\\s*\\|\\s*([1-9]\\d{0,8})\\s*\\|$", s, &m))
		sign_add(p, "ecc-counted", i, m.group[1]);
	return true;
}

/* The GPU whose row stands above: its second row has the memory and the compute mode. */
static struct gpu *gpu_above(struct paste *p, size_t i)
{
	struct regex_match m;
	size_t k, back;

	for (back = 1; back <= 3 && back <= i; back++) {
		if (!paste_match(p,
				 "^\\|?\\s*(\\d+)\\s+\\S.*?\\s+(?:On|Off|WDDM|TCC|N/A|MCDM)\\s*\\|",
				 p->t.lines[i - back].s, &m))
			continue;
		for (k = 0; k < p->s->n_gpus; k++)
			if (fact_known(&p->s->gpus[k].nvml_index) &&
			    view_is(m.group[1], p->s->gpus[k].nvml_index.value))
				return &p->s->gpus[k];
	}
	return NULL;
}

/*
 * Memory and utilisation of a GPU. A desktop draws a few hundred MiB and single digits: more is
 * work that goes on, and so is a high utilisation of whatever memory.
 */
static void load(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;
	long mib, percent;

	if (!paste_match(p, "(\\d{1,7})\\s?MiB\\s*/[^|]*MiB\\s*\\|?\\s*(\\d{1,3})\\s?%", s, &m))
		return;
	mib = strtol(m.group[1].p, NULL, 10);
	percent = strtol(m.group[2].p, NULL, 10);
	if (percent >= 40 || (percent >= 5 && mib >= 1000))
		sign_add(p, "smi-busy", i, m.group[2]);
	else if (percent == 0 && mib < 100)
		sign_add(p, "smi-idle", i, (struct view){ 0 });
}

/* "| 30%   38C    P8    25W / 350W |   1043MiB / 24576MiB |      0%      Default |". */
static void second_row(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;
	struct gpu *g;

	load(p, s, i);
	if (!paste_match(p,
			 "(\\d+)\\s?MiB\\s*/\\s*(\\d+)\\s?MiB\\s*\\|(?:\\s*(?:\\d+%|N/A|ERR!)"
			 "\\s+(E\\. Process|E\\. Thread|Prohibited|Default)\\s*\\|)?",
			 s, &m) ||
	    !(g = gpu_above(p, i)))
		return;
	if (!fact_known(&g->memory_mib))
		fact_set(&g->memory_mib, view_dup(p->a, m.group[2]), paste_source(p, i));
	smi_narrow(p, g, i);
	if (m.group[3].n && !fact_known(&g->compute_mode))
		fact_set(&g->compute_mode,
			 view_is(m.group[3], "Default")	     ? "Default"
			 : view_is(m.group[3], "Prohibited") ? "Prohibited"
							     : "Exclusive_Process",
			 paste_source(p, i));
	if (m.group[3].n && !view_is(m.group[3], "Default"))
		sign_add(p, "exclusive", i, m.group[3]);
}

/* -------- MIG */

/* The third row of a GPU: "|      |       |   Enabled |". */
static void mig_mode(struct paste *p, struct view s, size_t i)
{
	struct gpu *g;
	struct regex_match m;

	if (!paste_match(p, "^\\|\\s+\\|\\s+\\|\\s+(Enabled|Disabled)\\*?\\s*\\|$", s, &m) ||
	    !(g = gpu_above(p, i)))
		return;
	if (!fact_known(&g->mig_mode))
		fact_set(&g->mig_mode, view_is(m.group[1], "Enabled") ? "enabled" : "disabled",
			 paste_source(p, i));
}

/* "|  0    1   0   0  |     11MiB / 20096MiB | 42      0 |": GPU, GI, CI, MIG device. */
static void mig_row(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (paste_match(p, "No MIG devices found", s, NULL)) {
		sign_add(p, "mig-none", i, (struct view){ 0 });
		return;
	}
	if (!paste_match(p,
			 "^\\|\\s+(\\d+)\\s+(\\d+)\\s+(\\d+|N/A)\\s+(\\d+)\\s*\\|\\s*\\d+\\s?MiB",
			 s, &m))
		return;
	sign_add(p, "mig-devices", i, m.group[4]);
}

/* -------- -L */

/* "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-...)", "  MIG 1g.5gb     Device  0: (UUID: MIG-...)". */
static void list_row(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;
	struct gpu *g;

	if (!paste_match(p, "^GPU (\\d+): (.+?)(?:\\s*\\(UUID: ?([\\w-]+)|\\s{2,}|[,;] |\\s*$)", s,
			 &m) ||
	    m.group[2].n > 80 ||
	    paste_match(p, "memory|alloc|util|radeon|\\bAMD\\b|\\bIntel\\b", m.group[2], NULL))
		return;
	sign_add(p, "smi-gpu", i, m.group[2]);
	g = paste_listed_gpu(p, m.group[1], m.group[2], (struct view){ 0 }, i);
	if (g && m.group[3].n && !fact_known(&g->uuid))
		fact_set(&g->uuid, view_dup(p->a, m.group[3]), paste_source(p, i));
}

static void mig_list_row(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;
	struct gpu *g;

	if (!p->s->n_gpus ||
	    !paste_match(p, "^MIG (\\S+)\\s+Device\\s+\\d+:\\s*(?:\\(UUID:\\s*(MIG-[\\w/-]+))?", s,
			 &m))
		return;
	g = &p->s->gpus[p->s->n_gpus - 1];
	if (m.group[2].n)
		fact_list_add(p->a, &g->mig_devices, view_dup(p->a, m.group[2]), paste_source(p, i),
			      64);
	if (!fact_known(&g->mig_mode))
		fact_set(&g->mig_mode, "enabled", paste_source(p, i));
}

/* -------- processes */

/* No row of the table follows: neither a process nor "No running processes found". */
static bool table_ends(const struct paste *p, size_t k)
{
	return k >= p->t.n || !p->t.lines[k].s.n || p->t.lines[k].s.p[0] != '|';
}

/*
 * "|  GPU       PID   Type   Process name ... |", ruled off by "====", and the table's end at once:
 * not even "No running processes found" stands there. The driver names processes of which this
 * container or virtual machine knows nothing.
 */
static void process_head(struct paste *p, size_t i)
{
	size_t k = i + 1;

	/* "|        ID   ID   Usage |" of later releases. */
	while (k < p->t.n && k < i + 3 && view_find(p->t.lines[k].s, "====") < 0)
		k++;
	if (k < p->t.n && view_find(p->t.lines[k].s, "====") >= 0 && table_ends(p, k + 1))
		sign_add(p, "smi-processes-hidden", i, (struct view){ 0 });
}

/*
 * "|    0   N/A  N/A     28290      C   python                 1012MiB |". Windows has N/A for the
 * memory. A process of type C computes: somebody's program got as far as using the GPU.
 */
static void process_row(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (!paste_match(
		    p,
		    "^\\|\\s+\\d+\\s+(?:(?:N/A|\\d+)\\s+){0,2}\\d+\\s+(C|G|C\\+G|M\\+C)\\s+\\S",
		    s, &m))
		return;
	sign_add(p, "smi-process", i, (struct view){ 0 });
	if (view_is(m.group[1], "C"))
		sign_add(p, "smi-computes", i, (struct view){ 0 });
}

static void table_line(struct paste *p, struct view s, size_t i)
{
	if (view_find(s, "MiB") >= 0) {
		second_row(p, s, i);
		mig_row(p, s, i);
		process_row(p, s, i);
	} else if (view_find(s, "Process name") >= 0) {
		process_head(p, i);
	} else if (view_find(s, "abled") >= 0) {
		mig_mode(p, s, i);
	} else if (view_find(s, "No MIG") >= 0) {
		mig_row(p, s, i);
	} else if (!gpu_row(p, s, i)) {
		process_row(p, s, i);
	}
}

/* It answers, whatever was asked of it: topo, -q, --query-gpu. */
static void answered(struct paste *p, struct view s, size_t i)
{
	if (s.n && i && p->t.lines[i].by == (int32_t)i - 1 && paste_under(p, i, "nvidia-smi") &&
	    !paste_match(
		    p,
		    "fail|error(?!s\\.)|unable|not found|no devices|denied|fault|lost|insufficient|"
		    "mismatch|no such|not recogni|unknown|cannot",
		    s, NULL))
		sign_add(p, "smi-answered", i, (struct view){ 0 });
}

/* "10871MiB / 11019MiB", or gpustat's "24210 / 24268 MB": a library has no room to start in. */
static void memory_full(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (paste_match(p, "\\b(\\d{3,6})\\s?(?:Mi?B)?\\s*/\\s*(\\d{4,6})\\s?Mi?B\\b", s, &m) &&
	    strtol(m.group[1].p, NULL, 10) * 100 >= strtol(m.group[2].p, NULL, 10) * 97)
		sign_add(p, "smi-memory-full", i, m.group[1]);
}

static void smi_line(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;

	if (s.n > 400 || p->t.lines[i].cmd_at)
		return;
	answered(p, s, i);
	if (view_find(s, "MiB") >= 0 || view_find(s, " MB") >= 0)
		memory_full(p, s, i);
	if (view_find(s, "NVIDIA-SMI ") >= 0 && view_find(s, "has failed") < 0)
		header(p, s, i);
	else if (view_find(s, "Driver Version") >= 0 && view_find(s, "CUDA") >= 0)
		header(p, s, i);
	else if (s.n && s.p[0] == '|')
		table_line(p, s, i);
	else if (view_starts(s, "GPU ") && s.n > 5)
		list_row(p, s, i);
	else if (view_starts(s, "MIG "))
		mig_list_row(p, s, i);
}

const struct extractor extract_smi = { .name = "smi", .line = smi_line };
