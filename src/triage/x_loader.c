/* SPDX-License-Identifier: Apache-2.0 */
/* What the loader says (LD_DEBUG) and what a file asks of it (readelf -d, objdump -p). */
#include <string.h>

#include "base/attr.h"
#include "base/regex.h"
#include "triage/paste.h"
#include "triage/sign.h"

static void debug(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (paste_match(p, "calling init: (/\\S+)", s, &m)) {
		sign_add(p, "lib-loaded", i, m.group[1]);
		if (paste_match(p, "/lib(?:cu|nv|nccl)\\w*\\.so", m.group[1], NULL))
			sign_add(p, "lib-listed", i, m.group[1]);
	} else if (paste_match(p, "find library=(\\S+) \\[\\d+\\]; searching", s, &m)) {
		sign_add(p, "lib-searched", i, m.group[1]);
	}
}

/* "0x0000000000000001 (NEEDED)   Shared library: [libcudart.so.12]", "  NEEDED   libcudart.so.12".
 */
static void dynamic(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (paste_match(p,
			"\\(NEEDED\\)\\s+(?:Shared library|\xea\xb3\xb5\xec\x9c\xa0 [^:]{1,40}): "
			"\\[([^\\]]+)\\]",
			s, &m) ||
	    paste_match(p, "^NEEDED\\s+(\\S+\\.so\\S*)$", s, &m))
		sign_add(p, "lib-needed", i, m.group[1]);
	else if (paste_match(p, "\\(R(?:UN)?PATH\\)\\s+[^\\[]{1,40}\\[([^\\]]*)\\]", s, &m) ||
		 paste_match(p, "^R(?:UN)?PATH\\s+(\\S+)$", s, &m))
		sign_add(p, "lib-runpath", i, m.group[1]);
}

static void loader_line(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;

	if (p->t.lines[i].cmd_at || s.n > 1000 || paste_foreign(p, i, SCOPE_PLACE))
		return;
	if (view_find(s, "calling init: ") >= 0 || view_find(s, "find library=") >= 0)
		debug(p, s, i);
	if (view_find(s, "NEEDED") >= 0 || view_find(s, "PATH") >= 0)
		dynamic(p, s, i);
}

const struct extractor extract_loader = { .name = "loader", .line = loader_line };
