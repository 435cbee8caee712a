/* SPDX-License-Identifier: Apache-2.0 */
/* Settles what the rules found: who follows from whom, what the root is, what the verdict is. Adds
 * no fact. */
#include "rule/settle.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "rule/look.h"
#include "rule/triage.h"

bool finding_listed(const enum finding_id *ids, size_t n, enum finding_id id)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (ids[i] == id)
			return true;
	return false;
}

/* "Dockerfile:3" of "Dockerfile:3:17" */
static bool on_line(const char *source, const char *line)
{
	size_t n = strlen(line);

	return strncmp(source, line, n) == 0 && (source[n] == '\0' || source[n] == ':');
}

/* A comment in the file, or a project's configuration, that leaves this finding out. */
static const struct left_out *left_out(struct judge *j, const struct finding *f)
{
	const char *name = finding_info(f->id)->name;
	size_t i;

	for (i = 0; i < j->s->n_pragmas; i++) {
		const struct left_out *l = &j->s->pragmas[i];

		if (!fact_is(&l->name, name) && !fact_is(&l->name, finding_info(f->id)->code))
			continue;
		if (fact_known(&l->line) &&
		    (!f->n_evidence || !on_line(f->evidence[0].source, l->line.value)))
			continue;
		if (fact_known(&l->file) && !view_starts(view_of(f->subject), l->file.value) &&
		    !view_ends(view_of(f->subject), l->file.value))
			continue;
		return l;
	}
	return NULL;
}

/* Entries that leave nothing out: their day is over, or their name is no finding's. */
static void say_idle(struct judge *j)
{
	enum finding_id id;
	size_t i;

	for (i = 0; i < j->s->n_pragmas; i++) {
		const struct fact *name = &j->s->pragmas[i].name;

		if (name->state == FACT_BROKEN)
			judge_skip(j, name->source, "%s", name->why);
		else if (fact_known(name) && !finding_lookup(name->value, &id))
			judge_skip(j, name->source, _("%.80s: no finding has this name"),
				   name->value);
	}
}

static void drop_ignored(struct judge *j, const struct judge_options *o)
{
	const struct left_out *l;
	size_t i, n = 0;

	say_idle(j);
	for (i = 0; i < j->n_findings; i++) {
		struct finding *f = j->findings[i];

		if (finding_listed(o->ignore, o->n_ignore, f->id))
			continue;
		l = left_out(j, f);
		if (l)
			judge_skip(j,
				   arena_printf(j->a, "%s at %s", finding_info(f->id)->name,
						l->name.source),
				   _("left out: %s"),
				   fact_value(&l->reason, _("no reason is given")));
		else
			j->findings[n++] = f;
	}
	j->n_findings = n;
}

/* An environment that does not decide cannot block. --error comes after, since the user's word is
 * the last. */
static void set_severities(struct judge *j, const struct judge_options *o)
{
	const struct python *deciding = look_deciding(j->s);
	const struct python *env;
	size_t i;

	for (i = 0; i < j->n_findings; i++) {
		struct finding *f = j->findings[i];

		env = look_python_of(j->s, f->subject);
		if (env && env != deciding && f->severity == SEVERITY_ERROR)
			f->severity = SEVERITY_WARNING;
		if (finding_listed(o->error, o->n_error, f->id))
			f->severity = SEVERITY_ERROR;
	}
}

/* -------- consequences */

static bool is_gpu(const char *subject)
{
	return view_starts(view_of(subject), "GPU ");
}

/* One GPU's trouble does not explain another's, nor one environment's another's. */
static bool same_place(struct judge *j, const struct finding *cause, const struct finding *effect)
{
	bool one_env =
		look_python_of(j->s, cause->subject) && look_python_of(j->s, effect->subject);

	if (strcmp(cause->subject, effect->subject) == 0)
		return true;
	if (is_gpu(cause->subject) && is_gpu(effect->subject))
		return false;
	return !one_env || cause->id == FINDING_MULTIPLE_ENVS;
}

/* Hundreds of files have thousands of pairs of findings, of few kinds: each is worked out once. */
static bool kind_explains(struct judge *j, enum finding_id cause, enum finding_id effect)
{
	unsigned char *known;

	if (!j->explained)
		j->explained = arena_calloc(j->a, (size_t)FINDING_COUNT * FINDING_COUNT, 1);
	known = &j->explained[(size_t)cause * FINDING_COUNT + (size_t)effect];
	if (!*known)
		*known = finding_explains(cause, effect) ? 2 : 1;
	return *known == 2;
}

static bool explains(struct judge *j, const struct finding *cause, const struct finding *effect)
{
	if (cause == effect || cause->severity < effect->severity ||
	    !kind_explains(j, cause->id, effect->id) || !same_place(j, cause, effect))
		return false;
	/* A ring in the catalogue must not make two findings blame each other. */
	return !kind_explains(j, effect->id, cause->id) || cause->order < effect->order;
}

static bool has_cause(struct judge *j, const struct finding *f)
{
	size_t i;

	for (i = 0; i < j->n_findings; i++)
		if (explains(j, j->findings[i], f))
			return true;
	return false;
}

static int before(const struct finding *x, const struct finding *y)
{
	enum layer lx = finding_info(x->id)->layer, ly = finding_info(y->id)->layer;

	return lx != ly ? (int)lx - (int)ly : x->order - y->order;
}

/* The deepest cause: among those that explain f, one that nothing explains; the lowest layer of
 * them. */
static const struct finding *cause_of(struct judge *j, const struct finding *f)
{
	const struct finding *best = NULL;
	bool best_deep = false;
	size_t i;

	for (i = 0; i < j->n_findings; i++) {
		const struct finding *c = j->findings[i];
		bool deep;

		if (!explains(j, c, f))
			continue;
		deep = !has_cause(j, c);
		if (!best || (deep && !best_deep) || (deep == best_deep && before(c, best) < 0)) {
			best = c;
			best_deep = deep;
		}
	}
	return best;
}

/* Fills causes[i] for findings[i]; NULL where nothing present explains it. */
static void link_causes(struct judge *j, const struct finding **causes)
{
	size_t i;

	for (i = 0; i < j->n_findings; i++) {
		struct finding *f = j->findings[i];

		causes[i] = cause_of(j, f);
		f->has_cause = causes[i] != NULL;
		if (causes[i])
			f->cause = causes[i]->id;
	}
}

/* -------- root and second causes */

static const struct finding *find_root(struct judge *j, enum severity least)
{
	const struct finding *root = NULL;
	size_t i;

	for (i = 0; i < j->n_findings; i++) {
		const struct finding *f = j->findings[i];

		if (f->severity < least || f->has_cause)
			continue;
		if (!root || f->severity > root->severity ||
		    (f->severity == root->severity && before(f, root) < 0))
			root = f;
	}
	return root;
}

/* Does f follow from a finding of the root's name? */
static bool follows(const struct finding *f, const struct finding *root)
{
	if (!f->has_cause)
		return f->id == root->id;
	return f->cause == root->id || finding_explains(root->id, f->id);
}

/* Files do not hide each other's faults: the first error of each stands beside the root. */
static bool first_of_file(const struct judge *j, const struct finding *f,
			  const struct finding *root)
{
	size_t i;

	if (j->s->n_projects < 2 || strcmp(f->subject, root->subject) == 0)
		return false;
	for (i = 0; i < j->s->n_projects; i++)
		if (view_starts(view_of(f->subject), fact_value(&j->s->projects[i].file, "")))
			break;
	if (i == j->s->n_projects)
		return false;
	for (i = 0; i < j->n_findings; i++) {
		const struct finding *other = j->findings[i];

		if (other != f && other->severity == SEVERITY_ERROR && !other->has_cause &&
		    strcmp(other->subject, f->subject) == 0 && before(other, f) < 0)
			return false;
	}
	return !f->has_cause;
}

/* What neither is the root nor follows from it does not block by itself: it is said, as a warning.
 */
static void demote_others(struct judge *j, const struct finding *root)
{
	bool *keep = arena_calloc(j->a, j->n_findings + 1, sizeof(*keep));
	size_t i;

	for (i = 0; i < j->n_findings; i++)
		keep[i] = j->findings[i]->severity != SEVERITY_ERROR ||
			  follows(j->findings[i], root) || first_of_file(j, j->findings[i], root);
	for (i = 0; i < j->n_findings; i++)
		if (!keep[i])
			j->findings[i]->severity = SEVERITY_WARNING;
}

static const struct finding *find_id(const struct judge *j, enum finding_id id)
{
	size_t i;

	for (i = 0; i < j->n_findings; i++)
		if (j->findings[i]->id == id)
			return j->findings[i];
	return NULL;
}

/* -------- verdict */

static const struct finding *find_fine(const struct judge *j)
{
	size_t i;

	for (i = 0; i < j->n_findings; i++)
		if (finding_is_fine(j->findings[i]->id))
			return j->findings[i];
	return NULL;
}

/* Nothing came to an answer: say so, and what to give. */
static void nothing_judged(struct judge *j)
{
	const struct snapshot *s = j->s;
	struct finding *f = finding_add(j, FINDING_INSUFFICIENT_EVIDENCE, "cuvet");

	f->severity = SEVERITY_INFO;
	finding_message(j, f, "%s",
			_("There is too little to judge: nothing that was found or named can be "
			  "held against anything else."));
	finding_evidence(j, f, "source", fact_value(&s->source, "none"), NULL, "cuvet");
	if (!s->n_gpus)
		judge_ask(j, "%s", _("the GPU: lspci -nn -d 10de: (or --assume gpu=NAME)"));
	if (!fact_known(&s->driver.version))
		judge_ask(j, "%s",
			  _("the driver: nvidia-smi, or cat /proc/driver/nvidia/version (or "
			    "--assume driver=VERSION)"));
	judge_ask(j, "%s",
		  _("the framework: python -m pip list (or --assume torch=VERSION+VARIANT)"));
}

/* Of a machine that could not be asked for its GPUs, and of which nothing else is known to hold
 * them against, no answer is a pass. */
static bool gpus_unknown(const struct snapshot *s)
{
	enum fact_state pci = s->parts.pci.state;

	return (pci == FACT_DENIED || pci == FACT_BROKEN) && !s->n_gpus;
}

/* Of what was only named: is there nothing that could clash with anything?  A framework alone can
 * be unpublished. */
static bool few_named(const struct snapshot *s)
{
	size_t i, n = 0;

	if (!fact_is(&s->source, "assumed"))
		return false;
	for (i = 0; i < s->n_pythons; i++)
		if (fact_known(&s->pythons[i].torch.version) || s->pythons[i].n_packages)
			return false;
	n += s->n_gpus > 0;
	n += fact_known(&s->driver.version);
	n += s->n_toolkits > 0;
	return n < 2;
}

/* A tree that holds no GPU stack at all, and of whose machine nothing is known. */
static bool nothing_there(const struct snapshot *s)
{
	return fact_is(&s->source, "image") && !s->n_gpus && !s->n_pythons && !s->n_toolkits &&
	       !s->n_projects && !s->n_require && !fact_known(&s->driver.version) &&
	       !s->driver.n_modules && !fact_known(&s->driver.libcuda.path);
}

static enum verdict decide(struct judge *j)
{
	enum severity worst = SEVERITY_INFO;
	size_t i;

	for (i = 0; i < j->n_findings; i++)
		if (j->findings[i]->severity > worst)
			worst = j->findings[i]->severity;
	if (worst == SEVERITY_ERROR)
		return VERDICT_BLOCKED;
	if (find_id(j, FINDING_INSUFFICIENT_EVIDENCE))
		return VERDICT_UNDETERMINED;
	return worst == SEVERITY_WARNING ? VERDICT_DEGRADED : VERDICT_STACK_OK;
}

/* No error without a way out: where a rule knows no better, the catalogue's advice stands. */
static void complete_remedies(struct judge *j)
{
	size_t i;

	for (i = 0; i < j->n_findings; i++)
		if (j->findings[i]->severity == SEVERITY_ERROR && !j->findings[i]->n_remedies)
			finding_remedy(j, j->findings[i], "%s",
				       _(finding_info(j->findings[i]->id)->fix));
}

/* -------- order of the results */

struct ranked {
	struct finding *f;
	int group; /* 0 root, 1 of the root's name or from it, 2 the rest */
};

static int by_rank(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	if (a->group != b->group)
		return a->group - b->group;
	if (a->f->severity != b->f->severity)
		return (int)b->f->severity - (int)a->f->severity;
	return before(a->f, b->f);
}

static void sort_findings(struct judge *j, const struct finding *root)
{
	struct ranked *r = arena_calloc(j->a, j->n_findings + 1, sizeof(*r));
	size_t i;

	for (i = 0; i < j->n_findings; i++) {
		r[i].f = j->findings[i];
		r[i].group = r[i].f == root ? 0 : root && follows(r[i].f, root) ? 1 : 2;
	}
	qsort(r, j->n_findings, sizeof(*r), by_rank);
	for (i = 0; i < j->n_findings; i++)
		j->findings[i] = r[i].f;
}

static void give(struct judge *j, const struct finding *root, struct results *ret)
{
	sort_findings(j, root);
	ret->root = root;
	ret->findings = j->findings;
	ret->n_findings = j->n_findings;
	ret->skipped = j->skipped;
	ret->n_skipped = j->n_skipped;
	ret->asks = j->asks;
	ret->n_asks = j->n_asks;
	ret->ruled = j->ruled;
	ret->n_ruled = j->n_ruled;
}

/* The user's word: where nothing is to blame, what --error names is. */
static const struct finding *insisted(struct judge *j, const struct judge_options *o,
				      const struct finding *root)
{
	size_t i;

	for (i = 0; i < j->n_findings; i++) {
		struct finding *f = j->findings[i];

		if ((f != root && root->severity == SEVERITY_ERROR) ||
		    !finding_listed(o->error, o->n_error, f->id))
			continue;
		f->severity = SEVERITY_ERROR;
		root = f;
	}
	return root;
}

/* A complaint decides: its root is what explains it best, and nothing stands above that. */
static void settle_triage(struct judge *j, const struct judge_options *o, struct results *ret)
{
	const struct finding **causes, *root;
	size_t i;

	drop_ignored(j, o);
	root = insisted(j, o, triage_root(j, o));
	causes = arena_calloc(j->a, j->n_findings + 1, sizeof(*causes));
	link_causes(j, causes);
	for (i = 0; i < j->n_findings; i++)
		if (j->findings[i] == root)
			j->findings[i]->has_cause = false;
	complete_remedies(j);
	*ret = (struct results){ .verdict = decide(j) };
	/* The complaint is answered; what else the text shows is no part of it. */
	if (finding_is_fine(root->id) && ret->verdict == VERDICT_DEGRADED)
		ret->verdict = VERDICT_STACK_OK;
	give(j, root, ret);
}

void settle(struct judge *j, const struct judge_options *o, int judged, struct results *ret)
{
	const struct finding **causes, *root;

	if (o->triage) {
		settle_triage(j, o, ret);
		return;
	}
	drop_ignored(j, o);
	/* A requirement without a finding was held against something, and holds. */
	if ((judged == 0 || gpus_unknown(j->s) || nothing_there(j->s) ||
	     (few_named(j->s) && !j->s->n_require)) &&
	    !j->n_findings)
		nothing_judged(j);
	set_severities(j, o);
	causes = arena_calloc(j->a, j->n_findings + 1, sizeof(*causes));
	link_causes(j, causes);
	root = find_root(j, SEVERITY_ERROR);
	if (root)
		demote_others(j, root);
	complete_remedies(j);
	*ret = (struct results){ .verdict = decide(j) };
	if (!root && ret->verdict == VERDICT_UNDETERMINED)
		root = find_id(j, FINDING_INSUFFICIENT_EVIDENCE);
	if (!root && ret->verdict == VERDICT_STACK_OK)
		root = find_fine(j);
	give(j, root, ret);
}
