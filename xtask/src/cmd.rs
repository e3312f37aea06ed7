// SPDX-License-Identifier: GPL-2.0-only
//! Runs host programs; a failure names the whole command line and the end of what it printed.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};

/// How many of the last lines a failed command's error shows.
const TAIL_LINES: usize = 30;

/// A host command whose failure is one readable error.
pub(crate) struct Cmd {
    inner: Command,
}

impl Cmd {
    /// Starts a command line with the program's name.
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        let mut inner = Command::new(program);
        inner.stdin(Stdio::null());
        Self { inner }
    }

    /// Adds one argument.
    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.inner.arg(arg);
        self
    }

    /// Adds several arguments.
    pub(crate) fn args<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(mut self, args: I) -> Self {
        self.inner.args(args);
        self
    }

    /// Sets an environment variable for the command.
    pub(crate) fn env(mut self, key: &str, value: impl AsRef<OsStr>) -> Self {
        self.inner.env(key, value);
        self
    }

    /// Sets the directory the command runs in.
    pub(crate) fn dir(mut self, dir: &Path) -> Self {
        self.inner.current_dir(dir);
        self
    }

    /// Runs the command with its output shown; an error when it does not exit with 0.
    pub(crate) fn run(mut self) -> Result<()> {
        let line = self.line();
        let status = self.inner.status().with_context(|| cannot_start(&line))?;
        if !status.success() {
            bail!("`{line}` failed ({status})");
        }
        Ok(())
    }

    /// Runs the command and returns its standard output; an error carries the end of its messages.
    pub(crate) fn output(self) -> Result<String> {
        self.output_of(&[0])
    }

    /// The same for a command whose answer is in its exit status, too.
    pub(crate) fn output_of(mut self, statuses: &[i32]) -> Result<String> {
        let line = self.line();
        let output = self.inner.output().with_context(|| cannot_start(&line))?;
        if !output.status.code().is_some_and(|code| statuses.contains(&code)) {
            bail!("`{line}` failed ({}):\n{}", output.status, tail(&output));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn line(&self) -> String {
        let mut line = self.inner.get_program().to_string_lossy().into_owned();
        for arg in self.inner.get_args() {
            let arg = arg.to_string_lossy();
            let quoted = if arg.contains([' ', '\n', '$']) { format!("{arg:?}") } else { arg.into_owned() };
            let _ = write!(line, " {quoted}");
        }
        line
    }
}

fn cannot_start(line: &str) -> String {
    format!("cannot start `{line}`: is the program installed? (`make prepare` installs what is needed)")
}

fn tail(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}
