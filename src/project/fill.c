/* SPDX-License-Identifier: Apache-2.0 */
/* From what was read to the facts of a snapshot: each project resolved against the target. */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "project/resolve.h"

/* -------- the site */

static const char *short_python(struct arena *a, const char *v)
{
	struct version x;

	if (!v || !version_prefix(view_of(v), &x) || x.n < 2)
		return NULL;
	return arena_printf(a, "%u.%u", x.part[0], x.part[1]);
}

static const char *assumed_python(const struct snapshot *s)
{
	const struct python *p = snapshot_active_python(s);

	return p ? fact_value(&p->version, NULL) : NULL;
}

static void allowed_pythons(struct site *t)
{
	unsigned minor;

	if (t->python || !t->p->requires_python)
		return;
	for (minor = 6; minor <= 16 && t->n_allowed < ARRAY_LEN(t->allowed); minor++) {
		/* ">3.8.1" and the like allow the minor for some of its patches. */
		const char *low = arena_printf(t->r->a, "3.%u.0", minor);
		const char *high = arena_printf(t->r->a, "3.%u.99", minor);

		if (spec_holds(t, t->p->requires_python, low) ||
		    spec_holds(t, t->p->requires_python, high))
			t->allowed[t->n_allowed++] = arena_printf(t->r->a, "3.%u", minor);
	}
}

static void platform(struct site *t, const struct snapshot *s)
{
	const char *system = fact_value(&s->host.system, "linux");
	const char *arch = fact_value(&s->host.arch, "x86_64");
	const char *p = t->p->platform;

	if (p && strstr(p, "arm64"))
		arch = "aarch64";
	if (p && strstr(p, "amd64"))
		arch = "x86_64";
	t->windows = strcmp(system, "windows") == 0 && !t->p->image;
	t->macos = strcmp(system, "macos") == 0 && !t->p->image;
	t->aarch64 = strcmp(arch, "aarch64") == 0;
	t->platform = t->windows ? "windows_x86_64"
		      : t->macos ? "macos_arm64"
		      : t->aarch64 ? "linux_aarch64"
				   : "linux_x86_64";
	t->env = (struct marker_env){
		.sys_platform = t->windows ? "win32" : t->macos ? "darwin" : "linux",
		.platform_system = t->windows ? "Windows" : t->macos ? "Darwin" : "Linux",
		.platform_machine = t->windows ? "AMD64" : t->macos ? "arm64" : arch,
		.os_name = t->windows ? "nt" : "posix",
		.python = t->python,
		.python_full = t->python,
	};
}

static void image_facts(struct site *t)
{
	const struct project *p = t->p;
	struct planned *o = t->out;
	const struct base_image *i = &t->image;
	const char *at = place_text(t->r->a, &p->image_at);

	if (!p->image)
		return;
	if (p->image_unknown) {
		fact_broken(&o->image, at, _("a variable in it has no value"));
		return;
	}
	image_parse(t->r->a, t->r->c, p->image, &t->image);
	fact_set(&o->image, p->image, at);
	fact_set(&o->image_repo, i->repo, at);
	fact_set(&o->image_tag, i->digest && !i->tag ? NULL : i->tag ? i->tag : "latest", at);
	if (i->digest && !i->tag)
		fact_set(&o->image_tag, NULL, at);
	if (i->family)
		fact_set(&o->image_family, i->family, at);
	if (i->cuda || i->bare)
		fact_set(&o->image_cuda, i->cuda, at);
	if (i->cudnn || i->bare || (i->family && strcmp(i->family, "nvidia/cuda") == 0))
		fact_set(&o->image_cudnn, i->cudnn, at);
	if (i->flavor)
		fact_set(&o->image_flavor, i->flavor, at);
	fact_flag(&o->image_bare, i->bare, at);
	fact_flag(&o->image_require, i->require, at);
	if (i->rocm)
		fact_flag(&o->image_rocm, true, at);
	if (i->os)
		fact_set(&o->os, i->os, at);
}

/* What an image brings by itself. */
static void image_packages(struct site *t)
{
	const struct base_image *i = &t->image;
	const struct torch_row *row;
	struct step s = { .tool = BY_PIP, .at = t->p->image_at };
	struct want w = { .name = "torch", .at = t->p->image_at };
	struct wanted *o;
	const char *variant;

	if (i->own_torch)
		t->torch = (struct got){ .set = true, .at = t->p->image_at };
	else if (t->p->image && !i->family)
		t->torch = (struct got){ .set = true, .weak = true, .at = t->p->image_at };
	if (i->tensorflow) {
		w.name = "tensorflow";
		w.spec = arena_printf(t->r->a, "==%s", i->tensorflow);
		w.extras = i->flavor && strcmp(i->flavor, "runtime") == 0 ? "and-cuda" : NULL;
		w.text = t->p->image;
		o = emit(t, &s, &w);
		fact_set(&o->version, i->tensorflow, source_at(t, &w.at));
	}
	if (!i->torch || !i->cuda)
		return;
	variant = arena_printf(t->r->a, "cu%.*s%s", (int)strcspn(i->cuda, "."), i->cuda,
			       strchr(i->cuda, '.') ? strchr(i->cuda, '.') + 1 : "");
	variant = arena_strndup(t->r->a, variant, strcspn(variant, "."));
	row = compat_torch(t->r->c, i->torch, t->platform, variant);
	w.spec = arena_printf(t->r->a, "==%s", i->torch);
	w.text = t->p->image;
	o = emit(t, &s, &w);
	fact_set(&o->version, i->torch, source_at(t, &w.at));
	fact_set(&o->cuda, i->cuda, source_at(t, &w.at));
	fact_set(&o->variant, variant, source_at(t, &w.at));
	t->torchvision = t->torchaudio = true;
	t->torch = (struct got){ .set = true,
				 .known = true,
				 .version = i->torch,
				 .variant = variant,
				 .cuda = i->cuda,
				 .row = row,
				 .at = t->p->image_at };
}

/* -------- packages that are not PyTorch */

/* Of rows that say ">=3.9". */
static bool python_serves(struct site *t, const char *range)
{
	return !range || !strchr("<>=!~", range[0]) || !t->python ||
	       spec_holds(t, range, t->python);
}

static const char *newest_of(struct site *t, const char *table, const char *spec, bool wheels)
{
	struct compat *c = t->r->c;
	size_t i, n = compat_count(c, table);
	const char *best = NULL, *python = NULL;

	for (i = 0; i < n; i++) {
		const struct json *row = compat_row(c, table, i);
		const char *v = compat_text(c, table, i, "version"), *to = json_get_str(row, "to");
		const char *channel = json_get_str(row, "channel");

		if (channel && strcmp(channel, "pypi") != 0)
			continue;
		if (to)
			v = to;
		/* Of which it is not known: for no older Pythons than the one before. */
		if (json_get_str(row, "python"))
			python = json_get_str(row, "python");
		if (v && wheels && !python_serves(t, python))
			continue;
		if (v && spec_holds(t, spec, v) && (!best || version_cmp_str(v, best) > 0))
			best = v;
	}
	return best;
}

static const char *table_of(const char *name)
{
	if (strcmp(name, "tensorflow") == 0)
		return "tensorflow";
	if (strcmp(name, "jax") == 0 || strcmp(name, "jaxlib") == 0)
		return "jax";
	if (strcmp(name, "onnxruntime-gpu") == 0)
		return "onnxruntime";
	return NULL;
}

static bool is_torch(const char *name)
{
	return strcmp(name, "torch") == 0;
}

/* jax that a lock holds since something else needs it: nobody asked for it on a GPU. */
static bool only_carried(const struct step *s, const struct want *w)
{
	bool asks = false;
	size_t i;

	if (!w->locked || strncmp(w->name, "jax", 3) != 0)
		return false;
	for (i = 0; i < s->n_wants; i++) {
		if (s->wants[i].locked || !s->wants[i].name)
			continue;
		asks = true;
		if (strncmp(s->wants[i].name, "jax", 3) == 0)
			return false;
	}
	return asks;
}

/* A lock or a constraint that names the release wins over a range. */
static void take_fixed(struct site *t, const struct step *s, size_t i, struct want *ret)
{
	const struct want *w = &s->wants[i];
	size_t k;

	if (want_exact(t, w) || !w->spec)
		return;
	for (k = 0; k < s->n_wants; k++)
		if (k != i && s->wants[k].name && strcmp(s->wants[k].name, w->name) == 0 &&
		    (s->wants[k].constraint || s->wants[k].locked) &&
		    want_exact(t, &s->wants[k]) && want_holds(t, &s->wants[k])) {
			ret->spec = s->wants[k].spec;
			ret->at = s->wants[k].at;
		}
}

/* A row anew, with the clash, the fault and the variant that this step has found already. */
static struct wanted *emit_again(struct site *t, const struct step *s, const struct want *w)
{
	struct fact clash = { 0 }, because = { 0 }, fault = { 0 }, variant = { 0 };
	const struct wanted *have = NULL;
	struct wanted *o;
	size_t k;

	for (k = 0; k < t->out->n_packages; k++)
		if (fact_is(&t->out->packages[k].name, w->name))
			have = &t->out->packages[k];
	if (have && fact_known(&have->clash)) {
		clash = have->clash;
		because = have->because;
	}
	if (have && fact_known(&have->fault))
		fault = have->fault;
	if (have && (fact_known(&have->fault) ||
		     (fact_known(&have->variant) &&
		      strcmp(have->tool.source, source_at(t, &s->at)) == 0)))
		variant = have->variant;
	o = emit(t, s, w);
	o->clash = clash;
	o->because = because;
	o->fault = fault;
	o->variant = variant;
	return o;
}

static void others(struct site *t, const struct step *s)
{
	size_t i;

	for (i = 0; i < s->n_wants; i++) {
		const struct want *w = &s->wants[i];
		const char *version;
		struct wanted *o;
		struct want copy = *w;

		if (!w->name || w->constraint || is_torch(w->name) || !package_matters(w->name) ||
		    !want_holds(t, w) || only_carried(s, w))
			continue;
		take_fixed(t, s, i, &copy);
		o = emit_again(t, s, &copy);
		version = want_exact(t, &copy);
		if (!version && !w->url && table_of(w->name))
			version = newest_of(t, table_of(w->name), w->spec ? w->spec : "", true);
		if (version)
			fact_set(&o->version, version, source_at(t, &copy.at));
		if (w->url)
			fact_set(&o->index, w->url, source_at(t, &copy.at));
	}
}

static void forget(struct site *t, const char *name)
{
	struct planned *out = t->out;
	size_t i, n = 0;

	for (i = 0; i < out->n_packages; i++)
		if (!fact_is(&out->packages[i].name, name))
			out->packages[n++] = out->packages[i];
	out->n_packages = n;
	if (is_torch(name))
		t->torch = (struct got){ .set = false };
	if (strcmp(name, "torchvision") == 0)
		t->torchvision = false;
	if (strcmp(name, "torchaudio") == 0)
		t->torchaudio = false;
}

static void removed(struct site *t, const struct step *s)
{
	size_t i;

	for (i = 0; i < s->n_wants; i++)
		if (s->wants[i].name)
			forget(t, s->wants[i].name);
}

/*
 * onnxruntime and onnxruntime-gpu write the same files: the later step's are those that stay. In
 * one step the order is not known, and both rows remain.
 */
static void overwritten(struct site *t, const struct step *s)
{
	bool cpu = false, gpu = false;
	size_t i;

	for (i = 0; i < s->n_wants; i++) {
		if (!s->wants[i].name || s->wants[i].constraint)
			continue;
		cpu |= strcmp(s->wants[i].name, "onnxruntime") == 0;
		gpu |= strcmp(s->wants[i].name, "onnxruntime-gpu") == 0;
	}
	if (gpu && !cpu)
		forget(t, "onnxruntime");
}

/* Pages of links with ready builds of packages that have no wheels on PyPI. */
static bool page_serves(const char *url, const char *name)
{
	static const struct {
		const char *page, *package;
	} rows[] = {
		{ .page = "pyg.org/whl/", .package = "torch-scatter" },
		{ .page = "pyg.org/whl/", .package = "torch-sparse" },
		{ .page = "pyg.org/whl/", .package = "torch-cluster" },
		{ .page = "pyg.org/whl/", .package = "torch-spline-conv" },
		{ .page = "pyg.org/whl/", .package = "pyg-lib" },
		{ .page = "openmmlab.com/mmcv/", .package = "mmcv" },
		{ .page = "openmmlab.com/mmcv/", .package = "mmcv-full" },
		{ .page = "fbaipublicfiles.com/detectron2/", .package = "detectron2" },
		{ .page = "fbaipublicfiles.com/pytorch3d/", .package = "pytorch3d" },
		{ .page = "", .package = "jax" },
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].package, name) == 0 && strstr(url, rows[i].page))
			return true;
	return false;
}

/* Address of an index that other packages are taken from: what a rule may have to say about it. */
static void note_links(struct site *t, const struct step *s)
{
	size_t i, k;

	for (i = 0; i < s->n_indexes; i++) {
		if (s->indexes[i].kind != INDEX_OTHER)
			continue;
		for (k = 0; k < t->out->n_packages; k++)
			if (!fact_known(&t->out->packages[k].index) &&
			    page_serves(s->indexes[i].url, t->out->packages[k].name.value))
				fact_set(&t->out->packages[k].index, s->indexes[i].url,
					 source_at(t, &s->indexes[i].at));
	}
}

/* -------- the rest */

static void deeds(struct site *t)
{
	static const char *const names[] = {
		[ACT_COMPILE] = "compile", [ACT_DRIVER] = "driver",   [ACT_TOOLKIT] = "toolkit",
		[ACT_COMPAT] = "compat",   [ACT_LIBRARY] = "library", [ACT_RUN_GPU] = "use-gpu",
		[ACT_CARRIES] = "carries",
	};
	size_t i;

	for (i = 0; i < t->p->n_actions; i++) {
		const struct action *a = &t->p->actions[i];
		struct deed *d = ARENA_APPEND(t->r->a, t->out->deeds, t->out->n_deeds);
		const char *at = source_at(t, &a->at);

		fact_set(&d->act, names[a->act], at);
		fact_set(&d->what, a->what, at);
		if (a->version)
			fact_set(&d->version, a->version, at);
	}
}

/* nvcc as a package of conda: it stands in front of what the image has. */
static void conda_toolkit(struct site *t)
{
	static const char *const names[] = { "cuda", "cuda-toolkit", "cuda-nvcc", "cuda-compiler",
					     "cuda-nvcc-linux-64", "cuda-minimal-build",
					     "cudatoolkit-dev" };
	size_t i, k, n;

	for (i = 0; i < t->p->n_steps; i++) {
		const struct step *s = &t->p->steps[i];

		if ((s->tool != BY_CONDA && s->tool != BY_PIXI) || s->elsewhere || s->removes)
			continue;
		for (k = 0; k < s->n_wants; k++)
			for (n = 0; n < ARRAY_LEN(names); n++) {
				struct deed *d;

				if (strcmp(s->wants[k].name, names[n]) != 0)
					continue;
				d = ARENA_APPEND(t->r->a, t->out->deeds, t->out->n_deeds);
				fact_set(&d->act, "toolkit", source_at(t, &s->wants[k].at));
				fact_set(&d->what, names[n], d->act.source);
			}
	}
}

/* Variables that bear on GPUs; all others may hold secrets and stay where they are (faults: P7). */
static bool env_matters(const char *name)
{
	static const char *const names[] = { "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_HOME",
					     "CUDA_PATH", "TORCH_CUDA_ARCH_LIST", "PATH",
					     "FORCE_CUDA", "DS_BUILD_OPS", "CONDA_OVERRIDE_CUDA",
					     "UV_TORCH_BACKEND", "CUDAARCHS", "LD_PRELOAD",
					     "CUDA_MODULE_LOADING", "CMAKE_ARGS", "CUDA_VERSION",
					     "JAX_PLATFORMS", "JAX_PLATFORM_NAME",
					     "FLASH_ATTENTION_FORCE_BUILD",
					     "FLASH_ATTENTION_SKIP_CUDA_BUILD", "BNB_CUDA_VERSION",
					     "CC", "CXX", "CUDAHOSTCXX", "NVCC_CCBIN" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return strncmp(name, "NVIDIA_", 7) == 0 || strncmp(name, "DS_BUILD_", 9) == 0;
}

static void variables(struct site *t)
{
	size_t i;

	for (i = 0; i < t->p->n_env; i++) {
		const struct setting *e = &t->p->env[i];
		struct var *v;

		if (!env_matters(e->name) || e != project_env(t->p, e->name))
			continue;
		v = ARENA_APPEND(t->r->a, t->out->environment, t->out->n_environment);
		fact_set(&v->name, e->name, source_at(t, &e->at));
		fact_set(&v->value, e->value, source_at(t, &e->at));
	}
}

void site_doubt(struct site *t, const char *what, const struct place *at)
{
	fact_set(&ARENA_APPEND(t->r->a, t->out->doubts, t->out->n_doubts)->what, what,
		 source_at(t, at));
}

static void doubts(struct site *t)
{
	size_t i;

	for (i = 0; i < t->p->n_doubts; i++)
		site_doubt(t, t->p->doubts[i].what, &t->p->doubts[i].at);
}

static void head(struct site *t)
{
	const struct project *p = t->p;
	struct planned *o = t->out;
	const char *at = source_at(t, &p->gpus_at);

	fact_set(&o->file, p->file, p->file);
	fact_set(&o->kind, project_kind_name(p->kind), p->file);
	if (p->name)
		fact_set(&o->name, p->name, p->file);
	fact_flag(&o->final, p->final, p->file);
	if (p->hosted)
		fact_flag(&o->hosted, true, p->file);
	if (p->gpus == GPU_RUNTIME)
		fact_set(&o->gpus, "runtime", at);
	else if (p->gpus != GPU_NOT_SAID)
		fact_flag(&o->gpus, p->gpus == GPU_REQUESTED, at);
	if (p->gpu_count >= 0)
		fact_int(t->r->a, &o->gpu_count, p->gpu_count, at);
	if (p->capabilities)
		fact_set(&o->capabilities, p->capabilities, source_at(t, &p->capabilities_at));
}

static void libc(struct site *t, const struct snapshot *s)
{
	struct planned *o = t->out;
	const char *at = place_text(t->r->a, &t->p->image_at);

	t->glibc = fact_value(&s->host.glibc, NULL);
	if (t->glibc)
		o->glibc = s->host.glibc;
	else if (t->image.glibc)
		fact_set(&o->glibc, t->image.glibc, at);
	t->glibc = fact_value(&o->glibc, NULL);
	t->musl = t->image.libc && strcmp(t->image.libc, "musl") == 0;
	if (t->image.libc)
		fact_set(&o->libc, t->image.libc, at);
}

static void python(struct site *t, const struct snapshot *s)
{
	const char *assumed = assumed_python(s);
	struct arena *a = t->r->a;

	if (assumed)
		fact_set(&t->out->python, assumed, "assumed");
	else if (t->p->python && !*t->p->python)
		; /* What the image has by itself is not what pip runs under. */
	else if (t->p->python)
		fact_set(&t->out->python, t->p->python, place_text(a, &t->p->python_at));
	else if (t->image.python)
		fact_set(&t->out->python, t->image.python, place_text(a, &t->p->image_at));
	t->python = short_python(a, fact_value(&t->out->python, NULL));
	if (t->p->requires_python)
		fact_set(&t->out->requires_python, t->p->requires_python,
			 place_text(a, &t->p->python_at));
}

static void fill_one(struct project_reader *r, struct snapshot *s, const struct project *p)
{
	struct site *t = arena_alloc(r->a, sizeof(*t));
	const struct fact *driver = &s->driver.version;
	size_t i;

	t->r = r;
	t->p = p;
	t->out = ARENA_APPEND(r->a, s->projects, s->n_projects);
	t->driver = fact_value(driver, NULL);
	head(t);
	image_facts(t);
	libc(t, s);
	python(t, s);
	allowed_pythons(t);
	platform(t, s);
	fact_set(&t->out->platform, t->platform, p->file);
	image_packages(t);
	for (i = 0; i < p->n_steps; i++) {
		const struct step *st = &p->steps[i];

		if (st->cut_at.line)
			site_doubt(t, _("what comes from here on is too much to be read"),
				   &st->cut_at);
		if (st->tool == BY_CONDA || st->tool == BY_PIXI) {
			resolve_conda(t, st);
			continue;
		}
		if (st->removes) {
			removed(t, st);
			continue;
		}
		overwritten(t, st);
		resolve_torch(t, st);
		others(t, st);
		note_links(t, st);
	}
	deeds(t);
	conda_toolkit(t);
	variables(t);
	doubts(t);
}

static void pragmas(struct project_reader *r, struct snapshot *s)
{
	size_t i;

	for (i = 0; i < r->n_pragmas; i++) {
		const struct pragma *p = &r->pragmas[i];
		struct left_out *l = ARENA_APPEND(r->a, s->pragmas, s->n_pragmas);
		const char *at = place_text(r->a, &p->at);

		fact_set(&l->name, p->name, at);
		fact_set(&l->reason, *p->reason ? p->reason : NULL, at);
		fact_set(&l->line,
			 arena_printf(r->a, "%s:%zu", p->at.file, p->at.line + (p->alone ? 1 : 0)),
			 at);
	}
}

void project_fill(struct project_reader *r, struct snapshot *s)
{
	size_t i;

	pragmas(r, s);
	for (i = 0; i < r->list.n; i++)
		fill_one(r, s, r->list.v[i]);
}
