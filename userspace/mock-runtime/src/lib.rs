// SPDX-License-Identifier: GPL-2.0-only

//! A stand-in for `libamdhip64`, for tests only. What it says is simulated, and set by environment variables:
//!
//! | variable | meaning |
//! |---|---|
//! | `TP2_MOCK_DEVICES` | PCI addresses of the devices, comma-separated; an address may be any text |
//! | `TP2_MOCK_PEERS` | a row for each device, comma-separated; character `j` of row `i`: whether `i` can reach `j` |
//! | `TP2_MOCK_VERSION` | answer of `hipRuntimeGetVersion` |
//! | `TP2_MOCK_FAULT` | `CALL=FAULT`, comma-separated |
//!
//! A call is a function's name, `load` (a constructor) or `exit` (an exit handler). A fault is an error code, or `abort`,
//! `segv`, `hang`, `exit` (ends the process with status 0), `silent` (success without an answer), `flood` (writes to
//! standard output without end), `chat` (writes to both outputs, then works as always), or `value:N` (success, and N as
//! the answer).

#![allow(unsafe_code, reason = "it is called as a C library is")]
// The names are those of the library that it plays.
#![allow(non_snake_case, reason = "names of C functions")]

mod faults;

use std::{
    env,
    ffi::{c_char, c_int, c_uint},
    slice,
};

use faults::{Fault, act};

const SUCCESS: c_int = 0;
const INVALID_VALUE: c_int = 1;
const NO_DEVICE: c_int = 100;
const INVALID_DEVICE: c_int = 101;

fn list(name: &str) -> Vec<String> {
    let text = env::var(name).unwrap_or_default();
    text.split(',').filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// Carries out the fault of a call; `Ok` holds the value that it gives in place of the answer.
fn enter(call: &str) -> Result<Answer, c_int> {
    match act(call) {
        None => Ok(Answer::True),
        Some(Fault::Silent) => Ok(Answer::None),
        Some(Fault::Value(value)) => Ok(Answer::Instead(value)),
        Some(Fault::Code(code)) => Err(code),
    }
}

enum Answer {
    True,
    None,
    Instead(c_int),
}

/// Puts a number where the caller wants it.
///
/// # Safety
///
/// `place` must be null or valid for writing.
unsafe fn give(call: &str, place: *mut c_int, value: impl FnOnce() -> Result<c_int, c_int>) -> c_int {
    let value = match enter(call) {
        Err(code) => return code,
        Ok(Answer::None) => return SUCCESS,
        Ok(Answer::Instead(value)) => Ok(value),
        Ok(Answer::True) => value(),
    };
    match value {
        Ok(_) if place.is_null() => INVALID_VALUE,
        Ok(value) => {
            // SAFETY: not null, so valid, as the caller promises.
            unsafe { place.write(value) };
            SUCCESS
        }
        Err(code) => code,
    }
}

/// Plays `hipInit`.
#[unsafe(no_mangle)]
pub extern "C" fn hipInit(_flags: c_uint) -> c_int {
    match enter("hipInit") {
        Err(code) => code,
        Ok(_) if list("TP2_MOCK_DEVICES").is_empty() => NO_DEVICE,
        Ok(_) => SUCCESS,
    }
}

/// Plays `hipGetDeviceCount`.
///
/// # Safety
///
/// As C has it: `count` must be null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDeviceCount(count: *mut c_int) -> c_int {
    let devices = || c_int::try_from(list("TP2_MOCK_DEVICES").len()).map_err(|_| INVALID_VALUE);
    // SAFETY: the caller's promise.
    unsafe { give("hipGetDeviceCount", count, devices) }
}

/// Plays `hipRuntimeGetVersion`.
///
/// # Safety
///
/// As C has it: `version` must be null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipRuntimeGetVersion(version: *mut c_int) -> c_int {
    let said = || Ok(env::var("TP2_MOCK_VERSION").ok().and_then(|text| text.parse().ok()).unwrap_or(0));
    // SAFETY: the caller's promise.
    unsafe { give("hipRuntimeGetVersion", version, said) }
}

/// Plays `hipDeviceCanAccessPeer`.
///
/// # Safety
///
/// As C has it: `can` must be null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceCanAccessPeer(can: *mut c_int, device: c_int, peer: c_int) -> c_int {
    let cell = || {
        let (row, column) = (usize::try_from(device), usize::try_from(peer));
        let (Ok(row), Ok(column)) = (row, column) else {
            return Err(INVALID_DEVICE);
        };
        let rows = list("TP2_MOCK_PEERS");
        let cell = rows.get(row).and_then(|row| row.as_bytes().get(column));
        cell.map(|cell| c_int::from(*cell == b'1')).ok_or(INVALID_DEVICE)
    };
    // SAFETY: the caller's promise.
    unsafe { give("hipDeviceCanAccessPeer", can, cell) }
}

/// Plays `hipDeviceGetPCIBusId`.
///
/// # Safety
///
/// As C has it: `buffer` must be null or valid for `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetPCIBusId(buffer: *mut c_char, length: c_int, device: c_int) -> c_int {
    match enter("hipDeviceGetPCIBusId") {
        Err(code) => return code,
        Ok(Answer::None) => return SUCCESS,
        Ok(Answer::True | Answer::Instead(_)) => {}
    }
    let devices = list("TP2_MOCK_DEVICES");
    let address = usize::try_from(device).ok().and_then(|index| devices.get(index));
    let (Some(address), Ok(length)) = (address, usize::try_from(length)) else {
        return INVALID_DEVICE;
    };
    if buffer.is_null() || length == 0 {
        return INVALID_VALUE;
    }
    // SAFETY: valid for `length` bytes, as the caller promises.
    let room = unsafe { slice::from_raw_parts_mut(buffer.cast::<u8>(), length) };
    // Like a library that cuts off: the last byte is the terminator.
    for (place, byte) in room.iter_mut().zip(address.bytes().take(length - 1).chain([0])) {
        *place = byte;
    }
    SUCCESS
}
