/* SPDX-License-Identifier: Apache-2.0 */
/* Files by targets, for reports on projects. Private to report/. */
#ifndef REPORT_MATRIX_H
#define REPORT_MATRIX_H

#include "report/report.h"

struct matrix {
	const char **files, **targets; /* cleaned for a terminal */
	size_t n_files, n_targets;
	const char **cells; /* n_files rows of n_targets: "ok" or what is wrong */
};

/* What the rows of the report say, each file (or stage of one) once. */
void matrix_make(struct arena *a, const struct report *rep, struct matrix *ret);
const char *matrix_cell(const struct matrix *m, size_t file, size_t target);
/* Aligned lines of at most `width` cells; false when it is wider: nothing is added then. */
bool matrix_text(struct arena *a, const struct matrix *m, int width, struct strbuf *out);
void matrix_markdown(const struct matrix *m, struct strbuf *out);

#endif
