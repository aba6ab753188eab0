//! The signals that ask a program to stop.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that ask to stop.
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

// === impl Signals ===

impl Signals {
    /// Takes them over from the system, which would end the process.
    pub(super) fn listen() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for the next one. Cancel safe.
    pub(super) async fn recv(&mut self) {
        tokio::select! {
            biased;
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
