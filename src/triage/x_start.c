/* SPDX-License-Identifier: Apache-2.0 */
/* How a program was started: in a container and with or without GPUs, by a scheduler. */
#include <string.h>

#include "base/attr.h"
#include "base/regex.h"
#include "triage/paste.h"
#include "triage/sign.h"

static void container(struct paste *p, struct view s, size_t i)
{
	bool run = paste_match(
		p, "\\b(?:docker|podman|nerdctl)\\s+(?:container\\s+)?(?:run|create)\\b", s, NULL);

	if (run) {
		sign_add(p, "container-run", i, (struct view){ 0 });
		sign_add(p,
			 paste_match(p,
				     "--gpus|--runtime[= ]\"?nvidia|nvidia\\.com/gpu|/dev/nvidia|"
				     "--device[= ]|nvidia-docker|--hooks-dir",
				     s, NULL)
				 ? "container-gpu-asked"
				 : "container-gpu-not-asked",
			 i, (struct view){ 0 });
		return;
	}
	if (paste_match(p, "\\b(?:singularity|apptainer)\\s+(?:-\\S+\\s+)*(?:exec|run|shell)\\b", s,
			NULL)) {
		sign_add(p, "container-run", i, (struct view){ 0 });
		sign_add(p,
			 paste_match(p, "--nv(?:ccli)?\\b", s, NULL) ? "container-gpu-asked"
								     : "container-gpu-not-asked",
			 i, (struct view){ 0 });
	}
}

static void start_line(struct paste *p, size_t i)
{
	const struct line *l = &p->t.lines[i];
	struct view s = l->cmd_at ? line_cmd(l) : l->s;

	if (s.n > 1000)
		s.n = 1000;
	container(p, s, i);
	if (l->cmd_at && paste_match(p, "^root@[0-9a-f]{12}:", l->s, NULL))
		sign_add(p, "container-prompt", i, (struct view){ 0 });
	if (view_starts(l->s, "Singularity>") || view_starts(l->s, "Apptainer>") ||
	    paste_match(p, "^[#(]?\\s*\\(?(?:in|inside)(?: the)? (?:a )?(?:container|pod)\\b", l->s,
			NULL) ||
	    view_starts(l->s, "(container)") || view_starts(l->s, "(container,") ||
	    view_starts(l->s, "(lxc)") || view_starts(l->s, "(pod)"))
		sign_add(p, "container-prompt", i, (struct view){ 0 });
}

const struct extractor extract_start = { .name = "start", .line = start_line };
