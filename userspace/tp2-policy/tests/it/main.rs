// SPDX-License-Identifier: GPL-2.0-only

//! Tests of the rule book, the host-bridge table and the route prediction, all against independent restatements.

mod host_bridges;
mod known_routes;
mod module;
mod route_properties;
mod rule_properties;
mod rules;
mod support;
mod text;
mod transcript;
