//! A write whose client does not learn what has become of it.

use std::io::ErrorKind;

use http::StatusCode;
use serde::{Deserialize, Serialize};

use crate::faults::{Answer, Effect, NamedRule, RequestFacts, RequestVerdict};

/// What a client hears instead of the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LostAs {
    /// That the connection was reset.
    #[default]
    Reset,
    /// 504 from a load balancer that did not wait so long.
    Timeout,
}

/// See [`lost_answer`].
#[derive(Debug, Clone, Copy)]
pub struct LostAnswer {
    heard: LostAs,
    is_applied: bool,
}

/// A write takes effect, but its client hears only this. With `nth` it is the k-th write of a client.
pub fn lost_answer(heard: LostAs) -> NamedRule<LostAnswer> {
    NamedRule::new(LostAnswer {
        heard,
        is_applied: true,
    })
}

// === impl LostAnswer ===

impl NamedRule<LostAnswer> {
    /// The write does not take effect either: its client cannot tell the difference.
    pub fn not_applied(mut self) -> Self {
        self.effect_mut().is_applied = false;
        self
    }
}

impl Effect for LostAnswer {
    fn name(&self) -> &'static str {
        "lost_answer"
    }

    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        if !request.is_write() {
            return None;
        }
        let timeout = || Answer::text(StatusCode::GATEWAY_TIMEOUT, "Gateway Timeout\n");
        Some(match (self.heard, self.is_applied) {
            (LostAs::Reset, true) => RequestVerdict::Lose(None),
            (LostAs::Reset, false) => RequestVerdict::Sever(ErrorKind::ConnectionReset),
            (LostAs::Timeout, true) => RequestVerdict::Lose(Some(timeout())),
            (LostAs::Timeout, false) => RequestVerdict::Answer(timeout()),
        })
    }
}
