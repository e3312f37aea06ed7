// SPDX-License-Identifier: GPL-2.0-only

//! Tells whether two AMD GPUs can reach each other over `PCIe`, and what is in the way.
//!
//! Data flows one way: [`collect`] reads a root directory into [`facts`], each of the [`gates`] is a pure function of
//! facts, the [`verdict`] one of findings, and [`render`] prints.

pub mod archive;
pub mod cli;
pub mod collect;
pub mod device_files;
pub mod facts;
pub mod finding;
pub mod gates;
pub mod language;
pub mod plain;
pub mod printable;
pub mod redact;
pub mod render;
pub mod report;
pub mod route;
pub mod runtime;
pub mod settings;
pub mod text;
pub mod verdict;
pub mod view;
pub mod way_up;
