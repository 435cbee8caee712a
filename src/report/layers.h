/* SPDX-License-Identifier: Apache-2.0 */
/* What was found, one line a layer. Private to report/. */
#ifndef REPORT_LAYERS_H
#define REPORT_LAYERS_H

#include "report/report.h"

enum mark { MARK_OK, MARK_WARNING, MARK_ERROR, MARK_UNKNOWN };

struct layer_line {
	enum layer layer;
	enum mark mark;
	const char *text; /* clean; what was found, or why it was not asked */
};

/*
 * Lines for hardware, kernel, driver, container, toolkit, python, framework, and any other layer
 * with findings.
 */
struct layer_line *layer_lines(struct arena *a, const struct report *rep, size_t *ret_n);

#endif
