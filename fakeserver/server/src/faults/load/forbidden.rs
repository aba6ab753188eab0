//! A permission that is taken away, and given back.

use std::time::Duration;

use fakeserver_value::status::Status;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::faults::{
    Answer, CatalogueEntry, Definition, Recovery, RequestFacts, RequestVerdict, Target,
    definition::{Problem, pick, too_long},
    fault_rule::Effect,
};

/// The parameters of [`Fault::Forbidden`](crate::faults::Fault::Forbidden).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Forbidden {
    /// Milliseconds for which the permission is absent, then present, and so on; for good if `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flip_ms: Option<u64>,
}

#[derive(Debug)]
struct FlippingPermission {
    flip: Option<Duration>,
    /// The moment at which the permission was first taken away.
    since: Option<Instant>,
}

impl Definition for Forbidden {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F30",
        fault: "forbidden",
        parameters: &["flipMs"],
        effect: "Answers a request with 403, as after a change of roles. Open watches go on, as at a real server. With `flipMs` the \
                 permission is absent for that long from the first request on, then present for that long, and so on.",
        models: "403: a right is taken away, for good or by turns",
        suffered: "kube-runtime 5.0: one kind that is forbidden delays all others of a Controller; client-go retries for ever unseen",
        target: Target::Requests,
        recovery: Recovery::Pause,
        properties: &[],
    };

    fn problem(self) -> Option<Problem> {
        too_long("flipMs", self.flip_ms?)
    }

    fn drawn(rng: &mut ChaCha8Rng) -> Self {
        Self {
            flip_ms: pick(rng, &[None, Some(1_000), Some(10_000)]),
        }
    }

    fn effect(self) -> Box<dyn Effect> {
        let flip = self.flip_ms.filter(|flip_ms| *flip_ms > 0);
        Box::new(FlippingPermission {
            flip: flip.map(Duration::from_millis),
            since: None,
        })
    }
}

// === impl FlippingPermission ===

impl FlippingPermission {
    fn is_absent(&mut self) -> bool {
        let Some(flip) = self.flip else {
            return true;
        };
        let since = *self.since.get_or_insert_with(Instant::now);
        let flips = since.elapsed().as_millis() / flip.as_millis();
        flips.is_multiple_of(2)
    }
}

impl Effect for FlippingPermission {
    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        if !self.is_absent() {
            return None;
        }
        let resource = match &request.subresource {
            Some(subresource) => format!("{}/{subresource}", request.resource),
            None => request.resource.clone(),
        };
        let place = match &request.namespace {
            Some(namespace) => format!("in the namespace {namespace:?}"),
            None => "at the cluster scope".to_owned(),
        };
        let reason = format!(
            "User {:?} cannot {} resource {resource:?} in API group {:?} {place}",
            request.user, request.verb, request.group
        );
        let answer = Answer::of(&Status::denied(request.named(), &reason));
        Some(RequestVerdict::Answer(answer.without_sniffing()))
    }
}
