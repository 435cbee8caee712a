/* SPDX-License-Identifier: Apache-2.0 */
/* Which words of the kernel command line may leave the machine. Private to source/. */
#ifndef SOURCE_CMDLINE_H
#define SOURCE_CMDLINE_H

struct arena;

/* The words that rules read, in their order; "" when there are none. */
const char *cmdline_kept(struct arena *a, const char *cmdline);

#endif
