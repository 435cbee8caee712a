/* SPDX-License-Identifier: Apache-2.0 */
/* The .xz container and its LZMA2 chunks; the codes inside a chunk are lzma.c's. */
#include "sys/xz.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/attr.h"
#include "sys/lzma.h"

/* The chunks' numbers are big-endian, unlike the container's. */
static uint32_t be16(const unsigned char *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

/* One chunk after another until the end of the block; input stands behind it then. */
static bool chunks(struct lzma *z)
{
	unsigned char h[5];
	bool fresh = true;
	uint32_t c, size;
	uint64_t next;

	for (;;) {
		c = lzma_byte(z);
		if (c == 0)
			return !z->bad;
		if (fresh && c != 1 && c < 0xe0)
			return false;
		fresh = false;
		if (c == 1 || c >= 0xe0)
			z->base = z->used;
		if (c < 0x80) {
			if (c > 2 || !lzma_bytes(z, h, 2) || !lzma_plain(z, be16(h) + 1))
				return false;
			continue;
		}
		if (!lzma_bytes(z, h, 4))
			return false;
		size = ((c & 0x1f) << 16 | be16(h)) + 1;
		next = be16(h + 2) + 1;
		if (c >= 0xc0 && !lzma_props(z, lzma_byte(z)))
			return false;
		if (c >= 0xa0)
			lzma_reset(z);
		next += lzma_tell(z);
		if (!lzma_chunk(z, size) || lzma_tell(z) > next)
			return false;
		lzma_seek(z, next);
	}
}

/* A number of 7 bits a byte, lowest first. */
static uint64_t vli(const unsigned char *h, size_t n, size_t *at)
{
	uint64_t v = 0;
	unsigned shift = 0;

	while (*at < n && shift < 63) {
		v |= (uint64_t)(h[*at] & 0x7f) << shift;
		shift += 7;
		if (!(h[(*at)++] & 0x80))
			break;
	}
	return v;
}

/* Are the filters of this header LZMA2, or LZMA2 behind one for machine code?  That one changes the
 * targets of jumps, and text stays as it is. */
static bool header_fits(const unsigned char *h, size_t n)
{
	enum { LZMA2 = 0x21, X86 = 4, CODE_LAST = 0xb };
	unsigned filters = (h[1] & 3) + 1u, i;
	size_t at = 2;
	uint64_t id = 0;

	if (h[1] & 0x40)
		vli(h, n, &at);
	if (h[1] & 0x80)
		vli(h, n, &at);
	for (i = 0; i < filters; i++) {
		id = vli(h, n, &at);
		at += (size_t)(vli(h, n, &at) & 0xff);
		if (i + 1 < filters && (id < X86 || id > CODE_LAST))
			return false;
	}
	return id == LZMA2 && at <= n;
}

static bool stream(struct lzma *z)
{
	static const unsigned char magic[] = { 0xfd, '7', 'z', 'X', 'Z', 0 };
	static const unsigned char sums[16] = { 0,  4,	4,  4,	8,  8,	8,  16,
						16, 16, 32, 32, 32, 64, 64, 64 };
	unsigned char h[1024];
	uint64_t start, sum;
	size_t n;

	if (!lzma_bytes(z, h, 12) || memcmp(h, magic, sizeof(magic)) != 0 || h[7] > 15)
		return false;
	sum = sums[h[7]];
	for (;;) {
		h[0] = (unsigned char)lzma_byte(z);
		if (z->bad || h[0] == 0)
			return !z->bad;
		n = ((size_t)h[0] + 1) * 4;
		if (!lzma_bytes(z, h + 1, n - 1) || !header_fits(h, n - 4))
			return false;
		start = lzma_tell(z);
		if (!chunks(z))
			return false;
		lzma_seek(z, lzma_tell(z) + (-(lzma_tell(z) - start) & 3) + sum);
	}
}

int xz_unpack(int fd, size_t max)
{
	_cleanup_fd_ int out = memfd_create("xz", MFD_CLOEXEC);
	struct lzma *z;
	void *p;
	int rc;

	if (out < 0 || ftruncate(out, (off_t)max) < 0)
		return -errno;
	p = mmap(NULL, max, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, out, 0);
	if (p == MAP_FAILED)
		return -errno;
	z = mmap(NULL, sizeof(*z), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (z == MAP_FAILED) {
		rc = -errno;
		munmap(p, max);
		return rc;
	}
	z->fd = fd;
	z->out = p;
	z->max = max;
	rc = stream(z) ? 0 : z->full ? -EFBIG : -EBADMSG;
	if (rc == 0 && ftruncate(out, (off_t)z->used) < 0)
		rc = -errno;
	munmap(z, sizeof(*z));
	munmap(p, max);
	if (rc < 0)
		return rc;
	return take_fd(&out);
}
