/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that hold the GPUs of a text against its driver: branches that dropped a chip or do not
 * know it yet, open and proprietary modules. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/triage.h"

/* Packages whose version is the driver's, as the distributions name them. */
static bool is_driver_package(const char *name)
{
	static const char *const begins[] = {
		"nvidia-driver",    "kmod-nvidia",  "akmod-nvidia",	   "nvidia-utils",
		"nvidia-dkms",	    "nvidia-open",  "xorg-x11-drv-nvidia", "nvidia-kernel",
		"nvidia-gfxG0",	    "cuda-drivers", "nvidia-lts",	   "nvidia-headless",
		"libnvidia-compute"
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(begins); i++)
		if (strncmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	return strcmp(name, "nvidia") == 0;
}

/* The loaded one, else the one on the disk: its module, what DKMS has, its packages. */
const struct fact *triage_driver(const struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const struct sign *disk = triage_sign(t, "modinfo-version");
	size_t i;

	if (fact_known(&s->driver.version))
		return &s->driver.version;
	if (disk && fact_known(&disk->value) && look_branch(disk->value.value) >= 100)
		return &disk->value;
	for (i = 0; i < s->n_os_packages; i++)
		if (is_driver_package(fact_value(&s->os_packages[i].name, "")) &&
		    look_branch(fact_value(&s->os_packages[i].version, "0")) >= 100)
			return &s->os_packages[i].version;
	for (i = 0; i < s->driver.n_dkms; i++)
		if (look_branch(fact_value(&s->driver.dkms[i].version, "0")) >= 100)
			return &s->driver.dkms[i].version;
	return NULL;
}

/* The driver does not drive the GPU, as far as the text shows. */
static bool fails(const struct triage *t)
{
	return triage_has(t, "smi-fails") || triage_has(t, "cuda-fails") ||
	       triage_has(t, "rm-init-failed") || triage_has(t, "probe-failed") ||
	       triage_has(t, "release-unsupported") || triage_has(t, "installer-no-gpu") ||
	       triage_has(t, "insert-enodev") || triage_has(t, "nvrm-none");
}

static bool is_consumer(const struct gpu_row *row)
{
	return row->gpu_class &&
	       (strcmp(row->gpu_class, "geforce") == 0 || strcmp(row->gpu_class, "mobile") == 0 ||
		strcmp(row->gpu_class, "workstation") == 0);
}

bool triage_no_fabric(const struct triage *t)
{
	const struct snapshot *s = t->j->s;
	size_t i;

	for (i = 0; i < s->n_gpus; i++) {
		const struct gpu_row *row = look_gpu_row(t->j, &s->gpus[i]);

		if (!row || !is_consumer(row))
			return false;
	}
	return s->n_gpus > 0;
}

/* Open modules of these branches refuse GeForce and workstation boards that do not ask. */
static bool wants_optin(const struct triage *t, const struct gpu_row *row, unsigned branch)
{
	return fact_is(&t->j->s->driver.flavor, "open") && branch >= 515 && branch <= 535 &&
	       is_consumer(row) && row->open_module && strcmp(row->open_module, "supported") == 0 &&
	       triage_has(t, "rm-init-failed");
}

static const char terms[] = "smi-fails|release-unsupported|rm-init-failed|installer-no-gpu";

/*
 * Is the driver of a later branch than the card's last one?  Windows numbers the releases of a
 * branch on: 341 and 342 are of 340, 391 and 392 of 390, 471 to 475 of 470, 581 and 582 of 580.
 * Nothing else has those numbers, but for 343 and later.
 */
static bool is_beyond(unsigned last, unsigned branch)
{
	return branch > last + (last == 340 ? 2 : 5);
}

/* The first branch that drives any of the boards that the GPU may be: a name can be of several. */
static unsigned first_branch(struct triage *t, const struct gpu *g, const struct gpu_row *row)
{
	unsigned one, first = look_branch(row->first_driver);
	struct gpu_match m;
	size_t i;

	if (fact_known(&g->pci_id) || !fact_known(&g->name))
		return first;
	compat_gpu_find(t->j->c, g->name.value, &m);
	for (i = 0; i < m.n; i++) {
		one = m.rows[i]->first_driver ? look_branch(m.rows[i]->first_driver) : 0;
		first = one < first ? one : first;
	}
	return first;
}

static struct finding *misfit(struct triage *t, const struct gpu *g, const struct gpu_row *row,
			      unsigned branch)
{
	const struct snapshot *s = t->j->s;
	const char *open = row->open_module ? row->open_module : "";

	if (row->last_driver && branch >= 100 && is_beyond(look_branch(row->last_driver), branch))
		return triage_add(t, FINDING_GPU_DROPPED_BY_DRIVER, fails(t) ? 80 : 64, terms);
	/* Of a card that is dropped by now only the driver itself says that it came before it. */
	if (row->first_driver && branch >= 100 &&
	    (!row->last_driver || triage_has(t, "release-unsupported")) &&
	    first_branch(t, g, row) > branch)
		return triage_add(t, FINDING_GPU_NEEDS_NEWER_DRIVER, fails(t) ? 82 : 64, terms);
	/* Cards of a chip come one by one, each with a release of the branch that it came in. */
	if (triage_has(t, "release-unsupported") && row->first_driver && is_consumer(row) &&
	    !row->last_driver && branch == first_branch(t, g, row))
		return triage_add(t, FINDING_GPU_NEEDS_NEWER_DRIVER, 80, terms);
	if (triage_has(t, "release-unsupported") && row->first_driver && branch >= 100) {
		/* This branch drives the chip: what it refuses is a part of one. */
		t->against[FINDING_GPU_NEEDS_NEWER_DRIVER] = true;
		return is_consumer(row) ? NULL
					: triage_add(t, FINDING_VGPU_NEEDS_GRID_DRIVER, 66, terms);
	}
	/* Later releases of akmod-nvidia look for the GPU and take the flavour that drives it. */
	if (strcmp(open, "required") == 0 &&
	    (triage_has(t, "rm-init-failed") ||
	     (triage_has(t, "smi-nodev") &&
	      (branch >= 100 || fact_is(&s->driver.flavor, "proprietary")) &&
	      !(triage_has(t, "akmod-word") && branch >= 575))) &&
	    !fact_is(&s->driver.flavor, "open"))
		return triage_add(t, FINDING_OPEN_MODULE_REQUIRED, 74, "rm-init-failed");
	if (strcmp(open, "unsupported") == 0 && fact_is(&s->driver.flavor, "open"))
		return triage_add(t, FINDING_OPEN_MODULE_UNSUPPORTED_GPU, 82,
				  "nvrm-open|open-package");
	if (wants_optin(t, row, branch))
		return triage_add(t, FINDING_OPEN_MODULE_OPTIN_REQUIRED, 70, "rm-init-failed");
	return NULL;
}

/* Where no driver is loaded or installed: of the module on the disk, or of the branch alone that is
 * named. */
static const char *driver_said(const struct triage *t)
{
	const struct fact *version = triage_driver(t);
	const char *module = triage_value(t, "modinfo-version");

	if (!module)
		module = triage_value(t, "module-core-version");
	if (version)
		return version->value;
	return module ? module : triage_value(t, "driver-branch-said");
}

/*
 * The last branch that drives the GPU; of a name of several boards the latest one that drives any
 * of them. 0: a branch of today drives it, or it is not known.
 */
static unsigned last_branch(struct triage *t, const struct gpu *g)
{
	const struct gpu_row *row = look_gpu_row(t->j, g);
	struct gpu_match m = { .rows = &row, .n = row != NULL };
	unsigned one, last = 0;
	size_t i;

	if (!row && fact_known(&g->ambiguous) && fact_known(&g->name))
		compat_gpu_find(t->j->c, g->name.value, &m);
	for (i = 0; i < m.n; i++) {
		one = m.rows[i]->last_driver ? look_branch(m.rows[i]->last_driver) : 0;
		if (!one)
			return 0;
		last = one > last ? one : last;
	}
	return last;
}

/* A branch beyond the GPU's last, or before its first. */
static void driver_and_gpu(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const struct fact *version = triage_driver(t);
	const char *driver = driver_said(t);
	size_t i;

	if (triage_has(t, "smi-works") || triage_has(t, "wsl"))
		return;
	for (i = 0; i < s->n_gpus; i++) {
		const struct gpu_row *row = look_gpu_row(t->j, &s->gpus[i]);
		unsigned branch = driver ? look_branch(driver) : 0;
		unsigned last = row && branch >= 100 ? 0 : last_branch(t, &s->gpus[i]);
		struct finding *f = row ? misfit(t, &s->gpus[i], row, branch) : NULL;

		if (branch >= 100 && last && is_beyond(last, branch))
			f = triage_add(t, FINDING_GPU_DROPPED_BY_DRIVER, fails(t) ? 80 : 64, terms);
		if (branch < 100 && last && last <= 470 && !driver && fails(t) &&
		    triage_has(t, "latest-driver-said"))
			f = triage_add(t, FINDING_GPU_DROPPED_BY_DRIVER, 66, "latest-driver-said");
		if (branch < 100 && last && last <= 470 && !driver &&
		    triage_has(t, "driver-not-offered"))
			f = triage_add(t, FINDING_GPU_DROPPED_BY_DRIVER, 66, "driver-not-offered");
		if (!f)
			continue;
		finding_fact(t->j, f, "gpu.name", &s->gpus[i].name, NULL);
		if (version)
			finding_fact(t->j, f, "driver.version", version, NULL);
	}
}

/* Cards of which only the series is named, "50xx", and a branch that drives none of them. */
static void series_named(struct triage *t)
{
	static const struct {
		const char *series;
		unsigned first, last;
	} all[] = { { "10", 367, 580 },
		    { "20", 410, 0 },
		    { "30", 455, 0 },
		    { "40", 520, 0 },
		    { "50", 570, 0 } };
	const char *said = triage_value(t, "card-series-said");
	const char *driver = driver_said(t);
	unsigned branch = driver ? look_branch(driver) : 0;
	size_t i;

	if (!said || branch < 300 || triage_has(t, "smi-works") || triage_has(t, "wsl") ||
	    !(fails(t) || triage_has(t, "gpu-dropped-said") || triage_has(t, "gpu-unused-told") ||
	      triage_has(t, "boot-fails")))
		return;
	for (i = 0; i < ARRAY_LEN(all); i++) {
		if (strcmp(all[i].series, said) != 0)
			continue;
		if (branch < all[i].first)
			triage_add(t, FINDING_GPU_NEEDS_NEWER_DRIVER, 76, "card-series-said");
		else if (all[i].last && is_beyond(all[i].last, branch))
			triage_add(t, FINDING_GPU_DROPPED_BY_DRIVER, 76, "card-series-said");
	}
}

/* nvidia-detect names the last branch for the card, and a later one is installed. */
static void legacy_named(struct triage *t)
{
	const struct fact *version = triage_driver(t);
	const char *last = triage_value(t, "legacy-detected");
	struct finding *f;

	if (!last || !version || look_branch(version->value) <= look_branch(last))
		return;
	f = triage_add(t, FINDING_GPU_DROPPED_BY_DRIVER, 90, "legacy-detected");
	finding_fact(t->j, f, "driver.version", version, arena_printf(t->j->a, "<= %s", last));
}

/* -------- a wanted CUDA that no driver of the card has */

/* The CUDA that is asked for, as far as the text says it. */
static const char *wanted_cuda(const struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *cuda = s->n_pythons ? look_torch_cuda(t->j, &s->pythons[0].torch) : NULL;

	/* An image that asks for "cuda>=12.1". */
	if (triage_value(t, "unsatisfied") &&
	    strncmp(triage_value(t, "unsatisfied"), "cuda>=", 6) == 0)
		return arena_strndup(t->j->a, triage_value(t, "unsatisfied") + 6,
				     strspn(triage_value(t, "unsatisfied") + 6, "0123456789."));
	if (!cuda && s->n_toolkits)
		cuda = fact_value(&s->toolkits[0].version, NULL);
	return cuda;
}

/* Branch 340 and those before: their CUDA, 6.5 at most, is older than any program in use. */
static bool ends_before_fermi(unsigned last)
{
	return last > 0 && last <= 340;
}

/* The driver is too old, and the last one that drives this GPU is so as well. */
static void no_driver(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *driver = driver_said(t);
	const char *cuda = wanted_cuda(t), *least = NULL;
	bool inferred = false;
	size_t i;

	if ((t->points[FINDING_DRIVER_TOO_OLD] < TRIAGE_ROOT &&
	     t->points[FINDING_IMAGE_REQUIRES_NEWER_DRIVER] < TRIAGE_ROOT) ||
	    !s->n_gpus)
		return;
	if (cuda)
		least = compat_min_driver(t->j->c, cuda, false, &inferred);
	for (i = 0; i < s->n_gpus; i++) {
		unsigned last = last_branch(t, &s->gpus[i]);
		struct finding *f;

		if (!last)
			return; /* a GPU that a newer driver drives */
		if (!ends_before_fermi(last) &&
		    (triage_has(t, "windows") ||
		     (least ? look_branch(least) <= last
			    : !driver || look_branch(driver) != last)))
			return;
		if (i + 1 < s->n_gpus)
			continue;
		f = triage_add(t, FINDING_NO_DRIVER_CAN_HELP, least ? 92 : 86,
			       "driver-too-old-torch|cuda-35");
		finding_message(t->j, f,
				_("Branch %s is the last that drives this GPU, and the wanted CUDA "
				  "needs a newer one."),
				arena_printf(t->j->a, "%u", last));
		finding_fact(t->j, f, "gpu.name", &s->gpus[i].name, NULL);
	}
}

/* A program names the compute capability that it needs, and every GPU here has less. */
static void capability_needed(struct triage *t)
{
	const char *want = triage_value(t, "capability-needed");
	const struct snapshot *s = t->j->s;
	int least = want ? (int)(strtod(want, NULL) * 10 + 0.5) : 0;
	struct finding *f;
	size_t i;

	for (i = 0; i < s->n_gpus; i++)
		if (look_cc(&s->gpus[i]) <= 0 || look_cc(&s->gpus[i]) >= least)
			return;
	if (!least || !s->n_gpus)
		return;
	f = triage_add(t, FINDING_GPU_TOO_OLD_FOR_BUILD, 74, "capability-needed");
	f->message = _("The program says which compute capability it needs at least, and this GPU "
		       "has less.");
	finding_fact(t->j, f, "gpu.compute_capability", &s->gpus[0].compute_capability, want);
}

void triage_cards(struct triage *t)
{
	driver_and_gpu(t);
	capability_needed(t);
	series_named(t);
	legacy_named(t);
	no_driver(t);
}
