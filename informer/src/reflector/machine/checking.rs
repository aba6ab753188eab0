//! Asking whether the server still has the version to watch from.
//!
//! A watch at a version that a restored server has not reached again is silent, and changes that come before it reaches
//! that version are not sent. So is a watch of a resource that does not change on a server without bookmarks, so that
//! silence alone does not justify a relist.

use super::{Effect, Failing, Input, Machine, Moment, State};
use crate::reflector::FailureCause;

// === impl Machine ===

impl Machine {
    /// Asks for a state that is not older than the last version, and for as little of it as can be.
    pub(super) fn check(&mut self, now: Moment) -> State {
        if !self.resume.last().is_resumable() {
            return self.rewatch(now);
        }
        // Noted before the answer: a check that fails is not repeated at each bookmark either.
        self.health.note_checked(now);
        State::Checking
    }

    pub(super) fn on_checked(
        &mut self,
        now: Moment,
        input: Input<'_>,
        effects: &mut Vec<Effect>,
    ) -> State {
        match input {
            Input::Page { version, .. } if version.is_before(self.resume.last()) => {
                self.report_went_back(version, false, effects);
                self.resume.give_up_version();
                self.acquire(now)
            }
            Input::Page { .. } => {
                // The answer proves that the server has the version: silence is counted from here on.
                self.health.note_heard(now);
                self.rewatch(now)
            }
            Input::Failed {
                cause: cause @ (FailureCause::Expired | FailureCause::TooLargeVersion),
                ..
            } => {
                self.resume.give_up_version();
                self.report(cause, Moment::ZERO, effects);
                self.acquire(now)
            }
            Input::Failed { cause, retry_after } => {
                self.on_watch_failed(now, None, Failing { cause, retry_after }, effects)
            }
            input => {
                debug_assert!(false, "{input:?} is not what a check can give");
                State::Checking
            }
        }
    }
}
