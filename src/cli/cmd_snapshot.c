/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot: the facts, redacted, as JSON: what a helpdesk asks for. */
#include "base/strbuf.h"
#include "cli/judged.h"
#include "cli/opts.h"
#include "source/redact.h"

static int run(struct run *r)
{
	struct snapshot s;
	struct compat *c;
	struct strbuf out;
	int code = judged_snapshot(r, &c, &s);

	if (code)
		return code;
	source_redact(r->a, &s);
	strbuf_init(&out, r->a);
	judged_facts(r->a, &s, &out);
	return cli_write(r, out.s, out.n);
}

static const struct opt *const opts[] = { &opt_deep, &opt_no_cache, &opt_timeout, NULL };

const struct cmd cmd_snapshot = {
	.name = "snapshot",
	.args = "",
	.summary = N_("write the facts, redacted, as JSON (the support bundle)"),
	.details = N_(
		"Writes all facts with their sources and states to standard output. Users in paths, UUIDs and "
		"tokens are masked, each the same way throughout. `cuvet check FILE` judges it elsewhere.\n"
		"\n"
		"  cuvet snapshot >snapshot.json\n"
		"  cuvet check snapshot.json\n"),
	.opts = opts,
	.run = run,
};
