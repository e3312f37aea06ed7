// SPDX-License-Identifier: GPL-2.0-only
//! Virtual machines: QEMU with a described PCI topology, driven through an agent on the second serial port.

mod accel;
pub(crate) mod kernel_log;
pub(crate) mod machine;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;

use self::machine::{Function, Machine};
pub(crate) use accel::Accel;

/// What a virtual machine boots.
pub(crate) struct Boot<'a> {
    /// Kernel image.
    pub(crate) kernel: &'a Path,
    /// Initial RAM file system.
    pub(crate) initrd: &'a Path,
    /// Root disk; what the guest writes to it is lost.
    pub(crate) disk: Option<&'a Path>,
    /// Kernel parameters beyond the console's.
    pub(crate) append: &'a str,
    /// Until the agent answers.
    pub(crate) limit: Duration,
    /// How many times as much memory and time a kernel with sanitizers gets; 1 for others.
    pub(crate) patience: u32,
}

/// Output and status of a script that ran in the guest.
pub(crate) struct Answer {
    /// Exit status.
    pub(crate) status: i32,
    /// Standard output and error together.
    pub(crate) text: String,
}

/// A running virtual machine; it is killed when dropped.
pub(crate) struct Vm {
    child: Child,
    agent: BufReader<UnixStream>,
    dir: tempfile::TempDir,
    patience: u32,
    /// From the start of QEMU to the agent's first word.
    pub(crate) boot_time: Duration,
}

impl Vm {
    /// Boots `machine` and waits for the agent.
    pub(crate) fn boot(machine: &Machine, accel: Accel, boot: &Boot<'_>) -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("tp2-vm-").tempdir()?;
        let start = Instant::now();
        let qemu_log = fs::File::create(dir.path().join("qemu.log"))?;
        let child = qemu(machine, accel, boot, dir.path())
            .stdin(Stdio::null())
            .stdout(qemu_log.try_clone()?)
            .stderr(qemu_log)
            .spawn()
            .context("cannot start qemu-system-x86_64: install the Debian package qemu-system-x86")?;
        let mut guard = Killed(Some(child));
        let deadline = start + boot.limit * boot.patience;
        let agent = connect(&mut guard, dir.path(), deadline)?;
        let mut agent = BufReader::new(agent);
        wait_ready(&mut agent, deadline).with_context(|| ends(dir.path()))?;
        let child = guard.0.take().context("QEMU is gone")?;
        Ok(Self { child, agent, dir, patience: boot.patience, boot_time: start.elapsed() })
    }

    /// Runs a shell script in the guest, at most for `limit`.
    pub(crate) fn run(&mut self, script: &str, limit: Duration) -> Result<Answer> {
        let deadline = Instant::now() + limit * self.patience;
        let line = BASE64.encode(script);
        writeln!(self.agent.get_mut(), "{line}")
            .with_context(|| format!("the guest is gone: {}", ends(self.dir.path())))?;
        let mut encoded = String::new();
        let mut begun = false;
        loop {
            let line = read_line(&mut self.agent, deadline).with_context(|| {
                format!("no answer from the guest to `{}`: {}", script.trim(), ends(self.dir.path()))
            })?;
            if line == "TP2-AGENT BEGIN" {
                begun = true;
            } else if let Some(status) = line.strip_prefix("TP2-AGENT END ") {
                let text = BASE64.decode(&encoded).context("the guest's answer is not base64")?;
                return Ok(Answer { status: status.parse()?, text: String::from_utf8_lossy(&text).into_owned() });
            } else if begun {
                encoded.push_str(&line);
            }
        }
    }

    /// Runs a short script that has to succeed, and returns its output without the last line end.
    pub(crate) fn get(&mut self, script: &str) -> Result<String> {
        let answer = self.run(script, Duration::from_secs(120))?;
        if answer.status != 0 {
            bail!("`{}` exited with {} in the guest: {}", script.trim(), answer.status, answer.text.trim());
        }
        Ok(answer.text.trim_end().to_owned())
    }

    /// The PCI address that a function of the machine has in the guest.
    pub(crate) fn find(&mut self, function: &Function) -> Result<String> {
        let glob = function.sysfs_glob();
        let found = self
            .get(&format!("ls -d {glob}"))
            .with_context(|| format!("the guest has no function {} at {glob}", function.name))?;
        if found.lines().count() != 1 {
            bail!("{glob} names more than one function: {found}");
        }
        Ok(found.rsplit('/').next().unwrap_or_default().to_owned())
    }

    /// Asks the guest's kernel for a distance the way amdgpu does; `tp2_probe` has to be loaded.
    pub(crate) fn ask(&mut self, provider: &str, client: &str) -> Result<i32> {
        let answer =
            self.get(&format!("cd /sys/kernel/debug/tp2_probe && echo {provider} {client} >ask && cat ask"))?;
        answer.parse().with_context(|| format!("the kernel's answer `{answer}` is no number"))
    }

    /// Kernel memory in use that is not given back on demand, in KiB: unreclaimable slab, vmalloc space and per-CPU data.
    pub(crate) fn kernel_memory_kib(&mut self) -> Result<i64> {
        let text = self.get(
            "sync; echo 3 >/proc/sys/vm/drop_caches; sleep 1; grep -E '^(SUnreclaim|VmallocUsed|Percpu):' /proc/meminfo",
        )?;
        text.lines()
            .map(|line| {
                line.split_whitespace()
                    .nth(1)
                    .and_then(|n| n.parse::<i64>().ok())
                    .with_context(|| format!("/proc/meminfo has the line `{line}`"))
            })
            .sum()
    }

    /// All that the guest's kernel and init wrote to the console so far.
    pub(crate) fn console(&self) -> String {
        read_lossy(&self.dir.path().join("console"))
    }
}

impl Drop for Vm {
    fn drop(&mut self) {
        kill(&mut self.child);
    }
}

/// Kills the child unless it was taken out.
struct Killed(Option<Child>);

impl Drop for Killed {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            kill(child);
        }
    }
}

fn kill(child: &mut Child) {
    // Both fail only for a process that is gone already.
    let _ = child.kill();
    let _ = child.wait();
}

fn qemu(machine: &Machine, accel: Accel, boot: &Boot<'_>, dir: &Path) -> Command {
    let mut cmd = Command::new("qemu-system-x86_64");
    cmd.args(["-nodefaults", "-no-user-config", "-display", "none", "-vga", "none", "-no-reboot"])
        .args(["-accel", accel.name(), "-m", &(machine.mib * boot.patience).to_string(), "-smp", "2"])
        .args(accel.options())
        .args(["-machine", machine.chipset, "-cpu", machine.cpu])
        .arg("-chardev")
        .arg(format!("file,id=console,path={}", dir.join("console").display()))
        .arg("-chardev")
        .arg(format!("socket,id=agent,path={},server=on,wait=off", dir.join("agent").display()))
        .args(["-serial", "chardev:console", "-serial", "chardev:agent"])
        .arg("-kernel")
        .arg(boot.kernel)
        .arg("-initrd")
        .arg(boot.initrd);
    if let Some(disk) = boot.disk {
        cmd.arg("-drive").arg(format!("file={},if=virtio,format=raw,snapshot=on", disk.display()));
    }
    // A guest under TCG on a busy host is slow, not stalled, and its timer late, not broken.
    cmd.arg("-append").arg(format!(
        "console=ttyS0 loglevel=7 panic=-1 no_timer_check rcupdate.rcu_cpu_stall_timeout=300 {} {}",
        machine.append, boot.append
    ));
    for device in &machine.devices {
        cmd.args(["-device", device]);
    }
    cmd
}

fn connect(child: &mut Killed, dir: &Path, deadline: Instant) -> Result<UnixStream> {
    let path = dir.join("agent");
    loop {
        if let Ok(stream) = UnixStream::connect(&path) {
            return Ok(stream);
        }
        let exited = match &mut child.0 {
            Some(child) => child.try_wait()?.is_some(),
            None => true,
        };
        if exited || Instant::now() > deadline {
            bail!("QEMU did not start: {}", read_lossy(&dir.join("qemu.log")).trim());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn wait_ready(agent: &mut BufReader<UnixStream>, deadline: Instant) -> Result<()> {
    while read_line(agent, deadline)? != "TP2-AGENT READY" {}
    Ok(())
}

fn read_line(agent: &mut BufReader<UnixStream>, deadline: Instant) -> Result<String> {
    let mut line = Vec::new();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            bail!("time limit reached");
        }
        agent.get_ref().set_read_timeout(Some(left))?;
        match agent.read_until(b'\n', &mut line) {
            Ok(0) => bail!("the guest stopped"),
            Ok(_) if line.ends_with(b"\n") => {
                return Ok(String::from_utf8_lossy(&line).trim().to_owned());
            }
            Ok(_) => {}
            Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// The last lines of console and QEMU, for an error.
fn ends(dir: &Path) -> String {
    let console = read_lossy(&dir.join("console"));
    let lines: Vec<&str> = console.lines().collect();
    // Of a panic, what came before it says more than the registers after it.
    let end = lines.iter().position(|line| line.contains("Kernel panic")).map_or(lines.len(), |panic| panic + 1);
    format!(
        "end of its console:\n{}\nQEMU said: {}",
        lines[end.saturating_sub(12)..end].join("\n"),
        read_lossy(&dir.join("qemu.log"))
            .lines()
            .filter(|l| !l.contains("TCG doesn't support"))
            .collect::<Vec<_>>()
            .join("; ")
    )
}

fn read_lossy(path: &PathBuf) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}
