//! The connection that a request came by, as far as a fault can break it.

use std::{
    error::Error,
    fmt, io, iter,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Waker},
};

use tokio_util::sync::CancellationToken;

/// The connection of a request, found among its extensions. Clones are handles of the same.
///
/// In process there is none: then nothing happens to it, and whoever carries out a fault has only the answer to work on.
#[derive(Clone, Default)]
pub struct Connection {
    line: Option<Arc<Line>>,
}

#[derive(Default)]
struct Line {
    is_mute: AtomicBool,
    /// Fires when it breaks.
    broken: CancellationToken,
    /// Fires when no more requests are wanted on it.
    leaving: CancellationToken,
    flushes: Mutex<Flushes>,
}

/// How often everything that was written has gone to the system, and who waits for the next time.
#[derive(Default)]
struct Flushes {
    count: u64,
    waiting: Vec<Waker>,
}

/// How a connection breaks behind what was sent on it. The body of an answer orders it by failing with this as its error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: a connection ends, or does not"
)]
pub enum Breakage {
    /// By RST; one stream of HTTP/2 by `RST_STREAM`, and the others go on.
    #[error("connection reset by fault")]
    Reset,
    /// It becomes half-open, for good: nothing is sent any more, on no stream, not even an answer to a PING of HTTP/2, and
    /// what comes is not heard. It stays until its client gives it up.
    #[error("connection half-open by fault")]
    HalfOpen,
}

// === impl Breakage ===

impl Breakage {
    /// What `error` orders, if it does, below what layers have put around it.
    pub(crate) fn of(error: &(dyn Error + 'static)) -> Option<Self> {
        let mut causes = iter::successors(Some(error), |cause| (*cause).source());
        causes.find_map(|cause| match cause.downcast_ref::<io::Error>() {
            Some(cause) => cause.get_ref()?.downcast_ref().copied(),
            None => cause.downcast_ref().copied(),
        })
    }
}

impl From<Breakage> for io::Error {
    fn from(breakage: Breakage) -> Self {
        let kind = match breakage {
            Breakage::Reset => io::ErrorKind::ConnectionReset,
            Breakage::HalfOpen => io::ErrorKind::TimedOut,
        };
        Self::new(kind, breakage)
    }
}

// === impl Connection ===

impl Connection {
    /// A connection over TCP.
    pub(crate) fn over_tcp() -> Self {
        Self {
            line: Some(Arc::default()),
        }
    }

    /// Whether there is one.
    pub fn is_over_tcp(&self) -> bool {
        self.line.is_some()
    }

    /// Breaks it at once, with RST: what is under way on it, all streams of HTTP/2, gets no further.
    ///
    /// Where there is none, whoever answers the request has to make the failure.
    pub fn reset(&self) {
        if let Some(line) = &self.line {
            line.broken.cancel();
        }
    }

    /// Makes it [half-open](Breakage::HalfOpen) at once.
    pub(crate) fn silence(&self) {
        if let Some(line) = &self.line {
            line.is_mute.store(true, Ordering::Relaxed);
        }
    }

    /// Asks its client to leave: GOAWAY in HTTP/2. What is under way goes on to its end, and then the connection is closed.
    #[doc(alias = "GOAWAY")]
    pub fn go_away(&self) {
        if let Some(line) = &self.line {
            line.leaving.cancel();
        }
    }

    pub(crate) fn is_mute(&self) -> bool {
        let line = self.line.as_ref();
        line.is_some_and(|line| line.is_mute.load(Ordering::Relaxed))
    }

    pub(crate) fn is_broken(&self) -> bool {
        let line = self.line.as_ref();
        line.is_some_and(|line| line.broken.is_cancelled())
    }

    /// Waits until it breaks. Cancel safe.
    pub(crate) async fn broken(&self) {
        match &self.line {
            Some(line) => line.broken.cancelled().await,
            None => std::future::pending().await,
        }
    }

    /// Waits until its client was asked to leave. Cancel safe.
    pub(crate) async fn leaving(&self) {
        match &self.line {
            Some(line) => line.leaving.cancelled().await,
            None => std::future::pending().await,
        }
    }

    /// Says that everything that was written so far has gone to the system.
    pub(crate) fn note_flush(&self) {
        let Some(line) = &self.line else { return };
        let mut flushes = lock(&line.flushes);
        flushes.count += 1;
        let waiting = std::mem::take(&mut flushes.waiting);
        drop(flushes);
        for waker in waiting {
            waker.wake();
        }
    }

    /// How often that was so.
    pub(crate) fn flush_count(&self) -> u64 {
        let line = self.line.as_ref();
        line.map_or(0, |line| lock(&line.flushes).count)
    }

    /// Ready when it was so more than `count` times.
    pub(crate) fn poll_flushed_after(&self, count: u64, context: &Context<'_>) -> Poll<()> {
        let Some(line) = &self.line else {
            return Poll::Ready(());
        };
        let mut flushes = lock(&line.flushes);
        if flushes.count > count {
            return Poll::Ready(());
        }
        let waiting = &mut flushes.waiting;
        if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
            waiting.push(context.waker().clone());
        }
        Poll::Pending
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("is_over_tcp", &self.is_over_tcp())
            .field("is_mute", &self.is_mute())
            .field("is_broken", &self.is_broken())
            .finish()
    }
}

/// Nothing panics while it is held.
fn lock(flushes: &Mutex<Flushes>) -> std::sync::MutexGuard<'_, Flushes> {
    flushes.lock().unwrap_or_else(PoisonError::into_inner)
}
