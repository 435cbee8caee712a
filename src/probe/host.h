/* SPDX-License-Identifier: Apache-2.0 */
/* The two halves of the host probe, and its parsers for tests. */
#ifndef PROBE_HOST_H
#define PROBE_HOST_H

#include "base/view.h"
#include "probe/probe.h"

/* Sets os_id, os_version, os_name, os_like from the text of os-release(5). */
void host_os_release(struct arena *a, struct view text, const char *source, struct host *h);
/* "wsl1", "wsl2" or "linux" by the release of the kernel. */
const char *host_system(const char *release);
/* Version in "... GNU C Library ... release version 2.35.", or NULL. */
const char *host_glibc_text(struct arena *a, struct view text);

/* Sets libc and glibc. */
void host_libc(struct probe_ctx *p);

#endif
