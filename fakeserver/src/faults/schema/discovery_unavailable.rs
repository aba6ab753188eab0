//! A group whose server is away.

use http::StatusCode;

use crate::faults::{Answer, Effect, NamedRule, RequestFacts, RequestVerdict};

/// See [`discovery_unavailable`].
#[derive(Debug, Clone, Copy)]
pub struct DiscoveryUnavailable;

/// What a version of a group has cannot be told, as while an aggregated server is away: 503, and where all groups are told
/// of together, the version is `Stale` and has no resources. With a filter it is one group, or some.
#[doc(alias = "Stale")]
pub fn discovery_unavailable() -> NamedRule<DiscoveryUnavailable> {
    NamedRule::new(DiscoveryUnavailable)
}

impl Effect for DiscoveryUnavailable {
    fn name(&self) -> &'static str {
        "discovery_unavailable"
    }

    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        let is_about_one = request.verb == "discover" && !request.version.is_empty();
        is_about_one.then(|| {
            let answer = Answer::text(StatusCode::SERVICE_UNAVAILABLE, "service unavailable\n");
            RequestVerdict::Answer(answer.without_sniffing())
        })
    }

    fn is_about_discovery(&self) -> bool {
        true
    }
}
