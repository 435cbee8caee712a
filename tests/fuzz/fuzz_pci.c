/* SPDX-License-Identifier: Apache-2.0 */
/* The attributes of a PCI device: its regions, its uevent, and a line of mountinfo. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "probe/container.h"
#include "probe/pci.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct view text = { .p = (const char *)data, .n = size };
	struct arena *a = arena_new(NULL);
	struct fact bars = { 0 };
	struct view rest = text, line;
	struct container_mount m;
	const char *id;
	int64_t bytes;

	pci_bars(&bars, text, "fuzz");
	if (bars.state != FACT_KNOWN && bars.state != FACT_BROKEN)
		abort();
	id = pci_uevent(a, text, "PCI_ID");
	if (id && memchr(id, '\n', strlen(id)))
		abort();
	while (view_line(&rest, &line))
		if (container_mount_line(line, &m) && container_size_option(m.options, &bytes) &&
		    bytes < 0)
			abort();
	arena_free(a);
	return 0;
}
