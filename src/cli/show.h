/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the command `show` share. */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include "base/strbuf.h"
#include "cli/cmd.h"
#include "compat/compat.h"

struct json;

/* One row of the answer: what the table says, and what was asked beside it. */
struct show_row {
	const struct json *row; /* of the table that the sources belong to; NULL for a GPU known by
				   its chip alone */
	const char *table;	/* that table */
	const struct gpu_row *gpu; /* in answers about GPUs */
	const char **ids;	   /* PCI ids of the name, "10de:2684" */
	size_t n_ids;
	const char *runs_by,
		*runs_from; /* with --gpu: "SASS" or "PTX", and the entry of the arch list */
};

struct show {
	struct run *r;
	struct compat *c;
	const char *table;
	struct show_row *rows;
	size_t n;
};

enum { SHOW_RECORDS_MAX = 3 }; /* more rows than this are shown as a list, without their sources */

/* The document of schema cuvet.table/1. */
void show_json(struct show *s, struct strbuf *out);
/* The same document for a reader: records when they are few, else a table within the width. */
void show_text(struct show *s, const struct json *doc, struct strbuf *out);
/*
 * Fills rows of GPUs by the name, id or capability that the operands make up; false when none fits.
 */
bool show_gpus(struct show *s, const char *name, struct gpu_match *ret);

#endif
