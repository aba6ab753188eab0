//! A handle of the connection of a request, by which faults break it.

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

/// The connection of a request, found among its extensions. Clones are handles of the same connection.
///
/// In process, requests have no connection: the methods have no effect, and faults change only the response.
#[derive(Clone, Default)]
pub struct Connection {
    state: Option<Arc<ConnectionState>>,
}

#[derive(Default)]
struct ConnectionState {
    is_mute: AtomicBool,
    /// Fires when the connection breaks.
    broken: CancellationToken,
    /// Cancelled when the client gets a GOAWAY.
    leaving: CancellationToken,
    flushes: Mutex<Flushes>,
}

/// The number of complete flushes to the system, and the tasks that wait for the next one.
#[derive(Default)]
struct Flushes {
    count: u64,
    waiting: Vec<Waker>,
}

/// The break of a connection after the bytes that were sent on it. The body of an answer orders it by failing with this
/// error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: a connection ends, or does not"
)]
pub enum Breakage {
    /// RST; in HTTP/2 `RST_STREAM` of one stream, and the others stay open.
    #[error("connection reset by fault")]
    Reset,
    /// Half-open until the client closes the connection: nothing is read, and nothing is sent on any stream, not even
    /// the answer to a PING of HTTP/2.
    #[error("connection half-open by fault")]
    HalfOpen,
}

// === impl Breakage ===

impl Breakage {
    /// Finds the breakage among the sources of `error`.
    pub(crate) fn of(error: &(dyn Error + 'static)) -> Option<Self> {
        let mut causes = iter::successors(Some(error), |cause| (*cause).source());
        causes.find_map(|cause| match cause.downcast_ref::<io::Error>() {
            // `source` of an I/O error skips the error within, so that it is taken out here.
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
    /// Returns a connection over TCP.
    pub(crate) fn over_tcp() -> Self {
        Self {
            state: Some(Arc::default()),
        }
    }

    /// Returns whether there is a connection.
    pub fn is_over_tcp(&self) -> bool {
        self.state.is_some()
    }

    /// Breaks the connection at once with RST, all streams of HTTP/2 included.
    ///
    /// In process the code that answers the request has to make the failure.
    pub fn reset(&self) {
        if let Some(state) = &self.state {
            state.broken.cancel();
        }
    }

    /// Makes the connection [half-open](Breakage::HalfOpen) at once.
    pub(crate) fn silence(&self) {
        if let Some(state) = &self.state {
            state.is_mute.store(true, Ordering::Relaxed);
        }
    }

    /// Sends the client a GOAWAY over HTTP/2. Requests under way are completed, and then the connection is closed.
    #[doc(alias = "GOAWAY")]
    pub fn go_away(&self) {
        if let Some(state) = &self.state {
            state.leaving.cancel();
        }
    }

    pub(crate) fn is_mute(&self) -> bool {
        let state = self.state.as_ref();
        state.is_some_and(|state| state.is_mute.load(Ordering::Relaxed))
    }

    pub(crate) fn is_broken(&self) -> bool {
        let state = self.state.as_ref();
        state.is_some_and(|state| state.broken.is_cancelled())
    }

    /// Waits until the connection breaks. Cancel safe.
    pub(crate) async fn broken(&self) {
        match &self.state {
            Some(state) => state.broken.cancelled().await,
            None => std::future::pending().await,
        }
    }

    /// Waits until a GOAWAY is to be sent. Cancel safe.
    pub(crate) async fn leaving(&self) {
        match &self.state {
            Some(state) => state.leaving.cancelled().await,
            None => std::future::pending().await,
        }
    }

    /// Counts a flush: all bytes written so far have gone to the system.
    pub(crate) fn note_flush(&self) {
        let Some(state) = &self.state else { return };
        let mut flushes = lock(&state.flushes);
        flushes.count += 1;
        let waiting = std::mem::take(&mut flushes.waiting);
        drop(flushes);
        // Without the lock: a waker may poll at once, and take it.
        for waker in waiting {
            waker.wake();
        }
    }

    /// Returns the number of flushes.
    pub(crate) fn flush_count(&self) -> u64 {
        let state = self.state.as_ref();
        state.map_or(0, |state| lock(&state.flushes).count)
    }

    /// Is ready once there were more than `count` flushes.
    pub(crate) fn poll_flushed_after(&self, count: u64, context: &Context<'_>) -> Poll<()> {
        let Some(state) = &self.state else {
            return Poll::Ready(());
        };
        let mut flushes = lock(&state.flushes);
        // Under the lock under which the waker is added: a flush in between would never wake it.
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

/// Locks the flushes. No code panics while it holds the lock.
fn lock(flushes: &Mutex<Flushes>) -> std::sync::MutexGuard<'_, Flushes> {
    flushes.lock().unwrap_or_else(PoisonError::into_inner)
}
