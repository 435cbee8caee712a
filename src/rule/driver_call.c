/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about calls of the driver that gave no code at all: hung, crashed, ended, or a file that
 * the loader does not take. A machine where this happens must never pass for a healthy one.
 */
#include <string.h>

#include "base/arena.h"
#include "rule/distro.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/rules.h"

/* One of the two libraries, and what became of asking it. */
struct asked {
	const char *library, *field;
	const struct fact *end;	  /* how it ended; source: the call */
	const struct fact *said;  /* the broken fact, with the reason */
	const struct library *file;
};

static void evidence(struct judge *j, struct finding *f, const struct asked *a)
{
	finding_evidence(j, f, a->field, a->said->why ? a->said->why : a->end->value, "0",
			 a->said->source ? a->said->source : a->end->source);
	if (fact_known(&a->file->path))
		finding_fact(j, f, arena_printf(j->a, "%s.path", a->library), &a->file->path, NULL);
}

static void hung(struct judge *j, const struct asked *a)
{
	struct finding *f = finding_add(j, FINDING_DRIVER_CALL_HUNG, a->library);
	struct remedy *r;

	finding_message(
		j, f,
		_("%s does not come back from %s: every program that uses the GPU hangs there."),
		a->library, a->end->source);
	evidence(j, f, a);
	r = finding_remedy(j, f, "%s", _("See what the kernel logged, and who holds the GPU."));
	remedy_command(j, r, "sudo dmesg | grep -iE 'nvrm|xid'");
	remedy_command(j, r, "sudo fuser -v /dev/nvidia*");
	r->needs_root = true;
	r->risk = RISK_SAFE;
	r = finding_remedy(j, f, "%s",
			   _("End what holds it; what no signal ends goes with a reboot."));
	remedy_command(j, r, "sudo reboot");
	r->needs_root = true;
	r->needs_reboot = true;
}

/* How each package manager compares installed files with what it installed. */
static void verify_command(struct judge *j, struct remedy *r, const char *path)
{
	const char *word = shell_word(j->a, path);

	switch (distro_family(j->s)) {
	case FAMILY_UBUNTU:
	case FAMILY_DEBIAN:
		remedy_command(j, r, "dpkg -V \"$(dpkg -S \"$(readlink -f %s)\" | cut -d: -f1)\"",
			       word);
		break;
	case FAMILY_RHEL:
	case FAMILY_FEDORA:
	case FAMILY_SUSE:
		remedy_command(j, r, "rpm -Vf %s", word);
		break;
	case FAMILY_ARCH:
		remedy_command(j, r, "pacman -Qkk \"$(pacman -Qqo %s)\"", word);
		break;
	case FAMILY_NIXOS:
		remedy_command(j, r, "nix-store --verify-path \"$(readlink -f %s)\"", word);
		break;
	case FAMILY_OTHER:
		break;
	}
}

static void crashed(struct judge *j, const struct asked *a)
{
	struct finding *f = finding_add(j, FINDING_DRIVER_LIBRARY_CRASH, a->library);
	const char *path = fact_value(&a->file->path, NULL);
	struct remedy *r;

	finding_message(
		j, f,
		fact_is(a->end, "exited")
			? _("%s ends the process that calls it, inside %s: every program that uses "
			    "the GPU ends there.")
			: _("%s crashes inside %s: every program that uses the GPU dies there."),
		a->library, a->end->source);
	evidence(j, f, a);
	r = finding_remedy(
		j, f, "%s",
		_("Compare the file with its package, and install that one package anew where they differ; "
		  "a second copy may be in front of it."));
	remedy_command(j, r, "ldconfig -p | grep -E 'libcuda|libnvidia-ml'");
	if (path && !look_in_container(j->s))
		verify_command(j, r, path);
	r->risk = RISK_SAFE;
}

static void refused(struct judge *j, const struct asked *a)
{
	struct finding *f = finding_add(j, FINDING_LIBCUDA_WRONG_FILE, a->library);
	struct remedy *r;

	finding_message(j, f,
			_("The file that the loader finds as %s is no library of the driver: %s."),
			a->library, a->said->why ? a->said->why : a->end->value);
	evidence(j, f, a);
	r = finding_remedy(
		j, f, "%s",
		_("Take it out of the way: see which copies there are, and which comes first."));
	remedy_command(j, r, "ldconfig -p | grep -E 'libcuda|libnvidia-ml'");
	r->risk = RISK_SAFE;
}

static void judge_call(struct judge *j, const struct asked *a, bool may_warn)
{
	size_t before = j->n_findings;

	if (!fact_known(a->end))
		return;
	if (fact_is(a->end, "hung"))
		hung(j, a);
	else if (fact_is(a->end, "refused"))
		refused(j, a);
	else
		crashed(j, a);
	/* NVML is the management's; a CUDA that answers runs without it. */
	if (may_warn && look_cuda_works(j->s) && j->n_findings > before)
		j->findings[before]->severity = SEVERITY_WARNING;
}

static void run_driver_call(struct judge *j)
{
	const struct driver *d = &j->s->driver;
	const struct asked cuda = { .library = "libcuda.so.1",
				    .field = "driver.cuda_init",
				    .end = &d->cuda_end,
				    .said = &d->cuda_init,
				    .file = &d->libcuda };
	const struct asked nvml = { .library = "libnvidia-ml.so.1",
				    .field = "driver.nvml_init",
				    .end = &d->nvml_end,
				    .said = &d->nvml_init,
				    .file = &d->libnvml };

	judge_call(j, &cuda, false);
	judge_call(j, &nvml, true);
}

const struct rule rule_driver_call = {
	.name = "driver-call-hung",
	.needs = NEED_CUDA,
	.layer = LAYER_DRIVER,
	.run = run_driver_call,
};
