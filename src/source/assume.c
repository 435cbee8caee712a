/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --assume: a declared target, laid over what was found. Keys are rows; each sets facts with source
 * "assumed".
 */
#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "base/suggest.h"
#include "model/version.h"
#include "source/source.h"

static const char SOURCE[] = "assumed";

struct assume {
	struct arena *a;
	struct compat *c;
	struct snapshot *s;
	struct err *err;
	const char *key;
	bool gpu_seen;	   /* the first gpu= replaces what was found, the next ones add */
	bool driver_given; /* applied before gpu= */
	const char *flavor; /* likewise; NULL: none was given */
};

typedef int assume_fn(struct assume *as, const char *value);

static int bad_value(struct assume *as, const char *value, const char *wanted)
{
	return err_set(as->err, ERR_USAGE, _("--assume %s=%.200s: %s"), as->key, value, wanted);
}

static bool looks_like_version(const char *s)
{
	struct version v;

	return version_prefix(view_of(s), &v);
}

static void declare(struct fact *part)
{
	fact_set(part, "yes", SOURCE);
}

static void withdraw(struct fact *part, const char *why)
{
	*part = (struct fact){ .state = FACT_NOT_ASKED, .why = why };
}

/*
 * A declared driver or GPU is another machine's: what this one's driver says must not be mixed in.
 */
static void withdraw_driver(struct snapshot *s)
{
	static const char why[] = N_("another machine is assumed");

	s->driver = (struct driver){ 0 };
	s->nodes = NULL;
	s->n_nodes = 0;
	s->services = NULL;
	s->n_services = 0;
	withdraw(&s->parts.kernel, why);
	withdraw(&s->parts.nodes, why);
	withdraw(&s->parts.userlib, why);
	withdraw(&s->parts.cuda, why);
	withdraw(&s->parts.nvml, why);
	withdraw(&s->parts.services, why);
	withdraw(&s->parts.container, why);
	withdraw(&s->parts.log, why);
}

static struct python *active_python(struct assume *as)
{
	struct snapshot *s = as->s;
	struct python *p;
	size_t i;

	for (i = 0; i < s->n_pythons; i++)
		if (fact_yes(&s->pythons[i].active))
			return &s->pythons[i];
	p = ARENA_APPEND(as->a, s->pythons, s->n_pythons);
	fact_set(&p->prefix, _("assumed environment"), SOURCE);
	fact_set(&p->kind, "assumed", SOURCE);
	fact_flag(&p->active, true, SOURCE);
	fact_set(&p->active_why, "--assume", SOURCE);
	declare(&s->parts.python);
	return p;
}

static void set_package(struct assume *as, const char *name, const char *version)
{
	struct python *p = active_python(as);
	struct package *pkg = NULL;
	size_t i;

	for (i = 0; i < p->n_packages; i++)
		if (fact_is(&p->packages[i].name, name))
			pkg = &p->packages[i];
	if (!pkg)
		pkg = ARENA_APPEND(as->a, p->packages, p->n_packages);
	*pkg = (struct package){ 0 };
	fact_set(&pkg->name, name, SOURCE);
	fact_set(&pkg->version, version, SOURCE);
}

static int unknown_gpu(struct assume *as, const char *value, const struct gpu_match *m)
{
	struct strbuf b;
	size_t i;

	strbuf_init(&b, as->a);
	for (i = 0; m->near && m->near[i]; i++) {
		strbuf_sep(&b, ", ");
		strbuf_add(&b, m->near[i]);
	}
	if (!b.n)
		return err_set(
			as->err, ERR_UNKNOWN_NAME,
			_("--assume gpu=%.200s: no such GPU is known; give its PCI id (gpu=10de:2684) "
			  "or compute capability (gpu=cc:8.9)"),
			value);
	return err_set(as->err, ERR_UNKNOWN_NAME,
		       _("--assume gpu=%.200s: no such GPU is known; near: %s"), value, b.s);
}

static int assume_gpu(struct assume *as, const char *value)
{
	struct snapshot *s = as->s;
	struct gpu_match m;
	struct gpu *g;

	compat_gpu_find(as->c, value, &m);
	if (!m.n)
		return unknown_gpu(as, value, &m);
	if (!as->gpu_seen) {
		s->gpus = NULL;
		s->n_gpus = 0;
		/*
		 * A working driver here stays part of the question; anything less is not the
		 * target's.
		 */
		if (!as->driver_given && !fact_yes(&s->driver.module_loaded))
			withdraw_driver(s);
		if (as->flavor)
			fact_set(&s->driver.flavor, as->flavor, SOURCE);
	}
	as->gpu_seen = true;
	g = ARENA_APPEND(as->a, s->gpus, s->n_gpus);
	*g = (struct gpu){ 0 };
	if (m.n == 1 && m.rows[0]->id)
		fact_set(&g->pci_id, arena_printf(as->a, "10de:%s", m.rows[0]->id), SOURCE);
	fact_set(&g->name, m.n == 1 ? m.rows[0]->name : value, SOURCE);
	declare(&s->parts.pci);
	source_enrich_gpu(as->a, as->c, g, &m);
	return 0;
}

static int assume_driver(struct assume *as, const char *value)
{
	if (!looks_like_version(value))
		return bad_value(as, value, _("not a driver version such as 580.65.06 or 580"));
	withdraw_driver(as->s);
	as->driver_given = true;
	fact_set(&as->s->driver.version, value, SOURCE);
	return 0;
}

static int assume_flavor(struct assume *as, const char *value)
{
	if (strcmp(value, "open") != 0 && strcmp(value, "proprietary") != 0)
		return bad_value(as, value, _("open or proprietary"));
	fact_set(&as->s->driver.flavor, value, SOURCE);
	as->flavor = value;
	return 0;
}

static int assume_os(struct assume *as, const char *value)
{
	static const char *const systems[] = { "linux", "windows", "wsl2", "macos" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(systems); i++) {
		if (strcmp(systems[i], value) != 0)
			continue;
		if (!fact_is(&as->s->host.system, value))
			as->s->host = (struct host){ .arch = as->s->host.arch,
						     .glibc = as->s->host.glibc };
		if (i != 0)
			as->s->host.glibc = i == 2 ? as->s->host.glibc : (struct fact){ 0 };
		fact_set(&as->s->host.system, systems[i], SOURCE);
		declare(&as->s->parts.host);
		return 0;
	}
	return bad_value(as, value, _("linux, windows, wsl2 or macos"));
}

/* "ubuntu22.04", "ubuntu:22.04", "rhel9", "debian 12". */
static int assume_distro(struct assume *as, const char *value)
{
	size_t n = strcspn(value, "0123456789");
	const char *version = value + n;

	while (n && strchr(":- ", value[n - 1]))
		n--;
	if (!n)
		return bad_value(as, value, _("not a distribution such as ubuntu22.04"));
	fact_set(&as->s->host.os_id, arena_strndup(as->a, value, n), SOURCE);
	as->s->host.os_name = (struct fact){ 0 };
	as->s->host.os_like = (struct fact){ 0 };
	fact_set(&as->s->host.os_version, *version ? version : NULL, SOURCE);
	declare(&as->s->parts.host);
	return 0;
}

static int assume_arch(struct assume *as, const char *value)
{
	if (strcmp(value, "amd64") == 0)
		value = "x86_64";
	if (strcmp(value, "arm64") == 0)
		value = "aarch64";
	if (strcmp(value, "x86_64") != 0 && strcmp(value, "aarch64") != 0)
		return bad_value(as, value, _("x86_64 or aarch64"));
	fact_set(&as->s->host.arch, value, SOURCE);
	declare(&as->s->parts.host);
	return 0;
}

static int assume_glibc(struct assume *as, const char *value)
{
	if (!looks_like_version(value))
		return bad_value(as, value, _("not a glibc version such as 2.31"));
	fact_set(&as->s->host.glibc, value, SOURCE);
	fact_set(&as->s->host.libc, "glibc", SOURCE);
	declare(&as->s->parts.host);
	return 0;
}

static int assume_python(struct assume *as, const char *value)
{
	struct version v;
	struct python *p;

	if (!version_prefix(view_of(value), &v) || v.n < 2 || v.part[0] < 2 || v.part[0] > 3)
		return bad_value(as, value, _("not a Python version such as 3.12"));
	p = active_python(as);
	fact_set(&p->version, value, SOURCE);
	p->abi = (struct fact){ 0 };
	return 0;
}

/* "2.6.0+cu124", or "2.6.0": the variant that PyPI serves on the platform. */
static int assume_torch(struct assume *as, const char *value)
{
	const char *plus = strchr(value, '+'), *cuda;
	struct torch *t;

	if (!looks_like_version(value))
		return bad_value(as, value, _("not a torch version such as 2.6.0+cu124"));
	t = &active_python(as)->torch;
	*t = (struct torch){ 0 };
	fact_set(&t->version, value, SOURCE);
	if (plus)
		fact_set(&t->variant, plus + 1, SOURCE);
	cuda = plus ? version_of_cu_tag(as->a, plus + 1) : NULL;
	if (plus)
		fact_set(&t->cuda, cuda, SOURCE);
	fact_set(&t->origin, "pip", SOURCE);
	set_package(as, "torch", value);
	return 0;
}

static int assume_package(struct assume *as, const char *value)
{
	struct python *p;

	if (!looks_like_version(value))
		return bad_value(as, value, _("not a version"));
	set_package(as, as->key, value);
	p = active_python(as);
	if (strcmp(as->key, "torchvision") == 0)
		fact_set(&p->torch.torchvision, value, SOURCE);
	if (strcmp(as->key, "torchaudio") == 0)
		fact_set(&p->torch.torchaudio, value, SOURCE);
	return 0;
}

static int assume_cuda(struct assume *as, const char *value)
{
	struct toolkit *t;

	if (!looks_like_version(value))
		return bad_value(as, value, _("not a toolkit version such as 12.4"));
	as->s->toolkits = NULL;
	as->s->n_toolkits = 0;
	t = ARENA_APPEND(as->a, as->s->toolkits, as->s->n_toolkits);
	fact_set(&t->version, value, SOURCE);
	fact_set(&t->path, _("assumed toolkit"), SOURCE);
	fact_flag(&t->nvcc, true, SOURCE);
	declare(&as->s->parts.toolkit);
	return 0;
}

static int assume_cudnn(struct assume *as, const char *value)
{
	struct torch *t;

	if (!looks_like_version(value))
		return bad_value(as, value, _("not a cuDNN version such as 9.1.0"));
	t = &active_python(as)->torch;
	t->cudnn = (struct library){ 0 };
	fact_set(&t->cudnn.version, value, SOURCE);
	return 0;
}

static int assume_gcc(struct assume *as, const char *value)
{
	if (!looks_like_version(value))
		return bad_value(as, value, _("not a gcc version such as 13"));
	fact_set(&as->s->host.gcc, value, SOURCE);
	declare(&as->s->parts.host);
	return 0;
}

static const struct {
	const char *key;
	assume_fn *fn;
} keys[] = {
	/*
	 * In the order in which they apply: a driver withdraws what this machine's says, a GPU may.
	 */
	{ .key = "driver", .fn = assume_driver },
	{ .key = "driver-flavor", .fn = assume_flavor },
	{ .key = "gpu", .fn = assume_gpu },
	{ .key = "os", .fn = assume_os },
	{ .key = "distro", .fn = assume_distro },
	{ .key = "arch", .fn = assume_arch },
	{ .key = "glibc", .fn = assume_glibc },
	{ .key = "python", .fn = assume_python },
	{ .key = "torch", .fn = assume_torch },
	{ .key = "torchvision", .fn = assume_package },
	{ .key = "torchaudio", .fn = assume_package },
	{ .key = "tensorflow", .fn = assume_package },
	{ .key = "jax", .fn = assume_package },
	{ .key = "cuda", .fn = assume_cuda },
	{ .key = "cudnn", .fn = assume_cudnn },
	{ .key = "gcc", .fn = assume_gcc },
};

static int check_key(struct arena *a, const char *text, struct err *err)
{
	const char *names[ARRAY_LEN(keys) + 1] = { 0 };
	struct view rest, key = view_cut(view_of(text), '=', &rest);
	const char *name = view_dup(a, key), *near;
	size_t i;

	/* arg.NAME=VALUE: an argument of a Dockerfile's build, read with the project files. */
	if (view_starts(key, "arg.") && key.n > 4 && key.n < strlen(text))
		return 0;
	if (key.n == strlen(text))
		return err_set(err, ERR_USAGE, _("--assume %.200s: KEY=VALUE is needed"), text);
	for (i = 0; i < ARRAY_LEN(keys); i++) {
		if (strcmp(keys[i].key, name) == 0)
			return rest.n ? 0
				      : err_set(err, ERR_USAGE,
						_("--assume %s=: the value is empty"), name);
		names[i] = keys[i].key;
	}
	near = suggest(name, names);
	if (near)
		return err_set(err, ERR_USAGE, _("--assume %.100s: unknown key; did you mean %s?"),
			       name, near);
	return err_set(err, ERR_USAGE,
		       _("--assume %.100s: unknown key; `cuvet check --help` lists them"), name);
}

int source_assume(struct arena *a, struct compat *c, const char *const *assume, size_t n,
		  struct snapshot *s, struct err *err)
{
	struct assume as = { .a = a, .c = c, .s = s, .err = err };
	size_t i, k, len;
	int r;

	for (i = 0; i < n; i++) {
		r = check_key(a, assume[i], err);
		if (r)
			return r;
	}
	for (k = 0; k < ARRAY_LEN(keys); k++) {
		len = strlen(keys[k].key);
		as.key = keys[k].key;
		for (i = 0; i < n; i++) {
			if (strncmp(assume[i], keys[k].key, len) != 0 || assume[i][len] != '=')
				continue;
			r = keys[k].fn(&as, assume[i] + len + 1);
			if (r)
				return r;
		}
	}
	if (n)
		fact_list_set(&s->assumed, arena_calloc(a, n, sizeof(char *)), n, SOURCE);
	for (i = 0; i < n; i++)
		s->assumed.values[i] = assume[i];
	return 0;
}
