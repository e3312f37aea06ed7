// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters and what the module says about itself, one value a file, under
 * /sys/module/tp2_p2pdma/override/.
 *
 * The directory is a kobject of its own: the attributes of a module's kobject
 * changed their type in Linux 6.14, those of a plain kobject did not.
 */
#include <linux/atomic.h>
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/sysfs.h>

#include "tp2.h"
#include "version.h"

static atomic64_t calls;
static atomic64_t overridden;
static atomic64_t refused;
static struct kobject *override_kobj;

bool tp2_gpu_driver_was_bound;

/**
 * tp2_count - count one call of the hooked function
 * @kernel_answer: what the kernel answered
 * @answer: what the caller is told
 *
 * Safe in any context.
 */
void tp2_count(int kernel_answer, int answer)
{
	atomic64_inc(&calls);
	if (kernel_answer >= 0)
		return;
	atomic64_inc(answer < 0 ? &refused : &overridden);
}

#define OVERRIDE_ATTR(_name, _fmt, _value)				\
static ssize_t _name##_show(struct kobject *kobj,			\
			    struct kobj_attribute *attr, char *buf)	\
{									\
	return sysfs_emit(buf, _fmt "\n", _value);			\
}									\
static struct kobj_attribute _name##_attr = __ATTR_RO(_name)

OVERRIDE_ATTR(implementation, "%s", TP2_IMPL);
OVERRIDE_ATTR(implementation_reason, "%s", TP2_IMPL_REASON);
OVERRIDE_ATTR(calls, "%lld", (long long)atomic64_read(&calls));
OVERRIDE_ATTR(overridden, "%lld", (long long)atomic64_read(&overridden));
OVERRIDE_ATTR(refused, "%lld", (long long)atomic64_read(&refused));
OVERRIDE_ATTR(missed, "%lu", tp2_missed());
OVERRIDE_ATTR(gpu_driver_was_bound, "%d", tp2_gpu_driver_was_bound);

static ssize_t self_test_show(struct kobject *kobj,
			      struct kobj_attribute *attr, char *buf)
{
	const char *why = tp2_self_test();

	if (why)
		return sysfs_emit(buf, "fail: %s\n", why);
	return sysfs_emit(buf, "pass\n");
}

static struct kobj_attribute self_test_attr = __ATTR_RO(self_test);

static const struct attribute * const override_attrs[] = {
	&implementation_attr.attr,
	&implementation_reason_attr.attr,
	&calls_attr.attr,
	&overridden_attr.attr,
	&refused_attr.attr,
	&missed_attr.attr,
	&self_test_attr.attr,
	&gpu_driver_was_bound_attr.attr,
	NULL
};

/**
 * tp2_state_init - make the files of the override directory
 *
 * The hook has to be set already: reading self_test uses it.
 *
 * Return: 0 or a negative errno.
 */
int tp2_state_init(void)
{
	int ret;

	override_kobj = kobject_create_and_add("override",
					       &THIS_MODULE->mkobj.kobj);
	if (!override_kobj)
		return -ENOMEM;
	ret = sysfs_create_files(override_kobj, override_attrs);
	if (ret)
		tp2_state_exit();
	return ret;
}

/**
 * tp2_state_exit - remove the override directory
 *
 * Waits for readers, so no self-test runs after it. kobject_del() does the
 * waiting: kobject_put() would leave it to whoever drops the last reference,
 * which with CONFIG_DEBUG_KOBJECT_RELEASE is a work item seconds later.
 */
void tp2_state_exit(void)
{
	kobject_del(override_kobj);
	kobject_put(override_kobj);
}

MODULE_DESCRIPTION("Let two GPUs under one host bridge use PCIe peer-to-peer DMA");
MODULE_VERSION(TP2_VERSION);
MODULE_INFO(implementation, TP2_IMPL);
MODULE_INFO(implementation_reason, TP2_IMPL_REASON);
