/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loader's cache, /etc/ld.so.cache of glibc: which file each library name leads to. Both
 * formats: the old one
 * ("ld.so-1.7.0"), the new one ("glibc-ld.so.cache1.1"), and the new one behind the old one, which
 * glibc before 2.32 writes. Every count and offset is checked; entries that point outside are
 * passed over.
 */
#ifndef SYS_LDCACHE_H
#define SYS_LDCACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/view.h"
#include "sys/sysroot.h"

#define LDCACHE_PATH "/etc/ld.so.cache"

/* Flags of an entry, from glibc's elf/cache.c: ELF and libc6 in the low byte, the machine above. */
enum {
	LDCACHE_ANY = -1,
	LDCACHE_I386 = 0x0003,
	LDCACHE_X86_64 = 0x0303,
	LDCACHE_PPC64 = 0x0503,
	LDCACHE_ARM_HF = 0x0903,
	LDCACHE_AARCH64 = 0x0a03,
	LDCACHE_RISCV64 = 0x1003,
};

struct ldcache {
	struct view text;
	bool is_new;	    /* format of the entries */
	size_t entries;	    /* offset of the first */
	size_t n;	    /* entries that fit into the file */
	size_t strings;	    /* offset that keys and values count from */
	const char *damage; /* what was wrong, untranslated; NULL when sound */
	size_t hwcaps, n_hwcaps; /* names of glibc-hwcaps folders: offset of their offsets, count */
};

struct ldcache_entry {
	const char *name; /* both end in NUL within the file */
	const char *path;
	int flags;
	uint64_t hwcap; /* 0: for every processor */
};

/* 0, or -EINVAL for text that the loader would not take as a cache. `text` must outlive the cache.
 */
int ldcache_parse(struct view text, struct ldcache *ret);
/* Reads it below the root. 0, -EINVAL, or the errno of reading. */
int ldcache_read(const struct sysroot *r, struct arena *a, struct ldcache *ret);
/* Entry i (below n); false when it points outside the file. */
bool ldcache_entry(const struct ldcache *c, size_t i, struct ldcache_entry *ret);
/*
 * The next entry at or behind *pos whose name is NAME, for this machine (LDCACHE_ANY: any) and
 * every processor. The first one is what the loader takes. Moves *pos behind it.
 */
bool ldcache_find(const struct ldcache *c, const char *name, int flags, size_t *pos,
		  struct ldcache_entry *ret);
/* What the processor and the loader of a root make of the entries for special processors. */
struct ldcache_cpu {
	const char *const
		*hwcaps; /* names of glibc-hwcaps that are searched, best first; NULL-terminated */
	bool legacy;		   /* the loader knows the old forms (before glibc 2.37) */
	uint64_t bits;		   /* those of the old forms that the processor has */
};
/*
 * The path that the loader takes for NAME, found as the loader does it: by binary search in the
 * order of ldconfig, so that a cache in another order gives what it would give there. NULL when
 * there is none.
 */
const char *ldcache_lookup(const struct ldcache *c, const char *name, int flags,
			   const struct ldcache_cpu *cpu);
/* Flags of a machine by the name of uname -m; LDCACHE_ANY when not known. */
int ldcache_flags(const char *arch);

#endif
