// SPDX-License-Identifier: GPL-2.0-only
/*
 * Module parameters. Every value is checked as a whole: a value that is only
 * half understood refuses the load, because a typing error must not widen
 * what the module is allowed to override.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/pci.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "tp2.h"

#define MAX_MAXACTIVE	4096

struct tp2_settings tp2_settings = {
	.nr_vendors = 1,
	.vendors = { PCI_VENDOR_ID_ATI },
};

/* 64 callers asleep inside the hooked function must not use them up. */
unsigned int tp2_maxactive = 256;

static int current_mode = TP2_MODE_FORCE;

static const char * const mode_names[] = {
	[TP2_MODE_OFF] = "off",
	[TP2_MODE_OBSERVE] = "observe",
	[TP2_MODE_FORCE] = "force",
};

/**
 * tp2_get_mode - the mode at this moment
 *
 * Root may change it while calls are under way, so a call reads it once.
 *
 * Return: the mode.
 */
enum tp2_mode tp2_get_mode(void)
{
	return READ_ONCE(current_mode);
}

/**
 * tp2_mode_name - the name of a mode, as the parameter spells it
 * @mode: the mode
 *
 * Return: a static string.
 */
const char *tp2_mode_name(enum tp2_mode mode)
{
	return mode_names[mode];
}

static int refuse(const struct kernel_param *kp, const char *val,
		  const char *accepted)
{
	int len = strcspn(val, "\n");

	/* Escaped, so that the value cannot forge a line of the log. */
	pr_err("parameter %s: \"%*pE\" refused, accepted is %s\n", kp->name,
	       min(len, 256), val, accepted);
	return -EINVAL;
}

/* A write through sysfs usually ends in a newline. */
static bool at_end(const char *pos)
{
	return !*pos || (*pos == '\n' && !pos[1]);
}

static bool skip(const char **pos, char c)
{
	if (**pos != c)
		return false;
	(*pos)++;
	return true;
}

static bool parse_hex(const char **pos, int digits, u32 *value)
{
	*value = 0;
	while (digits--) {
		char c = *(*pos)++;

		if (!isxdigit(c))
			return false;
		*value = *value << 4 | (isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
	}
	return true;
}

static bool parse_vendor(const char **pos, u16 *vendor)
{
	u32 value;

	/* Neither ID is ever given out: no device answered. */
	if (!parse_hex(pos, 4, &value) || value == 0 || value == 0xffff)
		return false;
	*vendor = value;
	return true;
}

static bool parse_address(const char **pos, struct tp2_address *address)
{
	u32 bus, slot, func;

	if (!parse_hex(pos, 4, &address->domain) || !skip(pos, ':') ||
	    !parse_hex(pos, 2, &bus) || !skip(pos, ':') ||
	    !parse_hex(pos, 2, &slot) || slot > 0x1f || !skip(pos, '.') ||
	    !parse_hex(pos, 1, &func) || func > 7)
		return false;
	address->bus = bus;
	address->devfn = PCI_DEVFN(slot, func);
	return true;
}

static int show_address(char *buf, int at, const struct tp2_address *address)
{
	return sysfs_emit_at(buf, at, "%04x:%02x:%02x.%x", address->domain,
			     address->bus, PCI_SLOT(address->devfn),
			     PCI_FUNC(address->devfn));
}

static bool vendor_item(const char **pos, unsigned int i)
{
	return parse_vendor(pos, &tp2_settings.vendors[i]);
}

static int show_vendor_item(char *buf, int at, unsigned int i)
{
	return sysfs_emit_at(buf, at, "%04x", tp2_settings.vendors[i]);
}

static bool pair_item(const char **pos, unsigned int i)
{
	struct tp2_pair *pair = &tp2_settings.pairs[i];

	return parse_address(pos, &pair->a) && skip(pos, '+') &&
	       parse_address(pos, &pair->b) &&
	       !tp2_same_address(&pair->a, &pair->b);
}

static int show_pair_item(char *buf, int at, unsigned int i)
{
	int len = show_address(buf, at, &tp2_settings.pairs[i].a);

	len += sysfs_emit_at(buf, at + len, "+");
	return len + show_address(buf, at + len, &tp2_settings.pairs[i].b);
}

static bool deny_item(const char **pos, unsigned int i)
{
	u32 device;

	if (!parse_vendor(pos, &tp2_settings.deny[i].vendor) ||
	    !skip(pos, ':') || !parse_hex(pos, 4, &device))
		return false;
	tp2_settings.deny[i].device = device;
	return true;
}

static int show_deny_item(char *buf, int at, unsigned int i)
{
	return sysfs_emit_at(buf, at, "%04x:%04x", tp2_settings.deny[i].vendor,
			     tp2_settings.deny[i].device);
}

/*
 * A list in tp2_settings. Items are written in place: a list can only be set
 * at load, and a bad one ends the load.
 */
struct list_param {
	u32 *nr;
	unsigned int min;
	unsigned int max;
	bool (*parse)(const char **pos, unsigned int i);
	int (*show)(char *buf, int at, unsigned int i);
	const char *accepted;
};

static int list_set(const char *val, const struct kernel_param *kp)
{
	const struct list_param *list = kp->arg;
	const char *pos = val;
	unsigned int nr = 0;

	if (!at_end(pos)) {
		do {
			if (nr == list->max || !list->parse(&pos, nr))
				return refuse(kp, val, list->accepted);
			nr++;
		} while (skip(&pos, ','));
	}
	if (!at_end(pos) || nr < list->min)
		return refuse(kp, val, list->accepted);
	*list->nr = nr;
	return 0;
}

static int list_get(char *buf, const struct kernel_param *kp)
{
	const struct list_param *list = kp->arg;
	unsigned int i;
	int at = 0;

	for (i = 0; i < *list->nr; i++) {
		if (i)
			at += sysfs_emit_at(buf, at, ",");
		at += list->show(buf, at, i);
	}
	return at + sysfs_emit_at(buf, at, "\n");
}

static const struct kernel_param_ops list_ops = {
	.set = list_set,
	.get = list_get,
};

static struct list_param vendors_param = {
	.nr = &tp2_settings.nr_vendors,
	.min = 1,
	.max = TP2_MAX_VENDORS,
	.parse = vendor_item,
	.show = show_vendor_item,
	.accepted = "1 to 16 four-digit hex vendor IDs, comma-separated",
};

static struct list_param pairs_param = {
	.nr = &tp2_settings.nr_pairs,
	.max = TP2_MAX_PAIRS,
	.parse = pair_item,
	.show = show_pair_item,
	.accepted = "up to 64 pairs dddd:bb:dd.f+dddd:bb:dd.f of two functions, comma-separated",
};

static struct list_param deny_param = {
	.nr = &tp2_settings.nr_deny,
	.max = TP2_MAX_DENY,
	.parse = deny_item,
	.show = show_deny_item,
	.accepted = "up to 32 of vvvv:dddd (hex), comma-separated",
};

static int mode_set(const char *val, const struct kernel_param *kp)
{
	int mode = sysfs_match_string(mode_names, val);

	if (mode < 0)
		return refuse(kp, val, "force, observe or off");
	if (THIS_MODULE->state == MODULE_STATE_LIVE && mode != current_mode)
		pr_info("mode changed from %s to %s\n",
			mode_names[current_mode], mode_names[mode]);
	WRITE_ONCE(current_mode, mode);
	return 0;
}

static int mode_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%s\n", mode_names[tp2_get_mode()]);
}

static const struct kernel_param_ops mode_ops = {
	.set = mode_set,
	.get = mode_get,
};

static int flag_set(const char *val, const struct kernel_param *kp)
{
	static const char * const accepted[] = { "0", "1" };
	bool *flag = kp->arg;
	int value = sysfs_match_string(accepted, val);

	if (value < 0)
		return refuse(kp, val, "0 or 1");
	*flag = value;
	return 0;
}

static int flag_get(char *buf, const struct kernel_param *kp)
{
	const bool *flag = kp->arg;

	return sysfs_emit(buf, "%d\n", *flag);
}

static const struct kernel_param_ops flag_ops = {
	.set = flag_set,
	.get = flag_get,
};

static int maxactive_set(const char *val, const struct kernel_param *kp)
{
	unsigned int value;

	if (kstrtouint(val, 10, &value) || !value || value > MAX_MAXACTIVE)
		return refuse(kp, val, "1 to 4096");
	tp2_maxactive = value;
	return 0;
}

static const struct kernel_param_ops maxactive_ops = {
	.set = maxactive_set,
	.get = param_get_uint,
};

module_param_cb(mode, &mode_ops, NULL, 0644);
MODULE_PARM_DESC(mode, "force (default), observe or off");
module_param_cb(vendors, &list_ops, &vendors_param, 0444);
MODULE_PARM_DESC(vendors, "vendor IDs whose GPUs may be paired (default 1002)");
module_param_cb(pairs, &list_ops, &pairs_param, 0444);
MODULE_PARM_DESC(pairs, "allowed pairs dddd:bb:dd.f+dddd:bb:dd.f (default: all)");
module_param_cb(cross_host_bridge, &flag_ops,
		&tp2_settings.cross_host_bridge, 0444);
MODULE_PARM_DESC(cross_host_bridge, "1: also pairs under two host bridges");
module_param_cb(deny, &list_ops, &deny_param, 0444);
MODULE_PARM_DESC(deny, "more denied host bridges vvvv:dddd");
module_param_cb(allow_denied, &flag_ops, &tp2_settings.allow_denied, 0444);
MODULE_PARM_DESC(allow_denied, "1: also below denied host bridges; may corrupt data");
module_param_cb(maxactive, &maxactive_ops, &tp2_maxactive, 0444);
MODULE_PARM_DESC(maxactive, "calls that can be under way at a time (default 256)");
