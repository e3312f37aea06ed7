// SPDX-License-Identifier: GPL-2.0-only

//! The hook, and every other contact with C: the only file with `unsafe` in it.
//!
//! The hook is a return probe on `pci_p2pdma_distance_many()`, in the manner of
//! `samples/kprobes/kretprobe_example.c`. Both handlers run with preemption off and must not sleep
//! or allocate.
//!
//! C header: [`include/linux/kprobes.h`](srctree/include/linux/kprobes.h)

use crate::{
    bindings,
    policy::{
        self,
        Address,
        Function,
        Mode,
        Rule, //
    },
    settings::Parameters,
    topology, //
};
use core::{
    marker::PhantomData,
    ptr::{
        self,
        NonNull, //
    },
};
use kernel::{
    bindings::{
        pci_get_device,
        strcmp,
        PCI_ANY_ID, //
    },
    error::to_result,
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        SetOnce, //
    },
    task::Task,
    types::Opaque, //
};

/// The hooked function.
const HOOKED: &CStr = c"pci_p2pdma_distance_many";

/// An answer that the kernel never gives: no chain of bridges is so long.
const SELF_TEST_ANSWER: c_int = 0x7470;

type Handler =
    unsafe extern "C" fn(*mut bindings::kretprobe_instance, *mut bindings::pt_regs) -> c_int;

/// The arguments, which only the entry handler can see.
struct SavedCall {
    provider: *mut bindings::pci_dev,
    /// Null if there is not exactly one client.
    client: *mut bindings::device,
    mode: Mode,
    self_test: bool,
}

// The kernel's allocations are aligned for any of the fields; the distance to the data has to be.
static_assert!(bindings::TP2_OFFSETOF_INSTANCE_DATA as usize % align_of::<SavedCall>() == 0);

/// What the kernel knows of the hook.
struct KernelProbe(Opaque<bindings::kretprobe>);

// SAFETY: `Hook::register()` writes to it before the kernel knows of it, and lets only one caller
// do so. From then on it belongs to the kernel, and `missed()` only reads counters.
unsafe impl Sync for KernelProbe {}

static KERNEL_PROBE: KernelProbe = KernelProbe(Opaque::zeroed());

/// The parameters that do not change after load. Set before the hook.
static PARAMETERS: SetOnce<Parameters> = SetOnce::new();

/// The task that runs a self-test, which tells its call apart from everybody else's; 0 for none.
static SELF_TEST_TASK: Atomic<usize> = Atomic::new(0);

/// How far the self-test came. Touched only by its task, inside the call and after it.
static SELF_TEST_PROGRESS: Atomic<u32> = Atomic::new(NOT_ENTERED);
const NOT_ENTERED: u32 = 0;
const ENTERED: u32 = 1;
const RETURNED: u32 = 2;

kernel::sync::global_lock! {
    // SAFETY: Initialised in `Hook::register()`; nobody can run a self-test before.
    unsafe(uninit) static SELF_TEST_LOCK: Mutex<()> = ();
}

fn current_task() -> usize {
    Task::current_raw().addr()
}

/// Where the entry handler leaves the arguments for the return handler.
///
/// # Safety
///
/// `instance` must be one that kprobes has passed to a handler that is still running.
unsafe fn saved_call(instance: *mut bindings::kretprobe_instance) -> *mut SavedCall {
    // SAFETY: By the requirement of this function `instance` points to a live instance; only an
    // address is computed.
    unsafe { (&raw mut (*instance).data).cast() }
}

/// Runs at the entry of the hooked function. A return value other than 0 skips the return handler.
///
/// # Safety
///
/// Only for kprobes: `instance` and `regs` must be those of a call of the hooked function.
unsafe extern "C" fn entry_handler(
    instance: *mut bindings::kretprobe_instance,
    regs: *mut bindings::pt_regs,
) -> c_int {
    let mut call = SavedCall {
        provider: ptr::null_mut(),
        client: ptr::null_mut(),
        mode: Mode::Off,
        self_test: SELF_TEST_TASK.load(Relaxed) == current_task(),
    };

    if call.self_test {
        SELF_TEST_PROGRESS.store(ENTERED, Relaxed);
    } else {
        call.mode = mode();
        if call.mode == Mode::Off {
            return 1;
        }
        // SAFETY: kprobes passes the registers at the entry of the function, so these are its
        // arguments, of which the first is a `struct pci_dev *`, the second a
        // `struct device **` and the third an `int`.
        let (provider, clients, num_clients) = unsafe {
            (
                bindings::tp2_helper_argument(regs, 0) as *mut bindings::pci_dev,
                bindings::tp2_helper_argument(regs, 1) as *const *mut bindings::device,
                bindings::tp2_helper_argument(regs, 2) as c_int,
            )
        };
        // SAFETY: The caller holds the provider until the hooked function has returned.
        let is_gpu = unsafe { PciFunction::from_raw(provider) }
            .is_some_and(|function| policy::class_is_gpu(function.class()));
        // Callers that have nothing to do with GPUs pay no return handler.
        if !is_gpu {
            return 1;
        }
        call.provider = provider;
        if num_clients == 1 {
            // SAFETY: The function may read as many elements as its caller says there are, and
            // the caller waits for it.
            call.client = unsafe { *clients };
        }
    }

    // SAFETY: kprobes has made the instance with room for `size_of::<SavedCall>()` bytes, nobody
    // else has it until the return handler is done, and its alignment is asserted above.
    unsafe { saved_call(instance).write(call) };
    0
}

/// Runs at the return of the hooked function. The return value is ignored.
///
/// # Safety
///
/// Only for kprobes: `instance` and `regs` must be those of a return of the hooked function for
/// which [`entry_handler`] has returned 0.
unsafe extern "C" fn return_handler(
    instance: *mut bindings::kretprobe_instance,
    regs: *mut bindings::pt_regs,
) -> c_int {
    // SAFETY: The entry handler of this call has returned 0, hence written the data, and kprobes
    // takes the instance back only after this handler.
    let call = unsafe { &*saved_call(instance) };

    if call.self_test {
        SELF_TEST_PROGRESS.store(RETURNED, Relaxed);
        // SAFETY: `regs` are those that go back to the caller.
        unsafe { set_answer(regs, SELF_TEST_ANSWER) };
        return 0;
    }

    // SAFETY: `regs` are those of a return. The function returns an `int`: the upper half is
    // undefined and is cut off.
    let kernel_answer = unsafe { bindings::tp2_helper_return_value(regs) } as c_int;
    // SAFETY: The caller of the hooked function holds the client until it has returned, which is
    // after this handler.
    let client = unsafe { Device::from_raw(call.client) };
    // SAFETY: As for the client.
    let provider = unsafe { PciFunction::from_raw(call.provider) };

    // Not one client, or one that is no PCI device: not a pair.
    let (Some(provider), Some(client)) = (provider, client.and_then(topology::parent_function))
    else {
        count(kernel_answer, kernel_answer);
        return 0;
    };

    let facts = topology::read_call(provider, client, kernel_answer);
    let decision = PARAMETERS
        .as_ref()
        .and_then(|parameters| policy::decide(&facts, &parameters.settings(call.mode)));
    // There are parameters, and the mode is not off: see `Hook::register()` and the entry handler.
    let Some(decision) = decision else {
        return 0;
    };
    count(kernel_answer, decision.answer);
    record(&facts, &decision);
    if decision.rule == Rule::Override {
        // SAFETY: `regs` are those that go back to the caller.
        unsafe { set_answer(regs, decision.answer) };
    }
    0
}

/// Changes what the caller of the hooked function is told.
///
/// # Safety
///
/// `regs` must be the registers that kprobes has passed to the running return handler.
unsafe fn set_answer(regs: *mut bindings::pt_regs, answer: c_int) {
    // SAFETY: By the requirement of this function. Sign extension is what C does with an `int`.
    unsafe { bindings::tp2_helper_set_return_value(regs, answer as c_ulong) };
}

/// What `NOKPROBE_SYMBOL()` does: a probe in a handler would not come out of it again.
#[used]
#[link_section = "_kprobe_blacklist"]
static NOT_TO_BE_PROBED: [Handler; 2] = [entry_handler, return_handler];

/// The hook, set as long as this exists.
pub(crate) struct Hook {
    parameters: &'static Parameters,
}

impl Hook {
    /// Sets the hook. Can be done once in the life of the module.
    ///
    /// The meaning of an error has been logged.
    pub(crate) fn register() -> Result<Self> {
        let parsed = &raw const bindings::tp2_settings;
        // SAFETY: Parameters are parsed before the module is initialised, and only `mode`, which
        // is not among these, can be written later.
        let parsed = unsafe { &*parsed };
        if !PARAMETERS.populate(Parameters::new(parsed)) {
            return Err(EBUSY);
        }
        let parameters = PARAMETERS.as_ref().ok_or(EBUSY)?;

        // SAFETY: The parameters can be populated once, so this point is reached once.
        unsafe { SELF_TEST_LOCK.init() };

        let probe = KERNEL_PROBE.0.get();
        // SAFETY: As above, so nobody else knows of the probe. It and what it points to are
        // static, and `Drop` takes it back before the module goes. All zeroes, which it was so
        // far, is what C starts from. The handlers have the C types, and `data_size` is that of
        // what they share.
        let ret = unsafe {
            (*probe).kp.symbol_name = HOOKED.as_char_ptr();
            (*probe).handler = Some(return_handler);
            (*probe).entry_handler = Some(entry_handler);
            (*probe).data_size = size_of::<SavedCall>();
            (*probe).maxactive = bindings::tp2_maxactive as c_int;
            bindings::register_kretprobe(probe)
        };
        if ret < 0 {
            pr_err!(
                "cannot hook {}: {}, error {}\n",
                HOOKED,
                register_error(ret),
                ret
            );
        }
        to_result(ret)?;
        Ok(Self { parameters })
    }

    /// The parameters that do not change after load.
    pub(crate) fn parameters(&self) -> &'static Parameters {
        self.parameters
    }

    /// Whether the hook is alive, or what is wrong with it.
    ///
    /// A probe can be registered and yet not act: on x86 it rides on ftrace, which a sysctl turns
    /// off without a word. So call the hooked function: with no clients the kernel (6.1 to 7.3)
    /// returns -1 at once without looking at the provider. Never counted, and independent of the
    /// mode.
    pub(crate) fn self_test(&self) -> Result<(), &'static CStr> {
        self_test()
    }
}

impl Drop for Hook {
    /// When it returns no handler is running, and calls that are still under way return to their
    /// callers without one.
    fn drop(&mut self) {
        // SAFETY: A `Hook` exists only while the probe is registered.
        unsafe { bindings::unregister_kretprobe(KERNEL_PROBE.0.get()) };
    }
}

fn register_error(errno: c_int) -> &'static str {
    match errno.unsigned_abs() {
        kernel::bindings::ENOENT => "the kernel has no such function (CONFIG_PCI_P2PDMA is off)",
        kernel::bindings::EOPNOTSUPP => {
            "the kernel has no return probes (CONFIG_KRETPROBES is off)"
        }
        kernel::bindings::EINVAL => "the kernel does not allow a probe there",
        kernel::bindings::EILSEQ => "the function's first instruction cannot be probed",
        kernel::bindings::ENOMEM => "out of memory (lower maxactive)",
        kernel::bindings::EPERM | kernel::bindings::EACCES => "the kernel forbids probes",
        kernel::bindings::EBUSY => "something else holds the function's entry",
        _ => "unexpected error",
    }
}

/// Calls that the hook did not see.
///
/// Either no instance was free, or a probe was running on this CPU already. The kernel counts
/// without atomic operations, so under contention the number is a lower bound. A hook that was
/// disarmed counts nothing; that is what the self-test is for.
fn missed() -> c_ulong {
    let probe = KERNEL_PROBE.0.get();
    // SAFETY: The probe is static. The kernel changes the counters meanwhile, as it does for
    // everybody who reads them; a volatile read of an aligned word is a `READ_ONCE()`.
    let (no_instance, no_probe) = unsafe {
        (
            (&raw const (*probe).nmissed).read_volatile(),
            (&raw const (*probe).kp.nmissed).read_volatile(),
        )
    };
    no_probe.wrapping_add(no_instance as c_ulong)
}

/// See [`Hook::self_test`].
fn self_test() -> Result<(), &'static CStr> {
    let _one_at_a_time = SELF_TEST_LOCK.lock();
    let missed_before = missed();

    SELF_TEST_PROGRESS.store(NOT_ENTERED, Relaxed);
    SELF_TEST_TASK.store(current_task(), Relaxed);
    // SAFETY: With no clients the function looks neither at the provider nor at the clients.
    let answer =
        unsafe { bindings::pci_p2pdma_distance_many(ptr::null_mut(), ptr::null_mut(), 0, false) };
    SELF_TEST_TASK.store(0, Relaxed);

    match SELF_TEST_PROGRESS.load(Relaxed) {
        NOT_ENTERED if missed() != missed_before => {
            Err(c"no kretprobe instance was free (raise maxactive)")
        }
        NOT_ENTERED => {
            Err(c"the hook did not run (sysctl kernel.ftrace_enabled=0, or kprobes disabled?)")
        }
        ENTERED => Err(c"the hook did not run at return"),
        _ if answer != SELF_TEST_ANSWER => {
            Err(c"the answer set by the hook did not reach the caller")
        }
        _ => Ok(()),
    }
}

/// For `common/state.c`: null if the self-test passes, else the reason.
#[no_mangle]
extern "C" fn tp2_self_test() -> *const c_char {
    match self_test() {
        Ok(()) => ptr::null(),
        Err(why) => why.as_char_ptr(),
    }
}

/// For `common/state.c`: calls that the hook did not see.
#[no_mangle]
extern "C" fn tp2_missed() -> c_ulong {
    missed()
}

// The definitions have the types that `common/tp2.h` declares.
const _: [unsafe extern "C" fn() -> *const c_char; 2] = [bindings::tp2_self_test, tp2_self_test];
const _: [unsafe extern "C" fn() -> c_ulong; 2] = [bindings::tp2_missed, tp2_missed];

/// The files under `/sys/module/tp2_p2pdma/override/`, there as long as this exists.
pub(crate) struct StateFiles(());

impl StateFiles {
    /// Makes the files. The hook must outlive them: reading `self_test` uses it.
    pub(crate) fn create(_hook: &Hook) -> Result<Self> {
        // SAFETY: The hook is set, so its lock is there. It exists once, so the files do.
        to_result(unsafe { bindings::tp2_state_init() })?;
        Ok(Self(()))
    }
}

impl Drop for StateFiles {
    /// Waits for readers, so no self-test runs after it.
    fn drop(&mut self) {
        // SAFETY: The files are there as long as `self`.
        unsafe { bindings::tp2_state_exit() };
    }
}

/// The pair table in debugfs, shown as long as this exists.
pub(crate) struct PairTable(());

impl PairTable {
    /// Shows the table. The load must not fail after this.
    pub(crate) fn show(_hook: &Hook) -> Self {
        // SAFETY: Called once, since the hook exists once.
        unsafe { bindings::tp2_pairs_init() };
        Self(())
    }
}

impl Drop for PairTable {
    fn drop(&mut self) {
        // SAFETY: The table is shown as long as `self` exists.
        unsafe { bindings::tp2_pairs_exit() };
    }
}

/// Counts one call of the hooked function.
fn count(kernel_answer: c_int, answer: c_int) {
    // SAFETY: Safe in any context, and takes no pointers.
    unsafe { bindings::tp2_count(kernel_answer, answer) };
}

/// Notes the decision for one call in the pair table.
fn record(call: &policy::Call, decision: &policy::Decision) {
    let rule = match decision.rule {
        Rule::KernelAllows => bindings::TP2_KERNEL_ALLOWS,
        // There is no pair.
        Rule::NotOneClient => return,
        Rule::SameFunction => bindings::TP2_SAME_FUNCTION,
        Rule::Vendor => bindings::TP2_VENDOR,
        Rule::Class => bindings::TP2_CLASS,
        Rule::NotNamed => bindings::TP2_NOT_NAMED,
        Rule::SharedUpstream => bindings::TP2_SHARED_UPSTREAM,
        Rule::CrossHostBridge => bindings::TP2_CROSS_HOST_BRIDGE,
        Rule::DeniedBridge => bindings::TP2_DENIED_BRIDGE,
        Rule::UnknownBridge => bindings::TP2_UNKNOWN_BRIDGE,
        Rule::Observe => bindings::TP2_OBSERVE,
        Rule::Override => bindings::TP2_OVERRIDE,
    };
    let to_c = |address: Address| bindings::tp2_address {
        domain: address.domain,
        bus: address.bus,
        devfn: address.devfn,
    };
    let provider = to_c(call.provider.address);
    let client = to_c(call.client.address);
    // SAFETY: Never sleeps or allocates, and copies the addresses, which outlive the call.
    unsafe {
        bindings::tp2_pairs_record(
            &provider,
            &client,
            call.kernel_answer,
            decision.answer,
            rule,
        )
    };
}

/// The mode at this moment. Root may change it while calls are under way, so a call reads it once.
fn mode() -> Mode {
    // SAFETY: Only reads a word.
    match unsafe { bindings::tp2_get_mode() } {
        bindings::TP2_MODE_FORCE => Mode::Force,
        bindings::TP2_MODE_OBSERVE => Mode::Observe,
        _ => Mode::Off,
    }
}

/// The name of the mode at this moment, as the parameter spells it.
///
/// Not the string of `tp2_mode_name()`: `core` measures a C string with an addition that can panic.
pub(crate) fn mode_name() -> &'static str {
    match mode() {
        Mode::Force => "force",
        Mode::Observe => "observe",
        Mode::Off => "off",
    }
}

/// Makes the sysfs file `gpu_driver_was_bound` say so.
pub(crate) fn set_gpu_driver_was_bound() {
    // SAFETY: The one other use is a read of this byte when the file is read.
    unsafe { (&raw mut bindings::tp2_gpu_driver_was_bound).write_volatile(true) };
}

/// A device that somebody holds for `'a`.
///
/// # Invariants
///
/// `raw` points to a device that is held, and with it those above it, for `'a`.
#[derive(Clone, Copy)]
pub(crate) struct Device<'a> {
    raw: NonNull<bindings::device>,
    held: PhantomData<&'a bindings::device>,
}

impl<'a> Device<'a> {
    /// Wraps a pointer from C; `None` for null.
    ///
    /// # Safety
    ///
    /// A pointer that is not null must be that of a device which is held for `'a`.
    unsafe fn from_raw(raw: *mut bindings::device) -> Option<Self> {
        // INVARIANT: By the requirement of this function, and because a device holds its parent.
        NonNull::new(raw).map(|raw| Self {
            raw,
            held: PhantomData,
        })
    }

    /// The device above this one.
    pub(crate) fn parent(self) -> Option<Self> {
        // SAFETY: The type invariant: this device is held, and holds its parent.
        unsafe { Self::from_raw((*self.raw.as_ptr()).parent) }
    }

    /// This device as a PCI function, if it is one.
    pub(crate) fn as_pci_function(self) -> Option<PciFunction<'a>> {
        // SAFETY: The type invariant. Holding the device is holding the function it is part of.
        unsafe { PciFunction::from_raw(bindings::tp2_helper_to_pci_dev(self.raw.as_ptr())) }
    }
}

/// A PCI function that somebody holds for `'a`.
///
/// # Invariants
///
/// `raw` points to a function that is held, and with it the bridges above it, for `'a`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct PciFunction<'a> {
    raw: NonNull<bindings::pci_dev>,
    held: PhantomData<&'a bindings::pci_dev>,
}

impl<'a> PciFunction<'a> {
    /// Wraps a pointer from C; `None` for null.
    ///
    /// # Safety
    ///
    /// A pointer that is not null must be that of a function which is held for `'a`.
    unsafe fn from_raw(raw: *mut bindings::pci_dev) -> Option<Self> {
        // INVARIANT: By the requirement of this function, and because a device holds its parent.
        NonNull::new(raw).map(|raw| Self {
            raw,
            held: PhantomData,
        })
    }

    /// PCI vendor ID.
    pub(crate) fn vendor(self) -> u16 {
        // SAFETY: The type invariant. Does not change once the function has been added.
        unsafe { (*self.raw.as_ptr()).vendor }
    }

    /// PCI device ID.
    pub(crate) fn device(self) -> u16 {
        // SAFETY: As for the vendor.
        unsafe { (*self.raw.as_ptr()).device }
    }

    /// Class code, 24 bits.
    fn class(self) -> u32 {
        // SAFETY: As for the vendor.
        unsafe { (*self.raw.as_ptr()).class }
    }

    /// Device and function number on the bus, as `PCI_DEVFN()` packs them.
    pub(crate) fn devfn(self) -> u32 {
        // SAFETY: As for the vendor.
        unsafe { (*self.raw.as_ptr()).devfn }
    }

    /// What the rules need to know of the function.
    pub(crate) fn read(self) -> Function {
        // SAFETY: The type invariant. A function has a bus, which it holds.
        let (domain, bus) = unsafe {
            let bus = (*self.raw.as_ptr()).bus;
            (bindings::tp2_helper_domain(bus), (*bus).number)
        };
        Function {
            address: Address {
                domain: domain as u32,
                bus,
                devfn: self.devfn() as u8,
            },
            vendor: self.vendor(),
            class: self.class(),
        }
    }

    /// The bridge above this function; `None` on the root bus.
    pub(crate) fn upstream_bridge(self) -> Option<Self> {
        // SAFETY: The type invariant: this function is held, and holds the bridge.
        unsafe { Self::from_raw(bindings::tp2_helper_upstream_bridge(self.raw.as_ptr())) }
    }

    /// Whether this is a PCIe root port.
    pub(crate) fn is_root_port(self) -> bool {
        // SAFETY: The type invariant; reads a field.
        unsafe { bindings::tp2_helper_is_root_port(self.raw.as_ptr()) }
    }

    /// The host bridge that this function hangs under.
    pub(crate) fn host_bridge(self) -> Option<HostBridge<'a>> {
        // SAFETY: The type invariant: a function has a bus, and the buses up to the host bridge are
        // there as long as the function. Walks up without locks.
        let raw = unsafe { bindings::pci_find_host_bridge((*self.raw.as_ptr()).bus) };
        // INVARIANT: As above.
        NonNull::new(raw).map(|raw| HostBridge {
            raw,
            held: PhantomData,
        })
    }

    /// Whether the driver of this name is bound. Sleeps.
    ///
    /// The device lock waits for a driver that is just being bound, which has to count as well.
    pub(crate) fn has_driver(self, name: &CStr) -> bool {
        // SAFETY: The type invariant: the function is held, and its device is part of it. The
        // driver does not go, nor its name, while the device is locked and bound to it.
        unsafe {
            let device = &raw mut (*self.raw.as_ptr()).dev;
            bindings::tp2_helper_device_lock(device);
            let driver = (*device).driver;
            let found = !driver.is_null() && strcmp((*driver).name, name.as_char_ptr()) == 0;
            bindings::tp2_helper_device_unlock(device);
            found
        }
    }
}

/// A host bridge that is there for `'a`.
///
/// # Invariants
///
/// `raw` points to a host bridge below which a function is held for `'a`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct HostBridge<'a> {
    raw: NonNull<bindings::pci_host_bridge>,
    held: PhantomData<&'a bindings::pci_host_bridge>,
}

impl<'a> HostBridge<'a> {
    /// The first function on the root bus, which the kernel looks at without a reference as well.
    pub(crate) fn first_function(self) -> Option<PciFunction<'a>> {
        // SAFETY: The type invariant: the host bridge is there, and so is its root bus. The kernel
        // trusts the first function on it to stay under the same terms.
        unsafe { PciFunction::from_raw(bindings::tp2_helper_first_function(self.raw.as_ptr())) }
    }
}

/// Calls `visit` for every PCI function of the machine, in the manner of `for_each_pci_dev()`.
pub(crate) fn for_each_function(mut visit: impl FnMut(PciFunction<'_>)) {
    let mut raw = ptr::null_mut();

    loop {
        // SAFETY: `raw` is null or what the last turn got. Gives back the reference to it, and
        // returns the next one with a reference.
        raw = unsafe { pci_get_device(PCI_ANY_ID as c_uint, PCI_ANY_ID as c_uint, raw) };
        // SAFETY: The reference is held until the next turn, longer than `visit` has it.
        let Some(function) = (unsafe { PciFunction::from_raw(raw) }) else {
            return;
        };
        visit(function);
    }
}
