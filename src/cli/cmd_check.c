/* SPDX-License-Identifier: Apache-2.0 */
/* check: a source, the rules, a report. */
#include <string.h>

#include "base/arena.h"
#include "base/suggest.h"
#include "cli/fix.h"
#include "cli/judged.h"
#include "cli/opts.h"
#include "cli/targets.h"
#include "report/report.h"

static int run(struct run *r)
{
	bool project = targets_apply(r);
	struct err err;

	if (r->o->fix && (!project || r->o->json || r->o->format)) {
		err_set(&err, ERR_USAGE, "%s",
			project ? _("--fix prints a difference: it goes with no --json or --format")
				: _("--fix goes with project files"));
		return cli_fail(&err);
	}
	if (r->o->yes && !r->o->fix) {
		err_set(&err, ERR_USAGE, "%s", _("--yes goes with --fix"));
		return cli_fail(&err);
	}
	if (project)
		return r->o->fix ? correct_run(r) : targets_run(r, "check");
	return judged_run(r, "check");
}

static const struct opt opt_fix = {
	.name = "fix",
	.kind = OPT_FLAG,
	.offset = offsetof(struct options, fix),
	.help = N_("project files: show the corrections that are certain, ask, and write them"),
};
static const struct opt opt_yes = {
	.name = "yes",
	.kind = OPT_FLAG,
	.offset = offsetof(struct options, yes),
	.help = N_("with --fix: write without asking"),
};

static const struct opt *const opts[] = { &opt_require, &opt_deep, &opt_no_cache,
					  &opt_timeout, &opt_fix,  &opt_yes,
					  &opt_fix_script, &opt_force, NULL };

const struct cmd cmd_check = {
	.name = "check",
	.args = "[SOURCE...]",
	.judges = true,
	.summary = N_(
		"judge this machine, a root, an image, project files or a saved snapshot (the default)"),
	.details = N_(
		"Finds the GPUs, the driver, the toolkits and the Python environments, judges whether "
		"they fit together, and names the one thing that is broken, with its evidence and "
		"the commands that mend it. Nothing of what is judged is executed.\n"
		"\n"
		"SOURCE is a saved snapshot or report, an image (what docker save, podman save, "
		"buildah and skopeo write, an OCI layout, an archive of a root; plain or packed "
		"with gzip, xz, zstd), or a folder that holds a root or an OCI layout. An image is "
		"not unpacked; what it says of itself (Env, Labels) is known, and its host is "
		"declared with --assume.\n"
		"\n"
		"Project files (Dockerfile, requirements, pyproject.toml, locks, environment.yml, "
		"pixi.toml, compose, Kubernetes, CI and more, told by name and content) are judged "
		"by what they would install on the declared target, and a folder by those in it; "
		"each finding names its line. --assume arg.NAME=VALUE gives an ARG of a Dockerfile. "
		"Without --assume the targets of .cuvet.toml count.\n"
		"--fix shows as a difference the lines whose correction is certain (it is judged "
		"again before it is offered), asks, and writes them; what has to be decided by "
		"somebody is named and left alone.\n"
		"\n"
		"  cuvet check\n"
		"  cuvet check --json\n"
		"  cuvet check --root /mnt/disk\n"
		"  cuvet check snapshot.json\n"
		"  cuvet check image.tar --assume gpu=L4 --assume driver=550.90.07\n"
		"  cuvet check Dockerfile requirements.txt \\\n"
		"      --assume gpu=T4 --assume driver=535.183.01\n"
		"  cuvet check . --format sarif\n"
		"  cuvet check requirements.txt --assume gpu=L4 --assume driver=535.183.01 --fix\n"
		"  cuvet check --no-live --assume gpu='RTX 5090' --assume driver=570.86.16 \\\n"
		"      --assume torch=2.6.0+cu124 --assume python=3.12\n"
		"  cuvet check --require 'cc>=8.0' --require 'driver>=550'\n"
		"  cuvet check --fix-script fix.sh\n"),
	.opts = opts,
	.run = run,
};
