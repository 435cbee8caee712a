/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled add-ons of PyTorch: which CUDA they need, for which GPUs they hold code, and which
 * symbols they want that this PyTorch does not have. They are read, never loaded.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "probe/python.h"
#include "sys/elf_symbol.h"
#include "sys/fatbin.h"

enum {
	FILES_MAX = 128, /* of one environment */
	FOLDERS_MAX = 600,
	NAMES_MAX = 8192,
	WANTED_MAX = 6000,
	MISSING_MAX = 8, /* a few show it as well as all */
	BLOBS_MAX = 64,
	LIBS_MAX = 16,
	ENVS_MAX = 16,
};

struct look {
	struct probe_ctx *p;
	struct python *out;
	struct elf_symbols libs[LIBS_MAX]; /* PyTorch's own */
	size_t n_libs;
	const char *lib; /* torch/lib */
	size_t files;
};

/* Modules of add-ons that are looked into also where an environment is not the active one. */
static const char *const modules[] = {
	"torchvision",
	"torchaudio",
	"torchaudio/lib",
	"torchtext",
	"torchcodec",
	"xformers",
	"vllm",
	"flash_attn",
	"flash_attn_3",
	"apex",
	"detectron2",
	"mmcv",
	"deepspeed",
	"torch_scatter",
	"torch_sparse",
	"torch_cluster",
	"torch_spline_conv",
	"pyg_lib",
	"pytorch3d",
	"fbgemm_gpu",
	"causal_conv1d",
	"mamba_ssm",
	"auto_gptq",
	"exllamav2",
	"awq",
	"natten",
	"torchao",
	"transformer_engine",
	"sgl_kernel",
	"torch_tensorrt",
	"nvdiffrast",
	"gsplat",
	"spconv",
	"onnxruntime/capi",
};

/* -------- PyTorch's own symbols */

static void close_libs(struct look *k)
{
	while (k->n_libs)
		close(k->libs[--k->n_libs].e.fd);
}

/* Where an image passes by as a stream, tables of symbols may have been left out. */
static bool has_tables(const struct look *k, const char *path, const struct elf_symbols *s)
{
	const struct elf_section *hash = s->has_gnu ? &s->gnu : &s->sysv;

	return sysroot_has(k->p->root, path, s->sym.off, s->sym.size) &&
	       sysroot_has(k->p->root, path, s->str.off, s->str.size) &&
	       sysroot_has(k->p->root, path, hash->off, hash->size);
}

static void open_libs(struct look *k)
{
	static const char *const names[] = {
		"libc10.so",	  "libtorch_cpu.so",	  "libtorch_python.so",
		"libc10_cuda.so", "libtorch_cuda.so",	  "libtorch_cuda_linalg.so",
		"libtorch.so",	  "libtorch_cuda_cpp.so", "libtorch_cuda_cu.so",
		"libshm.so",	  "libc10_hip.so",	  "libtorch_hip.so",
	};
	struct elf e;
	size_t i;

	for (i = 0; i < ARRAY_LEN(names) && k->n_libs < LIBS_MAX; i++) {
		const char *path = path_join(k->p->a, k->lib, names[i]);
		struct elf_symbols *s = &k->libs[k->n_libs];
		int fd = sysroot_open_file(k->p->root, path);

		if (fd == -ENOENT && k->n_libs)
			continue;
		if (fd >= 0 && elf_read(k->p->a, fd, &e) == 0 &&
		    elf_symbols_open(k->p->a, fd, &e, s) && has_tables(k, path, s)) {
			k->n_libs++;
			continue;
		}
		/* One whose symbols cannot be read could have what is missed elsewhere. */
		if (fd >= 0)
			close(fd);
		close_libs(k);
		return;
	}
}

/* Namespaces c10, at and torch, also of const members, vtables and type descriptions. */
static bool of_torch(const char *name)
{
	static const char *const stems[] = {
		"_ZN3c10", "_ZNK3c10", "_ZTIN3c10", "_ZTVN3c10", "_ZN2at", "_ZNK2at", "_ZTIN2at",
		"_ZTVN2at", "_ZN5torch", "_ZNK5torch", "_ZTIN5torch", "_ZTVN5torch",
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(stems); i++)
		if (strncmp(name, stems[i], strlen(stems[i])) == 0)
			return true;
	return false;
}

static bool defined_in_torch(const struct look *k, const char *name)
{
	size_t i;

	for (i = 0; i < k->n_libs; i++)
		if (elf_symbols_defines(&k->libs[i], name))
			return true;
	return false;
}

/* Does a library that it needs, and that lies beside it, define the symbol? */
static bool defined_beside(const struct look *k, const struct elf *e, const char *dir,
			   const char *name)
{
	struct elf_symbols s;
	struct elf x;
	size_t i, n;

	for (i = 0; i < e->n_needed; i++) {
		const char *places[] = { dir, path_join(k->p->a, dir, "lib"),
					 path_dir(k->p->a, dir) };

		if (strncmp(e->needed[i], "libtorch_", 9) == 0 || strchr(e->needed[i], '/'))
			continue;
		for (n = 0; n < ARRAY_LEN(places); n++) {
			_cleanup_fd_ int fd = sysroot_open_file(
				k->p->root, path_join(k->p->a, places[n], e->needed[i]));

			if (fd >= 0 && elf_read(k->p->a, fd, &x) == 0 &&
			    elf_symbols_open(k->p->a, fd, &x, &s) && elf_symbols_defines(&s, name))
				return true;
		}
	}
	return false;
}

static bool is_torch_library(const char *name)
{
	return strncmp(name, "libtorch", 8) == 0 || strncmp(name, "libc10", 6) == 0;
}

static void set_missing(struct look *k, struct extension *x, const struct elf *e, const char *path)
{
	const char *dir = path_dir(k->p->a, path), **list = NULL, **names;
	size_t i, n, found = 0;

	if (!k->n_libs)
		return;
	/* A library that this release no longer has, or that a CPU build does not have. */
	for (i = 0; i < e->n_needed && found < MISSING_MAX; i++)
		if (is_torch_library(e->needed[i]) && e->needed[i][0] == 'l' &&
		    !sysroot_exists(k->p->root, path_join(k->p->a, k->lib, e->needed[i])) &&
		    !sysroot_exists(k->p->root, path_join(k->p->a, dir, e->needed[i])) &&
		    !sysroot_exists(k->p->root, path_join(k->p->a, path_join(k->p->a, dir, "lib"),
							  e->needed[i])))
			*ARENA_APPEND(k->p->a, list, found) = e->needed[i];
	names = elf_undefined(k->p->a, e, of_torch, WANTED_MAX, &n);
	for (i = 0; i < n && found < MISSING_MAX; i++)
		if (!defined_in_torch(k, names[i]) && !defined_beside(k, e, dir, names[i]))
			*ARENA_APPEND(k->p->a, list, found) = names[i];
	fact_list_set(&x->missing, list, found, path);
}

/* -------- CUDA */

static void set_targets(struct look *k, struct extension *x, const struct elf *e, const char *path)
{
	struct elf_section code, records;
	const char **list = NULL;
	struct fatbin fb;
	bool has_records;
	size_t i, n = 0;

	if (!elf_section(e, ".nv_fatbin", &code))
		return;
	has_records = elf_section(e, ".nvFatBinSegment", &records);
	fatbin_scan(e->fd, &code, has_records ? &records : NULL, BLOBS_MAX, &fb);
	/* Damage, or kinds that are not known here: what else is in it cannot be said. */
	if (fb.damage || fb.unknown || !fb.n) {
		x->targets =
			(struct fact_list){ .state = FACT_BROKEN,
					    .source = path,
					    .why = fb.damage ? fb.damage
							     : N_("no GPU code that is known") };
		return;
	}
	for (i = 0; i < fb.n; i++)
		if (fb.targets[i].kind != FATBIN_LTO)
			*ARENA_APPEND(k->p->a, list, n) =
				fatbin_target_name(k->p->a, &fb.targets[i]);
	fact_list_set(&x->targets, list, n, path);
}

static void set_cuda(struct look *k, struct extension *x, const struct elf *e, const char *path)
{
	const char *number = NULL;
	bool any = x->targets.state != FACT_NOT_ASKED;
	struct view rest;
	size_t i;

	for (i = 0; i < e->n_needed; i++) {
		if (strncmp(e->needed[i], "libcudart.so.", 13) == 0)
			number =
				view_dup(k->p->a, view_cut(view_of(e->needed[i] + 13), '.', &rest));
		any |= strcmp(e->needed[i], "libtorch_cuda.so") == 0 ||
		       strcmp(e->needed[i], "libc10_cuda.so") == 0 ||
		       strncmp(e->needed[i], "libcuda", 7) == 0;
	}
	if (number)
		fact_set(&x->cuda, number, path);
	else if (any)
		fact_broken(&x->cuda, path, N_("it needs CUDA, and does not say which"));
	else
		fact_absent(&x->cuda, path);
}

/* -------- which files */

/* The package whose name begins the file's, the longest: flash_attn_2_cuda is flash-attn's. */
static const struct package *owner(const struct look *k, const char *name)
{
	const char *normal;
	const struct package *best = NULL;
	struct view rest, stem = view_cut(view_of(name), '.', &rest);
	size_t i;

	stem = view_cut(stem, '/', &rest);
	normal = py_normalize(k->p->a, stem);
	if (!normal)
		return NULL;
	for (i = 0; i < k->out->n_packages; i++) {
		const char *pkg = fact_value(&k->out->packages[i].name, "");
		size_t n = strlen(pkg);

		if (n && strncmp(pkg, normal, n) == 0 && (!normal[n] || normal[n] == '-') &&
		    (!best || n > strlen(best->name.value)))
			best = &k->out->packages[i];
	}
	return best;
}

static bool wants_torch(const struct elf *e)
{
	size_t i;

	for (i = 0; i < e->n_needed; i++)
		if (is_torch_library(e->needed[i]))
			return true;
	return false;
}

static struct extension *add_extension(struct look *k, const char *path, const char *module)
{
	struct extension *x = ARENA_APPEND(k->p->a, k->out->extensions, k->out->n_extensions);
	const struct package *pkg = owner(k, module);

	if (!pkg && strcmp(module, "onnxruntime") == 0)
		pkg = python_package(k->out, "onnxruntime-gpu");
	if (pkg) {
		x->package = pkg->name;
		x->version = pkg->version;
	} else {
		fact_set(&x->package, module, path);
	}
	fact_set(&x->path, path, path);
	return x;
}

/* `module`: what the package is called where the file does not say it. */
static void look_at(struct look *k, const char *path, const char *module)
{
	struct extension *x;
	struct elf e;
	_cleanup_fd_ int fd = -1;

	if (k->files++ >= FILES_MAX)
		return;
	fd = sysroot_open_file(k->p->root, path);
	/* Whether it is one of PyTorch's is in the file; that it was not judged must be said. */
	if (fd == -EACCES || fd == -EPERM) {
		x = add_extension(k, path, module);
		fact_errno(&x->cuda, -fd, path);
		fact_errno(&x->min_glibc, -fd, path);
		return;
	}
	if (fd < 0 || elf_read(k->p->a, fd, &e) != 0 || e.damage)
		return;
	if (!wants_torch(&e) && !strstr(path, "/libonnxruntime_providers_cuda.so"))
		return;
	x = add_extension(k, path, module);
	fact_set(&x->min_glibc, e.glibc, path);
	set_targets(k, x, &e, path);
	set_cuda(k, x, &e, path);
	if (wants_torch(&e))
		set_missing(k, x, &e, path);
}

static bool is_so(const char *name)
{
	return view_ends(view_of(name), ".so");
}

static void look_into(struct look *k, const char *site, const char *module)
{
	const char *dir = path_join(k->p->a, site, module);
	struct view rest;
	struct dirlist list;
	size_t i;

	if (sysroot_list(k->p->root, k->p->a, dir, NAMES_MAX, &list) != 0)
		return;
	for (i = 0; i < list.n; i++)
		if (is_so(list.names[i]))
			look_at(k, path_join(k->p->a, dir, list.names[i]),
				view_dup(k->p->a, view_cut(view_of(module), '/', &rest)));
}

static bool in_modules(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(modules); i++)
		if (strcmp(modules[i], name) == 0)
			return true;
	return false;
}

/* PyTorch itself, NVIDIA's wheels, metadata: no add-ons in there. */
static bool is_dull(const char *name)
{
	return strcmp(name, "torch") == 0 || strcmp(name, "nvidia") == 0 ||
	       strcmp(name, "__pycache__") == 0 || strcmp(name, "bitsandbytes") == 0 ||
	       strchr(name, '.');
}

static void search(struct look *k, const char *site, bool all)
{
	struct dirlist list;
	size_t i, folders = 0;

	for (i = 0; i < ARRAY_LEN(modules); i++)
		look_into(k, site, modules[i]);
	if (sysroot_list_marked(k->p->root, k->p->a, site, NAMES_MAX, &list) != 0)
		return;
	for (i = 0; i < list.n; i++) {
		size_t n = strlen(list.names[i]);
		const char *name = arena_strndup(k->p->a, list.names[i], n - 1);

		if (is_so(list.names[i]))
			look_at(k, path_join(k->p->a, site, list.names[i]), list.names[i]);
		else if (all && list.names[i][n - 1] == '/' && !is_dull(name) &&
			 !in_modules(name) && folders++ < FOLDERS_MAX)
			look_into(k, site, name);
	}
}

/* -------- bitsandbytes: one library a CUDA version, opened by name */

static void bitsandbytes(struct look *k, const char *site)
{
	const char *dir = path_join(k->p->a, site, "bitsandbytes"), **names = NULL;
	const struct package *pkg = python_package(k->out, "bitsandbytes");
	struct extension *x;
	struct dirlist list;
	size_t i, n = 0;
	bool cuda = false;

	if (!pkg || sysroot_list(k->p->root, k->p->a, dir, NAMES_MAX, &list) != 0)
		return;
	for (i = 0; i < list.n; i++) {
		if (strncmp(list.names[i], "libbitsandbytes_", 16) != 0 || !is_so(list.names[i]))
			continue;
		*ARENA_APPEND(k->p->a, names, n) = list.names[i];
		cuda |= strncmp(list.names[i] + 16, "cuda", 4) == 0;
	}
	x = ARENA_APPEND(k->p->a, k->out->extensions, k->out->n_extensions);
	x->package = pkg->name;
	x->version = pkg->version;
	fact_set(&x->path, dir, dir);
	fact_list_set(&x->variants, names, n, dir);
	if (cuda)
		fact_broken(&x->cuda, dir, N_("one library a CUDA version"));
	else
		fact_absent(&x->cuda, dir);
}

/* -------- llama.cpp: one library a kind of device, since 2024; before, all in one */

static bool uses_gpu(struct look *k, const char *path)
{
	static const char *const stems[] = { "libggml-cuda.", "libggml-vulkan.", "libggml-hip.",
					     "libggml-sycl.", "libggml-opencl.", "libggml-rpc." };
	_cleanup_fd_ int fd = -1;
	struct elf e;
	size_t i;

	if (py_begins(path_base(path), stems, ARRAY_LEN(stems)))
		return true;
	fd = sysroot_open_file(k->p->root, path);
	/* What cannot be read may be one. */
	if (fd < 0 || elf_read(k->p->a, fd, &e) != 0 || e.damage)
		return true;
	for (i = 0; i < e.n_needed; i++)
		if (strncmp(e.needed[i], "libcu", 5) == 0 ||
		    strncmp(e.needed[i], "libvulkan", 9) == 0 ||
		    strncmp(e.needed[i], "libhip", 6) == 0 ||
		    strncmp(e.needed[i], "libOpenCL", 9) == 0)
			return true;
	return false;
}

static void llama(struct look *k, const char *site)
{
	static const char *const dirs[] = { "llama_cpp/lib", "llama_cpp" };
	const struct package *pkg = python_package(k->out, "llama-cpp-python");
	struct extension *x;
	struct dirlist list;
	size_t d, i, libs = 0;
	const char *dir;

	for (d = 0; pkg && d < ARRAY_LEN(dirs); d++) {
		dir = path_join(k->p->a, site, dirs[d]);
		if (sysroot_list(k->p->root, k->p->a, dir, NAMES_MAX, &list) != 0)
			continue;
		for (i = 0; i < list.n; i++) {
			if (!strstr(list.names[i], ".so"))
				continue;
			if (uses_gpu(k, path_join(k->p->a, dir, list.names[i])))
				return;
			libs++;
		}
		if (!libs)
			continue;
		x = ARENA_APPEND(k->p->a, k->out->extensions, k->out->n_extensions);
		x->package = pkg->name;
		x->version = pkg->version;
		fact_set(&x->path, dir, dir);
		fact_absent(&x->cuda, dir);
		return;
	}
}

void py_extensions(struct probe_ctx *p, const struct py_env *e, struct python *out)
{
	struct look k = { .p = p, .out = out };
	size_t i, n = 0;

	for (i = 0; i < p->s->n_pythons; i++)
		n += p->s->pythons[i].n_extensions != 0;
	if ((!fact_known(&out->torch.path) && !python_package(out, "onnxruntime-gpu") &&
	     !python_package(out, "llama-cpp-python")) ||
	    n >= ENVS_MAX)
		return;
	if (fact_known(&out->torch.path)) {
		k.lib = path_join(p->a, out->torch.path.value, "lib");
		open_libs(&k);
	}
	for (i = 0; i < out->site_dirs.n; i++) {
		search(&k, out->site_dirs.values[i], e->why_active != NULL);
		bitsandbytes(&k, out->site_dirs.values[i]);
		llama(&k, out->site_dirs.values[i]);
	}
	close_libs(&k);
}
