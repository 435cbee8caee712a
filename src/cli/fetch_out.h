/* SPDX-License-Identifier: Apache-2.0 */
/* What fetch shows: results as text and JSON, progress on stderr, the question about the licence.
 */
#ifndef CLI_FETCH_OUT_H
#define CLI_FETCH_OUT_H

#include "cli/cmd.h"
#include "fetch/fetch.h"

struct fetch_shown {
	const char *product, *label, *why; /* why NULL: it was asked for */
	const char *prefix;
	const struct fetch_item *items;
	size_t n;
	bool dry_run;
	const char *into;
};

/* Prints and returns the exit code. */
int fetch_show(struct run *r, const struct fetch_shown *f);
/* verified: whether files were compared; what differs is an exit code of its own. */
int fetch_show_installed(struct run *r, const struct installed_item *items, size_t n, bool verified,
			 const char *prefix);

/* Callbacks of struct fetch_watch; ctx is a struct fetch_progress. */
struct fetch_progress {
	struct run *r;
	bool tty;	 /* stderr is a terminal: one line that is rewritten */
	bool open;	 /* that line stands there */
	int phase;	 /* last one said; -1 */
	long long began, shown; /* ms */
	uint64_t first;	 /* bytes that were there when this phase began */
};
void fetch_progress_init(struct fetch_progress *p, struct run *r);
void fetch_progress_end(struct fetch_progress *p);
void fetch_progress(void *ctx, enum fetch_phase phase, const char *what, uint64_t done,
		    uint64_t total);
void fetch_note(void *ctx, const char *text);
/* Asks on the terminal; only "y" and "yes" are a yes. */
bool fetch_ask_licence(void *ctx, const struct fetch_item *item);

/* Shows what was planned or installed. */
int fetch_say(struct run *r, const struct fetch_options *f, const struct fetch_item *items,
	      size_t n, const char *why);
/*
 * Chooses, gets and shows what `f` names; the exit code. `s`: the machine that it is for, NULL:
 * none counts. Fills in the platform, and for cuDNN its label and CUDA.
 */
int fetch_get(struct run *r, struct compat *c, const struct snapshot *s, struct fetch_options *f);

#endif
