/* SPDX-License-Identifier: Apache-2.0 */
/* YAML and JSON that start containers or run steps: compose, devcontainer, Kubernetes, CI, cog. */
#include <string.h>

#include "base/arena.h"
#include "base/doc.h"
#include "base/strbuf.h"
#include "project/project.h"

struct yml {
	struct project_reader *r;
	const char *path;
};

static struct place at_value(const struct yml *y, const struct doc *d)
{
	return (struct place){ .file = y->path,
			       .line = d ? d->line : 0,
			       .column = d ? d->column : 0 };
}

static struct place at_key(const struct yml *y, const struct doc *d)
{
	return (struct place){ .file = y->path,
			       .line = d ? d->key_line : 0,
			       .column = d ? d->key_column : 0 };
}

static const char *joined(struct yml *y, const struct doc *list)
{
	const struct doc *d;
	struct strbuf b;

	if (doc_str(list))
		return doc_str(list);
	strbuf_init(&b, y->r->a);
	for (d = doc_first(list); d; d = d->next) {
		if (!doc_str(d))
			continue;
		strbuf_sep(&b, ",");
		strbuf_add(&b, doc_str(d));
	}
	return b.n ? b.s : NULL;
}

/* environment: a map, a list of NAME=VALUE, or Kubernetes' list of name and value. */
static void environment(struct yml *y, struct project *p, const struct doc *env)
{
	const struct doc *d;
	struct view value;
	const char *name;

	for (d = doc_first(env); d; d = d->next) {
		if (env->kind == DOC_MAP) {
			if (doc_str(d) || d->kind == DOC_NULL)
				project_set(y->r, p, d->key, doc_str(d) ? doc_str(d) : "",
					    at_key(y, d));
		} else if (d->kind == DOC_MAP) {
			if (doc_get_str(d, "name") && doc_get(d, "value"))
				project_set(y->r, p, doc_get_str(d, "name"),
					    doc_get_str(d, "value") ? doc_get_str(d, "value") : "",
					    at_value(y, doc_get(d, "value")));
		} else if (doc_str(d) && strchr(doc_str(d), '=')) {
			name = view_dup(y->r->a, view_cut(view_of(doc_str(d)), '=', &value));
			project_set(y->r, p, name, view_dup(y->r->a, value), at_value(y, d));
		}
	}
}

static void requested(struct project *p, enum gpu_request how, struct place at)
{
	p->gpus = how;
	p->gpus_at = at;
}

static long number(const char *s)
{
	uint64_t n;

	return s && view_u64(view_of(s), 10, &n) && n < 1000 ? (long)n : -1;
}

/* deploy.resources.reservations.devices[] */
static void reservations(struct yml *y, struct project *p, const struct doc *list)
{
	const struct doc *d, *caps, *ids;

	for (d = doc_first(list); d; d = d->next) {
		const char *driver = doc_get_str(d, "driver");

		caps = doc_get(d, "capabilities");
		ids = doc_get(d, "device_ids");
		if (driver && strcmp(driver, "nvidia") != 0 && strcmp(driver, "cdi") != 0)
			continue;
		requested(p, GPU_REQUESTED, at_value(y, d));
		p->gpu_count =
			doc_is(ids, DOC_LIST) ? (long)ids->n : number(doc_get_str(d, "count"));
		if (driver && strcmp(driver, "cdi") == 0)
			continue;
		p->capabilities = joined(y, caps);
		p->capabilities_at = at_value(y, doc_first(caps) ? doc_first(caps) : caps);
	}
}

static void compose_service(struct yml *y, const struct doc *s)
{
	struct project *p = project_new(y->r, PROJECT_COMPOSE, y->path);
	const struct doc *image = doc_get(s, "image"), *build = doc_get(s, "build");
	const struct doc *gpus = doc_get(s, "gpus"), *runtime = doc_get(s, "runtime");
	const struct doc *args;
	bool unknown = false;

	p->name = s->key;
	p->platform = doc_get_str(s, "platform");
	environment(y, p, doc_get(s, "environment"));
	p->gpus = GPU_NOT_REQUESTED;
	p->gpus_at = at_key(y, s);
	if (gpus && !doc_is(gpus, DOC_NULL)) {
		requested(p, GPU_REQUESTED, at_key(y, gpus));
		if (gpus->kind == DOC_LIST)
			reservations(y, p, gpus);
	}
	if (doc_str(runtime) && strcmp(doc_str(runtime), "nvidia") == 0 && p->gpus != GPU_REQUESTED)
		requested(p, GPU_RUNTIME, at_value(y, runtime));
	reservations(y, p, doc_at(s, "deploy.resources.reservations.devices"));
	for (args = doc_first(doc_get(s, "devices")); args; args = args->next)
		if (doc_str(args) &&
		    (strstr(doc_str(args), "nvidia") || strstr(doc_str(args), "dxg")))
			requested(p, GPU_REQUESTED, at_value(y, args));
	if (build) {
		const char *context =
			doc_str(build) ? doc_str(build) : doc_get_str(build, "context");
		const char *file = doc_get_str(build, "dockerfile");

		if (!context || strcmp(context, ".") == 0 || strcmp(context, "./") == 0)
			context = "";
		file = file ? file : "Dockerfile";
		p->context = beside_file(y->r->a, y->path,
					 *context ? arena_printf(y->r->a, "%s/%s", context, file)
						  : file);
		return;
	}
	if (doc_str(image)) {
		struct project none = { .n_env = 0 };

		p->image = substitute(y->r, &none, view_of(doc_str(image)), &unknown);
		p->image_unknown = unknown;
		p->image_at = at_value(y, image);
	}
}

/* -------- Kubernetes */

static void pod_container(struct yml *y, const struct doc *c, const struct doc *pod)
{
	struct project *p = project_new(y->r, PROJECT_KUBERNETES, y->path);
	const struct doc *image = doc_get(c, "image"), *d;
	const struct doc *limits = doc_at(c, "resources.limits");
	const char *class;

	p->name = doc_get_str(c, "name");
	environment(y, p, doc_get(c, "env"));
	p->gpus = GPU_NOT_REQUESTED;
	p->gpus_at = at_value(y, c);
	for (d = doc_first(limits); d; d = d->next)
		if (strncmp(d->key, "nvidia.com/", 11) == 0) {
			requested(p, GPU_REQUESTED, at_key(y, d));
			p->gpu_count = number(doc_str(d));
		}
	if (doc_get(c, "resources") && doc_at(c, "resources.claims"))
		requested(p, GPU_REQUESTED, at_key(y, doc_at(c, "resources.claims")));
	class = doc_get_str(pod, "runtimeClassName");
	if (p->gpus == GPU_NOT_REQUESTED && class && strstr(class, "nvidia"))
		requested(p, GPU_RUNTIME, at_value(y, doc_get(pod, "runtimeClassName")));
	if (doc_str(image)) {
		p->image = doc_str(image);
		p->image_at = at_value(y, image);
	}
}

/* Pod templates wherever they stand; depth and size of the document are bounded by its reader. */
static void pods(struct yml *y, const struct doc *d, int depth)
{
	const struct doc *c = doc_get(d, "containers"), *one;

	if (!d || depth > 12 || y->r->list.n > 2000)
		return;
	for (one = doc_is(c, DOC_LIST) ? doc_first(c) : NULL; one; one = one->next)
		pod_container(y, one, d);
	for (one = doc_first(d); one; one = one->next)
		if ((one->kind == DOC_MAP || one->kind == DOC_LIST) && one != c)
			pods(y, one, depth + 1);
}

/* -------- CI */

static void run_text(struct yml *y, struct project *p, const struct doc *d)
{
	struct mapped m = { .file = y->path };
	struct shell sh = { .r = y->r, .p = p, .m = &m, .built = true };
	struct view text, line;
	size_t number = d->line, start = 0;
	bool block;

	m.text = view_of(d->text);
	/* A block begins on the line behind its mark; its lines are those of the file. */
	block = d->end_line > d->line && memchr(d->text, '\n', m.text.n);
	text = m.text;
	number += block ? 1 : 0;
	while (view_line(&text, &line)) {
		mapped_piece(y->r->a, &m, start, number, block ? 1 : d->column);
		start = (size_t)(text.p - m.text.p);
		number += block ? 1 : 0;
		if (!text.n)
			break;
	}
	shell_run(&sh);
}

static void job_image(struct yml *y, struct project *p, const struct doc *c)
{
	const struct doc *image = doc_is(c, DOC_MAP) ? doc_get(c, "image") : c;

	if (doc_is(c, DOC_MAP) && !image)
		image = doc_get(c, "name");
	if (!doc_str(image) || strstr(doc_str(image), "${{") || strchr(doc_str(image), '$'))
		return;
	p->image = doc_str(image);
	p->image_at = at_value(y, image);
	if (doc_is(c, DOC_MAP))
		environment(y, p, doc_get(c, "env"));
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

/* "ubuntu-latest", or "${{ matrix.os }}" where the matrix lists such alone. */
static bool runs_on_provider(struct arena *a, const struct doc *job)
{
	const char *label = doc_get_str(job, "runs-on"),
		   *key = label ? strstr(label, "matrix.") : NULL;
	const struct doc *axis = doc_at(job, "strategy.matrix"), *one, *include;
	bool any = false;

	if (!key)
		return provider_runner(label);
	key += 7;
	include = doc_first(doc_get(axis, "include"));
	for (axis = doc_first(axis); axis; axis = axis->next)
		if (strncmp(axis->key, key, strlen(axis->key)) == 0 &&
		    strchr(" }", key[strlen(axis->key)]))
			break;
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

static void github_job(struct yml *y, const struct doc *top, const struct doc *job)
{
	struct project *p = project_new(y->r, PROJECT_CI, y->path);
	const struct setting *hides;
	const struct doc *s;

	p->name = job->key;
	p->hosted = runs_on_provider(y->r->a, job);
	environment(y, p, doc_get(top, "env"));
	environment(y, p, doc_get(job, "env"));
	/* A job that hides the GPUs wants none. */
	hides = project_env(p, "CUDA_VISIBLE_DEVICES");
	p->hosted = p->hosted ||
		    (hides && (!*hides->value || strcmp(hides->value, "-1") == 0));
	job_image(y, p, doc_get(job, "container"));
	for (s = doc_first(doc_get(job, "steps")); s; s = s->next) {
		const char *uses = doc_get_str(s, "uses");
		const struct doc *version = doc_at(s, "with.python-version");
		size_t keep = p->n_env;

		if (uses && strstr(uses, "setup-python") && doc_str(version) &&
		    strspn(doc_str(version), "0123456789.") == strlen(doc_str(version))) {
			p->python = doc_str(version);
			p->python_at = at_value(y, version);
		}
		environment(y, p, doc_get(s, "env"));
		if (doc_str(doc_get(s, "run")))
			run_text(y, p, doc_get(s, "run"));
		p->n_env = keep;
	}
}

static void script(struct yml *y, struct project *p, const struct doc *d)
{
	const struct doc *one;

	if (doc_str(d))
		run_text(y, p, d);
	for (one = doc_first(d); one; one = one->next)
		if (doc_str(one))
			run_text(y, p, one);
}

static void gitlab_job(struct yml *y, const struct doc *top, const struct doc *job)
{
	struct project *p = project_new(y->r, PROJECT_CI, y->path);

	p->name = job->key;
	environment(y, p, doc_get(top, "variables"));
	environment(y, p, doc_get(job, "variables"));
	job_image(y, p, doc_get(job, "image") ? doc_get(job, "image") : doc_get(top, "image"));
	script(y, p, doc_get(top, "before_script"));
	script(y, p, doc_get(job, "before_script"));
	script(y, p, doc_get(job, "script"));
}

static void ci(struct yml *y, const struct doc *doc)
{
	const struct doc *d;

	for (d = doc_first(doc_get(doc, "jobs")); d; d = d->next)
		if (doc_get(d, "steps"))
			github_job(y, doc, d);
	if (doc_get(doc, "jobs"))
		return;
	for (d = doc_first(doc); d; d = d->next)
		if (doc_is(d, DOC_MAP) && doc_get(d, "script") && d->key[0] != '.')
			gitlab_job(y, doc, d);
}

/* -------- cog, devcontainer */

/* cog takes PyTorch from the index of the CUDA that is named, else of the newest of that release.
 */
static void cog_cuda(struct yml *y, struct step *s, const struct doc *build)
{
	const struct doc *cuda = doc_get(build, "cuda");
	const char *variant = NULL;
	struct index *index;
	struct view rest, major;
	size_t i, k;

	if (doc_str(cuda)) {
		major = view_cut(view_of(doc_str(cuda)), '.', &rest);
		rest = view_cut(rest, '.', &rest);
		variant = arena_printf(y->r->a, "cu%.*s%.*s", (int)major.n, major.p, (int)rest.n,
				       rest.p);
	}
	for (i = 0; i < s->n_wants && !variant; i++) {
		const struct want *w = &s->wants[i];
		const struct torch_row *const *rows;
		const char *best = NULL;

		if (!w->name || strcmp(w->name, "torch") != 0 || !w->spec ||
		    strncmp(w->spec, "==", 2) != 0 || strchr(w->spec, '+') || strchr(w->spec, ','))
			continue;
		rows = compat_torch_of_release(y->r->c, w->spec + 2);
		for (k = 0; rows[k]; k++)
			if (rows[k]->cuda && strcmp(rows[k]->platform, "linux_x86_64") == 0 &&
			    (!best || version_cmp_str(rows[k]->cuda, best) > 0)) {
				best = rows[k]->cuda;
				variant = rows[k]->variant;
			}
	}
	if (!variant)
		return;
	index = step_index(y->r, s,
			   arena_printf(y->r->a, "https://download.pytorch.org/whl/%s", variant),
			   at_value(y, doc_str(cuda) ? cuda : build));
	index->main = false;
}

static void cog(struct yml *y, const struct doc *doc)
{
	struct project *p = project_new(y->r, PROJECT_COG, y->path);
	const struct doc *b = doc_get(doc, "build"), *d;
	struct step *s;

	if (!doc_true(doc_get(b, "gpu"))) {
		p->final = false;
		y->r->list.n--;
		return;
	}
	if (doc_get_str(b, "python_version")) {
		p->python = doc_get_str(b, "python_version");
		p->python_at = at_value(y, doc_get(b, "python_version"));
	}
	s = project_step(y->r, p, BY_PIP, at_key(y, b));
	for (d = doc_first(doc_get(b, "python_packages")); d; d = d->next)
		if (doc_str(d))
			want_parse(y->r, p, s, view_of(doc_str(d)), at_value(y, d));
	d = doc_get(b, "python_requirements");
	if (doc_str(d))
		requirements_read(y->r, p, s, beside_file(y->r->a, y->path, doc_str(d)),
				  at_value(y, d), false);
	cog_cuda(y, s, b);
	for (d = doc_first(doc_get(b, "run")); d; d = d->next) {
		const struct doc *cmd = doc_is(d, DOC_MAP) ? doc_get(d, "command") : d;

		if (doc_str(cmd))
			run_text(y, p, cmd);
	}
}

static void devcontainer(struct yml *y, const struct doc *doc)
{
	struct project *p = project_new(y->r, PROJECT_DEVCONTAINER, y->path);
	const struct doc *image = doc_get(doc, "image"), *d;
	const char *file = doc_at(doc, "build.dockerfile")
				   ? doc_str(doc_at(doc, "build.dockerfile"))
				   : doc_get_str(doc, "dockerFile");

	environment(y, p, doc_get(doc, "containerEnv"));
	p->gpus = GPU_NOT_SAID;
	for (d = doc_first(doc_get(doc, "runArgs")); d; d = d->next)
		if (doc_str(d) && (strncmp(doc_str(d), "--gpus", 6) == 0 ||
				   strstr(doc_str(d), "nvidia")))
			requested(p, GPU_REQUESTED, at_value(y, d));
	if (doc_at(doc, "hostRequirements.gpu"))
		requested(p, GPU_REQUESTED, at_key(y, doc_at(doc, "hostRequirements.gpu")));
	if (doc_str(image)) {
		p->image = doc_str(image);
		p->image_at = at_value(y, image);
	}
	if (file)
		p->context = beside_file(y->r->a, y->path, file);
}

/* Spack builds from source: what comes out no table says. */
static void spack(struct yml *y, const struct doc *doc)
{
	struct project *p = project_new(y->r, PROJECT_SPACK, y->path);
	const struct doc *d = doc_first(doc_at(doc, "spack.specs"));

	for (; d; d = d->next)
		if (doc_str(d) && (strstr(doc_str(d), "torch") || strstr(doc_str(d), "cuda") ||
				   strstr(doc_str(d), "tensorflow") || strstr(doc_str(d), "jax")))
			project_doubt(y->r, p, at_value(y, d),
				      _("%s: Spack builds it from source, which no table knows"),
				      doc_str(d));
}

/* A template is no YAML yet. */
static bool is_template(struct project_reader *r, enum project_kind kind, struct view text,
			const char *path)
{
	if (kind != PROJECT_KUBERNETES || view_find(text, "{{") < 0)
		return false;
	project_doubt(r, project_new(r, kind, path), (struct place){ .file = path, .line = 1 },
		      "%s", _("it is a template: check what \"helm template\" makes of it"));
	return true;
}

/* JSON with comments: they become blanks, so that places stay. */
static struct view without_comments(struct arena *a, struct view text)
{
	char *s = arena_strndup(a, text.p, text.n);
	size_t i, n = strlen(s);
	bool inside = false;

	for (i = 0; i < n; i++) {
		if (s[i] == '"')
			inside = !inside;
		else if (inside && s[i] == '\\')
			i++;
		else if (!inside && s[i] == '/' && s[i + 1] == '/')
			while (s[i] && s[i] != '\n')
				s[i++] = ' ';
		else if (!inside && s[i] == '/' && s[i + 1] == '*')
			while (s[i] && !(s[i] == '*' && s[i + 1] == '/')) {
				s[i] = s[i] == '\n' ? '\n' : ' ';
				i++;
				if (s[i] == '*' && s[i + 1] == '/') {
					s[i] = s[i + 1] = ' ';
					break;
				}
			}
		if (i < n && s[i] == '\t' && !inside)
			s[i] = ' ';
	}
	return (struct view){ .p = s, .n = n };
}

int yaml_project_read(struct project_reader *r, enum project_kind kind, struct view text,
		      const char *path, struct err *err)
{
	struct yml y = { .r = r, .path = path };
	const struct doc *docs, *doc, *d;
	int rc;

	if (is_template(r, kind, text, path))
		return 0;
	if (kind == PROJECT_DEVCONTAINER)
		text = without_comments(r->a, text);
	rc = yaml_parse(r->a, text, path, &docs, err);
	if (rc)
		return rc;
	for (doc = doc_first(docs); doc; doc = doc->next) {
		if (kind == PROJECT_COMPOSE)
			for (d = doc_first(doc_get(doc, "services")); d; d = d->next)
				compose_service(&y, d);
		else if (kind == PROJECT_KUBERNETES)
			pods(&y, doc, 0);
		else if (kind == PROJECT_CI)
			ci(&y, doc);
		else if (kind == PROJECT_COG)
			cog(&y, doc);
		else if (kind == PROJECT_SPACK)
			spack(&y, doc);
		else if (kind == PROJECT_DEVCONTAINER)
			devcontainer(&y, doc);
	}
	return 0;
}
