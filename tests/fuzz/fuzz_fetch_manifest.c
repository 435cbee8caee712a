/* SPDX-License-Identifier: Apache-2.0 */
/* Redist manifests: what a leaf that may be used looks like, whatever the text was. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "fetch/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct leaf *l)
{
	if (l->bad)
		return;
	if (strlen(l->sha256) != 64 || !l->size || !*l->path || l->path[0] == '/' ||
	    strncmp(l->path, "../", 3) == 0 || strstr(l->path, "/../") || strstr(l->path, "//") ||
	    strpbrk(l->path, ":?#%\\ ") || !manifest_label_ok(l->version) ||
	    !manifest_name_ok(l->component) || !manifest_name_ok(l->platform))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const cudas[] = { NULL, "12", "13.4" };
	struct arena *a = arena_new(NULL);
	struct manifest m;
	size_t i, k, n;

	if (manifest_read(a, (struct view){ .p = (const char *)data, .n = size }, "fuzz", &m,
			  NULL) == 0) {
		for (i = 0; i < m.n; i++)
			check(&m.leaves[i]);
		(void)manifest_components(a, &m, "linux-x86_64", &n);
		for (k = 0; k < ARRAY_LEN(cudas); k++) {
			const struct leaf *l;

			if (manifest_pick(a, &m, "cudnn", "linux-x86_64", cudas[k], &l, NULL) ==
				    0 &&
			    l->bad)
				abort();
		}
	}
	arena_free(a);
	return 0;
}
