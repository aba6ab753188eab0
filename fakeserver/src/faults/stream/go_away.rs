//! A server that closes its HTTP/2 connection.

use crate::faults::{Effect, FrameFacts, FrameVerdict, NamedRule, RequestFacts, RequestVerdict};

/// See [`go_away`].
#[derive(Debug, Clone, Copy)]
pub struct GoAway;

/// A client is asked to leave its connection: by GOAWAY, after which what is under way goes on to its end. In process, where
/// there is no connection, it is what the less fortunate of its requests come to: one fails without having been served, and
/// a watch breaks off between two frames.
#[doc(alias = "GOAWAY")]
pub fn go_away() -> NamedRule<GoAway> {
    NamedRule::new(GoAway)
}

impl Effect for GoAway {
    fn name(&self) -> &'static str {
        "go_away"
    }

    fn on_request(&mut self, _: &RequestFacts) -> Option<RequestVerdict> {
        Some(RequestVerdict::GoAway)
    }

    fn on_frame(&mut self, _: &FrameFacts<'_>) -> Option<FrameVerdict> {
        Some(FrameVerdict::GoAway)
    }
}
