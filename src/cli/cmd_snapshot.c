/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot: the facts, redacted, as JSON: what a helpdesk asks for. */
#include <time.h>

#include "base/arena.h"
#include "base/jsonw.h"
#include "base/version.h"
#include "cli/judged.h"
#include "cli/opts.h"
#include "model/snapshot_json.h"
#include "source/redact.h"

static const char *today(struct arena *a)
{
	time_t now = time(NULL);
	struct tm tm;

	if (!gmtime_r(&now, &tm))
		return NULL;
	return arena_printf(a, "%04d-%02d-%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
}

static int run(struct run *r)
{
	struct snapshot s;
	struct compat *c;
	struct strbuf out;
	struct jsonw w;
	int code = judged_snapshot(r, &c, &s);

	if (code)
		return code;
	source_redact(r->a, &s);
	strbuf_init(&out, r->a);
	jsonw_init(&w, &out, true);
	jsonw_object(&w);
	jsonw_kstr(&w, "schema", "cuvet.snapshot/1");
	jsonw_kstr(&w, "cuvet", CUVET_VERSION);
	jsonw_kstr(&w, "date", today(r->a));
	jsonw_key(&w, "facts");
	snapshot_save(&w, &s);
	jsonw_end_object(&w);
	strbuf_addc(&out, '\n');
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
