/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of versions that are known to give wrong results or to crash, by the table; only rows that
 * are sure, and only where both sides are there. */
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "model/pep440.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/rules.h"

/* Version of a library by the wheel that holds it, whatever its suffix. */
static const struct fact *wheel(const struct python *p, const char *library)
{
	size_t i, n = strlen(library);

	for (i = 0; i < p->n_packages; i++) {
		const char *name = fact_value(&p->packages[i].name, "");

		if (strncmp(name, "nvidia-", 7) == 0 && strncmp(name + 7, library, n) == 0 &&
		    (!name[7 + n] || strncmp(name + 7 + n, "-cu", 3) == 0) &&
		    fact_known(&p->packages[i].version))
			return &p->packages[i].version;
	}
	return NULL;
}

/* What a side of a row is in this environment; NULL when it is not there, or not known. */
static const struct fact *side(struct judge *j, const struct python *p, const char *what)
{
	const struct package *pkg;
	const struct torch_row *row;
	struct fact *f;

	if (strcmp(what, "cudnn") == 0 || strcmp(what, "cublas") == 0)
		return wheel(p, what);
	if (strcmp(what, "torch") == 0)
		return fact_known(&p->torch.version) ? &p->torch.version : NULL;
	if (strcmp(what, "cudnn-build") == 0) {
		row = look_torch_row(j, &p->torch);
		if (!row || !row->cudnn)
			return NULL;
		f = arena_calloc(j->a, 1, sizeof(*f));
		fact_set(f, row->cudnn, row->source);
		return f;
	}
	pkg = python_package(p, what);
	return pkg && fact_known(&pkg->version) ? &pkg->version : NULL;
}

static bool holds(struct judge *j, const char *spec, const char *version)
{
	struct view local, release = view_cut(view_of(version), '+', &local);
	struct pep440_spec s;
	struct pep440 v;
	const char *what;
	unsigned parts = 3;
	size_t at, i;

	if (!pep440_spec_parse(j->a, view_of(spec), &s, &at, &what) || !pep440_parse(release, &v))
		return false;
	/* Wheels count a build behind the library's own version: 9.10.0.56 is 9.10.0. */
	for (i = 0; i < s.n; i++)
		if (s.clauses[i].version.n > parts)
			parts = s.clauses[i].version.n;
	for (i = parts; i < v.n; i++)
		v.part[i] = 0;
	if (v.n > parts)
		v.n = parts;
	for (i = 0; i < s.n; i++)
		if (!pep440_clause_holds(&s.clauses[i], &v, release))
			return false;
	return true;
}

/* The GPU of a side "cc"; SIZE_MAX when none of them fits. */
static size_t gpu_of(struct judge *j, const char *spec)
{
	size_t i;

	for (i = 0; i < j->s->n_gpus; i++)
		if (look_gpu_used(j->s, i) && look_cc(&j->s->gpus[i]) > 0 &&
		    holds(j, spec, cc_text(j->a, look_cc(&j->s->gpus[i]))))
			return i;
	return SIZE_MAX;
}

static size_t used_gpus(const struct snapshot *s)
{
	size_t i, n = 0;

	for (i = 0; i < s->n_gpus; i++)
		n += look_gpu_used(s, i) && look_is_nvidia(&s->gpus[i]);
	return n;
}

/* Other rules say the same with more about the case. */
static bool told_elsewhere(const char *what)
{
	return strcmp(what, "cuda-compat") == 0 || strcmp(what, "onnxruntime-gpu") == 0 ||
	       strcmp(what, "tensorflow") == 0 || strcmp(what, "triton") == 0;
}

static void say(struct judge *j, const struct python *p, const struct json *row,
		const struct fact *a, const struct fact *b, size_t gpu)
{
	const char *what_a = json_get_str(json_get(row, "a"), "what"),
		   *what_b = json_get_str(json_get(row, "b"), "what"),
		   *when = json_get_str(row, "when"), *fix = json_get_str(row, "fix");
	struct finding *f = finding_add(j, FINDING_KNOWN_BAD_LIBRARY_PAIR, look_prefix(p));
	const char *other = gpu != SIZE_MAX ? gpu_subject(j, gpu)
					    : arena_printf(j->a, "%s %s", what_b, b->value);

	f->severity = SEVERITY_WARNING;
	if (when && strcmp(when, "more than one GPU") == 0)
		when = NULL; /* looked at already */
	/* What only some programs do is mentioned, and no reason to call the machine degraded. */
	if (when)
		f->severity = SEVERITY_INFO;
	if (when)
		finding_message(j, f, _("%s %s with %s: %s (%s)."), what_a, a->value, other,
				_(json_get_str(row, "effect")), _(when));
	else
		finding_message(j, f, _("%s %s with %s: %s."), what_a, a->value, other,
				_(json_get_str(row, "effect")));
	finding_fact(j, f, what_a, a, NULL);
	if (gpu != SIZE_MAX)
		finding_fact(j, f, "gpu.compute_capability", &j->s->gpus[gpu].compute_capability,
			     NULL);
	else
		finding_fact(j, f, what_b, b, NULL);
	finding_evidence(j, f, "matrix known_bad", json_get_str(row, "id"), NULL,
			 "matrix known_bad");
	finding_remedy(j, f, _("What mends it: %s."), fix ? _(fix) : _("another version"));
}

static void row_in(struct judge *j, const struct python *p, const struct json *row)
{
	const struct json *ja = json_get(row, "a"), *jb = json_get(row, "b");
	const char *what_a = json_get_str(ja, "what"), *what_b = json_get_str(jb, "what"),
		   *spec_a = json_get_str(ja, "versions"), *spec_b = json_get_str(jb, "versions"),
		   *confidence = json_get_str(row, "confidence"), *when = json_get_str(row, "when");
	const struct fact *a, *b = NULL;
	size_t gpu = SIZE_MAX;

	if (!what_a || !what_b || !spec_a || !spec_b || told_elsewhere(what_a) ||
	    (confidence && strcmp(confidence, "high") != 0))
		return;
	a = side(j, p, what_a);
	if (!a || !holds(j, spec_a, a->value))
		return;
	if (strcmp(what_b, "cc") == 0) {
		gpu = gpu_of(j, spec_b);
		if (gpu == SIZE_MAX)
			return;
	} else {
		b = side(j, p, what_b);
		if (!b || !holds(j, spec_b, b->value))
			return;
	}
	if (when && strcmp(when, "more than one GPU") == 0 && used_gpus(j->s) < 2)
		return;
	say(j, p, row, a, b, gpu);
}

static void run_known_bad(struct judge *j)
{
	const struct json *row;
	size_t i;

	for (i = 0; i < j->s->n_pythons; i++) {
		if (!wheel(&j->s->pythons[i], "cudnn") && !wheel(&j->s->pythons[i], "cublas"))
			continue;
		for (row = json_first(json_get(compat_table(j->c, "known_bad"), "rows")); row;
		     row = json_next(row))
			row_in(j, &j->s->pythons[i], row);
	}
}

const struct rule rule_known_bad_library_pair = {
	.name = "known-bad-library-pair",
	.needs = NEED_PYTHON,
	.layer = LAYER_LIBRARY,
	.run = run_known_bad,
};
