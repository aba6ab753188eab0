//! A command that runs as long as this process, and whose end is its end.

use std::{
    io::{self, IsTerminal as _},
    os::unix::process::ExitStatusExt as _,
    process::{ExitCode, ExitStatus},
};

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::Child;

use super::signals::{Signals, Stop};

/// Waits for the command, hands on the signals that ask to stop, and returns its status as that of this process.
///
/// # Cancel safety
///
/// If dropped, the command runs on.
pub(super) async fn run_to_end(child: &mut Child, signals: &mut Signals) -> io::Result<ExitCode> {
    loop {
        let id = child.id();
        tokio::select! {
            biased;
            status = child.wait() => return status.map(exit_code),
            signal = signals.recv() => match signal {
                // A terminal sends its interrupts to the command as well.
                Stop::Interrupt if io::stdin().is_terminal() => {}
                signal => forward(id, signal),
            },
        }
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

/// Returns the command's own status, or the code that a shell shows for the signal that ended it.
fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal));
    let code = code
        .and_then(|code| u8::try_from(code).ok())
        .unwrap_or(u8::MAX);
    ExitCode::from(code)
}
