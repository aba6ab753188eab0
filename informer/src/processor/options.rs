//! Options of one handler.

use std::{sync::Arc, time::Duration};

use super::Buffer;

/// The shortest resync period; what is shorter is raised to it.
const RESYNC_PERIOD_MIN: Duration = Duration::from_secs(1);

/// Options of one handler.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HandlerOptions {
    /// Its name in logs, metrics and errors; the type's name if `None`.
    pub name: Option<Arc<str>>,
    /// The interval of resyncs; `None` for never.
    pub resync_period: Option<Duration>,
    /// The policy for changes that it is too slow for.
    pub buffer: Buffer,
    /// The time for which its last calls are waited for, if it is called on a thread that it may block.
    pub blocking: Option<Duration>,
    /// The number of waiting live changes from which a warning is logged.
    pub warning_at: u64,
}

// === impl HandlerOptions ===

impl Default for HandlerOptions {
    fn default() -> Self {
        Self {
            name: None,
            resync_period: None,
            buffer: Buffer::default(),
            blocking: None,
            warning_at: 10_000,
        }
    }
}

impl HandlerOptions {
    /// Named `name` in logs, metrics and errors.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sends all held objects again every `period`, each as an update whose old and new state are the same handle.
    ///
    /// A resync costs no request. A period below one second is one second; zero means never. The period is this handler's
    /// own, independent of other handlers and of when it joins; a resync that is due before the last one was handled is
    /// skipped.
    #[doc(alias = "SyncAllInfo")]
    #[must_use]
    pub fn with_resync_period(mut self, period: Duration) -> Self {
        self.resync_period = (!period.is_zero()).then(|| period.max(RESYNC_PERIOD_MIN));
        self
    }

    /// Keeps what waits for it as `buffer` says.
    #[must_use]
    pub fn with_buffer(mut self, buffer: Buffer) -> Self {
        self.buffer = buffer;
        self
    }

    /// Calls the handler on a thread that it may block, one of the runtime's for blocking work, instead of a task.
    ///
    /// Its calls still come one at a time and in order. Once it is removed, or the informer ends, its pending
    /// notifications and the running call are waited for no longer than `limit`. Then a shutdown continues without it,
    /// and the thread ends when the call returns. A runtime that is dropped waits for that thread.
    ///
    /// tokio's paused clock does not advance by itself while such a call runs.
    ///
    /// Has no effect on an [`AsyncEventHandler`](crate::AsyncEventHandler) or a stream.
    #[must_use]
    pub fn with_blocking(mut self, limit: Duration) -> Self {
        self.blocking = Some(limit);
        self
    }

    /// Logs a warning when more than `pending` notifications of live changes wait, and another only after their number
    /// was below half of it.
    #[must_use]
    pub fn with_warning_at(mut self, pending: u64) -> Self {
        self.warning_at = pending;
        self
    }
}
