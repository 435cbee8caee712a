/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a set-up, in their order, and what makes each of them done. */
#include <string.h>

#include "base/arena.h"
#include "guide/parts.h"
#include "rule/distro.h"
#include "rule/look.h"
#include "rule/remedy.h"

#define LAYERS_CARD (1u << LAYER_HARDWARE)
#define LAYERS_DRIVER \
	(1u << LAYER_KERNEL | 1u << LAYER_DRIVER | 1u << LAYER_CONTAINER | 1u << LAYER_CLUSTER)
#define LAYERS_ENV (1u << LAYER_PYTHON | 1u << LAYER_FRAMEWORK | 1u << LAYER_LIBRARY)

/* -------- no NVIDIA GPU can be there, or only another maker's is */

static bool is_macos(const struct guiding *w)
{
	return fact_is(&w->in->s->host.system, "macos");
}

static bool only_amd(const struct guiding *w)
{
	return look_has_amd(w->in->s) && !look_has_nvidia(w->in->s) && !guide_is_project(w);
}

/* Says why no step about NVIDIA's hardware is needed; false when they are. */
static bool without_nvidia(struct guiding *w, struct guide_step *st)
{
	if (is_macos(w))
		step_why(w, st, "%s",
			 _("There is no CUDA for macOS: PyTorch uses the processor there, and on "
			   "Apple silicon its GPU (device \"mps\")."));
	else if (only_amd(w))
		step_why(w, st, "%s",
			 _("The GPU here is AMD's, which CUDA does not serve: PyTorch has ROCm "
			   "builds for it."));
	else
		return false;
	return true;
}

/* -------- the card */

/* Which of several chips a name means; NULL when that is not the question. */
static const char *ambiguous_name(const struct guiding *w)
{
	const struct finding *root = w->in->r->root;
	size_t i;

	for (i = 0; root && i < root->n_evidence; i++)
		if (strcmp(root->evidence[i].field, "gpu.ambiguous") == 0)
			return root->message;
	return NULL;
}

static enum outcome unknown_card(struct guiding *w, struct guide_step *st)
{
	const struct snapshot *s = w->in->s;
	const char *ambiguous = ambiguous_name(w);

	if (guide_cause_known(w)) {
		step_why(w, st, "%s",
			 _("Which GPU it is does not matter yet: what is broken is known."));
		return OUTCOME_WAITS;
	}
	if (fact_is(&s->container.kind, "image")) {
		step_why(w, st, "%s",
			 _("An image has no GPU of its own: declare the one that it is for with "
			   "--assume gpu=NAME."));
		return OUTCOME_OPEN;
	}
	if (ambiguous)
		step_why(w, st, "%s", ambiguous);
	else
		step_why(w, st, "%s",
			 _("It is not known which GPU this is about: see what the machine has, or "
			   "declare it with --assume gpu=NAME."));
	/* Windows has no lspci, and inside WSL the GPU is on no bus. */
	step_command(w, st, look_is_windows(s) ? "nvidia-smi -L" : "lspci -nn -d 10de:");
	return OUTCOME_OPEN;
}

static enum outcome card(struct guiding *w, struct guide_step *st)
{
	const struct finding *f = guide_is_project(w) ? NULL : guide_error(w, LAYERS_CARD);
	const struct snapshot *s = w->in->s;
	size_t i, n = 0;

	if (f)
		return step_finding(w, st, f);
	for (i = 0; i < s->n_gpus; i++) {
		const struct gpu *g = &s->gpus[i];

		step_fact(w, st, arena_printf(w->a, "gpu%zu.name", i), &g->name);
		step_fact(w, st, arena_printf(w->a, "gpu%zu.compute_capability", i),
			  &g->compute_capability);
		n += look_cc(g) > 0;
	}
	if (without_nvidia(w, st))
		return OUTCOME_NOT_NEEDED;
	if (!n)
		return unknown_card(w, st);
	step_why(w, st, "%s", _("The GPU is there, and CUDA serves it."));
	return OUTCOME_DONE;
}

static enum outcome driver(struct guiding *w, struct guide_step *st)
{
	const struct finding *f = guide_is_project(w) ? NULL : guide_error(w, LAYERS_DRIVER);
	const struct fact *version = look_driver(w->in->s);

	if (f)
		return step_finding(w, st, f);
	if (without_nvidia(w, st))
		return OUTCOME_NOT_NEEDED;
	step_fact(w, st, "driver.version", version);
	step_fact(w, st, "driver.cuda_ceiling", &w->in->s->driver.cuda_ceiling);
	if (version && fact_known(version)) {
		step_why(w, st, _("Driver %s serves this GPU."), version->value);
		return OUTCOME_DONE;
	}
	/* A board whose driver has no number of its own. */
	if (look_cuda_works(w->in->s)) {
		step_why(w, st, "%s", _("A driver is there: cuInit succeeds."));
		step_fact(w, st, "driver.cuda_init", &w->in->s->driver.cuda_init);
		return OUTCOME_DONE;
	}
	if (guide_cause_known(w)) {
		step_why(w, st, "%s",
			 _("Which driver is there does not matter yet: what is broken is known."));
		return OUTCOME_WAITS;
	}
	step_why(w, st, "%s",
		 _("It is not known which driver is there: ask it, or declare it with --assume "
		   "driver=VERSION."));
	step_command(w, st, look_is_tegra(&w->j) ? "cat /etc/nv_tegra_release" : "nvidia-smi");
	return OUTCOME_OPEN;
}

/* -------- Python and PyTorch */

/* Why there is no plan, and what would make one fit. */
static enum outcome unfit(struct guiding *w, struct guide_step *st)
{
	const struct plan *p = w->in->plan;
	const struct remedy *r = p && p->n_remedies ? p->remedies : NULL;
	size_t i;

	w->g->unfit = p != NULL;
	step_why(w, st, _("Nothing can be chosen: %s"),
		 p && p->n_why	  ? p->why[0]
		 : w->in->plan_why ? w->in->plan_why
				   : _("see cuvet plan"));
	if (!r) {
		step_command(w, st, "cuvet plan");
		return OUTCOME_OPEN;
	}
	step_why(w, st, "%s %s", st->why, r->text);
	for (i = 0; i < r->n_commands; i++)
		step_command(w, st, "%s", r->commands[i]);
	st->needs_root = r->needs_root;
	st->needs_reboot = r->needs_reboot;
	return OUTCOME_OPEN;
}

static bool has_torch(const struct snapshot *s)
{
	size_t i;

	for (i = 0; i < s->n_pythons; i++)
		if (fact_known(&s->pythons[i].torch.version))
			return true;
	return false;
}

/* There is a PyTorch, but not in the environment that is active. */
static enum outcome in_another(struct guiding *w, struct guide_step *st)
{
	const struct snapshot *s = w->in->s;
	const char *first = NULL;
	size_t i;

	for (i = 0; i < s->n_pythons; i++) {
		const struct python *p = &s->pythons[i];

		if (!fact_known(&p->torch.version) || !fact_known(&p->prefix))
			continue;
		first = first ? first : p->prefix.value;
		step_fact(w, st, "torch.version", &p->torch.version);
	}
	step_why(
		w, st, "%s",
		_("PyTorch lies in an environment that is not the active one: activate the one that "
		  "is meant, or name it with --python."));
	if (first)
		step_command(w, st, "cuvet guide --python %s", shell_word(w->a, first));
	return OUTCOME_OPEN;
}

/* A torch in the environment that decides; NULL when there is none. */
static const struct torch *torch_here(const struct guiding *w)
{
	const struct python *p = look_deciding(w->in->s);

	return p && fact_known(&p->torch.version) ? &p->torch : NULL;
}

/* Another framework that the environment has instead; NULL. */
static const struct package *other_framework(const struct guiding *w)
{
	static const char *const names[] = { "jax", "tensorflow", "onnxruntime-gpu",
					     "paddlepaddle-gpu", "mxnet" };
	const struct python *p = look_deciding(w->in->s);
	const struct package *found = NULL;
	size_t i;

	for (i = 0; p && !torch_here(w) && !found && i < ARRAY_LEN(names); i++)
		found = python_package(p, names[i]);
	return found && fact_known(&found->version) ? found : NULL;
}

static enum outcome python(struct guiding *w, struct guide_step *st)
{
	const struct finding *f = guide_error(w, 1u << LAYER_PYTHON);
	const struct python *p = look_deciding(w->in->s);
	const struct plan *plan = w->in->plan;
	const struct plan_python *choice = plan && plan->chosen ? plan->chosen->python : NULL;

	if (guide_is_project(w))
		return guide_project_python(w, st);
	if (f)
		return step_finding(w, st, f);
	if (!look_deciding(w->in->s) && has_torch(w->in->s))
		return in_another(w, st);
	if (torch_here(w) || other_framework(w)) {
		step_fact(w, st, "python.version", &p->version);
		step_fact(w, st, "python.prefix", &p->prefix);
		step_why(w, st, "%s", _("The framework lies in this environment already."));
		return OUTCOME_DONE;
	}
	if (choice && plan->target->python_known) {
		*ARENA_APPEND(w->a, st->evidence, st->n_evidence) = (struct evidence){
			.field = "python.version", .seen = choice->full, .source = choice->where
		};
		step_why(w, st, _("Python %s is one that the PyTorch below is built for."),
			 choice->text);
		return OUTCOME_DONE;
	}
	if (!choice) {
		step_why(w, st, "%s", _("Which Python follows from the PyTorch that is chosen."));
		return OUTCOME_WAITS;
	}
	step_why(w, st, _("No Python is here, or none is known; %s is the newest that the PyTorch "
			  "below is built for."), choice->text);
	step_command(w, st, "uv venv --seed --python %s", choice->text);
	step_command(w, st, ". .venv/bin/activate");
	return OUTCOME_OPEN;
}

/* Debian and its kin keep what `-m venv` needs in a package of its own. */
static void venv_package(struct guiding *w, struct guide_step *st, const struct plan_commands *pip)
{
	enum family family = distro_family(w->in->s);
	const struct plan_python *python = w->in->plan->chosen->python;
	const char *lib = arena_printf(w->a, "/usr/lib/python%s", python->text);

	if ((family != FAMILY_DEBIAN && family != FAMILY_UBUNTU) || !w->in->root || !pip->n ||
	    !python->where || strcmp(python->where, "/usr") != 0 ||
	    !strstr(pip->lines[0], " -m venv ") || !sysroot_exists(w->in->root, lib) ||
	    sysroot_exists(w->in->root, arena_printf(w->a, "%s/ensurepip", lib)))
		return;
	step_command(w, st, "sudo apt-get install python%s-venv", python->text);
	st->needs_root = true;
}

static enum outcome pytorch(struct guiding *w, struct guide_step *st)
{
	const struct finding *f = guide_error(w, LAYERS_ENV);
	const struct plan *plan = w->in->plan;
	const struct torch *t = torch_here(w);
	const struct package *other = other_framework(w);
	const struct plan_commands *pip;
	size_t i;

	if (guide_is_project(w))
		return guide_project_torch(w, st);
	if (f)
		return step_finding(w, st, f);
	if (t) {
		step_fact(w, st, "torch.version", &t->version);
		step_fact(w, st, "torch.cuda", &t->cuda);
		step_fact(w, st, "torch.path", &t->path);
		step_why(w, st, _("PyTorch %s is installed."), t->version.value);
		return OUTCOME_DONE;
	}
	if (other) {
		step_fact(w, st, other->name.value, &other->version);
		step_why(w, st, _("This environment has %s instead."), other->name.value);
		return OUTCOME_NOT_NEEDED;
	}
	if (has_torch(w->in->s))
		return in_another(w, st);
	if (!plan || !plan->chosen)
		return unfit(w, st);
	step_why(w, st, "%s", plan->chosen->n_why ? plan->chosen->why[0] : "");
	pip = &plan->chosen->commands[TOOL_PIP];
	venv_package(w, st, pip);
	for (i = 0; i < pip->n; i++)
		step_command(w, st, "%s", pip->lines[i]);
	return OUTCOME_OPEN;
}

static enum outcome verification(struct guiding *w, struct guide_step *st)
{
	const struct results *r = w->in->r;
	size_t i;
	bool waits = r->verdict == VERDICT_BLOCKED || r->verdict == VERDICT_UNDETERMINED;

	for (i = 0; i < w->g->n_steps; i++)
		waits |= guide_is_open(w, w->g->steps[i].id);
	*ARENA_APPEND(w->a, st->evidence, st->n_evidence) = (struct evidence){
		.field = "verdict", .seen = verdict_name(r->verdict), .source = "cuvet check"
	};
	if (!waits) {
		step_why(
			w, st, "%s",
			r->verdict == VERDICT_DEGRADED
				? _("Nothing stands in the way; `cuvet check` says what it warns of.")
				: _("What was found fits together."));
		return OUTCOME_DONE;
	}
	if (r->root)
		st->finding = r->root;
	step_why(w, st, "%s", _("Judge it again when the steps before are done."));
	step_command(w, st, "cuvet check");
	return OUTCOME_OPEN;
}

static enum outcome proof(struct guiding *w, struct guide_step *st)
{
	if (without_nvidia(w, st))
		return OUTCOME_NOT_NEEDED;
	step_why(w, st, "%s",
		 _("Only running it proves that it runs: kernels, and the very libraries that "
		   "PyTorch would load, on every GPU."));
	step_command(w, st, torch_here(w) || guide_is_open(w, "pytorch") ?
			    "cuvet prove --stack auto" :
			    "cuvet prove");
	return OUTCOME_OPEN;
}

/* clang-format off */
const struct guide_row guide_rows[] = {
	{ .id = "card", .title = N_("Graphics card"), .look = card },
	{ .id = "driver", .title = N_("NVIDIA driver"), .look = driver },
	{ .id = "toolkit", .title = N_("CUDA toolkit"), .look = guide_toolkit },
	{ .id = "cudnn", .title = N_("cuDNN"), .look = guide_cudnn },
	{ .id = "variables", .title = N_("Environment variables"), .look = guide_variables },
	{ .id = "python", .title = N_("Python"), .look = python },
	{ .id = "pytorch", .title = N_("PyTorch"), .look = pytorch },
	{ .id = "verification", .title = N_("Verification"), .look = verification },
	{ .id = "proof", .title = N_("Proof"), .look = proof },
	{ .id = NULL },
};
/* clang-format on */
