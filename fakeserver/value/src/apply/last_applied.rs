//! The annotation of client-side `kubectl apply`, in objects that are now applied on the server.
//!
//! A client-side apply keeps its configuration in an annotation. For the manager `kubectl` only, fields of that
//! configuration are no conflicts, and the annotation is kept up to date.

use serde_json::{Map, Value, json};

use super::owned::owned;
use crate::{
    managed_fields::{FieldSet, compare},
    schema::Schema,
};

/// The manager that used to apply on its own.
pub(super) const KUBECTL: &str = "kubectl";

/// The annotation with the configuration of a client-side apply.
#[doc(alias = "LastAppliedConfigAnnotation")]
pub const LAST_APPLIED_CONFIGURATION: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// The number of bytes that all annotations of an object may have together.
const ANNOTATIONS_MAX_BYTES: usize = 256 * 1024;

/// The fields that were applied by the client, and still are as they were applied.
pub(super) fn fields(
    live: Option<&Value>,
    api_version: &str,
    schema: Option<Schema<'_>>,
) -> FieldSet {
    let annotation = |live: &Value| {
        live["metadata"]["annotations"][LAST_APPLIED_CONFIGURATION]
            .as_str()?
            .parse()
            .ok()
    };
    let (Some(live), Some(applied)) = (live, live.and_then(annotation)) else {
        return FieldSet::default();
    };
    let applied: Value = applied;
    if applied["apiVersion"] != api_version {
        return FieldSet::default();
    }
    let mut fields = owned(&applied, schema);
    let change = compare(&applied, live, schema);
    fields.subtract(&change.set);
    fields.subtract(&change.removed);
    fields
}

/// Writes `config` into the annotation, if `object` has one.
pub(super) fn renew(object: &mut Value, config: &Value) {
    let Some(annotations) = annotations(object) else {
        return;
    };
    if !annotations.contains_key(LAST_APPLIED_CONFIGURATION) {
        return;
    }
    let mut applied = config.clone();
    if let Some(of_config) = self::annotations(&mut applied) {
        of_config.remove(LAST_APPLIED_CONFIGURATION);
    }
    annotations.insert(
        LAST_APPLIED_CONFIGURATION.to_owned(),
        json!(format!("{applied}\n")),
    );
    let size = |value: &Value| value.as_str().map_or(0, str::len);
    let size_bytes: usize = annotations
        .iter()
        .map(|(name, value)| name.len() + size(value))
        .sum();
    if size_bytes > ANNOTATIONS_MAX_BYTES {
        annotations.remove(LAST_APPLIED_CONFIGURATION);
    }
}

fn annotations(object: &mut Value) -> Option<&mut Map<String, Value>> {
    object.pointer_mut("/metadata/annotations")?.as_object_mut()
}
