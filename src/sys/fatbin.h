/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The GPU targets in a .nv_fatbin section, read from its headers alone: no payload is read or
 * decompressed.
 *
 * The section holds blobs, each aligned to 8: u32 magic 0xBA55ED50, u16 version, u16 header size,
 * u64 size of what follows. In it are entries: u16 kind (1 PTX, 2 cubin, 8 LTO IR), u16, u32 header
 * size (64 or more), u64 payload size, ..., u32 arch at 28, u64 flags at 40 (0x100000 for an 'a'
 * target, 0x200000 for 'f', 0x2000 LZ4, 0x8000 zstd; 0x1000 in old ones, whose packing is not
 * known). Section .nvFatBinSegment holds one record of 24 bytes a blob: u32 magic 0x466243B1, u32
 * version, u64 address of the blob, u64. Observed on cubins and libraries of CUDA 11 to 13; NVIDIA
 * publishes no description.
 */
#ifndef SYS_FATBIN_H
#define SYS_FATBIN_H

#include "sys/elf.h"

enum { FATBIN_TARGETS = 64, FATBIN_ALL = 1 << 20, FATBIN_KINDS = 8 };

enum fatbin_kind { FATBIN_PTX = 1, FATBIN_CUBIN = 2, FATBIN_LTO = 8 };

struct fatbin_target {
	enum fatbin_kind kind;
	unsigned arch;
	char suffix;	/* '\0', 'a' or 'f' */
	unsigned blobs; /* in how many of the blobs it occurs */
};

struct fatbin {
	struct fatbin_target targets[FATBIN_TARGETS]; /* cubins first, then LTO, then PTX; each by
							 arch, suffix */
	size_t n;
	unsigned blobs;	    /* blobs that were looked into */
	unsigned total;	    /* blobs that are there, as far as known */
	unsigned entries;   /* entries that were read */
	unsigned unknown;   /* entries of a kind, and blobs of a version, that are not known here */
	unsigned kinds[FATBIN_KINDS]; /* the kinds of such entries, each once, n_kinds of them */
	size_t n_kinds;
	unsigned versions[FATBIN_KINDS]; /* likewise the versions of such blobs */
	size_t n_versions;
	unsigned plain, lz4, zstd; /* how entries are packed */
	unsigned packed; /* in a way that is none of these, old compression among them */
	uint64_t bytes;	    /* bytes that were read */
	const char *damage; /* untranslated; NULL when sound */
};

/*
 * Looks into at most `max_blobs` blobs, spread evenly when there are more. `segment` (NULL when
 * there is none) is .nvFatBinSegment. Never fails: what it could not read is in ret->damage.
 */
void fatbin_scan(int fd, const struct elf_section *fatbin, const struct elf_section *segment,
		 unsigned max_blobs, struct fatbin *ret);
/* Where a section with GPU code lies, for fatbin_walk. */
struct fatbin_place {
	int fd;
	uint64_t base; /* of the object in the file: blobs are aligned from there on */
	struct elf_section section; /* its offset counts from the beginning of the file */
	const struct elf_section *segment; /* .nvFatBinSegment likewise; NULL: none */
	/* Bytes without a blob after which the search ends: for the first one, and between two. */
	uint64_t junk_first, junk_max;
};

/*
 * Looks into every blob. Reads that would wait for the disk are asked for many at a time.
 */
void fatbin_walk(const struct fatbin_place *p, struct fatbin *ret);
/*
 * How many blobs of the section the records of place->segment name: those that the program
 * registers when it starts. -1 when there are no records, or the linker is still to fill them in.
 */
int64_t fatbin_registered(const struct fatbin_place *p);
/* All targets of one kind as names. */
const char **fatbin_names(struct arena *a, const struct fatbin *f, enum fatbin_kind kind,
			  size_t *ret_n);
/*
 * The names of the targets that the build as a whole was made for ("sm_90a", "compute_120"): those
 * in at least half as many blobs as the most frequent one. What a few kernels have besides (sm_90a
 * in 4 of 444 blobs) says nothing about the rest. Cubins and PTX only.
 */
const char **fatbin_build_targets(struct arena *a, const struct fatbin *f, size_t *ret_n);
/* "sm_90a", "compute_120", "lto_80". */
const char *fatbin_target_name(struct arena *a, const struct fatbin_target *t);

#endif
