/* SPDX-License-Identifier: Apache-2.0 */
/* Requirements files for `plan`: read strictly, since a plan for half a file would be no plan. */
#ifndef PLAN_REQFILE_H
#define PLAN_REQFILE_H

#include "model/requirement.h"

struct requirement_list {
	struct requirement *v;
	size_t n;
};

/*
 * -r FILE: all requirements of a file and of what it includes (-r, -c), in order, appended to
 * *list. Complaints are FILE:LINE:COLUMN. 0 or -code. `constraint`: the file is a constraints file.
 */
int reqfile_read(struct arena *a, const char *path, bool constraint, struct requirement_list *list,
		 struct err *err) ATTR_MUST;
/* The same for text that is there already; `name` stands for the file in messages and in includes.
 */
int reqfile_parse(struct arena *a, struct view text, const char *name,
		  struct requirement_list *list, struct err *err) ATTR_MUST;

#endif
