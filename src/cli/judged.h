/* SPDX-License-Identifier: Apache-2.0 */
/* The pipeline behind every command that ends in a report. */
#ifndef CLI_JUDGED_H
#define CLI_JUDGED_H

#include "cli/cmd.h"
#include "compat/compat.h"
#include "model/snapshot.h"
#include "rule/rule.h"

/* Source, rules, report by the options of r; prints and returns the exit code. */
int judged_run(struct run *r, const char *command);
/* The same about a part of the findings, with those that the command adds (judge_options.more). */
struct judged_subject {
	bool (*covers)(enum finding_id id);
	void (*more)(struct judge *j, const void *with);
	const void *with;
};
int judged_run_of(struct run *r, const char *command, const struct judged_subject *of);
/*
 * The first half: tables opened and the snapshot taken. 0, or the exit code after the complaint was
 * printed.
 */
int judged_snapshot(struct run *r, struct compat **ret_c, struct snapshot *ret_s);

/* --ignore and --error as identifiers, as many as there are names. 0, or the exit code. */
int judged_names(struct run *r, const enum finding_id **ret_ignore,
		 const enum finding_id **ret_error);

/* The report in its format, and the script of --fix-script. 0 or the exit code. */
struct report;
int judged_put(struct run *r, const struct report *rep);

struct strbuf;
/* The facts as one document, which `cuvet check FILE` reads: `snapshot`, `triage --snapshot`. */
void judged_facts(struct arena *a, const struct snapshot *s, struct strbuf *out);

/* Exit code of a verdict (design.md). */
int judged_exit(const struct options *o, enum verdict v);

#endif
