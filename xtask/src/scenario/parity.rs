// SPDX-License-Identifier: GPL-2.0-only
//! Nobody may be able to tell the implementations apart: what each showed in the same guest is compared, word for word.

/// What an implementation showed during a scenario, in order.
#[derive(Debug, Default)]
pub(super) struct Trace {
    entries: Vec<(String, String)>,
}

impl Trace {
    /// Notes what the implementation showed when it was asked for `what`.
    pub(super) fn note(&mut self, what: impl Into<String>, shown: impl Into<String>) {
        self.entries.push((what.into(), shown.into()));
    }

    /// The first difference of each kind of entry, in words; empty when there is none.
    pub(super) fn differences(&self, other: &Self) -> Vec<String> {
        let mut found = Vec::new();
        for ((what, one), (other_what, two)) in self.entries.iter().zip(&other.entries) {
            if what != other_what {
                found.push(format!("one was asked for {what} where the other was asked for {other_what}"));
                return found;
            }
            if one != two {
                found.push(format!("{what}: {}", first_difference(one, two)));
            }
        }
        if self.entries.len() != other.entries.len() {
            found.push(format!("{} observations of one, {} of the other", self.entries.len(), other.entries.len()));
        }
        found
    }
}

fn first_difference(one: &str, two: &str) -> String {
    let (mut left, mut right) = (one.lines(), two.lines());
    loop {
        match (left.next(), right.next()) {
            (None, None) => return "they differ in line ends".to_owned(),
            (a, b) if a != b => return format!("`{}` against `{}`", a.unwrap_or("(end)"), b.unwrap_or("(end)")),
            _ => {}
        }
    }
}

/// The module's own lines of a console log, without their times.
pub(super) fn own_log_lines(console: &str) -> String {
    let own = console.lines().filter_map(|line| line.find("tp2_p2pdma: ").map(|start| line[start..].trim_end()));
    // The kernel says this once a boot, of whichever module comes first.
    own.filter(|line| !line.contains("loading out-of-tree module") && !line.contains("module verification failed"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// What `modinfo` says of a module, without what has to differ: the file, its signature and the implementation.
pub(super) fn comparable_modinfo(text: &str) -> String {
    let differs = ["filename", "srcversion", "implementation", "implementation_reason"];
    let kept = text.lines().filter(|line| {
        let field = line.split(':').next().unwrap_or_default();
        let of_signature = field.starts_with("sig") || line.starts_with('\t');
        !of_signature && !differs.contains(&field)
    });
    let mut lines: Vec<&str> = kept.collect();
    // The order is that of the objects in the file.
    lines.sort_unstable();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(entries: &[(&str, &str)]) -> Trace {
        let mut trace = Trace::default();
        for (what, shown) in entries {
            trace.note(*what, *shown);
        }
        trace
    }

    #[test]
    fn equal_traces_have_no_differences_and_any_other_is_named() {
        let one = trace(&[("answer a->b", "8"), ("log", "x\ny")]);
        assert!(one.differences(&trace(&[("answer a->b", "8"), ("log", "x\ny")])).is_empty());
        assert_eq!(one.differences(&trace(&[("answer a->b", "8"), ("log", "x\nz")])), ["log: `y` against `z`"]);
        assert_eq!(one.differences(&trace(&[("answer a->b", "8"), ("log", "x")])), ["log: `y` against `(end)`"]);
        assert_eq!(one.differences(&trace(&[("answer a->b", "8")])).len(), 1);
        assert_eq!(one.differences(&trace(&[("log", "x\ny"), ("answer a->b", "8")])).len(), 1);
    }

    #[test]
    fn log_lines_lose_their_times_and_strangers() {
        let console = "[    1.0] pci 0000:00:01.0: BAR 0\r\n[    2.0] tp2_p2pdma: loading out-of-tree module taints kernel.\r\n\
                       [    2.1] tp2_p2pdma: version 1\r\n[    3.0] tp2_p2pdma: unloaded\r\n";
        assert_eq!(own_log_lines(console), "tp2_p2pdma: version 1\ntp2_p2pdma: unloaded");
    }

    #[test]
    fn modinfo_is_compared_but_for_file_signature_and_implementation() {
        let one = "filename:       /a.ko\nversion:        1\nimplementation: rust\nsig_id:         PKCS#7\nsignature:      00:11\n\t\t22";
        let two = "implementation: c\nversion:        1\nfilename:       /b.ko";
        assert_eq!(comparable_modinfo(one), comparable_modinfo(two));
        assert_ne!(comparable_modinfo(one), comparable_modinfo("version:        2"));
    }
}
