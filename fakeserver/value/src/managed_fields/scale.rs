//! Ownership of an object's replicas, as seen by its scale: a scale is applied like an object, but stores no managers.

use super::{Entry, FieldSet};

/// The replicas in a scale.
const REPLICAS: [&str; 2] = ["f:spec", "f:replicas"];

/// The place of the replicas in objects of one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplicasPath {
    /// A set of one field; empty if the version has no scale.
    Of(FieldSet),
    /// The kind does not have the version, or not any more.
    UnknownVersion,
}

/// Returns the managers of a scale: those of its object that own the field `path` in their version. They own `spec.replicas`
/// of the scale.
pub fn scale_managers(
    entries: &[Entry],
    path: impl Fn(&str) -> ReplicasPath,
    api_version: &str,
) -> Vec<Entry> {
    let owners = entries
        .iter()
        .filter(|entry| match path(&entry.api_version) {
            ReplicasPath::Of(replicas) => owns(entry, &replicas),
            ReplicasPath::UnknownVersion => false,
        });
    let entries = owners.map(|entry| Entry {
        api_version: api_version.to_owned(),
        fields: replicas_of_scale(),
        ..entry.clone()
    });
    entries.collect()
}

/// Returns the managers of an object of `api_version` whose scale is managed by `scale` now.
///
/// A manager that owned the replicas and is not in `scale` gives them up. A new one owns nothing else, and has no time. Entries
/// of versions that the kind does not have are dropped.
pub fn managers_after_scale(
    mut entries: Vec<Entry>,
    scale: &[Entry],
    path: impl Fn(&str) -> ReplicasPath,
    api_version: &str,
) -> Vec<Entry> {
    let wanted = replicas_of_scale();
    let mut new: Vec<&Entry> = scale.iter().filter(|entry| owns(entry, &wanted)).collect();
    entries.retain_mut(|entry| {
        let ReplicasPath::Of(replicas) = path(&entry.api_version) else {
            return false;
        };
        if owns(entry, &replicas) {
            let count = new.len();
            new.retain(|still| !is_same_manager(still, entry));
            if new.len() == count {
                entry.fields.subtract(&replicas);
            }
        }
        true
    });
    let fields = match path(api_version) {
        ReplicasPath::Of(replicas) => replicas,
        ReplicasPath::UnknownVersion => FieldSet::default(),
    };
    entries.extend(new.into_iter().map(|entry| Entry {
        api_version: api_version.to_owned(),
        time: String::new(),
        fields: fields.clone(),
        ..entry.clone()
    }));
    entries
}

fn replicas_of_scale() -> FieldSet {
    let mut fields = FieldSet::default();
    fields.insert(&REPLICAS.map(str::to_owned));
    fields
}

fn owns(entry: &Entry, field: &FieldSet) -> bool {
    !entry.fields.intersection(field).is_empty()
}

fn is_same_manager(one: &Entry, other: &Entry) -> bool {
    (&one.manager, &one.operation, &one.subresource)
        == (&other.manager, &other.operation, &other.subresource)
}
