/* SPDX-License-Identifier: Apache-2.0 */
/* Collects what signs and facts say, weighs causes by the rows of triage.def and of the table. */
#include "rule/triage.h"

#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "rule/look.h"
#include "rule/mend.h"
#include "rule/rules.h"

/* -------- atoms */

static void atom(struct triage *t, const char *name, const struct sign *sign)
{
	*ARENA_APPEND(t->j->a, t->atoms, t->n_atoms) =
		(struct triage_atom){ .name = name, .sign = sign };
}

static const char *id_at(struct triage *t, size_t i)
{
	const char *id = compat_text(t->j->c, "signatures", i, "id");

	return id ? id : "";
}

/* The table is sorted by id, bytewise (check.py holds it to that). */
static const struct json *row_of(struct triage *t, const char *id)
{
	size_t lo = 0, hi = compat_count(t->j->c, "signatures"), mid;
	int r;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		r = strcmp(id, id_at(t, mid));
		if (r == 0)
			return compat_row(t->j->c, "signatures", mid);
		if (r < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

static void points_of(struct triage *t, const struct json *row)
{
	const struct json *v;
	enum finding_id id;
	int64_t w;

	for (v = json_first(json_get(row, "for")); v; v = json_next(v))
		if (json_int(v, &w) && w > 0 && w <= 100 && finding_lookup(json_key(v), &id) &&
		    w > t->points[id])
			t->points[id] = (int)w;
	for (v = json_first(json_get(row, "against")); v; v = json_next(v))
		if (json_str(v) && finding_lookup(json_str(v), &id))
			t->against[id] = true;
}

static void sign_atoms(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const struct json *row, *v;
	size_t i;

	for (i = 0; i < s->n_signs; i++) {
		const char *id = s->signs[i].id.value;

		if (triage_has(t, id)) {
			atom(t, id, &s->signs[i]);
			continue;
		}
		atom(t, id, &s->signs[i]);
		row = row_of(t, id);
		if (!row)
			continue;
		for (v = json_first(json_get(row, "tags")); v; v = json_next(v))
			if (json_str(v))
				atom(t, json_str(v), &s->signs[i]);
		points_of(t, row);
	}
}

static void when(struct triage *t, bool holds, const char *name)
{
	if (holds && !triage_has(t, name))
		atom(t, name, NULL);
}

/* A variable of the environment begins with the text. */
static bool env_starts(const struct snapshot *s, const char *name, const char *text)
{
	const char *v = snapshot_env(s, name);

	return v && strncmp(v, text, strlen(text)) == 0;
}

/* One GPU by an index above 0. */
static bool one_index(const struct snapshot *s)
{
	const char *v = snapshot_env(s, "CUDA_VISIBLE_DEVICES");

	return v && *v >= '1' && *v <= '9' && strspn(v, "0123456789") == strlen(v);
}

/* nvcc of another major than the CUDA of PyTorch, which then refuses to compile with it. */
static bool toolkit_other_major(struct triage *t, const struct torch *torch)
{
	const struct snapshot *s = t->j->s;
	const char *cuda = torch ? look_torch_cuda(t->j, torch) : NULL;
	const char *kit = s->n_toolkits ? fact_value(&s->toolkits[0].version, NULL) : NULL;

	return cuda && kit && look_branch(cuda) != look_branch(kit);
}

/* Every index that is named is the one without CUDA. */
static bool only_cpu_index(const struct snapshot *s)
{
	bool any = false;
	size_t i;

	for (i = 0; i < s->n_signs; i++) {
		if (!fact_is(&s->signs[i].id, "index-tag"))
			continue;
		any = true;
		if (!fact_is(&s->signs[i].value, "cpu"))
			return false;
	}
	return any;
}

/* The major release of a package of the judged environment; 0 when it is not known. */
static unsigned major_of(const struct snapshot *s, const char *name)
{
	const struct package *p = s->n_pythons ? python_package(&s->pythons[0], name) : NULL;

	return p && fact_known(&p->version) ? look_branch(p->version.value) : 0;
}

/* LD_LIBRARY_PATH names the toolkit of another release than the one that PyTorch brings. */
static bool path_of_other_cuda(struct triage *t, const struct torch *torch)
{
	const char *cuda = torch ? look_torch_cuda(t->j, torch) : NULL;
	const char *path = snapshot_env(t->j->s, "LD_LIBRARY_PATH");
	const char *at = path ? strstr(path, "/cuda-") : NULL;

	return cuda && at && at[6] >= '0' && at[6] <= '9' &&
	       strncmp(at + 6, cuda, strlen(cuda)) != 0;
}

static void fact_atoms(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const struct torch *torch = s->n_pythons ? &s->pythons[0].torch : NULL;
	const char *variant = torch ? look_torch_variant(t->j, torch) : NULL;
	bool cpu = (variant && strncmp(variant, "cpu", 3) == 0) || triage_has(t, "conda-torch-cpu");
	bool wsl = look_is_wsl(s) || triage_has(t, "is-wsl");
	bool rocm = (variant && strncmp(variant, "rocm", 4) == 0) || triage_has(t, "torch-rocm");

	if (torch && torch->cuda.state == FACT_ABSENT && !rocm)
		cpu = true;
	when(t, wsl, "wsl");
	when(t, !wsl && (fact_is(&s->host.system, "windows") || triage_has(t, "is-windows")),
	     "windows");
	when(t, fact_is(&s->host.system, "macos"), "macos");
	when(t, !triage_has(t, "windows") && !triage_has(t, "macos"), "linux");
	when(t, fact_is(&s->host.arch, "aarch64") || triage_has(t, "is-aarch64"), "aarch64");
	when(t, fact_is(&s->host.libc, "musl") || triage_has(t, "is-alpine"), "musl");
	when(t,
	     triage_has(t, "container-run") || triage_has(t, "container-prompt") ||
		     triage_has(t, "is-container"),
	     "container");
	when(t, torch && fact_known(&torch->version), "torch");
	when(t, env_starts(s, "CUDA_VISIBLE_DEVICES", "MIG-"), "mig-chosen");
	when(t,
	     env_starts(s, "NVIDIA_VISIBLE_DEVICES", "GPU-") ||
		     env_starts(s, "NVIDIA_VISIBLE_DEVICES", "MIG-"),
	     "given-by-uuid");
	when(t, one_index(s), "one-index");
	when(t,
	     snapshot_env(s, "LD_LIBRARY_PATH") &&
		     (strstr(snapshot_env(s, "LD_LIBRARY_PATH"), "/cuda") ||
		      strstr(snapshot_env(s, "LD_LIBRARY_PATH"), "/cudnn")),
	     "ld-path-cuda");
	when(t, path_of_other_cuda(t, torch), "ld-path-other-cuda");
	when(t, cpu, "torch-cpu");
	when(t, rocm, "torch-rocm");
	when(t, !cpu && !rocm && torch && look_torch_cuda(t->j, torch), "torch-cuda");
	when(t, s->n_gpus > 0, "gpu");
	when(t, look_virtual_gpu(s), "vgpu");
	when(t, mend_family(t) != NULL, mend_family(t));
	when(t, triage_has(t, "on-ubuntu") || triage_has(t, "on-debian"), "on-apt");
	when(t, triage_all_ampere(s), "gpus-ampere");
	when(t, triage_before_volta(s), "gpus-before-volta");
	when(t, triage_jax_without_cuda(s), "jax-alone");
	when(t, only_cpu_index(s), "cpu-index");
	when(t, major_of(s, "numpy") >= 2, "numpy-2");
	when(t, major_of(s, "numpy") == 1, "numpy-1");
	when(t, fact_known(&s->driver.version), "driver");
	when(t, fact_is(&s->driver.flavor, "open"), "module-open");
	when(t, s->n_toolkits > 0, "toolkit");
	when(t, toolkit_other_major(t, torch), "toolkit-other-major");
	when(t,
	     triage_has(t, "smi-gpu") ||
		     (triage_has(t, "smi-header") && !triage_has(t, "smi-fails")) ||
		     triage_has(t, "smi-said-ok"),
	     "smi-works");
}

bool triage_has(const struct triage *t, const char *name)
{
	size_t i;

	for (i = 0; i < t->n_atoms; i++)
		if (strcmp(t->atoms[i].name, name) == 0)
			return true;
	return false;
}

const struct sign *triage_sign(const struct triage *t, const char *name)
{
	size_t i;

	for (i = 0; i < t->n_atoms; i++)
		if (t->atoms[i].sign && strcmp(t->atoms[i].name, name) == 0)
			return t->atoms[i].sign;
	return NULL;
}

const char *triage_value(const struct triage *t, const char *name)
{
	const struct sign *g = triage_sign(t, name);

	return g ? fact_value(&g->value, NULL) : NULL;
}

/* -------- conditions */

/* One of "a|b|c"; the first that holds gives the evidence. */
static bool one_of(struct triage *t, struct view term, struct finding *f)
{
	struct view name;
	char buf[64];

	while (term.n) {
		name = view_cut(term, '|', &term);
		if (!name.n || name.n >= sizeof(buf))
			return false;
		memcpy(buf, name.p, name.n);
		buf[name.n] = '\0';
		if (!triage_has(t, buf))
			continue;
		if (f)
			triage_evidence(t, f, buf);
		return true;
	}
	return false;
}

bool triage_holds(struct triage *t, const char *terms, struct finding *f)
{
	struct view rest = view_of(terms), term;

	while (view_word(&rest, &term)) {
		bool no = term.p[0] == '!';

		if (one_of(t, no ? view_skip(term, 1) : term, no ? NULL : f) == no)
			return false;
	}
	return true;
}

/* Of an environment that is shown beside the one which fails. */
static bool of_another(const struct snapshot *s, const struct finding *f)
{
	const struct python *p = look_python_of(s, f->subject);

	return p && fact_no(&p->active);
}

struct finding *triage_add(struct triage *t, enum finding_id id, int weight, const char *terms)
{
	struct finding *f = NULL;
	size_t i;

	for (i = 0; i < t->j->n_findings && !f; i++)
		if (t->j->findings[i]->id == id && !of_another(t->j->s, t->j->findings[i]))
			f = t->j->findings[i];
	if (!f) {
		f = finding_add(t->j, id, "");
		f->subject = _("the pasted text");
		f->weight = weight;
	} else {
		/* A second reason for the same: a little more than the stronger of the two. */
		int was = f->weight ? f->weight : TRIAGE_FACTS;

		f->weight = (was > weight ? was : weight) + 4;
	}
	if (weight < 80)
		finding_inferred(f);
	if (terms)
		triage_holds(t, terms, f);
	return f;
}

/* -------- rows */

struct condition {
	enum finding_id id;
	int weight;
	const char *terms, *message;
};

static const struct condition conditions[] = {
#define T(id_, weight_, terms_, message_) \
	{ .id = FINDING_##id_, .weight = weight_, .terms = terms_, .message = message_ },
#include "rule/triage.def"
#undef T
};

static void rows(struct triage *t)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(conditions); i++) {
		const struct condition *c = &conditions[i];
		struct finding *f;

		if (!triage_holds(t, c->terms, NULL))
			continue;
		f = triage_add(t, c->id, c->weight, c->terms);
		if (c->message)
			f->message = _(c->message);
	}
}

/* What a row of the table says by itself: "for" with 50 and more. */
static void table_rows(struct triage *t)
{
	const struct json *row, *v;
	enum finding_id id;
	size_t i;
	int64_t w;

	for (i = 0; i < t->j->s->n_signs; i++) {
		const char *name = t->j->s->signs[i].id.value;

		if (triage_sign(t, name) != &t->j->s->signs[i])
			continue; /* a second one of the same row */
		row = row_of(t, name);
		if (!row)
			continue;
		for (v = json_first(json_get(row, "for")); v; v = json_next(v))
			if (json_int(v, &w) && w >= TRIAGE_ROOT && w <= 100 &&
			    finding_lookup(json_key(v), &id))
				triage_add(t, id, (int)w, name);
	}
}

/* -------- settling */

/* About a project file in the text: an excerpt, of which nobody says that it is what failed. */
static bool of_project(const struct snapshot *s, const struct finding *f)
{
	size_t i, n;

	for (i = 0; i < s->n_projects; i++) {
		const char *file = fact_value(&s->projects[i].file, "");

		n = strlen(file);
		if (n && f->subject && strncmp(f->subject, file, n) == 0 &&
		    (f->subject[n] == '\0' || f->subject[n] == ','))
			return true;
	}
	return false;
}

static void weigh(struct triage *t)
{
	size_t i;

	for (i = 0; i < t->j->n_findings; i++) {
		struct finding *f = t->j->findings[i];

		if (!f->weight) {
			f->weight = f->severity == SEVERITY_ERROR && of_project(t->j->s, f)
					    ? TRIAGE_PROJECT
				    : f->severity == SEVERITY_ERROR   ? TRIAGE_FACTS
				    : f->severity == SEVERITY_WARNING ? TRIAGE_WARNING
								      : 20;
			if (t->points[f->id])
				f->weight += TRIAGE_POINTED;
		}
		if (t->against[f->id])
			f->weight -= TRIAGE_AGAINST;
		if (f->id == FINDING_HARMLESS_WARNING && f->weight >= TRIAGE_ROOT &&
		    triage_failure_left(t, f))
			f->weight = TRIAGE_WARNING;
		/* Of another environment than the one that fails: it bites there. */
		if (of_another(t->j->s, f) && f->weight >= TRIAGE_ROOT)
			f->weight = TRIAGE_WARNING;
	}
}

static struct finding *strongest(struct judge *j)
{
	struct finding *best = NULL;
	size_t i;

	for (i = 0; i < j->n_findings; i++) {
		struct finding *f = j->findings[i];

		if (f->id == FINDING_INSUFFICIENT_EVIDENCE || f->weight < TRIAGE_ROOT)
			continue;
		if (!best || f->weight > best->weight ||
		    (f->weight == best->weight &&
		     finding_info(f->id)->layer < finding_info(best->id)->layer))
			best = f;
	}
	return best;
}

static bool ordinary(const struct judge *j, const struct finding *f, size_t n)
{
	return (size_t)f->order < n && f->certainty == CERTAINTY_OBSERVED &&
	       f->weight >= TRIAGE_FACTS && !of_project(j->s, f);
}

/* The deepest of those that explain it and are about as strong. */

static struct finding *deepest(struct judge *j, struct finding *root, size_t n_ordinary)
{
	size_t i, steps;

	for (steps = 0; steps < 8; steps++) {
		struct finding *deeper = NULL;

		for (i = 0; i < j->n_findings; i++) {
			struct finding *f = j->findings[i];

			/* What follows from facts by the ordinary rules holds, however plainly a
			 * message names the consequence. */
			if (f != root && f->weight >= TRIAGE_ROOT &&
			    (f->weight + TRIAGE_CLOSE >= root->weight ||
			     ordinary(j, f, n_ordinary)) &&
			    finding_explains(f->id, root->id) &&
			    !finding_explains(root->id, f->id) &&
			    (!deeper || f->weight > deeper->weight))
				deeper = f;
		}
		if (!deeper)
			return root;
		root = deeper;
	}
	return root;
}

static bool is_fine(enum finding_id id)
{
	return id == FINDING_OUT_OF_MEMORY || id == FINDING_HOST_MEMORY ||
	       id == FINDING_APPLICATION_BUG || id == FINDING_HARMLESS_WARNING ||
	       id == FINDING_NO_FAULT;
}

/* Two names for one build without CUDA: mending the one mends the other. */
static bool is_twin(const struct finding *f, const struct finding *root)
{
	return strncmp(finding_info(f->id)->name, "cpu-only-", 9) == 0 &&
	       strncmp(finding_info(root->id)->name, "cpu-only-", 9) == 0;
}

/*
 * The root explains the complaint, whatever it weighs elsewhere; what else the text shows bites
 * later. What it only lets one guess is another guess at the first.
 */
static void severities(struct judge *j, struct finding *root)
{
	size_t i;

	for (i = 0; i < j->n_findings; i++) {
		struct finding *f = j->findings[i];

		if (f == root)
			f->severity = is_fine(f->id) || f->id == FINDING_INSUFFICIENT_EVIDENCE
					      ? SEVERITY_INFO
					      : SEVERITY_ERROR;
		else if (is_fine(f->id) || f->weight < TRIAGE_ROOT || is_twin(f, root) ||
			 f->certainty == CERTAINTY_INFERRED)
			f->severity = SEVERITY_INFO;
		else
			f->severity = SEVERITY_WARNING;
	}
}

/* A rule that found too little does not stand against one that found enough. */
static void drop_undecided(struct judge *j)
{
	size_t i, n = 0;

	for (i = 0; i < j->n_findings; i++)
		if (j->findings[i]->id != FINDING_INSUFFICIENT_EVIDENCE)
			j->findings[n++] = j->findings[i];
	j->n_findings = n;
}

static struct finding *undecided(struct triage *t)
{
	struct finding *f = finding_add(t->j, FINDING_INSUFFICIENT_EVIDENCE, "");
	const struct sign *g;
	size_t i;

	f->subject = _("the pasted text");
	f->severity = SEVERITY_INFO;
	f->message =
		_("The text shows what failed, and not why: several causes would look like this.");
	for (i = 0; i < t->j->s->n_signs && f->n_evidence < 3; i++) {
		g = &t->j->s->signs[i];
		if (row_of(t, g->id.value) && strncmp(g->id.value, "word-", 5) != 0)
			triage_evidence_sign(t, f, g);
	}
	if (!f->n_evidence)
		f->message = _("The text holds nothing that could be judged.");
	triage_asks(t);
	return f;
}

/* What the text says of it elsewhere, and differently: the conclusion is less certain then. */
static void contradicted(struct judge *j, struct finding *root)
{
	size_t i, k, n = root->n_evidence;

	if (root->id == FINDING_MULTIPLE_ENVS)
		return;
	for (i = 0; i < j->s->n_signs; i++) {
		const struct sign *g = &j->s->signs[i];

		if (strncmp(fact_value(&g->id, ""), "differs:", 8) != 0)
			continue;
		for (k = 0; k < n && k < root->n_evidence; k++) {
			if (strcmp(root->evidence[k].field, g->id.value + 8) != 0)
				continue;
			finding_inferred(root);
			finding_evidence(j, root, root->evidence[k].field,
					 fact_value(&g->value, ""), NULL, g->value.source);
			break;
		}
	}
}

const struct finding *triage_root(struct judge *j)
{
	struct triage *t = arena_alloc(j->a, sizeof(*t));
	struct finding *root;
	size_t n_ordinary = j->n_findings;

	t->j = j;
	sign_atoms(t);
	fact_atoms(t);
	rows(t);
	table_rows(t);
	triage_versions(t);
	triage_cards(t);
	triage_modules(t);
	triage_libraries(t);
	triage_machine(t);
	triage_driver_rules(t);
	triage_install(t);
	triage_frameworks(t);
	triage_refute(t);
	weigh(t);
	root = strongest(j);
	if (root)
		drop_undecided(j);
	root = root ? deepest(j, root, n_ordinary) : undecided(t);
	severities(j, root);
	contradicted(j, root);
	triage_evidence_more(t, root);
	triage_rule_out(t, root);
	triage_mend(t, root);
	return root;
}
