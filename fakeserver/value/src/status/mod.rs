//! The API's error answer: a `Status`, word for word as a real server sends it.

mod answers;
mod success;
mod warning;
#[cfg(test)]
mod tests;

pub use self::{answers::NamedObject, success::Success, warning::warning_headers};

use std::{borrow::Cow, ops::Range};

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;

use super::go_text::{printed_value, quote};

/// A failure as the API tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    pub code: StatusCode,
    /// Empty where a real server gives none.
    pub reason: Cow<'static, str>,
    pub message: String,
    /// `None` leaves `details` out; an empty one is `{}`.
    pub details: Option<Box<Details>>,
    /// `metadata.continue`: the token with which an expired list can continue, inconsistently.
    pub continue_token: Option<String>,
    /// Warnings for the client in addition to the error.
    pub warnings: Vec<String>,
}

/// The object that a failure is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    #[serde(skip_serializing_if = "is_zero")]
    pub retry_after_seconds: u32,
}

/// One of the reasons of a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cause {
    #[serde(skip_serializing_if = "str::is_empty")]
    pub reason: Cow<'static, str>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field: String,
}

/// One finding of a validation: a field and its error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    pub reason: &'static str,
    pub field: String,
    /// The message without the field.
    pub detail: String,
    /// The value in the message, unless it was printed by the caller.
    shown: Option<Box<ShownValue>>,
    /// The end of the value in the message; 0 if it was printed by the caller, or there is none.
    shown_end: usize,
}

/// A value in the message of an error, and its place there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ShownValue {
    value: serde_json::Value,
    place: Range<usize>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Wire<'a> {
    kind: &'static str,
    api_version: &'static str,
    metadata: WireMeta<'a>,
    status: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<&'a Details>,
    code: u16,
}

#[derive(Serialize)]
struct WireMeta<'a> {
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    continue_token: Option<&'a str>,
}

// === impl Status ===

impl Status {
    /// The object, without a newline after it.
    pub fn to_json(&self) -> Vec<u8> {
        let wire = Wire {
            kind: "Status",
            api_version: "v1",
            metadata: WireMeta {
                continue_token: self.continue_token.as_deref(),
            },
            status: "Failure",
            message: &self.message,
            reason: &self.reason,
            details: self.details.as_deref(),
            code: self.code.as_u16(),
        };
        serde_json::to_vec(&wire).expect("a status has no maps with keys that are not strings")
    }

    /// Seconds after which a client should try again, if the answer names any.
    pub fn retry_after_seconds(&self) -> Option<u32> {
        let seconds = self.details.as_ref()?.retry_after_seconds;
        (seconds > 0).then_some(seconds)
    }
}

impl IntoResponse for Status {
    fn into_response(self) -> Response {
        let mut body = self.to_json();
        body.push(b'\n');
        let mut response = (self.code, body).into_response();
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        if let Some(seconds) = self.retry_after_seconds() {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        for warning in warning_headers(&self.warnings) {
            headers.append(header::WARNING, warning);
        }
        response
    }
}

// === impl Cause ===

impl Cause {
    pub fn new(reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            reason: Cow::Borrowed(reason),
            message: message.into(),
            field: String::new(),
        }
    }
}

// === impl FieldError ===

impl FieldError {
    pub fn required(field: impl Into<String>, detail: &str) -> Self {
        Self::new("FieldValueRequired", field, with("Required value", detail))
    }

    pub fn forbidden(field: impl Into<String>, detail: &str) -> Self {
        Self::new("FieldValueForbidden", field, with("Forbidden", detail))
    }

    /// `value` is shown as Go shows it.
    pub fn invalid(field: impl Into<String>, value: &serde_json::Value, detail: &str) -> Self {
        let printed = printed_value(value);
        Self::invalid_printed(field, &printed, detail).showing("Invalid value: ", &printed, value)
    }

    /// Creates a finding that shows a value in the order of its fields, as the caller has printed it.
    pub fn invalid_ordered(
        field: impl Into<String>,
        value: &serde_json::Value,
        printed: &str,
        detail: &str,
    ) -> Self {
        Self::invalid_printed(field, printed, detail).showing("Invalid value: ", printed, value)
    }

    /// Creates a finding that shows `value` unchanged.
    pub fn invalid_printed(field: impl Into<String>, value: &str, detail: &str) -> Self {
        let printed = format!("Invalid value: {value}");
        Self::new("FieldValueInvalid", field, with(&printed, detail))
    }

    pub fn not_supported(
        field: impl Into<String>,
        value: &serde_json::Value,
        supported: &[&str],
    ) -> Self {
        let printed = printed_value(value);
        Self::not_supported_printed(field, &printed, supported).showing(
            "Unsupported value: ",
            &printed,
            value,
        )
    }

    /// Creates a finding that shows a value printed by the caller.
    pub fn not_supported_printed(
        field: impl Into<String>,
        value: &str,
        supported: &[&str],
    ) -> Self {
        let supported: Vec<String> = supported.iter().map(|value| quote(value)).collect();
        let detail = format!(
            "Unsupported value: {value}: supported values: {}",
            supported.join(", ")
        );
        Self::new("FieldValueNotSupported", field, detail)
    }

    /// Creates the error of a value that is not shown.
    pub fn invalid_omitted(field: impl Into<String>, detail: &str) -> Self {
        Self::new("FieldValueInvalid", field, with("Invalid value", detail))
    }

    pub fn duplicate(field: impl Into<String>, value: &serde_json::Value) -> Self {
        let printed = printed_value(value);
        Self::duplicate_printed(field, &printed).showing("Duplicate value: ", &printed, value)
    }

    /// Creates a finding that shows `value` unchanged.
    pub fn duplicate_printed(field: impl Into<String>, value: &str) -> Self {
        let detail = format!("Duplicate value: {value}");
        Self::new("FieldValueDuplicate", field, detail)
    }

    /// Creates the error of a repetition that is not shown.
    pub fn duplicate_omitted(field: impl Into<String>) -> Self {
        Self::new("FieldValueDuplicate", field, "Duplicate value".to_owned())
    }

    /// Creates the error of a reference to an object that does not exist.
    pub fn not_found(field: impl Into<String>, value: &serde_json::Value) -> Self {
        let detail = format!("Not found: {}", printed_value(value));
        Self::new("FieldValueNotFound", field, detail)
    }

    /// Creates the error of a check that failed itself.
    pub fn internal(field: impl Into<String>, problem: &str) -> Self {
        Self::new("InternalError", field, with("Internal error", problem))
    }

    pub fn too_many(field: impl Into<String>, count: u64, max: u64) -> Self {
        let detail = format!("Too many: {count}: must have at most {max} items");
        Self::new("FieldValueTooMany", field, detail)
    }

    pub fn too_long(field: impl Into<String>, bytes_max: usize) -> Self {
        let detail = format!("Too long: may not be more than {bytes_max} bytes");
        Self::new("FieldValueTooLong", field, detail)
    }

    /// Returns the value in the message, unless it was printed by the caller.
    pub fn shown_value(&self) -> Option<&serde_json::Value> {
        self.shown.as_ref().map(|shown| &shown.value)
    }

    /// Prints the [value](Self::shown_value) in another form, which stays.
    pub fn print_value_as(&mut self, printed: &str) {
        if let Some(shown) = self.shown.take() {
            self.shown_end = shown.place.start + printed.len();
            self.detail.replace_range(shown.place, printed);
        }
    }

    /// Returns the byte of the message at which its [value](Self::shown_value) ends, in whichever form it is printed. 0 if there
    /// is none.
    pub fn shown_end(&self) -> usize {
        self.shown_end
    }

    /// Keeps the value whose printed form stands behind the first words of the message.
    fn showing(mut self, words: &str, printed: &str, value: &serde_json::Value) -> Self {
        let place = words.len()..words.len() + printed.len();
        let value = value.clone();
        self.shown_end = place.end;
        self.shown = Some(Box::new(ShownValue { value, place }));
        self
    }

    fn new(reason: &'static str, field: impl Into<String>, detail: String) -> Self {
        Self {
            reason,
            field: field.into(),
            detail,
            shown: None,
            shown_end: 0,
        }
    }
}

impl std::fmt::Display for FieldError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.field, self.detail)
    }
}

fn with(what: &str, detail: &str) -> String {
    if detail.is_empty() {
        what.to_owned()
    } else {
        format!("{what}: {detail}")
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}
