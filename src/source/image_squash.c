/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A squashfs image as a stream of members, through its own tool sqfs2tar, which writes nothing to
 * disk. unsquashfs cannot do that, so that it is only named in the message. Must not look for the
 * tool on PATH: the audited environment may have put something else there.
 */
#include "source/image_squash.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "sys/child.h"
#include "sys/elf.h"

enum { CHUNK = 64 << 10, TIME_MS = 600000 };

struct squash {
	struct child child;
	const char *tool, *path;
	unsigned char *buf;
};

static const char *find_tool(void)
{
	static const char *const tools[] = { "/usr/bin/sqfs2tar", "/usr/local/bin/sqfs2tar" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(tools); i++)
		if (access(tools[i], X_OK) == 0)
			return tools[i];
	return NULL;
}

bool squash_is(int fd)
{
	unsigned char head[4];

	return elf_pread(fd, head, sizeof(head), 0) && memcmp(head, "hsqs", 4) == 0;
}

/* In the child: the tool's output goes where an answer would. */
static long start_tool(void *ctx, void *answer, size_t size)
{
	const struct squash *q = ctx;
	const char *const argv[] = { q->tool, "--", q->path, NULL };
	static const char *const env[] = { "LC_ALL=C", NULL };

	(void)answer;
	(void)size;
	if (dup2(CHILD_FD, STDOUT_FILENO) < 0)
		return -1;
	execve(q->tool, (char *const *)(uintptr_t)argv, (char *const *)(uintptr_t)env);
	return -1;
}

static ssize_t squash_read(void *ctx, const void **ret)
{
	struct squash *q = ctx;
	ssize_t n;

	for (;;) {
		n = read(q->child.fd, q->buf, CHUNK);
		if (n >= 0)
			break;
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN || !child_poll(&q->child, -1))
			return -1;
	}
	*ret = q->buf;
	return n;
}

static void drop(void *p)
{
	child_drop(&((struct squash *)p)->child);
}

int squash_open(struct arena *a, const char *path, struct squash **ret, struct tar_source *ret_src,
		struct err *err)
{
	struct squash *q = arena_calloc(a, 1, sizeof(*q));

	q->tool = find_tool();
	if (!q->tool)
		return err_set(
			err, ERR_UNSUPPORTED,
			_("%s is a squashfs image, which needs sqfs2tar (package "
			  "squashfs-tools-ng); or unpack it (unsquashfs -d DIR) and check DIR"),
			path);
	q->path = path;
	q->buf = arena_alloc(a, CHUNK);
	child_start(&q->child, start_tool, q, 0, NULL, TIME_MS);
	if (q->child.pid < 0)
		return err_errno(err, -q->child.fd, "%s", q->tool);
	arena_defer(a, drop, q);
	*ret_src = (struct tar_source){ .ctx = q, .read = squash_read };
	*ret = q;
	return 0;
}

int squash_end(struct squash *q, struct err *err)
{
	struct child_result end;
	const void *p;

	/* What the reader left: tar's last blocks. */
	while (squash_read(q, &p) > 0)
		;
	child_wait(&q->child, NULL, 0, &end);
	if (end.end == CHILD_EXITED && end.detail == 0)
		return 0;
	return err_set(err, ERR_PARSE, _("%s: %s cannot read it to its end"), q->path, q->tool);
}
