//! 410 as the status of a request.

use fakeserver_value::status::Status;
use rand::{RngExt, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use crate::{
    faults::{
        Answer, CatalogueEntry, Definition, Property, Recovery, RequestFacts, RequestVerdict,
        Target, definition::is_true,
    },
    store::continue_token::ContinueToken,
};

/// The parameters of [`Fault::ExpiredStatus`](crate::faults::Fault::ExpiredStatus).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ExpiredStatus {
    /// True, the default, if the answer to a continuation has a token that continues at the present state.
    #[serde(skip_serializing_if = "is_true")]
    pub replacement_token: bool,
}

impl Default for ExpiredStatus {
    fn default() -> Self {
        Self {
            replacement_token: true,
        }
    }
}

impl Definition for ExpiredStatus {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F11",
        fault: "expired_status",
        parameters: &["replacementToken"],
        effect: "Answers a watch, a list at a version, or the continuation of a list with 410. With `replacementToken` the answer \
                 to a continuation has a token that continues at the present state; without it the list has to begin anew.",
        models: "410 as the status of a watch, a list at a version or a continuation, as aggregated servers have it",
        suffered: "kube-runtime 5.0: watches from the same version for ever, and never lists",
        target: Target::Reads,
        recovery: Recovery::Retry,
        properties: &[Property::ExpiresVersions],
    };

    fn drawn(rng: &mut ChaCha8Rng) -> Self {
        Self {
            replacement_token: rng.random_bool(0.7),
        }
    }

    fn on_request(&self, request: &RequestFacts) -> Option<RequestVerdict> {
        let requested = request.requested_version();
        let status = match request.verb {
            "watch" if !request.is_watch_list => {
                Status::watch_expired(requested?, request.revision.max(requested? + 1))
            }
            "list" if request.has_continue => match self.replacement(request) {
                Some(token) => Status::continue_expired(token),
                None => Status::list_expired(),
            },
            "list" if requested.is_some() => Status::list_expired(),
            _ => return None,
        };
        Some(RequestVerdict::Answer(Answer::of(&status)))
    }
}

// === impl ExpiredStatus ===

impl ExpiredStatus {
    /// Returns the token that continues at the present state, if the token of `request` is one of this server.
    fn replacement(self, request: &RequestFacts) -> Option<String> {
        let token = ContinueToken::decode(&request.continue_token).ok();
        let token = token.filter(|_| self.replacement_token)?;
        let latest = ContinueToken {
            revision: None,
            start: token.start,
        };
        Some(latest.encode())
    }
}
