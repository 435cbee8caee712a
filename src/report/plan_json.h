/* SPDX-License-Identifier: Apache-2.0 */
/* A plan for programs: cuvet.plan/1. */
#ifndef REPORT_PLAN_JSON_H
#define REPORT_PLAN_JSON_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "plan/plan.h"

/* cuvet.plan/1; brief: one line without "refused". `data_date` of the matrix. */
void plan_json(const struct plan *p, const char *data_date, bool brief, struct strbuf *out);

#endif
