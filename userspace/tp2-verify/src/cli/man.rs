// SPDX-License-Identifier: GPL-2.0-only

//! The manual page: the main command, then each subcommand, in one page.

use std::io::{self, Write};

use clap::Command;
use clap_mangen::{
    Man,
    roff::{Roff, bold, roman},
};

/// Section of the manual: commands for administrators.
const SECTION: &str = "8";

/// Writes the page.
pub(super) fn write(out: &mut dyn Write, command: Command) -> io::Result<()> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    // A date that is empty would be written as nothing, and what follows would take its place.
    let man = Man::new(command.clone()).section(SECTION).date(" ").manual("System Administration");
    man.render_title(out)?;
    man.render_name_section(out)?;
    man.render_synopsis_section(out)?;
    man.render_options_section(out)?;
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        subcommand(out, sub)?;
    }
    let mut end = Roff::new();
    end.control("SH", ["EXIT STATUS"]);
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    end.text([roman(text.trim_start_matches("Exit status: "))]);
    end.to_writer(out)
}

fn subcommand(out: &mut dyn Write, sub: &Command) -> io::Result<()> {
    let mut page = Roff::new();
    page.control("SH", [sub.get_bin_name().unwrap_or_default().to_uppercase().as_str()]);
    page.text([roman(sub.get_about().map(ToString::to_string).unwrap_or_default())]);
    let own = |argument: &&clap::Arg| !argument.is_global_set() && !argument.is_hide_set();
    for argument in sub.get_arguments().filter(own).filter(|argument| argument.get_id() != "help") {
        page.control("TP", []);
        page.text([bold(argument.to_string())]);
        page.text([roman(argument.get_help().map(ToString::to_string).unwrap_or_default())]);
    }
    page.to_writer(out)
}
