/* SPDX-License-Identifier: Apache-2.0 */
/* A library that passes by as a stream: what was kept of it is what it holds, however it is cut
 * into pieces, and copying its headers reads nothing outside. The first byte says how it is cut. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "sys/keep.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void oom(void)
{
	abort();
}

enum { PADDING = 5 << 20 }; /* a small one is kept whole */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(oom);
	struct spill spill = { .fd = -1, .limit = 1 << 30 };
	struct tree_node node = { .mode = S_IFREG };
	struct tree_data *d;
	struct keeper *k;
	unsigned char *all;
	size_t step, i, n;
	int fd;

	if (!size) {
		arena_free(a);
		return 0;
	}
	step = (size_t)data[0] * 997 + 1;
	n = size - 1 + PADDING;
	all = calloc(1, n);
	if (!all)
		abort();
	memcpy(all, data + 1, size - 1);
	k = keep_begin(a, &spill, n, KEEP_LIBRARY, &d);
	for (i = 0; i < n; i += step)
		if (keep_push(k, all + i, n - i < step ? n - i : step))
			abort();
	if (keep_end(k))
		abort();
	for (i = 0; i < d->n_pieces; i++) {
		const struct tree_piece *p = &d->pieces[i];
		unsigned char buf[4096];
		size_t m = p->n < sizeof(buf) ? (size_t)p->n : sizeof(buf);

		if (p->at > n || p->n > n - p->at || (i && p->at < p[-1].at + p[-1].n))
			abort();
		if (ftree_read(d, buf, m, p->at) != (ssize_t)m || memcmp(buf, all + p->at, m) != 0)
			abort();
	}
	node.data = d;
	fd = ftree_open(NULL, &node);
	if (fd >= 0)
		close(fd);
	if (spill.fd >= 0)
		close(spill.fd);
	free(all);
	arena_free(a);
	return 0;
}
