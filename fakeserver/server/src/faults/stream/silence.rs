//! A half-open connection.

use crate::faults::{
    CatalogueEntry, Definition, FrameFacts, FrameVerdict, Property, Recovery, Target,
};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Silence;

impl Definition for Silence {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F3",
        fault: "silence",
        parameters: &[],
        effect: "Sends neither a frame nor anything after it, not even the end of the stream. The stream stays open until its \
                 client gives up.",
        models: "a half-open connection: a stream stays open and brings nothing",
        suffered: "kube 3.1 behind load balancers that drop idle connections (Azure/kars#451); client-go (kubernetes#65012)",
        target: Target::Reads,
        recovery: Recovery::SilenceTimeout,
        properties: &[Property::NeedsTcp],
    };

    fn on_frame(&self, _: &FrameFacts<'_>) -> Option<FrameVerdict> {
        Some(FrameVerdict::Silence)
    }
}
