//! Nobody listens.

use std::{io::ErrorKind, time::Duration};

use crate::faults::{Effect, NamedRule, RequestFacts, RequestVerdict};

/// See [`connection_refused`].
#[derive(Debug, Clone, Copy)]
pub struct ConnectionRefused {
    closed: Duration,
}

/// A request fails before it is served, as it does while a server is away: in process with that error, over TCP by a
/// connection that is reset.
pub fn connection_refused() -> NamedRule<ConnectionRefused> {
    NamedRule::new(ConnectionRefused {
        closed: Duration::ZERO,
    })
}

// === impl NamedRule<ConnectionRefused> ===

impl NamedRule<ConnectionRefused> {
    /// For so long from each such request on nobody listens: the [`Door`](crate::faults::Door) is closed to everybody, and
    /// connections that are open go on. In process there is no door.
    pub fn closing_for(mut self, time: Duration) -> Self {
        self.effect_mut().closed = time;
        self
    }
}

impl Effect for ConnectionRefused {
    fn name(&self) -> &'static str {
        "connection_refused"
    }

    fn on_request(&mut self, _: &RequestFacts) -> Option<RequestVerdict> {
        Some(if self.closed.is_zero() {
            RequestVerdict::Sever(ErrorKind::ConnectionRefused)
        } else {
            RequestVerdict::Refuse(self.closed)
        })
    }
}
