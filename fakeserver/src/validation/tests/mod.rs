//! Tests of what objects must say, and of how differences are shown.

mod names;
mod creates;
mod updates;
mod differences;
mod page;

use serde_json::Value;

use super::kinds::errors_of;
use crate::defaults::set_defaults;

/// The findings about an object once it has its defaults, as a client reads them.
fn findings(kind: (&str, &str), object: &Value) -> Vec<String> {
    let mut object = object.clone();
    set_defaults(kind.0, kind.1, &mut object);
    shown(kind, "", &object, None)
}

/// The findings about an update through a subresource, or of the object itself if that is empty.
fn update_findings(
    kind: (&str, &str),
    subresource: &str,
    old: &Value,
    change: impl FnOnce(&mut Value),
) -> Vec<String> {
    let mut old = old.clone();
    set_defaults(kind.0, kind.1, &mut old);
    let mut new = old.clone();
    change(&mut new);
    shown(kind, subresource, &new, Some(&old))
}

fn shown(
    kind: (&str, &str),
    subresource: &str,
    object: &Value,
    old: Option<&Value>,
) -> Vec<String> {
    let errors = errors_of(kind, subresource, object, old);
    errors.iter().map(ToString::to_string).collect()
}
