/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about GPUs share. Private to compat/. */
#ifndef COMPAT_GPU_H
#define COMPAT_GPU_H

#include "compat/table.h"

/* Row i of the gpu table, built once. NULL when damaged. */
const struct gpu_row *gpu_at(struct compat *c, struct table *t, size_t i);
/* The same row under another of its names; `name` must live on. */
const struct gpu_row *gpu_renamed(struct compat *c, const struct gpu_row *g, const char *name);
/* The chip's row, NULL when not known. */
const struct json *gpu_chip(struct compat *c, const char *chip);
/* A row that knows no more than its chip. */
void gpu_from_chip(struct compat *c, const char *name, struct gpu_row *g);

/* Forms of a name for comparing. */
enum { NAME_MAX_LEN = 160 };
struct gpu_name {
	char s[NAME_MAX_LEN]; /* lower case, single blanks, no marks, no "nvidia " in front */
	bool branded;	      /* "nvidia" stood in front */
};
/* False when it is too long to be a name, or empty. */
bool gpu_name_plain(struct view name, struct gpu_name *ret);

/* The same in squeezed form: no blanks or hyphens; by words, so that words can be left out. */
enum { NAME_WORDS = 24 };
struct gpu_words {
	struct view w[NAME_WORDS];
	size_t n;
	unsigned lines; /* bits of the words met that name a brand or a series */
};
enum { NAME_DROP_BRAND = 1, NAME_DROP_SERIES = 2 };
void gpu_name_words(const struct gpu_name *name, unsigned drop, struct gpu_words *ret);
/* Did a brand (GeForce, Tesla, ...) stand among the words? */
bool gpu_words_branded(const struct gpu_words *words);
/*
 * Do the words of `wanted` begin `name`, and is the rest only about its shape (SXM4, PCIe, 80GB,
 * "Edition")?
 */
bool gpu_words_fit(const struct gpu_words *wanted, const struct gpu_words *name);

#endif
