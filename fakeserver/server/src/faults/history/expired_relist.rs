//! 410 for a watch, and again for the list that follows it.

use fakeserver_value::status::Status;

use crate::faults::{
    Answer, CatalogueEntry, Definition, FrameFacts, FrameVerdict, Property, Recovery, RequestFacts,
    RequestVerdict, Target, verdict::error_frame,
};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ExpiredRelist;

impl Definition for ExpiredRelist {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F12",
        fault: "expired_relist",
        parameters: &[],
        effect: "Answers all that names a version with 410: an ERROR event replaces a frame of a watch, and lists, continuations, \
                 watches and streaming lists that name a version are refused. Only the most recent state can be read, so that a \
                 client that lists again from the version that it knows has to list without one.",
        models: "410 for the list that is to mend a 410",
        suffered: "clients that list again from the version they know, and do not go on without one",
        target: Target::Reads,
        recovery: Recovery::Retry,
        properties: &[Property::ExpiresVersions],
    };

    fn on_request(&self, request: &RequestFacts) -> Option<RequestVerdict> {
        let requested = request.requested_version();
        let answer = match request.verb {
            "watch" => {
                let oldest = request.revision.max(requested? + 1);
                Answer::error_event(&Status::watch_expired(requested?, oldest))
            }
            "list" if requested.is_some() || request.has_continue => {
                Answer::of(&Status::list_expired())
            }
            _ => return None,
        };
        Some(RequestVerdict::Answer(answer))
    }

    fn on_frame(&self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        // The initial events of a watch that named no version are the most recent state.
        let is_past = !frame.is_initial;
        let status = Status::watch_expired(frame.revision, frame.revision + 1);
        is_past.then(|| FrameVerdict::EndWith(error_frame(&status)))
    }
}
