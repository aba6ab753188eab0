//! Small objects for unit tests, written as text: `ns/name@version`, with `#uid` where it matters.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::object::{DecodeError, Labels, Metadata, Object, ObjectKey, ResourceVersion};

/// The value of a test object: what an index function or a transform may look at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Value {
    pub(crate) text: String,
}

/// `a/x`, or `x` for a cluster-scoped object.
pub(crate) fn key(text: &str) -> ObjectKey {
    match text.split_once('/') {
        Some((namespace, name)) => ObjectKey::new(namespace, name),
        None => ObjectKey::cluster(text),
    }
}

/// `a/x@5`, or `a/x@5#uid`; the uid is the key's text if none is written.
pub(crate) fn object(text: &str) -> Object<Value> {
    object_with(text, "", [])
}

/// The same, with a value and labels.
pub(crate) fn object_with<const N: usize>(
    text: &str,
    value: &str,
    labels: [(&str, &str); N],
) -> Object<Value> {
    let (identity, uid) = text.split_once('#').unwrap_or((text, ""));
    let (name, version) = identity.split_once('@').unwrap_or((identity, ""));
    let uid = if uid.is_empty() { name } else { uid };
    Object::new(
        Metadata {
            key: key(name),
            uid: uid.into(),
            resource_version: ResourceVersion::new(version),
            labels: labels.into_iter().collect::<Labels>(),
            owners: Arc::new([]),
            is_terminating: false,
        },
        Value { text: value.into() },
    )
}

/// The report that `a/x@5` does not decode.
pub(crate) fn undecodable(text: &str) -> DecodeError {
    let (name, version) = text.split_once('@').unwrap_or((text, ""));
    DecodeError {
        key: key(name),
        resource_version: ResourceVersion::new(version),
        source: Arc::new(serde::de::Error::custom("refused by the test")),
    }
}
