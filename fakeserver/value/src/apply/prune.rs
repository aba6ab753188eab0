//! Removes fields that a manager has given up.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{owned::owned, remove::remove};
use crate::{
    managed_fields::{ConversionError, Entry, FieldSet, KindDescription},
    schema::Schema,
};

/// The fields that a manager owned until now, and the version through which it had applied them.
#[derive(Debug)]
pub(super) struct LastApplied {
    pub(super) api_version: String,
    pub(super) fields: FieldSet,
}

/// Returns the object, which is in the version `own_version`, without the fields that were applied `last` and that no entry
/// has.
///
/// The entry of the applying manager has its new fields already. An item or a struct is removed with all that is in it,
/// except fields that have an owner. Fields that never had an owner stay if their parent does.
pub(super) fn prune(
    merged: &Value,
    last: &LastApplied,
    entries: &[Entry],
    described: KindDescription<'_>,
    own_version: &str,
) -> Result<Value, ConversionError> {
    if last.fields.is_empty() {
        return Ok(merged.clone());
    }
    let last_version = last.api_version.as_str();
    let (merged_then, schema) = match described.in_version(merged, own_version, last_version) {
        Ok(converted) => converted,
        Err(ConversionError::Missing) => return Ok(merged.clone()),
        Err(error) => {
            return Err(error.during("failed to convert merged object to last applied version"));
        }
    };
    let present = owned(&merged_then, schema).with_structs(schema);
    let previous = last.fields.with_structs(schema);

    // First everything goes that the manager had ...
    let without_previous = remove(&merged_then, &previous, schema);
    // ... but remaining items, items that any manager owns, and their parents stay ...
    let state = PrunedState {
        version: last_version.to_owned(),
        merged: merged_then.clone().into_owned(),
        pruned: without_previous,
    };
    let state = add_back_owned(state, entries, described)
        .map_err(|error| error.during("failed add back owned items"))?;
    // ... and in the end, nothing goes that the manager never had.
    let (pruned, _) = described
        .in_version(&state.pruned, &state.version, last_version)
        .map_err(|error| {
            error
                .during("failed to convert pruned object to last applied version")
                .during("failed add back dangling items")
        })?;
    let left = owned(&pruned, schema).with_structs(schema);
    let mut gone = present;
    gone.subtract(&left);
    let pruned = remove(&merged_then, &gone.intersection(&previous), schema);
    let (pruned, _) = described.in_version(&pruned, last_version, own_version)?;
    Ok(pruned.into_owned())
}

/// A merged object, and what pruning has left of it, in one version.
struct PrunedState {
    version: String,
    merged: Value,
    pruned: Value,
}

/// Adds back what any manager owns, in the version of each, that of the state first.
fn add_back_owned(
    state: PrunedState,
    entries: &[Entry],
    described: KindDescription<'_>,
) -> Result<PrunedState, ConversionError> {
    let mut by_version: BTreeMap<(bool, &str), FieldSet> = BTreeMap::new();
    for entry in entries {
        let version = entry.api_version.as_str();
        let owned_there = by_version.entry((version != state.version, version));
        owned_there.or_default().extend(&entry.fields);
    }
    by_version
        .into_iter()
        .try_fold(state, |state, ((_, version), fields)| {
            add_back_owned_in(state, version, &fields, described)
        })
}

fn add_back_owned_in(
    state: PrunedState,
    version: &str,
    managed: &FieldSet,
    described: KindDescription<'_>,
) -> Result<PrunedState, ConversionError> {
    let convert = |object, name: &str| {
        let step = format!("failed to convert {name} object at version {version}");
        let converted = described.in_version(object, &state.version, version);
        converted.map_err(|error| error.during(&step))
    };
    let (merged, schema): (_, Option<Schema<'_>>) = match convert(&state.merged, "merged") {
        Err(ConversionError::Missing) => return Ok(state),
        other => other?,
    };
    let (pruned, _) = convert(&state.pruned, "pruned")?;
    let mut kept = owned(&pruned, schema).with_structs(schema);
    kept.extend(&managed.with_structs(schema));
    let mut removed = owned(&merged, schema).with_structs(schema);
    removed.subtract(&kept);
    Ok(PrunedState {
        version: version.to_owned(),
        pruned: remove(&merged, &removed, schema),
        merged: merged.into_owned(),
    })
}
