// SPDX-License-Identifier: GPL-2.0-only

//! `module.order`: whether anything makes the override come before amdgpu: a line `softdep amdgpu pre: tp2_p2pdma` in
//! modprobe's configuration, and the same two things in the initial RAM file system if amdgpu is in it. A softdep that
//! cannot be met is silent (modprobe.d(5)), and DKMS never rebuilds an initial RAM file system.

use crate::{
    facts::{Facts, Initramfs},
    finding::{Bearing, Finding, Scope, Status},
    route::{OverrideUse, override_use},
};

pub(super) const ID: &str = "module.order";
const LINE: &str = "softdep amdgpu pre: tp2_p2pdma";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let module = &facts.module;
    let finding = |status, summary: &str| Finding::new(ID, Scope::Host, status, summary);
    if facts.amdgpu.builtin == Ok(true) {
        return vec![finding(Status::Skip, "amdgpu is built in, so no module comes before it; see amdgpu.origin")];
    }
    if !facts.host.container_marks.is_empty() {
        return vec![finding(Status::Na, "modprobe's configuration is the host's, and this container does not see it")];
    }
    if !module.loaded && module.file.is_err() {
        return vec![finding(Status::Na, "there is no tp2_p2pdma that could come first")];
    }
    let softdep = softdep(facts);
    let image = facts.initramfs.as_ref().ok().and_then(|image| initramfs(facts, image));
    let mut findings: Vec<Finding> = match image {
        // Without the line the image cannot have it either.
        Some(image) if softdep.status == Status::Pass => vec![image],
        Some(image) => vec![softdep, image],
        None => vec![softdep],
    };
    findings.extend(facts.order.blocked.iter().map(|line| {
        let summary = "a line of modprobe's configuration keeps tp2_p2pdma out, or may";
        finding(Status::Warn, summary)
            .evidence(format!("/{}", line.path), line.line.clone())
            .remedy(format!("remove that line from /{} and rebuild the initramfs", line.path))
    }));
    findings
}

/// Whether the module was seen to have come first on this boot.
fn came_first(facts: &Facts) -> bool {
    let bound = facts.module.state.get("gpu_driver_was_bound");
    facts.module.loaded && matches!(bound, Some(Ok(text)) if text == "0")
}

/// A failure, or a warning where this boot went well all the same.
fn bad(facts: &Facts, summary: &str) -> Finding {
    if came_first(facts) {
        let summary = format!("{summary}; on this boot it came first all the same");
        return Finding::new(ID, Scope::Host, Status::Warn, summary);
    }
    if matches!(override_use(facts), OverrideUse::NotNeeded | OverrideUse::NoHelp) {
        let summary = format!("{summary}; no pair here is one that it would override");
        return Finding::new(ID, Scope::Host, Status::Warn, summary);
    }
    Finding::new(ID, Scope::Host, Status::Fail, summary).bearing(Bearing::ModuleInert)
}

fn softdep(facts: &Facts) -> Finding {
    let order = &facts.order;
    if let Some(line) = order.softdeps.iter().find(|line| asks_for_override(&line.line)) {
        let image = match &facts.initramfs {
            Ok(image) => format!("amdgpu {}, tp2_p2pdma {}", word(image.has_amdgpu), word(image.has_override)),
            Err(error) => format!("not read ({error})"),
        };
        return Finding::new(ID, Scope::Host, Status::Pass, "modprobe loads tp2_p2pdma before amdgpu")
            .evidence(format!("/{}", line.path), line.line.clone())
            .evidence("initial RAM file system", image);
    }
    if let Some(error) = order.unreadable.first() {
        return Finding::unreadable(ID, Scope::Host, "modprobe's configuration", error);
    }
    if order.searched.is_empty() && !facts.host.live {
        let error = crate::facts::ReadError::absent("usr/lib/modprobe.d");
        return Finding::unreadable(ID, Scope::Host, "modprobe's configuration", &error);
    }
    let searched: Vec<String> = order.searched.iter().map(|path| format!("/{path}")).collect();
    bad(facts, "nothing makes tp2_p2pdma come before amdgpu: no softdep names it")
        .evidence(searched.join(", "), format!("no line {LINE:?}"))
        .remedy(format!(
            "echo '{LINE}' > /etc/modprobe.d/tp2_p2pdma.conf as root, rebuild the initramfs and reboot (the package does both)"
        ))
}

/// `softdep amdgpu pre: a b post: c`: whether the override is among those before.
fn asks_for_override(line: &str) -> bool {
    let words = line.split(' ').skip(2).skip_while(|word| *word != "pre:").skip(1);
    words.take_while(|word| *word != "post:").any(|word| word.replace('-', "_") == "tp2_p2pdma")
}

fn word(is_there: bool) -> &'static str {
    if is_there { "is in it" } else { "is not in it" }
}

/// An image with amdgpu starts it before the root file system is there.
fn initramfs(facts: &Facts, image: &Initramfs) -> Option<Finding> {
    if !image.has_amdgpu || (image.has_override && image.has_modprobe_conf) {
        return None;
    }
    let summary = if image.has_override {
        "the initial RAM file system has amdgpu and tp2_p2pdma, but not the line that orders them"
    } else {
        "the initial RAM file system has amdgpu, but not tp2_p2pdma, so amdgpu starts without it"
    };
    let release = facts.kernel.release.as_deref().unwrap_or("KERNEL");
    let rebuild = match image.maker.as_deref().unwrap_or_default() {
        "initramfs-tools" => format!("update-initramfs -u -k {release}"),
        "dracut" => format!("dracut --force --kver {release}"),
        "mkinitcpio" => {
            "add MODULES+=(tp2_p2pdma) to a file in /etc/mkinitcpio.conf.d (mkinitcpio does not follow softdeps), then mkinitcpio -P"
                .to_owned()
        }
        _ => "rebuild the initial RAM file system".to_owned(),
    };
    let value = format!(
        "amdgpu {}, tp2_p2pdma {}, modprobe configuration {}",
        word(image.has_amdgpu),
        word(image.has_override),
        word(image.has_modprobe_conf)
    );
    let finding = bad(facts, summary).evidence(format!("/{}", image.path), value);
    Some(finding.remedy(format!("{rebuild} as root, then reboot")))
}
