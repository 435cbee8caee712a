/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Toolkit, cuDNN and variables: what older guides begin with, and what only compiling needs. What
 * is chosen, env and fetch have chosen.
 */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "env/check.h"
#include "env/env.h"
#include "fetch/choose.h"
#include "guide/parts.h"
#include "rule/look.h"
#include "rule/remedy.h"

/* CUDA of the PyTorch that is there, or of the one that would be installed; NULL. */
static const char *cuda_of_torch(const struct guiding *w)
{
	const struct python *p = look_deciding(w->in->s);
	struct judge j = w->j;
	const char *cuda = p ? look_torch_cuda(&j, &p->torch) : NULL;

	if (!cuda && w->in->plan && w->in->plan->chosen)
		cuda = w->in->plan->chosen->cuda;
	return cuda;
}

static bool project_compiles(const struct snapshot *s)
{
	size_t i, k;

	for (i = 0; i < s->n_projects; i++)
		for (k = 0; k < s->projects[i].n_deeds; k++)
			if (fact_is(&s->projects[i].deeds[k].act, "compile"))
				return true;
	return false;
}

static bool compiles(const struct guiding *w)
{
	size_t i;

	for (i = 0; i < w->in->s->n_require; i++)
		if (fact_is(&w->in->s->require[i].key, "cuda"))
			return true;
	return w->in->dev || project_compiles(w->in->s);
}

/* The newest full release of a CUDA, "12.6.3" for "12.6"; NULL when the table has none. */
static const char *full_release(struct guiding *w, const char *cuda)
{
	size_t i = compat_find(w->in->c, "cuda", 0, "cuda", cuda), n;
	const char **list;

	if (i >= compat_count(w->in->c, "cuda"))
		return NULL;
	list = json_str_list(w->a, json_get(compat_row(w->in->c, "cuda", i), "releases"), &n);
	return list && n ? list[n - 1] : NULL;
}

/*
 * What compiling against PyTorch takes from the redist server: the compiler and the headers that
 * its own headers include. From 13.0 on the compiler lies in three components.
 */
#define BUILD_COMPONENTS "cuda_nvcc,cuda_cudart,cuda_cccl,libcublas,libcusparse,libcusolver"
#define BUILD_COMPONENTS_13 ",cuda_crt,libnvvm"

static enum outcome fetch_toolkit(struct guiding *w, struct guide_step *st, const char *cuda)
{
	const char *full = cuda ? full_release(w, cuda) : NULL;

	if (!full) {
		step_why(w, st, "%s",
			 _("A toolkit is needed to compile, and it is not known which: choose "
			   "PyTorch first, the toolkit follows its CUDA."));
		return OUTCOME_OPEN;
	}
	step_why(w, st,
		 _("Extensions are compiled with the CUDA of PyTorch, %s, and no toolkit of it "
		   "is here."),
		 cuda);
	step_command(w, st,
		     "cuvet fetch cuda %s --components %s%s --into ~/cuda-%s --accept-license",
		     full, BUILD_COMPONENTS,
		     version_cmp_str(full, "13.0") >= 0 ? BUILD_COMPONENTS_13 : "", cuda);
	return OUTCOME_OPEN;
}

/* The toolkit that env would choose, if there is a tree to look into and one in it. */
static bool chosen_toolkit(struct guiding *w, struct env_toolkit *ret)
{
	return w->in->root && env_choose_toolkit(w->a, w->in->root, w->in->c, w->in->s, NULL, ret,
						 NULL) == 0;
}

static bool same_minor(const char *a, const char *b)
{
	struct version x, y;

	return a && b && version_parse(view_of(a), &x) && version_parse(view_of(b), &y) &&
	       x.n > 1 && y.n > 1 && x.part[0] == y.part[0] && x.part[1] == y.part[1];
}

enum outcome guide_toolkit(struct guiding *w, struct guide_step *st)
{
	const struct finding *f =
		guide_is_project(w) ?
			NULL :
			guide_error(w, 1u << LAYER_TOOLKIT | 1u << LAYER_BUILD);
	const char *cuda = cuda_of_torch(w);
	struct env_toolkit t = { .prefix = NULL };

	if (f)
		return step_finding(w, st, f);
	if (!compiles(w)) {
		if (cuda)
			step_why(w, st,
				 _("PyTorch's packages bring CUDA %s themselves; a toolkit is "
				   "needed only to compile (--dev)."),
				 cuda);
		else
			step_why(w, st, "%s",
				 _("PyTorch's packages bring their CUDA themselves; a toolkit is "
				   "needed only to compile (--dev)."));
		return OUTCOME_NOT_NEEDED;
	}
	if (!chosen_toolkit(w, &t) || (cuda && !same_minor(t.version, cuda)))
		return fetch_toolkit(w, st, cuda);
	*ARENA_APPEND(w->a, st->evidence, st->n_evidence) = (struct evidence){
		.field = "toolkit.version", .seen = t.version ? t.version : "?",
		.wanted = cuda, .source = t.prefix
	};
	step_why(w, st, _("%s is the toolkit to compile with."), t.prefix);
	return OUTCOME_DONE;
}

enum outcome guide_cudnn(struct guiding *w, struct guide_step *st)
{
	const struct choose_ask ask = { .s = w->in->s, .platform = choose_platform(w->in->s) };
	const char *cuda = cuda_of_torch(w), *prefix = NULL;
	struct err err = { 0 };
	struct choice ch;

	if (!compiles(w)) {
		step_why(w, st, "%s",
			 _("PyTorch's packages bring their cuDNN themselves; copying one into the "
			   "system changes nothing for them."));
		return OUTCOME_NOT_NEEDED;
	}
	if (!cuda) {
		step_why(w, st, "%s", _("Which cuDNN follows from the CUDA of the toolkit."));
		return OUTCOME_WAITS;
	}
	if (w->in->root &&
	    env_choose_cudnn(w->a, w->in->root, w->in->s, NULL, cuda, &prefix, NULL) == 0 &&
	    prefix) {
		*ARENA_APPEND(w->a, st->evidence, st->n_evidence) = (struct evidence){
			.field = "cudnn", .seen = prefix, .source = "cuvet fetch"
		};
		step_why(w, st, "%s", _("A cuDNN for this CUDA is installed."));
		return OUTCOME_DONE;
	}
	if (choose_cudnn(w->a, w->in->c, &ask, &ch, &err)) {
		step_why(w, st, "%s", err.msg);
		return OUTCOME_OPEN;
	}
	/* Not every release was built for a Jetson; which ones, the manifests say to `fetch`. */
	if (strcmp(ask.platform, "linux-aarch64") == 0) {
		step_why(
			w, st, "%s",
			_("Not every cuDNN was built for a Jetson: the newest that was is taken."));
		step_command(w, st, "cuvet fetch cudnn%s%s --accept-license",
			     ch.cuda ? " --cuda " : "", ch.cuda ? ch.cuda : "");
		return OUTCOME_OPEN;
	}
	step_why(w, st, "%s", ch.why ? ch.why : "");
	step_command(w, st, "cuvet fetch cudnn %s%s%s --accept-license", ch.label,
		     ch.cuda ? " --cuda " : "", ch.cuda ? ch.cuda : "");
	return OUTCOME_OPEN;
}

/* Lists that only a compiler or a shell reads: what is merely untidy there stops no PyTorch. */
static bool only_compilers_read(const char *subject)
{
	static const char *const lists[] = { "PATH", "LIBRARY_PATH", "CPATH" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(lists); i++)
		if (strcmp(subject, lists[i]) == 0)
			return true;
	return false;
}

/* Does its first remedy set a variable, or take one away? */
static bool mended_by_variable(const struct finding *f)
{
	struct view command = view_of(f->n_remedies && f->remedies[0].n_commands ?
					      f->remedies[0].commands[0] : "");

	return view_starts(command, "unset ") || view_starts(command, "export ") ||
	       view_starts(command, "eval ");
}

/* Is it about something that no variable mends, or that only matters to who compiles? */
static bool for_another_step(const struct guiding *w, const struct finding *f)
{
	enum layer layer = finding_info(f->id)->layer;
	size_t i;

	if (f->id == FINDING_MULTIPLE_ENVS ||
	    (layer == LAYER_LIBRARY && !mended_by_variable(f)) ||
	    ((layer == LAYER_TOOLKIT || layer == LAYER_BUILD) && !compiles(w) &&
	     f->id != FINDING_SEARCH_PATH_UNSOUND && f->id != FINDING_CUDA_HOME_WRONG))
		return true;
	/* Judged twice, so that it is another object of the same name. */
	for (i = 0; i < w->g->n_steps; i++)
		if (w->g->steps[i].finding && w->g->steps[i].finding->id == f->id &&
		    strcmp(w->g->steps[i].finding->subject, f->subject) == 0)
			return true;
	return false;
}

/* The first finding about search paths, the heaviest first; an information is none. */
static const struct finding *wrong_variable(const struct guiding *w)
{
	const struct results *r = w->in->paths;
	const struct finding *best = NULL;
	size_t i;

	for (i = 0; i < r->n_findings; i++) {
		const struct finding *f = r->findings[i];

		if (f->severity == SEVERITY_WARNING && !compiles(w) &&
		    only_compilers_read(f->subject))
			continue;
		if (for_another_step(w, f))
			continue;
		if (env_check_covers(f->id) && f->severity > SEVERITY_INFO &&
		    (!best || f->severity > best->severity))
			best = f;
	}
	return best;
}

enum outcome guide_variables(struct guiding *w, struct guide_step *st)
{
	const struct finding *f = wrong_variable(w);
	const struct fact *home = snapshot_env_fact(w->in->s, "CUDA_HOME");
	const char *which = "";

	if (f)
		return step_finding(w, st, f);
	if (!compiles(w)) {
		step_why(w, st, "%s",
			 _("PyTorch's packages find their libraries without any variable; "
			   "LD_LIBRARY_PATH can only get in their way."));
		return OUTCOME_NOT_NEEDED;
	}
	if (home && fact_known(home) && !guide_is_open(w, "toolkit")) {
		step_fact(w, st, "CUDA_HOME", home);
		step_why(w, st, "%s", _("The variables of the toolkit are set."));
		return OUTCOME_DONE;
	}
	step_why(
		w, st, "%s",
		_("Compilers look for the toolkit by PATH and CUDA_HOME; these lines leave no empty "
		  "element and can be taken back."));
	/* One that is still to come lies where the step before puts it. */
	if (guide_is_open(w, "toolkit") && cuda_of_torch(w))
		which = arena_printf(w->a, " --cuda ~/cuda-%s", cuda_of_torch(w));
	step_command(w, st, "eval \"$(cuvet env --dev%s)\"", which);
	step_command(w, st, "cuvet env --dev%s --write ~/.bashrc --dry-run", which);
	return OUTCOME_OPEN;
}
