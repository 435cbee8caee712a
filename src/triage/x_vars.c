/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of the environment: env, printenv, export, ENV, docker's -e, set on Windows. */
#include <string.h>

#include "base/attr.h"
#include "base/regex.h"
#include "triage/paste.h"
#include "triage/sign.h"

static const char known[] =
	"\\b((?:CUDA|NVIDIA|SLURM|NCCL|TORCH|PYTORCH|TF|XLA|JAX|HIP|ROCR|RAY|NUMBA|TRITON)_[A-Z0-9_]+|"
	"LD_LIBRARY_PATH|LD_PRELOAD|PYTHONPATH|PYTHONNOUSERSITE|VIRTUAL_ENV|"
	"CONDA_PREFIX|CC|CXX)[\"']?\\]?\\s?=\\s?(\"[^\"]*\"|'[^']*'|[^\\s;]*)";

static void variables_line(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s, v;
	struct regex_match m;
	size_t n;

	if (view_chr(s, '=') < 0) {
		/* $ echo $CUDA_VISIBLE_DEVICES, then its value. */
		const struct line *l = &p->t.lines[i];

		if (!l->cmd_at && l->by == (int32_t)i - 1 && l->by != NO_COMMAND &&
		    paste_match(p, "^(?:echo|printenv) \\$?\"?\\$?\\{?([A-Z][A-Z0-9_]+)",
				line_cmd(&p->t.lines[l->by]), &m) &&
		    (p->t.lines[l->by].cmd_at != CMD_BARE ||
		     paste_match(
			     p,
			     "^(?:-?\\d[\\d,]*|(?:GPU|MIG)-\\S+|/\\S+|NoDevFiles|all|none|void)$",
			     l->s, NULL)))
			paste_variable(p, m.group[1], l->s, i);
		/* accelerate's file of settings, which it makes that variable. */
		else if (paste_match(p, "^\\s*gpu_ids: ['\"]?(\\d[\\d, ]*)['\"]?$", s, &m))
			paste_variable(p, view_of("CUDA_VISIBLE_DEVICES"), m.group[1], i);
		return;
	}
	for (n = 0; n < 12 && paste_match(p, known, s, &m); n++) {
		v = m.group[2];
		if (v.n >= 2 && (v.p[0] == '"' || v.p[0] == '\''))
			v = (struct view){ v.p + 1, v.n - 2 };
		/* "NAME=value","NAME=..." of an inspected container on one line. */
		if (view_chr(v, '"') > 0)
			v.n = (size_t)view_chr(v, '"');
		while (v.n && strchr("`,)\"'", v.p[v.n - 1]))
			v.n--;
		if (m.end < s.n || s.n)
			paste_variable(p, m.group[1], v, i);
		s = view_skip(s, m.end ? m.end : 1);
	}
}

const struct extractor extract_variables = { .name = "variables", .line = variables_line };
