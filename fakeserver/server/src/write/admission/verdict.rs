//! The answer of a webhook to a review.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use fakeserver_value::status::{Cause, Details, Status};
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
    /// A JSON patch of the object, as text; empty without one.
    pub(super) patch: Vec<u8>,
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
    ) -> Result<Self, String> {
        let response = &review["response"];
        if response.is_null() {
            return Err("webhook response was absent".to_owned());
        }
        // The older version of reviews has fewer required fields.
        if version == "v1" {
            let response_uid = response["uid"].as_str().unwrap_or_default();
            if response_uid != uid {
                return Err(format!(
                    "expected response.uid={uid:?}, got {response_uid:?}"
                ));
            }
            check_kind(review)?;
        }
        let patch = response["patch"].as_str().unwrap_or_default();
        check_patch_type(
            &response["patchType"],
            !patch.is_empty(),
            is_mutating,
            version,
        )?;
        let patch = STANDARD
            .decode(patch)
            .map_err(|error| format!("response.patch: {error}"))?;
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
    patch_type: &Value,
    has_patch: bool,
    is_mutating: bool,
    version: &str,
) -> Result<(), String> {
    let patch_type_text = patch_type.as_str().unwrap_or_default();
    let why = match (is_mutating, has_patch) {
        _ if version != "v1" => return Ok(()),
        (false, true) => "validating webhook may not return response.patch".to_owned(),
        (false, false) if !patch_type_text.is_empty() => {
            "validating webhook may not return response.patchType".to_owned()
        }
        (true, true) if patch_type_text.is_empty() => {
            "webhook returned response.patch but not response.patchType".to_owned()
        }
        (true, true) if patch_type_text != "JSONPatch" => {
            format!("webhook returned invalid response.patchType of {patch_type_text:?}")
        }
        (true, false) if !patch_type_text.is_empty() => {
            "webhook returned response.patchType but not response.patch".to_owned()
        }
        _ => return Ok(()),
    };
    Err(why)
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
