/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a file that is inspected, as a wheel and under no name: it ends, in bounded memory.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "inspect/inspect.h"
#include "report/inspect_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void once(int fd, size_t size, const char *path)
{
	struct arena *a = arena_new(NULL);
	struct inspect in = { .a = a };
	struct inspect_file f = { .path = path };
	struct inspect_view v = { .width = 80 };
	struct strbuf out;

	inspect_bytes(&in, fd, 0, size, &f, true);
	if (!in.n)
		abort();
	strbuf_init(&out, a);
	inspect_json(&in, NULL, &out);
	inspect_text(&in, NULL, &v, &out);
	arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("wheel", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	once(fd, size, "x.whl");
	once(fd, size, "x.so");
	close(fd);
	return 0;
}
