/* SPDX-License-Identifier: Apache-2.0 */
/* The list of report formats. */
#include <string.h>

#include "report/formats.h"

const struct report_format *const report_formats[] = { &report_text, &report_json, &report_markdown,
						       &report_sarif, &report_junit, &report_github,
						       &report_gitlab, &report_checkstyle, NULL };

const struct report_format *report_format(const char *name)
{
	size_t i;

	for (i = 0; report_formats[i]; i++)
		if (strcmp(report_formats[i]->name, name) == 0)
			return report_formats[i];
	return NULL;
}
