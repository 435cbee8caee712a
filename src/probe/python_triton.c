/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Triton: its version, the version of the assembler that it brings, and Python's headers, which it
 * needs to compile. Its programs are read, never started.
 */
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "model/version.h"
#include "probe/python.h"
#include "sys/elf.h"

enum { TEXT_MAX = 1 << 16, SEARCH_MAX = 1 << 20 };

static const char *in_sites(struct probe_ctx *p, const struct python *out, const char *name)
{
	size_t i;

	for (i = 0; i < out->site_dirs.n; i++) {
		const char *path = path_join(p->a, out->site_dirs.values[i], name);

		if (sysroot_exists(p->root, path))
			return path;
	}
	return NULL;
}

/* "12.4.99" of "Cuda compilation tools, release 12.4, V12.4.99". */
static const char *release_in(struct arena *a, struct view text)
{
	static const char mark[] = "compilation tools, release ";
	ptrdiff_t at = view_find(text, mark);
	struct view rest, word;
	struct version v;
	size_t n = 0;

	if (at < 0)
		return NULL;
	rest = view_skip(text, (size_t)at + strlen(mark));
	view_cut(rest, 'V', &word);
	while (n < word.n && n < 16 && ((word.p[n] >= '0' && word.p[n] <= '9') || word.p[n] == '.'))
		n++;
	word.n = n;
	return version_parse(word, &v) && v.n >= 2 ? view_dup(a, word) : NULL;
}

/*
 * The banner stands near the beginning of the read-only data (16 KiB into it in ptxas of
 * CUDA 13.0), so that little of a program of 30 MB is read.
 */
static const char *release_of(struct probe_ctx *p, const char *path)
{
	_cleanup_fd_ int fd = sysroot_open_file(p->root, path);
	struct elf_section data;
	uint64_t off = 0;
	struct elf e;
	char *buf;
	ssize_t n;

	if (fd < 0)
		return NULL;
	if (elf_read(p->a, fd, &e) == 0) {
		if (!elf_section(&e, ".rodata", &data) || data.off > INT64_MAX)
			return NULL;
		off = data.off;
	}
	buf = arena_alloc(p->a, SEARCH_MAX);
	n = pread(fd, buf, SEARCH_MAX, (off_t)off);
	return n > 0 ? release_in(p->a, (struct view){ .p = buf, .n = (size_t)n }) : NULL;
}

static void set_release(struct probe_ctx *p, const struct python *out, struct fact *f,
			const char *const *names, size_t n)
{
	const char *path = NULL, *v;
	size_t i;

	for (i = 0; i < n && !path; i++)
		path = in_sites(p, out, names[i]);
	if (!path)
		return;
	v = release_of(p, path);
	if (v)
		fact_set(f, v, path);
	else
		fact_broken(f, path, N_("no version in it"));
}

/* Where the standard library lies, the headers do too: PREFIX/include/python3.12/Python.h. */
static void set_headers(struct probe_ctx *p, const struct py_env *e, struct python *out)
{
	const char *prefix = e->kind == PY_VENV && e->base ? e->base : e->prefix, *path;

	if (!e->minor)
		return;
	path = arena_printf(p->a, "%s/include/python%s%s/Python.h", prefix, e->minor,
			    e->threads ? "t" : "");
	if (sysroot_exists(p->root, path))
		fact_set(&out->headers, path, path);
	else
		fact_absent(&out->headers, path);
}

void py_triton(struct probe_ctx *p, const struct py_env *e, struct python *out)
{
	static const char *const plain[] = { "triton/backends/nvidia/bin/ptxas",
					     "triton/common/../third_party/cuda/bin/ptxas",
					     "triton/third_party/cuda/bin/ptxas",
					     "triton/common/bin/ptxas" };
	static const char *const blackwell[] = { "triton/backends/nvidia/bin/ptxas-blackwell" };
	const struct package *pkg = python_package(out, "triton");
	const char *file = in_sites(p, out, "triton/__init__.py"), *v = NULL;
	struct view text;

	if (!pkg)
		pkg = python_package(out, "pytorch-triton");
	if (!file) {
		fact_absent(&out->triton.version, e->prefix);
		return;
	}
	fact_set(&out->triton.path, path_dir(p->a, file), file);
	if (sysroot_read(p->root, p->a, file, TEXT_MAX, &text, NULL) == 0)
		v = py_assigned(p->a, text, "__version__");
	if (v && v[0])
		fact_set(&out->triton.version, v, file);
	else if (pkg)
		out->triton.version = pkg->version;
	set_headers(p, e, out);
	if (!e->why_active)
		return;
	set_release(p, out, &out->triton.ptxas, plain, ARRAY_LEN(plain));
	set_release(p, out, &out->triton.ptxas_blackwell, blackwell, ARRAY_LEN(blackwell));
}
