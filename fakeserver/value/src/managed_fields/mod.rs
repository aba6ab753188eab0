//! Field ownership: `metadata.managedFields` for managers that create, update and patch.
//!
//! A manager owns the fields that it was the last to change. A write that changes a field takes it from all other
//! managers, and a removed field has no owner. A manager that owns nothing is not listed. A write that changes nothing
//! leaves everything unchanged, times included.

mod field_set;
mod element;
mod entry;
mod compare;
mod differences;
mod reconcile;
mod versions;
mod typed;
mod scale;
mod without;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, sync::OnceLock};

use fakeserver_versions::{KubernetesVersion, PerVersion};
use serde_json::{Value, json};

use self::versions::OneVersion;
use crate::{
    resource,
    schema::{Schema, canonical, schemas_in, type_in},
    served_form::ServedForm,
};

pub use self::{
    compare::{Comparison, compare},
    differences::Differences,
    element::{Element, Shape, as_element, elements, field_element, key_of, shape},
    entry::{APPLY, Entry, UPDATE, decode, of, put, set, take},
    field_set::{FieldSet, print_element},
    reconcile::reconcile,
    scale::{ReplicasPath, managers_after_scale, scale_managers},
    typed::{check as check_typed, check_with_duplicates as check_typed_with_duplicates, fits},
    versions::{ConversionError, Versions},
    without::without_managed_fields,
};

/// The maximum number of separate updating managers; beyond it the oldest are merged.
const UPDATE_MANAGERS_MAX: usize = 10;
const SCALE: &str = "scale";
const ANCIENT: &str = "ancient-changes";

/// Fields of `metadata` that have no owner.
const UNOWNED_METADATA: [&str; 8] = [
    "f:name",
    "f:namespace",
    "f:creationTimestamp",
    "f:selfLink",
    "f:uid",
    "f:generation",
    "f:managedFields",
    "f:resourceVersion",
];

/// The manager of a write.
#[derive(Clone, Debug)]
pub struct Manager<'a> {
    pub name: &'a str,
    /// The version of the API through which it writes, as in `apps/v1`.
    pub api_version: &'a str,
    /// Empty for the object itself.
    pub subresource: &'a str,
}

/// The facts about a kind that ownership depends on.
#[derive(Clone, Copy, Debug)]
pub struct KindDescription<'a> {
    /// Without one, the kinds of values follow from their shape.
    pub schema: Option<Schema<'a>>,
    /// The object before any field was set: fields that its type always writes are there, as zero or null. So a field
    /// that every object of its type has gets an owner only once it has another value.
    pub zero: &'a Value,
    /// The versions through which managers may have written: they own fields of those. Without them, all versions are the
    /// same.
    versions: Option<&'a dyn Versions>,
}

type Described = BTreeMap<String, (Schema<'static>, Value)>;

/// Describes a kind of the default version of Kubernetes, for those who have no server.
pub fn described(api_version: &str, kind: &str) -> KindDescription<'static> {
    described_in(KubernetesVersion::DEFAULT, api_version, kind)
}

/// A built-in kind, as in `apps/v1` and `Deployment`, or one of which nothing is known. Those of a version of Kubernetes are
/// described once in a process.
pub fn described_in(
    kubernetes: KubernetesVersion,
    api_version: &str,
    kind: &str,
) -> KindDescription<'static> {
    static KINDS: PerVersion<Described> = PerVersion::new();
    let kinds = KINDS.get_or_init(kubernetes, || {
        let schemas = schemas_in(kubernetes);
        let described = schemas.kinds().filter_map(|(group, version, kind)| {
            let schema = schemas.of_kind(group, version, kind)?;
            let id = type_in(kubernetes, group, version, kind)?;
            let zero = canonical(id.table(), id, Value::Null);
            Some((
                kind_key(&resource::api_version(group, version), kind),
                (schema, zero),
            ))
        });
        described.collect()
    });
    match kinds.get(&kind_key(api_version, kind)) {
        Some((schema, zero)) => KindDescription {
            schema: Some(*schema),
            zero,
            versions: Some(&OneVersion),
        },
        None => KindDescription::by(None),
    }
}

fn kind_key(api_version: &str, kind: &str) -> String {
    format!("{api_version}/{kind}")
}

// === impl KindDescription ===

impl<'a> KindDescription<'a> {
    /// A kind of which only the schema is known, if that.
    pub fn by(schema: Option<Schema<'a>>) -> Self {
        static ZERO: OnceLock<Value> = OnceLock::new();
        Self {
            schema,
            zero: ZERO.get_or_init(|| json!({"metadata": {}})),
            versions: None,
        }
    }

    /// Compares managers of the other form by the fields of that form.
    #[must_use]
    pub fn with_form(self, form: Option<&'static ServedForm>) -> Self {
        match form {
            Some(form) => self.with_versions(form),
            None => self,
        }
    }

    /// Compares managers by the fields of the versions through which they have written.
    #[must_use]
    pub fn with_versions(self, versions: &'a dyn Versions) -> Self {
        Self {
            versions: Some(versions),
            ..self
        }
    }
}

/// Writes into `after` who owns which of its fields, now that `manager` made it of `before`. If the objects cannot be
/// converted to the version of one of the managers, it loses them all, as upstream.
///
/// `before` is nothing for an object that is created; a kind that is not described is compared by the shape of its values.
/// `now` is in whole seconds, as objects write times.
pub fn record_update(
    before: Option<&Value>,
    after: &mut Value,
    described: KindDescription<'_>,
    manager: &Manager<'_>,
    now: &str,
) {
    let mut given = take(after);
    if !manager.subresource.is_empty() {
        // Managers are set through the object itself.
        given = Value::Null;
    }
    let mut entries = match decode(&given) {
        // An explicit reset differs from a client that merely sends no managers, which keeps those of the stored object.
        _ if is_reset(&given) => Vec::new(),
        Some(entries) if !entries.is_empty() => entries,
        _ => before
            .and_then(|before| decode(&before["metadata"]["managedFields"]))
            .unwrap_or_default(),
    };
    // Who wrote an object that has no managers is not known, and never will be.
    if before.is_some() && entries.is_empty() {
        return;
    }
    let before = before.unwrap_or(described.zero);
    let reconciled = reconcile(&mut entries, before, described, manager.api_version);
    let compared = reconciled
        .and_then(|()| Differences::new(before, after, described, manager.api_version, &entries));
    let Ok(mut differences) = compared else {
        return;
    };
    // Before entries lose fields: a change of `resourceVersion` alone must not create an entry.
    cut_unowned(&mut differences.own.set);
    // A write of a scale records a manager only if the replicas had an owner.
    let is_managed = manager.subresource != SCALE
        || entries
            .iter()
            .any(|entry| !entry.fields.intersection(&differences.own.set).is_empty());
    for entry in &mut entries {
        let found = differences.of(entry);
        entry.fields.subtract(&found.set);
        entry.fields.subtract(&found.removed);
    }
    let found = differences.own;
    if is_managed && !found.set.is_empty() {
        grant(&mut entries, found.set, manager, now);
    }
    // Emptied entries must not count towards the limit of `squash`.
    entries.retain(|entry| !entry.fields.is_empty());
    squash(&mut entries);
    put(after, entries);
}

/// Returns whether a client asks to forget all managers: by an empty list, or a list of one empty entry.
fn is_reset(given: &Value) -> bool {
    let entries = given.as_array().map(Vec::as_slice);
    match entries {
        Some([]) => true,
        Some([Value::Object(entry)]) => entry.is_empty(),
        _ => false,
    }
}

/// Removes the fields that have no owner: those that identify the object, and those that only the server sets.
pub fn cut_unowned(fields: &mut FieldSet) {
    fields.remove("f:apiVersion");
    fields.remove("f:kind");
    fields.cut("f:metadata", |metadata| {
        for field in UNOWNED_METADATA {
            metadata.remove(field);
        }
    });
}

/// Gives `fields` to `manager`.
fn grant(entries: &mut Vec<Entry>, fields: FieldSet, manager: &Manager<'_>, now: &str) {
    let own = entries.iter_mut().find(|entry| {
        entry.operation == UPDATE
            && entry.manager == manager.name
            && entry.api_version == manager.api_version
            && entry.subresource == manager.subresource
    });
    if let Some(own) = own {
        own.fields.extend(&fields);
        now.clone_into(&mut own.time);
    } else {
        entries.push(Entry {
            manager: manager.name.to_owned(),
            operation: UPDATE.to_owned(),
            api_version: manager.api_version.to_owned(),
            subresource: manager.subresource.to_owned(),
            time: now.to_owned(),
            fields,
        });
    }
}

/// Takes the oldest updates through one version together until there are few enough.
fn squash(entries: &mut Vec<Entry>) {
    let is_update = |entry: &Entry| entry.operation == UPDATE && entry.subresource.is_empty();
    while entries.iter().filter(|entry| is_update(entry)).count() > UPDATE_MANAGERS_MAX {
        // Sorted in each round: the merged entry has the time of its newer part.
        entries.sort_by(|a, b| a.order().cmp(&b.order()));
        let oldest_pair = (0..entries.len()).find_map(|first| {
            let second = (first + 1..entries.len()).find(|second| {
                is_update(&entries[first])
                    && is_update(&entries[*second])
                    // Fields of different versions have different paths, so that their entries cannot be merged.
                    && entries[first].api_version == entries[*second].api_version
            })?;
            Some((first, second))
        });
        let Some((first, second)) = oldest_pair else {
            return;
        };
        let newer = entries.remove(second);
        let ancient = &mut entries[first];
        ANCIENT.clone_into(&mut ancient.manager);
        ancient.fields.extend(&newer.fields);
        ancient.time = newer.time;
    }
}
