//! 410 for the watch, and 410 again for the list that is to mend it.

use crate::{
    faults::{
        Answer, Effect, FrameFacts, FrameVerdict, NamedRule, RequestFacts, RequestVerdict,
        verdict::error_frame,
    },
    status::Status,
};

/// See [`expired_relist`].
#[derive(Debug, Clone, Copy)]
pub struct ExpiredRelist;

/// All that names a version meets 410: a frame of a watch is replaced by the ERROR event, and lists, continuations, watches
/// and streaming lists that name a version are refused. Only the most recent state can still be had.
///
/// A client that lists again from the version that it knows, as clients do, is told 410 once more, and must go on without.
pub fn expired_relist() -> NamedRule<ExpiredRelist> {
    NamedRule::new(ExpiredRelist)
}

impl Effect for ExpiredRelist {
    fn name(&self) -> &'static str {
        "expired_relist"
    }

    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        let asked = request.asked_version();
        let answer = match request.verb {
            "watch" => {
                let oldest = request.revision.max(asked? + 1);
                Answer::error_event(&Status::watch_expired(asked?, oldest))
            }
            "list" if asked.is_some() || request.has_continue => {
                Answer::of(&Status::list_expired())
            }
            _ => return None,
        };
        Some(RequestVerdict::Answer(answer))
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        // What a watch brings that named no version is the most recent state, as long as it is the beginning.
        let is_past = !frame.is_initial;
        let status = Status::watch_expired(frame.revision, frame.revision + 1);
        is_past.then(|| FrameVerdict::EndWith(error_frame(&status)))
    }
}
