/* SPDX-License-Identifier: Apache-2.0 */
/* What a run of fetch finds installed already. */
#ifndef FETCH_THERE_H
#define FETCH_THERE_H

#include <stdbool.h>

#include "base/err.h"
#include "fetch/fetch.h"

struct prefix;

/* Is the item there, with a record? Fills in what the record knows of it. */
bool there_is(struct prefix *s, const struct fetch_options *o, struct fetch_item *item);
/* ERR_DATA, naming the first file and what to do, when something of it is missing or changed. */
int there_whole(const struct fetch_item *item, const struct fetch_options *o,
		struct err *err) ATTR_MUST;

#endif
