/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parameters say and how a decision is named.
 *
 * Only fixed-width types: the policy is compiled in userspace as well, where
 * it is compared with the rule book of tp2-verify.
 */
#ifndef TP2_RULES_H
#define TP2_RULES_H

#include <linux/types.h>
#ifndef __KERNEL__
#include <stdbool.h>
#endif

#define TP2_MAX_VENDORS	16
#define TP2_MAX_PAIRS	64
#define TP2_MAX_DENY	32

enum tp2_mode {
	TP2_MODE_OFF,
	TP2_MODE_OBSERVE,
	TP2_MODE_FORCE,
};

/* The order is the order in which the rules are applied. */
enum tp2_rule {
	TP2_KERNEL_ALLOWS,
	TP2_SAME_FUNCTION,
	TP2_VENDOR,
	TP2_CLASS,
	TP2_NOT_NAMED,
	TP2_SHARED_UPSTREAM,
	TP2_CROSS_HOST_BRIDGE,
	TP2_DENIED_BRIDGE,
	TP2_UNKNOWN_BRIDGE,
	TP2_OBSERVE,
	TP2_OVERRIDE,
};

/**
 * struct tp2_address - PCI address, the identity of a function
 * @domain: domain (segment) number
 * @bus: bus number
 * @devfn: device and function, as PCI_DEVFN() packs them
 */
struct tp2_address {
	__u32 domain;
	__u8 bus;
	__u8 devfn;
};

static inline bool tp2_same_address(const struct tp2_address *a,
				    const struct tp2_address *b)
{
	return a->domain == b->domain && a->bus == b->bus &&
	       a->devfn == b->devfn;
}

/**
 * struct tp2_pair - two functions, in no order
 * @a: one of them
 * @b: the other
 */
struct tp2_pair {
	struct tp2_address a;
	struct tp2_address b;
};

/**
 * struct tp2_id - vendor and device ID of a host bridge
 * @vendor: vendor ID
 * @device: device ID
 */
struct tp2_id {
	__u16 vendor;
	__u16 device;
};

/**
 * struct tp2_settings - the parameters that do not change after load
 * @nr_vendors: used entries of @vendors
 * @vendors: vendor IDs whose GPUs may be paired
 * @nr_pairs: used entries of @pairs; 0 allows every pair
 * @pairs: the pairs that are allowed
 * @nr_deny: used entries of @deny
 * @deny: denied host bridges, on top of the built-in ones
 * @cross_host_bridge: lift the rule that both hang under one host bridge
 * @allow_denied: lift the rule that no host bridge is denied
 */
struct tp2_settings {
	__u32 nr_vendors;
	__u16 vendors[TP2_MAX_VENDORS];
	__u32 nr_pairs;
	struct tp2_pair pairs[TP2_MAX_PAIRS];
	__u32 nr_deny;
	struct tp2_id deny[TP2_MAX_DENY];
	bool cross_host_bridge;
	bool allow_denied;
};

#endif
