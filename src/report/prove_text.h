/* SPDX-License-Identifier: Apache-2.0 */
/* A proof for people: a line a rung, GPU by GPU, then what it comes to. */
#ifndef REPORT_PROVE_TEXT_H
#define REPORT_PROVE_TEXT_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "prove/proof.h"

struct prove_view {
	int width;   /* columns, 0: unknown */
	bool colour; /* ANSI SGR allowed */
	bool markdown;
};

void prove_text(struct arena *a, const struct proof *p, const struct prove_view *v,
		struct strbuf *out);

#endif
