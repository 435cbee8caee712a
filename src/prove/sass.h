/* SPDX-License-Identifier: Apache-2.0 */
/* Machine code of kernels/ that the build embeds where it finds nvcc (scripts/build-sass.sh). */
#ifndef PROVE_SASS_H
#define PROVE_SASS_H

#include <stddef.h>

struct sass_row {
	const char *image;	 /* "base_sm50"; NULL: the end of the list */
	int cc;			 /* 90: it runs there and nowhere else */
	const char *start, *end; /* an ELF file */
};

extern const struct sass_row sass_rows[];
extern const int sass_cuda; /* release that made them, "13000" form; 0: there are none */

#endif
