/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/modules, /proc/driver/nvidia/version and .modinfo. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "probe/kmod.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void name(void *ctx, struct view v)
{
	const struct view *text = ctx;

	if (!v.n || v.p < text->p || v.p + v.n > text->p + text->n)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct view text = { .p = (const char *)data, .n = size };
	struct arena *a = arena_new(NULL);
	struct kmod_nvrm nvrm;

	kmod_names(text, name, &text);
	if (kmod_nvrm(a, text, &nvrm) && nvrm.version &&
	    strspn(nvrm.version, "0123456789.") != strlen(nvrm.version))
		abort();
	kmod_modinfo(a, text, "version");
	arena_free(a);
	return 0;
}
