/* SPDX-License-Identifier: Apache-2.0 */
/* The parser of a bridge's registers, for tests. */
#ifndef PROBE_PCI_TOPOLOGY_H
#define PROBE_PCI_TOPOLOGY_H

#include "probe/probe.h"

/*
 * Does this bridge redirect traffic between its devices upwards (ACS)?  1 yes, 0 no, -1 when the
 * extended registers are not in `config`, which any user but root gets cut off.
 */
int pci_acs(struct view config);

#endif
