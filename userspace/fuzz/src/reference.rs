// SPDX-License-Identifier: GPL-2.0-only
//! The machine that changes start from: two GPUs below two root ports, with the override loaded.

use crate::machine::SEPARATOR;

const RELEASE: &str = "7.0.0-38-generic";
const NODES: &str = "sys/class/kfd/kfd/topology/nodes";

/// The machine as [`machine::record`](crate::machine::record) takes it.
pub fn machine() -> Vec<u8> {
    let mut entries = Vec::new();
    host(&mut entries);
    module(&mut entries);
    pci(&mut entries);
    kfd(&mut entries);
    entries.join(SEPARATOR)
}

/// The same as it would record itself, with answers that only a running machine gives.
pub fn live() -> Vec<u8> {
    let mut entries = vec![machine()];
    let access = br#"{"kfd":{"path":"dev/kfd","bdf":null,"opened":"yes","owner":{"uid":0,"gid":109,"group":"render",
        "mode":432}},"render":[{"path":"dev/dri/renderD128","bdf":"0000:05:00.0","opened":"denied","owner":null}],
        "uid":1000,"gids":[109],"user_namespace":false}"#;
    put(&mut entries, '?', "device-access", access);
    let runtime =
        br#"{"library":"/opt/rocm/lib/libamdhip64.so","passed_over":[],"environment":{"HIP_VISIBLE_DEVICES":"0"},
        "outcome":{"end":"answered"},"afterwards":null,"version":60300000,"devices":[{"index":0,"bdf":{"Ok":
        "0000:05:00.0"}},{"index":1,"bdf":{"Ok":"0000:08:00.0"}}],"peers":[{"from":0,"to":1,"answer":"yes"},{"from":1,
        "to":0,"answer":"no"}],"stderr":""}"#;
    put(&mut entries, '?', "runtime", runtime);
    entries.join(SEPARATOR)
}

fn put(entries: &mut Vec<Vec<u8>>, kind: char, path: &str, content: &[u8]) {
    entries.push([format!("{kind}{path}\n").as_bytes(), content].concat());
}

fn host(entries: &mut Vec<Vec<u8>>) {
    let modules = format!("lib/modules/{RELEASE}");
    let cpu = "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 79\nmodel name\t: Xeon\nflags\t\t: fpu\n\n";
    for (path, text) in [
        ("proc/sys/kernel/osrelease", RELEASE),
        ("proc/sys/kernel/ftrace_enabled", "1"),
        ("proc/cpuinfo", cpu),
        ("proc/cmdline", "root=/dev/sda1 amdgpu.pcie_p2p=1 pci=noacs iommu=pt"),
        ("proc/version", "Linux version 7.0.0-38-generic"),
        ("proc/self/environ", "HSA_ENABLE_SDMA=0\0ROCR_VISIBLE_DEVICES=0,1\0"),
        (&format!("boot/config-{RELEASE}"), "CONFIG_PCI_P2PDMA=y\nCONFIG_HSA_AMD_P2P=y\nCONFIG_KPROBES=y\n"),
        (&format!("{modules}/modules.dep"), "kernel/amdgpu.ko.zst: a.ko\nupdates/dkms/tp2_p2pdma.ko:\n"),
        (&format!("{modules}/modules.builtin"), "kernel/fs/ext4/ext4.ko\n"),
        ("sys/module/amdgpu/initstate", "live"),
        ("sys/module/amdgpu/parameters/pcie_p2p", "Y"),
        ("usr/lib/modprobe.d/tp2_p2pdma.conf", "# comment\nsoftdep amdgpu pre: tp2_p2pdma"),
        ("sys/kernel/security/lockdown", "none [integrity] confidentiality"),
        ("etc/dkms/framework.conf", "mok_certificate=\"/var/lib/dkms/mok.pub\"\n"),
        ("tp2/device-nodes", "dev/kfd c 660 0 109 fine\ndev/dri/renderD128 c 660 0 109\n"),
        ("proc/self/status", "Uid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\nGroups:\t109\n"),
    ] {
        put(entries, 'f', path, text.as_bytes());
    }
    put(entries, 'f', "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c", &[6, 0, 0, 0, 1]);
    put(entries, 'n', "dev/kfd", &[0o66, 109]);
    put(entries, 'n', "dev/dri/renderD128", &[0o66, 109]);
    put(entries, 'e', "sys/kernel/debug/kprobes/enabled", b"permission denied");
    let image = format!(
        r#"{{"path":"boot/initrd.img-{RELEASE}","maker":"dracut","segments":["cpio","zstd"],"has_amdgpu":true,
        "has_override":true,"has_modprobe_conf":true}}"#
    );
    put(entries, 'd', &format!("boot/initrd.img-{RELEASE}"), image.as_bytes());
    let info = format!(
        r#"{{"path":"x","name":"tp2_p2pdma","version":"0.1.0","vermagic":"{RELEASE} SMP","srcversion":"ABC","license":"GPL",
        "implementation":"c","implementation_reason":"x","depends":[],"parameters":["mode"],"needed":["f"],
        "signature":{{"size":9,"hash":"sha256","signer":"x","key_id":"1234"}},"signature_error":null}}"#
    );
    put(entries, 'd', &format!("{modules}/updates/dkms/tp2_p2pdma.ko"), info.as_bytes());
    let list = "sys/firmware/efi/efivars/MokListRT-605dab50-e046-4300-abb6-3dd810dd8b23";
    put(entries, 'd', list, br#"[{"serial":"1234","subject":"x"}]"#);
}

fn module(entries: &mut Vec<Vec<u8>>) {
    for (name, value) in [
        ("initstate", "live"),
        ("version", "0.1.0"),
        ("srcversion", "ABC"),
        ("parameters/mode", "force"),
        ("parameters/vendors", "1002"),
        ("parameters/pairs", "0000:05:00.0-0000:08:00.0"),
        ("parameters/cross_host_bridge", "0"),
        ("parameters/allow_denied", "0"),
        ("parameters/deny", "8086:6f00"),
        ("override/implementation", "c"),
        ("override/calls", "2"),
        ("override/self_test", "pass"),
        ("override/gpu_driver_was_bound", "0"),
    ] {
        put(entries, 'f', &format!("sys/module/tp2_p2pdma/{name}"), value.as_bytes());
    }
    let pairs = "provider client calls kernel_answer answer rule\n0000:05:00.0 0000:08:00.0 3 -1 8 override\n";
    put(entries, 'f', "sys/kernel/debug/tp2_p2pdma/pairs", pairs.as_bytes());
}

fn pci(entries: &mut Vec<Vec<u8>>) {
    function(entries, "pci0000:00/0000:00:00.0", "0x8086 0x6f00 0x060000", 4);
    for (port, gpu) in [("02.0", "05"), ("03.0", "08")] {
        let port = format!("pci0000:00/0000:00:{port}");
        function(entries, &port, "0x8086 0x6f08 0x060400", 4);
        function(entries, &format!("{port}/0000:{gpu}:00.0"), "0x1002 0x744c 0x030000", 0);
    }
}

fn function(entries: &mut Vec<Vec<u8>>, chain: &str, id: &str, kind: u8) {
    let path = format!("sys/devices/{chain}");
    let name = chain.rsplit('/').next().unwrap_or_default();
    put(entries, 'l', &format!("sys/bus/pci/devices/{name}"), format!("../../../devices/{chain}").as_bytes());
    let attributes = ["vendor", "device", "class"].into_iter().zip(id.split(' '));
    for (attribute, text) in attributes.chain([
        ("current_link_speed", "8.0 GT/s PCIe"),
        ("current_link_width", "16"),
        ("max_link_speed", "16.0 GT/s PCIe"),
        ("max_link_width", "16"),
        ("power/runtime_status", "active"),
        ("power_state", "D0"),
        ("aer_dev_fatal", "Undefined 0\nTOTAL_ERR_FATAL 0"),
        ("dma_mask_bits", "44"),
        ("resource", "0x0000001000000000 0x00000017ffffffff 0x000000000014220c\n"),
        ("mem_info_vram_total", "25753026560"),
        ("mem_info_vis_vram_total", "25753026560"),
    ]) {
        put(entries, 'f', &format!("{path}/{attribute}"), text.as_bytes());
    }
    let mut config = vec![0; 0x110];
    config[..4].copy_from_slice(&[0x02, 0x10, 0x4c, 0x74]);
    config[0x06] = 0x10;
    config[0x34] = 0x40;
    config[0x40] = 0x10;
    config[0x42] = (kind << 4) | 2;
    config[0x100..0x108].copy_from_slice(&[0x0d, 0, 1, 0, 0, 0, 0x1d, 0]);
    put(entries, 'f', &format!("{path}/config"), &config);
    put(entries, 'l', &format!("{path}/driver"), b"/sys/bus/pci/drivers/amdgpu");
    put(entries, 'f', "sys/bus/pci/drivers/amdgpu/uevent", b"");
    put(entries, 'l', &format!("{path}/iommu_group"), b"/sys/kernel/iommu_groups/1");
    put(entries, 'f', "sys/kernel/iommu_groups/1/type", b"DMA");
}

fn kfd(entries: &mut Vec<Vec<u8>>) {
    put(entries, 'f', &format!("{NODES}/0/properties"), b"cpu_cores_count 44\nsimd_count 0\nlocation_id 0\ndomain 0");
    for (node, other, bus) in [(1, 2, 5), (2, 1, 8)] {
        let text = format!("cpu_cores_count 0\nsimd_count 192\nlocation_id {}\ndomain 0\nhive_id 0", bus << 8);
        put(entries, 'f', &format!("{NODES}/{node}/properties"), text.as_bytes());
        for (list, to) in [("io_links", 0), ("p2p_links", other)] {
            let text = format!("type 2\nnode_from {node}\nnode_to {to}\nweight 40\nmax_bandwidth 8000\nflags 3");
            put(entries, 'f', &format!("{NODES}/{node}/{list}/{to}/properties"), text.as_bytes());
        }
    }
}
