//! A rule made from a function of the request.

use std::fmt;

use super::{Answer, FaultRule, RequestFacts, RequestVerdict, fault_rule::Effect};

/// The name of hooks.
const NAME: &str = "hook";

struct Hook<F> {
    answer: F,
}

/// Returns a rule that answers requests with `answer`; a request is served if that returns `None`.
///
/// The function is called before the body is read, and under the lock of the rules: it must not wait. Keep its counts and
/// records in atomics or behind a lock of their own.
pub fn hook<F>(answer: F) -> FaultRule
where
    F: Fn(&RequestFacts) -> Option<Answer> + Send + 'static,
{
    FaultRule::new(NAME, Box::new(Hook { answer }))
}

// === impl Hook ===

impl<F> Effect for Hook<F>
where
    F: Fn(&RequestFacts) -> Option<Answer> + Send + 'static,
{
    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        (self.answer)(request).map(RequestVerdict::Answer)
    }
}

impl<F> fmt::Debug for Hook<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hook").finish_non_exhaustive()
    }
}
