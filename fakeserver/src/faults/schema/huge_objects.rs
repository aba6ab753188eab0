//! Objects as large as a store takes them.

use crate::faults::{
    Effect, FrameFacts, FrameVerdict, NamedRule, RequestFacts, RequestVerdict, Rewrite,
};

/// See [`huge_objects`].
#[derive(Debug, Clone, Copy)]
pub struct HugeObjects {
    bytes: usize,
}

/// Objects that are read as JSON are so many bytes larger, each, by a field that nobody knows: 1.5 MB is the most that etcd
/// takes.
///
/// # Memory
///
/// A list is made as a whole: its objects times their bytes.
pub fn huge_objects(bytes: usize) -> NamedRule<HugeObjects> {
    NamedRule::new(HugeObjects { bytes })
}

impl Effect for HugeObjects {
    fn name(&self) -> &'static str {
        "huge_objects"
    }

    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        matches!(request.verb, "get" | "list")
            .then_some(RequestVerdict::Rewrite(Rewrite::Padding(self.bytes)))
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        frame
            .is_event()
            .then_some(FrameVerdict::Rewrite(Rewrite::Padding(self.bytes)))
    }
}
