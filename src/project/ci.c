/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of GitHub Actions and GitLab CI: what their steps install, on which image and machine. */
#include <string.h>

#include "base/arena.h"
#include "model/version.h"
#include "project/services.h"

static void job_image(struct yml *y, struct project *p, const struct doc *c)
{
	const struct doc *image = doc_is(c, DOC_MAP) ? doc_get(c, "image") : c;

	if (doc_is(c, DOC_MAP) && !image)
		image = doc_get(c, "name");
	if (!doc_str(image) || strstr(doc_str(image), "${{") || strchr(doc_str(image), '$'))
		return;
	p->image = doc_str(image);
	p->image_at = yml_value(y, image);
	if (doc_is(c, DOC_MAP))
		yml_environment(y, p, doc_get(c, "env"));
}

/* Machines that the provider lends by default: none of them has a GPU. */
static bool provider_runner(const char *label)
{
	static const char *const systems[] = { "ubuntu-", "windows-", "macos-" };
	size_t i, n;

	for (i = 0; label && i < ARRAY_LEN(systems); i++) {
		n = strlen(systems[i]);
		if (strncmp(label, systems[i], n) == 0)
			return strcmp(label + n, "latest") == 0 ||
			       strspn(label + n, "0123456789.") >= 2;
	}
	return false;
}

/* The axis of a matrix that "${{ matrix.NAME }}" means; NULL: it is none. */
static const struct doc *matrix_axis(const struct doc *job, const char *text)
{
	const char *key = text ? strstr(text, "matrix.") : NULL;
	const struct doc *axis;

	if (!key || strncmp(text, "${{", 3) != 0)
		return NULL;
	key += 7;
	for (axis = doc_first(doc_at(job, "strategy.matrix")); axis; axis = axis->next)
		if (strncmp(axis->key, key, strlen(axis->key)) == 0 &&
		    strchr(" }", key[strlen(axis->key)]))
			return axis;
	return NULL;
}

/* "ubuntu-latest", or "${{ matrix.os }}" where the matrix lists such alone. */
static bool runs_on_provider(struct arena *a, const struct doc *job)
{
	const char *label = doc_get_str(job, "runs-on"),
		   *key = label ? strstr(label, "matrix.") : NULL;
	const struct doc *axis = matrix_axis(job, label), *one, *include;
	bool any = false;

	if (!key)
		return provider_runner(label);
	key += 7;
	include = doc_first(doc_at(job, "strategy.matrix.include"));
	for (one = doc_first(axis); one; one = one->next) {
		if (!provider_runner(doc_str(one)))
			return false;
		any = true;
	}
	/* A key that only the further rows of the matrix have. */
	for (; !axis && include; include = include->next) {
		one = doc_get(include, arena_strndup(a, key, strcspn(key, " }")));
		if (!provider_runner(doc_str(one)))
			return false;
		any = true;
	}
	return any;
}

static bool is_python(const char *text)
{
	return text && strspn(text, "0123456789.") == strlen(text) && strncmp(text, "3.", 2) == 0;
}

/*
 * The lowest and the highest Python of a matrix: each is a run of its own. 0 without one, or where
 * further rows and exceptions say which combinations there are.
 */
static size_t matrix_pythons(const struct doc *job, const struct doc *ret[2])
{
	const struct doc *s, *axis = NULL, *one, *matrix = doc_at(job, "strategy.matrix");

	for (s = doc_first(doc_get(job, "steps")); s && !axis; s = s->next)
		if (doc_get_str(s, "uses") && strstr(doc_get_str(s, "uses"), "setup-python"))
			axis = matrix_axis(job, doc_str(doc_at(s, "with.python-version")));
	if (!axis || doc_get(matrix, "include") || doc_get(matrix, "exclude"))
		return 0;
	ret[0] = ret[1] = NULL;
	for (one = doc_first(axis); one; one = one->next) {
		if (!is_python(doc_str(one)))
			return 0;
		if (!ret[0] || version_cmp_str(doc_str(one), doc_str(ret[0])) < 0)
			ret[0] = one;
		if (!ret[1] || version_cmp_str(doc_str(one), doc_str(ret[1])) > 0)
			ret[1] = one;
	}
	return !ret[0] ? 0 : ret[0] == ret[1] ? 1 : 2;
}

/* "3.11"; of "3.x" the newest that PyTorch was built for: an older one it is not. NULL: none. */
static const char *chosen_python(const char *version)
{
	if (version && (strcmp(version, "3.x") == 0 || strcmp(version, "3") == 0))
		return "3.14";
	return version && *version && strspn(version, "0123456789.") == strlen(version) ? version
											: NULL;
}

static void github_steps(struct yml *y, struct project *p, const struct doc *job,
			 const struct doc *python)
{
	const struct doc *s;

	for (s = doc_first(doc_get(job, "steps")); s; s = s->next) {
		const char *uses = doc_get_str(s, "uses");
		const struct doc *version = doc_at(s, "with.python-version");
		size_t keep = p->n_env;

		if (python && matrix_axis(job, doc_str(version)))
			version = python;
		if (uses && strstr(uses, "setup-python") && chosen_python(doc_str(version))) {
			p->python = chosen_python(doc_str(version));
			p->python_at = yml_value(y, version);
		}
		yml_environment(y, p, doc_get(s, "env"));
		if (doc_str(doc_get(s, "run")))
			yml_run(y, p, doc_get(s, "run"));
		p->n_env = keep;
	}
}

static void github_run(struct yml *y, const struct doc *top, const struct doc *job,
		       const struct doc *python)
{
	struct project *p = project_new(y->r, PROJECT_CI, y->path);
	const struct setting *hides;

	p->name = python ? arena_printf(y->r->a, "%s (%s)", job->key, doc_str(python)) : job->key;
	p->hosted = runs_on_provider(y->r->a, job);
	yml_environment(y, p, doc_get(top, "env"));
	yml_environment(y, p, doc_get(job, "env"));
	/* A job that hides the GPUs wants none. */
	hides = project_env(p, "CUDA_VISIBLE_DEVICES");
	p->hosted = p->hosted || (hides && (!*hides->value || strcmp(hides->value, "-1") == 0));
	job_image(y, p, doc_get(job, "container"));
	github_steps(y, p, job, python);
}

static void github_job(struct yml *y, const struct doc *top, const struct doc *job)
{
	const struct doc *pythons[2];
	size_t i, n = matrix_pythons(job, pythons);

	for (i = 0; i < n; i++)
		github_run(y, top, job, pythons[i]);
	if (!n)
		github_run(y, top, job, NULL);
}

static void script(struct yml *y, struct project *p, const struct doc *d)
{
	const struct doc *one;

	if (doc_str(d))
		yml_run(y, p, d);
	for (one = doc_first(d); one; one = one->next)
		if (doc_str(one))
			yml_run(y, p, one);
}

enum { EXTENDS = 11 }; /* as many levels as GitLab follows */

/* A key of a job: its own, else that of what it extends (the last one named first). */
static const struct doc *job_key(const struct doc *top, const struct doc *job, const char *key,
				 int depth)
{
	const struct doc *own = doc_get(job, key), *extends = doc_get(job, "extends"), *one, *found;

	if (own || depth == EXTENDS)
		return own;
	if (doc_str(extends))
		return job_key(top, doc_get(top, doc_str(extends)), key, depth + 1);
	for (one = doc_first(extends); one; one = one->next) {
		found = doc_str(one) ? job_key(top, doc_get(top, doc_str(one)), key, depth + 1)
				     : NULL;
		own = found ? found : own;
	}
	return own;
}

/* The same, else what holds for all jobs: "default", or the top of the file. */
static const struct doc *job_or_all(const struct doc *top, const struct doc *job, const char *key)
{
	const struct doc *own = job_key(top, job, key, 0);

	if (!own)
		own = doc_get(doc_get(top, "default"), key);
	return own ? own : doc_get(top, key);
}

/* Variables of all levels hold, the nearest wins. */
static void job_variables(struct yml *y, struct project *p, const struct doc *top,
			  const struct doc *job, int depth)
{
	const struct doc *extends = doc_get(job, "extends"), *one;

	if (depth == EXTENDS)
		return;
	if (doc_str(extends))
		job_variables(y, p, top, doc_get(top, doc_str(extends)), depth + 1);
	for (one = doc_first(extends); depth < 3 && one; one = one->next)
		if (doc_str(one))
			job_variables(y, p, top, doc_get(top, doc_str(one)), depth + 1);
	yml_environment(y, p, doc_get(job, "variables"));
}

static void gitlab_job(struct yml *y, const struct doc *top, const struct doc *job)
{
	struct project *p = project_new(y->r, PROJECT_CI, y->path);

	p->name = job->key;
	yml_environment(y, p, doc_get(top, "variables"));
	job_variables(y, p, top, job, 0);
	job_image(y, p, job_or_all(top, job, "image"));
	script(y, p, job_or_all(top, job, "before_script"));
	script(y, p, job_key(top, job, "script", 0));
}

void ci_read(struct yml *y, const struct doc *doc)
{
	const struct doc *d;

	for (d = doc_first(doc_get(doc, "jobs")); d; d = d->next)
		if (doc_get(d, "steps"))
			github_job(y, doc, d);
	if (doc_get(doc, "jobs"))
		return;
	for (d = doc_first(doc); d; d = d->next)
		if (doc_is(d, DOC_MAP) && d->key[0] != '.' && job_key(doc, d, "script", 0))
			gitlab_job(y, doc, d);
}
