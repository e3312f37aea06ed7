// SPDX-License-Identifier: GPL-2.0-only
/*
 * TEST ONLY, SIMULATED. Plays amdgpu and KFD on machines without a GPU: a PCI
 * driver named amdgpu that touches no hardware, asks for the peer-to-peer
 * distance when a GPU is added, and publishes nodes and links with the names
 * and formats of drivers/gpu/drm/amd/amdkfd/kfd_topology.c (Linux 7.3) under
 * /sys/class/kfd/kfd/topology/. Bandwidths, weights and sizes are constants.
 *
 * Functions are bound through the module parameter "devices", a list of PCI
 * addresses, or at run time through /sys/bus/pci/drivers/amdgpu/new_id.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/pci-p2pdma.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#define MAX_DEVICES		16
#define LINK_TYPE_PCIE		2
#define LINK_WEIGHT		20
#define LINK_MIN_BANDWIDTH	312
#define LINK_MAX_BANDWIDTH	8000
#define LINK_FLAGS		3	/* Enabled, not coherent. */
#define GFX_TARGET_VERSION	110000

static char *devices[MAX_DEVICES];
static int nr_devices;
module_param_array(devices, charp, &nr_devices, 0444);
MODULE_PARM_DESC(devices, "PCI addresses dddd:bb:dd.f to bind, comma-separated");

struct sim_link {
	struct list_head list;
	struct kobject *kobj;
	struct kobj_attribute properties;
	unsigned int index;
	unsigned int from;
	unsigned int to;
	unsigned int weight;
};

struct sim_node {
	struct list_head list;
	unsigned int id;
	struct pci_dev *pdev;	/* NULL: the CPU node. */
	struct kobject *kobj;
	struct kobject *io_links_kobj;
	struct kobject *p2p_links_kobj;
	struct kobj_attribute gpu_id;
	struct kobj_attribute name;
	struct kobj_attribute properties;
	struct list_head io_links;
	struct list_head p2p_links;
	unsigned int io_links_count;
	unsigned int p2p_links_count;
};

static DEFINE_MUTEX(topology_mutex);
static LIST_HEAD(nodes);
static unsigned int generation;
static struct kobject *topology_kobj;
static struct kobject *nodes_kobj;
static struct class kfd_class = { .name = "kfd" };

static ssize_t link_show(struct kobject *kobj, struct kobj_attribute *attr,
			 char *buf)
{
	struct sim_link *link = container_of(attr, struct sim_link, properties);
	const struct {
		const char *name;
		unsigned int value;
	} values[] = {
		{ "type", LINK_TYPE_PCIE },
		{ "version_major", 0 },
		{ "version_minor", 0 },
		{ "node_from", link->from },
		{ "node_to", link->to },
		{ "weight", link->weight },
		{ "min_latency", 0 },
		{ "max_latency", 0 },
		{ "min_bandwidth", LINK_MIN_BANDWIDTH },
		{ "max_bandwidth", LINK_MAX_BANDWIDTH },
		{ "recommended_transfer_size", 0 },
		{ "recommended_sdma_engine_id_mask", 0 },
		{ "flags", LINK_FLAGS },
	};
	int i, at = 0;

	for (i = 0; i < ARRAY_SIZE(values); i++)
		at += sysfs_emit_at(buf, at, "%s %u\n", values[i].name,
				    values[i].value);
	return at;
}

static unsigned int node_gpu_id(const struct sim_node *node)
{
	/* The real one is a hash; any number but 0 will do. */
	return node->pdev ? 0x8000 + pci_dev_id(node->pdev) : 0;
}

static ssize_t gpu_id_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%u\n",
			  node_gpu_id(container_of(attr, struct sim_node,
						   gpu_id)));
}

static ssize_t name_show(struct kobject *kobj, struct kobj_attribute *attr,
			 char *buf)
{
	struct sim_node *node = container_of(attr, struct sim_node, name);

	return sysfs_emit(buf, "%s\n", node->pdev ? "simulated" : "");
}

static ssize_t properties_show(struct kobject *kobj,
			       struct kobj_attribute *attr, char *buf)
{
	struct sim_node *node = container_of(attr, struct sim_node, properties);
	struct pci_dev *pdev = node->pdev;
	const struct {
		const char *name;
		unsigned long long value;
		bool gpu_only;
	} values[] = {
		{ "cpu_cores_count", pdev ? 0 : num_online_cpus() },
		{ "simd_count", pdev ? 192 : 0 },
		{ "mem_banks_count", 1 },
		{ "caches_count", 0 },
		{ "io_links_count", node->io_links_count },
		{ "p2p_links_count", node->p2p_links_count },
		{ "cpu_core_id_base", 0 },
		{ "simd_id_base", pdev ? 0x80000000 : 0 },
		{ "max_waves_per_simd", pdev ? 16 : 0 },
		{ "lds_size_in_kb", pdev ? 64 : 0 },
		{ "gds_size_in_kb", 0 },
		{ "num_gws", pdev ? 64 : 0 },
		{ "wave_front_size", pdev ? 32 : 0 },
		{ "array_count", pdev ? 12 : 0 },
		{ "simd_arrays_per_engine", pdev ? 2 : 0 },
		{ "cu_per_simd_array", pdev ? 8 : 0 },
		{ "simd_per_cu", pdev ? 2 : 0 },
		{ "max_slots_scratch_cu", pdev ? 32 : 0 },
		{ "gfx_target_version", pdev ? GFX_TARGET_VERSION : 0 },
		{ "vendor_id", pdev ? pdev->vendor : 0 },
		{ "device_id", pdev ? pdev->device : 0 },
		{ "location_id", pdev ? pci_dev_id(pdev) : 0 },
		{ "domain", pdev ? pci_domain_nr(pdev->bus) : 0 },
		{ "drm_render_minor", pdev ? 127 + node->id : 0 },
		{ "hive_id", 0 },
		{ "num_sdma_engines", pdev ? 2 : 0 },
		{ "num_sdma_xgmi_engines", 0 },
		{ "num_sdma_queues_per_engine", pdev ? 6 : 0 },
		{ "num_cp_queues", pdev ? 8 : 0 },
		{ "cwsr_size", 0 },
		{ "ctl_stack_size", 0 },
		{ "max_engine_clk_fcompute", 0, true },
		{ "local_mem_size", 0, true },
		{ "fw_version", 0, true },
		{ "capability", 0, true },
		{ "capability2", 0, true },
		{ "debug_prop", 0, true },
		{ "sdma_fw_version", 0, true },
		{ "unique_id", 0, true },
		{ "num_xcc", 1, true },
		{ "max_engine_clk_ccompute", 0 },
	};
	int i, at = 0;

	for (i = 0; i < ARRAY_SIZE(values); i++)
		if (pdev || !values[i].gpu_only)
			at += sysfs_emit_at(buf, at, "%s %llu\n",
					    values[i].name, values[i].value);
	return at;
}

static ssize_t generation_id_show(struct kobject *kobj,
				  struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", generation);
}

static struct kobj_attribute generation_id_attr = __ATTR_RO(generation_id);

static ssize_t system_properties_show(struct kobject *kobj,
				      struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "platform_oem 0\nplatform_id 0\nplatform_rev 0\n");
}

static struct kobj_attribute system_properties_attr =
	__ATTR_RO(system_properties);

static const struct attribute * const topology_attrs[] = {
	&generation_id_attr.attr,
	&system_properties_attr.attr,
	NULL
};

static int add_file(struct kobject *kobj, struct kobj_attribute *attr,
		    const char *name,
		    ssize_t (*show)(struct kobject *kobj,
				    struct kobj_attribute *attr, char *buf))
{
	sysfs_attr_init(&attr->attr);
	attr->attr.name = name;
	attr->attr.mode = 0444;
	attr->show = show;
	return sysfs_create_file(kobj, &attr->attr);
}

static void free_link(struct sim_link *link)
{
	list_del(&link->list);
	kobject_put(link->kobj);
	kfree(link);
}

static int add_link(struct kobject *dir, struct list_head *links,
		    unsigned int *count, unsigned int from, unsigned int to,
		    unsigned int weight)
{
	struct sim_link *link = kzalloc(sizeof(*link), GFP_KERNEL);
	char name[12];
	int ret;

	if (!link)
		return -ENOMEM;
	link->from = from;
	link->to = to;
	link->weight = weight;
	if (!list_empty(links))
		link->index = list_last_entry(links, struct sim_link, list)->index + 1;
	list_add_tail(&link->list, links);
	snprintf(name, sizeof(name), "%u", link->index);
	link->kobj = kobject_create_and_add(name, dir);
	ret = link->kobj ? add_file(link->kobj, &link->properties, "properties",
				    link_show) : -ENOMEM;
	if (ret)
		free_link(link);
	else
		(*count)++;
	return ret;
}

static int add_io_link(struct sim_node *from, struct sim_node *to)
{
	return add_link(from->io_links_kobj, &from->io_links,
			&from->io_links_count, from->id, to->id, LINK_WEIGHT);
}

/*
 * As kfd_add_peer_prop(): can peer reach the memory of node? The link is then
 * one of peer, from it to node.
 */
static int add_peer_link(struct sim_node *node, struct sim_node *peer)
{
	if (pci_p2pdma_distance(node->pdev, &peer->pdev->dev, false) < 0) {
		dev_info(&node->pdev->dev,
			 "PCIe P2P access from peer device %s is not supported by the chipset\n",
			 pci_name(peer->pdev));
		return 0;
	}
	return add_link(peer->p2p_links_kobj, &peer->p2p_links,
			&peer->p2p_links_count, peer->id, node->id,
			2 * LINK_WEIGHT);
}

static void free_links(struct list_head *links)
{
	struct sim_link *link, *next;

	list_for_each_entry_safe(link, next, links, list)
		free_link(link);
}

static void free_node(struct sim_node *node)
{
	list_del(&node->list);
	free_links(&node->io_links);
	free_links(&node->p2p_links);
	kobject_put(node->io_links_kobj);
	kobject_put(node->p2p_links_kobj);
	kobject_put(node->kobj);
	kfree(node);
}

static struct sim_node *make_node(struct pci_dev *pdev)
{
	struct sim_node *node = kzalloc(sizeof(*node), GFP_KERNEL);
	char name[12];

	if (!node)
		return NULL;
	if (!list_empty(&nodes))
		node->id = list_last_entry(&nodes, struct sim_node, list)->id + 1;
	node->pdev = pdev;
	INIT_LIST_HEAD(&node->io_links);
	INIT_LIST_HEAD(&node->p2p_links);
	list_add_tail(&node->list, &nodes);

	snprintf(name, sizeof(name), "%u", node->id);
	node->kobj = kobject_create_and_add(name, nodes_kobj);
	if (!node->kobj)
		goto fail;
	node->io_links_kobj = kobject_create_and_add("io_links", node->kobj);
	node->p2p_links_kobj = kobject_create_and_add("p2p_links", node->kobj);
	if (!node->io_links_kobj || !node->p2p_links_kobj ||
	    add_file(node->kobj, &node->gpu_id, "gpu_id", gpu_id_show) ||
	    add_file(node->kobj, &node->name, "name", name_show) ||
	    add_file(node->kobj, &node->properties, "properties",
		     properties_show))
		goto fail;
	return node;

fail:
	free_node(node);
	return NULL;
}

/* Links that end at a node go with it. The others keep their numbers. */
static void drop_links_to(struct list_head *links, unsigned int *count,
			  unsigned int id)
{
	struct sim_link *link, *next;

	list_for_each_entry_safe(link, next, links, list) {
		if (link->to != id)
			continue;
		free_link(link);
		(*count)--;
	}
}

static void drop_node(struct sim_node *gone)
{
	struct sim_node *node;

	list_for_each_entry(node, &nodes, list) {
		drop_links_to(&node->io_links, &node->io_links_count, gone->id);
		drop_links_to(&node->p2p_links, &node->p2p_links_count,
			      gone->id);
	}
	free_node(gone);
	generation++;
}

static bool is_wanted(const struct pci_dev *pdev)
{
	int i;

	for (i = 0; i < nr_devices; i++)
		if (!strcmp(devices[i], pci_name(pdev)))
			return true;
	return !nr_devices;
}

/* As kfd_topology_add_device() and kfd_dev_create_p2p_links(). */
static int sim_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct sim_node *node, *cpu, *peer;
	int ret;

	if (!is_wanted(pdev))
		return -ENODEV;

	mutex_lock(&topology_mutex);
	cpu = list_first_entry(&nodes, struct sim_node, list);
	node = make_node(pdev);
	if (!node) {
		mutex_unlock(&topology_mutex);
		return -ENOMEM;
	}
	ret = add_io_link(node, cpu) ?: add_io_link(cpu, node);
	list_for_each_entry(peer, &nodes, list) {
		if (ret || peer == node)
			break;
		if (peer->pdev)
			ret = add_peer_link(node, peer) ?:
			      add_peer_link(peer, node);
	}
	generation++;
	if (ret)
		drop_node(node);
	else
		pci_set_drvdata(pdev, node);
	mutex_unlock(&topology_mutex);

	if (!ret)
		pci_info(pdev, "simulated KFD node %u\n", node->id);
	return ret;
}

static void sim_remove(struct pci_dev *pdev)
{
	mutex_lock(&topology_mutex);
	drop_node(pci_get_drvdata(pdev));
	mutex_unlock(&topology_mutex);
}

/* No table: new_id refuses IDs whose driver data an existing table lacks. */
static struct pci_driver sim_driver = {
	.name = "amdgpu",
	.probe = sim_probe,
	.remove = sim_remove,
};

/* There is no table, so a listed function needs a dynamic ID to be bound. */
static int bind_devices(void)
{
	unsigned int domain, bus, slot, func;
	struct pci_dev *pdev;
	int i, ret;

	for (i = 0; i < nr_devices; i++) {
		if (sscanf(devices[i], "%x:%x:%x.%x", &domain, &bus, &slot,
			   &func) != 4)
			return -EINVAL;
		pdev = pci_get_domain_bus_and_slot(domain, bus,
						   PCI_DEVFN(slot, func));
		if (!pdev)
			return -ENODEV;
		ret = pci_add_dynid(&sim_driver, pdev->vendor, pdev->device,
				    PCI_ANY_ID, PCI_ANY_ID, 0, 0, 0);
		pci_dev_put(pdev);
		if (ret)
			return ret;
	}
	return 0;
}

static int __init tp2_kfdsim_init(void)
{
	struct device *dev;
	int ret;

	if (driver_find(sim_driver.name, &pci_bus_type)) {
		pr_err("there is a real amdgpu: nothing to simulate\n");
		return -EBUSY;
	}
	ret = class_register(&kfd_class);
	if (ret)
		return ret;
	dev = device_create(&kfd_class, NULL, MKDEV(0, 0), NULL, "kfd");
	if (IS_ERR(dev)) {
		ret = PTR_ERR(dev);
		goto unregister_class;
	}
	ret = -ENOMEM;
	topology_kobj = kobject_create_and_add("topology", &dev->kobj);
	if (!topology_kobj)
		goto unregister_device;
	nodes_kobj = kobject_create_and_add("nodes", topology_kobj);
	if (!nodes_kobj || !make_node(NULL))
		goto put_topology;
	ret = sysfs_create_files(topology_kobj, topology_attrs);
	if (ret)
		goto free_cpu_node;
	ret = pci_register_driver(&sim_driver);
	if (ret)
		goto free_cpu_node;
	ret = bind_devices();
	if (ret) {
		pci_unregister_driver(&sim_driver);
		goto free_cpu_node;
	}
	pr_info("SIMULATED amdgpu and KFD, for tests only\n");
	return 0;

free_cpu_node:
	free_node(list_first_entry(&nodes, struct sim_node, list));
put_topology:
	kobject_put(nodes_kobj);
	kobject_put(topology_kobj);
unregister_device:
	device_unregister(dev);
unregister_class:
	class_unregister(&kfd_class);
	return ret;
}

/* The functions go first: each takes its node along, all but the CPU's. */
static void __exit tp2_kfdsim_exit(void)
{
	struct device *dev = kobj_to_dev(topology_kobj->parent);

	pci_unregister_driver(&sim_driver);
	free_node(list_first_entry(&nodes, struct sim_node, list));
	kobject_put(nodes_kobj);
	kobject_put(topology_kobj);
	device_unregister(dev);
	class_unregister(&kfd_class);
}

module_init(tp2_kfdsim_init);
module_exit(tp2_kfdsim_exit);
MODULE_DESCRIPTION("TEST ONLY, SIMULATED: an amdgpu and KFD without hardware");
MODULE_LICENSE("GPL");
