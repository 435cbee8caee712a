/* SPDX-License-Identifier: Apache-2.0 */
/* The guided path in its three forms; reads a finished guide. */
#ifndef REPORT_GUIDE_H
#define REPORT_GUIDE_H

#include "guide/guide.h"
#include "report/report.h"

/* rep: verdict, date, colour, width; its command is not used. */
void guide_text(struct arena *a, const struct guide *g, const struct report *rep,
		struct strbuf *out);
void guide_markdown(struct arena *a, const struct guide *g, const struct report *rep,
		    struct strbuf *out);
/* cuvet.guide/1 */
void guide_json(const struct guide *g, const struct report *rep, struct strbuf *out);
/* "24 GiB", "15.5 GiB", "512 MiB" */
const char *guide_size(struct arena *a, int64_t mib);
/* "6.4", "12": cut to what surely fits. */
const char *guide_billions(struct arena *a, double billions);

#endif
