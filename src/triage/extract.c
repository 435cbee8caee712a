/* SPDX-License-Identifier: Apache-2.0 */
/* The table of extractors. Nothing but the table. */
#include "triage/paste.h"

#include <stddef.h>

#define X(id) extern const struct extractor extract_##id;
#include "triage/extract.def"
#undef X

const struct extractor *const extractors[] = {
#define X(id) &extract_##id,
#include "triage/extract.def"
#undef X
	NULL,
};
