// SPDX-License-Identifier: GPL-2.0-only

//! Prints results, and decides nothing.

pub mod explain;
pub mod json;
pub mod markdown;
pub mod module;
pub mod prometheus;
pub mod table;
mod wrap;
