//! A streaming list that ends before it is complete.

use crate::faults::{Effect, FrameFacts, FrameVerdict, NamedRule};

/// See [`end_before_initial_events_end`].
#[derive(Debug, Clone, Copy)]
pub struct EndBeforeInitialEventsEnd;

/// All initial events are sent, but instead of the bookmark that ends them comes the end of the stream.
pub fn end_before_initial_events_end() -> NamedRule<EndBeforeInitialEventsEnd> {
    NamedRule::new(EndBeforeInitialEventsEnd)
}

impl Effect for EndBeforeInitialEventsEnd {
    fn name(&self) -> &'static str {
        "end_before_initial_events_end"
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        frame.is_initial_events_end.then_some(FrameVerdict::End)
    }
}
