/* SPDX-License-Identifier: Apache-2.0 */
/* What was found in files: for a reader, and as the document cuvet.binary/1. */
#ifndef REPORT_INSPECT_TEXT_H
#define REPORT_INSPECT_TEXT_H

#include "base/strbuf.h"
#include "inspect/inspect.h"
#include "inspect/process.h"

struct inspect_view {
	int width; /* columns, 0: unknown */
	bool colour;
};

/* `process` is NULL unless a process was asked for. */
void inspect_text(const struct inspect *in, const struct process *process,
		  const struct inspect_view *v, struct strbuf *out);
void inspect_json(const struct inspect *in, const struct process *process, struct strbuf *out);

#endif
