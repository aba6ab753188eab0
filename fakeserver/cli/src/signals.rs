//! The signals that ask the program to stop.

use std::process::ExitCode;

use tokio::signal::unix::{self, Signal, SignalKind};

/// Waits for SIGINT and SIGTERM, which no longer end the process by themselves.
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

/// One of the signals that ask to stop.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stop {
    /// SIGINT, as from Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
}

// === impl Signals ===

impl Signals {
    pub(super) fn listen() -> Result<Self, String> {
        let listen =
            |kind| unix::signal(kind).map_err(|error| format!("cannot wait for signals: {error}"));
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
        })
    }

    /// The next signal. Cancel safe.
    pub(super) async fn recv(&mut self) -> Stop {
        tokio::select! {
            biased;
            _ = self.terminate.recv() => Stop::Terminate,
            _ = self.interrupt.recv() => Stop::Interrupt,
        }
    }
}

// === impl Stop ===

impl Stop {
    /// Returns the exit code that a shell shows for a process that this signal ended.
    pub(super) fn exit_code(self) -> ExitCode {
        match self {
            Self::Interrupt => ExitCode::from(128 + 2),
            Self::Terminate => ExitCode::from(128 + 15),
        }
    }
}
