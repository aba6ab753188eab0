//! 410 as an event of a stream.

use fakeserver_value::status::Status;

use crate::faults::{
    CatalogueEntry, Definition, FrameFacts, FrameVerdict, Property, Recovery, Target,
    verdict::error_frame,
};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ExpiredEvent;

impl Definition for ExpiredEvent {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F10",
        fault: "expired_event",
        parameters: &[],
        effect: "Sends an ERROR event with 410 in place of a frame, and ends the stream.",
        models: "410 as an ERROR event in a stream",
        suffered: "kube-runtime 5.0 lists every 1.2 s as long as it lasts",
        target: Target::Reads,
        recovery: Recovery::Retry,
        properties: &[Property::ExpiresVersions],
    };

    fn on_frame(&self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        let status = Status::watch_expired(frame.revision, frame.revision + 1);
        Some(FrameVerdict::EndWith(error_frame(&status)))
    }
}
