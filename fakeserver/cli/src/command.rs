//! A command that runs as long as this process, and whose end is its end.

use std::{
    io::{self, IsTerminal as _},
    os::unix::process::ExitStatusExt as _,
    process::{ExitCode, ExitStatus},
};

use futures::FutureExt as _;
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::Child;

use super::signals::{Signals, Stop};

/// The end of a command.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub(super) status: ExitStatus,
    /// The first signal that asked to stop meanwhile.
    pub(super) stop: Option<Stop>,
}

/// Waits for the command, and hands on the signals that ask to stop.
///
/// # Cancel safety
///
/// If dropped, the command runs on.
pub(super) async fn run_to_end(child: &mut Child, signals: &mut Signals) -> io::Result<Outcome> {
    let mut stop = None;
    loop {
        let id = child.id();
        tokio::select! {
            biased;
            status = child.wait() => {
                // A terminal may have ended the command by a signal that has not been received here yet.
                let stop = stop.or_else(|| signals.recv().now_or_never());
                return status.map(|status| Outcome { status, stop });
            }
            signal = signals.recv() => {
                stop = stop.or(Some(signal));
                match signal {
                    // A terminal sends its interrupts to the command as well.
                    Stop::Interrupt if io::stdin().is_terminal() => {}
                    signal => forward(id, signal),
                }
            }
        }
    }
}

// === impl Outcome ===

impl Outcome {
    /// Returns the command's own status, or the code that a shell shows for the signal that ended it.
    pub(super) fn exit_code(self) -> ExitCode {
        let code = self.status.code();
        let code = code.or_else(|| self.status.signal().map(|signal| 128 + signal));
        let code = code.and_then(|code| u8::try_from(code).ok());
        ExitCode::from(code.unwrap_or(u8::MAX))
    }
}

fn forward(id: Option<u32>, signal: Stop) {
    let signal = match signal {
        Stop::Interrupt => Signal::INT,
        Stop::Terminate => Signal::TERM,
    };
    let id = id
        .and_then(|id| i32::try_from(id).ok())
        .and_then(Pid::from_raw);
    if let Some(id) = id
        && let Err(error) = kill_process(id, signal)
    {
        tracing::debug!(%error, "signal not handed on");
    }
}
