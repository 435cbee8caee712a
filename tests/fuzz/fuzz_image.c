/* SPDX-License-Identifier: Apache-2.0 */
/* Image archives: layers, whiteouts, links, manifests. Every path of what comes out can be listed,
 * and no link leads out of it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "source/image.h"
#include "sys/sysroot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void oom(void)
{
	abort();
}

enum { DEPTH = 64, LISTED = 20000 };

static unsigned listed;

static void walk(const struct sysroot *r, struct arena *a, const char *dir, unsigned depth)
{
	struct dirlist l;
	const char *real;
	size_t i;

	if (depth == DEPTH || sysroot_list_marked(r, a, dir, LISTED, &l) != 0)
		return;
	for (i = 0; i < l.n && listed++ < LISTED; i++) {
		const char *path = path_join(a, dir, l.names[i]);
		size_t n = strlen(path);
		struct view text;

		if (path[n - 1] == '/') {
			walk(r, a, arena_strndup(a, path, n - 1), depth + 1);
			continue;
		}
		if (sysroot_realpath(r, a, path, &real) == 0 && real[0] != '/')
			abort();
		(void)sysroot_read(r, a, path, 1 << 16, &text, NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[] = "/tmp/cuvet-fuzz-XXXXXX";
	struct arena *a = arena_new(oom);
	struct err err = { 0 };
	struct image image;
	int fd = mkstemp(path);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
	listed = 0;
	if (source_image(a, path, true, &image, &err) == 0)
		walk(sysroot_of_tree(a, image.tree, "x"), a, "/", 0);
	unlink(path);
	arena_free(a);
	return 0;
}
