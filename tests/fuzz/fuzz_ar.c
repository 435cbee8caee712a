/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an ar archive: every member lies within it, and stepping through it ends. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "sys/ar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(NULL);
	int fd = memfd_create("ar", MFD_CLOEXEC);
	struct ar_member m;
	struct ar ar;
	size_t n = 0;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (ar_open(a, fd, 0, size, &ar) == 0) {
		while (ar_next(&ar, &m)) {
			if (!m.name || m.off > size || m.size > size - m.off)
				abort();
			n += strlen(m.name);
			/* A header has 60 bytes. */
			if (ar.count > size / 60 + 1)
				abort();
		}
	}
	close(fd);
	arena_free(a);
	return n == SIZE_MAX;
}
