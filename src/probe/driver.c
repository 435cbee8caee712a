/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver probe, live: starts NVML and CUDA in a child each, collects their answers at the end, and decides
 * whether a slow cuInit is worth the wait. Calls nothing of the driver in this process.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "probe/driver.h"

/* Variable for tests and for machines whose driver takes minutes: milliseconds that a driver call may take. */
static long deadline_from_env(void)
{
	uint64_t ms;

	if (view_u64(view_of(getenv("CUVET_DRIVER_TIMEOUT_MS")), 10, &ms) && ms >= 1 && ms <= 600000)
		return (long)ms;
	return DRIVER_DEADLINE_MS;
}

/*
 * The present environment without what the loader would preload into programs that the driver starts. The
 * rest stays: the question is what a program of this user gets.
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

static const char *library(const struct library *l, const char *soname)
{
	return fact_value(&l->path, soname);
}

static void start(struct probe_ctx *p)
{
	struct live_calls *calls;
	struct driver_progress *page;
	const char *const *env;

	p->calls = NULL;
	if (!p->root->live)
		return;
	page = mmap(NULL, 2 * sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return;
	arena_defer(p->a, unmap_progress, page);
	calls = p->calls = arena_alloc(p->a, sizeof(*calls));
	*calls = (struct live_calls){
		.nvml = { .progress = &page[0], .names = nvml_call_names, .n_names = n_nvml_calls },
		.cuda = { .progress = &page[1], .names = cuda_call_names, .n_names = n_cuda_calls },
		.started_ms = clock_ms(),
		.deadline_ms = deadline_from_env(),
	};
	calls->nvml.ask = (struct driver_ask){
		.library = library(&p->s->driver.libnvml, "libnvidia-ml.so.1"), .progress = &page[0]
	};
	calls->cuda.ask = (struct driver_ask){
		.library = library(&p->s->driver.libcuda, "libcuda.so.1"), .progress = &page[1]
	};
	env = child_environment(p->a);
	call_start(p, &calls->nvml, nvml_ask, sizeof(struct nvml_answer), env);
	call_start(p, &calls->cuda, cuda_ask, sizeof(struct cuda_answer), env);
}

static void nvml_end(struct probe_ctx *p)
{
	struct live_calls *calls = p->calls;
	struct nvml_answer *an = arena_alloc(p->a, sizeof(*an));

	child_wait(&calls->nvml.child, an, sizeof(*an), &calls->nvml.result);
	if (calls->nvml.result.end == CHILD_ANSWERED && !nvml_answer_seal(an, calls->nvml.result.n)) {
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
	if (calls->cuda.result.end == CHILD_ANSWERED && !cuda_answer_seal(an, calls->cuda.result.n)) {
		calls->cuda.result.end = CHILD_EXITED;
		calls->cuda.result.detail = -1;
	}
	calls->cuda_answer = an;
	cuda_facts(p, calls);
}

/* On a healthy machine cuInit is not worth its 100 to 250 ms (H200): it is dropped, and the facts say that it was. */
static void cuda_end(struct probe_ctx *p)
{
	struct live_calls *calls = p->calls;
	long left = calls->started_ms + DRIVER_HEALTHY_MS - clock_ms();
	struct driver *d = &p->s->driver;
	const char *why;

	if (p->deep || driver_doubt(p, calls) || child_poll(&calls->cuda.child, left > 0 ? left : 0)) {
		cuda_collect(p);
		return;
	}
	child_drop(&calls->cuda.child);
	why = arena_printf(p->a,
			   _("still starting after %ld ms while NVML, modules and nodes are healthy; "
			     "`check --deep` waits for it"),
			   clock_ms() - calls->started_ms);
	d->cuda_init = (struct fact){ .state = FACT_NOT_ASKED, .source = "cuInit", .why = why };
	d->cuda_devices = (struct fact){ .state = FACT_NOT_ASKED, .source = "cuDeviceGetCount", .why = why };
	p->s->parts.cuda = (struct fact){ .state = FACT_NOT_ASKED, .source = "cuInit", .why = why };
}

static void end(struct probe_ctx *p)
{
	if (p->calls) {
		nvml_end(p);
		cuda_end(p);
	} else if (p->facts) {
		driver_facts_file(p);
	}
}

const struct probe probe_driver_start = { .name = "driver-start", .run = start };
const struct probe probe_driver_end = { .name = "driver-end", .run = end };
