// SPDX-License-Identifier: GPL-2.0-only
/*
 * What Rust cannot call: static inline functions and macros of the kernel, one
 * a function, and nothing that decides.
 */
#include <linux/list.h>
#include <linux/ptrace.h>

#include "bindings.h"
/* Made by Kbuild: the numbers of enum tp2_layout as bindgen saw them. */
#include "layout_generated.h"

unsigned long tp2_helper_argument(struct pt_regs *regs, unsigned int n)
{
	return regs_get_kernel_argument(regs, n);
}

unsigned long tp2_helper_return_value(struct pt_regs *regs)
{
	return regs_return_value(regs);
}

void tp2_helper_set_return_value(struct pt_regs *regs, unsigned long value)
{
	regs_set_return_value(regs, value);
}

struct pci_dev *tp2_helper_to_pci_dev(struct device *dev)
{
	return dev_is_pci(dev) ? to_pci_dev(dev) : NULL;
}

struct pci_dev *tp2_helper_upstream_bridge(struct pci_dev *pdev)
{
	return pci_upstream_bridge(pdev);
}

struct pci_dev *tp2_helper_first_function(struct pci_host_bridge *host)
{
	return list_first_entry_or_null(&host->bus->devices, struct pci_dev,
					bus_list);
}

bool tp2_helper_is_root_port(struct pci_dev *pdev)
{
	return pci_pcie_type(pdev) == PCI_EXP_TYPE_ROOT_PORT;
}

int tp2_helper_domain(struct pci_bus *bus)
{
	return pci_domain_nr(bus);
}

void tp2_helper_device_lock(struct device *dev)
{
	device_lock(dev);
}

void tp2_helper_device_unlock(struct device *dev)
{
	device_unlock(dev);
}
