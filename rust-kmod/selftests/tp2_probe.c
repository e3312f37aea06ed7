// SPDX-License-Identifier: GPL-2.0-only
/*
 * TEST ONLY. Asks pci_p2pdma_distance_many() the way a GPU driver does and
 * shows the answer, under /sys/kernel/debug/tp2_probe/:
 *
 * ask		write "PROVIDER CLIENT [CLIENT...]" (dddd:bb:dd.f), read the
 *		answer. One client is asked for through the same inline
 *		pci_p2pdma_distance() as in amdgpu.
 * ask_child	the same, but each client is a temporary child device of the
 *		function, so that the kernel has to look for its parent.
 * callers	write "PROVIDER CLIENT THREADS ITERATIONS" and wait for them;
 *		0 iterations run until "stop" is written. Read gives
 *		"calls=N answers=VALUE:COUNT[,...][,other:COUNT]".
 * time		write "PROVIDER CLIENT CALLS", read the nanoseconds that the
 *		calls took, one after the other.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/pci-p2pdma.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#define MAX_CLIENTS	16
#define MAX_THREADS	1024
#define MAX_VALUES	4
#define CALLS_A_BATCH	64

static DEFINE_MUTEX(probe_mutex);
static bool asked;
static int last_answer;
static struct dentry *debugfs_dir;

/* Take the next word of a line as a PCI address; holds the function. */
static struct pci_dev *next_pci_dev(char **line)
{
	unsigned int domain, bus, slot, func;
	struct pci_dev *pdev;
	char *word = strsep(line, " ");
	char end;

	if (!word || sscanf(word, "%x:%x:%x.%x%c", &domain, &bus, &slot, &func,
			    &end) != 4)
		return ERR_PTR(-EINVAL);
	pdev = pci_get_domain_bus_and_slot(domain, bus, PCI_DEVFN(slot, func));
	return pdev ?: ERR_PTR(-ENODEV);
}

static void release_child(struct device *dev)
{
	kfree(dev);
}

/* Never added: the kernel only follows its parent. */
static struct device *make_child(struct device *parent)
{
	struct device *dev = kzalloc(sizeof(*dev), GFP_KERNEL);

	if (!dev)
		return ERR_PTR(-ENOMEM);
	device_initialize(dev);
	dev->parent = parent;
	dev->release = release_child;
	if (dev_set_name(dev, "tp2_probe_child")) {
		put_device(dev);
		return ERR_PTR(-ENOMEM);
	}
	return dev;
}

static int ask(char *line, bool child)
{
	struct device *clients[MAX_CLIENTS];
	struct pci_dev *pdevs[MAX_CLIENTS];
	struct pci_dev *provider;
	int nr = 0;
	int ret;

	provider = next_pci_dev(&line);
	if (IS_ERR(provider))
		return PTR_ERR(provider);
	do {
		ret = -E2BIG;
		if (nr == MAX_CLIENTS)
			goto put_clients;
		pdevs[nr] = next_pci_dev(&line);
		ret = PTR_ERR_OR_ZERO(pdevs[nr]);
		if (ret)
			goto put_clients;
		clients[nr] = child ? make_child(&pdevs[nr]->dev) :
				      get_device(&pdevs[nr]->dev);
		ret = PTR_ERR_OR_ZERO(clients[nr]);
		if (ret) {
			pci_dev_put(pdevs[nr]);
			goto put_clients;
		}
		nr++;
	} while (line);

	if (nr == 1)
		last_answer = pci_p2pdma_distance(provider, clients[0], true);
	else
		last_answer = pci_p2pdma_distance_many(provider, clients, nr,
						       true);
	asked = true;

put_clients:
	while (nr--) {
		put_device(clients[nr]);
		pci_dev_put(pdevs[nr]);
	}
	pci_dev_put(provider);
	return ret;
}

static int ask_show(struct seq_file *m, void *unused)
{
	int ret = 0;

	mutex_lock(&probe_mutex);
	if (asked)
		seq_printf(m, "%d\n", last_answer);
	else
		ret = -ENODATA;
	mutex_unlock(&probe_mutex);
	return ret;
}

static ssize_t write_line(const char __user *buf, size_t count,
			  int (*run)(char *line))
{
	char *line = memdup_user_nul(buf, count);
	int ret;

	if (IS_ERR(line))
		return PTR_ERR(line);
	mutex_lock(&probe_mutex);
	ret = run(strim(line));
	mutex_unlock(&probe_mutex);
	kfree(line);
	return ret ?: count;
}

static int ask_function(char *line)
{
	return ask(line, false);
}

static ssize_t ask_write(struct file *file, const char __user *buf,
			 size_t count, loff_t *pos)
{
	return write_line(buf, count, ask_function);
}
DEFINE_SHOW_STORE_ATTRIBUTE(ask);

static int ask_child_function(char *line)
{
	return ask(line, true);
}

static ssize_t ask_child_write(struct file *file, const char __user *buf,
			       size_t count, loff_t *pos)
{
	return write_line(buf, count, ask_child_function);
}

static int ask_child_show(struct seq_file *m, void *unused)
{
	return ask_show(m, unused);
}
DEFINE_SHOW_STORE_ATTRIBUTE(ask_child);

struct tally {
	u64 calls;
	u64 other;
	struct {
		int value;
		u64 count;
	} values[MAX_VALUES];
};

/* Changed under probe_mutex; tally and running also by the threads. */
static struct {
	struct pci_dev *provider;
	struct pci_dev *client;
	unsigned long iterations;
	struct task_struct **tasks;
	unsigned int nr_tasks;
	atomic_t running;
	struct completion done;
	spinlock_t lock;	/* Protects tally. */
	struct tally tally;
} run = {
	.done = COMPLETION_INITIALIZER(run.done),
	.lock = __SPIN_LOCK_UNLOCKED(run.lock),
};

static void count_answer(struct tally *tally, int value, u64 count)
{
	int i;

	tally->calls += count;
	for (i = 0; i < MAX_VALUES; i++) {
		if (tally->values[i].count && tally->values[i].value != value)
			continue;
		tally->values[i].value = value;
		tally->values[i].count += count;
		return;
	}
	tally->other += count;
}

static void flush_tally(struct tally *tally)
{
	int i;

	spin_lock(&run.lock);
	for (i = 0; i < MAX_VALUES && tally->values[i].count; i++)
		count_answer(&run.tally, tally->values[i].value,
			     tally->values[i].count);
	run.tally.calls += tally->other;
	run.tally.other += tally->other;
	spin_unlock(&run.lock);
	memset(tally, 0, sizeof(*tally));
}

static int caller_thread(void *unused)
{
	struct tally tally = { };
	unsigned long i;

	for (i = 0; !kthread_should_stop(); i++) {
		if (run.iterations && i == run.iterations)
			break;
		count_answer(&tally,
			     pci_p2pdma_distance(run.provider,
						 &run.client->dev, false), 1);
		if (i % CALLS_A_BATCH == CALLS_A_BATCH - 1) {
			flush_tally(&tally);
			/*
			 * Waking up again preempts whoever runs, most likely
			 * a caller inside the hooked function. Without an end,
			 * others have to get on as well.
			 */
			if (run.iterations)
				usleep_range(10, 50);
			else
				usleep_range(500, 1000);
		}
		cond_resched();
	}
	flush_tally(&tally);
	if (atomic_dec_and_test(&run.running))
		complete(&run.done);

	/* The task has to stay until somebody collects it. */
	set_current_state(TASK_INTERRUPTIBLE);
	while (!kthread_should_stop()) {
		schedule();
		set_current_state(TASK_INTERRUPTIBLE);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

static void stop_callers(void)
{
	while (run.nr_tasks)
		kthread_stop(run.tasks[--run.nr_tasks]);
	kfree(run.tasks);
	run.tasks = NULL;
	pci_dev_put(run.provider);
	pci_dev_put(run.client);
	run.provider = NULL;
	run.client = NULL;
}

static int start_callers(unsigned int threads)
{
	unsigned int i;

	run.tasks = kcalloc(threads, sizeof(*run.tasks), GFP_KERNEL);
	if (!run.tasks)
		return -ENOMEM;
	for (i = 0; i < threads; i++) {
		struct task_struct *task;

		task = kthread_create(caller_thread, NULL, "tp2_caller/%u", i);
		if (IS_ERR(task))
			return PTR_ERR(task);
		run.tasks[run.nr_tasks++] = task;
	}
	memset(&run.tally, 0, sizeof(run.tally));
	atomic_set(&run.running, threads);
	reinit_completion(&run.done);
	for (i = 0; i < threads; i++)
		wake_up_process(run.tasks[i]);
	return 0;
}

static int run_callers(char *line)
{
	unsigned int threads;
	char end;
	int ret;

	stop_callers();
	if (!strcmp(line, "stop"))
		return 0;

	run.provider = next_pci_dev(&line);
	ret = PTR_ERR_OR_ZERO(run.provider);
	if (ret) {
		run.provider = NULL;
		return ret;
	}
	run.client = next_pci_dev(&line);
	ret = PTR_ERR_OR_ZERO(run.client);
	if (ret) {
		run.client = NULL;
		goto stop;
	}
	ret = -EINVAL;
	if (!line || sscanf(line, "%u %lu%c", &threads, &run.iterations,
			    &end) != 2 || !threads || threads > MAX_THREADS)
		goto stop;

	ret = start_callers(threads);
	if (ret)
		goto stop;
	if (!run.iterations)
		return 0;
	ret = wait_for_completion_interruptible(&run.done);
stop:
	stop_callers();
	return ret;
}

static ssize_t callers_write(struct file *file, const char __user *buf,
			     size_t count, loff_t *pos)
{
	return write_line(buf, count, run_callers);
}

static int callers_show(struct seq_file *m, void *unused)
{
	struct tally tally;
	int i;

	spin_lock(&run.lock);
	tally = run.tally;
	spin_unlock(&run.lock);

	seq_printf(m, "calls=%llu answers=", tally.calls);
	for (i = 0; i < MAX_VALUES && tally.values[i].count; i++)
		seq_printf(m, "%s%d:%llu", i ? "," : "", tally.values[i].value,
			   tally.values[i].count);
	if (tally.other)
		seq_printf(m, ",other:%llu", tally.other);
	seq_putc(m, '\n');
	return 0;
}
DEFINE_SHOW_STORE_ATTRIBUTE(callers);

static u64 timed_ns;

static int time_calls(char *line)
{
	struct pci_dev *provider, *client;
	unsigned long calls, i;
	u64 start;
	char end;
	int ret;

	provider = next_pci_dev(&line);
	if (IS_ERR(provider))
		return PTR_ERR(provider);
	client = next_pci_dev(&line);
	ret = PTR_ERR_OR_ZERO(client);
	if (ret)
		goto put_provider;
	ret = -EINVAL;
	if (!line || sscanf(line, "%lu%c", &calls, &end) != 1)
		goto put_client;

	start = ktime_get_ns();
	for (i = 0; i < calls; i++)
		pci_p2pdma_distance(provider, &client->dev, false);
	timed_ns = ktime_get_ns() - start;
	ret = 0;
put_client:
	pci_dev_put(client);
put_provider:
	pci_dev_put(provider);
	return ret;
}

static ssize_t time_write(struct file *file, const char __user *buf,
			  size_t count, loff_t *pos)
{
	return write_line(buf, count, time_calls);
}

static int time_show(struct seq_file *m, void *unused)
{
	mutex_lock(&probe_mutex);
	seq_printf(m, "%llu\n", timed_ns);
	mutex_unlock(&probe_mutex);
	return 0;
}
DEFINE_SHOW_STORE_ATTRIBUTE(time);

static int __init tp2_probe_init(void)
{
	debugfs_dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	if (IS_ERR(debugfs_dir))
		return PTR_ERR(debugfs_dir);
	debugfs_create_file("ask", 0600, debugfs_dir, NULL, &ask_fops);
	debugfs_create_file("ask_child", 0600, debugfs_dir, NULL,
			    &ask_child_fops);
	debugfs_create_file("callers", 0600, debugfs_dir, NULL, &callers_fops);
	debugfs_create_file("time", 0600, debugfs_dir, NULL, &time_fops);
	pr_info("test-only module, not part of any package\n");
	return 0;
}

/* The files go first: nobody can start callers after that. */
static void __exit tp2_probe_exit(void)
{
	debugfs_remove(debugfs_dir);
	stop_callers();
}

module_init(tp2_probe_init);
module_exit(tp2_probe_exit);
MODULE_DESCRIPTION("TEST ONLY: ask for the PCIe peer-to-peer distance");
MODULE_LICENSE("GPL");
