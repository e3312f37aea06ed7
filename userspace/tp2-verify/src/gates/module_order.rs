// SPDX-License-Identifier: GPL-2.0-only

//! `module.order`: whether anything makes the override come before amdgpu: a line `softdep amdgpu pre: tp2_p2pdma` in
//! modprobe's configuration, and the same two things in the initial RAM file system if amdgpu is in it. A softdep that
//! cannot be met is silent (modprobe.d(5)), and DKMS never rebuilds an initial RAM file system.

use super::commands::{rebuild_initramfs, write_as_root};
use crate::{
    facts::{Facts, Initramfs},
    finding::{Bearing, Finding, Remedy, Scope, Status},
    route::{OverrideUse, override_use},
    text,
    text::Text,
};

pub(super) const ID: &str = "module.order";
const LINE: &str = "softdep amdgpu pre: tp2_p2pdma";

pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let module = &facts.module;
    let finding = |status, summary: Text| Finding::new(ID, Scope::Host, status, summary);
    if facts.amdgpu.builtin == Ok(true) {
        return vec![finding(Status::Skip, text!("module-order-builtin"))];
    }
    if !facts.host.container_marks.is_empty() {
        return vec![finding(Status::Na, text!("module-order-container"))];
    }
    if let Some(error) = module.unseen().filter(|error| !error.is_absent() && module.file.is_err()) {
        return vec![Finding::unreadable(ID, Scope::Host, text!("module-loaded-what"), error)];
    }
    if !module.is_loaded() && module.file.is_err() {
        return vec![finding(Status::Na, text!("module-order-nothing"))];
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
        let path = format!("/{}", line.path);
        finding(Status::Warn, text!("module-order-blocked"))
            .evidence(path.clone(), line.line.clone())
            .remedy(rebuild_initramfs(facts, text!("module-order-blocked-remedy", path = path)))
    }));
    findings
}

/// Whether the module was seen to have come first on this boot.
fn came_first(facts: &Facts) -> bool {
    let bound = facts.module.state.get("gpu_driver_was_bound");
    facts.module.is_loaded() && matches!(bound, Some(Ok(text)) if text == "0")
}

/// A failure, or a warning where this boot went well all the same.
fn bad(facts: &Facts, summary: Text) -> Finding {
    if came_first(facts) {
        let summary = text!("module-order-came-first", finding = summary);
        return Finding::new(ID, Scope::Host, Status::Warn, summary);
    }
    if matches!(override_use(facts), OverrideUse::NotNeeded | OverrideUse::NoHelp) {
        let summary = text!("module-order-not-needed", finding = summary);
        return Finding::new(ID, Scope::Host, Status::Warn, summary);
    }
    Finding::new(ID, Scope::Host, Status::Fail, summary).bearing(Bearing::ModuleInert)
}

fn softdep(facts: &Facts) -> Finding {
    let order = &facts.order;
    if let Some(line) = order.softdeps.iter().find(|line| asks_for_override(&line.line)) {
        let image = match &facts.initramfs {
            Ok(image) => text!(
                "module-order-image-modules",
                amdgpu = presence(image.has_amdgpu),
                module = presence(image.has_override)
            ),
            Err(error) => text!("module-order-image-not-read", error = error),
        };
        return Finding::new(ID, Scope::Host, Status::Pass, text!("module-order-softdep"))
            .evidence(format!("/{}", line.path), line.line.clone())
            .evidence(text!("module-order-image"), image);
    }
    if let Some(error) = order.unreadable.first() {
        return Finding::unreadable(ID, Scope::Host, text!("module-order-what"), error);
    }
    if order.searched.is_empty() && !facts.host.live {
        let error = crate::facts::ReadError::absent("usr/lib/modprobe.d");
        return Finding::unreadable(ID, Scope::Host, text!("module-order-what"), &error);
    }
    let searched = order.searched.iter().map(|path| Text::from(format!("/{path}"))).collect();
    bad(facts, text!("module-order-no-softdep"))
        .evidence(Text::List(searched, "comma"), text!("module-order-no-line", line = LINE.to_owned()))
        .remedy(rebuild_initramfs(
            facts,
            Remedy::from(text!("module-order-no-softdep-remedy"))
                .command(write_as_root(&format!("'{LINE}'"), "/etc/modprobe.d/tp2_p2pdma.conf"), &[]),
        ))
}

/// `softdep amdgpu pre: a b post: c`: whether the override is among those before.
fn asks_for_override(line: &str) -> bool {
    let words = line.split(' ').skip(2).skip_while(|word| *word != "pre:").skip(1);
    words.take_while(|word| *word != "post:").any(|word| word.replace('-', "_") == "tp2_p2pdma")
}

fn presence(is_there: bool) -> Text {
    if is_there { text!("module-order-in-image") } else { text!("module-order-not-in-image") }
}

/// An image with amdgpu starts it before the root file system is there.
fn initramfs(facts: &Facts, image: &Initramfs) -> Option<Finding> {
    if !image.has_amdgpu || (image.has_override && image.has_modprobe_conf) {
        return None;
    }
    let summary =
        if image.has_override { text!("module-order-image-no-line") } else { text!("module-order-image-no-module") };
    let remedy = if image.maker.as_deref() == Some("mkinitcpio") {
        let add = write_as_root("'MODULES+=(tp2_p2pdma)'", "/etc/mkinitcpio.conf.d/tp2_p2pdma.conf");
        Remedy::from(text!("module-order-image-remedy-mkinitcpio")).command(add, &[])
    } else {
        text!("module-order-image-remedy").into()
    };
    let value = text!(
        "module-order-image-all",
        amdgpu = presence(image.has_amdgpu),
        module = presence(image.has_override),
        configuration = presence(image.has_modprobe_conf)
    );
    Some(bad(facts, summary).evidence(format!("/{}", image.path), value).remedy(rebuild_initramfs(facts, remedy)))
}
