// SPDX-License-Identifier: GPL-2.0-only
//! What single scenarios do besides asking for every pair.

use anyhow::{Context, Result};

use super::guest::Guest;

const PROBE: &str = "/sys/kernel/debug/tp2_probe";
const MODE: &str = "/sys/module/tp2_p2pdma/parameters/mode";
/// Kernel memory that cycles may leave in use, in KiB: caches settle, while one lost page a cycle would be 4 MiB.
const SETTLING_KIB: i64 = 2048;

pub(super) fn client_is_child(guest: &mut Guest) -> Result<()> {
    let answer = guest.get(&format!("cd {PROBE} && echo {{a}} {{b}} >ask_child && cat ask_child"))?;
    guest.same("answer for a child device of b", answer.as_str(), "8");
    Ok(())
}

pub(super) fn many_clients(guest: &mut Guest) -> Result<()> {
    let before = guest.counter("calls")?;
    let answer = guest.get(&format!("cd {PROBE} && echo {{a}} {{b}} {{b}} >ask && cat ask"))?;
    guest.same("answer for two clients in one call", answer.as_str(), "-1");
    let after = guest.counter("calls")?;
    guest.same("calls counted", &(after - before), &1);
    let rows = guest.pair_table()?.len();
    guest.same("lines of the pair table", &rows, &2);
    Ok(())
}

pub(super) fn mode_switch(guest: &mut Guest) -> Result<()> {
    for (mode, answer) in [("observe", -1), ("force", 8), ("off", -1), ("force", 8)] {
        guest.get(&format!("echo {mode} >{MODE}"))?;
        let shown = guest.get(&format!("cat {MODE}"))?;
        guest.same("mode as shown", shown.as_str(), mode);
        let found = guest.ask("a", "b")?;
        guest.same(&format!("answer in mode {mode}"), &found, &answer);
    }
    let refused = guest.run(&format!("echo forced >{MODE}"))?;
    guest.check("a wrong mode is refused at run time", refused.status != 0);
    let shown = guest.get(&format!("cat {MODE}"))?;
    guest.same("mode after a refused write", shown.as_str(), "force");
    let log = guest.get("dmesg")?;
    guest.check("the log names the refused mode", log.lines().any(|l| l.contains("mode") && l.contains("forced")));
    let writable = guest.get(
        "cd /sys/module/tp2_p2pdma/parameters && for p in *; do [ \"$(stat -c %a $p)\" = 444 ] || echo $p; done",
    )?;
    guest.same("writable parameters", writable.as_str(), "mode");
    Ok(())
}

/// Parameter and a value that it must refuse.
const BAD_PARAMETERS: &[(&str, &str)] = &[
    ("mode", "forced"),
    ("mode", ""),
    ("vendors", ""),
    ("vendors", "10de,"),
    ("vendors", "1002;8086"),
    ("vendors", "12345"),
    ("vendors", "xyz1"),
    ("vendors", "0000"),
    ("vendors", "ffff"),
    ("pairs", "0000:05:00.0"),
    ("pairs", "0000:05:00.0+0000:05:00.0"),
    ("pairs", "05:00.0+08:00.0"),
    ("pairs", "0000:05:20.0+0000:08:00.0"),
    ("pairs", "0000:05:00.8+0000:08:00.0"),
    ("pairs", "0000:05:00.0+0000:08:00.0,"),
    ("pairs", "0000:05:00.0+0000:08:00.0x"),
    ("pairs", "0000:05:00.0-0000:08:00.0"),
    ("cross_host_bridge", "2"),
    ("cross_host_bridge", "maybe"),
    ("allow_denied", "-1"),
    ("allow_denied", ""),
    ("deny", "8086"),
    ("deny", "8086:29c0,"),
    ("deny", "8086-29c0"),
    ("deny", "80860:29c0"),
    ("maxactive", "0"),
    ("maxactive", "-5"),
    ("maxactive", "4097"),
    ("maxactive", "many"),
    ("maxactive", ""),
];

pub(super) fn bad_parameters(guest: &mut Guest) -> Result<()> {
    let too_many_vendors = ["1002"; 17].join(",");
    let too_many_pairs = ["0000:05:00.0+0000:08:00.0"; 65].join(",");
    let too_many_bridges = ["8086:29c0"; 33].join(",");
    let too_many = [("vendors", too_many_vendors.as_str()), ("pairs", &too_many_pairs), ("deny", &too_many_bridges)];
    for (name, value) in BAD_PARAMETERS.iter().chain(&too_many) {
        let shown: String = value.chars().take(40).collect();
        let what = format!("{name}='{shown}'");
        guest.get("dmesg -c >/dev/null")?;
        let load = guest.try_load(&format!("{name}={value}"))?;
        if load.status == 0 {
            guest.problem(format!("{what}: the module loaded"));
            guest.unload()?;
            continue;
        }
        guest.check(
            &format!("{what}: refused with EINVAL (said: {})", load.text.trim()),
            load.text.to_lowercase().contains("invalid"),
        );
        let log = guest.get("dmesg")?;
        // The value may be shortened in the log; its beginning has to be there.
        let begin: String = value.chars().take(10).collect();
        let lines = log
            .lines()
            .filter(|l| l.contains("tp2_p2pdma:") && l.contains(name) && l.contains(&begin) && l.contains("accepted"))
            .count();
        guest.same(&format!("{what}: log lines that name parameter, value and what is accepted"), &lines, &1);
    }
    Ok(())
}

pub(super) fn unload_restores(guest: &mut Guest) -> Result<()> {
    guest.unload()?;
    let without = guest.ask("a", "b")?;
    guest.same("answer after unload", &without, &-1);
    let left = guest.run("ls -d /sys/module/tp2_p2pdma /sys/kernel/debug/tp2_p2pdma")?;
    guest.check("neither state nor table is left after unload", left.status != 0);
    guest.load("")?;
    let with = guest.ask("a", "b")?;
    guest.same("answer after loading again", &with, &8);
    Ok(())
}

pub(super) fn gpu_driver_first(guest: &mut Guest) -> Result<()> {
    guest.get("/usr/bin/insmod /opt/tp2/tp2_kfdsim.ko devices={a},{b}").map(drop)
}

pub(super) fn links_are_missing(guest: &mut Guest) -> Result<()> {
    let bound = guest.state("gpu_driver_was_bound")?;
    guest.same("gpu_driver_was_bound", bound.as_str(), "1");
    let links = guest.get("ls -d /sys/class/kfd/kfd/topology/nodes/*/p2p_links/* 2>/dev/null | wc -l")?;
    guest.same("p2p_links of the simulated KFD", links.as_str(), "0");
    let report = guest.verify()?;
    // An amdgpu without HSA_AMD_P2P, as Debian's, could make no links at all, which is the first thing to say.
    let could = guest.run("modinfo -F parm amdgpu 2>/dev/null | grep -q '^pcie_p2p:'")?.status == 0;
    guest.gate(&report, "pair.kfd-link", if could { "fail" } else { "skip" });
    let verdict = report["pairs"][0]["verdict"].as_str().unwrap_or_default().to_owned();
    guest.check(
        &format!("the verdict `{verdict}` is no success"),
        !matches!(verdict.as_str(), "ready" | "verified" | "module-will-help"),
    );
    guest.get("/usr/bin/rmmod tp2_kfdsim").map(drop)
}

pub(super) fn links_appear(guest: &mut Guest) -> Result<()> {
    let bound = guest.state("gpu_driver_was_bound")?;
    guest.same("gpu_driver_was_bound", bound.as_str(), "0");
    guest.get("/usr/bin/insmod /opt/tp2/tp2_kfdsim.ko devices={a},{b}")?;
    let links = guest.get("ls -d /sys/class/kfd/kfd/topology/nodes/*/p2p_links/* | wc -l")?;
    guest.same("p2p_links of the simulated KFD", links.as_str(), "2");
    let report = guest.verify()?;
    guest.gate(&report, "gpu.kfd", "pass");
    guest.gate(&report, "pair.kfd-link", "pass");
    guest.get("/usr/bin/rmmod tp2_kfdsim").map(drop)
}

pub(super) fn ftrace_disabled(guest: &mut Guest) -> Result<()> {
    const SYSCTL: &str = "/proc/sys/kernel/ftrace_enabled";
    not_acting_while(guest, SYSCTL)?;
    guest.unload()?;

    guest.get(&format!("echo 0 >{SYSCTL}"))?;
    guest.load("")?;
    let answer = guest.ask("a", "b")?;
    guest.same("answer when loaded under disabled ftrace", &answer, &-1);
    let self_test = guest.state("self_test")?;
    guest.check("self_test fails when loaded under disabled ftrace", self_test.starts_with("fail: "));
    guest.get(&format!("echo 1 >{SYSCTL}"))?;
    let self_test = guest.state("self_test")?;
    guest.same("self_test once ftrace is enabled", self_test.as_str(), "pass");
    Ok(())
}

pub(super) fn kprobes_disarmed(guest: &mut Guest) -> Result<()> {
    not_acting_while(guest, "/sys/kernel/debug/kprobes/enabled")
}

/// With `0` in the switch the module must be shown as not acting; with `1` it acts again.
fn not_acting_while(guest: &mut Guest, switch: &str) -> Result<()> {
    guest.get(&format!("echo 0 >{switch}"))?;
    let answer = guest.ask("a", "b")?;
    guest.same("answer while disarmed", &answer, &-1);
    let self_test = guest.state("self_test")?;
    guest.check(
        &format!("self_test says fail and why (said: {self_test})"),
        self_test.starts_with("fail: ") && self_test.contains("ftrace_enabled"),
    );
    let report = guest.verify()?;
    guest.gate(&report, "module.effective", "fail");
    guest.get(&format!("echo 1 >{switch}"))?;
    let answer = guest.ask("a", "b")?;
    guest.same("answer when armed again", &answer, &8);
    Ok(())
}

pub(super) fn concurrent_callers(guest: &mut Guest) -> Result<()> {
    let before = guest.counter("calls")?;
    guest.get(&format!("echo {{a}} {{b}} 64 10000 >{PROBE}/callers"))?;
    let result = guest.get(&format!("cat {PROBE}/callers"))?;
    guest.same("answers of 64 callers", result.as_str(), "calls=640000 answers=8:640000");
    let calls = guest.counter("calls")? - before;
    guest.same("calls the module saw", &calls, &640_000);
    let missed = guest.counter("missed")?;
    guest.same("missed", &missed, &0);
    Ok(())
}

pub(super) fn load_unload_cycles(guest: &mut Guest) -> Result<()> {
    guest.get(&format!("echo {{a}} {{b}} 2 0 >{PROBE}/callers"))?;
    // The first cycles fill caches that stay.
    cycle(guest, 100)?;
    let before = guest.kernel_memory_kib()?;
    for _ in 0..9 {
        cycle(guest, 100)?;
    }
    guest.get(&format!("echo stop >{PROBE}/callers"))?;
    // The callers' first call comes before or after the module's last word at load.
    guest.note_distinct_log_lines();
    let grown = guest.kernel_memory_kib()? - before;
    // A kernel that looks for leaks itself has KASAN, too, which keeps what was freed: up to a 32nd of all memory
    // (mm/kasan/quarantine.c, Linux 7.3).
    if !guest.looks_for_leaks()? {
        guest.check(
            &format!("kernel memory grew by {grown} KiB over 900 cycles, at most {SETTLING_KIB} KiB are settling"),
            grown <= SETTLING_KIB,
        );
    }

    let result = guest.get(&format!("cat {PROBE}/callers"))?;
    let answers = result.rsplit("answers=").next().unwrap_or_default().to_owned();
    let mut seen: Vec<&str> = answers.split(',').filter_map(|a| a.split(':').next()).collect();
    seen.sort_unstable();
    guest.same("distinct answers while loading and unloading", seen.join(" ").as_str(), "-1 8");
    Ok(())
}

/// Loads and unloads the module so many times; the small file and busybox's static tools make that bearable.
fn cycle(guest: &mut Guest, times: u32) -> Result<()> {
    let once = "busybox insmod /opt/tp2/current/tp2_p2pdma-stripped.ko && busybox rmmod tp2_p2pdma || exit 1";
    let cycles = guest.run(&format!("i=0; while [ $i -lt {times} ]; do {once}; i=$((i+1)); done"))?;
    guest.same(&format!("status of {times} load/unload cycles ({})", cycles.text.trim()), &cycles.status, &0);
    Ok(())
}

/// Copies what tp2-verify reads; sysfs files lie about their size, so they are read to their end.
const CAPTURE: &str = r#"
rm -rf /run/capture; mkdir -p /run/capture; cd /
for path in $(find /proc/cpuinfo /proc/cmdline /proc/version /proc/modules /proc/sys/kernel/osrelease /proc/sys/kernel/ftrace_enabled \
		/boot /etc/modprobe.d /usr/lib/modprobe.d /lib/modules /var/lib/dkms /sys/bus/pci/devices /sys/devices/pci* /sys/module/tp2_p2pdma \
		/sys/kernel/iommu_groups /sys/kernel/security/lockdown /sys/module/module/parameters /sys/class/drm \
		/sys/class/kfd /sys/class/dmi /sys/devices/virtual/dmi /sys/kernel/debug/tp2_p2pdma \( -type f -o -type l \) 2>/dev/null); do
	mkdir -p "/run/capture${path%/*}"
	if [ -L "$path" ]; then cp -d "$path" "/run/capture$path"; else cat "$path" >"/run/capture$path" 2>/dev/null || rm -f "/run/capture$path"; fi
done"#;

pub(super) fn captured_tree(guest: &mut Guest) -> Result<()> {
    guest.get(CAPTURE)?;
    let live = guest.verify()?;
    let answer = guest.run("tp2-verify --root /run/capture --json 2>/run/tp2-verify.err")?;
    let captured: serde_json::Value =
        serde_json::from_str(&answer.text).context("tp2-verify --root --json printed no JSON")?;
    for part in ["verdict", "pairs"] {
        guest.same(
            &format!("{part} of the captured tree"),
            captured[part].to_string().as_str(),
            live[part].to_string().as_str(),
        );
    }
    guest.same(
        "findings of the captured tree",
        findings(&captured, ONLY_LIVE).as_str(),
        findings(&live, ONLY_LIVE).as_str(),
    );
    Ok(())
}

/// Gates that ask the running machine what no file tells.
const ONLY_LIVE: &[&str] = &["env.access", "pair.runtime"];

/// Gate, scope and status of every finding of a report, but for these gates.
fn findings(report: &serde_json::Value, without: &[&str]) -> String {
    let all = report["findings"].as_array().into_iter().flatten();
    all.filter(|f| !without.iter().any(|gate| f["gate"] == *gate))
        .map(|f| format!("{} {} {}", f["gate"], f["scope"], f["status"]))
        .collect::<Vec<_>>()
        .join("; ")
}

pub(super) fn report_replays(guest: &mut Guest) -> Result<()> {
    let live = guest.verify()?;
    guest.get("cd /run && tp2-verify report --force -o report.tar.gz >report.md 2>/run/tp2-verify.err")?;
    let answer = guest.run("tp2-verify replay /run/report.tar.gz --json 2>/run/tp2-verify.err")?;
    let replayed: serde_json::Value =
        serde_json::from_str(&answer.text).context("tp2-verify replay --json printed no JSON")?;
    for part in ["verdict", "pairs"] {
        guest.same(
            &format!("{part} of the replayed report"),
            replayed[part].to_string().as_str(),
            live[part].to_string().as_str(),
        );
    }
    guest.same("findings of the replayed report", findings(&replayed, &[]).as_str(), findings(&live, &[]).as_str());
    Ok(())
}
