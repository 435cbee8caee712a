/* SPDX-License-Identifier: Apache-2.0 */
/* Schedulers: what Slurm and Ray gave, and what was asked of them. */
#include <string.h>

#include "base/attr.h"
#include "base/regex.h"
#include "triage/paste.h"
#include "triage/sign.h"

/* "TresPerNode=gres/gpu:1", "AllocTRES=cpu=8,mem=32G,node=1,gres/gpu=1". */
static void tres(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (paste_match(p, "\\b(?:TresPer(?:Node|Job|Task)|Gres)=\\S*gpu", s, NULL) ||
	    paste_match(p, "\\b(?:Alloc|Req)?TRES=\\S*gres/gpu\\S*=[1-9]", s, NULL)) {
		sign_add(p, "gres-given", i, (struct view){ 0 });
		sign_add(p, "gres-asked", i, (struct view){ 0 });
		return;
	}
	/* A row of "sacct --format=JobID,AllocTRES". */
	if (paste_under(p, i, "sacct") && paste_under(p, i, "TRES") &&
	    paste_match(p, "\\bcpu=\\d+,.*\\bnode=\\d", s, NULL) && view_find(s, "gpu") < 0)
		sign_add(p, "tres-no-gpu", i, s);
	/* What a node has is not what a job got. */
	if (paste_match(p, "\\b(?:AllocTRES|ReqTRES|(?<!Cfg)TRES)=(\\S+)", s, &m) &&
	    view_find(m.group[1], "cpu=") >= 0 && view_find(m.group[1], "gpu") < 0 &&
	    !paste_match(p, "CfgTRES=", s, NULL))
		sign_add(p, "tres-no-gpu", i, m.group[1]);
}

/* "0.0/1.0 GPU" of ray status, "{'CPU': 8.0, 'memory': ...}" of ray.cluster_resources(). */
static void ray(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (paste_match(p, "(?:^|[\\s,])(\\d+\\.\\d+)/(\\d+\\.\\d+) GPU\\b", s, &m)) {
		sign_add(p, "ray", i, m.group[2]);
		if (view_starts(m.group[2], "0.0"))
			sign_add(p, "ray-no-gpu", i, m.group[2]);
	}
	if (paste_match(p, "\\{.*'CPU':\\s*\\d", s, NULL) &&
	    (view_find(s, "object_store_memory") >= 0 || paste_under(p, i, "_resources()"))) {
		sign_add(p, "ray", i, (struct view){ 0 });
		if (view_find(s, "'GPU'") < 0)
			sign_add(p, "ray-no-gpu", i, (struct view){ 0 });
	}
}

/* Commands of schedulers that give a shell on a node, and what asks for a GPU in them. */
struct shell {
	const char *start, *shell, *gpu;
};

static const struct shell shells[] = {
	{ .start = "^(?:sudo )?(?:srun|salloc)\\s",
	  .shell = "^(?:sudo )?salloc\\s|--pty",
	  .gpu = "--gres|--gpus|--tres|\\s-G\\s*\\d" },
	{ .start = "^qsub\\s", .shell = "\\s-I\\b", .gpu = "gpu(?:s|_\\w+)?=" },
	{ .start = "^qrsh\\b|^qlogin\\b", .shell = "^q", .gpu = "gpu\\w*=" },
	{ .start = "^bsub\\s", .shell = "\\s-I", .gpu = "-gpu\\s|ngpus" },
};

/* "srun -p gpu --pty bash": a shell on a node for which no GPU was asked. */
static void shell_start(struct paste *p, size_t i)
{
	struct view cmd = line_cmd(&p->t.lines[i]);
	size_t k;

	for (k = 0; k < ARRAY_LEN(shells); k++) {
		if (!paste_match(p, shells[k].start, cmd, NULL) ||
		    !paste_match(p, shells[k].shell, cmd, NULL))
			continue;
		/* What runs within an allocation shares its GPUs. */
		if (!paste_match(p, shells[k].gpu, cmd, NULL))
			sign_add(p, "shell-without-gpu", i, (struct view){ 0 });
		else if (view_starts(cmd, "salloc"))
			sign_add(p, "slurm-allocation", i, (struct view){ 0 });
	}
}

/* "bsub -q gpu python train.py": the command says all that the job asks for, unless it reads it. */
static void bsub_job(struct paste *p, size_t i)
{
	struct view cmd = line_cmd(&p->t.lines[i]);

	if (paste_match(p, "^bsub\\s.*\\s(?:python3?|torchrun|accelerate)\\s", cmd, NULL) &&
	    !paste_match(p, "\\s-gpu\\b|gpu\\w*=|\\s-(?:env|app|I)|<", cmd, NULL))
		sign_add(p, "job-without-gpu", i, (struct view){ 0 });
}

static void cluster_line(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;

	if (p->t.lines[i].cmd_at && (view_find(s, "srun ") >= 0 || view_find(s, "salloc") >= 0 ||
				     view_find(s, "qsub ") >= 0 || view_find(s, "qrsh") >= 0 ||
				     view_find(s, "qlogin") >= 0 || view_find(s, "bsub ") >= 0))
		shell_start(p, i);
	if (p->t.lines[i].cmd_at && view_find(s, "bsub ") >= 0)
		bsub_job(p, i);
	if (s.n > 2000)
		s.n = 2000;
	if (view_find(s, "TRES") >= 0 || view_find(s, "node=") >= 0 ||
	    view_find(s, "TresPer") >= 0 || view_find(s, "Gres=") >= 0)
		tres(p, s, i);
	if (view_find(s, " GPU") >= 0 || view_find(s, "'CPU'") >= 0)
		ray(p, s, i);
	if (paste_under(p, i, "sinfo") && !p->t.lines[i].cmd_at &&
	    (view_find(s, "(null)") >= 0 || view_find(s, "gpu:") >= 0))
		sign_add(p, view_find(s, "gpu:") >= 0 ? "sinfo-gres-gpu" : "sinfo-gres-null", i,
			 (struct view){ 0 });
}

const struct extractor extract_cluster = { .name = "cluster", .line = cluster_line };
