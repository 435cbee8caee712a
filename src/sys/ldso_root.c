/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the loader's own file for what was built into it. It must run nothing of the root. */
#include "sys/ldso_root.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "model/version.h"
#include "sys/elf.h"
#include "sys/ldso.h"

enum {
	LOADER_MAX = 8 << 20, /* real ones have 200 KiB, with symbols 2 MiB */
	CPUINFO_MAX = 64 << 10,
	LEGACY_PARTS = 4,
	/* In the old forms of the cache. */
	X86_64_BIT = 1,
	AVX512_1_BIT = 2,
	HASWELL_BIT = 50,
	XEON_PHI_BIT = 51,
};

static const struct loader {
	const char *arch, *file;
	bool musl;
} loaders[] = {
	{ .arch = "x86_64", .file = "/lib64/ld-linux-x86-64.so.2" },
	{ .arch = "aarch64", .file = "/lib/ld-linux-aarch64.so.1" },
	{ .arch = "x86_64", .file = "/lib/ld-musl-x86_64.so.1", .musl = true },
	{ .arch = "aarch64", .file = "/lib/ld-musl-aarch64.so.1", .musl = true },
};

/* Names of /proc/cpuinfo that make up a level; glibc, sysdeps/x86/isa-level.h and the psABI. */
static const struct level {
	const char *name, *flags;
} levels[] = {
	{ .name = "x86-64-v4", .flags = "avx512f avx512bw avx512cd avx512dq avx512vl" },
	{ .name = "x86-64-v3", .flags = "avx avx2 bmi1 bmi2 f16c fma abm movbe" },
	{ .name = "x86-64-v2", .flags = "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3" },
};

struct ldso_place *ldso_place(struct ldso_root *w, const char *dir)
{
	struct ldso_place *p;

	for (p = w->places; p; p = p->next)
		if (strcmp(p->dir, dir) == 0)
			return p;
	p = arena_alloc(w->a, sizeof(*p));
	p->dir = dir;
	p->relative = dir[0] != '/';
	p->next = w->places;
	w->places = p;
	return p;
}

const struct ldso_file *ldso_file(struct ldso_root *w, const char *path, int *ret_error)
{
	struct ldso_file **slot, *f;
	_cleanup_fd_ int fd = -1;
	const char *p;
	unsigned h = 5381;
	struct stat st;

	for (p = path; *p; p++)
		h = h * 33 + (unsigned char)*p;
	slot = &w->files[h % LDSO_BUCKETS];
	for (f = *slot; f; f = f->next)
		if (strcmp(f->path, path) == 0)
			return f;
	fd = sysroot_open_file(w->r, path);
	if (fd < 0 && fd != -EINVAL) {
		*ret_error = -fd;
		return NULL;
	}
	f = arena_alloc(w->a, sizeof(*f));
	f->path = path;
	f->error = fd < 0 ? EINVAL : 0;
	if (fd >= 0 && fstat(fd, &st) == 0) {
		f->dev = st.st_dev;
		f->ino = st.st_ino;
		f->n = (uint64_t)st.st_size < sizeof(f->header) ? (size_t)st.st_size
								: sizeof(f->header);
		if (!elf_pread(fd, f->header, f->n, 0))
			f->n = 0;
		f->is_elf = elf_read(w->a, fd, &f->elf) == 0;
		f->elf.fd = -1;
	}
	f->next = *slot;
	*slot = f;
	return f;
}

/* "/lib64/" and the like; NULL when the text at p, which ends in NUL, is no directory of libraries.
 */
static bool is_library_dir(const char *p, size_t n)
{
	size_t i;

	if (n < 4 || n > 128 || p[0] != '/' || p[n - 1] != '/' || !memmem(p, n, "lib", 3))
		return false;
	for (i = 0; i < n; i++)
		if (p[i] <= ' ' || p[i] > '~' || p[i] == ':' || p[i] == '%' || p[i] == '$')
			return false;
	return true;
}

/* The directories stand one after another in the loader, each with its NUL. */
static void built_in_dirs(struct ldso_root *w, struct view text)
{
	size_t i = 0, n;

	while (i < text.n && !w->n_dirs) {
		const char *p = memchr(text.p + i, '/', text.n - i);

		if (!p)
			return;
		i = (size_t)(p - text.p);
		/* A string begins behind a NUL. */
		while (i && text.p[i - 1] == 0 && w->n_dirs < LDSO_DIRS) {
			n = strnlen(text.p + i, text.n - i);
			if (n == text.n - i || !is_library_dir(text.p + i, n))
				break;
			w->dirs[w->n_dirs++] = arena_strndup(w->a, text.p + i, n);
			i += n + 1;
		}
		i++;
	}
	w->dirs_known = w->n_dirs > 0;
}

/* "2.36" behind "release version " in the loader's banner (since 2.33), else out of ld-2.31.so. */
static const char *version_of(struct ldso_root *w, struct view text)
{
	ptrdiff_t at = view_find(text, "stable release version ");
	struct version v;
	const char *real;
	struct view s;
	size_t n = 0;

	if (at >= 0) {
		s = view_skip(text, (size_t)at + strlen("stable release version "));
		while (n < s.n && n < 16 && ((s.p[n] >= '0' && s.p[n] <= '9') || s.p[n] == '.'))
			n++;
		while (n && s.p[n - 1] == '.')
			n--;
		s.n = n;
		return version_parse(s, &v) ? view_dup(w->a, s) : NULL;
	}
	if (sysroot_realpath(w->r, w->a, w->loader, &real) < 0)
		return NULL;
	s = view_of(path_base(real));
	if (!view_starts(s, "ld-") || !view_ends(s, ".so") || s.n <= 6)
		return NULL;
	s = view_skip(s, 3);
	s.n -= 3;
	return version_parse(s, &v) ? view_dup(w->a, s) : NULL;
}

static void read_loader(struct ldso_root *w)
{
	struct view text;
	const char *const *dir;

	if (w->loader && !w->musl &&
	    sysroot_read(w->r, w->a, w->loader, LOADER_MAX, &text, NULL) == 0) {
		built_in_dirs(w, text);
		w->version = version_of(w, text);
	}
	if (w->n_dirs)
		return;
	for (dir = ldso_default_dirs(w->arch); *dir && w->n_dirs < LDSO_DIRS; dir++)
		w->dirs[w->n_dirs++] = arena_printf(w->a, "%s/", *dir);
}

static bool has_word(struct view text, struct view word)
{
	struct view w;

	while (view_word(&text, &w))
		if (w.n == word.n && memcmp(w.p, word.p, w.n) == 0)
			return true;
	return false;
}

static bool has_all(struct view flags, const char *names)
{
	struct view rest = view_of(names), w;

	while (view_word(&rest, &w))
		if (!has_word(flags, w))
			return false;
	return true;
}

/* The flags of the first processor in /proc/cpuinfo; *intel: it is one of Intel. */
static struct view cpu_flags(const struct ldso_root *w, bool *intel)
{
	struct view text, line, key, value;

	*intel = false;
	if (!w->r->live || sysroot_read(w->r, w->a, "/proc/cpuinfo", CPUINFO_MAX, &text, NULL) < 0)
		return (struct view){ .n = 0 };
	while (view_line(&text, &line)) {
		key = view_trim(view_cut(line, ':', &value));
		if (view_is(key, "vendor_id"))
			*intel = view_is(view_trim(value), "GenuineIntel");
		if (view_is(key, "flags") || view_is(key, "Features"))
			return value;
	}
	return (struct view){ .n = 0 };
}

/* What a name of before glibc 2.37 says of the processor; false: it is none. */
static bool old_name(struct ldso_root *w, const char *name)
{
	if (strcmp(name, "haswell") == 0 || strcmp(name, "xeon_phi") == 0)
		w->platform = name;
	else if (strcmp(name, "avx512_1") == 0)
		w->feature = name;
	else
		return false;
	return true;
}

/* glibc gives processors of Intel alone a platform of their own (sysdeps/x86/cpu-features.c). */
static void find_platform(struct ldso_root *w, struct view flags)
{
	if (has_all(flags, "avx512cd avx512er avx512pf"))
		old_name(w, "xeon_phi");
	else if (has_all(flags, "avx2 bmi1 bmi2 abm movbe popcnt"))
		old_name(w, "haswell");
	if (has_all(flags, "avx512cd avx512bw avx512dq avx512vl") && !has_all(flags, "avx512er"))
		old_name(w, "avx512_1");
}

static void find_hwcaps(struct ldso_root *w, const char *const *declared)
{
	bool intel;
	struct view flags = cpu_flags(w, &intel);
	bool x86 = w->arch && strcmp(w->arch, "x86_64") == 0;
	size_t i, n = 0;

	w->hwcaps_known = declared || flags.n;
	if (declared) {
		for (; *declared && n + 1 < ARRAY_LEN(w->hwcaps); declared++)
			if (!old_name(w, *declared))
				w->hwcaps[n++] = *declared;
		return;
	}
	if (x86 && intel)
		find_platform(w, flags);
	/* A level holds those below it. */
	for (i = 0; x86 && i < ARRAY_LEN(levels); i++) {
		bool all = flags.n > 0;
		size_t k;

		for (k = i; k < ARRAY_LEN(levels); k++)
			all = all && has_all(flags, levels[k].flags);
		if (all || (!flags.n && i > 0))
			w->hwcaps[n++] = levels[i].name;
	}
}

static void add_cap(struct ldso_root *w, const char *cap)
{
	size_t i;

	for (i = 0; i < w->n_caps; i++)
		if (strcmp(w->caps[i], cap) == 0)
			return;
	if (w->n_caps < LDSO_CAPS)
		w->caps[w->n_caps++] = cap;
}

/*
 * Before 2.37: every subset of (features, platform, "tls"), the last first, as _dl_important_hwcaps
 * of glibc orders them. On x86_64 one feature's name is that of the architecture, as the platform's
 * is most often; a path that comes twice counts once.
 */
static void legacy_caps(struct ldso_root *w)
{
	const char *part[LEGACY_PARTS] = { w->arch };
	unsigned set, i, n = 1;

	if (w->feature)
		part[n++] = w->feature;
	part[n++] = w->platform;
	part[n++] = "tls";
	for (set = (1U << n) - 1; set; set--) {
		struct strbuf b;

		strbuf_init(&b, w->a);
		for (i = n; i--;)
			if (set >> i & 1)
				strbuf_printf(&b, "%s/", part[i]);
		add_cap(w, b.s);
	}
}

static void find_caps(struct ldso_root *w)
{
	bool named = !w->version || version_at_least(w->version, "2.33"), legacy;
	size_t i;

	legacy = w->version && !version_at_least(w->version, "2.37") && w->platform;
	for (i = 0; named && w->hwcaps[i]; i++)
		add_cap(w, arena_printf(w->a, "glibc-hwcaps/%s/", w->hwcaps[i]));
	if (legacy)
		legacy_caps(w);
	add_cap(w, "");
	w->cpu = (struct ldcache_cpu){ .hwcaps = w->hwcaps, .legacy = legacy };
	if (w->arch && strcmp(w->arch, "x86_64") == 0)
		w->cpu.bits = UINT64_C(1) << X86_64_BIT |
			      (uint64_t)(w->feature != NULL) << AVX512_1_BIT |
			      (uint64_t)(strcmp(w->platform, "haswell") == 0) << HASWELL_BIT |
			      (uint64_t)(strcmp(w->platform, "xeon_phi") == 0) << XEON_PHI_BIT;
}

void ldso_root_init(struct ldso_root *w, const struct sysroot *r, struct arena *a,
		    const char *const *hwcaps)
{
	size_t i;

	*w = (struct ldso_root){ .a = a, .r = r };
	for (i = 0; i < ARRAY_LEN(loaders) && !w->loader; i++) {
		if (!sysroot_exists(r, loaders[i].file))
			continue;
		w->loader = loaders[i].file;
		w->soname = path_base(w->loader);
		w->arch = loaders[i].arch;
		w->musl = loaders[i].musl;
	}
	w->platform = w->arch;
	read_loader(w);
	w->lib = w->dirs_known && w->n_dirs > 2 && strstr(w->dirs[0], "-linux-gnu") ?
			 arena_printf(a, "lib/%s-linux-gnu", w->arch) :
		 w->arch && !w->dirs_known &&
				 sysroot_is_dir(r, arena_printf(a, "/lib/%s-linux-gnu", w->arch)) ?
			 arena_printf(a, "lib/%s-linux-gnu", w->arch) :
		 w->dirs_known && strcmp(w->dirs[0], "/usr/lib/") == 0 ? "lib" :
									 "lib64";
	find_hwcaps(w, hwcaps);
	if (!w->musl)
		find_caps(w);
	else
		add_cap(w, "");
	w->cache_error = w->musl ? ENOENT : -ldcache_read(r, a, &w->cache);
}
