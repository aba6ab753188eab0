//! Taints of devices that many share.

use serde_json::json;

use crate::{
    Habits, Kind,
    table::cell::{age, name},
};

/// Taints of devices that many share.
pub static KIND: Kind = Kind::new("resource.k8s.io", "devicetaintrules")
    .habits(Habits {
        has_generation: true,
        ..Habits::COMMON
    })
    .cells(|object, now| {
        let taint = &object["spec"]["taint"];
        vec![
            json!(name(object)),
            taint["key"].clone(),
            taint["value"].clone(),
            taint["effect"].clone(),
            taint["timeAdded"].clone(),
            json!(age(object, now)),
        ]
    });
