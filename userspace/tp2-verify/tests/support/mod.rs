// SPDX-License-Identifier: GPL-2.0-only

//! Builds small trees that look like a machine, and runs the tool on them. Everything in them is made up (simulated).

#![allow(dead_code, reason = "each test binary uses a part")]
#![allow(clippy::unwrap_used, reason = "a fixture that cannot be written ends the test")]

pub(crate) mod device;
pub(crate) mod many;
pub(crate) mod module_file;
pub(crate) mod runtime;

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use serde_json::Value;
use tempfile::TempDir;
use tp2_verify::{collect, facts::Facts};

pub(crate) const RELEASE: &str = "7.0.0-38-generic";

pub(crate) const INTEL: &str =
    "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 79\nmodel name\t: Xeon E5-2696 v4\nflags\t\t: fpu sse\n\n";
pub(crate) const ZEN: &str =
    "vendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 68\nmodel name\t: Ryzen 9\nflags\t\t: fpu sse\n\n";
pub(crate) const CONFIG: &str =
    "CONFIG_PCI_P2PDMA=y\nCONFIG_HSA_AMD_P2P=y\nCONFIG_KPROBES=y\nCONFIG_KRETPROBES=y\nCONFIG_KPROBES_ON_FTRACE=y\n";

/// `CRAT_IOLINK_TYPE_PCIEXPRESS` and `CRAT_IOLINK_TYPE_XGMI`.
pub(crate) const PCIE: u32 = 2;
pub(crate) const XGMI: u32 = 11;

/// How much of configuration space the tree holds, as the reader's rights decide on a machine.
#[derive(Clone, Copy)]
pub(crate) enum Acs {
    /// 64 bytes: no root.
    Unreadable,
    /// All of it, no ACS capability.
    None,
    /// All of it, with this control word.
    Word(u16),
}

/// A tree.
pub(crate) struct Tree {
    directory: TempDir,
}

/// One run of the tool.
pub(crate) struct Run {
    pub(crate) exit: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Tree {
    /// A bare Intel machine: kernel, configuration, CPU, a loaded amdgpu with `HSA_AMD_P2P`.
    pub(crate) fn new() -> Self {
        let tree = Self { directory: TempDir::new().unwrap() };
        tree.file("proc/sys/kernel/osrelease", RELEASE)
            .file("proc/sys/kernel/ftrace_enabled", "1")
            .file("proc/cpuinfo", INTEL)
            .file("proc/cmdline", "root=/dev/sda1")
            .file("proc/version", "Linux version 7.0.0-38-generic")
            .file(&format!("boot/config-{RELEASE}"), CONFIG)
            .file(
                &format!("lib/modules/{RELEASE}/modules.dep"),
                "kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko.zst: a.ko\n",
            )
            .file(&format!("lib/modules/{RELEASE}/modules.builtin"), "kernel/fs/ext4/ext4.ko\n")
            .file("sys/module/amdgpu/initstate", "live")
            .file("sys/module/amdgpu/parameters/pcie_p2p", "Y");
        tree
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    fn at(&self, path: &str) -> PathBuf {
        let full = self.path().join(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        full
    }

    /// A file with a newline at its end, as sysfs has it.
    pub(crate) fn file(&self, path: &str, text: &str) -> &Self {
        fs::write(self.at(path), format!("{text}\n")).unwrap();
        self
    }

    pub(crate) fn bytes(&self, path: &str, bytes: &[u8]) -> &Self {
        fs::write(self.at(path), bytes).unwrap();
        self
    }

    pub(crate) fn remove(&self, path: &str) -> &Self {
        let full = self.path().join(path);
        if full.is_dir() {
            fs::remove_dir_all(full).unwrap();
        } else {
            fs::remove_file(full).unwrap();
        }
        self
    }

    pub(crate) fn link(&self, path: &str, target: &str) -> &Self {
        symlink(target, self.at(path)).unwrap();
        self
    }

    pub(crate) fn fifo(&self, path: &str) -> &Self {
        let full = self.at(path);
        let _ = fs::remove_file(&full);
        assert!(Command::new("mkfifo").arg(full).status().unwrap().success());
        self
    }

    /// A PCI function at the end of a chain such as `pci0000:00/0000:00:02.0/0000:03:00.0`.
    pub(crate) fn pci(&self, chain: &str, id: &str, class: &str, kind: u8, acs: Acs) -> &Self {
        let (vendor, device) = id.split_once(':').unwrap();
        let name = chain.rsplit('/').next().unwrap();
        let path = format!("sys/devices/{chain}");
        if class.starts_with("03") || class.starts_with("0604") || class.starts_with("12") {
            self.healthy_port(&path);
        }
        self.file(&format!("{path}/vendor"), &format!("0x{vendor}"))
            .file(&format!("{path}/device"), &format!("0x{device}"))
            .file(&format!("{path}/class"), &format!("0x{class}"))
            .bytes(&format!("{path}/config"), &device::config_space(kind, acs))
            .link(&format!("sys/bus/pci/devices/{name}"), &format!("../../../devices/{chain}"))
    }

    /// The host bridge at 00.0 of a root bus.
    pub(crate) fn host_bridge(&self, root: &str, id: &str) -> &Self {
        let bus = root.strip_prefix("pci").unwrap();
        self.pci(&format!("{root}/{bus}:00.0"), id, "060000", 4, Acs::None)
    }

    /// A card with a switch of its own below a root port: buses `bus`, `bus+1` and `bus+2`.
    pub(crate) fn card(&self, root_port: &str, bus: u8, acs: Acs) -> &Self {
        let port = root_port.rsplit('/').next().unwrap();
        let (domain, _) = port.split_once(':').unwrap();
        let up = format!("{root_port}/{domain}:{bus:02x}:00.0");
        let down = format!("{up}/{domain}:{:02x}:00.0", bus + 1);
        let gpu = format!("{down}/{domain}:{:02x}:00.0", bus + 2);
        if !self.path().join(format!("sys/devices/{root_port}")).exists() {
            self.pci(root_port, "8086:6f08", "060400", 4, acs);
        }
        self.pci(&up, "1002:1478", "060400", 5, acs).pci(&down, "1002:1479", "060400", 6, acs).gpu(
            &gpu,
            "1002:744c",
            acs,
        )
    }

    /// A GPU that amdgpu drives, without a switch of its own.
    pub(crate) fn gpu(&self, chain: &str, id: &str, acs: Acs) -> &Self {
        self.pci(chain, id, "030000", 0, acs)
            .driver(chain, "amdgpu")
            .healthy_memory(&format!("sys/devices/{chain}"), chain.rsplit('/').next().unwrap())
    }

    /// The driver of a device.
    pub(crate) fn driver(&self, chain: &str, name: &str) -> &Self {
        let up = "../".repeat(chain.split('/').count() + 2);
        let link = format!("sys/devices/{chain}/driver");
        let _ = fs::remove_file(self.at(&link));
        self.link(&link, &format!("{up}sys/bus/pci/drivers/{name}"))
            .file(&format!("sys/bus/pci/drivers/{name}/uevent"), "")
    }

    /// The CPU node 0 of KFD.
    pub(crate) fn kfd(&self) -> &Self {
        self.link("sys/class/kfd/kfd", "../../devices/virtual/kfd/kfd")
            .file(&kfd(0, "properties"), "cpu_cores_count 44\nsimd_count 0\nlocation_id 0\ndomain 0")
    }

    /// A GPU node.
    pub(crate) fn kfd_gpu(&self, node: u32, bus: u8) -> &Self {
        self.kfd_gpu_at(node, 0, bus, "hive_id 0")
    }

    /// A GPU node of any domain, with one more property.
    pub(crate) fn kfd_gpu_at(&self, node: u32, domain: u32, bus: u8, more: &str) -> &Self {
        let text =
            format!("cpu_cores_count 0\nsimd_count 192\nlocation_id {}\ndomain {domain}\n{more}", u32::from(bus) << 8);
        self.file(&kfd(node, "properties"), &text).link_of(node, "io_links", 0, PCIE)
    }

    fn link_of(&self, from: u32, kind: &str, to: u32, link_type: u32) -> &Self {
        let text = format!("type {link_type}\nnode_from {from}\nnode_to {to}\nweight 40\nmax_bandwidth 8000\nflags 3");
        self.file(&kfd(from, &format!("{kind}/{to}/properties")), &text)
    }

    /// A `p2p_link`, one way.
    pub(crate) fn p2p_link(&self, from: u32, to: u32) -> &Self {
        self.link_of(from, "p2p_links", to, PCIE)
    }

    /// A direct XGMI link, both ways.
    pub(crate) fn xgmi(&self, a: u32, b: u32) -> &Self {
        self.link_of(a, "io_links", b, XGMI).link_of(b, "io_links", a, XGMI)
    }

    /// The override module, loaded and acting.
    pub(crate) fn module(&self) -> &Self {
        let path = |name: &str| format!("sys/module/tp2_p2pdma/{name}");
        for (name, value) in [
            ("initstate", "live"),
            ("version", "0.1.0"),
            ("srcversion", "ABC"),
            ("parameters/mode", "force"),
            ("parameters/vendors", "1002"),
            ("parameters/pairs", ""),
            ("parameters/cross_host_bridge", "0"),
            ("parameters/allow_denied", "0"),
            ("parameters/deny", ""),
            ("parameters/maxactive", "256"),
            ("override/implementation", "c"),
            ("override/calls", "2"),
            ("override/implementation_reason", "no Rust metadata"),
            ("override/overridden", "2"),
            ("override/refused", "0"),
            ("override/missed", "0"),
            ("override/self_test", "pass"),
            ("override/gpu_driver_was_bound", "0"),
        ] {
            self.file(&path(name), value);
        }
        self.ordered()
    }

    /// modprobe's configuration as the package installs it.
    pub(crate) fn ordered(&self) -> &Self {
        self.file("usr/lib/modprobe.d/tp2_p2pdma.conf", "# comment\nsoftdep amdgpu pre: tp2_p2pdma")
    }

    /// One value of the module.
    pub(crate) fn module_says(&self, name: &str, value: &str) -> &Self {
        self.file(&format!("sys/module/tp2_p2pdma/{name}"), value)
    }

    /// Rows of the module's table of pairs.
    pub(crate) fn table(&self, rows: &str) -> &Self {
        let text = format!("provider client calls kernel_answer answer rule\n{rows}");
        self.file("sys/kernel/debug/tp2_p2pdma/pairs", text.trim_end())
    }

    /// A module file that modprobe would load, outside the kernel's own directory.
    pub(crate) fn installed(&self, bytes: &[u8]) -> &Self {
        let dep = format!("lib/modules/{RELEASE}/modules.dep");
        self.bytes(&format!("lib/modules/{RELEASE}/updates/dkms/tp2_p2pdma.ko"), bytes)
            .file(&dep, "kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko.zst: a.ko\nupdates/dkms/tp2_p2pdma.ko:")
    }

    /// A build of DKMS for the running kernel.
    pub(crate) fn built(&self) -> &Self {
        self.file(&format!("var/lib/dkms/tp2_p2pdma/0.1.0/{RELEASE}/x86_64/module/tp2_p2pdma.ko"), "")
    }

    /// What the tool would judge, for tests that add what no tree can hold.
    pub(crate) fn facts(&self) -> Facts {
        collect::collect(&collect::Root::open(self.path()).unwrap(), &collect::runtime::Options::off())
    }

    /// Runs the tool with `--root` on this tree.
    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        let mut all = vec!["--root", self.path().to_str().unwrap()];
        all.extend(arguments);
        run(&all)
    }

    /// Runs the tool and returns its JSON, which the schema must accept.
    pub(crate) fn json(&self) -> Value {
        let run = self.run(&["--json"]);
        assert_eq!(run.stderr, "");
        let value: Value = serde_json::from_str(&run.stdout).unwrap();
        validate(&value);
        assert_eq!(value["exit"], run.exit);
        value
    }
}

pub(crate) fn kfd(node: u32, rest: &str) -> String {
    format!("sys/devices/virtual/kfd/kfd/topology/nodes/{node}/{rest}")
}

/// Runs the tool.
pub(crate) fn run(arguments: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tp2-verify"));
    let output = command.args(arguments).env_remove("NO_COLOR").env("LC_ALL", "C").output().unwrap();
    Run {
        exit: output.status.code().expect("the tool ends by itself"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Checks JSON against the schema that is shipped.
pub(crate) fn validate(value: &Value) {
    static VALIDATOR: OnceLock<jsonschema::Validator> = OnceLock::new();
    let validator = VALIDATOR.get_or_init(|| {
        let schema: Value = serde_json::from_str(include_str!("../../schema/tp2-verify-1.schema.json")).unwrap();
        jsonschema::validator_for(&schema).unwrap()
    });
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

/// The reference machine R1 before the override: two cards below two root ports of one host bridge.
pub(crate) fn two_cards(bridge: &str) -> Tree {
    let tree = Tree::new();
    tree.host_bridge("pci0000:00", bridge)
        .card("pci0000:00/0000:00:02.0", 0x03, Acs::Unreadable)
        .card("pci0000:00/0000:00:03.0", 0x06, Acs::Unreadable)
        .kfd()
        .kfd_gpu(1, 0x05)
        .kfd_gpu(2, 0x08);
    tree
}

/// The same after the override.
pub(crate) fn two_cards_overridden(bridge: &str) -> Tree {
    let tree = two_cards(bridge);
    tree.module()
        .p2p_link(1, 2)
        .p2p_link(2, 1)
        .table("0000:05:00.0 0000:08:00.0 3 -1 8 override\n0000:08:00.0 0000:05:00.0 3 -1 8 override");
    tree
}

/// Two cards below one switch.
pub(crate) fn shared_switch(acs: Acs) -> Tree {
    let tree = Tree::new();
    let port = "pci0000:00/0000:00:02.0";
    let up = format!("{port}/0000:03:00.0");
    tree.host_bridge("pci0000:00", "8086:4c43").pci(port, "8086:4c01", "060400", 4, acs).pci(
        &up,
        "10b5:8747",
        "060400",
        5,
        acs,
    );
    for (slot, bus) in [(8, 5), (0x10, 6)] {
        let down = format!("{up}/0000:04:{slot:02x}.0");
        tree.pci(&down, "10b5:8747", "060400", 6, acs);
        tree.card(&down, if bus == 5 { 0x10 } else { 0x20 }, acs);
    }
    tree.kfd().kfd_gpu(1, 0x12).kfd_gpu(2, 0x22);
    tree
}

/// Gates that fail, each once, in order.
pub(crate) fn failing(report: &Value) -> Vec<&str> {
    let mut gates: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["status"] == "fail")
        .map(|finding| finding["gate"].as_str().unwrap())
        .collect();
    gates.dedup();
    gates
}

/// Status of the first finding of a gate.
pub(crate) fn status<'a>(report: &'a Value, gate: &str) -> &'a str {
    let findings = report["findings"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["gate"] == gate);
    finding.unwrap_or_else(|| panic!("no finding of {gate}"))["status"].as_str().unwrap()
}

/// The first finding of a gate about something.
pub(crate) fn finding<'a>(report: &'a Value, gate: &str, scope: &str) -> &'a Value {
    let findings = report["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["gate"] == gate && finding["scope"] == scope);
    found.unwrap_or_else(|| panic!("no finding of {gate} about {scope}"))
}

/// Checks verdict, failing gates, words that must be there and words that must not.
pub(crate) fn expect(tree: &Tree, verdict: &str, fails: &[&str], must: &[&str], must_not: &[&str]) -> Value {
    let report = tree.json();
    let table = tree.run(&["-v"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(report["verdict"], verdict, "{table}");
    assert_eq!(failing(&report), fails, "{table}");
    for words in must {
        assert!(table.contains(words), "{words:?} is missing in {table}");
    }
    for words in must_not {
        assert!(!table.contains(words), "{words:?} is in {table}");
    }
    report
}
