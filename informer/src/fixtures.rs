//! Small objects for unit tests, written as text: `ns/name@version`, with `#uid` where it matters.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    object::{DecodeError, Labels, Metadata, Object, ObjectKey, ResourceVersion},
    store::{Delta, Replacement},
};

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
    Object::from_parts(
        Metadata {
            key: key(name),
            uid: uid.into(),
            resource_version: ResourceVersion::new(version),
            labels: labels.into_iter().collect::<Labels>(),
            owners: Arc::new([]),
            is_terminating: false,
        },
        Arc::new(Value { text: value.into() }),
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

/// `+a@1` upserted, `-a@1` deleted, `?a@1` undecodable, `!a@1` deleted and undecodable, `^9` a bookmark, `=9[a@1,?b@2]` the
/// whole state at version 9, `==9[..]` the same with authority; `=9` is `=9[]`.
pub(crate) fn delta(text: &str) -> Delta<Value> {
    let (kind, rest) = text.split_at(1);
    match kind {
        "+" => Delta::Upserted(object(rest)),
        "-" => Delta::Deleted(object(rest)),
        "?" => Delta::Undecodable(undecodable(rest)),
        "!" => Delta::DeletedUndecodable(undecodable(rest)),
        "^" => Delta::Bookmark(ResourceVersion::new(rest)),
        "=" => Delta::ReplacedAll(replacement(rest)),
        _ => panic!("unknown delta {text}"),
    }
}

fn replacement(text: &str) -> Replacement<Value> {
    let (text, is_authoritative) = text
        .strip_prefix('=')
        .map_or((text, false), |rest| (rest, true));
    let (version, items) = text.split_once('[').unwrap_or((text, ""));
    let mut replacement = Replacement::new(Vec::new(), ResourceVersion::new(version));
    replacement.is_authoritative = is_authoritative;
    for item in items
        .trim_end_matches(']')
        .split(',')
        .filter(|item| !item.is_empty())
    {
        match item.strip_prefix('?') {
            Some(refused) => replacement.undecodable.push(undecodable(refused)),
            None => replacement.objects.push(object(item)),
        }
    }
    replacement
}

/// The same notation; of a whole state, its version only.
pub(crate) fn delta_text(delta: &Delta<Value>) -> String {
    match delta {
        Delta::Upserted(object) => format!("+{object:?}"),
        Delta::Deleted(object) => format!("-{object:?}"),
        Delta::Undecodable(error) => format!("?{}@{}", error.key, error.resource_version),
        Delta::DeletedUndecodable(error) => format!("!{}@{}", error.key, error.resource_version),
        Delta::ReplacedAll(replacement) => format!("={}", replacement.resource_version),
        Delta::Bookmark(version) => format!("^{version}"),
    }
}

/// One delta in words, for the journals of stores.
pub(crate) fn delta_line<K>(delta: &Delta<K>) -> String {
    match delta {
        Delta::Upserted(object) => format!("upsert {object:?}"),
        Delta::Deleted(object) => format!("delete {object:?}"),
        Delta::Undecodable(error) => format!("undecodable {}", error.key),
        Delta::DeletedUndecodable(error) => format!("delete undecodable {}", error.key),
        Delta::ReplacedAll(replacement) => {
            let objects = replacement.objects.iter();
            let objects = objects.map(|object| format!("{object:?}"));
            let refused = replacement.undecodable.iter();
            let refused = refused.map(|error| format!("!{}", error.key));
            let words: Vec<String> = objects.chain(refused).collect();
            let authority = if replacement.is_authoritative {
                ", the most recent state"
            } else {
                ""
            };
            let version = &replacement.resource_version;
            format!("replace [{}] at {version}{authority}", words.join(" "))
        }
        Delta::Bookmark(version) => format!("bookmark {version}"),
    }
}
