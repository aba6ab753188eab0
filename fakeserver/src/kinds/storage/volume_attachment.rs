//! Attachments of volumes to nodes.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::kinds::{
    Habits, Kind,
    table::cell::{Cells, NONE, age, name, text, text_or},
};

/// Attachments of volumes to nodes.
pub(crate) static KIND: Kind = Kind::new("storage.k8s.io", "volumeattachments")
    .habits(Habits {
        requires_version: true,
        returns_deleted: true,
        ..Habits::COMMON
    })
    .cells(cells);

pub(crate) fn cells(object: &Value, now: Timestamp) -> Cells {
    let spec = &object["spec"];
    vec![
        json!(name(object)),
        json!(text(&spec["attacher"])),
        json!(text_or(&spec["source"]["persistentVolumeName"], NONE)),
        json!(text(&spec["nodeName"])),
        json!(object["status"]["attached"] == true),
        json!(age(object, now)),
    ]
}
