/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper: one worker a GPU, all at once, each seeing its own GPU alone, since start-up takes
 * longer the more of them are seen. The first one says which there are. A signal ends them all.
 */
#include "prove/prove.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "prove/gauge.h"
#include "prove/signals.h"
#include "prove/target.h"
#include "prove/worker.h"
#include "sys/sysroot.h"

/* For processes that are done to give back their memory; what takes longer is left to itself. */
enum { GRACE_MS = 3000 };

struct keeper {
	struct arena *a;
	const struct prove_options *opt;
	const struct prove_watch *watch;
	struct proof *p;
	struct worker *workers[WORKER_GPUS_MAX];
	size_t n;
	bool direct; /* each worker sees its own GPU alone from the start */
	struct targets targets; /* n 0: GPUs as libcuda counts them */
};

static bool begins(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

const char *const *prove_environment(struct arena *a, const char *visible)
{
	static const char *const dropped[] = { "LD_PRELOAD=", "LD_AUDIT=", "CUDA_CACHE_DISABLE=" };
	const char **env;
	bool order = false, drop;
	size_t n = 0, kept = 0, i, k;

	while (environ && environ[n])
		n++;
	env = arena_calloc(a, n + 4, sizeof(*env));
	for (i = 0; i < n; i++) {
		drop = visible && begins(environ[i], "CUDA_VISIBLE_DEVICES=");
		for (k = 0; !drop && k < ARRAY_LEN(dropped); k++)
			drop = begins(environ[i], dropped[k]);
		order = order || begins(environ[i], "CUDA_DEVICE_ORDER=");
		if (!drop)
			env[kept++] = environ[i];
	}
	/* As nvidia-smi counts; and every PTX is compiled, nothing is written into the home. */
	if (!order)
		env[kept++] = "CUDA_DEVICE_ORDER=PCI_BUS_ID";
	env[kept++] = "CUDA_CACHE_DISABLE=1";
	if (visible)
		env[kept++] = arena_printf(a, "CUDA_VISIBLE_DEVICES=%s", visible);
	return env;
}

const char *prove_visible(const struct proof *p, int gpu)
{
	if (gpu < 0 || (size_t)gpu >= p->n_gpus || !p->gpus[gpu].uuid[0])
		return NULL;
	return p->gpus[gpu].uuid;
}

/* A rung of the ladder that ends all that rests on its GPU? */
static bool is_broken(const struct proof_test *t)
{
	size_t i;

	for (i = 0; ladder[i]; i++)
		if (strcmp(ladder[i]->name, t->name) == 0)
			return t->o.result == PROOF_FAIL || t->o.result == PROOF_HUNG ||
			       t->o.result == PROOF_CRASHED;
	return false;
}

const char *prove_obstacle(struct arena *a, const struct proof *p, int gpu)
{
	bool computes = false;
	size_t i;

	if (p->interrupted)
		return _("interrupted");
	for (i = 0; i < p->n; i++) {
		const struct proof_test *t = &p->tests[i];

		if (gpu >= 0 && t->gpu != gpu)
			continue;
		if (is_broken(t))
			return arena_printf(a, _("%s of GPU %d is broken"), t->name, t->gpu);
		computes = computes ||
			   (t->o.result == PROOF_PASS && strcmp(t->name, rung_jit.name) == 0);
	}
	return computes ? NULL : _("no kernel ran");
}

int prove_sound(struct arena *a, const struct proof *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (p->tests[i].gpu >= 0 && !prove_obstacle(a, p, p->tests[i].gpu))
			return p->tests[i].gpu;
	return -1;
}

void prove_skip(struct arena *a, struct proof *p, const char *name, int gpu, const char *why)
{
	struct proof_test *t = ARENA_APPEND(a, p->tests, p->n);

	*t = (struct proof_test){ .name = name, .gpu = gpu };
	t->o.result = PROOF_SKIP;
	snprintf(t->o.why, sizeof(t->o.why), "%s", why);
}

/* visible: of this GPU alone, NULL: all are seen, and this one says which there are. */
static void add_worker(struct keeper *k, int gpu, const char *visible, bool scout)
{
	struct worker *w = arena_alloc(k->a, sizeof(*w));

	w->a = k->a;
	w->opt = k->opt;
	w->gpu = gpu;
	w->ordinal = visible ? 0 : gpu;
	w->scout = scout;
	w->env = prove_environment(k->a, visible);
	k->workers[k->n++] = w;
	worker_start(w);
}

/* GPUs whose nodes are there, as the driver numbers them from 0 on; 0: not known. */
static int count_nodes(struct arena *a)
{
	struct sysroot *root;
	struct dirlist list;
	struct err e;
	uint64_t number;
	size_t i;
	int n = 0;

	if (sysroot_open(a, "/", &root, &e) || sysroot_list(root, a, "/dev", 16384, &list))
		return 0;
	for (i = 0; i < list.n; i++)
		if (begins(list.names[i], "nvidia") &&
		    view_u64(view_of(list.names[i] + strlen("nvidia")), 10, &number))
			n++;
	return n;
}

/*
 * With MIG each device has a worker, under the number that nvidia-smi -L lists it at. `scout`: the
 * one that came upon it, or NULL; uuid: what it runs on, which is where libcuda begins to count.
 */
static void start_targets(struct keeper *k, struct worker *scout, const char *uuid)
{
	struct targets *t = &k->targets;
	int only = k->opt->gpu;
	uint32_t i;

	k->direct = true;
	k->p->n_gpus = t->n;
	k->p->gpus = arena_calloc(k->a, t->n, sizeof(*k->p->gpus));
	if (scout && (only >= 0 || strcmp(t->uuid[0], uuid) != 0)) {
		/* It climbs what has another number: its rows are nobody's. */
		worker_stop(scout, "");
		scout->gpu = -1;
		scout = NULL;
	}
	for (i = scout ? 1 : 0; i < t->n && k->n < WORKER_GPUS_MAX; i++)
		if (only < 0 || (int)i == only)
			add_worker(k, (int)i, t->uuid[i], true);
}

/*
 * With the GPUs' number known and nothing hidden by the user, each worker is started at once with
 * its own one visible; else the first one sees all and says which there are.
 */
static void start(struct keeper *k)
{
	const char *chosen = getenv("CUDA_VISIBLE_DEVICES"), *order = getenv("CUDA_DEVICE_ORDER");
	int n = chosen || order ? 0 : count_nodes(k->a), i, only = k->opt->gpu;

	if (!chosen && !order && target_hint(k->a) &&
	    target_list(&k->targets, k->opt->signals) &&
	    (only < 0 || only < (int)k->targets.n)) {
		start_targets(k, NULL, NULL);
		return;
	}
	if (n > WORKER_GPUS_MAX || (only >= 0 && only >= n))
		n = 0;
	if (n < 2) {
		add_worker(k, only >= 0 ? only : 0, NULL, true);
		return;
	}
	k->direct = true;
	k->p->n_gpus = (size_t)n;
	k->p->gpus = arena_calloc(k->a, (size_t)n, sizeof(*k->p->gpus));
	for (i = 0; i < n; i++)
		if (only < 0 || i == only)
			add_worker(k, i, arena_printf(k->a, "%d", i), true);
}

static void take_gpu(struct keeper *k, struct worker *w, const struct worker_note *n)
{
	struct proof *p = k->p;

	if (!k->direct && !k->targets.n && strstr(n->gpu.name, " MIG ") &&
	    !getenv("CUDA_VISIBLE_DEVICES") && target_list(&k->targets, k->opt->signals) &&
	    k->opt->gpu < (int)k->targets.n)
		start_targets(k, w, n->gpu.uuid);
	if (w->gpu < 0)
		return;
	if (k->direct) {
		if (n->rung == 0)
			p->gpus[w->gpu] = n->gpu;
		if (n->rung == 0 && k->targets.n)
			snprintf(p->gpus[w->gpu].uuid, sizeof(p->gpus[0].uuid), "%s",
				 k->targets.uuid[w->gpu]);
		return;
	}
	if (!p->gpus) {
		p->gpus = arena_calloc(k->a, (size_t)n->n, sizeof(*p->gpus));
		p->n_gpus = (size_t)n->n;
	}
	if ((size_t)n->rung >= p->n_gpus || p->gpus[n->rung].known)
		return;
	p->gpus[n->rung] = n->gpu;
	if (n->rung == k->workers[0]->gpu || (k->opt->gpu >= 0 && n->rung != k->opt->gpu))
		return;
	if (k->n < WORKER_GPUS_MAX && n->gpu.uuid[0])
		add_worker(k, n->rung, n->gpu.uuid, false);
}

static void take_notes(struct keeper *k, struct worker *w)
{
	struct worker_note n;

	while (worker_take(w, &n)) {
		if (n.kind == NOTE_BEGIN && k->watch && k->watch->doing)
			k->watch->doing(k->watch->ctx, w->gpu, ladder[n.rung]->name);
		if (n.kind == NOTE_DRIVER && w->scout) {
			k->p->cuda = n.n;
			k->p->driver = arena_strdup(k->a, n.o.path);
		}
		if (n.kind == NOTE_GPU && w->scout)
			take_gpu(k, w, &n);
	}
	if (!w->done && worker_left(w) == 0)
		worker_hung(w);
}

static void take_signal(struct keeper *k)
{
	size_t i;

	if (k->p->interrupted || !signals_caught(k->opt->signals))
		return;
	k->p->interrupted = true;
	for (i = 0; i < k->n; i++)
		if (!k->workers[i]->done)
			worker_stop(k->workers[i], _("interrupted"));
}

/* Waits for the next thing; false when all is over. */
static bool wait_for_more(struct keeper *k)
{
	struct pollfd p[WORKER_GPUS_MAX + 1];
	long left = 10000, l;
	size_t i, n = 0;
	bool more = false;

	for (i = 0; i < k->n; i++) {
		struct worker *w = k->workers[i];

		if (w->done) {
			l = w->done_ms + GRACE_MS - clock_ms();
			if (worker_reap(w) || l <= 0)
				continue;
			more = true;
			left = left < 2 ? left : 2;
			continue;
		}
		more = true;
		l = worker_left(w);
		left = l < left ? l : left;
		p[n++] = (struct pollfd){ .fd = w->child.fd, .events = POLLIN };
	}
	if (!more)
		return false;
	if (k->opt->signals && k->opt->signals->fd >= 0)
		p[n++] = (struct pollfd){ .fd = k->opt->signals->fd, .events = POLLIN };
	poll(p, n, (int)left);
	return true;
}

static void collect(struct keeper *k)
{
	struct proof *p = k->p;
	size_t i, r;
	int gpu;

	for (gpu = 0; gpu < 4096; gpu++) {
		for (i = 0; i < k->n; i++) {
			if (k->workers[i]->gpu != gpu)
				continue;
			for (r = 0; ladder[r]; r++)
				*ARENA_APPEND(k->a, p->tests, p->n) = k->workers[i]->tests[r];
		}
	}
}

void prove_run(struct arena *a, const struct prove_options *o, const struct prove_watch *watch,
	       struct proof *ret)
{
	struct keeper k = { .a = a, .opt = o, .watch = watch, .p = ret };
	struct prove_options own = *o;
	struct lab_turn *turn = mmap(NULL, sizeof(*turn), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	long began = clock_ms();
	size_t i;

	if (!own.library)
		own.library = "libcuda.so.1";
	if (!own.seed && getrandom(&own.seed, sizeof(own.seed), 0) != sizeof(own.seed))
		own.seed = (uint64_t)began * 2654435761U + (uint64_t)getpid();
	own.busy = own.bench && gauge_busy(own.signals);
	k.opt = &own;
	own.turn = turn == MAP_FAILED ? NULL : turn;
	start(&k);
	take_signal(&k);
	while (wait_for_more(&k)) {
		take_signal(&k);
		for (i = 0; i < k.n; i++)
			if (!k.workers[i]->done)
				take_notes(&k, k.workers[i]);
	}
	if (own.turn)
		munmap(own.turn, sizeof(*own.turn));
	collect(&k);
	sibling_judge(&own, ret);
	ret->ms = clock_ms() - began;
}
