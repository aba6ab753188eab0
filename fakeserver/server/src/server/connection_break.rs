//! Response bodies that break their connection by a fault.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{
    body::Body,
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use http::Version;
use http_body::Body as _;
use tokio::time::{Sleep, sleep};

use super::observed_body::{BodyObserver, PolledFrame, observe};
use crate::faults::{Breakage, Connection};

/// The time for which a client may take the bytes before the break.
const FLUSH_LIMIT: Duration = Duration::from_secs(5);

/// An observer that breaks the connection where the body fails by a [`Breakage`].
struct BreakObserver {
    connection: Connection,
    /// True if other requests share the connection, which then continues without this one.
    is_shared: bool,
    /// The number of flushes of the connection when it got the last part.
    flushes: u64,
    state: BreakState,
}

/// The state of a breakage.
enum BreakState {
    Intact,
    /// The bytes before the breakage are being flushed.
    Flushing(Breakage, Pin<Box<Sleep>>),
    /// The connection was broken: the body is pending for ever.
    Done,
}

/// Answers `request`, and breaks the connection where its body fails by a fault, after the bytes before were sent.
pub(super) async fn break_on_fault(
    State(connection): State<Connection>,
    mut request: Request,
    next: Next,
) -> Response {
    let is_shared = request.version() == Version::HTTP_2;
    request.extensions_mut().insert(connection.clone());
    let response = next.run(request).await;
    response.map(|body| {
        let observer = BreakObserver {
            flushes: connection.flush_count(),
            connection,
            is_shared,
            state: BreakState::Intact,
        };
        observe(body, observer)
    })
}

// === impl BreakObserver ===

impl BreakObserver {
    /// Breaks the connection once earlier bytes were sent, or the time limit for sending them has passed.
    fn poll_break(&mut self, context: &mut Context<'_>) -> PolledFrame {
        let BreakState::Flushing(breakage, limit) = &mut self.state else {
            return Poll::Pending;
        };
        let flushed = self.connection.poll_flushed_after(self.flushes, context);
        // A client that does not read would delay the break for ever.
        if flushed.is_pending() {
            ready!(limit.as_mut().poll(context));
        }
        let breakage = *breakage;
        // Before the break: the body is polled again while the connection closes.
        self.state = BreakState::Done;
        match breakage {
            Breakage::HalfOpen => {
                self.connection.silence();
                return Poll::Pending;
            }
            Breakage::Reset if self.is_shared => {}
            Breakage::Reset => self.connection.reset(),
        }
        Poll::Ready(Some(Err(axum::Error::new(breakage))))
    }
}

impl BodyObserver for BreakObserver {
    fn poll_frame(&mut self, body: &mut Body, context: &mut Context<'_>) -> PolledFrame {
        if !matches!(self.state, BreakState::Intact) {
            return self.poll_break(context);
        }
        let frame = ready!(Pin::new(body).poll_frame(context));
        if let Some(Err(error)) = &frame
            && let Some(breakage) = Breakage::of(error)
        {
            self.state = BreakState::Flushing(breakage, Box::pin(sleep(FLUSH_LIMIT)));
            return self.poll_break(context);
        }
        // Taken with each frame: the break waits for a flush after the last of them.
        self.flushes = self.connection.flush_count();
        Poll::Ready(frame)
    }
}
