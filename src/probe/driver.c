/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver probe, live: NVML and CUDA in a child each, whose answers are collected at the end.
 * Decides whether a slow cuInit is worth the call. Calls nothing of the driver in this process.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "probe/driver.h"

/* Variable for tests and for machines whose driver takes minutes: milliseconds that a driver call
 * may take. */
static long deadline(const struct probe_ctx *p)
{
	uint64_t ms;

	if (p->timeout_ms > 0)
		return p->timeout_ms;
	if (view_u64(view_of(getenv("CUVET_DRIVER_TIMEOUT_MS")), 10, &ms) && ms >= 1 &&
	    ms <= 600000)
		return (long)ms;
	return DRIVER_DEADLINE_MS;
}

/*
 * The present environment without what the loader would preload into programs that the driver
 * starts. The rest stays: the question is what a program of this user gets.
 */
static const char *const *child_environment(struct arena *a)
{
	static const char *const dropped[] = { "LD_PRELOAD=", "LD_AUDIT=" };
	const char **env;
	size_t n = 0, kept = 0, i, k;

	while (environ && environ[n])
		n++;
	env = arena_calloc(a, n + 1, sizeof(*env));
	for (i = 0; i < n; i++) {
		for (k = 0; k < ARRAY_LEN(dropped); k++)
			if (strncmp(environ[i], dropped[k], strlen(dropped[k])) == 0)
				break;
		if (k == ARRAY_LEN(dropped))
			env[kept++] = environ[i];
	}
	return env;
}

static void unmap_progress(void *page)
{
	munmap(page, 2 * sizeof(struct driver_progress));
}

/* Takes the status of a child that was let go, so that a long-lived caller keeps no zombies. */
static void forget_child(void *c)
{
	const struct driver_call *call = c;

	if (call->child.pid > 0)
		waitpid(call->child.pid, NULL, WNOHANG);
}

static void call_start(struct probe_ctx *p, struct driver_call *c, child_fn *fn, size_t answer_size,
		       const char *const *env)
{
	child_start(&c->child, fn, &c->ask, answer_size, env, p->calls->deadline_ms);
	arena_defer(p->a, forget_child, c);
}

/*
 * Not before there is a reason: cuInit takes 100 to 250 ms (H200), and one that is killed half-way
 * keeps the kernel's locks until it is through, so that the next call of the driver on this machine
 * waits for it.
 */
static void cuda_start(struct probe_ctx *p)
{
	struct live_calls *calls = p->calls;

	if (calls->cuda_started)
		return;
	calls->cuda_started = true;
	call_start(p, &calls->cuda, cuda_ask, sizeof(struct cuda_answer), child_environment(p->a));
}

static const char *library(const struct library *l, const char *soname)
{
	return fact_value(&l->path, soname);
}

/* What a program without a loader cannot ask is not asked; nothing is concluded from it. */
static void without_loader(struct probe_ctx *p)
{
	struct driver *d = &p->s->driver;
	const char *why = _("this static build loads no library of the driver; `cuvet` does");
	struct fact *const facts[] = { &d->nvml_init,	 &d->cuda_init,	       &d->cuda_devices,
				       &p->s->parts.nvml, &p->s->parts.cuda };
	size_t i;

	for (i = 0; i < ARRAY_LEN(facts); i++)
		*facts[i] =
			(struct fact){ .state = FACT_NOT_ASKED, .source = "dlopen", .why = why };
}

static void start(struct probe_ctx *p)
{
	struct live_calls *calls;
	struct driver_progress *page;
	const char *const *env;

	p->calls = NULL;
	if (!p->root->live)
		return;
	if (!dl_possible()) {
		without_loader(p);
		return;
	}
	page = mmap(NULL, 2 * sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		    0);
	if (page == MAP_FAILED)
		return;
	arena_defer(p->a, unmap_progress, page);
	calls = p->calls = arena_alloc(p->a, sizeof(*calls));
	*calls = (struct live_calls){
		.nvml = { .progress = &page[0], .names = nvml_call_names, .n_names = n_nvml_calls },
		.cuda = { .progress = &page[1], .names = cuda_call_names, .n_names = n_cuda_calls },
		.started_ms = clock_ms(),
		.deadline_ms = deadline(p),
	};
	calls->nvml.ask =
		(struct driver_ask){ .library = library(&p->s->driver.libnvml, "libnvidia-ml.so.1"),
				     .progress = &page[0] };
	calls->cuda.ask =
		(struct driver_ask){ .library = library(&p->s->driver.libcuda, "libcuda.so.1"),
				     .progress = &page[1] };
	env = child_environment(p->a);
	call_start(p, &calls->nvml, nvml_ask, sizeof(struct nvml_answer), env);
	if (p->deep || driver_doubt_early(p))
		cuda_start(p);
}

static void nvml_end(struct probe_ctx *p)
{
	struct live_calls *calls = p->calls;
	struct nvml_answer *an = arena_alloc(p->a, sizeof(*an));

	child_wait(&calls->nvml.child, an, sizeof(*an), &calls->nvml.result);
	if (calls->nvml.result.end == CHILD_ANSWERED &&
	    !nvml_answer_seal(an, calls->nvml.result.n)) {
		calls->nvml.result.end = CHILD_EXITED;
		calls->nvml.result.detail = -1;
	}
	calls->nvml_answer = an;
	nvml_facts(p, calls);
}

static void cuda_collect(struct probe_ctx *p)
{
	struct live_calls *calls = p->calls;
	struct cuda_answer *an = arena_alloc(p->a, sizeof(*an));

	child_wait(&calls->cuda.child, an, sizeof(*an), &calls->cuda.result);
	if (calls->cuda.result.end == CHILD_ANSWERED &&
	    !cuda_answer_seal(an, calls->cuda.result.n)) {
		calls->cuda.result.end = CHILD_EXITED;
		calls->cuda.result.detail = -1;
	}
	calls->cuda_answer = an;
	cuda_facts(p, calls);
}

/* On a healthy machine cuInit is not called, and the facts say so. */
static void cuda_not_asked(struct probe_ctx *p)
{
	struct driver *d = &p->s->driver;
	const char *why = _("not called: NVML, modules, libraries and nodes are healthy; "
			    "`check --deep` calls it");

	d->cuda_init = (struct fact){ .state = FACT_NOT_ASKED, .source = "cuInit", .why = why };
	d->cuda_devices =
		(struct fact){ .state = FACT_NOT_ASKED, .source = "cuDeviceGetCount", .why = why };
	p->s->parts.cuda = (struct fact){ .state = FACT_NOT_ASKED, .source = "cuInit", .why = why };
}

/* A slow NVML may be one that hangs: cuInit then starts beside it, so that one deadline holds for
 * both. */
static void live_end(struct probe_ctx *p)
{
	struct live_calls *calls = p->calls;
	long left = calls->started_ms + DRIVER_NVML_SLOW_MS - clock_ms();

	if (driver_doubt_early(p) || !child_poll(&calls->nvml.child, left > 0 ? left : 0))
		cuda_start(p);
	nvml_end(p);
	if (driver_doubt(p, calls))
		cuda_start(p);
	if (calls->cuda_started)
		cuda_collect(p);
	else
		cuda_not_asked(p);
}

static void end(struct probe_ctx *p)
{
	if (p->calls)
		live_end(p);
	else if (p->facts)
		driver_facts_file(p);
}

const struct probe probe_driver_start = { .name = "driver-start", .run = start };
const struct probe probe_driver_end = { .name = "driver-end", .run = end };
