/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places where toolkits lie beside the usual ones: alternatives, NVIDIA's HPC SDK, spack, the
 * folders of environment modules. By names alone; no module file is read, and nothing is searched
 * deeper than its row says.
 */
#include <string.h>

#include "base/arena.h"
#include "probe/toolkit.h"

enum { ENTRIES_MAX = 4096, COMPILERS_MAX = 64 };

/* Folders of PARENT whose names begin so, each a toolkit or (tail) holding one. */
static void by_prefix(struct probe_ctx *p, const char *parent, const char *prefix, const char *tail)
{
	struct dirlist list;
	const char *home;
	size_t i;

	if (sysroot_list(p->root, p->a, parent, ENTRIES_MAX, &list) < 0)
		return;
	for (i = 0; i < list.n; i++) {
		if (strncmp(list.names[i], prefix, strlen(prefix)) != 0)
			continue;
		home = path_join(p->a, parent, list.names[i]);
		if (tail)
			home = path_join(p->a, home, tail);
		toolkit_add(p, home, home);
	}
}

/* Folders of PARENT that are named as a version: "12.4", "12.4.1-gcc-12". */
static void by_version(struct probe_ctx *p, const char *parent)
{
	struct dirlist list;
	size_t i;

	if (sysroot_list(p->root, p->a, parent, ENTRIES_MAX, &list) < 0)
		return;
	for (i = 0; i < list.n; i++)
		if (list.names[i][0] >= '1' && list.names[i][0] <= '9') {
			const char *home = path_join(p->a, parent, list.names[i]);

			toolkit_add(p, home, home);
		}
}

/* /etc/alternatives/cuda-12 -> /usr/local/cuda-12.4, /etc/alternatives/nvcc -> .../bin/nvcc. */
static void by_alternatives(struct probe_ctx *p)
{
	static const char *const names[] = { "cuda", "cuda-11", "cuda-12", "cuda-13" };
	static const char nvcc[] = "/etc/alternatives/nvcc";
	const char *real, *link, *bin;
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		link = path_join(p->a, "/etc/alternatives", names[i]);
		toolkit_add(p, link, link);
	}
	if (sysroot_realpath(p->root, p->a, nvcc, &real) < 0)
		return;
	bin = path_dir(p->a, real);
	if (strcmp(path_base(bin), "bin") == 0)
		toolkit_add(p, path_dir(p->a, bin), nvcc);
}

/* Linux_x86_64/24.5/cuda is a toolkit, or holds one a version: cuda/12.4. */
static void by_hpc_sdk(struct probe_ctx *p)
{
	static const char *const tops[] = { "/opt/nvidia/hpc_sdk/Linux_x86_64",
					    "/opt/nvidia/hpc_sdk/Linux_aarch64" };
	struct dirlist list;
	size_t i, k;

	for (i = 0; i < ARRAY_LEN(tops); i++) {
		by_prefix(p, tops[i], "2", "cuda");
		if (sysroot_list(p->root, p->a, tops[i], ENTRIES_MAX, &list) < 0)
			continue;
		for (k = 0; k < list.n; k++)
			if (list.names[k][0] == '2')
				by_version(p, arena_printf(p->a, "%s/%s/cuda", tops[i],
							   list.names[k]));
	}
}

/*
 * STORE/ARCH/cuda-12.4.1-HASH of spack from 1.0 on, STORE/ARCH/COMPILER/cuda-12.4.1-HASH of older
 * ones.
 */
static void by_spack_store(struct probe_ctx *p, const char *store)
{
	struct dirlist archs, inner;
	size_t i, k;

	if (sysroot_list(p->root, p->a, store, COMPILERS_MAX, &archs) < 0)
		return;
	for (i = 0; i < archs.n; i++) {
		const char *arch = path_join(p->a, store, archs.names[i]);

		if (strncmp(archs.names[i], "linux-", 6) != 0)
			continue;
		by_prefix(p, arch, "cuda-", NULL);
		if (sysroot_list(p->root, p->a, arch, ENTRIES_MAX, &inner) < 0)
			continue;
		for (k = 0; k < inner.n; k++)
			if (strncmp(inner.names[k], "gcc-", 4) == 0 ||
			    strncmp(inner.names[k], "clang-", 6) == 0 ||
			    strncmp(inner.names[k], "oneapi-", 7) == 0 ||
			    strncmp(inner.names[k], "nvhpc-", 6) == 0)
				by_prefix(p, path_join(p->a, arch, inner.names[k]), "cuda-", NULL);
	}
}

static void by_spack(struct probe_ctx *p)
{
	const char *roots[] = { snapshot_env(p->s, "SPACK_ROOT"), "/opt/spack", "/spack",
				snapshot_env(p->s, "HOME") };
	size_t i;

	for (i = 0; i < ARRAY_LEN(roots); i++) {
		if (!roots[i] || roots[i][0] != '/')
			continue;
		by_spack_store(p,
			       path_join(p->a, roots[i], i == 3 ? "spack/opt/spack" : "opt/spack"));
	}
}

/* What a loaded module says, and where clusters put what their modules lead to. */
static void by_modules(struct probe_ctx *p)
{
	static const char *const variables[] = { "EBROOTCUDA", "CUDA_DIR", "CUDA_INSTALL_PATH",
						 "NVHPC_CUDA_HOME" };
	static const char *const tops[] = {
		"/opt/cuda",
		"/opt/apps/cuda",
		"/opt/software/cuda",
		"/opt/easybuild/software/CUDA",
		"/usr/local/apps/cuda",
		"/apps/cuda",
		"/software/cuda",
		"/sw/cuda",
		"/easybuild/software/CUDA",
		"/opt/ohpc/pub/apps/cuda",
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(variables); i++)
		if (snapshot_env(p->s, variables[i]))
			toolkit_add(p, snapshot_env(p->s, variables[i]), variables[i]);
	for (i = 0; i < ARRAY_LEN(tops); i++)
		by_version(p, tops[i]);
}

void toolkit_places(struct probe_ctx *p)
{
	by_alternatives(p);
	by_prefix(p, "/usr/local", "cuda-", NULL);
	by_prefix(p, "/opt", "cuda-", NULL);
	by_hpc_sdk(p);
	by_spack(p);
	by_modules(p);
}
