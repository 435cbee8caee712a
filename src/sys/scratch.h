/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of our own for what another program keeps while it runs. */
#ifndef SYS_SCRATCH_H
#define SYS_SCRATCH_H

struct arena;

/* Makes one below $TMPDIR, else /tmp, for this user alone; NULL: it could not be made. */
const char *scratch_make(struct arena *a);
/* Removes it with all that is in it; links are removed, not followed. */
void scratch_remove(const char *path);

#endif
