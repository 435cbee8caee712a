/* SPDX-License-Identifier: Apache-2.0 */
/* From a snapshot to what a plan has to fit: GPUs, driver, Python, C library, platform. */
#include <string.h>

#include "base/arena.h"
#include "plan/matrix.h"
#include "rule/look.h"

struct reading {
	struct arena *a;
	struct matrix *m;
	struct judge j; /* for the questions of rule/look.h */
	struct plan_target *t;
	struct err *err;
};

static void note(struct reading *r, const char *field, const char *value, const char *source)
{
	*ARENA_APPEND(r->a, r->t->reads, r->t->n_reads) = (struct plan_read){
		.field = field, .value = value, .source = source ? source : ""
	};
}

static void note_fact(struct reading *r, const char *field, const struct fact *f)
{
	note(r, field, f->value, f->source);
}

static void read_platform(struct reading *r)
{
	const struct host *h = &r->j.s->host;
	struct plan_target *t = r->t;

	t->platform = look_platform(r->j.s);
	t->windows = look_is_windows(r->j.s);
	t->musl = fact_is(&h->libc, "musl");
	if (fact_known(&h->system) || fact_known(&h->arch))
		note(r, "platform", t->platform,
		     fact_known(&h->system) ? h->system.source : h->arch.source);
	else
		note(r, "platform", t->platform, _("not given: the most common one"));
	if (strncmp(t->platform, "linux", 5) != 0)
		return;
	t->glibc = fact_value(&h->glibc, NULL);
	if (t->glibc)
		note_fact(r, "glibc", &h->glibc);
}

/* On Windows there is but one flavour; Tegra has modules of its own. */
static void read_flavor(struct reading *r)
{
	const struct fact *f = look_flavor(r->j.s);

	if (!f || r->t->windows || look_is_tegra(&r->j) ||
	    strncmp(r->t->platform, "linux", 5) != 0)
		return;
	r->t->flavor = f->value;
	note_fact(r, "driver-flavor", f);
}

static void read_driver(struct reading *r)
{
	const struct fact *f = look_cuda_driver(r->j.s);
	struct plan_target *t = r->t;
	const char *ceiling = fact_value(&r->j.s->driver.cuda_ceiling, NULL);

	if (!f) {
		note(r, "driver", NULL, _("not known: any driver"));
		return;
	}
	t->driver = f->value;
	t->driver_full =
		strchr(f->value, '.') ? f->value : arena_printf(r->a, "%s.999.99", f->value);
	t->driver_cuda = ceiling ? ceiling : compat_driver_cuda(r->m->c, f->value);
	note_fact(r, "driver", f);
}

/* As the rules judge it: rule/kernel.c. */
static void judge_driver(struct reading *r, const struct gpu *g, const struct gpu_row *row,
			 struct plan_gpu *ret)
{
	unsigned slack = r->t->windows ? 9 : 0,
		 branch = r->t->driver ? look_branch(r->t->driver) : 0;

	if (row->last_driver && look_branch(row->last_driver))
		ret->last_driver = row->last_driver;
	if (row->first_driver && look_branch(row->first_driver))
		ret->first_driver = row->first_driver;
	if (!branch || look_gpu_works(g))
		return;
	ret->dropped = ret->last_driver && branch > look_branch(ret->last_driver) + slack;
	if (!ret->first_driver)
		return;
	if (row->first_driver_exact && !r->t->windows)
		ret->predates = look_driver_below(r->t->driver, ret->first_driver);
	else
		ret->predates = branch < look_branch(ret->first_driver);
}

/* As rule/kernel.c; what a driver does not drive anyway gets another driver, and with it the right
 * flavour. */
static void judge_flavor(struct reading *r, const struct gpu *g, const struct gpu_row *row,
			 struct plan_gpu *ret)
{
	const struct plan_target *t = r->t;

	if (!row->open_module || t->windows || strncmp(t->platform, "linux", 5) != 0 ||
	    look_is_tegra(&r->j))
		return;
	if (strcmp(row->open_module, "required") == 0)
		ret->flavor = "open";
	else if (strcmp(row->open_module, "unsupported") == 0)
		ret->flavor = "proprietary";
	ret->other_flavor = t->flavor && ret->flavor && strcmp(t->flavor, ret->flavor) != 0 &&
			    !ret->dropped && !ret->predates && !look_gpu_works(g);
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static int add_gpu(struct reading *r, const struct plan_gpu *g)
{
	struct plan_target *t = r->t;
	size_t i;

	for (i = 0; i < t->n_gpus; i++) {
		if (t->gpus[i].cc == g->cc && same(t->gpus[i].name, g->name)) {
			t->gpus[i].count++;
			return 0;
		}
	}
	if (t->n_gpus == PLAN_GPUS)
		return err_set(r->err, ERR_UNSUPPORTED, _("more than %d different GPUs"),
			       PLAN_GPUS);
	t->gpus[t->n_gpus] = *g;
	t->gpus[t->n_gpus++].count = 1;
	return 0;
}

/* A name that stands for several chips: all of them have to be served. */
static int add_ambiguous(struct reading *r, const struct gpu *g, const char *name)
{
	struct gpu_match m = { .n = 0 };
	struct plan_gpu one;
	size_t i;
	int rc = 0;
	bool any = false;

	if (fact_known(&g->name))
		compat_gpu_find(r->m->c, g->name.value, &m);
	for (i = 0; !rc && i < m.n; i++) {
		if (m.rows[i]->cc <= 0)
			continue;
		one = (struct plan_gpu){ .cc = m.rows[i]->cc };
		one.name = arena_printf(r->a, "%s (%s)", name,
					m.rows[i]->chip ? m.rows[i]->chip : "?");
		judge_driver(r, g, m.rows[i], &one);
		judge_flavor(r, g, m.rows[i], &one);
		any = true;
		rc = add_gpu(r, &one);
	}
	if (!rc && !any)
		note(r, "gpu", name, _("its compute capability is not known: not planned for"));
	return rc;
}

/* Looking a GPU up by its name goes through the whole table, so that is done once for each name. */
static const struct gpu_row *row_of(struct reading *r, const struct gpu *g)
{
	struct matrix *m = r->m;
	const char *key = arena_printf(r->a, "%s|%s|%s|%s", fact_value(&g->pci_id, ""),
				       fact_value(&g->subsystem, ""), fact_value(&g->name, ""),
				       fact_value(&g->compute_capability, ""));
	struct gpu_memo *memo;
	size_t i;

	for (i = 0; i < m->n_gpus; i++)
		if (strcmp(m->gpus[i].key, key) == 0)
			return m->gpus[i].row;
	memo = ARENA_APPEND(m->a, m->gpus, m->n_gpus);
	memo->key = arena_strdup(m->a, key);
	memo->row = look_gpu_row(&r->j, g);
	return memo->row;
}

static int read_gpus(struct reading *r)
{
	const struct snapshot *s = r->j.s;
	size_t i, used = 0;
	int rc = 0;

	for (i = 0; !rc && i < s->n_gpus; i++) {
		const struct gpu *g = &s->gpus[i];
		struct plan_gpu one = { .cc = look_cc(g) };
		const struct gpu_row *row;

		if (!look_is_nvidia(g))
			continue;
		one.name = fact_value(&g->name, NULL);
		if (!one.name)
			one.name = fact_value(&g->pci_id, "GPU");
		if (!look_gpu_used(s, i)) {
			note(r, "gpu", one.name,
			     _("hidden by CUDA_VISIBLE_DEVICES: not planned for"));
			continue;
		}
		used++;
		note(r, "gpu", one.name, g->name.source ? g->name.source : g->pci_id.source);
		row = row_of(r, g);
		if (one.cc <= 0) {
			rc = add_ambiguous(r, g, one.name);
			continue;
		}
		if (row) {
			judge_driver(r, g, row, &one);
			judge_flavor(r, g, row, &one);
		}
		rc = add_gpu(r, &one);
	}
	if (!rc && used && !r->t->n_gpus)
		return err_set(r->err, ERR_UNDECIDED,
			       _("the compute capability of no GPU is known: declare it with "
				 "--assume gpu=cc:X.Y"));
	if (rc || used)
		return rc;
	/* An assumed driver stands for a machine whose GPU was not named. */
	r->t->no_gpu = (fact_known(&s->parts.pci) && !r->t->driver) ||
		       strcmp(r->t->platform, "macos_arm64") == 0;
	note(r, "gpu", NULL,
	     r->t->no_gpu ? _("there is none: builds for the CPU") : _("not given: any GPU"));
	return 0;
}

static bool add_python(struct reading *r, const char *text, const char *where, bool active)
{
	struct plan_target *t = r->t;
	struct plan_python p = { .full = text, .where = where, .active = active };
	size_t i;

	if (!text || t->n_pythons == PLAN_PYTHONS || !python_parse(text, &p.minor, &p.threaded))
		return false;
	p.text = p.minor ? arena_printf(r->a, "3.%d%s", p.minor, p.threaded ? "t" : "") : "2.7";
	for (i = 0; i < t->n_pythons; i++)
		if (strcmp(t->pythons[i].text, p.text) == 0)
			return true;
	t->pythons[t->n_pythons++] = p;
	return true;
}

static const char *version_of(struct reading *r, const struct python *p)
{
	const char *abi = fact_value(&p->abi, ""), *version = fact_value(&p->version, NULL);

	/* cp313t is another Python than cp313 */
	if (version && abi[0] && abi[strlen(abi) - 1] == 't' && !view_ends(view_of(version), "t"))
		return arena_printf(r->a, "%st", version);
	return version;
}

/* The newest first: insertion by minor over what follows the active one. */
static void sort_pythons(struct plan_target *t)
{
	size_t i, k, from = t->n_pythons && t->pythons[0].active ? 1 : 0;

	for (i = from + 1; i < t->n_pythons; i++) {
		struct plan_python p = t->pythons[i];

		for (k = i; k > from && t->pythons[k - 1].minor < p.minor; k--)
			t->pythons[k] = t->pythons[k - 1];
		t->pythons[k] = p;
	}
}

static void read_pythons(struct reading *r)
{
	const struct snapshot *s = r->j.s;
	const struct python *active = snapshot_active_python(s);
	struct plan_target *t = r->t;
	bool assumed = active && fact_known(&active->version) && active->version.source &&
		       strcmp(active->version.source, "assumed") == 0;
	size_t i;
	int minor;

	if (active && add_python(r, version_of(r, active), fact_value(&active->prefix, NULL), true))
		note_fact(r, "python", &active->version);
	for (i = 0; !assumed && i < s->n_pythons; i++)
		if (&s->pythons[i] != active &&
		    add_python(r, version_of(r, &s->pythons[i]),
			       fact_value(&s->pythons[i].prefix, NULL), false))
			note_fact(r, "python", &s->pythons[i].version);
	t->python_known = t->n_pythons > 0;
	sort_pythons(t);
	if (t->python_known)
		return;
	for (minor = 31; minor > 4; minor--)
		if (r->m->pythons & (UINT32_C(1) << minor))
			add_python(r, arena_printf(r->a, "3.%d", minor), NULL, false);
	note(r, "python", NULL, _("not given: the newest that the choice supports"));
}

int plan_target_read(struct arena *a, struct matrix *m, const struct snapshot *s,
		     struct plan_target *ret, struct err *err)
{
	struct reading r = {
		.a = a, .m = m, .t = ret, .err = err, .j = { .a = a, .s = s, .c = m->c }
	};
	int rc;

	*ret = (struct plan_target){ .s = s };
	read_platform(&r);
	matrix_builds(m, ret->platform);
	read_driver(&r);
	read_flavor(&r);
	rc = read_gpus(&r);
	if (rc)
		return rc;
	read_pythons(&r);
	return 0;
}
