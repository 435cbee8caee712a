/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel command line of a snapshot that leaves the machine: only the words that rules read
 * stay. */
#include "source/cmdline.h"

#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"

/* Beginnings of the parameters that decide something about a GPU or its driver. */
static const char *const kept[] = {
	"nvidia",
	"nouveau",
	"nova",
	"module_blacklist=",
	"modprobe.blacklist=",
	"rd.driver.blacklist=",
	"nomodeset",
	"iommu",
	"intel_iommu",
	"amd_iommu",
	"vfio",
	"pci=",
	"pcie_",
	"lockdown=",
	"module.sig_enforce",
	"systemd.unified_cgroup_hierarchy",
	"cgroup_no_v1=",
	"init_on_",
};

static bool is_kept(struct view word)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(kept); i++)
		if (view_starts(word, kept[i]))
			return true;
	return false;
}

const char *cmdline_kept(struct arena *a, const char *cmdline)
{
	struct view text = view_of(cmdline), word;
	struct strbuf b;

	strbuf_init(&b, a);
	/* Behind "--" stands what the first process is given, which is nobody's business. */
	while (view_word(&text, &word) && !view_is(word, "--")) {
		if (!is_kept(word))
			continue;
		strbuf_sep(&b, " ");
		strbuf_addv(&b, word);
	}
	return b.s;
}
