/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVIDIA's redist manifests, redistrib_<label>.json: which archives of which component there are.
 *
 * Every object at the top is a component. A platform's value is a leaf, an object of leaves by CUDA
 * version ("cuda12", "cuda13.5"), or both at once (windows-arm64 of cuDNN 9.27.0). Sizes are
 * decimal strings. Nothing in a manifest is trusted beyond what a leaf is checked for here.
 */
#ifndef FETCH_MANIFEST_H
#define FETCH_MANIFEST_H

#include <stdint.h>

#include "base/err.h"
#include "base/view.h"

struct arena;

enum { MANIFEST_MAX = 16 << 20, MANIFEST_LEAVES = 20000 };

struct leaf {
	const char *component; /* "cudnn" */
	const char *version;   /* of the component: "9.1.1.17" */
	const char *licence, *licence_path; /* NULL when it does not say */
	const char *platform;  /* "linux-x86_64"; "source" for archives of no platform */
	const char *cuda;      /* "12", "13.4"; NULL: one build for all */
	const char *path;      /* below the manifest's folder */
	const char *sha256;    /* 64 lower-case digits */
	uint64_t size;
	const char *bad; /* why it must not be used; NULL: nothing is wrong */
};

struct manifest {
	const char *name;  /* for messages: its URL */
	const char *label; /* release_label; NULL when it has none */
	const char *date;  /* release_date; NULL */
	const char *product;
	struct leaf *leaves;
	size_t n;
};

/* Takes a manifest apart. -ERR_DATA: not JSON, no object, no component, beyond a limit. */
int manifest_read(struct arena *a, struct view text, const char *name, struct manifest *ret,
		  struct err *err) ATTR_MUST;
/*
 * The leaf of a component for a platform and a CUDA version ("12", "12.4", "13.4"; NULL: the
 * newest). A leaf of exactly that version comes before one of its major; a leaf that names none
 * fits every one. ERR_NOENT: the message says what there is. ERR_DATA: the leaf that fits must not
 * be used.
 */
int manifest_pick(struct arena *a, const struct manifest *m, const char *component,
		  const char *platform, const char *cuda, const struct leaf **ret,
		  struct err *err) ATTR_MUST;
/* Names of the components that have an archive for the platform, in order; NULL-terminated. */
const char **manifest_components(struct arena *a, const struct manifest *m, const char *platform,
				 size_t *ret_n);
/* Is it a label or a version: digits and dots, up to four parts and 32 characters? */
bool manifest_label_ok(const char *label);
/* Is it the name of a product or a component: letters, digits, '_' and '-'? */
bool manifest_name_ok(const char *name);

#endif
