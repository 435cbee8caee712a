/* SPDX-License-Identifier: Apache-2.0 */
/* The PCI probe's parsers, for tests. */
#ifndef PROBE_PCI_H
#define PROBE_PCI_H

#include "base/view.h"
#include "probe/probe.h"

/* Value of KEY= in the text of a device's uevent, or NULL. */
const char *pci_uevent(struct arena *a, struct view text, const char *key);
/*
 * "ok" or "unassigned" by the text of a device's `resource`: start, end and flags of each region.
 * Memory that begins at 0 got no address; a device without any region got none at all. Regions
 * without flags do not exist (the upper halves of 64-bit ones), and I/O ports are not needed.
 */
void pci_bars(struct fact *ret, struct view text, const char *source);

#endif
