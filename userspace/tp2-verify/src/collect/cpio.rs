// SPDX-License-Identifier: GPL-2.0-only

//! Names in a cpio archive of the form `newc` (`Documentation/driver-api/early-userspace/buffer-format.rst`), fed in
//! pieces. Contents are passed over.

use super::unpack::SEGMENTS_LIMIT;

/// `newc`, and the same with checksums.
pub(super) const MAGICS: [&[u8]; 2] = [b"070701", b"070702"];
/// Magic and thirteen numbers of eight hexadecimal digits.
const HEADER: usize = 110;
/// As the kernel's (`PATH_MAX`).
const NAME_LIMIT: usize = 4096;
const TRAILER: &[u8] = b"TRAILER!!!";

/// Where the walk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Between archives, where zeros are passed over.
    Between,
    /// Collecting a header.
    Header,
    /// Collecting a name; then this many bytes of contents follow.
    Name { length: usize, content: u64 },
    /// Passing over contents.
    Content(u64),
}

/// Walks over archives that follow each other.
pub(super) struct Walker<'a> {
    state: State,
    buffer: Vec<u8>,
    /// Archives begun.
    archives: usize,
    /// Called with each name; says whether to go on.
    on_name: &'a mut dyn FnMut(&[u8]) -> Result<(), String>,
}

impl<'a> Walker<'a> {
    pub(super) fn new(on_name: &'a mut dyn FnMut(&[u8]) -> Result<(), String>) -> Self {
        Self { state: State::Between, buffer: Vec::new(), archives: 0, on_name }
    }

    /// Whether it is between archives, so that the end here is a good one.
    pub(super) fn is_between(&self) -> bool {
        self.state == State::Between
    }

    /// Takes bytes up to the end of an archive; returns how many.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<usize, String> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let taken = match self.state {
                State::Between => {
                    let zeros = rest.iter().take_while(|byte| **byte == 0).count();
                    if zeros < rest.len() {
                        self.archives = self.archives.saturating_add(1);
                        if self.archives > SEGMENTS_LIMIT {
                            return Err(format!("has more than {SEGMENTS_LIMIT} archives"));
                        }
                        self.state = State::Header;
                    }
                    zeros
                }
                State::Header => self.collect(rest, HEADER),
                State::Name { length, .. } => self.collect(rest, length),
                State::Content(left) => {
                    let taken = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
                    self.state = State::Content(left - u64::try_from(taken).unwrap_or(left));
                    taken
                }
            };
            rest = rest.get(taken..).unwrap_or_default();
            if self.advance()? {
                break;
            }
        }
        Ok(bytes.len() - rest.len())
    }

    fn collect(&mut self, bytes: &[u8], wanted: usize) -> usize {
        let taken = wanted.saturating_sub(self.buffer.len()).min(bytes.len());
        self.buffer.extend(bytes.iter().take(taken));
        taken
    }

    /// Goes on where a part is complete; `true` at the end of an archive.
    fn advance(&mut self) -> Result<bool, String> {
        let mut is_last = false;
        match self.state {
            State::Header if self.buffer.len() == HEADER => {
                self.state = header(&self.buffer)?;
                self.buffer.clear();
            }
            State::Name { length, content } if self.buffer.len() == length => {
                let name = self.buffer.split(|byte| *byte == 0).next().unwrap_or_default();
                is_last = name == TRAILER;
                if !is_last {
                    (self.on_name)(name)?;
                }
                self.buffer.clear();
                self.state = if is_last { State::Between } else { State::Content(content) };
            }
            _ => {}
        }
        if self.state == State::Content(0) {
            self.state = State::Header;
        }
        Ok(is_last)
    }
}

/// What follows a header.
fn header(bytes: &[u8]) -> Result<State, String> {
    if !MAGICS.iter().any(|magic| bytes.starts_with(magic)) {
        return Err("holds something other than a cpio archive (newc)".to_owned());
    }
    // c_filesize and c_namesize.
    let (Some(size), Some(name)) = (number(bytes, 6), number(bytes, 11)) else {
        return Err("has a cpio header with something other than hexadecimal digits".to_owned());
    };
    let name = usize::try_from(name).unwrap_or(usize::MAX);
    if name == 0 || name > NAME_LIMIT {
        return Err(format!("has a cpio header with a name of {name} bytes"));
    }
    // Header with name, and contents, are filled up to four bytes.
    let length = (HEADER + name).next_multiple_of(4) - HEADER;
    Ok(State::Name { length, content: u64::from(size).next_multiple_of(4) })
}

fn number(header: &[u8], index: usize) -> Option<u32> {
    let start = 6 + index * 8;
    let digits = std::str::from_utf8(header.get(start..start + 8)?).ok()?;
    digits.chars().all(|c| c.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}
