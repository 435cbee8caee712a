/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a program was started: in a container and with or without GPUs, by a command or by the file
 * of a runner. It says what was asked for; whether it was given is for rules.
 */
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/regex.h"
#include "project/project.h"
#include "triage/owner_read.h"
#include "triage/paste.h"
#include "triage/sign.h"

enum { CONTINUED_LINES = 40, CONTINUED_BYTES = 1900, BLOCK_LINES = 40 };

/* -------- commands */

/* What starts a container, what asks for GPUs in it. NULL: it can't be told from the command. */
struct starter {
	const char *literal, *run, *asks; /* literal: a line without it isn't looked at */
};

static const char engine_run[] =
	"\\b(?:docker|podman|nerdctl)\\s+(?:container\\s+)?(?:run|create)\\b";
static const char engine_asks[] =
	"(?<!without )(?<!no )--gpus|--runtime[= ]\"?nvidia|nvidia\\.com/gpu|/dev/nvidia|"
	"--device[= ](?![\"']?/dev/(?!nvidia|dri|dxg|nvhost|nvmap|nvgpu))|"
	"(?<![\\w/.-])nvidia-docker2?\\s|--hooks-dir";
static const char sif_run[] = "\\b(?:singularity|apptainer)\\s+(?:-\\S+\\s+)*"
			      "(?:exec|run|shell|instance\\s+(?:start|run))\\b";
static const char sif_asks[] =
	"--nv(?:ccli)?\\b|\\b(?:SINGULARITY|APPTAINER)_NV(?:CCLI)?=(?:1|true|yes)";
static const char system_run[] = "\\b(?:lxc|incus)\\s+(?:launch|exec|shell|start)\\s|"
				 "\\blxc-(?:attach|start)\\s|\\bpct\\s+(?:enter|exec|start)\\s|"
				 "\\benroot\\s+start\\s";

static const struct starter starters[] = {
	{ .literal = "ocker service",
	  .run = "\\bdocker\\s+service\\s+create\\b",
	  .asks = "--generic-resource" },
	{ .literal = "ocker", .run = engine_run, .asks = engine_asks },
	{ .literal = "odman", .run = engine_run, .asks = engine_asks },
	{ .literal = "erdctl", .run = engine_run, .asks = engine_asks },
	{ .literal = "ingularity", .run = sif_run, .asks = sif_asks },
	{ .literal = "pptainer", .run = sif_run, .asks = sif_asks },
	{ .literal = "systemd-nspawn",
	  .run = "\\bsystemd-nspawn\\s+(?:-|\\S+=)",
	  .asks = "/dev/(?:nvidia|dri)|--bind=/dev\\b" },
	{ .literal = "distrobox",
	  .run = "\\bdistrobox(?:-|\\s+)create\\b",
	  .asks = "(?<!ohne )(?<!without )(?<!no )--nvidia|nvidia\\.com/gpu|--gpus|/dev/nvidia" },
	{ .literal = "ctr ",
	  .run = "\\bctr\\s+(?:-n\\s+\\S+\\s+)?(?:run|c\\w*\\s+create)\\b",
	  .asks = "--gpus|/dev/nvidia" },
	{ .literal = "lxc", .run = system_run },
	{ .literal = "incus", .run = system_run },
	{ .literal = "pct ", .run = system_run },
	{ .literal = "enroot", .run = system_run },
};

/* The command with the lines that a backslash (or a backtick, a caret) joins to it. */
static struct view whole_command(const struct paste *p, size_t i)
{
	const struct line *l = &p->t.lines[i];
	struct view s = l->cmd_at ? line_cmd(l) : l->s;
	size_t k = i, n;

	if (s.n > CONTINUED_BYTES)
		s.n = CONTINUED_BYTES;
	while (k + 1 < p->t.n && k < i + CONTINUED_LINES) {
		struct view at = p->t.lines[k].s;

		if (!at.n || !strchr("\\`^", at.p[at.n - 1]))
			break;
		at = p->t.lines[++k].s;
		n = (size_t)(at.p - s.p) + at.n;
		if (n > CONTINUED_BYTES)
			break;
		s.n = n;
	}
	return s;
}

/* "docker run ... IMAGE", "docker run $OPTIONS IMAGE": what was left out may ask for GPUs. */
static bool abridged(struct paste *p, struct view s)
{
	return paste_match(p,
			   "\\s(?:\\.\\.\\.|\xe2\x80\xa6|<\\.\\.\\.>|\\[\\.\\.\\.\\])(?:\\s|$)|"
			   "\\s\"?\\$\\{?(?:@|\\w*(?:ARGS|OPT|FLAGS|GPU)\\w*)",
			   s, NULL);
}

/* An option of `docker run` that takes no word behind it. */
static bool stands_alone(struct view option)
{
	static const char *const flags[] = {
		"--detach",	     "--init",	      "--interactive", "--no-healthcheck",
		"--oom-kill-disable", "--privileged", "--publish-all", "--quiet",
		"--read-only",	     "--rm",	      "--sig-proxy",   "--tty",
	};
	size_t i;

	if (view_chr(option, '=') >= 0)
		return true;
	for (i = 0; i < ARRAY_LEN(flags); i++)
		if (view_is(option, flags[i]))
			return true;
	for (i = 1; i < option.n && strchr("ditPq", option.p[i]); i++)
		;
	return i == option.n;
}

/*
 * The nvidia runtime gives a container what NVIDIA_VISIBLE_DEVICES says: where neither the command
 * nor the image sets it, that is nothing. s: what stands behind `docker run`.
 */
static bool runtime_alone(struct paste *p, struct view s)
{
	struct base_image image;
	struct view word;

	if (!paste_match(p, "--runtime[= ]\"?nvidia", s, NULL) ||
	    paste_match(p, "--gpus|nvidia\\.com/gpu|--device|NVIDIA_VISIBLE_DEVICES|--env-file", s,
			NULL))
		return false;
	while (view_word(&s, &word)) {
		if (view_is(word, "\\"))
			continue;
		if (word.p[0] != '-') {
			image_parse(p->a, p->c, view_dup(p->a, word), &image);
			return image.bare;
		}
		if (!stands_alone(word))
			view_word(&s, &word);
	}
	return false;
}

/* "With --gpus all the same image works": what fails is another run. A mere test counts not. */
static bool said_to_cure(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;

	return !p->t.lines[i].cmd_at && s.n < 400 && view_find(s, "nvidia-smi") < 0 &&
	       paste_match(
		       p,
		       "\\b(?:works|worked|fixes|fixed|solves|solved|helps|helped)\\b(?! (?:for a|until))",
		       s, NULL) &&
	       !paste_match(p, "\\b(?:not|never|nothing|no longer|neither|but)\\b|n't\\b", s, NULL);
}

static void command(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;
	struct regex_match m;
	size_t k;

	/* "Use 'nvidia-docker run' to start this container", which an image advises. */
	if (view_find(s, "to start this container") >= 0)
		return;
	if (s.n > CONTINUED_BYTES)
		s.n = CONTINUED_BYTES;
	for (k = 0; k < ARRAY_LEN(starters); k++) {
		const struct starter *r = &starters[k];

		if (view_find(s, r->literal) < 0)
			continue;
		s = whole_command(p, i);
		if (!paste_match(p, r->run, s, &m))
			continue;
		sign_add(p, "container-run", i, (struct view){ 0 });
		if (r->run == engine_run &&
		    runtime_alone(p, view_skip(s, (size_t)(m.group[0].p + m.group[0].n - s.p)))) {
			sign_add(p, "runtime-alone", i, (struct view){ 0 });
			return;
		}
		if (paste_match(p, "\\s-(?:it|ti)\\b|\\s--(?:interactive|tty)\\b", s, NULL))
			sign_add(p, "container-entered", i, (struct view){ 0 });
		if (r->asks && paste_match(p, r->asks, s, NULL)) {
			sign_add(p,
				 said_to_cure(p, i) ? "container-gpu-cures" : "container-gpu-asked",
				 i, (struct view){ 0 });
			/* It runs and is gone: what fails later is another container. */
			if (paste_match(p, "\\snvidia-smi(?: -L)?[\"'`]?(?:\\s+#.*)?$", s, NULL))
				sign_add(p, "container-gpu-test", i, (struct view){ 0 });
		} else if (r->asks && !abridged(p, s)) {
			sign_add(p, "container-gpu-not-asked", i, (struct view){ 0 });
		}
		return;
	}
	if ((view_find(s, "device add") >= 0 || view_find(s, "nvidia.runtime") >= 0) &&
	    paste_match(p,
			"\\b(?:lxc|incus)\\s+config\\s+device\\s+add\\s.*\\bgpu\\b|"
			"\\bnvidia\\.runtime[=: ]+\"?true",
			s, NULL))
		sign_add(p, "container-gpu-asked", i, (struct view){ 0 });
}

/* -------- what a command that starts a container answers */

/* Said to be the host, or typed where one command alone was sent into a container shortly before.
 */
static bool on_host(struct paste *p, size_t i)
{
	enum owner_place place = p->owners.v[p->t.lines[i].owner].place;
	size_t k = i > BLOCK_LINES ? i - BLOCK_LINES : 0;

	for (; place == PLACE_UNSAID && k < i; k++)
		if (p->t.lines[k].cmd_at &&
		    paste_match(p, "\\b(?:docker|podman) exec \\S+ nvidia-smi\\b", p->t.lines[k].s,
				NULL))
			return true;
	return place == PLACE_HOST;
}

/* A container that has just been started can't have lost what it had. Its command may stand there
 * without a prompt. */
static void fresh_start(struct paste *p, size_t i)
{
	const struct line *l = &p->t.lines[i];
	struct view cmd;

	if (view_find(l->s, "NVML: Unknown Error") < 0)
		return;
	if (l->by != NO_COMMAND)
		cmd = line_cmd(&p->t.lines[l->by]);
	else if (i)
		cmd = p->t.lines[i - 1].s;
	else
		return;
	if (cmd.n < CONTINUED_BYTES &&
	    paste_match(
		    p, "\\b(?:docker|podman|nerdctl)\\s+(?:container\\s+)?run\\b.*\\bnvidia-smi\\b",
		    cmd, NULL))
		sign_add(p, "nvml-fresh", i, (struct view){ 0 });
}

static void answer(struct paste *p, size_t i)
{
	const struct line *l = &p->t.lines[i];
	struct view cmd;

	fresh_start(p, i);
	if (l->by == NO_COMMAND)
		return;
	cmd = line_cmd(&p->t.lines[l->by]);
	/* The host's own libraries don't fit either: no container is at fault. */
	if (view_find(l->s, "library version mismatch") >= 0 &&
	    paste_match(p, "^(?:sudo )?nvidia-smi\\b", cmd, NULL) && on_host(p, i))
		sign_add(p, "mismatch-on-host", i, (struct view){ 0 });
	/* LXD says no more than this of a program that isn't there. */
	if (view_is(l->s, "Error: Command not found") && view_find(cmd, "nvidia-smi") >= 0)
		sign_add(p, "smi-absent", i, (struct view){ 0 });
	if (view_is(l->s, "{}") &&
	    paste_match(p, "\\bconfig\\s+device\\s+(?:show|list)\\b", cmd, NULL))
		sign_add(p, "container-gpu-not-asked", i, (struct view){ 0 });
}

/* print(ctypes.CDLL("libcuda.so.1").cuInit(0)) and the number alone. */
static void cuinit_code(struct paste *p, size_t i)
{
	static const struct {
		const char *code, *sign;
	} codes[] = {
		{ .code = "3", .sign = "init-error-3" }, { .code = "100", .sign = "no-device-100" },
		{ .code = "802", .sign = "cuda-802" },	 { .code = "803", .sign = "cuda-803" },
		{ .code = "804", .sign = "cuda-804" },	 { .code = "999", .sign = "cuda-999" },
	};
	struct view s = p->t.lines[i].s;
	size_t k;

	if (s.n > 3 || !paste_under(p, i, "cuInit("))
		return;
	for (k = 0; k < ARRAY_LEN(codes); k++)
		if (view_is(s, codes[k].code))
			sign_add(p, codes[k].sign, i, (struct view){ 0 });
}

/* -------- files of runners */

/* Does one of the lines from i on, or of those shortly before it, match? */
static bool block_has(struct paste *p, size_t i, size_t back, const char *pattern)
{
	size_t k = i > back ? i - back : 0, to = i + BLOCK_LINES;

	if (!paste_may_look(p))
		return false;
	for (; k < p->t.n && k < to; k++)
		if (p->t.lines[k].s.n && paste_match(p, pattern, p->t.lines[k].s, NULL))
			return true;
	return false;
}

/* The line that opens a container's section, what else makes it one, what asks for GPUs there. */
struct runner {
	const char *literal, *opens, *needs, *asks, *sign; /* sign: when nothing asks */
};

static const char docker_py[] =
	"device_requests[\"']?\\s*[=:]\\s*\\[|DeviceRequest\\(|runtime\\s*=\\s*[\"']nvidia";

static const struct runner runners[] = {
	{ .literal = "[runners.docker]",
	  .opens = "^\\[runners\\.docker\\]$",
	  .needs = "executor\\s*=\\s*\"docker",
	  .asks = "^(?:gpus|runtime)\\s*=\\s*\"[^\"]+\"|^devices\\s*=.*nvidia",
	  .sign = "container-gpu-not-asked" },
	{ .literal = "driver",
	  .opens = "^driver\\s*=\\s*\"(?:docker|podman)\"$",
	  .needs = "^(?:task|group)\\s+\"",
	  .asks = "^device\\s+\"nvidia/gpu|runtime\\s*=\\s*\"nvidia\"",
	  .sign = "container-gpu-not-asked" },
	{ .literal = "container:",
	  .opens = "^container:(?:\\s*\\S+:\\S+)?$",
	  .needs = "^runs-on:",
	  .asks = "--gpus|--runtime|/dev/nvidia",
	  .sign = "container-gpu-not-asked" },
	{ .literal = "services:",
	  .opens = "^services:$",
	  .needs = "^(?:image|build):",
	  .asks = "(?<!_)capabilities|runtime:\\s*[\"']?nvidia|^gpus:|nvidia\\.com/(?:gpu|mig)|/dev/nvidia|extends:|"
		  "NVIDIA_VISIBLE_DEVICES|driver:\\s*[\"']?nvidia",
	  .sign = "container-gpu-not-asked" },
	{ .literal = "[Container]",
	  .opens = "^\\[Container\\]$",
	  .needs = "^Image=",
	  .asks = "^AddDevice=.*nvidia|^(?:Podman|Global)Args=.*(?:gpus|nvidia)",
	  .sign = "container-gpu-not-asked" },
	{ .literal = "containers.",
	  .opens = "\\.containers\\.(?:run|create)\\(",
	  .needs = "\\.containers\\.",
	  .asks = docker_py,
	  .sign = "container-gpu-not-asked" },
	{ .literal = "DockerSpawner.",
	  .opens = "\\bDockerSpawner\\.image\\s*=",
	  .needs = "\\bDockerSpawner\\.",
	  .asks = docker_py,
	  .sign = "container-gpu-not-asked" },
	{ .literal = "DockerOperator(",
	  .opens = "\\bDockerOperator\\(",
	  .needs = "\\bimage\\s*=",
	  .asks = docker_py,
	  .sign = "container-gpu-not-asked" },
	{ .literal = "containerDefinitions",
	  .opens = "\"containerDefinitions\"",
	  .needs = "\"image\":",
	  .asks = "\"resourceRequirements\"|\"GPU\"",
	  .sign = "container-gpu-not-asked" },
	/* A submit file of HTCondor: no container, and what the job is given is in it alone. */
	{ .literal = "request_cpus",
	  .opens = "^request_cpus\\s*=",
	  .needs = "^queue\\b",
	  .asks = "^request_gpus\\s*=",
	  .sign = "tres-no-gpu" },
	{ .literal = "\"runArgs\"",
	  .opens = "^\"runArgs\":",
	  .needs = "\"(?:image|build|dockerFile|dockerComposeFile)\":",
	  .asks = "\"--(?:gpus|runtime|device)|nvidia\\.com/gpu|\"gpu\"",
	  .sign = "container-gpu-not-asked" },
	/* The same file without the line: its other keys show that it starts the container. */
	{ .literal = "ommand\"",
	  .opens = "^\"post(?:Create|Start|Attach)Command\":",
	  .needs = "\"(?:image|build|dockerFile)\":",
	  .asks = "\"--(?:gpus|runtime|device)|nvidia\\.com/gpu|\"gpu\"|dockerComposeFile",
	  .sign = "container-gpu-not-asked" },
	{ .literal = "kind:",
	  .opens = "^kind:\\s*(?:Pod|Deployment|Job|StatefulSet|ReplicaSet)$",
	  .needs = "^(?:-\\s*)?image:",
	  .asks = "nvidia\\.com/(?:gpu|mig)|runtimeClassName|resourceClaims",
	  .sign = "pod-no-gpu-limit" },
};

static void runner(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;
	bool container;
	size_t k;

	for (k = 0; k < ARRAY_LEN(runners); k++) {
		const struct runner *r = &runners[k];

		if (view_find(s, r->literal) < 0 || !paste_match(p, r->opens, s, NULL) ||
		    !block_has(p, i, BLOCK_LINES, r->needs))
			continue;
		container = view_starts(view_of(r->sign), "container-");
		if (container || view_starts(view_of(r->sign), "pod-"))
			sign_add(p, "container-run", i, (struct view){ 0 });
		if (!block_has(p, i, BLOCK_LINES, r->asks))
			sign_add(p, r->sign, i, (struct view){ 0 });
		else if (container)
			sign_add(p, "container-gpu-asked", i, (struct view){ 0 });
	}
}

/* The nodes that a CDI specification gives to every container stand below nvidiactl; the list ends
 * with the next key. A "..." before it, and the list is not whole. */
static void cdi_node(struct paste *p, size_t i)
{
	size_t k;

	if (!paste_match(p, "^-\\s*path:\\s*/dev/nvidiactl$", p->t.lines[i].s, NULL))
		return;
	for (k = i + 1; k < p->t.n && k < i + BLOCK_LINES; k++) {
		struct view s = p->t.lines[k].s;

		if (view_find(s, "nvidia-uvm") >= 0 || view_starts(s, ".."))
			return;
		if (paste_match(p, "^(?:hooks|mounts|env|devices|kind):", s, NULL))
			break;
	}
	for (k = i; k-- > 0 && i - k < BLOCK_LINES && k < p->t.n;) {
		struct view s = p->t.lines[k].s;

		if (view_find(s, "nvidia-uvm") >= 0 || view_starts(s, ".."))
			return;
		if (view_starts(s, "deviceNodes:")) {
			sign_add(p, "container-run", i, (struct view){ 0 });
			sign_add(p, "uvm-not-passed", i, (struct view){ 0 });
			return;
		}
	}
}

/* Nodes that are passed in one by one: nvidia-uvm is easily forgotten, which CUDA needs first. */
static void passed_node(struct paste *p, size_t i)
{
	static const char uvm[] = "nvidia-uvm|/dev:/dev|\\s/dev dev\\s|nvidia\\.com/gpu|"
				  "--gpus|--runtime|gpus:|capabilities:";
	struct view s = p->t.lines[i].s, cmd = whole_command(p, i);

	cdi_node(p, i);
	if (view_find(cmd, "--device") >= 0) {
		if (paste_match(p, "--device[= ]\"?/dev/nvidia(?:\\d|ctl)", cmd, NULL) &&
		    !paste_match(p, uvm, cmd, NULL))
			sign_add(p, "uvm-not-passed", i, (struct view){ 0 });
		return;
	}
	if (paste_match(
		    p,
		    "^(?:lxc\\.mount\\.entry\\s*[:=]\\s*|dev\\d+:\\s*|-\\s*[\"']?)/dev/nvidia(?:\\d|"
		    "ctl)",
		    s, NULL) &&
	    !block_has(p, i, BLOCK_LINES, uvm)) {
		sign_add(p, "container-run", i, (struct view){ 0 });
		sign_add(p, "uvm-not-passed", i, (struct view){ 0 });
	}
}

static void start_line(struct paste *p, size_t i)
{
	const struct line *l = &p->t.lines[i];
	struct owner o = { 0 };

	command(p, i);
	if (p->t.service_line == i + 1)
		sign_add(p, "compose-log", i, (struct view){ 0 });
	if (l->s.n < 400 && view_find(l->s, "/dev/nvidia") >= 0)
		passed_node(p, i);
	if (!l->cmd_at && l->s.n < 400) {
		answer(p, i);
		cuinit_code(p, i);
		runner(p, i);
	}
	/* A name that only containers have; the user of the Jupyter images; the folder that
	 * NVIDIA's images and vLLM's start in. */
	if (l->cmd_at)
		owner_prompt(line_prompt(l), &o);
	if (o.place == PLACE_CONTAINER ||
	    (l->cmd_at && paste_match(p,
				      "^(?:(?:\\([\\w.-]+\\) ?)?jovyan@|vscode \xe2\x9e\x9c |"
				      "root@[\\w.-]+:/(?:vllm-)?workspace\\b)",
				      l->s, NULL)))
		sign_add(p, "container-prompt", i, (struct view){ 0 });
	if (view_starts(l->s, "Singularity>") || view_starts(l->s, "Apptainer>") ||
	    paste_match(p, "^[#(]?\\s*\\(?(?:in|inside)(?: the)? (?:a )?(?:container|pod)\\b", l->s,
			NULL) ||
	    view_starts(l->s, "(container)") || view_starts(l->s, "(container,") ||
	    view_starts(l->s, "(lxc)") || view_starts(l->s, "(pod)"))
		sign_add(p, "container-prompt", i, (struct view){ 0 });
}

const struct extractor extract_start = { .name = "start", .line = start_line };
