// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the facts of a pair from the PCI tree, the way the kernel does.
 *
 * No references are taken and no lock is held. The caller of the hooked
 * function holds both devices until it returns, a device holds the bridges
 * above it, and the kernel walks the same pointers under the same terms.
 */
#include <linux/pci.h>

#include "topology.h"

/**
 * tp2_parent_pci_dev - the PCI function that a device belongs to
 * @dev: the device, which may be NULL
 *
 * A client may be any child of a PCI function. Same walk as
 * find_parent_pci_dev() in drivers/pci/p2pdma.c (Linux 7.3), without the
 * references, whose release can sleep.
 *
 * Return: the function, or NULL if there is none.
 */
struct pci_dev *tp2_parent_pci_dev(struct device *dev)
{
	for (; dev; dev = dev->parent)
		if (dev_is_pci(dev))
			return to_pci_dev(dev);
	return NULL;
}

/*
 * Number of functions from this one to its root bus, both ends included: how
 * calc_map_type_and_dist() (Linux 7.3) counts a chain that meets no other.
 */
static int chain_length(struct pci_dev *pdev)
{
	int length = 0;

	for (; pdev; pdev = pci_upstream_bridge(pdev))
		length++;
	return length;
}

/*
 * The test of calc_map_type_and_dist() (Linux 7.3) that keeps traffic below
 * the host bridge: does any function of one chain appear in the other?
 */
static bool chains_meet(struct pci_dev *a, struct pci_dev *client)
{
	struct pci_dev *b;

	for (; a; a = pci_upstream_bridge(a))
		for (b = client; b; b = pci_upstream_bridge(b))
			if (a == b)
				return true;
	return false;
}

/*
 * The device that stands for a host bridge, as pci_host_bridge_dev() in
 * drivers/pci/p2pdma.c (Linux 7.3) finds it: the first one on the root bus,
 * if it is devfn 00.0 or a root port.
 */
static struct tp2_host_bridge read_host_bridge(struct pci_host_bridge *host)
{
	struct tp2_host_bridge bridge = { .known = false };
	struct pci_dev *root;

	root = list_first_entry_or_null(&host->bus->devices, struct pci_dev,
					bus_list);
	if (!root)
		return bridge;
	if (root->devfn != PCI_DEVFN(0, 0) &&
	    pci_pcie_type(root) != PCI_EXP_TYPE_ROOT_PORT)
		return bridge;
	bridge.known = true;
	bridge.id.vendor = root->vendor;
	bridge.id.device = root->device;
	return bridge;
}

static struct tp2_function read_function(struct pci_dev *pdev)
{
	return (struct tp2_function) {
		.address = {
			.domain = pci_domain_nr(pdev->bus),
			.bus = pdev->bus->number,
			.devfn = pdev->devfn,
		},
		.vendor = pdev->vendor,
		.class = pdev->class,
	};
}

/**
 * tp2_read_facts - read what the policy needs to know of a pair
 * @provider: the function whose memory is to be reached
 * @client: the function that is to reach it
 * @facts: filled in, all but the kernel's answer
 *
 * Both functions have to be held by somebody. Never sleeps.
 */
void tp2_read_facts(struct pci_dev *provider, struct pci_dev *client,
		    struct tp2_facts *facts)
{
	struct pci_host_bridge *provider_host = pci_find_host_bridge(provider->bus);
	struct pci_host_bridge *client_host = pci_find_host_bridge(client->bus);

	facts->provider = read_function(provider);
	facts->client = read_function(client);
	facts->shared_upstream = chains_meet(provider, client);
	facts->same_host_bridge = provider_host == client_host;
	facts->provider_bridge = read_host_bridge(provider_host);
	facts->client_bridge = read_host_bridge(client_host);
	facts->hops = chain_length(provider) + chain_length(client);
}
