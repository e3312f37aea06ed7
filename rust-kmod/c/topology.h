/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TP2_TOPOLOGY_H
#define TP2_TOPOLOGY_H

#include "policy.h"

struct device;
struct pci_dev;

struct pci_dev *tp2_parent_pci_dev(struct device *dev);
void tp2_read_facts(struct pci_dev *provider, struct pci_dev *client,
		    struct tp2_facts *facts);

#endif
