//! Migrations of stored objects to another version.

use serde_json::json;

use crate::{Habits, Kind, table::cell::name};

/// Migrations of stored objects to another version.
pub static KIND: Kind = Kind::new("storagemigration.k8s.io", "storageversionmigrations")
    .habits(Habits {
        has_generation: true,
        ..Habits::COMMON
    })
    .cells(|object, _| {
        let resource = &object["spec"]["resource"];
        vec![json!(name(object)), resource["resource"].clone()]
    });
