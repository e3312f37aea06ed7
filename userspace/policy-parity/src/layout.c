// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the compiler makes of the policy's structures and enumerations, in the
 * order in which c_policy.rs expects it.
 */
#include <stddef.h>

#include "policy.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

const size_t tp2_layout[] = {
	sizeof(struct tp2_address),
	offsetof(struct tp2_address, bus),
	offsetof(struct tp2_address, devfn),
	sizeof(struct tp2_pair),
	sizeof(struct tp2_id),
	sizeof(struct tp2_settings),
	offsetof(struct tp2_settings, vendors),
	offsetof(struct tp2_settings, nr_pairs),
	offsetof(struct tp2_settings, pairs),
	offsetof(struct tp2_settings, nr_deny),
	offsetof(struct tp2_settings, deny),
	offsetof(struct tp2_settings, cross_host_bridge),
	offsetof(struct tp2_settings, allow_denied),
	sizeof(struct tp2_function),
	offsetof(struct tp2_function, vendor),
	offsetof(struct tp2_function, class),
	sizeof(struct tp2_host_bridge),
	offsetof(struct tp2_host_bridge, id),
	sizeof(struct tp2_facts),
	offsetof(struct tp2_facts, provider),
	offsetof(struct tp2_facts, client),
	offsetof(struct tp2_facts, shared_upstream),
	offsetof(struct tp2_facts, same_host_bridge),
	offsetof(struct tp2_facts, provider_bridge),
	offsetof(struct tp2_facts, client_bridge),
	offsetof(struct tp2_facts, hops),
	sizeof(struct tp2_decision),
	offsetof(struct tp2_decision, rule),
};
const size_t tp2_layout_nr = NR(tp2_layout);

const unsigned int tp2_rules[] = {
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
const size_t tp2_rules_nr = NR(tp2_rules);

const unsigned int tp2_modes[] = {
	TP2_MODE_OFF,
	TP2_MODE_OBSERVE,
	TP2_MODE_FORCE,
};
