/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The snapshot's two JSON forms: the loss-free file (facts with state and source) and the plain
 * report.
 */
#ifndef MODEL_SNAPSHOT_JSON_H
#define MODEL_SNAPSHOT_JSON_H

#include "base/err.h"
#include "base/view.h"
#include "model/snapshot.h"

struct arena;
struct json;
struct jsonw;

/*
 * Writes the object of facts. A known fact is {"v":VALUE,"s":SOURCE}; others
 * {"state":STATE,"why":...,"s":...}; what was not asked and has no reason is left out.
 */
void snapshot_save(struct jsonw *w, const struct snapshot *s);
/*
 * Loads that object into *ret (zeroed before). Plain strings, numbers and lists count as known
 * facts with `name` as their source, so that a report's snapshot loads too. Unknown keys are
 * skipped: newer files load. A value of a wrong type is ERR_PARSE naming the key path.
 */
int snapshot_load(struct arena *a, const struct json *obj, const char *name, struct snapshot *ret,
		  struct err *err) ATTR_MUST;
/*
 * The report's form: values alone at the leaves, absent facts null, others left out; then "states"
 * lists them.
 */
void snapshot_report(struct arena *a, struct jsonw *w, const struct snapshot *s);

/* Walks every fact: fn(path like "gpus[0].name", label, fact). For --assume, tests and diffs. */
typedef void fact_visit_fn(void *ctx, const char *path, const char *label, const struct fact *f);
void snapshot_walk(struct arena *a, const struct snapshot *s, fact_visit_fn *fn, void *ctx);

/* Replaces every text of every fact (value, source, why) by fn's answer; for redaction. */
typedef const char *snapshot_text_fn(void *ctx, const char *text);
void snapshot_rewrite(struct snapshot *s, snapshot_text_fn *fn, void *ctx);

#endif
