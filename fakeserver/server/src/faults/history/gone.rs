//! 410 in the words of old servers and of intermediaries.

use fakeserver_value::status::Status;
use http::StatusCode;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::faults::{
    Answer, CatalogueEntry, Definition, FrameFacts, FrameVerdict, Property, Recovery, RequestFacts,
    RequestVerdict, Target,
    definition::{is_default, pick},
    verdict::error_frame,
};

/// The parameters of [`Fault::Gone`](crate::faults::Fault::Gone).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Gone {
    /// The form of the 410.
    #[serde(skip_serializing_if = "is_default")]
    pub form: GoneForm,
}

/// The form of a 410.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GoneForm {
    /// An ERROR event in place of a frame, with the reason `Gone`, as servers before 1.18 send it.
    #[default]
    Event,
    /// The status of a request that names a version, with the reason `Gone`.
    Status,
    /// The status code of a request that names a version, with a text for a body.
    Text,
}

impl Definition for Gone {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F15",
        fault: "gone",
        parameters: &["form"],
        effect: "Says 410 with the reason `Gone` instead of `Expired`, which means the same: `event` in place of a frame, `status` \
                 as the answer to a request that names a version, `text` as such an answer without a Status.",
        models: "410 with the reason Gone, or with a text for a body",
        suffered: "clients that look for the reason Expired, or for a Status",
        target: Target::Reads,
        recovery: Recovery::Retry,
        properties: &[Property::ExpiresVersions],
    };

    fn drawn(rng: &mut ChaCha8Rng) -> Self {
        Self {
            form: pick(rng, &[GoneForm::Event, GoneForm::Status, GoneForm::Text]),
        }
    }

    fn on_request(&self, request: &RequestFacts) -> Option<RequestVerdict> {
        let requested = request.requested_version();
        let names_version = match request.verb {
            "watch" => requested.is_some() && !request.is_watch_list,
            "list" => requested.is_some() || request.has_continue,
            _ => false,
        };
        if !names_version || self.form == GoneForm::Event {
            return None;
        }
        let requested = requested.unwrap_or_default();
        let answer = match self.form {
            GoneForm::Text => Answer::text(StatusCode::GONE, "Gone\n"),
            _ => Answer::of(&status(requested, request.revision.max(requested + 1))),
        };
        Some(RequestVerdict::Answer(answer))
    }

    fn on_frame(&self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        let status = status(frame.revision, frame.revision + 1);
        (self.form == GoneForm::Event).then(|| FrameVerdict::EndWith(error_frame(&status)))
    }
}

fn status(version: u64, oldest: u64) -> Status {
    Status {
        reason: "Gone".into(),
        ..Status::watch_expired(version, oldest)
    }
}
