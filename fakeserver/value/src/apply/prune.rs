//! Removes fields that a manager has given up.

use serde_json::Value;

use super::{owned::owned, remove::remove};
use crate::{
    managed_fields::{Entry, FieldSet},
    schema::Schema,
};

/// Returns the object without the fields that are in `previous`, and that no entry has.
///
/// The entry of the applying manager has its new fields already. An item or a struct is removed with all that is in it,
/// except fields that have an owner. Fields that never had an owner stay if their parent does.
pub(super) fn prune(
    merged: &Value,
    previous: &FieldSet,
    entries: &[Entry],
    schema: Option<Schema<'_>>,
) -> Value {
    if previous.is_empty() {
        return merged.clone();
    }
    let present = owned(merged, schema).with_structs(schema);
    let previous = previous.with_structs(schema);

    // First everything goes that the manager had ...
    let without_previous = remove(merged, &previous, schema);
    // ... but remaining items, items that any manager owns, and their parents stay ...
    let mut kept = owned(&without_previous, schema).with_structs(schema);
    for entry in entries {
        kept.extend(&entry.fields.with_structs(schema));
    }
    let mut removed = present.clone();
    removed.subtract(&kept);
    let pruned = remove(merged, &removed, schema);
    // ... and in the end, nothing goes that the manager never had.
    let left = owned(&pruned, schema).with_structs(schema);
    let mut gone = present;
    gone.subtract(&left);
    remove(merged, &gone.intersection(&previous), schema)
}
