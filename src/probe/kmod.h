/* SPDX-License-Identifier: Apache-2.0 */
/* The two halves of the module probe, and its parsers for tests. */
#ifndef PROBE_KMOD_H
#define PROBE_KMOD_H

#include <stdbool.h>

#include "base/view.h"
#include "probe/probe.h"

/* What the line "NVRM version: ..." of /proc/driver/nvidia/version says; members are NULL when it
 * does not. */
struct kmod_nvrm {
	const char *line, *version, *flavor;
};
/* False without such a line. */
bool kmod_nvrm(struct arena *a, struct view text, struct kmod_nvrm *ret);

/* Calls fn with the name of each line of /proc/modules. */
typedef void kmod_name_fn(void *ctx, struct view name);
void kmod_names(struct view text, kmod_name_fn *fn, void *ctx);

/* Value of KEY in the text of a .modinfo section (strings "key=value" that end in NUL), or NULL. */
const char *kmod_modinfo(struct arena *a, struct view text, const char *key);

/* "nvidia-uvm" of "nvidia-uvm.ko.xz" and *ret_packed "xz" (NULL: plain); NULL for other files. */
const char *kmod_file_name(struct arena *a, const char *file, const char **ret_packed);
/* Version, flavour and signer of the module in the file, whose m->path is the source. */
void kmod_file_facts(struct probe_ctx *p, struct module *m, int fd);
/* The same of one that is packed with `packed`; at most *budget bytes come out, and are taken off.
 */
void kmod_packed_facts(struct probe_ctx *p, struct module *m, int fd, const char *packed,
		       size_t *budget);

/* Adds the module files of every installed kernel. */
void kmod_disk(struct probe_ctx *p);

#endif
