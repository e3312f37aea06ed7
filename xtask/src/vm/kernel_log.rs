// SPDX-License-Identifier: GPL-2.0-only
//! Finds what a kernel must not print.

/// What starts a kernel warning, oops, lockup or leak report.
const SPLATS: &[&str] = &[
    "WARNING: ",
    "BUG: ",
    "Oops: ",
    "Kernel panic",
    "Call Trace:",
    "general protection fault",
    "refcount_t: ",
    "INFO: task ",
    "rcu: INFO: ",
    "UBSAN: ",
    "KASAN: ",
    "new suspected memory leaks",
    "turning off the locking correctness validator",
    "possible recursive locking",
    "scheduling while atomic",
    "sleeping function called",
    "double fault",
    "unable to handle",
];

/// The lines of a kernel log that tell of a fault in the kernel.
pub(crate) fn splats(log: &str) -> Vec<&str> {
    log.lines().filter(|line| SPLATS.iter().any(|splat| line.contains(splat))).map(str::trim).collect()
}

#[cfg(test)]
mod tests {
    use super::splats;

    #[test]
    fn a_warning_is_found_and_ordinary_lines_are_not() {
        let log = "[    1.0] pci 0000:00:01.0: BAR 0\n\
                   [    2.0] WARNING: CPU: 0 PID: 1 at drivers/pci/p2pdma.c:1\n\
                   [    2.1] tp2_p2pdma: loading out-of-tree module taints kernel.\n\
                   [    2.2] Oops: general protection fault\n";
        assert_eq!(splats(log).len(), 2);
    }
}
