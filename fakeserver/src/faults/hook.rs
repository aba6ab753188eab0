//! A function that answers instead of the server.

use std::fmt;

use super::{Answer, Effect, NamedRule, RequestFacts, RequestVerdict};

/// See [`hook`].
pub struct Hook<F> {
    answer: F,
}

/// A request is answered by `answer`, or served as ever if that gives nothing.
///
/// It is asked before the body is read, and under the lock of the rules: it decides, and does not wait. What it counts
/// or collects, it keeps in atomics or behind a lock of its own.
pub fn hook<F>(answer: F) -> NamedRule<Hook<F>>
where
    F: Fn(&RequestFacts) -> Option<Answer> + Send + 'static,
{
    NamedRule::new(Hook { answer })
}

impl<F> Effect for Hook<F>
where
    F: Fn(&RequestFacts) -> Option<Answer> + Send + 'static,
{
    fn name(&self) -> &'static str {
        "hook"
    }

    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        (self.answer)(request).map(RequestVerdict::Answer)
    }
}

impl<F> fmt::Debug for Hook<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hook").finish_non_exhaustive()
    }
}
