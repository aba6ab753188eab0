//! A body whose connection breaks by a fault.

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
struct Breaking {
    connection: Connection,
    /// True if other requests share the connection, which then continues without this one.
    is_shared: bool,
    /// The number of flushes of the connection when it got the last part.
    flushes: u64,
    ending: Ending,
}

/// The end of a body.
enum Ending {
    NotYet,
    /// The bytes before the breakage are being sent.
    Waiting(Breakage, Pin<Box<Sleep>>),
    /// It never does.
    Silent,
}

/// Answers `request`. What its answer orders to break breaks, when what goes before was sent.
pub(super) async fn carry_out(
    State(connection): State<Connection>,
    mut request: Request,
    next: Next,
) -> Response {
    let is_shared = request.version() == Version::HTTP_2;
    request.extensions_mut().insert(connection.clone());
    let response = next.run(request).await;
    response.map(|body| {
        let breaking = Breaking {
            flushes: connection.flush_count(),
            connection,
            is_shared,
            ending: Ending::NotYet,
        };
        observe(body, breaking)
    })
}

// === impl Breaking ===

impl Breaking {
    /// Breaks the connection once earlier bytes were sent, or the time limit for sending them has passed.
    fn poll_break(&mut self, context: &mut Context<'_>) -> PolledFrame {
        let Ending::Waiting(breakage, limit) = &mut self.ending else {
            return Poll::Pending;
        };
        let flushed = self.connection.poll_flushed_after(self.flushes, context);
        if flushed.is_pending() {
            ready!(limit.as_mut().poll(context));
        }
        let breakage = *breakage;
        self.ending = Ending::Silent;
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

impl BodyObserver for Breaking {
    fn poll_frame(&mut self, body: &mut Body, context: &mut Context<'_>) -> PolledFrame {
        if !matches!(self.ending, Ending::NotYet) {
            return self.poll_break(context);
        }
        let frame = ready!(Pin::new(body).poll_frame(context));
        if let Some(Err(error)) = &frame
            && let Some(breakage) = Breakage::of(error)
        {
            self.ending = Ending::Waiting(breakage, Box::pin(sleep(FLUSH_LIMIT)));
            return self.poll_break(context);
        }
        self.flushes = self.connection.flush_count();
        Poll::Ready(frame)
    }
}
