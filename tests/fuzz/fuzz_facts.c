/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a facts file: refused, or turned into facts without reading past a value. */
#include <stdint.h>

#include "base/arena.h"
#include "base/json.h"
#include "probe/facts.h"
#include "probe/probe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct sysroot root = { .fd = -1, .dir = "/nonexistent" };
	struct arena *a = arena_new(NULL);
	struct snapshot s = { 0 };
	struct probe_ctx p = { .a = a, .root = &root, .s = &s, .facts_name = "fuzz" };

	if (facts_parse(a, (struct view){ (const char *)data, size }, "fuzz", &p.facts, NULL) ==
	    0) {
		fact_set(&s.host.system, size % 2 ? "wsl2" : "linux", "fuzz");
		probe_environ.run(&p);
		probe_driver_end.run(&p);
	}
	arena_free(a);
	return 0;
}
