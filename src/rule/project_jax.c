/* SPDX-License-Identifier: Apache-2.0 */
/* Pins that do not go together with jax: its own parts, NVIDIA's wheels, the cuDNN of a torch. */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "model/pep440.h"
#include "rule/project.h"

/* -------- parts of jax */

static void jax_pins(struct judge *j, const struct planned *p)
{
	static const char *const names[] = { "jax-cuda12-plugin", "jax-cuda13-plugin",
					     "jax-cuda12-pjrt", "jax-cuda13-pjrt", "jaxlib" };
	const struct wanted *jax = project_package(p, "jax"), *w;
	struct finding *f;
	struct remedy *r;
	size_t i;

	if (!jax || !fact_yes(&jax->pinned) || !fact_known(&jax->version))
		return;
	for (i = 0; i < ARRAY_LEN(names); i++) {
		struct view rest;

		w = project_package(p, names[i]);
		if (!w || !fact_yes(&w->pinned) || !fact_known(&w->version) ||
		    view_is(view_cut(view_of(w->version.value), '+', &rest), jax->version.value))
			continue;
		/* jaxlib may be older than jax, down to a least one. */
		if (strcmp(names[i], "jaxlib") == 0) {
			size_t at = compat_find(j->c, "jax", 0, "version", jax->version.value);
			const char *least = at < compat_count(j->c, "jax")
						    ? compat_text(j->c, "jax", at, "min_jaxlib")
						    : NULL;
			const char *have = view_dup(
				j->a, view_cut(view_of(w->version.value), '+', &rest));

			if (!least || (version_at_least(have, least) &&
				       version_at_least(jax->version.value, have)))
				continue;
		}
		f = project_finding(j, FINDING_CONFLICTING_PINS, p, names[i], &w->text,
				    jax->version.value);
		finding_message(j, f,
				_("%s %s does not go with jax %s: they must be of one release."),
				names[i], w->version.value, jax->version.value);
		finding_fact(j, f, "jax", &jax->text, NULL);
		r = finding_remedy(
			j, f, _("Remove the line (the extra of jax brings it), or write %s==%s."),
			names[i], jax->version.value);
		r->risk = RISK_SAFE;
		return;
	}
}

/* Extras that bring NVIDIA's wheels. */
static bool asks_cuda(const struct wanted *jax)
{
	return project_extra(jax, "cuda12") || project_extra(jax, "cuda12-pip") ||
	       project_extra(jax, "cuda13") || project_extra(jax, "cuda");
}

/* Wheels of NVIDIA that the CUDA extra of jax brings, in the releases that it asks for. */
static void jax_wheels(struct judge *j, const struct planned *p)
{
	const struct wanted *jax = project_package(p, "jax");
	const struct json *row, *need;
	struct finding *f;
	size_t i;

	if (!jax || !fact_known(&jax->version) || !asks_cuda(jax))
		return;
	row = project_row(j, "jax", jax->version.value, NULL, NULL);
	for (need = json_first(json_get(row, "wheels")); need; need = json_next(need))
		for (i = 0; i < p->n_packages; i++) {
			const struct wanted *w = &p->packages[i];

			if (!json_key(need) || !fact_is(&w->name, json_key(need)) ||
			    !json_str(need) || !fact_yes(&w->pinned) ||
			    !fact_known(&w->version) || fact_is(&w->tool, "uv") ||
			    strcmp(w->tool.source, jax->tool.source) != 0 ||
			    pep440_text_holds(j->a, json_str(need), w->version.value))
				continue;
			f = project_finding(j, FINDING_CONFLICTING_PINS, p, w->name.value, &w->text,
					    json_str(need));
			finding_message(j, f, _("jax %s requires %s%s, and %s is asked for."),
					jax->version.value, w->name.value, json_str(need),
					w->version.value);
			finding_fact(j, f, "jax", &jax->text, NULL);
			finding_remedy(j, f, "%s",
				       _("Remove the line: the extra of jax brings what it needs."))
				->risk = RISK_SAFE;
			return;
		}
}

/* -------- jax and torch in one command: each pins its cuDNN */

static void jax_and_torch(struct judge *j, const struct planned *p)
{
	const struct wanted *jax = project_package(p, "jax"), *torch = project_package(p, "torch");
	const struct torch_row *row;
	const char *need;
	struct finding *f;

	if (!jax || !torch || !asks_cuda(jax) || !fact_known(&jax->version) ||
	    !fact_known(&torch->version) || fact_known(&torch->channel) ||
	    fact_known(&torch->fault) || !project_linux(p) || !fact_yes(&torch->pinned) ||
	    !fact_yes(&jax->pinned) || strcmp(jax->tool.source, torch->tool.source) != 0)
		return;
	row = compat_torch(j->c, torch->version.value, fact_value(&p->platform, ""),
			   fact_value(&torch->variant, ""));
	need = json_get_str(json_get(project_row(j, "jax", jax->version.value, NULL, NULL),
				     "wheels"),
			    "nvidia-cudnn-cu12");
	/* Wheels bring their cuDNN as a package, those of CUDA 12 in all releases. */
	if (!row || !row->cudnn || !row->cuda || project_major(row->cuda) != 12 || !need ||
	    pep440_text_holds(j->a, need, row->cudnn))
		return;
	f = project_finding(j, FINDING_CONFLICTING_PINS, p, "jax", &jax->text, NULL);
	finding_message(
		j, f,
		_("jax[cuda12] %s requires nvidia-cudnn-cu12%s, torch %s requires ==%s: one "
		  "environment cannot hold both."),
		jax->version.value, need, torch->version.value, row->cudnn);
	finding_fact(j, f, "torch", &torch->text, NULL);
	finding_remedy(
		j, f, "%s",
		_("Give each its own environment, or take a torch whose cuDNN jax takes, or one "
		  "of the two for the CPU."))
		->risk = RISK_SAFE;
}

void project_jax_pins(struct judge *j, const struct planned *p)
{
	jax_pins(j, p);
	jax_wheels(j, p);
	jax_and_torch(j, p);
}
