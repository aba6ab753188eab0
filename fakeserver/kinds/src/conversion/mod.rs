//! Kinds that are served in two forms and stored in one.
//!
//! There are two such kinds. Events are served in two groups, with other names for the fields. Autoscalers are served
//! in two versions, of which the older keeps fields that it lacks in annotations. Everything here is a function of
//! values.

mod autoscaler;
mod event;
mod metrics;
mod ordered;
#[cfg(test)]
mod tests;

pub use self::autoscaler::set_default_target;

use fakeserver_value::{read::text, served_form::ServedForm};
use serde_json::Value;

/// The forms of all kinds that have two.
static FORMS: [&ServedForm; 4] = [
    &event::CORE,
    &event::EVENTS,
    &autoscaler::V1,
    &autoscaler::V2,
];

/// Returns the form of a kind in a version, written as objects write it, if the kind has two.
pub fn form_of(api_version: &str, kind: &str) -> Option<&'static ServedForm> {
    let mut forms = FORMS.into_iter();
    forms.find(|form| form.kind == kind && form.api_version == api_version)
}

/// Converts `object` to the form in which its kind is stored. An object without kind and version is in that form already.
pub fn to_stored(object: Value) -> Value {
    let form = form_of(text(&object["apiVersion"]), text(&object["kind"]));
    match form {
        Some(form) => form.to_stored(object),
        None => object,
    }
}
