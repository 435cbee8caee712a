/* SPDX-License-Identifier: Apache-2.0 */
/* YAML and JSON that start containers: compose, devcontainer, Kubernetes, cog. */
#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "project/services.h"

struct place yml_value(const struct yml *y, const struct doc *d)
{
	return (struct place){ .file = y->path,
			       .line = d ? d->line : 0,
			       .column = d ? d->column : 0 };
}

struct place yml_key(const struct yml *y, const struct doc *d)
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
void yml_environment(struct yml *y, struct project *p, const struct doc *env)
{
	const struct doc *d;
	struct view value;
	const char *name;

	for (d = doc_first(env); d; d = d->next) {
		if (env->kind == DOC_MAP) {
			if (doc_str(d) || d->kind == DOC_NULL)
				project_set(y->r, p, d->key, doc_str(d) ? doc_str(d) : "",
					    yml_key(y, d));
		} else if (d->kind == DOC_MAP) {
			if (doc_get_str(d, "name") && doc_get(d, "value"))
				project_set(y->r, p, doc_get_str(d, "name"),
					    doc_get_str(d, "value") ? doc_get_str(d, "value") : "",
					    yml_value(y, doc_get(d, "value")));
		} else if (doc_str(d) && strchr(doc_str(d), '=')) {
			name = view_dup(y->r->a, view_cut(view_of(doc_str(d)), '=', &value));
			project_set(y->r, p, name, view_dup(y->r->a, value), yml_value(y, d));
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
		requested(p, GPU_REQUESTED, yml_value(y, d));
		p->gpu_count =
			doc_is(ids, DOC_LIST) ? (long)ids->n : number(doc_get_str(d, "count"));
		if (driver && strcmp(driver, "cdi") == 0)
			continue;
		p->capabilities = joined(y, caps);
		p->capabilities_at = yml_value(y, doc_first(caps) ? doc_first(caps) : caps);
	}
}

/* What is built, from which stage, with which arguments; values that variables give are left out.
 */
static void builds(struct yml *y, struct project *p, const struct doc *build, const char *file)
{
	struct build *b = ARENA_APPEND(y->r->a, y->r->builds, y->r->n_builds);
	struct project given = { .n_env = 0 };
	size_t i;

	p->context = file;
	p->target = doc_get_str(build, "target");
	yml_environment(y, &given, doc_get(build, "args"));
	*b = (struct build){ .file = file, .target = p->target };
	for (i = 0; i < given.n_env; i++) {
		struct project none = { .n_env = 0 };
		bool unknown = false;
		const char *value = substitute(y->r, &none, view_of(given.env[i].value), &unknown);

		if (unknown)
			continue;
		*ARENA_APPEND(y->r->a, b->args, b->n_args) = given.env[i];
		b->args[b->n_args - 1].value = value;
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
	yml_environment(y, p, doc_get(s, "environment"));
	p->gpus = GPU_NOT_REQUESTED;
	p->gpus_at = yml_key(y, s);
	if (gpus && !doc_is(gpus, DOC_NULL)) {
		requested(p, GPU_REQUESTED, yml_key(y, gpus));
		if (gpus->kind == DOC_LIST)
			reservations(y, p, gpus);
	}
	if (doc_str(runtime) && strcmp(doc_str(runtime), "nvidia") == 0 && p->gpus != GPU_REQUESTED)
		requested(p, GPU_RUNTIME, yml_value(y, runtime));
	reservations(y, p, doc_at(s, "deploy.resources.reservations.devices"));
	for (args = doc_first(doc_get(s, "devices")); args; args = args->next)
		if (doc_str(args) &&
		    (strstr(doc_str(args), "nvidia") || strstr(doc_str(args), "dxg")))
			requested(p, GPU_REQUESTED, yml_value(y, args));
	if (build) {
		const char *context =
			doc_str(build) ? doc_str(build) : doc_get_str(build, "context");
		const char *file = doc_get_str(build, "dockerfile");

		if (!context || strcmp(context, ".") == 0 || strcmp(context, "./") == 0)
			context = "";
		file = file ? file : "Dockerfile";
		builds(y, p, build,
		       beside_file(y->r->a, y->path,
				   *context ? arena_printf(y->r->a, "%s/%s", context, file)
					    : file));
		return;
	}
	if (doc_str(image)) {
		struct project none = { .n_env = 0 };

		p->image = substitute(y->r, &none, view_of(doc_str(image)), &unknown);
		p->image_unknown = unknown;
		p->image_at = yml_value(y, image);
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
	yml_environment(y, p, doc_get(c, "env"));
	p->gpus = GPU_NOT_REQUESTED;
	p->gpus_at = yml_value(y, c);
	for (d = doc_first(limits); d; d = d->next)
		if (strncmp(d->key, "nvidia.com/", 11) == 0) {
			requested(p, GPU_REQUESTED, yml_key(y, d));
			p->gpu_count = number(doc_str(d));
		}
	if (doc_get(c, "resources") && doc_at(c, "resources.claims"))
		requested(p, GPU_REQUESTED, yml_key(y, doc_at(c, "resources.claims")));
	class = doc_get_str(pod, "runtimeClassName");
	if (p->gpus == GPU_NOT_REQUESTED && class && strstr(class, "nvidia"))
		requested(p, GPU_RUNTIME, yml_value(y, doc_get(pod, "runtimeClassName")));
	if (doc_str(image)) {
		p->image = doc_str(image);
		p->image_at = yml_value(y, image);
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

/* -------- steps */

/*
 * script: it runs where the GPU is, and what depends on a condition is not read. Returns the
 * environment that it ends in.
 */
static struct project *yml_shell(struct yml *y, struct project *p, const struct doc *d, bool script)
{
	struct mapped m = { .file = y->path };
	struct shell sh = {
		.r = y->r, .p = p, .m = &m, .built = !script, .script = script
	};

	m.text = view_of(d->text);
	/* A block begins on the line behind its mark; its lines are those of the file. */
	if (d->end_line > d->line && memchr(d->text, '\n', m.text.n))
		mapped_script(y->r->a, &m, m.text, d->line + 1);
	else
		mapped_piece(y->r->a, &m, 0, d->line, d->column);
	shell_run(&sh);
	return sh.p;
}

void yml_run(struct yml *y, struct project *p, const struct doc *d)
{
	yml_shell(y, p, d, false);
}

/* -------- cog, devcontainer */

static const char *cuda_variant(const struct yml *y, const char *cuda)
{
	struct view rest, major = view_cut(view_of(cuda), '.', &rest);

	rest = view_cut(rest, '.', &rest);
	return arena_printf(y->r->a, "cu%.*s%.*s", (int)major.n, major.p, (int)rest.n, rest.p);
}

/* A build for the same major CUDA runs on an image whose CUDA is not older. */
static bool cuda_serves(const char *image, const char *build)
{
	return strncmp(image, build, strcspn(build, ".") + 1) == 0 &&
	       version_cmp_str(build, image) <= 0;
}

/*
 * cog takes PyTorch from the index of the newest CUDA of that release that the CUDA that is named
 * serves, else of the newest of all.
 */
static void cog_cuda(struct yml *y, struct step *s, const struct doc *build)
{
	const struct doc *cuda = doc_get(build, "cuda");
	const char *variant = NULL;
	struct index *index;
	size_t i, k;

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
			    (!doc_str(cuda) || cuda_serves(doc_str(cuda), rows[k]->cuda)) &&
			    (!best || version_cmp_str(rows[k]->cuda, best) > 0)) {
				best = rows[k]->cuda;
				variant = rows[k]->variant;
			}
	}
	if (!variant && doc_str(cuda))
		variant = cuda_variant(y, doc_str(cuda));
	if (!variant)
		return;
	index = step_index(y->r, s,
			   arena_printf(y->r->a, "https://download.pytorch.org/whl/%s", variant),
			   yml_value(y, doc_str(cuda) ? cuda : build));
	index->main = false;
}

/* Each package is a line of a requirements file; some have their index behind them. */
static void cog_package(struct yml *y, struct project *p, struct step *s, const struct doc *d)
{
	struct view text = view_of(doc_str(d)), rest, word;
	ptrdiff_t at = view_find(text, " --");
	struct index *i;

	want_parse(y->r, p, s,
		   view_trim((struct view){ .p = text.p,
					    .n = at < 0 ? text.n : (size_t)at }),
		   yml_value(y, d));
	rest = at < 0 ? (struct view){ 0 } : view_skip(text, (size_t)at);
	while (view_word(&rest, &word)) {
		bool main = view_is(word, "--index-url"), links = view_is(word, "--find-links");

		if ((!main && !links && !view_is(word, "--extra-index-url")) ||
		    !view_word(&rest, &word))
			continue;
		i = step_index(y->r, s, view_dup(y->r->a, word), yml_value(y, d));
		i->main = main;
		i->links = links;
	}
}

static void cog(struct yml *y, const struct doc *doc)
{
	struct project *p = project_new(y->r, PROJECT_COG, y->path);
	const struct doc *b = doc_get(doc, "build"), *d;
	struct step *s;

	if (!doc_true(doc_get(b, "gpu"))) {
		p->final = false;
		project_doubt(y->r, p, yml_key(y, b), "%s",
			      _("it is built for machines without a GPU"));
		return;
	}
	if (doc_get_str(b, "python_version")) {
		p->python = doc_get_str(b, "python_version");
		p->python_at = yml_value(y, doc_get(b, "python_version"));
	}
	s = project_step(y->r, p, BY_PIP, yml_key(y, b));
	for (d = doc_first(doc_get(b, "python_packages")); d; d = d->next)
		if (doc_str(d))
			cog_package(y, p, s, d);
	d = doc_get(b, "python_requirements");
	if (doc_str(d))
		requirements_read(y->r, p, s, beside_file(y->r->a, y->path, doc_str(d)),
				  yml_value(y, d), false);
	cog_cuda(y, s, b);
	for (d = doc_first(doc_get(b, "run")); d; d = d->next) {
		const struct doc *cmd = doc_is(d, DOC_MAP) ? doc_get(d, "command") : d;

		if (doc_str(cmd))
			yml_run(y, p, cmd);
	}
}

static void devcontainer(struct yml *y, const struct doc *doc)
{
	struct project *p = project_new(y->r, PROJECT_DEVCONTAINER, y->path);
	const struct doc *image = doc_get(doc, "image"), *d;
	const char *file = doc_at(doc, "build.dockerfile")
				   ? doc_str(doc_at(doc, "build.dockerfile"))
				   : doc_get_str(doc, "dockerFile");

	yml_environment(y, p, doc_get(doc, "containerEnv"));
	/* With dockerComposeFile that file says it. */
	if (!doc_get(doc, "dockerComposeFile"))
		requested(p, GPU_NOT_REQUESTED, yml_value(y, image ? image : doc));
	for (d = doc_first(doc_get(doc, "runArgs")); d; d = d->next)
		if (doc_str(d) &&
		    (strncmp(doc_str(d), "--gpus", 6) == 0 || strstr(doc_str(d), "nvidia")))
			requested(p, GPU_REQUESTED, yml_value(y, d));
	d = doc_at(doc, "hostRequirements.gpu");
	if (d && (!doc_is(d, DOC_BOOL) || doc_true(d)))
		requested(p, GPU_REQUESTED, yml_key(y, doc_at(doc, "hostRequirements.gpu")));
	if (doc_str(image)) {
		p->image = doc_str(image);
		p->image_at = yml_value(y, image);
	}
	if (file)
		builds(y, p, doc_get(doc, "build"), beside_file(y->r->a, y->path, file));
}

/* Spack builds from source: what comes out no table says. */
static void spack(struct yml *y, const struct doc *doc)
{
	struct project *p = project_new(y->r, PROJECT_SPACK, y->path);
	const struct doc *d = doc_first(doc_at(doc, "spack.specs"));

	for (; d; d = d->next)
		if (doc_str(d) && (strstr(doc_str(d), "torch") || strstr(doc_str(d), "cuda") ||
				   strstr(doc_str(d), "tensorflow") || strstr(doc_str(d), "jax")))
			project_doubt(y->r, p, yml_value(y, d),
				      _("%s: Spack builds it from source, which no table knows"),
				      doc_str(d));
}

/* A task of SkyPilot: what it sets up on the machine that it gets. */
static void skypilot(struct yml *y, const struct doc *doc)
{
	struct project *p = project_new(y->r, PROJECT_SKYPILOT, y->path);
	const struct doc *image = doc_at(doc, "resources.image_id");
	static const char *const parts[] = { "setup", "run" };
	size_t i;

	if (doc_str(image) && strncmp(doc_str(image), "docker:", 7) == 0) {
		p->image = doc_str(image) + 7;
		p->image_at = yml_value(y, image);
	}
	yml_environment(y, p, doc_get(doc, "envs"));
	for (i = 0; i < ARRAY_LEN(parts); i++)
		if (doc_str(doc_get(doc, parts[i])))
			p = yml_shell(y, p, doc_get(doc, parts[i]), true);
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
			ci_read(&y, doc);
		else if (kind == PROJECT_COG)
			cog(&y, doc);
		else if (kind == PROJECT_SPACK)
			spack(&y, doc);
		else if (kind == PROJECT_SKYPILOT)
			skypilot(&y, doc);
		else if (kind == PROJECT_DEVCONTAINER)
			devcontainer(&y, doc);
	}
	return 0;
}
