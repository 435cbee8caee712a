/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's side: rung after rung, a note before and after each. Ends at the first that breaks.
 */
#include "prove/climb.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "prove/worker.h"

static void send(const struct worker_note *n)
{
	const char *at = (const char *)n;
	size_t left = sizeof(*n);
	ssize_t r;

	while (left) {
		r = write(CHILD_FD, at, left);
		if (r < 0 && errno == EINTR)
			continue;
		/* Nobody listens any more. */
		if (r <= 0)
			_exit(1);
		at += r;
		left -= (size_t)r;
	}
}

/* A call between two rungs: noted, for it may hang, but its code is nobody's result. */
#define PLAIN(l, fn, ...) (lab_calls((l), CU_CALL_##fn), (l)->cu.fn(__VA_ARGS__))

static void uuid_text(struct lab *l, CUdevice dev, struct proof_gpu *g)
{
	CUuuid u = { { 0 } };
	unsigned char b[16];
	CUresult code;
	size_t i;
	int n;

	if (l->cu.cuDeviceGetUuid_v2)
		code = PLAIN(l, cuDeviceGetUuid_v2, &u, dev);
	else if (l->cu.cuDeviceGetUuid)
		code = PLAIN(l, cuDeviceGetUuid, &u, dev);
	else
		return;
	if (code)
		return;
	memcpy(b, u.bytes, sizeof(b));
	n = snprintf(g->uuid, sizeof(g->uuid), "%s-", strstr(g->name, " MIG ") ? "MIG" : "GPU");
	for (i = 0; i < sizeof(b); i++)
		n += snprintf(g->uuid + n, sizeof(g->uuid) - (size_t)n, "%s%02x",
			      i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", b[i]);
}

/* Which GPUs there are; what goes wrong with one is for its own worker to say. */
static void tell_gpus(struct lab *l)
{
	struct worker_note n = { .magic = WORKER_MAGIC, .kind = NOTE_GPU };
	int count = 0, i, major, minor;
	CUdevice dev;

	if (PLAIN(l, cuDeviceGetCount, &count) || count > WORKER_GPUS_MAX)
		return;
	n.n = count;
	for (i = 0; i < count; i++) {
		n.rung = i;
		n.gpu = (struct proof_gpu){ .known = true };
		major = minor = 0;
		if (!PLAIN(l, cuDeviceGet, &dev, i)) {
			PLAIN(l, cuDeviceGetName, n.gpu.name, (int)sizeof(n.gpu.name), dev);
			n.gpu.name[sizeof(n.gpu.name) - 1] = '\0';
			PLAIN(l, cuDeviceGetAttribute, &major,
			      CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, dev);
			PLAIN(l, cuDeviceGetAttribute, &minor,
			      CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, dev);
			if (l->cu.cuDeviceGetPCIBusId)
				PLAIN(l, cuDeviceGetPCIBusId, n.gpu.address,
				      (int)sizeof(n.gpu.address), dev);
			uuid_text(l, dev, &n.gpu);
		}
		/* Whether it makes sense is a rung's question. */
		if (major < 0 || major > 999 || minor < 0 || minor > 9)
			major = minor = 0;
		n.gpu.cc = major * 10 + minor;
		send(&n);
	}
}

static bool wanted(const struct lab *l, const struct rung *r, struct proof_outcome *o)
{
	o->result = PROOF_SKIP;
	if (r->when == RUNG_FULL && !l->opt->full)
		snprintf(o->why, sizeof(o->why), "%s", _("only with --full"));
	else if (r->when == RUNG_BENCH && !l->opt->bench)
		snprintf(o->why, sizeof(o->why), "%s", _("only with --bench"));
	else if (r->first_cc && l->cc < r->first_cc)
		snprintf(o->why, sizeof(o->why), _("from compute capability %d.%d on"),
			 r->first_cc / 10, r->first_cc % 10);
	else if (r->only_cc && l->cc != r->only_cc)
		snprintf(o->why, sizeof(o->why), _("for compute capability %d.%d alone"),
			 r->only_cc / 10, r->only_cc % 10);
	else
		o->result = PROOF_PASS;
	return o->result == PROOF_PASS;
}

/* One rung. */
static enum proof_result step(struct lab *l, int index)
{
	const struct rung *r = ladder[index];
	struct worker_note n = { .magic = WORKER_MAGIC, .kind = NOTE_BEGIN, .rung = index };
	double start;
	int code;

	if (!wanted(l, r, &n.o)) {
		n.kind = NOTE_END;
		send(&n);
		return n.o.result;
	}
	send(&n);
	n.kind = NOTE_END;
	l->o = &n.o;
	l->a = arena_new(NULL);
	lab_doing(l, "");
	start = lab_now_ms();
	code = r->run(l);
	n.o.ms = lab_now_ms() - start;
	arena_free(l->a);
	l->o = NULL;
	/* A call whose code was expected left its traces. */
	if (code == 0 && n.o.result != PROOF_PASS) {
		n.o.result = PROOF_PASS;
		n.o.code = 0;
		n.o.why[0] = n.o.call[0] = '\0';
	} else if (code && n.o.result == PROOF_PASS) {
		n.o.result = PROOF_FAIL;
	}
	send(&n);
	return n.o.result;
}

static bool ends_ladder(const struct lab *l, const struct rung *r, enum proof_result result)
{
	return (result == PROOF_FAIL && (r->base || !l->opt->keep_going)) ||
	       (result == PROOF_SKIP && r->base);
}

/* Waits until no other GPU measures. The keeper takes the turn from a worker that ends or hangs. */
static void take_turn(const struct worker *w)
{
	struct worker_note n = { .magic = WORKER_MAGIC, .kind = NOTE_WAIT };
	struct timespec pause = { .tv_nsec = 2000000 };
	struct lab_turn *t = w->opt->turn;
	int32_t nobody = 0;

	if (!t || t->holder == w->gpu + 1)
		return;
	send(&n);
	while (!atomic_compare_exchange_strong(&t->holder, &nobody, w->gpu + 1)) {
		nobody = 0;
		nanosleep(&pause, NULL);
	}
}

static void skip_rest(int from, int broken, enum proof_result how)
{
	struct worker_note n = { .magic = WORKER_MAGIC, .kind = NOTE_END };

	for (n.rung = from; ladder[n.rung]; n.rung++) {
		n.o.result = PROOF_SKIP;
		snprintf(n.o.why, sizeof(n.o.why),
			 how == PROOF_SKIP ? _("%s was skipped") : _("%s failed before"),
			 ladder[broken]->name);
		send(&n);
	}
}

long climb(void *ctx, void *answer, size_t size)
{
	const struct worker *w = ctx;
	struct lab l = { .opt = w->opt, .progress = w->progress, .ordinal = w->ordinal };
	struct worker_note n = { .magic = WORKER_MAGIC, .kind = NOTE_DONE };
	enum proof_result result;
	int i;

	(void)answer;
	(void)size;
	l.random = w->opt->seed + 0x100000001ULL * (unsigned)w->gpu;
	for (i = 0; ladder[i]; i++) {
		if (i < w->from && !ladder[i]->base)
			continue;
		if (w->opt->bench && ladder[i]->when == RUNG_BENCH)
			take_turn(w);
		else
			give_turn(w->opt->turn, w->gpu);
		result = step(&l, i);
		if (ends_ladder(&l, ladder[i], result)) {
			skip_rest(i + 1, i, result);
			break;
		}
		if (ladder[i] == &rung_init && w->scout && !w->from) {
			n.kind = NOTE_DRIVER;
			n.n = l.version;
			snprintf(n.o.path, sizeof(n.o.path), "%.*s", PROOF_TEXT - 1,
				 l.library.path);
			send(&n);
			tell_gpus(&l);
		}
	}
	n.kind = NOTE_DONE;
	n.n = 0;
	send(&n);
	return 0;
}
