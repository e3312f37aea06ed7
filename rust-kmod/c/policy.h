/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TP2_POLICY_H
#define TP2_POLICY_H

#include "../common/rules.h"

/**
 * struct tp2_function - what the policy knows of a PCI function
 * @address: its PCI address
 * @vendor: its vendor ID
 * @class: its class code, 24 bits as in struct pci_dev
 */
struct tp2_function {
	struct tp2_address address;
	__u16 vendor;
	__u32 class;
};

/**
 * struct tp2_host_bridge - a host bridge as the kernel identifies it
 * @known: the kernel would find a device that stands for it
 * @id: IDs of that device
 */
struct tp2_host_bridge {
	bool known;
	struct tp2_id id;
};

/**
 * struct tp2_facts - everything a decision depends on, besides the parameters
 * @kernel_answer: what the kernel answered
 * @provider: the function whose memory is to be reached
 * @client: the function that is to reach it
 * @shared_upstream: the two chains of bridges meet below the host bridge
 * @same_host_bridge: both hang under one host bridge
 * @provider_bridge: host bridge of the provider
 * @client_bridge: host bridge of the client
 * @hops: the kernel's hop count for two chains that do not meet
 */
struct tp2_facts {
	__s32 kernel_answer;
	struct tp2_function provider;
	struct tp2_function client;
	bool shared_upstream;
	bool same_host_bridge;
	struct tp2_host_bridge provider_bridge;
	struct tp2_host_bridge client_bridge;
	__s32 hops;
};

/**
 * struct tp2_decision - what the caller is told, and why
 * @answer: the answer
 * @rule: the rule that decided
 */
struct tp2_decision {
	__s32 answer;
	enum tp2_rule rule;
};

bool tp2_vendor_allowed(const struct tp2_settings *settings, __u16 vendor);
bool tp2_class_is_gpu(__u32 class);
struct tp2_decision tp2_decide(const struct tp2_settings *settings,
			       enum tp2_mode mode,
			       const struct tp2_facts *facts);

#endif
