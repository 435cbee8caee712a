/* SPDX-License-Identifier: Apache-2.0 */
/* What Docker, the NVIDIA container tools and Kubernetes print: inspect, info, describe. */
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/regex.h"
#include "triage/paste.h"
#include "triage/sign.h"

/* -------- docker inspect */

/* Does one of the lines around say so? */
static bool near(struct paste *p, size_t i, size_t back, size_t forth, const char *pattern)
{
	size_t from = i > back ? i - back : 0, to = i + forth < p->t.n ? i + forth : p->t.n - 1, k;

	for (k = from; k <= to && (back + forth < 16 || k > from || paste_may_look(p)); k++)
		if (paste_match(p, pattern, p->t.lines[k].s, NULL))
			return true;
	return false;
}

/* "DeviceRequests": null, unless the runtime is NVIDIA's, which goes by variables. */
static void device_requests(struct paste *p, struct view s, size_t i)
{
	static const char runtime[] = "\"Runtime\":\\s*\"nvidia|\"DefaultRuntime\":\\s*\"nvidia";

	if (!paste_match(p, "\"DeviceRequests\":\\s*(?:null|\\[\\s*\\])", s, NULL)) {
		if (near(p, i, 0, 14, "\"gpu\"|nvidia\\.com/gpu|\"Driver\":\\s*\"nvidia\""))
			sign_add(p, "container-gpu-asked", i, (struct view){ 0 });
		return;
	}
	if (near(p, i, 120, 40, runtime))
		sign_add(p, "container-gpu-asked", i, (struct view){ 0 });
	else
		sign_add(p, "container-gpu-not-asked", i, (struct view){ 0 });
}

/* docker inspect --format '{{.HostConfig.DeviceRequests}}': Go's form of nothing. */
static void inspect_answer(struct paste *p, struct view s, size_t i)
{
	if (!paste_under(p, i, ".DeviceRequests}}") ||
	    !paste_match(p, "^(?:\\[\\]|<no value>|null|<nil>)(?!.*\\bnvidia)", s, NULL))
		return;
	sign_add(p, "container-run", i, (struct view){ 0 });
	sign_add(p, "inspected-without-gpu", i, (struct view){ 0 });
	sign_add(p, "container-gpu-not-asked", i, (struct view){ 0 });
}

/* "Capabilities":[["gpu","utility"]] of a device request: what is listed takes the place of the
 * default, compute and utility. The list may be spread over lines. */
static void request_capabilities(struct paste *p, size_t i)
{
	bool gpu = false, part = false;
	size_t k;

	for (k = i; k < p->t.n && k < i + 12; k++) {
		struct view s = p->t.lines[k].s;

		if (s.n > 4000)
			return;
		if (view_find(s, "\"compute\"") >= 0 || view_find(s, "\"all\"") >= 0)
			return;
		gpu |= view_find(s, "\"gpu\"") >= 0;
		part |= paste_match(p, "\"(?:utility|video|graphics|display)\"", s, NULL);
		if (view_find(s, "]]") >= 0 || (k > i && view_find(s, "Options") >= 0))
			break;
	}
	if (!gpu)
		return;
	sign_add(p, "container-run", i, (struct view){ 0 });
	sign_add(p, "container-gpu-asked", i, (struct view){ 0 });
	if (part)
		sign_add(p, "request-without-compute", i, (struct view){ 0 });
}

static void inspect_line(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (view_find(s, "\"DeviceRequests\"") >= 0) {
		sign_add(p, "container-run", i, (struct view){ 0 });
		device_requests(p, s, i);
	}
	if (paste_match(p, "\"Capabilities\":\\s*\\[(?:\\s*\\[|$)", s, NULL))
		request_capabilities(p, i);
	if (paste_match(p, "\"ShmSize\":\\s*67108864\\b", s, NULL))
		sign_add(p, "shm-64m", i, (struct view){ 0 });
	if (paste_match(p, "\"Image\":\\s*\"([^\"]{3,200})\"", s, &m) &&
	    !view_starts(m.group[1], "sha256:"))
		paste_fact(p, "container.image", m.group[1], i);
	if (paste_match(p, "\"DefaultRuntime\":\\s*\"([\\w.-]+)\"", s, &m))
		paste_fact(p, "runtime.default_runtime", m.group[1], i);
}

/* -------- docker info and the container tools */

struct report {
	const char *pattern, *fact;
};

static const struct report reports[] = {
	{ .pattern = "^Server Version:\\s*(\\d[\\w.]*)", .fact = "runtime.docker" },
	{ .pattern = "^Default Runtime:\\s*([\\w.-]+)", .fact = "runtime.default_runtime" },
	{ .pattern =
		  "^NVIDIA Container (?:Toolkit CLI|Runtime Hook|Runtime) version\\s+(\\d[\\d.]*)",
	  .fact = "runtime.toolkit_version" },
	{ .pattern = "^(?:lib|cli)-version:\\s*(\\d[\\d.]*)", .fact = "runtime.library_version" },
};

/* "NVRM version:   535.54.03" of nvidia-container-cli info, and what follows it. */
static void container_cli(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;
	struct gpu *g;

	if (paste_match(p, "^NVRM version:\\s+(\\d{3}\\.[\\d.]+)$", s, &m))
		paste_fact(p, "driver.version", m.group[1], i);
	if (!near(p, i, 30, 0, "^NVRM version:\\s+\\d{3}\\.[\\d.]+$"))
		return;
	if (paste_match(p, "^CUDA version:\\s+(\\d+\\.\\d+)$", s, &m))
		paste_fact(p, "driver.ceiling", m.group[1], i);
	else if (paste_match(p, "^Model:\\s+(\\S.*)$", s, &m))
		(void)paste_listed_gpu(p, (struct view){ 0 }, m.group[1], (struct view){ 0 }, i);
	else if (p->s->n_gpus && paste_match(p, "^Architecture:\\s+(\\d+\\.\\d)$", s, &m)) {
		g = &p->s->gpus[p->s->n_gpus - 1];
		if (!fact_known(&g->compute_capability))
			fact_set(&g->compute_capability, view_dup(p->a, m.group[1]),
				 paste_source(p, i));
	}
}

static void info_line(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;
	size_t k;

	for (k = 0; k < ARRAY_LEN(reports); k++)
		if (paste_match(p, reports[k].pattern, s, &m))
			paste_fact(p, reports[k].fact, m.group[1], i);
	if (paste_match(p, "^Cgroup Version:\\s*([12])$", s, &m))
		paste_fact(p, "runtime.cgroup", view_is(m.group[1], "2") ? VIEW("v2") : VIEW("v1"),
			   i);
	if (paste_match(p, "^Runtimes:\\s*(\\S.*)$", s, &m)) {
		bool nvidia = view_find(m.group[1], "nvidia") >= 0;

		paste_fact(p, "runtime.nvidia_runtime", nvidia ? VIEW("yes") : VIEW("no"), i);
		if (!nvidia)
			sign_add(p, "docker-no-nvidia-runtime", i, m.group[1]);
	}
	if (view_find(s, "ersion:") >= 0 || view_starts(s, "Model:") ||
	    view_starts(s, "Architecture:"))
		container_cli(p, s, i);
}

/* -------- kubectl describe */

static void kube_line(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;
	bool asked;

	if (!paste_match(p, "^\"?nvidia\\.com/(?:gpu|mig-[\\w.]+)\"?\\s*:\\s*\"?(\\d+)\"?,?$", s,
			 &m))
		return;
	asked = near(p, i, 5, 0, "^\"?(?:limits|requests)\"?:");
	if (!asked && !view_is(m.group[1], "0") &&
	    near(p, i, 12, 0, "^(?:Capacity|Allocatable):"))
		sign_add(p, "k8s-node-has-gpu", i, m.group[1]);
	if (asked && !view_is(m.group[1], "0"))
		sign_add(p, "k8s-gpu-asked", i, m.group[1]);
	if (asked)
		sign_add(p,
			 view_is(m.group[1], "0") ? "container-gpu-not-asked"
						  : "container-gpu-asked",
			 i, m.group[1]);
}

/* nvidia-ctk cdi list: "nvidia.com/gpu=0". */
static void cdi_line(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (paste_under(p, i, "cdi list") &&
	    paste_match(p, "^(?:INFO.*\\s)?(nvidia\\.com/gpu=[\\w:-]+)$", s, &m))
		sign_add(p, "cdi-listed", i, m.group[1]);
}

static void container_line(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;

	if (p->t.lines[i].cmd_at)
		return;
	if (s.n > 100000)
		s.n = 100000;
	if (view_find(s, "\"") >= 0 &&
	    (view_find(s, "\"DeviceRequests\"") >= 0 || view_find(s, "\"ShmSize\"") >= 0 ||
	     view_find(s, "\"Privileged\"") >= 0 || view_find(s, "\"Image\"") >= 0 ||
	     view_find(s, "\"Capabilities\"") >= 0 || view_find(s, "\"DefaultRuntime\"") >= 0))
		inspect_line(p, s, i);
	if (s.n > 400)
		return;
	if (s.n && strchr("[<n", s.p[0]))
		inspect_answer(p, s, i);
	if (view_find(s, "untime") >= 0 || view_find(s, "ersion") >= 0 ||
	    view_starts(s, "Model:") || view_starts(s, "Architecture:"))
		info_line(p, s, i);
	if (view_find(s, "nvidia.com/") >= 0) {
		kube_line(p, s, i);
		cdi_line(p, s, i);
	}
}

const struct extractor extract_container = { .name = "container", .line = container_line };
