/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TP2_HELPERS_H
#define TP2_HELPERS_H

#include <linux/types.h>

struct device;
struct pci_bus;
struct pci_dev;
struct pci_host_bridge;
struct pt_regs;

unsigned long tp2_helper_argument(struct pt_regs *regs, unsigned int n);
unsigned long tp2_helper_return_value(struct pt_regs *regs);
void tp2_helper_set_return_value(struct pt_regs *regs, unsigned long value);
struct pci_dev *tp2_helper_to_pci_dev(struct device *dev);
struct pci_dev *tp2_helper_upstream_bridge(struct pci_dev *pdev);
struct pci_dev *tp2_helper_first_function(struct pci_host_bridge *host);
bool tp2_helper_is_root_port(struct pci_dev *pdev);
int tp2_helper_domain(struct pci_bus *bus);
void tp2_helper_device_lock(struct device *dev);
void tp2_helper_device_unlock(struct device *dev);

#endif
