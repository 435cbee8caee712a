/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA toolkits on disk, each once, with all the ways that lead to it. Starts none of their
 * programs. */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "model/version.h"
#include "probe/toolkit.h"

enum { TOOLKITS_MAX = 64, ENTRIES_MAX = 4096, VERSION_FILE_MAX = 256 << 10, PATH_DIRS_MAX = 128 };

#define DISTRO_HOME "/usr/lib/nvidia-cuda-toolkit"

static const char *below(struct probe_ctx *p, const char *home, const char *name)
{
	return path_join(p->a, home, name);
}

/* "12.4.127" in NVIDIA's version.json: {"cuda": {"name": "CUDA SDK", "version": "12.4.127"}, ...}
 */
const char *toolkit_version_json(struct arena *a, struct view text, const char *name)
{
	static const char *const parts[] = { "cuda", "cuda_cudart", "cuda_nvcc" };
	const struct json *doc;
	struct version v;
	size_t i;

	if (json_parse(a, text, name, &doc, NULL) < 0)
		return NULL;
	for (i = 0; i < ARRAY_LEN(parts); i++) {
		const char *s = json_get_str(json_get(doc, parts[i]), "version");

		if (s && version_parse(view_of(s), &v) && v.n >= 2)
			return s;
	}
	return NULL;
}

/* "CUDA Version 10.2.89" */
const char *toolkit_version_txt(struct arena *a, struct view text)
{
	struct view line, word = { 0 };
	struct version v;

	while (view_line(&text, &line)) {
		if (!view_starts(line, "CUDA Version "))
			continue;
		line = view_skip(line, strlen("CUDA Version "));
		return view_word(&line, &word) && version_parse(word, &v) && v.n >= 2
			       ? view_dup(a, word)
			       : NULL;
	}
	return NULL;
}

/* Longest version in the names libcudart.so.12.4.127 of a folder. */
static const char *version_of_cudart(struct probe_ctx *p, const char *dir)
{
	static const char stem[] = "libcudart.so.";
	const char *best = NULL, *s;
	struct dirlist list;
	struct version v;
	size_t i;

	if (sysroot_list(p->root, p->a, dir, ENTRIES_MAX, &list) < 0)
		return NULL;
	for (i = 0; i < list.n; i++) {
		if (strncmp(list.names[i], stem, strlen(stem)) != 0)
			continue;
		s = list.names[i] + strlen(stem);
		if (version_parse(view_of(s), &v) && v.n >= 2 &&
		    (!best || strlen(s) > strlen(best)))
			best = s;
	}
	return best;
}

static bool version_by_files(struct probe_ctx *p, struct fact *f, const char *home)
{
	const char *json = below(p, home, "version.json"), *txt = below(p, home, "version.txt"),
		   *s = NULL;
	struct view text;
	int e = sysroot_read(p->root, p->a, json, VERSION_FILE_MAX, &text, NULL);

	if (!e) {
		s = toolkit_version_json(p->a, text, json);
		if (s)
			fact_set(f, s, json);
		else
			fact_broken(f, json, _("no version in it"));
	}
	if (!s && sysroot_read(p->root, p->a, txt, VERSION_FILE_MAX, &text, NULL) == 0) {
		s = toolkit_version_txt(p->a, text);
		if (s)
			fact_set(f, s, txt);
		else
			fact_broken(f, txt, _("no version in it"));
	}
	return s != NULL;
}

/* "cuda-12.4", "12.4.1", spack's "cuda-12.6.3-HASH": the version in a folder's name, or NULL. */
static const char *version_of_folder(struct probe_ctx *p, const char *base)
{
	struct view rest = view_of(base), number;
	struct version v;

	if (view_starts(rest, "cuda-") || view_starts(rest, "CUDA-"))
		rest = view_skip(rest, 5);
	number = view_cut(rest, '-', &rest);
	return version_parse(number, &v) ? view_dup(p->a, number) : NULL;
}

/* By what NVIDIA writes into it, else by the runtime library, else by the folder's name. */
static void version(struct probe_ctx *p, struct fact *f, const char *home)
{
	static const char *const dirs[] = { "lib64", "lib", "targets/x86_64-linux/lib",
					    "targets/sbsa-linux/lib", "targets/aarch64-linux/lib" };
	const char *s = NULL, *arch = fact_value(&p->s->host.arch, "x86_64");
	size_t i;

	if (version_by_files(p, f, home))
		return;
	/* Debian and Ubuntu spread their package: its version file lies in /usr/lib/cuda, its
	 * libraries in /usr/lib. */
	if (strcmp(home, DISTRO_HOME) == 0) {
		const char *dir = arena_printf(p->a, "/usr/lib/%s-linux-gnu", arch);

		if (version_by_files(p, f, "/usr/lib/cuda"))
			return;
		s = version_of_cudart(p, dir);
		if (s)
			fact_set(f, s, dir);
		return;
	}
	for (i = 0; i < ARRAY_LEN(dirs) && !s; i++) {
		s = version_of_cudart(p, below(p, home, dirs[i]));
		if (s)
			fact_set(f, s, below(p, home, dirs[i]));
	}
	if (s)
		return;
	s = version_of_folder(p, path_base(home));
	if (s)
		fact_set(f, s, home);
	else if (f->state == FACT_NOT_ASKED)
		fact_absent(f, home);
}

static void nvcc(struct probe_ctx *p, struct fact *f, const char *home)
{
	const char *path = below(p, home, "bin/nvcc");
	struct stat st;
	int e = sysroot_stat(p->root, path, true, &st);

	if (!e)
		fact_flag(f, S_ISREG(st.st_mode), path);
	else if (e == -EACCES || e == -EPERM)
		fact_errno(f, -e, path);
	else
		fact_flag(f, false, path);
}

/* "9.1.0" of #define CUDNN_MAJOR, _MINOR, _PATCHLEVEL. */
const char *toolkit_cudnn_header(struct arena *a, struct view text)
{
	static const char *const names[] = { "CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL" };
	uint64_t part[3] = { 0 };
	struct view line, word;
	bool major = false;
	size_t i;

	while (view_line(&text, &line)) {
		if (!view_word(&line, &word) || !view_is(word, "#define") ||
		    !view_word(&line, &word))
			continue;
		for (i = 0; i < ARRAY_LEN(names); i++)
			if (view_is(word, names[i]) && view_word(&line, &word) &&
			    view_u64(word, 10, &part[i]) && part[i] < 1000)
				major |= i == 0;
	}
	return major ? arena_printf(a, "%u.%u.%u", (unsigned)part[0], (unsigned)part[1],
				    (unsigned)part[2])
		     : NULL;
}

static void cudnn(struct probe_ctx *p, struct fact *f, const char *home)
{
	static const char *const names[] = { "include/cudnn_version.h", "include/cudnn.h" };
	struct view text;
	size_t i;

	for (i = 0; i < ARRAY_LEN(names) && !fact_known(f); i++) {
		const char *path = below(p, home, names[i]), *v;

		if (sysroot_read(p->root, p->a, path, VERSION_FILE_MAX, &text, NULL) < 0)
			continue;
		v = toolkit_cudnn_header(p->a, text);
		if (v)
			fact_set(f, v, path);
	}
}

/* Something of a toolkit must be in it: an empty /usr/local/cuda is none. */
static bool is_toolkit(struct probe_ctx *p, const char *home)
{
	static const char *const signs[] = { "bin/nvcc",	  "version.json",
					     "version.txt",	  "nvvm",
					     "include/cuda.h",	  "targets",
					     "lib64/libcudart.so" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(signs); i++)
		if (sysroot_exists(p->root, below(p, home, signs[i])))
			return true;
	return false;
}

static bool via_has(const char *list, const char *via)
{
	const char *at = strstr(list, via);

	return at && (at == list || at[-1] == ' ') && (!at[strlen(via)] || at[strlen(via)] == ',');
}

void toolkit_add(struct probe_ctx *p, const char *home, const char *via)
{
	struct snapshot *s = p->s;
	struct toolkit *t;
	const char *real;
	size_t i;

	if (home[0] != '/' || sysroot_realpath(p->root, p->a, home, &real) < 0)
		return;
	/* The package's own links lead to /usr/lib/cuda, which holds next to nothing. */
	if (strcmp(real, "/usr/lib/cuda") == 0 && sysroot_is_dir(p->root, DISTRO_HOME))
		real = DISTRO_HOME;
	for (i = 0; i < s->n_toolkits; i++) {
		t = &s->toolkits[i];
		if (strcmp(t->path.value, real) != 0)
			continue;
		if (!via_has(t->via.value, via))
			t->via.value = arena_printf(p->a, "%s, %s", t->via.value, via);
		return;
	}
	if (strcmp(real, "/usr") == 0 || strcmp(real, "/") == 0 || s->n_toolkits >= TOOLKITS_MAX ||
	    !is_toolkit(p, real))
		return;
	t = ARENA_APPEND(p->a, s->toolkits, s->n_toolkits);
	fact_set(&t->path, real, home);
	fact_set(&t->via, via, home);
	version(p, &t->version, real);
	nvcc(p, &t->nvcc, real);
	cudnn(p, &t->cudnn, real);
}

/* A link that leads nowhere: what an uninstalled toolkit leaves behind. */
static void broken_link(struct probe_ctx *p, const char *home)
{
	const char *target, *real;
	struct toolkit *t;
	int e = sysroot_realpath(p->root, p->a, home, &real);

	if ((e != -ENOENT && e != -ELOOP && e != -ENOTDIR) ||
	    sysroot_readlink(p->root, p->a, home, &target) < 0 || p->s->n_toolkits >= TOOLKITS_MAX)
		return;
	t = ARENA_APPEND(p->a, p->s->toolkits, p->s->n_toolkits);
	fact_set(&t->path, home, home);
	fact_broken(&t->link, home,
		    e == -ELOOP ? _("link loop")
				: arena_printf(p->a, _("dangling link to %s"), target));
	fact_absent(&t->version, home);
	fact_flag(&t->nvcc, false, home);
}

/* The toolkit whose nvcc a shell would start. */
static void by_path(struct probe_ctx *p)
{
	struct view rest = view_of(snapshot_env(p->s, "PATH")), dir;
	const char *file, *real, *bin;
	int i;

	for (i = 0; rest.n && i < PATH_DIRS_MAX; i++) {
		dir = view_cut(rest, ':', &rest);
		if (!dir.n || dir.p[0] != '/')
			continue;
		file = path_join(p->a, view_dup(p->a, dir), "nvcc");
		if (sysroot_realpath(p->root, p->a, file, &real) < 0)
			continue;
		bin = path_dir(p->a, real);
		/* Debian's nvcc is a script in /usr/bin. */
		if (strcmp(bin, "/usr/bin") == 0)
			toolkit_add(p, DISTRO_HOME, "PATH");
		else if (strcmp(path_base(bin), "bin") == 0)
			toolkit_add(p, path_dir(p->a, bin), "PATH");
		return;
	}
}

static void run(struct probe_ctx *p)
{
	static const char *const variables[] = { "CUDA_HOME", "CUDA_PATH", "CUDA_ROOT" };
	static const char *const homes[] = { "/usr/local/cuda", "/opt/cuda", DISTRO_HOME,
					     "/usr/lib/cuda" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(variables); i++)
		if (snapshot_env(p->s, variables[i]))
			toolkit_add(p, snapshot_env(p->s, variables[i]), variables[i]);
	by_path(p);
	for (i = 0; i < ARRAY_LEN(homes); i++)
		toolkit_add(p, homes[i], homes[i]);
	/* conda's package cuda-nvcc lies in the environment. */
	if (snapshot_env(p->s, "CONDA_PREFIX") &&
	    sysroot_exists(p->root, below(p, snapshot_env(p->s, "CONDA_PREFIX"), "bin/nvcc")))
		toolkit_add(p, snapshot_env(p->s, "CONDA_PREFIX"), "CONDA_PREFIX");
	toolkit_places(p);
	/* Last, since it is none. */
	broken_link(p, "/usr/local/cuda");
	broken_link(p, "/opt/cuda");
	toolkit_compiler(p);
}

const struct probe probe_toolkit = { .name = "toolkit", .run = run };
