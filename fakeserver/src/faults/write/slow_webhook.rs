//! A webhook that takes its time.

use std::time::Duration;

use crate::{
    faults::{Answer, Effect, NamedRule, RequestFacts, RequestVerdict},
    status::Status,
};

/// See [`slow_webhook`].
#[derive(Debug, Clone, Copy)]
pub struct SlowWebhook {
    takes: Duration,
    times_out: bool,
}

/// A write is served so much later, as if a webhook were asked.
pub fn slow_webhook(takes: Duration) -> NamedRule<SlowWebhook> {
    NamedRule::new(SlowWebhook {
        takes,
        times_out: false,
    })
}

// === impl SlowWebhook ===

impl NamedRule<SlowWebhook> {
    /// After that the write is refused with 500, since the webhook was given no more time.
    pub fn timing_out(mut self) -> Self {
        self.effect_mut().times_out = true;
        self
    }
}

impl Effect for SlowWebhook {
    fn name(&self) -> &'static str {
        "slow_webhook"
    }

    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        if !request.is_write() {
            return None;
        }
        let after = self.takes;
        if !self.times_out {
            return Some(RequestVerdict::Delay(after));
        }
        let seconds = after.as_secs().max(1);
        let status = Status::internal(&format!(
            "failed calling webhook \"fault.fakeserver.dev\": failed to call webhook: Post \
             \"https://fault.fakeserver.dev/?timeout={seconds}s\": context deadline exceeded"
        ));
        let answer = Answer::of(&status);
        Some(RequestVerdict::AnswerLater { after, answer })
    }
}
