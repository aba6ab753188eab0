//! Limit ranges.

mod defaults;
mod validation;
#[cfg(test)]
mod tests;

use fakeserver_value::edit::set;
use serde_json::Value;

use crate::{Habits, Kind, MetadataRechecks, Validation};

/// Limit ranges.
pub static KIND: Kind = Kind::new("", "limitranges")
    .habits(Habits {
        creates_on_update: true,
        metadata_rechecks: MetadataRechecks::WHOLE,
        ..Habits::COMMON
    })
    .defaults(defaults::set_defaults)
    .prepare(name)
    .validation(Validation::new(validation::check, validation::check_update));

/// Names a new range that has no name by its uid.
fn name(range: &mut Value) {
    let uid = range["metadata"]["uid"].clone();
    set(&mut range["metadata"], "name", uid);
}
