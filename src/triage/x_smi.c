/* SPDX-License-Identifier: Apache-2.0 */
/* nvidia-smi: the header of every generation, the table, -L, -q and MIG. */
#include <string.h>

#include "base/arena.h"
#include "base/regex.h"
#include "triage/paste.h"
#include "triage/sign.h"

static void header(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	sign_add(p, "smi-header", i, (struct view){ 0 });
	if (paste_match(p, "(?:Driver|KMD)\\s+Version:\\s*([\\d.]+)", s, &m))
		paste_fact(p, "driver.version", m.group[1], i);
	else if (paste_match(p, "NVIDIA-SMI\\s+(\\d{3}\\.[\\d.]+)", s, &m))
		paste_fact(p, "driver.version", m.group[1], i);
	if (!paste_match(p, "CUDA(?:\\s+UMD)?\\s+Version:\\s*(\\d+\\.\\d+|N/A|ERR!)", s, &m))
		return;
	if (view_is(m.group[1], "N/A"))
		sign_add(p, "smi-cuda-na", i, m.group[1]);
	else if (view_is(m.group[1], "ERR!"))
		sign_add(p, "smi-cuda-err", i, m.group[1]);
	else
		paste_fact(p, "driver.ceiling", m.group[1], i);
}

/* "|   0  NVIDIA GeForce RTX 3090    Off  | 00000000:01:00.0 Off |": the name, and every GPU is
 * one. */
static void table_row(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;
	struct gpu *g;

	if (!paste_match(p, "^\\|\\s+(\\d+)\\s+(\\S.*?)\\s{1,}(On|Off|WDDM|TCC|N/A|MCDM)\\s*\\|\\s*"
			    "([0-9A-F]{4,8}:[0-9A-F]{2}:[0-9A-F]{2}\\.\\d)", s, &m))
		return;
	sign_add(p, "smi-gpu", i, m.group[2]);
	if (p->s->n_gpus >= 64)
		return;
	g = NULL;
	if (p->s->n_gpus && fact_known(&p->s->gpus[0].name) &&
	    !fact_known(&p->s->gpus[0].address) && p->s->n_gpus == 1 && view_is(m.group[1], "0"))
		g = &p->s->gpus[0];
	if (!g)
		g = ARENA_APPEND(p->a, p->s->gpus, p->s->n_gpus);
	fact_set(&g->name, view_dup(p->a, m.group[2]), paste_source(p, i));
	fact_set(&g->address, view_dup(p->a, m.group[4]), paste_source(p, i));
	fact_set(&g->nvml_index, view_dup(p->a, m.group[1]), paste_source(p, i));
}

static void list_row(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;
	struct gpu *g;
	size_t k;

	if (!paste_match(p, "^GPU (\\d+): (.+?)(?:\\s*\\(UUID|\\s{2,}|\\s*$)", s, &m) ||
	    m.group[2].n > 80)
		return;
	sign_add(p, "smi-gpu", i, m.group[2]);
	for (k = 0; k < p->s->n_gpus; k++)
		if (fact_known(&p->s->gpus[k].nvml_index) &&
		    view_is(m.group[1], p->s->gpus[k].nvml_index.value))
			return;
	if (p->s->n_gpus >= 64)
		return;
	g = ARENA_APPEND(p->a, p->s->gpus, p->s->n_gpus);
	fact_set(&g->name, view_dup(p->a, m.group[2]), paste_source(p, i));
	fact_set(&g->nvml_index, view_dup(p->a, m.group[1]), paste_source(p, i));
}

static void smi_line(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;

	if (view_find(s, "NVIDIA-SMI ") >= 0 && view_find(s, "has failed") < 0)
		header(p, s, i);
	else if (view_find(s, "Driver Version") >= 0 && view_find(s, "CUDA") >= 0)
		header(p, s, i);
	else if (s.n && s.p[0] == '|')
		table_row(p, s, i);
	else if (view_starts(s, "GPU ") && s.n > 5)
		list_row(p, s, i);
}

const struct extractor extract_smi = { .name = "smi", .line = smi_line };
