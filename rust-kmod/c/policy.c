// SPDX-License-Identifier: GPL-2.0-only
/*
 * The decision. Pure: facts and parameters in, answer and rule out.
 */
#include "policy.h"

#define CLASS_BASE_DISPLAY		0x03
#define CLASS_PROCESSING_ACCELERATOR	0x1200

/* Host bridges on which forced peer traffic was measured to corrupt data. */
static const struct tp2_id built_in_deny[] = {
	{ 0x8086, 0x4c43 },
	{ }
};

/**
 * tp2_vendor_allowed - may GPUs of this vendor be paired?
 * @settings: the parameters
 * @vendor: vendor ID
 *
 * Return: true if the vendors parameter lists it.
 */
bool tp2_vendor_allowed(const struct tp2_settings *settings, __u16 vendor)
{
	__u32 i;

	for (i = 0; i < settings->nr_vendors; i++)
		if (settings->vendors[i] == vendor)
			return true;
	return false;
}

/**
 * tp2_class_is_gpu - is this the class of a GPU?
 * @class: class code, 24 bits
 *
 * Display controllers of every kind, and processing accelerators: a GPU
 * without display outputs may be either. The audio function of a card is
 * neither.
 *
 * Return: true if it is.
 */
bool tp2_class_is_gpu(__u32 class)
{
	return class >> 16 == CLASS_BASE_DISPLAY ||
	       class >> 8 == CLASS_PROCESSING_ACCELERATOR;
}

static bool pair_allowed(const struct tp2_settings *settings,
			 const struct tp2_address *a,
			 const struct tp2_address *b)
{
	__u32 i;

	for (i = 0; i < settings->nr_pairs; i++) {
		const struct tp2_pair *pair = &settings->pairs[i];

		if ((tp2_same_address(&pair->a, a) &&
		     tp2_same_address(&pair->b, b)) ||
		    (tp2_same_address(&pair->a, b) &&
		     tp2_same_address(&pair->b, a)))
			return true;
	}
	return settings->nr_pairs == 0;
}

static bool same_id(const struct tp2_id *a, const struct tp2_id *b)
{
	return a->vendor == b->vendor && a->device == b->device;
}

static bool bridge_denied(const struct tp2_settings *settings,
			  const struct tp2_host_bridge *bridge)
{
	const struct tp2_id *denied;
	__u32 i;

	if (!bridge->known)
		return false;
	for (denied = built_in_deny; denied->vendor; denied++)
		if (same_id(denied, &bridge->id))
			return true;
	for (i = 0; i < settings->nr_deny; i++)
		if (same_id(&settings->deny[i], &bridge->id))
			return true;
	return false;
}

static enum tp2_rule find_rule(const struct tp2_settings *settings,
			       enum tp2_mode mode,
			       const struct tp2_facts *facts)
{
	const struct tp2_function *provider = &facts->provider;
	const struct tp2_function *client = &facts->client;

	if (facts->kernel_answer >= 0)
		return TP2_KERNEL_ALLOWS;
	if (tp2_same_address(&provider->address, &client->address))
		return TP2_SAME_FUNCTION;
	if (!tp2_vendor_allowed(settings, provider->vendor) ||
	    !tp2_vendor_allowed(settings, client->vendor))
		return TP2_VENDOR;
	if (!tp2_class_is_gpu(provider->class) ||
	    !tp2_class_is_gpu(client->class))
		return TP2_CLASS;
	if (!pair_allowed(settings, &provider->address, &client->address))
		return TP2_NOT_NAMED;
	/* Only ACS redirect makes the kernel refuse here; see the contract. */
	if (facts->shared_upstream)
		return TP2_SHARED_UPSTREAM;
	if (!facts->same_host_bridge && !settings->cross_host_bridge)
		return TP2_CROSS_HOST_BRIDGE;
	if (!settings->allow_denied) {
		if (bridge_denied(settings, &facts->provider_bridge) ||
		    bridge_denied(settings, &facts->client_bridge))
			return TP2_DENIED_BRIDGE;
		if (!facts->provider_bridge.known || !facts->client_bridge.known)
			return TP2_UNKNOWN_BRIDGE;
	}
	if (mode != TP2_MODE_FORCE)
		return TP2_OBSERVE;
	return TP2_OVERRIDE;
}

/**
 * tp2_decide - decide one call
 * @settings: the parameters
 * @mode: the mode when the call began
 * @facts: what is known of the call
 *
 * The rules and their order are those of docs/architecture.md. The new answer
 * is never invented: it is the hop count that calc_map_type_and_dist() in
 * drivers/pci/p2pdma.c (Linux 7.3, the same since 6.1) would have returned
 * had the host bridge been listed.
 *
 * Return: the answer and the rule.
 */
struct tp2_decision tp2_decide(const struct tp2_settings *settings,
			       enum tp2_mode mode,
			       const struct tp2_facts *facts)
{
	struct tp2_decision decision = {
		.answer = facts->kernel_answer,
		.rule = find_rule(settings, mode, facts),
	};

	if (decision.rule == TP2_OVERRIDE)
		decision.answer = facts->hops;
	return decision;
}
