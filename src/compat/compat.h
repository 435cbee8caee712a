/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bundled matrix: data/compat, embedded, or the directory of --data. Tables load when first
 * asked for. Rows are read-only and live on the arena. Text fields are NULL where the fact is not
 * known. Availability is never derived from version numbers: what is not listed was not published
 * (design).
 */
#ifndef COMPAT_COMPAT_H
#define COMPAT_COMPAT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/view.h"
#include "model/version.h"

struct arena;
struct json;
struct compat;

/*
 * `dir` NULL: the embedded tables. Damaged tables make later look-ups fail with ERR_DATA
 * (compat_error).
 */
int compat_open(struct arena *a, const char *dir, struct compat **ret, struct err *err) ATTR_MUST;
/* First error met while loading a table lazily, or NULL. cmd code checks it once at the end. */
const struct err *compat_error(const struct compat *c);
/*
 * The arena of the matrix, and a place for what a layer above makes of its rows once (NULL at
 * first): both last as long as the matrix.
 */
struct arena *compat_arena(struct compat *c);
void **compat_made(struct compat *c);
const char *compat_date(struct compat *c); /* newest date of the tables: "2026-11-30" */

/* -------- generic access, for `show` and tests */
/* NULL-terminated, sorted names of all tables. */
const char *const *compat_tables(struct compat *c);
/* Whole table document (object with "rows" and "sources"); NULL when there is none of that name. */
const struct json *compat_table(struct compat *c, const char *table);

/*
 * Row by row, without a parse of the rest: number of rows (0 for no such table), row i, a string
 * member of it (NULL when it is none), the table's date, and what a key of "sources" stands for:
 * "what (where, date)".
 */
size_t compat_count(struct compat *c, const char *table);
const struct json *compat_row(struct compat *c, const char *table, size_t i);
const char *compat_text(struct compat *c, const char *table, size_t i, const char *field);
/*
 * What stands between the brackets of a member that is a list, as it is written, without a parse of
 * the row. False where it is none, or where its texts hold escapes: compat_row() has it then.
 */
bool compat_raw_list(struct compat *c, const char *table, size_t i, const char *field,
		     struct view *ret);
/*
 * First row from `from` on whose string member `field` is `value`; compat_count() when there is
 * none.
 */
size_t compat_find(struct compat *c, const char *table, size_t from, const char *field,
		   const char *value);
/*
 * The row whose member `field` is `value`, of a table that is sorted by that text alone, bytewise
 * (check.py holds "signatures" to that); NULL when there is none.
 */
const struct json *compat_sorted(struct compat *c, const char *table, const char *field,
				 const char *value);
const char *compat_table_date(struct compat *c, const char *table);
const char *compat_source(struct compat *c, const char *table, const char *key);

/*
 * The fields by which rows are looked up, the key first; ends with field NULL. NULL for tables
 * without such a list.
 */
struct table_key {
	const char *field;
	bool in_key; /* part of the table's key: always there */
};
const struct table_key *compat_table_keys(const char *table);
/* Values of these fields that are close to `wanted`, nearest first; at most 5, NULL-terminated. */
const char *const *compat_near(struct compat *c, const char *table, const char *wanted);
/* A scalar member of row i as text, a whole number too; NULL when it is none. */
const char *compat_value(struct compat *c, const char *table, size_t i, const char *field);

/* -------- GPUs */
struct gpu_row {
	const char *id;		  /* "2684"; NULL for a chip or a name without a PCI id */
	const char *name;	  /* "NVIDIA GeForce RTX 4090" */
	const char *chip;	  /* "AD102" */
	const char *architecture; /* "Ada" */
	int cc;			  /* 89; -1 when not known (or the part cannot run CUDA) */
	const char *last_driver; /* "470", "580": last branch; NULL: still supported or not known */
	const char *first_driver; /* exact version or branch that first listed it; chip's when the
				     id has none */
	bool first_driver_exact;  /* from the device's own listing */
	const char *open_module;  /* "supported", "required", "unsupported"; NULL */
	const char *gpu_class;	  /* datacenter, workstation, geforce, mobile, tegra, vgpu; NULL */
	double memory_gib;	  /* 0 when not known */
	const char *source;	  /* for evidence: "matrix gpu 2684" */
	bool doubtful;		  /* rests on one source or an assumption: findings say inferred */
	bool last_driver_known; /* last_driver NULL then means that no branch has dropped it yet */
	bool last_driver_inferred;  /* from the chip, not from the device's own listing */
	bool open_module_inferred;
};
const struct gpu_row *compat_gpu(struct compat *c, const char *device_id); /* "2684", lower case */
/* Row i of that table, in its order; NULL beyond the end or damaged. */
const struct gpu_row *compat_gpu_at(struct compat *c, size_t i);
const struct gpu_row *compat_gpu_subsystem(struct compat *c, const char *device_id,
					   const char *subsystem);

/*
 * By name (with or without "NVIDIA ", any case and blanks), "10de:2684", "cc:8.9", a vGPU guest
 * name, a MIG device name ("MIG 1g.5gb Device on ...") or a name cut by nvidia-smi ("... " ends in
 * "..."). Whole, never a substring. All rows that fit; n 0 when none. `near`: up to 5 close names
 * when none fits.
 */
struct gpu_match {
	const struct gpu_row **rows;
	size_t n;
	int cc;			/* common to all rows, else -1 */
	const char *const *near; /* NULL-terminated */
};
void compat_gpu_find(struct compat *c, const char *name, struct gpu_match *ret);
/*
 * Bare row for a compute capability ("cc:12.0"): name "compute capability 12.0". NULL if no such is
 * known.
 */
const struct gpu_row *compat_gpu_of_cc(struct compat *c, int cc);

/* -------- drivers */
struct driver_row {
	int branch;	      /* 580 */
	const char *max_cuda; /* "13.0": CUDA ceiling of the branch (SASS and PTX) */
	const char *kind, *eol;
	const char *source;
};
/*
 * Row of the branch of a version "580.65.06"; between known branches the nearest lower one with
 * *ret_exact false.
 */
const struct driver_row *compat_driver(struct compat *c, const char *version, bool *ret_exact);
/*
 * Newest CUDA that this driver knows ("13.0"), by branch table and, where exact, by release
 * minimums. NULL unknown.
 */
const char *compat_driver_cuda(struct compat *c, const char *version);

/* -------- CUDA releases */
struct cuda_row {
	const char *cuda;		 /* "12.4" */
	const char *min_driver_linux;	 /* of that release itself: PTX and all features */
	const char *min_driver_windows;
	const char *minor_min_linux;	 /* minor-version compatibility of its major: SASS only */
	const char *minor_min_windows;
	int nvcc_min_cc, nvcc_max_cc;	 /* -1 not known */
	const char *source;
};
const struct cuda_row *compat_cuda(struct compat *c,
				   const char *cuda); /* "12.4", "12.4.1"; by major.minor; NULL */
/*
 * Lowest driver on which a build with this CUDA starts (minor-version rule from CUDA 11 on, else
 * the release's own). NULL when the table does not say. *ret_inferred when extrapolated from the
 * major.
 */
const char *compat_min_driver(struct compat *c, const char *cuda, bool windows, bool *ret_inferred);
/*
 * Oldest driver branch number, as text, that can be recommended for this CUDA (production or LTS).
 * NULL unknown.
 */
const char *compat_recommended_branch(struct compat *c, const char *cuda);

/* -------- PyTorch */
struct torch_row {
	const char *version;  /* "2.6.0" */
	const char *platform; /* "linux_x86_64", "linux_aarch64", "windows_x86_64", "macos_arm64" */
	const char *variant;  /* "cu124", "cpu", "rocm6.2.4" */
	const char *cuda;     /* "12.4"; NULL for cpu and rocm */
	const char *cudnn;
	const char **python; /* "3.12", NULL-terminated */
	size_t n_python;
	const char **python_experimental; /* NULL-terminated, may be empty */
	const char **arch_list; /* NULL: not known */
	size_t n_arch;
	const char *min_glibc;
	const char *torchvision, *torchaudio, *triton, *nccl;
	bool pypi_default;
	const char *index_url; /* complete --index-url for this variant, for PyPI's default too;
				  NULL not known */
	bool find_links;       /* index_url is a page of links: pip's -f, not --index-url */
	const char *date;
	const char *arch_confidence;
	const char *source;
	bool doubtful;
	bool unconfirmed; /* existence or arch list not confirmed: never recommended */
};
/* Exact row; NULL when not published. */
const struct torch_row *compat_torch(struct compat *c, const char *version, const char *platform,
				     const char *variant);
/* All rows in order (version, platform, variant); n through ret_n. */
const struct torch_row *compat_torch_rows(struct compat *c, size_t *ret_n);
/* Version, platform and variant of row i without a parse of the row; false beyond the end. */
bool compat_torch_key(struct compat *c, size_t i, struct view *ret_version,
		      struct view *ret_platform, struct view *ret_variant);
/* Row i of that table, in its order; NULL beyond the end or damaged. */
const struct torch_row *compat_torch_at(struct compat *c, size_t i);
/*
 * Rows of one release, as NULL-terminated list of pointers: parses no more than those. Never NULL.
 */
const struct torch_row *const *compat_torch_of_release(struct compat *c, const char *version);
/* Is this release in the table at all (any platform or variant)? */
bool compat_torch_release(struct compat *c, const char *version);
/* "2.6.0" for torchvision "0.21.0" (package "torchvision" or "torchaudio"); NULL unknown. */
const char *compat_torch_of(struct compat *c, const char *package, const char *version);

/* How a device fares with an arch list, best first: SASS, PTX, nothing. */
enum arch_fit { ARCH_FIT_NONE, ARCH_FIT_PTX, ARCH_FIT_SASS };
enum arch_fit compat_arch_fit(const char *const *arch_list, size_t n, int cc,
			      const char **ret_entry);

/*
 * The newest published torch build that serves all of this: the shared chooser of remedies and of
 * `plan`. Unknown wishes (NULL, 0) do not constrain. Rows with an unknown arch list are never
 * chosen.
 */
struct torch_wish {
	const int *ccs; /* compute capabilities of all GPUs */
	size_t n_ccs;
	const char *driver;	/* "535.183.01" */
	bool windows;		/* driver numbering and platform */
	const char *platform;	/* NULL: linux_x86_64 */
	const char *python;	/* "3.12" */
	const char *glibc;	/* "2.31" */
	const char *version;	/* keep this release ("2.6.0"), only the variant may change */
};
const struct torch_row *compat_torch_choose(struct compat *c, const struct torch_wish *w);

#endif
