//! Drivers of storage on nodes.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::kinds::{
    Habits, Kind,
    table::cell::{Cells, age, items, name},
};

/// Drivers of storage on nodes.
pub(crate) static KIND: Kind = Kind::new("storage.k8s.io", "csinodes")
    .habits(Habits {
        requires_version: true,
        returns_deleted: true,
        ..Habits::COMMON
    })
    .cells(cells);

pub(crate) fn cells(object: &Value, now: Timestamp) -> Cells {
    let drivers = items(&object["spec"]["drivers"]).len();
    vec![json!(name(object)), json!(drivers), json!(age(object, now))]
}
