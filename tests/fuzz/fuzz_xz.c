/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an .xz file: unpacking ends, and never gives more than its bound. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/xz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { MAX = 1 << 20 };
	int fd = memfd_create("xz", MFD_CLOEXEC), out;
	struct stat st;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	out = xz_unpack(fd, MAX);
	if (out >= 0) {
		if (fstat(out, &st) < 0 || st.st_size > MAX)
			abort();
		close(out);
	}
	close(fd);
	return 0;
}
