//! Controller revisions: the templates that stateful sets and daemon sets have had.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::kinds::{
    Kind,
    table::cell::{Cells, NONE, age, items, name, number, text},
};

/// Controller revisions.
pub(crate) static KIND: Kind = Kind::new("apps", "controllerrevisions").cells(cells);

pub(crate) fn cells(object: &Value, now: Timestamp) -> Cells {
    let owners = items(&object["metadata"]["ownerReferences"]);
    let controller = owners
        .iter()
        .find(|owner| owner["controller"] == true)
        .map_or(NONE.to_owned(), |owner| {
            let (group, _) = text(&owner["apiVersion"])
                .split_once('/')
                .unwrap_or_default();
            let kind = text(&owner["kind"]).to_lowercase();
            let dot = if group.is_empty() { "" } else { "." };
            format!("{kind}{dot}{group}/{}", text(&owner["name"]))
        });
    vec![
        json!(name(object)),
        json!(controller),
        json!(number(&object["revision"])),
        json!(age(object, now)),
    ]
}
