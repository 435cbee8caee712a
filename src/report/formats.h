/* SPDX-License-Identifier: Apache-2.0 */
/* The formats, each defined in a file of its own. Private to report/. */
#ifndef REPORT_FORMATS_H
#define REPORT_FORMATS_H

#include "report/report.h"

struct jsonw;

extern const struct report_format report_text;
extern const struct report_format report_json;
extern const struct report_format report_markdown;
extern const struct report_format report_sarif;
extern const struct report_format report_junit;
extern const struct report_format report_github;
extern const struct report_format report_gitlab;
extern const struct report_format report_checkstyle;

/* "" or a note such as "needs root, reboot" for a remedy; never NULL. */
const char *remedy_note(struct arena *a, const struct remedy *r);
/*
 * Commands as a block of code, whose fence is longer than any run of backquotes inside, so that
 * nothing breaks out of it.
 */
void markdown_code(struct arena *a, struct strbuf *out, const char *const *lines, size_t n);
/*
 * The sentence that stands for the verdict when nothing is broken, or about what could not be
 * judged.
 */
const char *verdict_sentence(const struct report *rep);

/*
 * Where a piece of evidence stands, for people: "pasted line 12", "notes.txt line 12", with whose
 * line it is in brackets. In machine formats it stays as the finding has it.
 */
const char *source_words(struct arena *a, const char *source);

/* A second fault: no consequence of the root, and it will fail when the root is mended. */
bool bites_next(const struct results *r, const struct finding *f);

/* What was skipped, folded by reason: a person needs the reason once, not once a rule. */
struct skip_group {
	const char *needs, *why, *rules; /* needs and rules are lists joined by ", " */
};
/* Of project files, what was skipped of the machine is one group, whose `rules` is NULL. */
struct skip_group *skip_groups(struct arena *a, const struct report *rep, size_t *ret_n);

/* "evidence": a list of the N pieces at E, as cuvet.report/1 has it. */
void json_put_evidence(struct jsonw *w, const struct evidence *e, size_t n);
/* "remedies", likewise. */
void json_put_remedies(struct jsonw *w, const struct remedy *remedies, size_t n);

#endif
