// SPDX-License-Identifier: GPL-2.0-only
//! `cargo xtask images`: initramfs images made by initramfs-tools and dracut in a guest, as `tp2-verify` reads them and as
//! their makers list them. mkinitcpio is not among Debian's packages: its images are imitated in the tests of tp2-verify.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::guest::System;
use crate::guest::kernels;
use crate::{deb, progress};

const SCRIPT: &str = include_str!("guest/images.sh");

/// Images: name, maker, and whether the override is in it.
const IMAGES: [(&str, &str, bool); 3] = [
    ("initramfs-tools", "initramfs-tools", true),
    ("dracut", "dracut", true),
    ("dracut-without-override", "dracut", false),
];

/// What `tp2-verify` says of an image, and the name of the file that it looks for.
const CONTENTS: [(&str, &str); 3] = [
    ("has_amdgpu", "/amdgpu.ko"),
    ("has_override", "/tp2_p2pdma.ko"),
    ("has_modprobe_conf", "modprobe.d/tp2_p2pdma.conf"),
];

/// Makes the images and compares; every difference is reported.
pub(crate) fn run() -> Result<()> {
    let debs = deb::build()?;
    let system = System::build(&kernels::choose()?.newest, &debs)?;
    let layer =
        progress::step("initramfs images by initramfs-tools and dracut", || system.after("guest-images", SCRIPT))?;
    let mut wrong = 0;
    for (name, maker, has_override) in IMAGES {
        let found: Value = serde_json::from_str(&layer.text(&format!("{name}.json"))?)
            .with_context(|| format!("what tp2-verify says of the image of {name} is no JSON"))?;
        let problems = differences(&found, &layer.text(&format!("{name}.files"))?, maker, has_override);
        let segments = &found["segments"];
        println!("{} {name}: segments {segments}", if problems.is_empty() { "ok  " } else { "FAIL" });
        for problem in &problems {
            println!("       {problem}");
        }
        wrong += problems.len();
    }
    if wrong > 0 {
        bail!("{wrong} thing(s) about images are not as they have to be");
    }
    Ok(())
}

/// Where tp2-verify, the maker's own list, and what was asked of the maker do not agree.
fn differences(found: &Value, files: &str, maker: &str, has_override: bool) -> Vec<String> {
    let mut problems = Vec::new();
    if found["maker"] != maker {
        problems.push(format!("tp2-verify takes it for one of {}, not of {maker}", found["maker"]));
    }
    for (field, file) in CONTENTS {
        let listed = files.lines().any(|line| line.contains(file));
        if found[field] != listed {
            problems.push(format!("tp2-verify says {field} {}, and its maker lists {file}: {listed}", found[field]));
        }
    }
    if found["has_override"] != has_override || found["has_amdgpu"] != true {
        problems.push(format!("it was made with amdgpu, the override being in it: {has_override}; found: {found}"));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::differences;
    use serde_json::json;

    const FILES: &str = "usr/lib/modules/7.3.4/kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko.xz
usr/lib/modules/7.3.4/updates/dkms/tp2_p2pdma.ko.xz
usr/lib/modprobe.d/tp2_p2pdma.conf";

    #[test]
    fn every_difference_counts() {
        let good = json!({"maker": "dracut", "has_amdgpu": true, "has_override": true, "has_modprobe_conf": true});
        assert_eq!(differences(&good, FILES, "dracut", true), Vec::<String>::new());
        assert_eq!(differences(&good, FILES, "initramfs-tools", true).len(), 1);
        assert_eq!(differences(&good, FILES, "dracut", false).len(), 1);
        assert_eq!(differences(&good, "", "dracut", true).len(), 3);
        let none = json!({});
        assert_eq!(differences(&none, FILES, "dracut", true).len(), 5);
    }
}
