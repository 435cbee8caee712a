/* SPDX-License-Identifier: Apache-2.0 */
/* Which libraries the loader took, as LD_DEBUG says it. */
#include <string.h>

#include "base/attr.h"
#include "base/regex.h"
#include "triage/paste.h"
#include "triage/sign.h"

static void loader_line(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;

	if (p->t.lines[i].cmd_at || s.n > 1000 || paste_foreign(p, i, SCOPE_PLACE) ||
	    view_find(s, "calling init: ") < 0)
		return;
	sign_match(p, "lib-listed", "calling init: (/\\S*/lib(?:cu|nv|nccl)\\w*\\.so\\S*)", s, i);
}

const struct extractor extract_loader = { .name = "loader", .line = loader_line };
