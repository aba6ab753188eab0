//! The signals of the process.

use tokio_util::sync::CancellationToken;

use super::ManagerError;

/// Runs until a signal, and then to the end in good order, which a second signal cuts short.
///
/// # Errors
///
/// As of what runs; or the signals cannot be listened to.
///
/// # Cancel safety
///
/// As of what runs.
pub(crate) async fn until_signal<F>(
    run: impl FnOnce(CancellationToken) -> F,
) -> Result<(), ManagerError>
where
    F: Future<Output = Result<(), ManagerError>>,
{
    let mut signals = Signals::listen().map_err(ManagerError::Signals)?;
    let stop = CancellationToken::new();
    let running = run(stop.clone());
    tokio::pin!(running);
    tokio::select! {
        biased;
        outcome = &mut running => return outcome,
        () = signals.next() => stop.cancel(),
    }
    tokio::select! {
        biased;
        outcome = running => outcome,
        () = signals.next() => Ok(()),
    }
}

/// The signals that end a program.
#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(not(unix))]
struct Signals;

#[cfg(unix)]
impl Signals {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            biased;
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
