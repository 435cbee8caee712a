/* SPDX-License-Identifier: Apache-2.0 */
/* Builds of torch and releases of other packages, prepared once so that a target costs no parsing.
 * Private to plan/. */
#ifndef PLAN_MATRIX_H
#define PLAN_MATRIX_H

#include "model/pep440.h"
#include "plan/plan.h"

enum build_kind { BUILD_CUDA, BUILD_CPU, BUILD_OTHER };

struct build {
	const struct torch_row *row;
	const char *text;	/* "2.7.1+cu128" */
	struct pep440 version;	/* with its local part */
	struct version release, cuda, glibc, min_linux, min_windows; /* n 0: not known */
	const char *min_driver[2]; /* as text: Linux, Windows */
	struct arch *archs;
	size_t n_archs;
	enum build_kind kind;
	bool unverified; /* never chosen */
	uint32_t pythons, threaded; /* bit m: Python 3.m; bit 0: 2.7 */
	uint32_t experimental;	    /* GIL builds that lack packages: not chosen */
};

/* How an add-on's CUDA has to go with torch's. */
enum cuda_match { MATCH_NONE, MATCH_MAJOR, MATCH_MINOR, MATCH_VARIANT, MATCH_DEFAULT };

/* A release of a package, or a flavour of one. */
struct offer {
	const char *version; /* "2.8.3"; "1.26" stands for 1.26.* when `series` */
	const char *to;	     /* end of a range that shares the row; NULL */
	struct pep440 number, to_number;
	bool series;
	const char *dist;   /* name to install; NULL: the package's */
	const char *extra;  /* "and-cuda", "cuda12"; NULL */
	const char *flavour; /* "12", CUDA major; NULL */
	const char *cuda, *cudnn; /* of the build; NULL not known */
	const char *min_driver;	  /* NULL not known */
	const char *find_links;	  /* NULL */
	const char **torch;  /* exact releases or specifiers; NULL: any */
	size_t n_torch;
	bool torch_exact;
	const char **builds; /* CUDA of its binaries: "12.4.1", "cu124" */
	size_t n_builds;
	enum cuda_match match;
	const char **archs; /* NULL not known */
	size_t n_archs;
	int cc_min; /* -1 not known */
	const char *python; /* specifier; NULL */
	const char **pythons; /* NULL: by the specifier alone */
	size_t n_pythons;
	int py_min, py_max; /* a range of minors of Python 3; 0: none */
	bool unverified, doubtful;
	/* prepared by matrix_offers */
	struct version least[2]; /* lowest driver, Linux and Windows; n 0 not known */
	const char *least_text[2];
	struct arch *targets;
	size_t n_targets;
	int nvcc_min; /* lowest capability that its CUDA knows; -1 */
	uint32_t minors; /* bit m: wheel for Python 3.m; all when it does not say */
	bool any_python;
	struct pep440_spec python_spec;
};

enum family { FAMILY_TORCH, FAMILY_PAIR, FAMILY_ADDON, FAMILY_FRAMEWORK };

/* A package that the matrix holds. */
struct product {
	const char *name;
	enum family family;
	const char *table, *key; /* for add-ons: the value of "package" */
};
extern const struct product products[]; /* ends with name NULL */
const struct product *product_named(const char *name);

struct offers {
	const char *name, *platform;
	struct offer *v; /* newest first */
	size_t n;
};

struct builds {
	struct build *v; /* newest release first, variants in the table's order */
	size_t n;
};

/* What the tables say of a GPU, found once for many targets. */
struct gpu_memo {
	const char *key;
	const struct gpu_row *row;
};

struct matrix {
	struct arena *a;
	struct compat *c;
	struct builds builds[4]; /* by platform, loaded when first asked for */
	bool loaded[4];
	struct offers *offers;
	size_t n_offers;
	struct gpu_memo *gpus;
	size_t n_gpus;
	uint32_t pythons; /* of the newest verified builds: what exists at all */
};

const struct builds *matrix_builds(struct matrix *m, const char *platform);
const struct offers *matrix_offers(struct matrix *m, const struct product *p, const char *platform);
/* "3.12", "3.13t", "2.7"; false when it is none. */
bool python_parse(const char *text, int *ret_minor, bool *ret_threaded);
/* X.Y of a full release ("12.4.1"); NULL when malformed. */
const char *cuda_minor(struct arena *a, const char *full);
unsigned cuda_major(const char *cuda); /* 12 of "12.4"; 0 when malformed */

/* All offers of a package; one file a table. Appends to *ret. */
void offers_addon(struct matrix *m, const struct product *p, struct offers *ret);
void offers_tensorflow(struct matrix *m, struct offers *ret);
void offers_jax(struct matrix *m, struct offers *ret);
void offers_onnxruntime(struct matrix *m, struct offers *ret);

#endif
