// SPDX-License-Identifier: GPL-2.0-only
//! Virtual machines with the PCI topologies of real ones. Everything here is simulated by QEMU's q35.
//!
//! The GPUs are `ati-vga` (vendor 1002, class 0300): amdgpu does not drive them, the kernel's distance rules apply to them.

/// A function of interest, found in the guest by its path from the root bus.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    /// Short name that scenarios use.
    pub(crate) name: &'static str,
    /// Root bus (`0000:00`), then `dd.f` of every function down to this one.
    pub(crate) root_bus: &'static str,
    /// `dd.f` of the port on the root bus, of each bridge below, and of the function itself.
    pub(crate) path: Vec<&'static str>,
}

impl Function {
    /// A shell glob for its sysfs directory; bus numbers are the firmware's choice.
    pub(crate) fn sysfs_glob(&self) -> String {
        let mut glob = format!("/sys/devices/pci{}", self.root_bus);
        for slot in &self.path {
            glob.push_str("/[0-9a-f]*:[0-9a-f]*:");
            glob.push_str(slot);
        }
        glob
    }
}

/// A virtual machine's hardware.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    /// QEMU's `-machine`.
    pub(crate) chipset: &'static str,
    /// QEMU's `-cpu`: vendor and family decide the kernel's answer.
    pub(crate) cpu: &'static str,
    /// Memory in MiB.
    pub(crate) mib: u32,
    /// QEMU's `-device` arguments.
    pub(crate) devices: Vec<String>,
    /// Kernel parameters that belong to this hardware.
    pub(crate) append: &'static str,
    /// The functions that scenarios ask about.
    pub(crate) functions: Vec<Function>,
}

/// An Intel machine without any card.
pub(crate) fn bare() -> Machine {
    Machine { chipset: "q35", cpu: "Broadwell-v4", mib: 768, devices: Vec::new(), append: "", functions: Vec::new() }
}

impl Machine {
    fn device(mut self, device: String) -> Self {
        self.devices.push(device);
        self
    }

    /// A card with a switch of its own, as large AMD cards have, in a root port of bus 0: four functions from card to root.
    pub(crate) fn card_with_switch(self, name: &'static str, port: &'static str, model: &str) -> Self {
        let mut machine = self
            .device(format!("pcie-root-port,id={name}rp,bus=pcie.0,addr={port},chassis={}", number(name)))
            .device(format!("x3130-upstream,id={name}up,bus={name}rp"))
            .device(format!("xio3130-downstream,id={name}dn,bus={name}up,chassis=1{}", number(name)))
            .device(format!("{model},id={name},bus={name}dn"));
        machine.functions.push(Function { name, root_bus: "0000:00", path: vec![port, "00.0", "00.0", "00.0"] });
        machine
    }

    /// A card straight in a root port of bus 0.
    pub(crate) fn card(self, name: &'static str, port: &'static str, model: &str) -> Self {
        let mut machine = self
            .device(format!("pcie-root-port,id={name}rp,bus=pcie.0,addr={port},chassis={}", number(name)))
            .device(format!("{model},id={name},bus={name}rp"));
        machine.functions.push(Function { name, root_bus: "0000:00", path: vec![port, "00.0"] });
        machine
    }

    /// Two cards behind one switch.
    pub(crate) fn shared_switch(self, names: [&'static str; 2], model: &str) -> Self {
        let mut machine = self
            .device("pcie-root-port,id=rp,bus=pcie.0,addr=02.0,chassis=1".into())
            .device("x3130-upstream,id=up,bus=rp".into());
        for (name, slot) in names.into_iter().zip(["00.0", "01.0"]) {
            machine = machine
                .device(format!("xio3130-downstream,id={name}dn,bus=up,addr={slot},chassis=1{}", number(name)))
                .device(format!("{model},id={name},bus={name}dn"));
            machine.functions.push(Function { name, root_bus: "0000:00", path: vec!["02.0", "00.0", slot, "00.0"] });
        }
        machine
    }

    /// Two functions behind one root port: the port's ACS redirect, which an IOMMU makes Linux set, comes between them.
    pub(crate) fn shared_port_with_redirect(mut self, names: [&'static str; 2], model: &str) -> Self {
        self.chipset = "q35,kernel-irqchip=split";
        self.append = "intel_iommu=on";
        let mut machine =
            self.device("intel-iommu".into()).device("pcie-root-port,id=rp,bus=pcie.0,addr=02.0,chassis=1".into());
        for (name, slot) in names.into_iter().zip(["00.0", "00.1"]) {
            machine = machine.device(format!("{model},id={name},bus=rp,addr={slot},multifunction=on"));
            machine.functions.push(Function { name, root_bus: "0000:00", path: vec!["02.0", slot] });
        }
        machine
    }

    /// A card under a second host bridge.
    pub(crate) fn card_on_second_host_bridge(self, name: &'static str, model: &str) -> Self {
        let mut machine = self
            .device("pxb-pcie,id=pxb,bus=pcie.0,bus_nr=64".into())
            .device(format!("pcie-root-port,id={name}rp,bus=pxb,addr=00.0,chassis={}", number(name)))
            .device(format!("{model},id={name},bus={name}rp"));
        machine.functions.push(Function { name, root_bus: "0000:40", path: vec!["00.0", "00.0"] });
        machine
    }

    /// The same machine with another CPU.
    pub(crate) fn with_cpu(mut self, cpu: &'static str) -> Self {
        self.cpu = cpu;
        self
    }
}

/// The shape of the X99 founding machine: two cards, each with its own switch, under ports 02.0 and 03.0.
pub(crate) fn x99() -> Machine {
    bare().card_with_switch("a", "02.0", GPU).card_with_switch("b", "03.0", GPU)
}

/// The same machine with memory for a full Debian system and its amdgpu.
pub(crate) fn full_system(machine: Machine) -> Machine {
    Machine { mib: 2048, ..machine }
}

/// An AMD display controller.
pub(crate) const GPU: &str = "ati-vga";
/// A display controller of another vendor (1234:1111).
pub(crate) const OTHER_VENDOR_GPU: &str = "bochs-display";
/// A network card (8086:10d3).
pub(crate) const NETWORK_CARD: &str = "e1000e";

/// Chassis numbers must differ; scenarios name functions by single letters.
fn number(name: &str) -> u32 {
    name.bytes().next().map_or(0, |letter| u32::from(letter % 32) + 1)
}
