// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pair table: which ordered pairs were asked for, how often, and what
 * decided the last call. It is filled by the return handler, so it is there in
 * full from the start and guarded by a lock that never sleeps, not even on
 * PREEMPT_RT.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>

#include "tp2.h"

#define TABLE_SIZE	1024
#define BUCKET_BITS	8

struct pair_entry {
	struct hlist_node node;
	struct tp2_address provider;
	struct tp2_address client;
	u64 calls;
	int kernel_answer;
	int answer;
	enum tp2_rule rule;
};

static const char * const rule_tokens[] = {
	[TP2_KERNEL_ALLOWS] = "1:kernel-allows",
	[TP2_SAME_FUNCTION] = "2:same-function",
	[TP2_VENDOR] = "2:vendor",
	[TP2_CLASS] = "2:class",
	[TP2_NOT_NAMED] = "3:not-named",
	[TP2_SHARED_UPSTREAM] = "4:shared-upstream",
	[TP2_CROSS_HOST_BRIDGE] = "5:cross-host-bridge",
	[TP2_DENIED_BRIDGE] = "6:denied-bridge",
	[TP2_UNKNOWN_BRIDGE] = "6:unknown-bridge",
	[TP2_OBSERVE] = "7:observe",
	[TP2_OVERRIDE] = "override",
};

static DEFINE_RAW_SPINLOCK(table_lock);
static struct pair_entry table[TABLE_SIZE];
static unsigned int nr_entries;
static u64 beyond;
static struct hlist_head buckets[1 << BUCKET_BITS];
static struct dentry *debugfs_dir;

/* Room for dddd:bb:dd.f, even with a domain number of eight digits. */
struct address_text {
	char text[sizeof("01234567:89:ab.c")];
};

static struct address_text print_address(const struct tp2_address *a)
{
	struct address_text to;

	snprintf(to.text, sizeof(to.text), "%04x:%02x:%02x.%x", a->domain,
		 a->bus, PCI_SLOT(a->devfn), PCI_FUNC(a->devfn));
	return to;
}

static u64 address_key(const struct tp2_address *a)
{
	return (u64)a->domain << 16 | a->bus << 8 | a->devfn;
}

static struct hlist_head *bucket_of(const struct tp2_address *provider,
				    const struct tp2_address *client)
{
	u64 key = hash_64(address_key(provider), 64) ^ address_key(client);

	return &buckets[hash_64(key, BUCKET_BITS)];
}

/* Find the entry or take a free one; NULL if the table is full. */
static struct pair_entry *get_entry(const struct tp2_address *provider,
				    const struct tp2_address *client)
{
	struct hlist_head *bucket = bucket_of(provider, client);
	struct pair_entry *entry;

	lockdep_assert_held(&table_lock);

	hlist_for_each_entry(entry, bucket, node)
		if (tp2_same_address(&entry->provider, provider) &&
		    tp2_same_address(&entry->client, client))
			return entry;

	if (nr_entries == TABLE_SIZE)
		return NULL;
	entry = &table[nr_entries++];
	entry->provider = *provider;
	entry->client = *client;
	hlist_add_head(&entry->node, bucket);
	return entry;
}

/**
 * tp2_pairs_record - note the decision for one call
 * @provider: the function whose memory is to be reached
 * @client: the function that is to reach it
 * @kernel_answer: what the kernel answered
 * @answer: what the caller is told
 * @rule: the rule that decided
 *
 * Called by the return handler: never sleeps, never allocates. The first
 * decision for a pair is logged; printk() may be called in any context, and
 * the hooked function calls it itself. It is called outside the lock, because
 * a console may be slow.
 */
void tp2_pairs_record(const struct tp2_address *provider,
		      const struct tp2_address *client, int kernel_answer,
		      int answer, enum tp2_rule rule)
{
	struct pair_entry *entry;
	unsigned long flags;
	bool first = false;

	raw_spin_lock_irqsave(&table_lock, flags);
	entry = get_entry(provider, client);
	if (entry) {
		first = !entry->calls++;
		entry->kernel_answer = kernel_answer;
		entry->answer = answer;
		entry->rule = rule;
	} else {
		beyond++;
	}
	raw_spin_unlock_irqrestore(&table_lock, flags);

	if (first)
		pr_info("provider %s client %s: kernel answers %d, answer %d, rule %s\n",
			print_address(provider).text,
			print_address(client).text,
			kernel_answer, answer, rule_tokens[rule]);
}

/* An entry is copied under the lock and printed without it. */
static bool copy_entry(unsigned int i, struct pair_entry *copy)
{
	unsigned long flags;
	bool used;

	raw_spin_lock_irqsave(&table_lock, flags);
	used = i < nr_entries;
	if (used)
		*copy = table[i];
	raw_spin_unlock_irqrestore(&table_lock, flags);
	return used;
}

static u64 calls_beyond(void)
{
	unsigned long flags;
	u64 calls;

	raw_spin_lock_irqsave(&table_lock, flags);
	calls = beyond;
	raw_spin_unlock_irqrestore(&table_lock, flags);
	return calls;
}

static int pairs_show(struct seq_file *m, void *unused)
{
	struct pair_entry entry;
	unsigned int i;
	u64 calls;

	seq_puts(m, "provider client calls kernel_answer answer rule\n");
	for (i = 0; copy_entry(i, &entry); i++)
		seq_printf(m, "%s %s %llu %d %d %s\n",
			   print_address(&entry.provider).text,
			   print_address(&entry.client).text, entry.calls,
			   entry.kernel_answer, entry.answer,
			   rule_tokens[entry.rule]);
	calls = calls_beyond();
	if (calls)
		seq_printf(m, "# %llu calls of pairs beyond the table\n", calls);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(pairs);

/**
 * tp2_pairs_init - show the table in debugfs
 *
 * Without debugfs the table is still kept; only nobody can read it.
 *
 * The load must not fail after this: it frees the module even while somebody
 * has the file open.
 */
void tp2_pairs_init(void)
{
	debugfs_dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("pairs", 0400, debugfs_dir, NULL, &pairs_fops);
}

/**
 * tp2_pairs_exit - remove the debugfs file
 */
void tp2_pairs_exit(void)
{
	debugfs_remove(debugfs_dir);
}
