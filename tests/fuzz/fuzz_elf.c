/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a library: what is read of it must end, and its strings must be strings. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "sys/fatbin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t length(const char *s)
{
	return s ? strlen(s) : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(NULL);
	int fd = memfd_create("elf", MFD_CLOEXEC);
	struct elf_section code, seg;
	struct fatbin f;
	struct elf e;
	size_t i, n = 0;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (elf_read(a, fd, &e) == 0) {
		for (i = 0; i < e.n_needed; i++)
			n += length(e.needed[i]);
		n += length(e.soname) + length(e.rpath) + length(e.runpath) + length(e.glibc);
		n += length(elf_machine_name(&e));
		if (elf_section(&e, ".nv_fatbin", &code)) {
			bool has = elf_section(&e, ".nvFatBinSegment", &seg);

			fatbin_scan(fd, &code, has ? &seg : NULL, 8, &f);
			fatbin_build_targets(a, &f, &n);
			if (n > f.n || f.n > FATBIN_TARGETS || f.blobs > f.total)
				abort();
		}
	}
	close(fd);
	arena_free(a);
	return 0;
}
