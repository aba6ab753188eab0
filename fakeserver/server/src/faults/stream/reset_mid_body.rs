//! A connection that breaks in the middle of a list.

use crate::faults::{
    BodyFault, CatalogueEntry, Definition, Property, Recovery, RequestFacts, RequestVerdict, Target,
};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ResetMidBody;

impl Definition for ResetMidBody {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F2",
        fault: "reset_mid_body",
        parameters: &[],
        effect: "Sends half of the body of a list or a get, and fails the transport.",
        models: "a connection breaks within a list",
        suffered: "clients that begin a long list anew each time",
        target: Target::Reads,
        recovery: Recovery::Retry,
        properties: &[Property::NeedsTcp],
    };

    fn on_request(&self, request: &RequestFacts) -> Option<RequestVerdict> {
        matches!(request.verb, "get" | "list").then_some(RequestVerdict::Body(BodyFault::Break))
    }
}
