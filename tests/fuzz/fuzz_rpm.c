/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a header of rpm's database, and as what rpm prints: texts end, and lie within. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "probe/os_packages.h"
#include "sys/rpmdb.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct view v = { .p = (const char *)data, .n = size };
	struct arena *a = arena_new(NULL);
	struct snapshot *s = arena_calloc(a, 1, sizeof(*s));
	struct probe_ctx p = { .a = a, .s = s };
	struct rpm_package pkg;

	if (rpmdb_header(v, &pkg) &&
	    (!pkg.name[0] || strlen(pkg.name) >= sizeof(pkg.name) ||
	     strlen(pkg.version) >= sizeof(pkg.version) ||
	     strlen(pkg.vendor) >= sizeof(pkg.vendor)))
		abort();
	os_packages_rpm(&p, v, "fuzz");
	os_packages_dpkg(&p, v, "fuzz");
	arena_free(a);
	return 0;
}
