/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the names nearest to a wanted one. */
#ifndef COMPAT_NEAR_H
#define COMPAT_NEAR_H

#include "base/view.h"

struct arena;

enum { NEAR_MAX = 5 };

struct near {
	struct view wanted;
	size_t limit; /* a larger distance is not near */
	struct view shown[NEAR_MAX];
	size_t d[NEAR_MAX], n;
};

void near_init(struct near *s, struct view wanted);
/* `form` is compared, `shown` is kept (and must live on); the distance counts `penalty` more. */
void near_offer(struct near *s, struct view form, struct view shown, size_t penalty);
/* Nearest first, NULL-terminated, on the arena. */
const char *const *near_list(struct arena *a, const struct near *s);

#endif
