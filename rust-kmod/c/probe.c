// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hook: a return probe on pci_p2pdma_distance_many(), in the manner of
 * samples/kprobes/kretprobe_example.c. Both handlers run with preemption off
 * and must not sleep or allocate.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/pci-p2pdma.h>
#include <linux/sched.h>

#include "../common/tp2.h"
#include "policy.h"
#include "probe.h"
#include "topology.h"

/* An answer that the kernel never gives: no chain of bridges is so long. */
#define SELF_TEST_ANSWER 0x7470

/* The arguments, which only the entry handler can see. */
struct tp2_call {
	struct pci_dev *provider;
	struct device *client;
	enum tp2_mode mode;
	bool self_test;
};

/*
 * The self-test is told apart from everybody else's calls by its task. The
 * other fields are touched by that task only, inside the call and after it.
 */
static struct {
	struct task_struct *task;
	bool entered;
	bool returned;
} self_test;
static DEFINE_MUTEX(self_test_mutex);

static int entry_handler(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct tp2_call *call = (struct tp2_call *)ri->data;
	struct device **clients = (void *)regs_get_kernel_argument(regs, 1);
	int num_clients = (int)regs_get_kernel_argument(regs, 2);

	call->self_test = READ_ONCE(self_test.task) == current;
	if (call->self_test) {
		self_test.entered = true;
		return 0;
	}

	call->mode = tp2_get_mode();
	if (call->mode == TP2_MODE_OFF)
		return 1;	/* Skip the return handler */

	/* Callers that have nothing to do with GPUs pay no return handler. */
	call->provider = (void *)regs_get_kernel_argument(regs, 0);
	if (!call->provider || !tp2_class_is_gpu(call->provider->class))
		return 1;

	call->client = num_clients == 1 ? clients[0] : NULL;
	return 0;
}
NOKPROBE_SYMBOL(entry_handler);

static int ret_handler(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct tp2_call *call = (struct tp2_call *)ri->data;
	/* The function returns an int: the upper half is undefined. */
	int kernel_answer = (int)regs_return_value(regs);
	struct tp2_decision decision;
	struct tp2_facts facts;
	struct pci_dev *client;

	if (call->self_test) {
		self_test.returned = true;
		regs_set_return_value(regs, SELF_TEST_ANSWER);
		return 0;
	}

	/* Not one client, or one that is no PCI device: not a pair. */
	client = tp2_parent_pci_dev(call->client);
	if (!client) {
		tp2_count(kernel_answer, kernel_answer);
		return 0;
	}

	facts.kernel_answer = kernel_answer;
	tp2_read_facts(call->provider, client, &facts);
	decision = tp2_decide(&tp2_settings, call->mode, &facts);
	tp2_count(kernel_answer, decision.answer);
	tp2_pairs_record(&facts.provider.address, &facts.client.address,
			 kernel_answer, decision.answer, decision.rule);
	if (decision.rule == TP2_OVERRIDE)
		regs_set_return_value(regs, decision.answer);
	return 0;
}
NOKPROBE_SYMBOL(ret_handler);

static struct kretprobe hook = {
	.kp.symbol_name = "pci_p2pdma_distance_many",
	.handler = ret_handler,
	.entry_handler = entry_handler,
	.data_size = sizeof(struct tp2_call),
};

/**
 * tp2_missed - calls that the hook did not see
 *
 * Either no instance was free, or a probe was running on this CPU already. The
 * kernel counts without atomic operations, so under contention the number is a
 * lower bound. A hook that was disarmed counts nothing; that is what the
 * self-test is for.
 *
 * Return: their number.
 */
unsigned long tp2_missed(void)
{
	return READ_ONCE(hook.nmissed) + READ_ONCE(hook.kp.nmissed);
}

/**
 * tp2_self_test - is the hook alive?
 *
 * A probe can be registered and yet not act: on x86 it rides on ftrace, which
 * a sysctl turns off without a word. So call the hooked function: with no
 * clients the kernel (6.1 to 7.3) returns -1 at once without looking at the
 * provider. Never counted, and independent of the mode.
 *
 * Return: NULL if both handlers ran and the answer arrived, else the reason.
 */
const char *tp2_self_test(void)
{
	const char *why = NULL;
	unsigned long missed;
	int answer;

	mutex_lock(&self_test_mutex);
	missed = tp2_missed();
	self_test.entered = false;
	self_test.returned = false;
	WRITE_ONCE(self_test.task, current);
	answer = pci_p2pdma_distance_many(NULL, NULL, 0, false);
	WRITE_ONCE(self_test.task, NULL);

	if (!self_test.entered && tp2_missed() != missed)
		why = "no kretprobe instance was free (raise maxactive)";
	else if (!self_test.entered)
		why = "the hook did not run (sysctl kernel.ftrace_enabled=0, or kprobes disabled?)";
	else if (!self_test.returned)
		why = "the hook did not run at return";
	else if (answer != SELF_TEST_ANSWER)
		why = "the answer set by the hook did not reach the caller";
	mutex_unlock(&self_test_mutex);
	return why;
}

static const char *register_error(int err)
{
	switch (err) {
	case -ENOENT:
		return "the kernel has no such function (CONFIG_PCI_P2PDMA is off)";
	case -EOPNOTSUPP:
		return "the kernel has no return probes (CONFIG_KRETPROBES is off)";
	case -EINVAL:
		return "the kernel does not allow a probe there";
	case -EILSEQ:
		return "the function's first instruction cannot be probed";
	case -ENOMEM:
		return "out of memory (lower maxactive)";
	case -EPERM:
	case -EACCES:
		return "the kernel forbids probes";
	case -EBUSY:
		return "something else holds the function's entry";
	default:
		return "unexpected error";
	}
}

/**
 * tp2_probe_register - set the hook
 *
 * Return: 0, or a negative errno whose meaning has been logged.
 */
int tp2_probe_register(void)
{
	int ret;

	hook.maxactive = tp2_maxactive;
	ret = register_kretprobe(&hook);
	if (ret < 0)
		pr_err("cannot hook %s: %s, error %d\n", hook.kp.symbol_name,
		       register_error(ret), ret);
	return ret;
}

/**
 * tp2_probe_unregister - take the hook away
 *
 * When it returns no handler is running, and calls that are still under way
 * return to their callers without one.
 */
void tp2_probe_unregister(void)
{
	unregister_kretprobe(&hook);
}
