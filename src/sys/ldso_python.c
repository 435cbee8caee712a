/* SPDX-License-Identifier: Apache-2.0 */
/* Import steps of Python packages. No Python is run, and no file of a package is believed to be
 * what it was. */
#include "sys/ldso_python.h"

#include <string.h>

#include "base/arena.h"
#include "sys/ldso_private.h"

enum { NAMES_MAX = 4096 };

const struct preload_row torch_preloads[] = {
	{ .folder = "cublas", .stem = "libcublas.so." },
	{ .folder = "cudnn", .stem = "libcudnn.so." },
	{ .folder = "cuda_nvrtc", .stem = "libnvrtc.so.", .always = true },
	{ .folder = "cuda_runtime", .stem = "libcudart.so." },
	{ .folder = "cuda_cupti", .stem = "libcupti.so." },
	{ .folder = "cufft", .stem = "libcufft.so." },
	{ .folder = "curand", .stem = "libcurand.so." },
	{ .folder = "nvjitlink", .stem = "libnvJitLink.so.", .always = true },
	{ .folder = "cusparse", .stem = "libcusparse.so." },
	{ .folder = "cusparselt", .stem = "libcusparseLt.so." },
	{ .folder = "cusolver", .stem = "libcusolver.so." },
	{ .folder = "nccl", .stem = "libnccl.so." },
	{ .folder = "nvshmem", .stem = "libnvshmem_host.so." },
	{ .folder = "nvtx", .stem = "libnvToolsExt.so." },
	{ .folder = NULL },
};

const struct preload_row jax_preloads[] = {
	{ .folder = "cuda_runtime", .stem = "libcudart.so." },
	{ .folder = "cuda_nvrtc", .stem = "libnvrtc.so." },
	{ .folder = "cublas", .stem = "libcublas.so." },
	{ .folder = "cublas", .stem = "libcublasLt.so." },
	{ .folder = "nccl", .stem = "libnccl.so." },
	{ .folder = "cuda_cupti", .stem = "libcupti.so." },
	{ .folder = "cusparse", .stem = "libcusparse.so." },
	{ .folder = "cusolver", .stem = "libcusolver.so." },
	{ .folder = "cufft", .stem = "libcufft.so." },
	{ .folder = "nvshmem", .stem = "libnvshmem_host.so." },
	{ .folder = "cudnn", .stem = "libcudnn.so." },
	{ .folder = NULL },
};

/* clang-format off */
static const struct package_load_row packages[] = {
	{ "torch", N_("import torch opens torch/lib/libtorch_global_deps.so first. Where the loader finds all that it needs, "
		      "nothing else is done; else torch opens the files of nvidia/*/lib below sys.path itself. On Windows it adds "
		      "torch\\lib and Library\\bin by os.add_dll_directory.") },
	{ "tensorflow", N_("tensorflow opens the CUDA libraries by name when the first GPU is asked for. The search path in its own "
			   "library leads into nvidia/*/lib beside it; where that is DT_RUNPATH, LD_LIBRARY_PATH comes before it.") },
	{ "jax_plugins", N_("jax opens cudart, nvrtc, cuBLAS, NCCL, CUPTI, cuSPARSE, cuSOLVER, cuFFT, NVSHMEM and cuDNN by path out of "
			    "the nvidia packages before its plugin: these win over LD_LIBRARY_PATH. What is not there is "
			    "looked for by name.") },
	{ "cupy", N_("cupy opens cuTENSOR, NCCL and cuDNN from ~/.cupy/cuda_lib when they are there, the rest by name; on "
		     "Windows it adds CUDA_PATH\\bin by os.add_dll_directory.") },
	{ "onnxruntime", N_("the CUDA provider is opened when a session asks for it, and its libraries by name; "
			    "onnxruntime.preload_dlls() opens those of nvidia/*/lib or of torch before.") },
};
/* clang-format on */

const struct package_load_row *package_load(const char *path)
{
	static const char *const sites[] = { "/site-packages/", "/dist-packages/" };
	const char *at;
	size_t i, k, n;

	for (i = 0; i < ARRAY_LEN(sites); i++) {
		at = strstr(path, sites[i]);
		if (!at)
			continue;
		at += strlen(sites[i]);
		for (k = 0; k < ARRAY_LEN(packages); k++) {
			n = strlen(packages[k].package);
			if (strncmp(at, packages[k].package, n) == 0 && at[n] == '/')
				return &packages[k];
		}
	}
	return NULL;
}

/* The first file stem*DIGIT in a folder; NULL when there is none. */
static const char *in_folder(struct load_session *s, const char *dir, const char *stem)
{
	struct dirlist list;
	size_t i, n = strlen(stem);

	if (sysroot_list(s->w->r, s->a, dir, NAMES_MAX, &list) < 0)
		return NULL;
	for (i = 0; i < list.n; i++) {
		size_t len = strlen(list.names[i]);

		if (len > n && strncmp(list.names[i], stem, n) == 0 &&
		    list.names[i][len - 1] >= '0' && list.names[i][len - 1] <= '9')
			return path_join(s->a, dir, list.names[i]);
	}
	return NULL;
}

/* Opens what the row names out of the first directory that has it. False: none has. */
static bool preload(struct load_session *s, const struct preload_row *row, const char *const *sites,
		    size_t n_sites)
{
	const char *file;
	size_t i;

	for (i = 0; i < n_sites; i++) {
		file = in_folder(s, arena_printf(s->a, "%s/nvidia/cu13/lib", sites[i]), row->stem);
		if (!file)
			file = in_folder(
				s, arena_printf(s->a, "%s/nvidia/%s/lib", sites[i], row->folder),
				row->stem);
		if (!file)
			continue;
		(void)load_session_dlopen(s, file, NULL, NULL);
		return true;
	}
	return false;
}

/* Is a library of this name in the process, out of the wheels? */
static bool has_wheel_cudart(const struct load_session *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->objects[i]->path &&
		    (strstr(s->objects[i]->path, "/nvidia/cuda_runtime/lib/libcudart.so") ||
		     strstr(s->objects[i]->path, "/nvidia/cu13/lib/libcudart.so")))
			return true;
	return false;
}

/* torch/_C.cpython-312-x86_64-linux-gnu.so; the first when there are several. */
static const char *extension(struct load_session *s, const char *torch)
{
	struct dirlist list;
	size_t i;

	if (sysroot_list(s->w->r, s->a, torch, NAMES_MAX, &list) < 0)
		return NULL;
	for (i = 0; i < list.n; i++)
		if (strncmp(list.names[i], "_C.", 3) == 0 &&
		    view_ends(view_of(list.names[i]), ".so"))
			return path_join(s->a, torch, list.names[i]);
	return NULL;
}

void jax_import(struct load_session *s, const char *const *sites, size_t n_sites)
{
	const struct preload_row *row;

	for (row = jax_preloads; row->folder; row++)
		(void)preload(s, row, sites, n_sites);
}

/* torch looks further only when what failed is one of the libraries that it knows. */
static bool is_known(const struct load_object *failed)
{
	const struct preload_row *row;

	for (row = torch_preloads; row->folder; row++)
		if (strncmp(failed->name, row->stem, strlen(row->stem)) == 0)
			return true;
	return false;
}

void torch_import(struct load_session *s, const char *torch, const char *const *sites,
		  size_t n_sites, struct torch_import *ret)
{
	const char *deps = path_join(s->a, torch, "lib/libtorch_global_deps.so"),
		   *c = extension(s, torch);
	const struct preload_row *row;

	*ret = (struct torch_import){ .preloaded = false };
	if (sysroot_exists(s->w->r, deps)) {
		ret->global_deps = load_session_dlopen(s, deps, NULL, &ret->failed);
		if (ret->failed && is_known(ret->failed)) {
			ret->preloaded = true;
			for (row = torch_preloads; row->folder; row++)
				if (!preload(s, row, sites, n_sites) && !ret->missing)
					ret->missing = row->stem;
			ret->global_deps = load_session_dlopen(s, deps, NULL, &ret->failed);
		} else if (!ret->failed && has_wheel_cudart(s)) {
			for (row = torch_preloads; row->folder; row++)
				if (row->always)
					(void)preload(s, row, sites, n_sites);
		}
	}
	if (!ret->failed && c)
		ret->extension = load_session_dlopen(s, c, NULL, &ret->failed);
}
