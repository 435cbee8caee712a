/* SPDX-License-Identifier: Apache-2.0 */
/* Packed bytes into an anonymous file. It knows no format: that is the door's business. */
#include "sys/packed_file.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

struct file {
	int fd;
	off_t at;
};

static int64_t from_file(void *ctx, void *buf, size_t n)
{
	struct file *f = ctx;
	ssize_t got;

	do
		got = pread(f->fd, buf, n, f->at);
	while (got < 0 && errno == EINTR);
	if (got > 0)
		f->at += got;
	return got;
}

static bool write_whole(int fd, const char *at, size_t n)
{
	ssize_t k;

	while (n) {
		k = write(fd, at, n);
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		at += k;
		n -= (size_t)k;
	}
	return true;
}

int packed_member_file(struct packed *p, size_t max, struct err *err)
{
	_cleanup_fd_ int out = memfd_create("unpacked", MFD_CLOEXEC);
	char buf[64 << 10];
	size_t all = 0;
	int64_t n;

	if (out < 0)
		return err_errno(err, errno, "memfd_create");
	while ((n = packed_read(p, buf, sizeof(buf), err)) > 0) {
		if ((size_t)n > max - all)
			return err_set(err, ERR_TOOBIG, _("unpacks to more than %zu bytes"), max);
		all += (size_t)n;
		if (!write_whole(out, buf, (size_t)n))
			return err_errno(err, errno, "memfd");
	}
	return n < 0 ? (int)n : take_fd(&out);
}

int packed_file(struct arena *a, int fd, char filter, size_t max, struct err *err)
{
	const char letters[] = { filter, '\0' };
	struct file f = { .fd = fd };
	struct packed_member m;
	struct packed *p;
	int r = packed_open_filter(a, from_file, &f, letters, &p, err);

	if (r)
		return r;
	r = packed_next(p, &m, err);
	if (r > 0)
		r = packed_member_file(p, max, err);
	else if (r == 0)
		r = err_set(err, ERR_PARSE, "%s", _("nothing is in it"));
	packed_close(p);
	return r;
}
