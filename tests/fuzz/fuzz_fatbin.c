/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a section of GPU code: the walk must end and must not read more than the headers
 * need. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "sys/fatbin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_section code = { .size = size }, seg = { .size = size / 2, .off = size / 2 };
	struct arena *a = arena_new(NULL);
	int fd = memfd_create("fatbin", MFD_CLOEXEC);
	struct fatbin all, few;
	size_t i, n;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	fatbin_scan(fd, &code, NULL, FATBIN_ALL, &all);
	fatbin_scan(fd, &code, &seg, 2, &few);
	/* Blobs and entries follow each other: no byte takes part in more than a header and a look
	 * for one. */
	if (all.bytes > 16 * (uint64_t)size + 65536 || few.blobs > 2 || all.blobs != all.total)
		abort();
	for (i = 0; i < all.n; i++)
		if (!fatbin_target_name(a, &all.targets[i])[0] || all.targets[i].blobs > all.blobs)
			abort();
	fatbin_build_targets(a, &all, &n);
	close(fd);
	arena_free(a);
	return 0;
}
