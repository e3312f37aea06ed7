// SPDX-License-Identifier: GPL-2.0-only
//! Any machine: it is judged without a panic, a report of it says the same, and what is printed can be printed.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tp2_fuzz::{machine, plant, reference};
use tp2_verify::archive::{self, Package};
use tp2_verify::facts::Facts;
use tp2_verify::{render, report};

fuzz_target!(init: plant(&[reference::machine(), reference::live()]), |input: &[u8]| {
    let record = machine::record(input);
    let package = Package::new(&record, Vec::new()).expect("a machine is not too much");
    let packed = archive::pack(&package).expect("a machine is not too much");
    assert_eq!(archive::unpack("x", &packed).expect("what was written can be read"), record);

    let facts = machine::facts(record);
    let json = serde_json::to_vec(&facts).expect("facts are plain data");
    assert_eq!(serde_json::from_slice::<Facts>(&json).expect("facts are plain data"), facts);
    judge(&facts);
});

fn judge(facts: &Facts) {
    let report = report::make(facts);
    let mut out = Vec::new();
    render::json::write(&mut out, &report).expect("memory takes anything");
    render::prometheus::write(&mut out, &report).expect("memory takes anything");
    let table = render::markdown::plain_table(&report, true, 80).expect("memory takes anything");
    assert!(!table.chars().any(|c| c.is_control() && c != '\n'), "{table:?}");
    let mut summary = Vec::new();
    render::markdown::write(&mut summary, &report, "report.tar.gz").expect("memory takes anything");
}
