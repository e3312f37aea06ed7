// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lifecycle of the C implementation.
 *
 * Set up: hook, sysfs files, debugfs file, self-test. Torn down in the reverse
 * order, because reading the sysfs file self_test uses the hook. The debugfs
 * file comes after everything that can fail.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/device.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/string.h>

#include "../common/tp2.h"
#include "../common/version.h"
#include "policy.h"
#include "probe.h"

/*
 * Only amdgpu keeps the first answer for good: kfd_dev_create_p2p_links() in
 * drivers/gpu/drm/amd/amdkfd (Linux 7.3) runs when a GPU is added. xe asks
 * anew at each attachment, and drivers that hold a GPU for somebody else, such
 * as vfio-pci, do not ask: for them it is never too late.
 *
 * The device lock waits for a driver that is just being bound, which has to
 * count as well.
 */
static void __init look_for_bound_gpus(void)
{
	struct pci_dev *pdev = NULL;

	for_each_pci_dev(pdev) {
		if (!tp2_vendor_allowed(&tp2_settings, pdev->vendor) ||
		    !tp2_class_is_gpu(pdev->class))
			continue;
		device_lock(&pdev->dev);
		if (pdev->dev.driver &&
		    !strcmp(pdev->dev.driver->name, "amdgpu")) {
			tp2_gpu_driver_was_bound = true;
			pr_warn("%s already has its driver amdgpu: KFD makes links when the driver probes, so a reboot with this module loaded first is needed\n",
				pci_name(pdev));
		}
		device_unlock(&pdev->dev);
	}
}

static int __init tp2_init(void)
{
	const char *why;
	int ret;

	ret = tp2_probe_register();
	if (ret)
		return ret;
	ret = tp2_state_init();
	if (ret) {
		tp2_probe_unregister();
		return ret;
	}
	tp2_pairs_init();

	why = tp2_self_test();
	if (why)
		pr_warn("self-test failed: %s\n", why);
	look_for_bound_gpus();
	pr_info("version " TP2_VERSION ", mode %s, self-test %s\n",
		tp2_mode_name(tp2_get_mode()), why ? "failed" : "passed");
	return 0;
}

static void __exit tp2_exit(void)
{
	tp2_pairs_exit();
	tp2_state_exit();
	tp2_probe_unregister();
	pr_info("unloaded; links that a driver made in the meantime stay until it probes again\n");
}

module_init(tp2_init);
module_exit(tp2_exit);
/* Not in common/: the Rust implementation's module! brings its own. */
MODULE_LICENSE("GPL");
