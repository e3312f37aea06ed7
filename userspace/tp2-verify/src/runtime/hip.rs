// SPDX-License-Identifier: GPL-2.0-only

//! The calls into `libamdhip64`. Signatures: `hip_runtime_api.h`, the same in releases 5.2 to 7.2; structures, which are
//! not, are left alone.

#![allow(unsafe_code, reason = "a C library is called; this file is the only one that does")]

use std::{
    ffi::{c_char, c_int, c_uint},
    mem::ManuallyDrop,
    path::Path,
};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW, Symbol};

type Init = unsafe extern "C" fn(c_uint) -> c_int;
type GetNumber = unsafe extern "C" fn(*mut c_int) -> c_int;
type GetPciBusId = unsafe extern "C" fn(*mut c_char, c_int, c_int) -> c_int;
type CanAccessPeer = unsafe extern "C" fn(*mut c_int, c_int, c_int) -> c_int;

/// `hipSuccess`.
const SUCCESS: c_int = 0;
/// Length that is told to the library: twice what an address takes.
const TOLD: c_int = 32;
/// Length that there is: a library that forgets the terminator, or writes somewhat too much, does no harm.
const BUFFER: usize = 256;

/// The library, loaded.
pub(super) struct Hip {
    init: Symbol<Init>,
    device_count: Symbol<GetNumber>,
    pci_bus_id: Symbol<GetPciBusId>,
    can_access_peer: Symbol<CanAccessPeer>,
    runtime_version: Option<Symbol<GetNumber>>,
    // Never unloaded: the runtime's threads and exit handlers would lose their code.
    _library: ManuallyDrop<Library>,
}

impl Hip {
    /// Loads it, which runs its constructors. The error is the loader's text.
    pub(super) fn load(path: &Path) -> Result<Self, String> {
        // SAFETY: constructors of the library run now and may do anything; the caller is a process that exists for this,
        // has one thread besides its watchdog, and holds nothing that could be damaged.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
        let library = ManuallyDrop::new(library.map_err(|error| words(&error))?);
        // SAFETY: the types are those of hip_runtime_api.h for these names, and the library is never unloaded.
        unsafe {
            Ok(Self {
                init: symbol(&library, "hipInit")?,
                device_count: symbol(&library, "hipGetDeviceCount")?,
                pci_bus_id: symbol(&library, "hipDeviceGetPCIBusId")?,
                can_access_peer: symbol(&library, "hipDeviceCanAccessPeer")?,
                runtime_version: symbol(&library, "hipRuntimeGetVersion").ok(),
                _library: library,
            })
        }
    }

    /// `hipInit(0)`.
    pub(super) fn init(&self) -> Result<(), i32> {
        // SAFETY: takes a number, returns a code.
        checked(unsafe { (self.init)(0) })
    }

    /// Number of devices; -1 if the call succeeds without telling.
    pub(super) fn device_count(&self) -> Result<i32, i32> {
        let mut count = -1;
        // SAFETY: writes one int through a pointer that is valid for the call.
        checked(unsafe { (self.device_count)(&raw mut count) })?;
        Ok(count)
    }

    /// Version of the runtime, if it has the call.
    pub(super) fn version(&self) -> Option<Result<i32, i32>> {
        let call = self.runtime_version.as_ref()?;
        let mut version = -1;
        // SAFETY: writes one int through a pointer that is valid for the call.
        Some(checked(unsafe { call(&raw mut version) }).map(|()| version))
    }

    /// PCI address of a device, as the library writes it.
    pub(super) fn pci_bus_id(&self, device: i32) -> Result<String, i32> {
        let mut buffer = [0_u8; BUFFER];
        // SAFETY: writes at most `TOLD` characters to a buffer that is longer and outlives the call.
        checked(unsafe { (self.pci_bus_id)(buffer.as_mut_ptr().cast(), TOLD, device) })?;
        let text = buffer.split(|byte| *byte == 0).next().unwrap_or_default();
        Ok(String::from_utf8_lossy(text).into_owned())
    }

    /// Whether `device` can reach memory of `peer`: 0 or 1; -1 if the call succeeds without telling.
    pub(super) fn can_access_peer(&self, device: i32, peer: i32) -> Result<i32, i32> {
        let mut answer = -1;
        // SAFETY: writes one int through a pointer that is valid for the call.
        checked(unsafe { (self.can_access_peer)(&raw mut answer, device, peer) })?;
        Ok(answer)
    }
}

/// Finds a function.
///
/// # Safety
///
/// `T` must be the type of the function with this name, and the library must stay loaded.
unsafe fn symbol<T>(library: &Library, name: &str) -> Result<Symbol<T>, String> {
    // SAFETY: the caller answers for the type.
    unsafe { library.get(name.as_bytes()) }.map_err(|error| words(&error))
}

fn checked(code: c_int) -> Result<(), i32> {
    if code == SUCCESS { Ok(()) } else { Err(code) }
}

/// The loader's own sentence, which libloading keeps behind one that says little.
fn words(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}
