//! Printed cells of claims.

use fakeserver_value::read::text;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    core::{
        persistent_volume::cells::{access_modes, phase, quantity},
        persistent_volume_claim::request::class_of,
    },
    table::cell::{Cells, UNSET, age, name, text_or},
};

pub(super) fn cells(object: &Value, now: Timestamp) -> Cells {
    let (spec, status) = (&object["spec"], &object["status"]);
    let volume = text(&spec["volumeName"]);
    let (capacity, modes) = if volume.is_empty() {
        (String::new(), String::new())
    } else {
        (
            quantity(&status["capacity"]["storage"]),
            access_modes(&status["accessModes"]),
        )
    };
    vec![
        json!(name(object)),
        json!(phase(object)),
        json!(volume),
        json!(capacity),
        json!(modes),
        json!(class_of(object)),
        json!(text_or(&spec["volumeAttributesClassName"], UNSET)),
        json!(age(object, now)),
        json!(text_or(&spec["volumeMode"], UNSET)),
    ]
}
