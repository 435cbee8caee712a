/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a Windows file, and the GPU code in it: reading must end, and its strings must be
 * strings. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "sys/fatbin.h"
#include "sys/pe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(NULL);
	int fd = memfd_create("pe", MFD_CLOEXEC);
	struct fatbin_place place = { .fd = fd, .junk_first = 1 << 16, .junk_max = 1 << 16 };
	struct fatbin f;
	struct pe p;
	size_t i, n = 0;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (pe_read(a, fd, 0, size, &p) == 0) {
		for (i = 0; i < p.n_imports; i++)
			n += strlen(p.imports[i]);
		for (i = 0; i < p.n_delayed; i++)
			n += strlen(p.delayed[i]);
		n += p.name ? strlen(p.name) : 0;
		if (p.n_sections > PE_SECTIONS)
			abort();
		if (pe_section(&p, ".nv_fatb", &place.section)) {
			if (place.section.off > size ||
			    place.section.size > size - place.section.off)
				abort();
			fatbin_walk(&place, &f);
			if (f.n > FATBIN_TARGETS || f.blobs != f.total)
				abort();
		}
	}
	close(fd);
	arena_free(a);
	return 0;
}
