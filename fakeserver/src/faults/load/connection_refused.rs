//! Nobody listens.

use std::io::ErrorKind;

use crate::faults::{Effect, NamedRule, RequestFacts, RequestVerdict};

/// See [`connection_refused`].
#[derive(Debug, Clone, Copy)]
pub struct ConnectionRefused;

/// A request fails before it is served, as it does while a server is away: in process with that error, over TCP by a
/// connection that is reset. A [`Door`](crate::faults::Door) refuses the connections of everybody.
pub fn connection_refused() -> NamedRule<ConnectionRefused> {
    NamedRule::new(ConnectionRefused)
}

impl Effect for ConnectionRefused {
    fn name(&self) -> &'static str {
        "connection_refused"
    }

    fn on_request(&mut self, _: &RequestFacts) -> Option<RequestVerdict> {
        Some(RequestVerdict::Sever(ErrorKind::ConnectionRefused))
    }
}
