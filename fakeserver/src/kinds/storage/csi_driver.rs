//! Drivers of storage.

use serde_json::{Value, json};

use crate::{
    kinds::{Habits, Kind},
    value::edit::set,
};

/// Drivers of storage.
pub(crate) static KIND: Kind = Kind::new("storage.k8s.io", "csidrivers")
    .habits(Habits {
        requires_version: true,
        returns_deleted: true,
        ..Habits::COMMON
    })
    .defaults(set_defaults);

pub(crate) fn set_defaults(driver: &mut Value) {
    let spec = &mut driver["spec"];
    for (field, default) in [
        ("attachRequired", json!(true)),
        ("podInfoOnMount", json!(false)),
        ("storageCapacity", json!(false)),
        ("fsGroupPolicy", json!("ReadWriteOnceWithFSType")),
        ("volumeLifecycleModes", json!(["Persistent"])),
        ("requiresRepublish", json!(false)),
        ("seLinuxMount", json!(false)),
    ] {
        set(spec, field, default);
    }
}
