//! A server that accepts a request and never answers.

use crate::faults::{CatalogueEntry, Definition, Recovery, RequestFacts, RequestVerdict, Target};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Hang;

impl Definition for Hang {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F28",
        fault: "hang",
        parameters: &[],
        effect: "Never answers a request. It ends when its client gives up.",
        models: "a request is accepted, and no headers come",
        suffered: "kube-runtime 5.0: a list or a watch hangs for ever",
        target: Target::Requests,
        recovery: Recovery::RequestTimeout,
        properties: &[],
    };

    fn on_request(&self, _: &RequestFacts) -> Option<RequestVerdict> {
        Some(RequestVerdict::Hang)
    }
}
