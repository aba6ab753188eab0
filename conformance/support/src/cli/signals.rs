//! The signals that ask a program to stop.

use std::{
    future::pending,
    process,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
};

use tokio::{
    runtime::Builder,
    signal::unix::{Signal, SignalKind, signal},
};

use crate::task::detach_threads;

/// The exit status of a program that a second signal ends at once.
const ENDED: i32 = 130;

/// The signals that ask to stop.
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    /// `None` if it is ignored, as by `nohup`.
    hangup: Option<Signal>,
}

/// A flag that is set when the process is asked to stop, for programs without a runtime.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

// === impl StopFlag ===

impl StopFlag {
    /// Listens from now on, on a thread that ends with the process. A second signal ends the process at once. Where signals
    /// cannot be taken over, they end it as always.
    pub fn listen() -> Self {
        let flag = Self::default();
        let (set, (ready, is_ready)) = (flag.clone(), mpsc::channel());
        detach_threads(1, move || {
            let Ok(runtime) = Builder::new_current_thread().enable_io().build() else {
                return;
            };
            runtime.block_on(async {
                let signals = Signals::listen();
                let _ = ready.send(());
                let Ok(mut signals) = signals else { return };
                signals.recv().await;
                set.0.store(true, Ordering::Relaxed);
                signals.recv().await;
                process::exit(ENDED);
            });
        });
        // No answer means that it does not listen.
        let _ = is_ready.recv();
        flag
    }

    /// Returns whether a signal has arrived.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

// === impl Signals ===

impl Signals {
    /// Takes them over from the system, which would end the process.
    pub fn listen() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: if ignores_hangups() {
                None
            } else {
                Some(signal(SignalKind::hangup())?)
            },
        })
    }

    /// Waits for the next one. Cancel safe.
    pub async fn recv(&mut self) {
        let hung_up = async {
            match &mut self.hangup {
                Some(hangup) => drop(hangup.recv().await),
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            () = hung_up => {}
        }
    }
}

/// Returns whether SIGHUP is ignored, or its disposition is unknown.
fn ignores_hangups() -> bool {
    #[cfg(target_os = "linux")]
    {
        let status = procfs::process::Process::myself().and_then(|process| process.status());
        let bit = 1 << (SignalKind::hangup().as_raw_value() - 1);
        status.map_or(true, |status| status.sigign & bit != 0)
    }
    #[cfg(not(target_os = "linux"))]
    {
        true
    }
}
