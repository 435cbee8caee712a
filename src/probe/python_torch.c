/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an installed PyTorch is, from version.py, wheel metadata and library headers; nothing of it
 * is imported.
 */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/errname.h"
#include "model/version.h"
#include "probe/python.h"
#include "sys/elf.h"
#include "sys/fatbin.h"

enum { TEXT_MAX = 1 << 16, BLOBS_MAX = 64 };

struct look {
	struct probe_ctx *p;
	const struct py_env *e;
	struct python *out;
	struct torch *t;
	const char *dir; /* site-packages/torch */
	const char *lib; /* its lib folder */
	const struct package *wheel, *conda;
};

static const char *in_lib(struct look *k, const char *name)
{
	return path_join(k->p->a, k->lib, name);
}

static bool is_file(struct look *k, const char *path)
{
	struct stat st;

	return sysroot_stat(k->p->root, path, true, &st) == 0 && S_ISREG(st.st_mode);
}

/* First package directory that holds the module, as an import would find it; NULL without one. */
static const char *find_module(struct probe_ctx *p, const struct python *out, const char *name)
{
	size_t i;

	for (i = 0; i < out->site_dirs.n; i++) {
		const char *dir = path_join(p->a, out->site_dirs.values[i], name);

		if (sysroot_exists(p->root, path_join(p->a, dir, "__init__.py")) ||
		    sysroot_exists(p->root, path_join(p->a, dir, "version.py")))
			return dir;
	}
	return NULL;
}

/* "None" is absent, a senseless value is broken, a missing line says nothing. */
static void set_assigned(struct look *k, struct fact *f, struct view text, const char *name,
			 const char *file)
{
	const char *v = py_assigned(k->p->a, text, name);

	if (!v)
		return;
	if (!v[0])
		fact_broken(f, file, N_("no value that makes sense"));
	else
		fact_set(f, strcmp(v, "None") != 0 ? v : NULL, file);
}

static void read_version(struct look *k)
{
	const char *file = path_join(k->p->a, k->dir, "version.py");
	struct torch *t = k->t;
	struct view text;
	bool cut = false;
	int e = sysroot_read(k->p->root, k->p->a, file, TEXT_MAX, &text, &cut);

	if (e == -EINVAL || e == -ELOOP || e == -EXDEV) {
		fact_broken(&t->version, file,
			    e == -EINVAL ? N_("not a regular file") : errname(-e));
	} else if (e) {
		fact_errno(&t->version, -e, file);
	} else {
		set_assigned(k, &t->version, text, "__version__", file);
		set_assigned(k, &t->cuda, text, "cuda", file);
		set_assigned(k, &t->hip, text, "hip", file);
		if (!fact_known(&t->version))
			fact_broken(&t->version, file, N_("no __version__ that makes sense"));
	}
	/* The metadata knows the version too. */
	if (!fact_known(&t->version) && k->wheel && fact_known(&k->wheel->version))
		t->version = k->wheel->version;
	else if (!fact_known(&t->version) && k->conda && fact_known(&k->conda->version))
		t->version = k->conda->version;
}

/* "cu124" out of "12.4", "cu101" out of "10.1.243"; NULL when it is no such version. */
static const char *cuda_tag(struct arena *a, const char *cuda)
{
	struct version v;

	if (!cuda || !version_prefix(view_of(cuda), &v) || v.n < 2)
		return NULL;
	return arena_printf(a, "cu%u%u", v.part[0], v.part[1]);
}

/*
 * The variant in a local version: "cu124", "cpu", "rocm6.2", "xpu"; NULL for others ("git1234",
 * "872d972.nv24.08").
 */
static const char *local_variant(struct arena *a, const char *version)
{
	const char *plus = strchr(version, '+');
	struct view tag, rest;

	if (!plus)
		return NULL;
	if (strncmp(plus + 1, "rocm", 4) == 0)
		return arena_strdup(a, plus + 1);
	/* "+cu117.with.pypi.cudnn" */
	tag = view_cut(view_of(plus + 1), '.', &rest);
	if (view_is(tag, "cpu") || view_is(tag, "xpu"))
		return view_dup(a, tag);
	if (view_starts(tag, "cu") && version_of_cu_tag(a, view_dup(a, tag)))
		return view_dup(a, tag);
	return NULL;
}

/*
 * conda build strings: py3.10_cuda12.1_cudnn8.9.2_0, cuda128_mkl_py312_hd1c2b5a_301,
 * cpu_mkl_py312_..., py3.10_cpu_0.
 */
static const char *build_variant(struct arena *a, const char *build)
{
	const char *at = strstr(build, "cuda");
	struct view digits;
	size_t n = 0;

	if (!at)
		return strstr(build, "cpu") ? "cpu" : NULL;
	digits = view_of(at + 4);
	while (n < digits.n && ((digits.p[n] >= '0' && digits.p[n] <= '9') || digits.p[n] == '.'))
		n++;
	digits.n = n;
	if (view_chr(digits, '.') >= 0)
		return cuda_tag(a, view_dup(a, digits));
	return n >= 2 && n <= 3 ? arena_printf(a, "cu%.*s", (int)n, digits.p) : NULL;
}

static void set_variant(struct look *k)
{
	struct torch *t = k->t;
	const char *v = NULL, *source = t->version.source;

	if (fact_known(&t->version))
		v = local_variant(k->p->a, t->version.value);
	if (!v && fact_known(&t->cuda)) {
		v = cuda_tag(k->p->a, t->cuda.value);
		source = t->cuda.source;
	}
	if (!v && fact_known(&t->hip)) {
		struct version h;

		source = t->hip.source;
		if (version_prefix(view_of(t->hip.value), &h) && h.n >= 2)
			v = arena_printf(k->p->a, "rocm%u.%u", h.part[0], h.part[1]);
	}
	if (!v && k->conda && fact_known(&k->conda->build)) {
		v = build_variant(k->p->a, k->conda->build.value);
		source = k->conda->build.source;
	}
	if (!v && fact_no(&t->has_cuda_library) && !is_file(k, in_lib(k, "libtorch_hip.so")) &&
	    !is_file(k, in_lib(k, "libtorch_xpu.so"))) {
		v = "cpu";
		source = t->has_cuda_library.source;
	}
	if (v)
		fact_set(&t->variant, v, source);
	if (t->cuda.state == FACT_NOT_ASKED && v && strcmp(v, "cpu") == 0)
		fact_absent(&t->cuda, source);
	/* Without version.py the variant still says which CUDA it is. */
	if (!fact_known(&t->cuda) && t->cuda.state != FACT_ABSENT && v &&
	    version_of_cu_tag(k->p->a, v))
		fact_set(&t->cuda, version_of_cu_tag(k->p->a, v), source);
}

/*
 * NGC containers print 2.6.0a0+df5bbc09d1.nv24.12; a build from source +git1a2b3c or a bare hash.
 * What brought the package is in INSTALLER, conda's own list tells its channels apart.
 */
static void set_origin(struct look *k)
{
	struct torch *t = k->t;
	const char *v = fact_value(&t->version, ""), *plus = strchr(v, '+');
	const char *by = k->wheel ? fact_value(&k->wheel->installer, "") : "";
	bool by_pip = k->wheel && by[0] && strcmp(by, "conda") != 0;

	if (plus && strstr(plus, ".nv"))
		fact_set(&t->origin, "nvidia", t->version.source);
	else if (k->conda && !by_pip && strstr(fact_value(&k->conda->channel, ""), "conda-forge"))
		fact_set(&t->origin, "conda-forge", k->conda->channel.source);
	else if (k->conda && !by_pip)
		fact_set(&t->origin, "conda", k->conda->name.source);
	else if (plus && !local_variant(k->p->a, v))
		fact_set(&t->origin, "source", t->version.source);
	else if (k->wheel && strcmp(by, "conda") == 0)
		fact_set(&t->origin, "conda", k->wheel->installer.source);
	else if (k->dir && strncmp(k->dir, "/usr/lib/", 9) == 0)
		fact_set(&t->origin, "distribution", k->dir);
	else if (k->wheel)
		fact_set(&t->origin, "pip", k->wheel->name.source);
	else if (k->dir)
		fact_set(&t->origin, "source", k->dir);
}

static void higher_glibc(struct look *k, const char *glibc, const char *source)
{
	if (glibc &&
	    (!fact_known(&k->t->min_glibc) || version_cmp_str(glibc, k->t->min_glibc.value) > 0))
		fact_set(&k->t->min_glibc, glibc, source);
}

/* What the wheel promises and what the libraries ask for; the higher one decides. */
static void set_glibc(struct look *k)
{
	static const char *const names[] = { "libc10.so", "libtorch_cpu.so", "libtorch_python.so" };
	size_t i;

	if (k->wheel && fact_known(&k->wheel->tag))
		higher_glibc(k, py_tag_glibc(k->p->a, k->wheel->tag.value), k->wheel->tag.source);
	for (i = 0; i < ARRAY_LEN(names); i++) {
		const char *path = in_lib(k, names[i]);
		_cleanup_fd_ int fd = sysroot_open_file(k->p->root, path);
		struct elf e;

		if (fd >= 0 && elf_read(k->p->a, fd, &e) == 0)
			higher_glibc(k, e.glibc, path);
	}
}

static void read_targets(struct look *k, int fd, const struct elf *e, const char *path)
{
	struct fact_list *f = &k->t->arch_list;
	struct elf_section code, records;
	bool has_records;
	struct fatbin fb;
	const char **names;
	size_t n;

	if (!elf_section(e, ".nv_fatbin", &code)) {
		*f = (struct fact_list){ .state = FACT_BROKEN,
					 .source = path,
					 .why = e->damage ? e->damage : N_("no GPU code in it") };
		return;
	}
	has_records = elf_section(e, ".nvFatBinSegment", &records);
	fatbin_scan(fd, &code, has_records ? &records : NULL, BLOBS_MAX, &fb);
	names = fatbin_build_targets(k->p->a, &fb, &n);
	if (fb.damage || !n)
		*f = (struct fact_list){ .state = FACT_BROKEN,
					 .source = path,
					 .why = fb.damage ? fb.damage
							  : N_("no GPU code that is known") };
	else
		fact_list_set(f, names, n, path);
}

/* A download or an unpacking that ended early: what the headers speak of is not in the file. */
static const char *cut_off(const struct elf *e)
{
	return e->damage && (strstr(e->damage, "past the end") || strstr(e->damage, "shorter"))
		       ? e->damage
		       : NULL;
}

/* The library that holds the GPU code; before 1.5 it had other names. */
static void read_cuda_library(struct look *k)
{
	static const char *const names[] = { "libtorch_cuda.so", "libtorch_cuda_cu.so",
					     "libcaffe2_gpu.so", "libtorch_hip.so" };
	struct elf e;
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		const char *path = in_lib(k, names[i]);
		_cleanup_fd_ int fd = -1;
		int r;

		if (!is_file(k, path))
			continue;
		if (strcmp(names[i], "libtorch_hip.so") == 0)
			break;
		fact_flag(&k->t->has_cuda_library, true, path);
		fd = sysroot_open_file(k->p->root, path);
		r = fd < 0 ? fd : elf_read(k->p->a, fd, &e);
		if (r == -ENOEXEC || (r == 0 && cut_off(&e)))
			fact_broken(&k->t->has_cuda_library, path,
				    r ? N_("not a library") : cut_off(&e));
		if (r == 0) {
			higher_glibc(k, e.glibc, path);
			read_targets(k, fd, &e, path);
		} else {
			k->t->arch_list.state = r == -EACCES ? FACT_DENIED : FACT_BROKEN;
			k->t->arch_list.source = path;
			k->t->arch_list.why = r == -ENOEXEC ? N_("not a library") : errname(-r);
		}
		return;
	}
	if (sysroot_is_dir(k->p->root, k->lib))
		fact_flag(&k->t->has_cuda_library, false, k->lib);
	else
		fact_absent(&k->t->has_cuda_library, k->lib);
}

/* The version that a sister package prints: version.py, else its metadata. */
static void set_sister(struct look *k, struct fact *f, const char *name)
{
	const char *dir = find_module(k->p, k->out, name), *file = NULL, *v = NULL;
	const struct package *pkg = python_package(k->out, name);
	struct view text;

	if (dir) {
		file = path_join(k->p->a, dir, "version.py");
		if (sysroot_read(k->p->root, k->p->a, file, TEXT_MAX, &text, NULL) == 0)
			v = py_assigned(k->p->a, text, "__version__");
	}
	if (v && v[0])
		fact_set(f, v, file);
	else if (pkg)
		*f = pkg->version;
	else
		fact_absent(f, k->e->prefix);
}

static const struct package *conda_torch(const struct python *out)
{
	static const char *const names[] = { "pytorch", "pytorch-gpu", "pytorch-cpu", "libtorch" };
	const struct package *pkg;
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		pkg = python_package(out, names[i]);
		if (pkg && fact_known(&pkg->build))
			return pkg;
	}
	return NULL;
}

void py_torch(struct probe_ctx *p, const struct py_env *e, struct python *out)
{
	struct look k = { .p = p, .e = e, .out = out, .t = &out->torch };

	k.dir = find_module(p, out, "torch");
	k.wheel = python_package(out, "torch");
	k.conda = conda_torch(out);
	if (!k.dir) {
		fact_absent(&k.t->version, e->prefix);
		if (k.wheel)
			k.t->version.why = N_("there is metadata of torch, but no module");
		else if (k.conda)
			k.t->version = k.conda->version;
		if (k.conda) {
			set_variant(&k);
			set_origin(&k);
		}
		return;
	}
	k.lib = path_join(p->a, k.dir, "lib");
	fact_set(&k.t->path, k.dir, k.dir);
	read_version(&k);
	read_cuda_library(&k);
	set_variant(&k);
	set_origin(&k);
	set_glibc(&k);
	set_sister(&k, &k.t->torchvision, "torchvision");
	set_sister(&k, &k.t->torchaudio, "torchaudio");
	if (fact_yes(&k.t->has_cuda_library))
		py_cudnn(p, e, out, k.lib);
}
