/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which files of a repository are, by their names, for machines without an NVIDIA GPU. Looks at
 * names alone.
 */
#include "base/arena.h"
#include "project/project.h"

static bool word_in(struct view w, const char *const *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (view_is_nocase(w, list[i]))
			return true;
	return false;
}

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* "rocm72" and "hip5" are "rocm" and "hip". */
static struct view without_number(struct view w)
{
	while (w.n > 1 && w.p[w.n - 1] >= '0' && w.p[w.n - 1] <= '9')
		w.n--;
	return w;
}

const char *project_apart(struct arena *a, const char *path)
{
	static const char *const other[] = {
		"cpu",	    "rocm",  "amd", "hip",	   "xpu",    "intel",	   "ipex",
		"openvino", "npu",   "mps", "tpu",	   "hpu",    "gaudi",	   "habana",
		"ascend",   "macos", "mac", "osx",	   "apple",  "metal",	   "ppc64le",
		"s390x",    "docs",  "doc", "readthedocs", "neuron", "inferentia",
	};
	static const char *const gpu[] = { "gpu", "gpus", "cuda", "nvidia", "cu", "nv" };
	const char *found = NULL;
	struct view rest = view_of(path);

	while (rest.n) {
		struct view w = rest;
		size_t n = 0;

		while (n < rest.n && is_alnum(rest.p[n]))
			n++;
		w.n = n;
		rest = view_skip(rest, n < rest.n ? n + 1 : n);
		if (!w.n)
			continue;
		w = without_number(w);
		if (word_in(w, gpu, ARRAY_LEN(gpu)))
			return NULL;
		if (!found && word_in(w, other, ARRAY_LEN(other)))
			found = view_dup(a, w);
	}
	return found;
}
