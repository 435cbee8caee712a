/* SPDX-License-Identifier: Apache-2.0 */
/* What the user named, by its first bytes: is it an image at all? Reads nothing more of it. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/view.h"
#include "source/image.h"
#include "source/image_squash.h"
#include "sys/sysroot.h"

bool source_is_oci(const char *dir)
{
	_cleanup_fd_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	return fd >= 0 && fstatat(fd, "oci-layout", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st.st_mode) && fstatat(fd, "index.json", &st, AT_SYMLINK_NOFOLLOW) == 0;
}

bool source_is_archive(const char *path)
{
	static const unsigned char gzip[] = { 0x1f, 0x8b }, xz[] = { 0xfd, '7', 'z', 'X', 'Z' },
				   zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	unsigned char b[512];
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	memset(b, 0, sizeof(b));
	if (pread(fd, b, sizeof(b), 0) < 8)
		return false;
	return memcmp(b, gzip, sizeof(gzip)) == 0 || memcmp(b, xz, sizeof(xz)) == 0 ||
	       memcmp(b, zstd, sizeof(zstd)) == 0 || squash_is(fd) ||
	       memcmp(b + 257, "ustar", 5) == 0;
}
