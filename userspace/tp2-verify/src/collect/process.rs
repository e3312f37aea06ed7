// SPDX-License-Identifier: GPL-2.0-only

//! Runs a process with a limit on its time and its words: for what may hang or crash, and must not take the tool with it.

use std::{
    io::{self, Read},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

/// As much of standard error as anybody reads.
const ERR_LIMIT: usize = 8 * 1024;
/// How long a killed process may take to go, and a pipe to end after its process.
const GRACE: Duration = Duration::from_secs(1);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(2);

/// What a process said, and how it ended.
pub(super) struct Ended {
    pub(super) out: Kept,
    pub(super) err: Kept,
    pub(super) end: End,
}

/// Runs it for at most `limit`, with nothing on standard input, and keeps `out_limit` bytes of standard output.
pub(super) fn run(command: &mut Command, limit: Duration, out_limit: usize) -> io::Result<Ended> {
    // Empty, as /dev/null is, which a bare container need not have.
    command.stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    drop(child.stdin.take());
    let out = child.stdout.take().map(|pipe| keep(pipe, out_limit));
    let err = child.stderr.take().map(|pipe| keep(pipe, ERR_LIMIT));
    let end = wait(&mut child, limit);
    Ok(Ended { out: take(out.as_ref()), err: take(err.as_ref()), end })
}

/// What came through a pipe.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) bytes: Vec<u8>,
    /// Whether there was more than was kept.
    pub(super) cut: bool,
}

/// A chunk of a pipe's contents, as far as it is kept; `true`: there was more.
type Chunk = (Vec<u8>, bool);

/// Empties a pipe to its end, so that nobody has to wait for room, and passes on the first `limit` bytes.
fn keep(mut pipe: impl Read + Send + 'static, limit: usize) -> Receiver<Chunk> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut room = limit;
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(length @ 1..) = pipe.read(&mut buffer) {
            let kept = buffer.get(..length.min(room)).unwrap_or_default().to_vec();
            let cut = kept.len() < length;
            room = room.saturating_sub(length);
            if !kept.is_empty() || cut {
                // Nobody listens any more where the process outlived its own end.
                let _ = sender.send((kept, cut));
            }
        }
    });
    receiver
}

/// Takes what came, and waits a moment for the end: another process may have inherited the pipe.
fn take(receiver: Option<&Receiver<Chunk>>) -> Kept {
    let mut all = Kept::default();
    let deadline = Instant::now() + GRACE;
    while let Some(receiver) = receiver {
        let Ok((bytes, cut)) = receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) else {
            break;
        };
        all.bytes.extend(bytes);
        all.cut |= cut;
    }
    all
}

/// How the process ended.
pub(super) enum End {
    Itself(ExitStatus),
    Killed { seconds: u64, unkillable: bool },
}

fn wait(child: &mut Child, limit: Duration) -> End {
    if let Some(status) = wait_until(child, Instant::now() + limit) {
        return End::Itself(status);
    }
    // It may have ended just now: then there is nothing to kill, and the limit was reached all the same.
    let _ = child.kill();
    let gone = wait_until(child, Instant::now() + GRACE).is_some();
    End::Killed { seconds: limit.as_secs(), unkillable: !gone }
}

fn wait_until(child: &mut Child, deadline: Instant) -> Option<ExitStatus> {
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if Instant::now() >= deadline {
            return None;
        }
        thread::sleep(PAUSE);
    }
}
