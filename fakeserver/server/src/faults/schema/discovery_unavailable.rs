//! A group whose server is unavailable.

use http::StatusCode;

use crate::faults::{
    Answer, CatalogueEntry, Definition, Recovery, RequestFacts, RequestVerdict, Target,
    facts::DISCOVER,
};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DiscoveryUnavailable;

impl Definition for DiscoveryUnavailable {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F36",
        fault: "discovery_unavailable",
        parameters: &[],
        effect: "Answers discovery of a group version with 503, as while an aggregated server is unavailable; in aggregated \
                 discovery the version is `Stale` and has no resources. A filter restricts it to some groups.",
        models: "one group's server is away: 503, and Stale among all groups",
        suffered: "clients whose discovery fails as a whole for one group",
        target: Target::Discovery,
        recovery: Recovery::Unaffected,
        properties: &[],
    };

    fn on_request(&self, request: &RequestFacts) -> Option<RequestVerdict> {
        let is_of_version = request.verb == DISCOVER && !request.version.is_empty();
        is_of_version.then(|| {
            let answer = Answer::text(StatusCode::SERVICE_UNAVAILABLE, "service unavailable\n");
            RequestVerdict::Answer(answer.without_sniffing())
        })
    }
}
