//! Field selectors: the fields by which the objects of a kind can be selected.

use std::borrow::Cow;

use fakeserver_value::{object::Pairs, status::Status};
use serde_json::Value;

/// The selectable fields of a kind, beside `metadata.name` and `metadata.namespace`.
#[derive(Debug)]
pub struct SelectableFields {
    fields: &'static [SelectableField],
    refusal: Refusal,
}

/// The words that refuse another field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    Common,
    /// Names version and kind.
    OfVersion,
    /// Quotes the field and names the kind.
    Quoting,
}

/// A field by which objects can be selected.
#[derive(Clone, Copy, Debug)]
pub struct SelectableField {
    /// The name that clients write.
    label: &'static str,
    source: Source,
}

/// The place of a field's value.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// A path in the object, and the value that an absent field counts as.
    Path(&'static [&'static str], &'static str),
    /// Another path if nothing is at the first one.
    Either(&'static [&'static str], &'static [&'static str]),
    /// Another field, under whose name it is stored.
    Field(&'static str),
}

// === impl SelectableFields ===

impl SelectableFields {
    pub const fn new(fields: &'static [SelectableField]) -> Self {
        Self {
            fields,
            refusal: Refusal::Common,
        }
    }

    /// Makes errors name version and kind.
    pub const fn naming_kind(self) -> Self {
        Self {
            refusal: Refusal::OfVersion,
            ..self
        }
    }

    /// Makes errors quote the field and name the kind.
    pub const fn quoting(self) -> Self {
        Self {
            refusal: Refusal::Quoting,
            ..self
        }
    }

    /// Returns the name under which a field is stored.
    pub(super) fn stored_label<'a>(&self, label: &'a str) -> &'a str {
        match self.find(label).map(|field| field.source) {
            Some(Source::Field(stored)) => stored,
            _ => label,
        }
    }

    /// Returns the values of the fields in a stored object.
    pub(super) fn values(&self, object: &Value) -> Pairs {
        let values = self.fields.iter();
        values
            .filter_map(|field| Some((field.label, field.value(object)?)))
            .collect()
    }

    /// Refuses a field that is none of these, for objects of a version and a kind.
    pub(super) fn check(&self, label: &str, api_version: &str, kind: &str) -> Result<(), Status> {
        if self.find(label).is_some() {
            return Ok(());
        }
        Err(match self.refusal {
            Refusal::Common => unsupported(label, ""),
            Refusal::OfVersion => unsupported(label, &format!(" for {api_version}, Kind={kind}")),
            Refusal::Quoting => {
                Status::bad_request(format!("field label {label:?} not supported for {kind}"))
            }
        })
    }

    fn find(&self, label: &str) -> Option<&SelectableField> {
        self.fields.iter().find(|field| field.label == label)
    }
}

// === impl SelectableField ===

impl SelectableField {
    pub const fn new(label: &'static str, path: &'static [&'static str]) -> Self {
        Self::or(label, path, "")
    }

    /// Returns a field that counts as `default` if it is absent.
    pub const fn or(
        label: &'static str,
        path: &'static [&'static str],
        default: &'static str,
    ) -> Self {
        let source = Source::Path(path, default);
        Self { label, source }
    }

    /// Returns a field that is at one of two paths.
    pub const fn either(
        label: &'static str,
        path: &'static [&'static str],
        otherwise: &'static [&'static str],
    ) -> Self {
        let source = Source::Either(path, otherwise);
        Self { label, source }
    }

    /// Returns a second name of a field, or its name in a form in which objects are not stored.
    pub const fn alias(label: &'static str, field: &'static str) -> Self {
        let source = Source::Field(field);
        Self { label, source }
    }

    /// Returns the value in a stored object; an alias has no value of its own.
    fn value<'a>(&self, object: &'a Value) -> Option<Cow<'a, str>> {
        match self.source {
            Source::Path(path, default) => Some(printed(at(object, path), default)),
            Source::Either(path, otherwise) => Some(match printed(at(object, path), "") {
                value if value.is_empty() => printed(at(object, otherwise), ""),
                value => value,
            }),
            Source::Field(_) => None,
        }
    }
}

/// Refuses a field by which no object can be selected; `of` says of which kind.
pub(super) fn unsupported(label: &str, of: &str) -> Status {
    Status::bad_request(format!("field label not supported{of}: {label}"))
}

fn at<'a>(object: &'a Value, path: &[&str]) -> &'a Value {
    path.iter().fold(object, |value, key| &value[*key])
}

fn printed<'a>(value: &'a Value, default: &'static str) -> Cow<'a, str> {
    match value {
        Value::String(text) => text.into(),
        Value::Null => default.into(),
        other => other.to_string().into(),
    }
}
