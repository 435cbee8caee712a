/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about chip against driver: branch too old or too new for the chip, open or proprietary
 * modules. */
#include <string.h>

#include "base/arena.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/rules.h"

/* A GPU that the present driver is seen to drive needs no table. */
static bool unsettled(const struct judge *j, size_t i)
{
	return look_is_nvidia(&j->s->gpus[i]) && !look_gpu_works(&j->s->gpus[i]);
}

/* Which card it is: by its id, else by the name that was given. */
static void gpu_fact(struct judge *j, struct finding *f, const struct gpu *g)
{
	if (fact_known(&g->pci_id))
		finding_fact(j, f, "gpu.pci_id", &g->pci_id, NULL);
	else
		finding_fact(j, f, "gpu.name", &g->name, NULL);
}

static void skip_gpu(struct judge *j, size_t i, const char *field)
{
	judge_skip(j, field, _("not known for %s"), gpu_subject(j, i));
}

/* -------- the branch predates the chip */

static bool predates(struct judge *j, const struct gpu_row *row, const char *driver,
		     bool *ret_inferred)
{
	bool exact = row->first_driver_exact && !look_is_windows(j->s);

	if (!row->first_driver || !look_branch(row->first_driver))
		return false;
	*ret_inferred =
		!exact || row->doubtful || look_branch(driver) == look_branch(row->first_driver);
	if (exact)
		return look_driver_below(driver, row->first_driver);
	return look_branch(driver) < look_branch(row->first_driver);
}

/* The remedy names one branch for every GPU here, or says that there is none. */
static void install_for_all(struct judge *j, struct finding *f, const char *least)
{
	const char *branch = remedy_branch_for_gpus(j, least);

	if (branch)
		remedy_driver(j, f, branch, remedy_driver_kind(j));
	else
		finding_remedy(
			j, f, "%s",
			_("No driver drives all of these GPUs together: take one of them out of "
			  "this machine, "
			  "or give it to a virtual machine of its own."))
			->risk = RISK_SAFE;
}

static void needs_newer(struct judge *j, size_t i, const struct gpu_row *row,
			const struct fact *driver)
{
	const struct gpu *g = &j->s->gpus[i];
	struct finding *f;
	const char *least;
	bool inferred;

	if (!predates(j, row, driver->value, &inferred))
		return;
	least = row->first_driver;
	f = finding_add(j, FINDING_GPU_NEEDS_NEWER_DRIVER, gpu_subject(j, i));
	finding_message(j, f,
			_("Driver %s is older than this GPU (%s): drivers know it from %s on."),
			driver->value, row->chip ? row->chip : row->name, least);
	finding_fact(j, f, "driver.version", driver, arena_printf(j->a, ">= %s", least));
	gpu_fact(j, f, g);
	if (inferred)
		finding_inferred(f);
	/* The branch that brought the chip may be long gone; a maintained one still drives it. */
	install_for_all(j, f, least);
}

static void run_gpu_needs_newer_driver(struct judge *j)
{
	const struct fact *driver = look_driver_or_skip(j);
	size_t i;

	if (!driver)
		return;
	for (i = 0; i < j->s->n_gpus; i++) {
		const struct gpu_row *row = look_gpu_row(j, &j->s->gpus[i]);

		if (!unsettled(j, i))
			continue;
		if (!row || !row->first_driver)
			skip_gpu(j, i, "gpu.first_driver");
		else
			needs_newer(j, i, row, driver);
	}
}

/* -------- the branch has dropped the chip */

static bool dropped(struct judge *j, const struct gpu_row *row, const char *driver)
{
	/* Windows numbers the releases of a branch upwards: 475.14 is of branch 470. */
	unsigned slack = look_is_windows(j->s) ? 9 : 0;

	return row->last_driver && look_branch(row->last_driver) &&
	       look_branch(driver) > look_branch(row->last_driver) + slack;
}

static void run_gpu_dropped_by_driver(struct judge *j)
{
	const struct fact *driver = look_driver_or_skip(j);
	struct finding *f;
	size_t i;

	if (!driver)
		return;
	for (i = 0; i < j->s->n_gpus; i++) {
		const struct gpu *g = &j->s->gpus[i];
		const struct gpu_row *row = look_gpu_row(j, g);

		if (!unsettled(j, i))
			continue;
		if (!row) {
			skip_gpu(j, i, "gpu.last_driver");
			continue;
		}
		if (!dropped(j, row, driver->value))
			continue;
		f = finding_add(j, FINDING_GPU_DROPPED_BY_DRIVER, gpu_subject(j, i));
		/* Beside GPUs that work another driver has it: it serves a screen. */
		if (look_cuda_works(j->s) && fact_known(&g->kernel_driver) &&
		    !fact_is(&g->kernel_driver, "nvidia"))
			f->severity = SEVERITY_WARNING;
		finding_message(
			j, f,
			_("Driver %s no longer supports this GPU (%s); branch %s is the last that "
			  "does."),
			driver->value, row->chip ? row->chip : row->name, row->last_driver);
		finding_fact(j, f, "driver.version", driver,
			     arena_printf(j->a, "<= %s", row->last_driver));
		gpu_fact(j, f, g);
		if (row->doubtful)
			finding_inferred(f);
		install_for_all(j, f, NULL);
	}
}

/* -------- open and proprietary modules */

static void open_finding(struct judge *j, size_t i, const struct gpu_row *row,
			 const struct fact *flavor)
{
	bool required = strcmp(row->open_module, "required") == 0;
	const struct fact *driver = look_driver(j->s);
	const char *branch = driver ? arena_printf(j->a, "%u", look_branch(driver->value)) : NULL;
	struct finding *f = finding_add(j, required ? FINDING_OPEN_MODULE_REQUIRED
						    : FINDING_OPEN_MODULE_UNSUPPORTED_GPU,
					gpu_subject(j, i));

	finding_message(
		j, f,
		required
			? _("This GPU (%s) works with the open kernel modules alone, and the "
			    "proprietary ones "
			    "are installed.")
			: _("This GPU (%s) has no GSP, so the open kernel modules that are "
			    "installed cannot "
			    "drive it; the proprietary ones can."),
		row->chip ? row->chip : row->name);
	finding_fact(j, f, "driver.flavor", flavor, required ? "open" : "proprietary");
	gpu_fact(j, f, &j->s->gpus[i]);
	if (row->doubtful)
		finding_inferred(f);
	if (!required && row->last_driver && branch &&
	    look_branch(branch) > look_branch(row->last_driver))
		branch = row->last_driver;
	remedy_driver(j, f, branch, required ? DRIVER_OPEN : DRIVER_PROPRIETARY);
}

static void judge_flavor(struct judge *j, const char *flavor_clash, const char *module_clash)
{
	const struct fact *flavor = look_flavor(j->s), *driver = look_driver(j->s);
	bool inferred;
	size_t i;

	if (look_is_windows(j->s) || look_is_tegra(j))
		return;
	if (!flavor) {
		judge_skip(j, "driver.flavor", "%s",
			   _("it is not known whether the kernel modules are the open ones"));
		return;
	}
	if (!fact_is(flavor, flavor_clash))
		return;
	for (i = 0; i < j->s->n_gpus; i++) {
		const struct gpu_row *row = look_gpu_row(j, &j->s->gpus[i]);

		if (!unsettled(j, i))
			continue;
		if (!row || !row->open_module) {
			skip_gpu(j, i, "gpu.open_module");
			continue;
		}
		/* A driver that does not know the chip at all has to go first, and the new one
		 * brings its flavour. */
		if (strcmp(row->open_module, module_clash) != 0 ||
		    (driver && (predates(j, row, driver->value, &inferred) ||
				dropped(j, row, driver->value))))
			continue;
		open_finding(j, i, row, flavor);
	}
}

static void run_open_module_required(struct judge *j)
{
	judge_flavor(j, "proprietary", "required");
}

static void run_open_module_unsupported_gpu(struct judge *j)
{
	judge_flavor(j, "open", "unsupported");
}

/* -------- open modules that want to be asked for */

/* Tags 515 to 535 of the open modules refuse GeForce and workstation boards without the parameter;
 * 545 does not. */
static void run_open_module_optin_required(struct judge *j)
{
	const struct fact *flavor = look_flavor(j->s), *driver = look_driver(j->s);
	struct finding *f;
	struct remedy *r;
	size_t i;

	if (look_is_windows(j->s))
		return;
	/* Other branches never ask for it. */
	if (driver && (look_branch(driver->value) < 515 || look_branch(driver->value) > 535))
		return;
	if (!flavor || !driver) {
		judge_skip(j, "driver.flavor", "%s",
			   _("it is not known which kernel modules of which version these are"));
		return;
	}
	if (!fact_is(flavor, "open") || fact_is(&j->s->driver.open_unsupported, "1"))
		return;
	for (i = 0; i < j->s->n_gpus; i++) {
		const struct gpu_row *row = look_gpu_row(j, &j->s->gpus[i]);

		if (!unsettled(j, i) || !row || !row->gpu_class || !row->open_module ||
		    strcmp(row->open_module, "supported") != 0 ||
		    (strcmp(row->gpu_class, "geforce") != 0 &&
		     strcmp(row->gpu_class, "mobile") != 0 &&
		     strcmp(row->gpu_class, "workstation") != 0))
			continue;
		f = finding_add(j, FINDING_OPEN_MODULE_OPTIN_REQUIRED, gpu_subject(j, i));
		finding_message(
			j, f,
			_("The open kernel modules %s refuse this GPU unless "
			  "NVreg_OpenRmEnableUnsupportedGpus=1 is "
			  "set; from 545 on they do not."),
			driver->value);
		finding_fact(j, f, "driver.version", driver, ">= 545");
		finding_fact(j, f, "driver.flavor", flavor, NULL);
		if (fact_known(&j->s->driver.open_unsupported))
			finding_fact(j, f, "driver.open_unsupported",
				     &j->s->driver.open_unsupported, "1");
		else
			finding_inferred(f);
		r = finding_remedy(
			j, f, "%s",
			_("Set the parameter and reboot, or install the proprietary modules."));
		remedy_command(
			j, r,
			"echo 'options nvidia NVreg_OpenRmEnableUnsupportedGpus=1' | sudo tee "
			"/etc/modprobe.d/nvidia-open.conf");
		remedy_command(j, r, "sudo reboot");
		r->needs_root = true;
		r->needs_reboot = true;
	}
}

/* -------- no driver that still drives the card is new enough */

static void run_no_driver_can_help(struct judge *j)
{
	const struct python *p = look_deciding(j->s);
	const char *cuda = p ? look_torch_cuda(j, &p->torch) : NULL, *least;
	struct finding *f;
	bool inferred;
	size_t i;

	if (!cuda || look_is_tegra(j) || look_unpublished(j, p))
		return;
	least = compat_min_driver(j->c, cuda, look_is_windows(j->s), &inferred);
	if (!least) {
		judge_skip(j, "cuda.min_driver", _("not known for CUDA %s"), cuda);
		return;
	}
	for (i = 0; i < j->s->n_gpus; i++) {
		const struct gpu_row *row = look_gpu_row(j, &j->s->gpus[i]);

		if (!look_gpu_used(j->s, i) || !row || !row->last_driver ||
		    !look_branch(row->last_driver) ||
		    look_branch(least) <=
			    look_branch(row->last_driver) + (look_is_windows(j->s) ? 9 : 0))
			continue;
		f = finding_add(j, FINDING_NO_DRIVER_CAN_HELP, gpu_subject(j, i));
		finding_message(
			j, f,
			_("This torch was built for CUDA %s, which needs driver %s or newer, and "
			  "branch %s is the "
			  "last that drives this GPU: no driver makes them fit."),
			cuda, least, row->last_driver);
		finding_fact(j, f, "torch.version", &p->torch.version,
			     arena_printf(j->a, _("a build for branch %s"), row->last_driver));
		finding_evidence(j, f, "gpu.last_driver", row->last_driver,
				 arena_printf(j->a, ">= %u", look_branch(least)), row->source);
		if (inferred || row->doubtful)
			finding_inferred(f);
		remedy_torch(j, f, p);
	}
}

const struct rule rule_gpu_needs_newer_driver = {
	.name = "gpu-needs-newer-driver",
	.needs = NEED_PCI,
	.layer = LAYER_KERNEL,
	.run = run_gpu_needs_newer_driver,
};
const struct rule rule_gpu_dropped_by_driver = {
	.name = "gpu-dropped-by-driver",
	.needs = NEED_PCI,
	.layer = LAYER_KERNEL,
	.run = run_gpu_dropped_by_driver,
};
const struct rule rule_open_module_required = {
	.name = "open-module-required",
	.needs = NEED_PCI,
	.layer = LAYER_KERNEL,
	.run = run_open_module_required,
};
const struct rule rule_open_module_unsupported_gpu = {
	.name = "open-module-unsupported-gpu",
	.needs = NEED_PCI,
	.layer = LAYER_KERNEL,
	.run = run_open_module_unsupported_gpu,
};
const struct rule rule_open_module_optin_required = {
	.name = "open-module-optin-required",
	.needs = NEED_PCI,
	.layer = LAYER_KERNEL,
	.run = run_open_module_optin_required,
};
const struct rule rule_no_driver_can_help = {
	.name = "no-driver-can-help",
	.needs = NEED_GPU | NEED_TORCH,
	.layer = LAYER_KERNEL,
	.run = run_no_driver_can_help,
};
