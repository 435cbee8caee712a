/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk over a tar: whatever it holds, what is admitted lies below the top folder and no link
 * leads out of it. The first byte chooses: plain tar, or one behind xz.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "fetch/record.h"
#include "fetch/tarcheck.h"
#include "fetch/walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct memory {
	const uint8_t *p;
	size_t n;
};

static int64_t give(void *ctx, void *buf, size_t n)
{
	struct memory *m = ctx;

	if (n > m->n)
		n = m->n;
	memcpy(buf, m->p, n);
	m->p += n;
	m->n -= n;
	return (int64_t)n;
}

static int64_t unpacked(void *ctx, void *buf, size_t n)
{
	return packed_read(ctx, buf, n, NULL);
}

static void check(const struct walk_entry *e)
{
	const char *p;
	int depth = 0;

	if (!record_path_ok(e->path))
		abort();
	if (e->kind == WALK_HARD && !record_path_ok(e->link))
		abort();
	if (e->kind != WALK_LINK)
		return;
	for (p = e->path; *p; p++)
		depth += *p == '/';
	for (p = e->link; strncmp(p, "../", 3) == 0; p += 3)
		depth--;
	if (depth < 0 || e->link[0] == '/' || strstr(p, ".."))
		/* A name may hold two dots as long as it is not made of them. */
		if (depth < 0 || e->link[0] == '/' || strcmp(p, "..") == 0 ||
		    strstr(p, "/../") || strncmp(p, "../", 3) == 0)
			abort();
}

/* What comes in pieces is judged as what comes at once. */
static void check_headers(struct arena *a, const uint8_t *data, size_t size)
{
	struct tarcheck *whole = tarcheck_new(a), *pieces = tarcheck_new(a);
	struct err one = { 0 }, other = { 0 };
	int r = tarcheck_add(whole, data, size, &one), k = 0;
	size_t i, n;

	for (i = 0; i < size && !k; i += n) {
		n = size - i < 7 ? size - i : 7;
		k = tarcheck_add(pieces, data + i, n, &other);
	}
	if (r != k || strcmp(one.msg, other.msg) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct walk_limits limits = { .total = 1 << 22, .archive = size, .ratio = 200,
					    .entries = 1000 };
	struct memory m = { .p = data + 1, .n = size - 1 };
	struct arena *a = arena_new(NULL);
	struct packed *outer, *p = NULL;
	struct packed_member member;
	struct walk_entry e;
	struct walk *w = walk_new(a, &limits);
	static char block[4096];

	if (size < 2 || packed_load(NULL)) {
		arena_free(a);
		return 0;
	}
	check_headers(a, data + 1, size - 1);
	if (data[0] & 1) {
		if (packed_open_filter(a, give, &m, "x", &outer, NULL) == 0 &&
		    packed_next(outer, &member, NULL) > 0 &&
		    packed_open_tar(a, unpacked, outer, &p, NULL))
			p = NULL;
	} else if (packed_open_tar(a, give, &m, &p, NULL)) {
		p = NULL;
	}
	while (p && packed_next(p, &member, NULL) > 0) {
		int r = walk_admit(w, &member, &e, NULL);
		int64_t n;

		if (r < 0)
			break;
		if (r > 0)
			check(&e);
		while ((n = packed_read(p, block, sizeof(block), NULL)) > 0)
			if (walk_bytes(w, (uint64_t)n, NULL))
				break;
		if (n != 0)
			break;
	}
	arena_free(a);
	return 0;
}
