//! Ownership of an object's replicas, as seen by its scale: a scale is applied like an object, but stores no managers.

use super::{Entry, FieldSet};

/// The replicas in a scale.
const REPLICAS: [&str; 2] = ["f:spec", "f:replicas"];

/// The managers of a scale: those of its object who own the field `replicas` there, which is `spec.replicas` here.
pub fn scale_managers(entries: &[Entry], replicas: &FieldSet, api_version: &str) -> Vec<Entry> {
    let owners = entries.iter().filter(|entry| owns(entry, replicas));
    let entries = owners.map(|entry| Entry {
        api_version: api_version.to_owned(),
        fields: replicas_of_scale(),
        ..entry.clone()
    });
    entries.collect()
}

/// The managers of an object of `api_version` whose scale is managed by `scale` now.
///
/// Who owned the replicas and is not among them gives them up. Who is new owns nothing else, and no time is known.
pub fn managers_after_scale(
    mut entries: Vec<Entry>,
    scale: &[Entry],
    replicas: &FieldSet,
    api_version: &str,
) -> Vec<Entry> {
    let wanted = replicas_of_scale();
    let mut new: Vec<&Entry> = scale.iter().filter(|entry| owns(entry, &wanted)).collect();
    for entry in entries.iter_mut().filter(|entry| owns(entry, replicas)) {
        let count = new.len();
        new.retain(|still| !is_same_manager(still, entry));
        if new.len() == count {
            entry.fields.subtract(replicas);
        }
    }
    entries.extend(new.into_iter().map(|entry| Entry {
        api_version: api_version.to_owned(),
        time: String::new(),
        fields: replicas.clone(),
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
