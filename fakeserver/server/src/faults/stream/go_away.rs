//! A server that closes its HTTP/2 connections.

use crate::faults::{
    CatalogueEntry, Definition, FrameFacts, FrameVerdict, Property, Recovery, RequestFacts,
    RequestVerdict, Target,
};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct GoAway;

impl Definition for GoAway {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F7",
        fault: "go_away",
        parameters: &[],
        effect: "Sends GOAWAY: the client has to leave its connection, and requests under way are completed. In process, where \
                 there is no connection, a request fails unserved, and a watch breaks off between two frames.",
        models: "an HTTP/2 connection is closed: requests fail unserved, watches break between frames",
        suffered: "clients with all watches on one connection",
        target: Target::Requests,
        recovery: Recovery::Retry,
        properties: &[Property::NeedsTcp],
    };

    fn on_request(&self, _: &RequestFacts) -> Option<RequestVerdict> {
        Some(RequestVerdict::GoAway)
    }

    fn on_frame(&self, _: &FrameFacts<'_>) -> Option<FrameVerdict> {
        Some(FrameVerdict::GoAway)
    }
}
