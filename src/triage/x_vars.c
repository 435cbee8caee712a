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

/* What a shell or an interpreter is asked for: echo $NAME, %NAME%, $env:NAME, os.environ["NAME"].
 */
static const char asked[] =
	"^(?:(?:echo|printenv|Write-Output|Write-Host) [\"']?(?:\\$env:|[$%]|)\\{?|\\$env:|"
	"(?:print\\()?(?:os\\.(?:environ(?:\\.get)?|getenv)|ENV|Sys\\.getenv|getenv)[\\[(][\"'])"
	"([A-Z][A-Z0-9_]+)";
/* Forms without "=": csh, fish, MATLAB; YAML and JSON. */
static const char told[] =
	"^\\W*(?:setenv|set -\\w+|Sys\\.setenv)[ (]+[\"']?([A-Z]+_VISIBLE_DEVICES|LD_LIBRARY_PATH)"
	"[\"']?[ ,]+([^\\s;)]+)|"
	"^[-\\s]*[\"']?([A-Z]+_VISIBLE_DEVICES|NVIDIA_DRIVER_CAPABILITIES)[\"']?: "
	"[\"']?([\\w,-]*)[\"']?,?$";

static struct view unquoted(struct view v)
{
	while (v.n && strchr("\"'", v.p[0]))
		v = view_skip(v, 1);
	while (v.n && strchr("\"',", v.p[v.n - 1]))
		v.n--;
	return v;
}

/* cmd.exe keeps the quotes of set NAME="0": they are part of the value, which names no GPU then. */
static void kept_quotes(struct paste *p, struct view typed, struct view answer, size_t i)
{
	struct regex_match m;

	if (paste_match(p, "^[@\\s]*set CUDA_VISIBLE_DEVICES=(\"[^\"%]*\"|'[^'%]*')\\s*(?:&.*)?$",
			typed, &m))
		sign_add(p, "visible-quoted", i, m.group[1]);
	else if (paste_match(p, "^echo %CUDA_VISIBLE_DEVICES%", typed, NULL) &&
		 paste_match(p, "^([\"'][^\"']*[\"'])$", answer, &m))
		sign_add(p, "visible-quoted", i, m.group[1]);
}

/* An empty answer, and then somebody's words: no list of devices holds blanks within. */
static bool is_sentence(struct paste *p, struct view name, struct view value)
{
	return view_ends(name, "_VISIBLE_DEVICES") &&
	       paste_match(p, "[^\\s,:][^,]*\\s\\S", value, NULL);
}

/* os.environ["CUDA_VISIBLE_DEVICES"] = args.gpu: a name of the program's own, whose value nobody
 * tells. */
static bool names_value(struct view before, struct view v)
{
	size_t n = before.n;

	while (n && strchr(" =", before.p[n - 1]))
		n--;
	return n && before.p[n - 1] == ']' && v.n &&
	       (v.p[0] == '_' || (v.p[0] | 0x20) >= 'a') && (v.p[0] | 0x20) <= 'z';
}

/* srun ... bash -c 'echo $CUDA_VISIBLE_DEVICES; ...': the first line that comes of it. */
static void echoed(struct paste *p, size_t i)
{
	struct regex_match m;

	if (i && view_find(p->t.lines[i - 1].s, "_VISIBLE_DEVICES") > 0 &&
	    paste_match(p, "^(?:\\d[\\d,]{0,60}|(?:GPU|MIG)-[\\w/-]+|NoDevFiles)$", p->t.lines[i].s,
			NULL) &&
	    paste_match(
		    p,
		    "\\b(?:ba)?sh -l?c ['\"]echo \\$\\{?((?:CUDA|NVIDIA)_VISIBLE_DEVICES)\\}?['\";]",
		    p->t.lines[i - 1].s, &m))
		paste_variable(p, m.group[1], p->t.lines[i].s, i);
}

static void without_sign(struct paste *p, size_t i)
{
	const struct line *l = &p->t.lines[i];
	const struct line *by = l->by != NO_COMMAND ? &p->t.lines[l->by] : NULL;
	struct regex_match m;

	if (!l->cmd_at && by && l->by == (int32_t)i - 1 &&
	    paste_match(p, asked, line_cmd(by), &m) &&
	    (by->cmd_at != CMD_BARE ||
	     paste_match(p,
			 "^['\"]?(?:-?\\d[\\d,]*|(?:GPU|MIG)-\\S+|/\\S+|NoDevFiles|all|none|void)"
			 "['\"]?$",
			 l->s, NULL))) {
		if (!view_starts(l->s, "Traceback") && !view_is(l->s, "None") &&
		    !is_sentence(p, m.group[1], l->s))
			paste_variable(p, m.group[1], unquoted(l->s), i);
		kept_quotes(p, line_cmd(by), l->s, i);
		return;
	}
	if (!l->cmd_at && l->s.n < 80)
		echoed(p, i);
	/* accelerate's file of settings, which it makes that variable. */
	if (paste_match(p, "^\\s*gpu_ids: ['\"]?(\\d[\\d, ]*)['\"]?$", l->s, &m))
		paste_variable(p, view_of("CUDA_VISIBLE_DEVICES"), m.group[1], i);
	else if (view_find(l->s, "_") > 0 &&
		 paste_match(p, told, l->cmd_at ? line_cmd(l) : l->s, &m))
		paste_variable(p, m.group[m.group[1].n ? 1 : 3],
			       unquoted(m.group[m.group[1].n ? 2 : 4]), i);
	/* A variable of a pod: its name, and the value on the next line. */
	else if (i && paste_match(p, "^value: ['\"]?([^'\"\\s]*)['\"]?$", l->s, &m)) {
		struct view value = m.group[1];

		if (paste_match(p, "^- name: ([A-Z][A-Z_]+)$", p->t.lines[i - 1].s, &m))
			paste_variable(p, m.group[1], value, i);
	}
}

static void variables_line(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s, v;
	struct regex_match m;
	size_t n;

	if (view_chr(s, '=') < 0) {
		without_sign(p, i);
		return;
	}
	if (view_find(s, "CUDA_VISIBLE_DEVICES=") > 0)
		kept_quotes(p, p->t.lines[i].cmd_at ? line_cmd(&p->t.lines[i]) : s,
			    (struct view){ 0 }, i);
	for (n = 0; n < 12 && paste_match(p, known, s, &m); n++) {
		v = m.group[2];
		if (names_value((struct view){ s.p, (size_t)(v.p - s.p) }, v)) {
			s = view_skip(s, m.end);
			continue;
		}
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
