/* SPDX-License-Identifier: Apache-2.0 */
/* --require K>=V: what the user asked to hold. A key is a row: the fact, how it compares, and the
 * finding's name. */
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/rules.h"

enum compare { COMPARE_VERSION, COMPARE_TEXT };

struct requirement {
	const struct require *r;
	const char *key, *op, *value;
	const char *text; /* "cc>=8.0" */
};

static bool holds_order(const char *op, int order)
{
	if (strcmp(op, ">=") == 0)
		return order >= 0;
	if (strcmp(op, "<=") == 0)
		return order <= 0;
	if (strcmp(op, ">") == 0)
		return order > 0;
	if (strcmp(op, "<") == 0)
		return order < 0;
	return strcmp(op, "!=") == 0 ? order != 0 : order == 0;
}

/* Equality of versions goes as far as the wanted one is written: 12 is 12.4, and 2.6
 * is 2.6.0+cu124. */
static int version_order(const char *op, const char *seen, const char *wanted)
{
	struct version s, w;
	unsigned i;

	if (!version_prefix(view_of(seen), &s) || !version_prefix(view_of(wanted), &w))
		return strcmp(seen, wanted);
	if (strchr(wanted, '+') && strchr("=!", *op))
		return strcmp(seen, wanted);
	if (strchr("=!", *op))
		for (i = w.n; i < VERSION_PARTS; i++)
			s.part[i] = 0;
	return version_cmp(&s, &w);
}

static bool holds(const struct requirement *q, const char *seen, enum compare how)
{
	if (how == COMPARE_TEXT)
		return holds_order(q->op, strcasecmp(seen, q->value));
	return holds_order(q->op, version_order(q->op, seen, q->value));
}

static struct finding *unmet(struct judge *j, const struct requirement *q, enum finding_id id,
			     const char *subject, const struct fact *seen)
{
	struct finding *f = finding_add(j, id, subject);

	f->severity = SEVERITY_ERROR;
	if (fact_known(seen))
		finding_message(j, f, _("%s is required, and %s is %s."), q->text, q->key,
				seen->value);
	else
		finding_message(j, f, _("%s is required, and %s is not there."), q->text, q->key);
	finding_fact(j, f, q->key, seen, arena_printf(j->a, "%s %s", q->op, q->value));
	return f;
}

/* Nobody knows the fact: the requirement is neither met nor failed. */
static void undecided(struct judge *j, const struct requirement *q, const char *ask)
{
	struct finding *f = finding_add(j, FINDING_INSUFFICIENT_EVIDENCE, q->text);

	f->severity = SEVERITY_INFO;
	finding_message(j, f, _("%s is required, and %s is not known here."), q->text, q->key);
	finding_evidence(j, f, q->key, _("not known"), arena_printf(j->a, "%s %s", q->op, q->value),
			 "--require");
	judge_ask(j, "%s", ask);
}

/* -------- GPUs */

/* The least and the most of the boards that a name stands for, of those whose memory is listed. */
static bool memory_listed(struct judge *j, const struct gpu *g, struct fact *ret, double gib[2])
{
	const struct gpu_row *row = look_gpu_row(j, g);
	struct gpu_match m = { .rows = &row, .n = row != NULL };
	size_t i, n = 0;

	if (!fact_known(&g->pci_id) && fact_known(&g->name))
		compat_gpu_find(j->c, g->name.value, &m);
	for (i = 0; i < m.n; i++) {
		double x = m.rows[i]->memory_gib;

		if (x <= 0)
			continue;
		gib[0] = !n || x < gib[0] ? x : gib[0];
		gib[1] = !n || x > gib[1] ? x : gib[1];
		n++;
	}
	if (n)
		fact_set(ret, gib[0] == gib[1]
				      ? arena_printf(j->a, "%g GiB", gib[0])
				      : arena_printf(j->a, _("%g to %g GiB"), gib[0], gib[1]),
			 m.rows[0]->source);
	return n > 0;
}

static bool size_holds(const char *op, uint64_t mib, uint64_t wanted)
{
	/* A "24 GB" card shows 24564 MiB or less: a sixteenth is the driver's. */
	return holds_order(op, mib >= wanted		      ? mib > wanted
			       : mib >= wanted - wanted / 16 ? 0
							      : -1);
}

/* 1: holds, 0: does not, -1: not known. What the driver says goes before the matrix. */
static int memory_holds(struct judge *j, const char *op, size_t gpu, uint64_t wanted,
			struct fact *ret)
{
	const struct gpu *g = &j->s->gpus[gpu];
	double gib[2] = { 0, 0 };
	int64_t mib;
	bool least, most;

	if (fact_to_int(&g->memory_mib, &mib) && mib > 0) {
		*ret = g->memory_mib;
		return size_holds(op, (uint64_t)mib, wanted);
	}
	if (!memory_listed(j, g, ret, gib))
		return -1;
	least = size_holds(op, (uint64_t)(gib[0] * 1024), wanted);
	most = size_holds(op, (uint64_t)(gib[1] * 1024), wanted);
	return least == most ? least : -1;
}

static void require_vram(struct judge *j, const struct requirement *q)
{
	uint64_t wanted;
	struct fact seen;
	size_t i, used = 0;
	int holds;

	if (!view_mib(view_of(q->value), &wanted)) {
		undecided(j, q, _("a size such as --require vram>=24GiB"));
		return;
	}
	for (i = 0; i < j->s->n_gpus; i++) {
		if (!look_gpu_used(j->s, i))
			continue;
		used++;
		seen = (struct fact){ 0 };
		holds = memory_holds(j, q->op, i, wanted, &seen);
		if (holds < 0)
			undecided(j, q, "nvidia-smi --query-gpu=name,memory.total --format=csv");
		if (holds)
			continue;
		finding_remedy(
			j, unmet(j, q, FINDING_GPU_FEATURE_UNSUPPORTED, gpu_subject(j, i), &seen),
			"%s", _("Use a GPU with that much memory."));
	}
	if (!used && !judge_has(j, FINDING_GPU_NOT_FOUND))
		undecided(j, q, "nvidia-smi --query-gpu=name,memory.total --format=csv");
}

static bool same_board(const struct gpu_row *a, const struct gpu_row *b)
{
	if (a->id && b->id && strcmp(a->id, b->id) != 0)
		return false;
	return (a->id && b->id) || (a->name && b->name && strcasecmp(a->name, b->name) == 0);
}

/*
 * A name stands for boards ("H100" for eight of them). 1: all that this GPU may be are among those
 * that are wanted, 0: none is, -1: some are.
 */
static int is_gpu(struct judge *j, const struct gpu *g, const char *wanted)
{
	const struct gpu_row *row = look_gpu_row(j, g);
	struct gpu_match w, m = { .rows = &row, .n = row != NULL };
	size_t i, k, among = 0;

	if (strcasecmp(g->name.value, wanted) == 0)
		return 1;
	compat_gpu_find(j->c, wanted, &w);
	if (!fact_known(&g->pci_id))
		compat_gpu_find(j->c, g->name.value, &m);
	for (i = 0; i < m.n; i++) {
		for (k = 0; k < w.n && !same_board(m.rows[i], w.rows[k]); k++)
			;
		among += k < w.n;
	}
	return among && among < m.n ? -1 : among > 0;
}

/* As is_gpu, for what is asked for. */
static int gpu_holds(struct judge *j, const struct requirement *q, const struct gpu *g)
{
	int is;

	if (strcmp(q->key, "cc") == 0)
		return holds(q, g->compute_capability.value, COMPARE_VERSION);
	if (!strchr("=!", *q->op))
		return holds(q, g->name.value, COMPARE_TEXT);
	is = is_gpu(j, g, q->value);
	return *q->op == '!' && is >= 0 ? !is : is;
}

static void require_gpu(struct judge *j, const struct requirement *q)
{
	bool cc = strcmp(q->key, "cc") == 0;
	size_t i, used = 0;
	int holds;

	for (i = 0; i < j->s->n_gpus; i++) {
		const struct gpu *g = &j->s->gpus[i];
		const struct fact *seen = cc ? &g->compute_capability : &g->name;

		if (!look_gpu_used(j->s, i))
			continue;
		used++;
		holds = fact_known(seen) ? gpu_holds(j, q, g) : -1;
		if (holds < 0)
			undecided(j, q, "lspci -nn -d 10de:");
		if (holds)
			continue;
		finding_remedy(
			j, unmet(j, q, FINDING_GPU_FEATURE_UNSUPPORTED, gpu_subject(j, i), seen),
			"%s",
			cc ? _("Use a GPU of that compute capability, or hide this one with "
			       "CUDA_VISIBLE_DEVICES.")
			   : _("Use the GPU that is required."));
	}
	if (!used && !judge_has(j, FINDING_GPU_NOT_FOUND))
		undecided(j, q, "lspci -nn -d 10de:");
}

/* -------- one fact */

static void require_driver(struct judge *j, const struct requirement *q)
{
	const struct fact *v =
		strcmp(q->key, "driver") == 0 ? look_cuda_driver(j->s) : look_flavor(j->s);
	const struct fact *driver = look_driver(j->s);
	bool version = strcmp(q->key, "driver") == 0;
	struct finding *f;

	if (!v) {
		undecided(j, q, "nvidia-smi; cat /proc/driver/nvidia/version");
		return;
	}
	if (holds(q, v->value, version ? COMPARE_VERSION : COMPARE_TEXT))
		return;
	f = unmet(j, q, version ? FINDING_DRIVER_TOO_OLD : FINDING_OPEN_MODULE_REQUIRED, q->text,
		  v);
	if (version && (*q->op == '<' || *q->op == '!'))
		finding_remedy(j, f, _("Install a driver that fulfils %s."), q->text)->needs_root =
			true;
	else if (version)
		remedy_driver(j, f, arena_printf(j->a, "%u", look_branch(q->value)),
			      remedy_driver_kind(j));
	else
		remedy_driver(j, f,
			      driver ? arena_printf(j->a, "%u", look_branch(driver->value)) : NULL,
			      strcmp(q->value, "open") == 0 ? DRIVER_OPEN : DRIVER_PROPRIETARY);
}

static void require_toolkit(struct judge *j, const struct requirement *q)
{
	const struct snapshot *s = j->s;
	struct fact none = { 0 };
	size_t i;

	for (i = 0; i < s->n_toolkits; i++)
		if (fact_known(&s->toolkits[i].version) &&
		    holds(q, s->toolkits[i].version.value, COMPARE_VERSION))
			return;
	if (!s->n_toolkits && !fact_yes(&s->parts.toolkit)) {
		undecided(j, q, "nvcc --version");
		return;
	}
	fact_absent(&none, s->parts.toolkit.source);
	finding_remedy(j, unmet(j, q, FINDING_TOOLKIT_NOT_INSTALLED, q->text,
				s->n_toolkits ? &s->toolkits[0].version : &none),
		       _("Install the CUDA toolkit that is required (%s) from "
			 "https://developer.nvidia.com/cuda-toolkit-archive."), q->text);
}

static void require_gcc(struct judge *j, const struct requirement *q, const struct fact *gcc)
{
	enum finding_id id = FINDING_JIT_BUILD_PREREQ_MISSING;

	if (fact_known(gcc) && holds(q, gcc->value, COMPARE_VERSION))
		return;
	if (fact_known(gcc) && *q->op == '<')
		id = FINDING_HOST_COMPILER_TOO_NEW;
	finding_remedy(j, unmet(j, q, id, q->text, gcc),
		       _("Install a gcc that fulfils %s, and point CC and CXX at it."), q->text);
}

static void require_host(struct judge *j, const struct requirement *q)
{
	const struct host *h = &j->s->host;
	const struct fact *v = strcmp(q->key, "glibc") == 0 ? &h->glibc
			       : strcmp(q->key, "os") == 0  ? &h->system
			       : strcmp(q->key, "arch") == 0 ? &h->arch
			       : strcmp(q->key, "gcc") == 0  ? &h->gcc
							     : &h->os_id;
	bool glibc = v == &h->glibc, gcc = v == &h->gcc;

	if (!fact_known(v) && !(gcc && v->state == FACT_ABSENT)) {
		undecided(j, q,
			  glibc ? "ldd --version"
			  : gcc ? "gcc -dumpfullversion"
				: "uname -srm; cat /etc/os-release");
		return;
	}
	if (gcc) {
		require_gcc(j, q, v);
		return;
	}
	if (holds(q, v->value, glibc ? COMPARE_VERSION : COMPARE_TEXT) ||
	    (v == &h->os_id && fact_known(&h->os_version) &&
	     holds(q, arena_printf(j->a, "%s%s", v->value, h->os_version.value), COMPARE_TEXT)))
		return;
	finding_remedy(
		j,
		unmet(j, q, glibc ? FINDING_GLIBC_TOO_OLD : FINDING_CPU_ONLY_PLATFORM, q->text, v),
		"%s", _("Use a system, or a container image, that fulfils the requirement."));
}

/* -------- packages */

static const struct fact *python_fact(const struct python *p, const char *key)
{
	const struct package *pkg;

	if (strcmp(key, "python") == 0)
		return &p->version;
	if (strcmp(key, "torch") == 0)
		return &p->torch.version;
	if (strcmp(key, "torchvision") == 0)
		return &p->torch.torchvision;
	if (strcmp(key, "cudnn") == 0)
		return &p->torch.cudnn.version;
	pkg = python_package(p, key);
	return pkg ? &pkg->version : NULL;
}

static void require_python(struct judge *j, const struct requirement *q)
{
	const struct python *p = look_deciding(j->s);
	const struct fact *v = p ? python_fact(p, q->key) : NULL;
	struct fact none = { 0 };
	enum finding_id id = strcmp(q->key, "python") == 0  ? FINDING_PYTHON_NO_WHEEL
			     : strcmp(q->key, "cudnn") == 0 ? FINDING_CUDNN_VERSION_MISMATCH
							    : FINDING_CONFLICTING_PINS;
	struct finding *f;
	struct remedy *r;

	if (!p || (v && v->state == FACT_NOT_ASKED) || (!v && !p->n_packages)) {
		undecided(j, q, "python -m pip list");
		return;
	}
	if (v && fact_known(v) && holds(q, v->value, COMPARE_VERSION))
		return;
	fact_absent(&none, look_prefix(p));
	f = unmet(j, q, id, look_prefix(p), v ? v : &none);
	r = finding_remedy(j, f, _("Make an environment that fulfils %s."), q->text);
	if (id == FINDING_CONFLICTING_PINS)
		remedy_command(j, r, "cuvet plan %s", shell_word(j->a, q->text));
}

static const struct {
	const char *key;
	void (*run)(struct judge *j, const struct requirement *q);
} keys[] = {
	{ .key = "cc", .run = require_gpu },
	{ .key = "gpu", .run = require_gpu },
	{ .key = "vram", .run = require_vram },
	{ .key = "driver", .run = require_driver },
	{ .key = "driver-flavor", .run = require_driver },
	{ .key = "cuda", .run = require_toolkit },
	{ .key = "glibc", .run = require_host },
	{ .key = "os", .run = require_host },
	{ .key = "arch", .run = require_host },
	{ .key = "distro", .run = require_host },
	{ .key = "gcc", .run = require_host },
	{ .key = "python", .run = require_python },
	{ .key = "torch", .run = require_python },
	{ .key = "torchvision", .run = require_python },
	{ .key = "torchaudio", .run = require_python },
	{ .key = "tensorflow", .run = require_python },
	{ .key = "jax", .run = require_python },
	{ .key = "cudnn", .run = require_python },
};

static void run_require(struct judge *j)
{
	size_t i, k;

	for (i = 0; i < j->s->n_require; i++) {
		const struct require *r = &j->s->require[i];
		struct requirement q = { .r = r,
					 .key = fact_value(&r->key, ""),
					 .op = fact_value(&r->op, ">="),
					 .value = fact_value(&r->value, "") };

		q.text = arena_printf(j->a, "%s%s%s", q.key, q.op, q.value);
		for (k = 0; k < ARRAY_LEN(keys); k++)
			if (strcmp(keys[k].key, q.key) == 0)
				break;
		if (k < ARRAY_LEN(keys))
			keys[k].run(j, &q);
		else
			undecided(j, &q, arena_printf(j->a, "%s --version", q.key));
	}
}

const struct rule rule_require = {
	.name = "require",
	.layer = LAYER_WORKLOAD,
	.run = run_require,
};
