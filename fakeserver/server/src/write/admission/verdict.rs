//! The answer of a webhook to a review.

use fakeserver_value::{
    schema::decode_base64,
    status::{Cause, Details, Status},
};
use http::StatusCode;
use serde_json::Value;

use super::review::{GROUP, KIND};

/// A webhook's answer that follows the rules.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    /// The rejection, if the write is rejected.
    pub(super) refusal: Option<Status>,
    /// For the client to read.
    pub(super) warnings: Vec<String>,
    /// For the audit log, without the name of the webhook.
    pub(super) annotations: Vec<(String, String)>,
    /// A patch of the object, as text; empty without one.
    pub(super) patch: Vec<u8>,
    /// The type of the patch, empty without one.
    pub(super) patch_type: String,
}

/// The only type of patches that a real server applies.
pub(super) const JSON_PATCH: &str = "JSONPatch";

/// The reason why an answer does not count.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum VerdictError {
    /// It cannot be read.
    #[error("failed to call webhook: {0}")]
    Undecodable(String),
    /// It breaks the rules.
    #[error("received invalid webhook response: {0}")]
    Invalid(String),
}

impl From<String> for VerdictError {
    fn from(why: String) -> Self {
        Self::Invalid(why)
    }
}

// === impl Verdict ===

impl Verdict {
    /// Reads the answer of the webhook `name` to the review `uid`.
    ///
    /// # Errors
    ///
    /// It breaks the rules; the words are those of the API.
    pub(super) fn read(
        name: &str,
        version: &str,
        uid: &str,
        is_mutating: bool,
        review: &Value,
    ) -> Result<Self, VerdictError> {
        let response = &review["response"];
        let patch = response["patch"].as_str().unwrap_or_default();
        // The answer is read before it is checked.
        let patch =
            decode_base64(patch).map_err(|error| VerdictError::Undecodable(error.to_string()))?;
        if response.is_null() {
            return Err("webhook response was absent".to_owned().into());
        }
        // The older version of reviews has fewer required fields.
        if version == "v1" {
            let response_uid = response["uid"].as_str().unwrap_or_default();
            if response_uid != uid {
                let why = format!("expected response.uid={uid:?}, got {response_uid:?}");
                return Err(why.into());
            }
            check_kind(review)?;
        }
        let patch_type = response["patchType"].as_str();
        if version == "v1" {
            check_patch_type(patch_type, !patch.is_empty(), is_mutating)?;
        }
        // The older version of reviews has but one type.
        let patch_type = patch_type.filter(|_| version == "v1").unwrap_or(JSON_PATCH);
        let warnings = response["warnings"].as_array().into_iter().flatten();
        let warnings = warnings.filter_map(|warning| warning.as_str().map(str::to_owned));
        let annotations = response["auditAnnotations"].as_object();
        let annotations = annotations
            .into_iter()
            .flatten()
            .filter_map(|(key, value)| value.as_str().map(|value| (key.clone(), value.to_owned())));
        let is_allowed = response["allowed"] == true;
        Ok(Self {
            refusal: (!is_allowed).then(|| denial(name, &response["status"])),
            warnings: warnings.collect(),
            annotations: annotations.collect(),
            patch,
            patch_type: patch_type.to_owned(),
        })
    }
}

fn check_kind(review: &Value) -> Result<(), String> {
    let text = |field: &str| review[field].as_str().unwrap_or_default();
    let (group, version) = text("apiVersion").split_once('/').unwrap_or_default();
    if (group, version, text("kind")) == (GROUP, "v1", KIND) {
        return Ok(());
    }
    Err(format!(
        "expected webhook response of {GROUP}/v1, Kind={KIND}, got {}, Kind={}",
        text("apiVersion"),
        text("kind")
    ))
}

fn check_patch_type(
    patch_type: Option<&str>,
    has_patch: bool,
    is_mutating: bool,
) -> Result<(), String> {
    let why = match (is_mutating, has_patch, patch_type) {
        (false, true, _) => "validating webhook may not return response.patch",
        (false, false, Some(_)) => "validating webhook may not return response.patchType",
        (true, true, None) => "webhook returned response.patch but not response.patchType",
        (true, false, Some(_)) => "webhook returned response.patchType but not response.patch",
        (true, true, Some("")) => "webhook returned invalid response.patchType of \"\"",
        _ => return Ok(()),
    };
    Err(why.to_owned())
}

/// The answer to a write that the webhook `name` does not allow, for the reasons in `status`.
pub(super) fn denial(name: &str, status: &Value) -> Status {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let denied = format!("admission webhook {name:?} denied the request");
    let (message, reason) = (text(&status["message"]), text(&status["reason"]));
    let message = match (message.as_str(), reason.as_str()) {
        ("", "") => format!("{denied} without explanation"),
        ("", why) | (why, _) => format!("{denied}: {why}"),
    };
    let code = status["code"]
        .as_u64()
        .and_then(|code| u16::try_from(code).ok());
    let code = code.and_then(|code| StatusCode::from_u16(code).ok());
    let code = code.filter(|code| code.as_u16() >= 400);
    Status {
        code: code.unwrap_or(StatusCode::BAD_REQUEST),
        reason: reason.into(),
        message,
        details: details(&status["details"]).map(Box::new),
        continue_token: None,
        warnings: Vec::new(),
    }
}

fn details(details: &Value) -> Option<Details> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let causes = details["causes"].as_array().into_iter().flatten();
    let causes = causes.map(|cause| Cause {
        reason: text(&cause["reason"]).into(),
        message: text(&cause["message"]),
        field: text(&cause["field"]),
    });
    let seconds = details["retryAfterSeconds"].as_u64().unwrap_or_default();
    details.is_object().then(|| Details {
        name: text(&details["name"]),
        group: text(&details["group"]),
        kind: text(&details["kind"]),
        uid: text(&details["uid"]),
        causes: causes.collect(),
        retry_after_seconds: u32::try_from(seconds).unwrap_or(u32::MAX),
    })
}
