/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's module files of every kernel that is installed. Only where drivers are put is looked at,
 * not all of the tree. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "probe/kmod.h"
#include "sys/elf.h"
#include "sys/packed_file.h"

enum {
	KERNELS_MAX = 32,
	ENTRIES_MAX = 1024,
	FILES_MAX = 256,
	DEPTH_MAX = 4,
	FOLDERS_MAX = 1024,
	MODINFO_MAX = 64 << 10,
	UNPACKED_MAX = 192 << 20,
};

/*
 * Below a kernel's directory. DKMS: updates/dkms; packages of Red Hat's kind: extra, weak-updates;
 * Ubuntu's signed ones: kernel/nvidia-550; the .run installer: kernel/drivers/video; NixOS: misc.
 */
static const struct place {
	const char *dir;
	bool all; /* go into every folder, else only into those named nvidia* */
} places[] = {
	{ .dir = "updates", .all = true },
	{ .dir = "extra", .all = true },
	{ .dir = "weak-updates", .all = true },
	{ .dir = "extramodules", .all = true },
	{ .dir = "misc", .all = true },
	{ .dir = "kernel", .all = false },
	{ .dir = "kernel/drivers/video", .all = false },
};

const char *kmod_modinfo(struct arena *a, struct view text, const char *key)
{
	struct view line, value, name;

	while (text.n) {
		line = view_cut(text, '\0', &text);
		name = view_cut(line, '=', &value);
		if (view_is(name, key))
			return view_dup(a, value);
	}
	return NULL;
}

const char *kmod_file_name(struct arena *a, const char *file, const char **ret_packed)
{
	static const char *const ends[] = { "", ".xz", ".zst", ".gz" };
	const char *dot = strstr(file, ".ko");
	size_t i;

	if (!dot || strncmp(file, "nvidia", 6) != 0)
		return NULL;
	for (i = 0; i < ARRAY_LEN(ends); i++) {
		if (strcmp(dot + 3, ends[i]) != 0)
			continue;
		*ret_packed = i ? ends[i] + 1 : NULL;
		return arena_strndup(a, file, (size_t)(dot - file));
	}
	return NULL;
}

/* The first common name in a PKCS#7 signature (OID 2.5.4.3, then a string); else the first text in
 * it. */
static const char *signer_in(struct arena *a, struct view sig)
{
	static const char oid[] = "\x06\x03\x55\x04\x03";
	ptrdiff_t at = view_find(sig, oid);
	struct view name;
	size_t i, n;

	if (at >= 0 && (size_t)at + 7 < sig.n) {
		name = view_skip(sig, (size_t)at + 7);
		n = (unsigned char)sig.p[at + 6];
		if (n && n <= name.n && n < 128)
			return view_dup(a, (struct view){ .p = name.p, .n = n });
	}
	for (i = n = 0; i < sig.n; i++) {
		n = sig.p[i] >= ' ' && sig.p[i] <= '~' ? n + 1 : 0;
		if (n >= 8 && (i + 1 == sig.n || sig.p[i + 1] < ' ' || sig.p[i + 1] > '~'))
			return view_dup(a, (struct view){ .p = sig.p + i + 1 - n, .n = n });
	}
	return "?";
}

/* What sign-file appends: the signature, a struct module_signature whose last word is its length,
 * and this text (kernel/module/signing.c). */
static void signature(struct probe_ctx *p, struct module *m, int fd)
{
	static const char magic[] = "~Module signature appended~\n";
	enum { MAGIC = sizeof(magic) - 1, INFO = 12, SIGNATURE_MAX = 16 << 10 };
	unsigned char end[INFO + MAGIC];
	struct stat st;
	uint64_t n, size;
	char *sig;

	if (fstat(fd, &st) < 0 || st.st_size < INFO + MAGIC)
		return;
	size = (uint64_t)st.st_size;
	if (!elf_pread(fd, end, sizeof(end), size - sizeof(end)))
		return;
	if (memcmp(end + INFO, magic, MAGIC) != 0) {
		fact_absent(&m->signer, m->path.value);
		return;
	}
	n = (uint64_t)end[8] << 24 | (uint64_t)end[9] << 16 | (uint64_t)end[10] << 8 | end[11];
	if (!n || n > SIGNATURE_MAX || n > size - sizeof(end)) {
		fact_broken(&m->signer, m->path.value, _("a signature of a senseless length"));
		return;
	}
	sig = arena_alloc(p->a, n);
	if (elf_pread(fd, sig, n, size - sizeof(end) - n))
		fact_set(&m->signer, signer_in(p->a, (struct view){ .p = sig, .n = n }),
			 m->path.value);
}

void kmod_file_facts(struct probe_ctx *p, struct module *m, int fd)
{
	const char *source = m->path.value, *version, *licence;
	struct elf_section sec;
	struct elf e;
	char *buf;

	if (elf_read(p->a, fd, &e) < 0 || !elf_section(&e, ".modinfo", &sec) || !sec.size) {
		fact_broken(&m->version, source, _("no module of the kernel"));
		return;
	}
	if (sec.size > MODINFO_MAX)
		sec.size = MODINFO_MAX;
	buf = arena_alloc(p->a, sec.size);
	if (!elf_pread(fd, buf, sec.size, sec.off)) {
		fact_broken(&m->version, source, _("cut off"));
		return;
	}
	signature(p, m, fd);
	version = kmod_modinfo(p->a, (struct view){ .p = buf, .n = sec.size }, "version");
	licence = kmod_modinfo(p->a, (struct view){ .p = buf, .n = sec.size }, "license");
	fact_set(&m->version, version, source);
	if (licence && strcmp(licence, "NVIDIA") == 0)
		fact_set(&m->flavor, "proprietary", source);
	else if (licence && strstr(licence, "GPL"))
		fact_set(&m->flavor, "open", source);
}

static void modinfo(struct probe_ctx *p, struct module *m)
{
	_cleanup_fd_ int fd = sysroot_open_file(p->root, m->path.value);

	if (fd < 0)
		fact_errno(&m->version, -fd, m->path.value);
	else
		kmod_file_facts(p, m, fd);
}

void kmod_packed_facts(struct probe_ctx *p, struct module *m, int fd, const char *packed,
		       size_t *budget)
{
	_cleanup_fd_ int out = -1;
	struct err err = { 0 };
	struct stat st;

	/* The letters of the filters are the first of "xz", "gz", "zst". */
	out = packed_file(p->a, fd, packed[0], *budget, &err);
	if (out == -ERR_TOOBIG)
		*budget = 0;
	/* What this machine or this run cannot do is not the file's fault. */
	if (out == -ERR_TOOBIG || out == -ERR_UNSUPPORTED || out == -ERR_NOMEM)
		m->version.why = arena_strdup(p->a, err.msg);
	else if (out < 0)
		fact_broken(&m->version, m->path.value, arena_strdup(p->a, err.msg));
	if (out < 0 || fstat(out, &st) < 0)
		return;
	*budget -= (size_t)st.st_size < *budget ? (size_t)st.st_size : *budget;
	kmod_file_facts(p, m, out);
}

/* What it packs, as far as the budget of a run goes; a module of 2026 unpacks to 100 MiB. */
static void modinfo_packed(struct probe_ctx *p, struct module *m, size_t *budget)
{
	_cleanup_fd_ int fd = sysroot_open_file(p->root, m->path.value);

	if (fd >= 0)
		kmod_packed_facts(p, m, fd, strrchr(m->path.value, '.') + 1, budget);
}

static bool is_packed(const struct module *m)
{
	return fact_known(&m->path) && m->version.state == FACT_NOT_ASKED;
}

/* The version of the nvidia module that is loaded; NULL when none is. */
static const char *loaded_version(const struct driver *d)
{
	const struct module *m = driver_loaded_module(d, "nvidia");

	return m ? fact_value(&m->version, "") : NULL;
}

/*
 * The packed modules of the running kernel. nvidia.ko itself is large: where the loaded one is of
 * the version that its small siblings on the disk have, it says nothing new.
 */
static void unpack(struct probe_ctx *p, const char *running)
{
	struct driver *d = &p->s->driver;
	const char *loaded = loaded_version(d);
	size_t budget = UNPACKED_MAX, i, agree = 0, differ = 0;

	for (i = 0; i < d->n_modules && budget; i++) {
		struct module *m = &d->modules[i];

		if (!is_packed(m) || !fact_is(&m->kernel, running) || fact_is(&m->name, "nvidia"))
			continue;
		modinfo_packed(p, m, &budget);
		if (!fact_known(&m->version) || strcmp(m->name.value, "nvidia-fs") == 0)
			continue;
		if (loaded && fact_is(&m->version, loaded))
			agree++;
		else
			differ++;
	}
	if (loaded && agree && !differ)
		return;
	for (i = 0; i < d->n_modules && budget; i++)
		if (is_packed(&d->modules[i]) && fact_is(&d->modules[i].kernel, running) &&
		    fact_is(&d->modules[i].name, "nvidia"))
			modinfo_packed(p, &d->modules[i], &budget);
}

static void add_file(struct probe_ctx *p, const char *path, const char *kernel)
{
	struct driver *d = &p->s->driver;
	const char *packed, *name = kmod_file_name(p->a, path_base(path), &packed);
	struct module *m;

	if (!name || d->n_modules >= FILES_MAX)
		return;
	m = ARENA_APPEND(p->a, d->modules, d->n_modules);
	fact_set(&m->name, name, path);
	fact_set(&m->path, path, path);
	fact_set(&m->kernel, kernel, path);
	if (packed)
		m->version = (struct fact){ .source = path,
					    .why = arena_printf(p->a, _("packed (%s)"), packed) };
	else
		modinfo(p, m);
}

/* A tree of links that lead up could be walked for ever: there is an end to the folders, too. */
struct scan {
	struct probe_ctx *p;
	const char *kernel;
	int budget;
};

static void scan(struct scan *sc, const char *dir, bool all, int depth)
{
	struct probe_ctx *p = sc->p;
	struct dirlist list;
	const char *name;
	bool nvidia;
	size_t i;

	if (depth > DEPTH_MAX || sc->budget-- <= 0 ||
	    sysroot_list(p->root, p->a, dir, ENTRIES_MAX, &list) < 0)
		return;
	for (i = 0; i < list.n && p->s->driver.n_modules < FILES_MAX; i++) {
		name = list.names[i];
		nvidia = strncmp(name, "nvidia", 6) == 0;
		if (strstr(name, ".ko"))
			add_file(p, path_join(p->a, dir, name), sc->kernel);
		else if (nvidia || (all && !strchr(name, '.')))
			scan(sc, path_join(p->a, dir, name), true, depth + 1);
	}
}

static void scan_kernel(struct scan *sc, const char *top, const char *kernel)
{
	size_t i;

	sc->kernel = kernel;
	for (i = 0; i < ARRAY_LEN(places); i++)
		scan(sc, arena_printf(sc->p->a, "%s/%s/%s", top, kernel, places[i].dir),
		     places[i].all, 0);
}

void kmod_disk(struct probe_ctx *p)
{
	/* Where modprobe looks; /usr/lib only where /lib has none, NixOS has neither. */
	static const char *const tops[] = { "/lib/modules", "/usr/lib/modules",
					    "/run/booted-system/kernel-modules/lib/modules" };
	const char *running = fact_value(&p->s->host.kernel, "");
	struct scan sc = { .p = p, .budget = FOLDERS_MAX };
	struct dirlist kernels = { 0 };
	size_t top = 0, i, others = 0;

	while (top < ARRAY_LEN(tops) &&
	       sysroot_list(p->root, p->a, tops[top], ENTRIES_MAX, &kernels) < 0)
		top++;
	for (i = 0; i < kernels.n; i++)
		if (strcmp(kernels.names[i], running) == 0)
			scan_kernel(&sc, tops[top], running);
	for (i = 0; i < kernels.n && others < KERNELS_MAX; i++)
		if (strcmp(kernels.names[i], running) != 0) {
			scan_kernel(&sc, tops[top], kernels.names[i]);
			others++;
		}
	if (*running)
		unpack(p, running);
}
