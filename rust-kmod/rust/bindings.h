/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What bindgen reads, and numbers that show whether it saw what the C compiler
 * sees: bindings.rs compares them with the Rust types, helpers.c with those of
 * the C compiler.
 */
#ifndef TP2_BINDINGS_H
#define TP2_BINDINGS_H

#include <linux/device.h>
#include <linux/kprobes.h>
#include <linux/pci.h>
#include <linux/pci-p2pdma.h>
#include <linux/stddef.h>

#include "../common/tp2.h"
#include "../common/version.h"
#include "helpers.h"

enum tp2_layout {
	TP2_SIZEOF_KRETPROBE = sizeof(struct kretprobe),
	TP2_OFFSETOF_KP_NMISSED = offsetof(struct kretprobe, kp.nmissed),
	TP2_OFFSETOF_SYMBOL_NAME = offsetof(struct kretprobe, kp.symbol_name),
	TP2_OFFSETOF_HANDLER = offsetof(struct kretprobe, handler),
	TP2_OFFSETOF_ENTRY_HANDLER = offsetof(struct kretprobe, entry_handler),
	TP2_OFFSETOF_MAXACTIVE = offsetof(struct kretprobe, maxactive),
	TP2_OFFSETOF_NMISSED = offsetof(struct kretprobe, nmissed),
	TP2_OFFSETOF_DATA_SIZE = offsetof(struct kretprobe, data_size),
	TP2_OFFSETOF_INSTANCE_DATA = offsetof(struct kretprobe_instance, data),
	TP2_OFFSETOF_PCI_DEV_BUS = offsetof(struct pci_dev, bus),
	TP2_OFFSETOF_PCI_DEV_DEVFN = offsetof(struct pci_dev, devfn),
	TP2_OFFSETOF_PCI_DEV_VENDOR = offsetof(struct pci_dev, vendor),
	TP2_OFFSETOF_PCI_DEV_DEVICE = offsetof(struct pci_dev, device),
	TP2_OFFSETOF_PCI_DEV_CLASS = offsetof(struct pci_dev, class),
	TP2_OFFSETOF_PCI_DEV_DEV = offsetof(struct pci_dev, dev),
	TP2_OFFSETOF_BUS_NUMBER = offsetof(struct pci_bus, number),
	TP2_OFFSETOF_DEVICE_PARENT = offsetof(struct device, parent),
	TP2_OFFSETOF_DEVICE_DRIVER = offsetof(struct device, driver),
	TP2_OFFSETOF_DRIVER_NAME = offsetof(struct device_driver, name),
	TP2_SIZEOF_ADDRESS = sizeof(struct tp2_address),
	TP2_SIZEOF_SETTINGS = sizeof(struct tp2_settings),
};

#endif
