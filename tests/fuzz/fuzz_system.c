/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of the system layer: logs, modprobe.d, TOML, CDI, dpkg's status, mountinfo, a bridge's
 * registers. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "probe/boundary.h"
#include "probe/klog.h"
#include "probe/modprobe.h"
#include "probe/os_packages.h"
#include "probe/pci_topology.h"
#include "probe/runtime.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool on_path(void *ctx, const char *path)
{
	(void)ctx;
	if (path[0] != '/')
		abort();
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct view text = { .p = (const char *)data, .n = size }, rest = text, line;
	struct arena *a = arena_new(NULL);
	struct snapshot s = { 0 };
	struct probe_ctx p = { .a = a, .s = &s };
	const char *how = NULL, *version;
	size_t i;

	klog_events(&p, text, KLOG_KERNEL, "fuzz");
	klog_events(&p, text, KLOG_SERVICE, "fuzz");
	for (i = 0; i < s.n_log; i++)
		if (!fact_known(&s.log[i].id) || strlen(fact_value(&s.log[i].text, "")) > 240)
			abort();
	os_packages_dpkg(&p, text, "fuzz");
	boundary_mounts(&p, text, "fuzz");
	while (view_line(&rest, &line))
		modprobe_block(line, &how);
	runtime_toml(a, text, "nvidia-container-cli", "no-cgroups");
	cdi_scan(a, text, &version, on_path, NULL);
	pci_acs(text);
	arena_free(a);
	return 0;
}
