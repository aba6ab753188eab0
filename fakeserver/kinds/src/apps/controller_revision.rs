//! Controller revisions: the templates that stateful sets and daemon sets have had.

use fakeserver_value::{
    field::Field,
    findings::Findings,
    read::{items, number, text},
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    Habits, Kind, MetadataRechecks, Validation,
    table::cell::{Cells, NONE, age, name},
};

/// Controller revisions.
pub static KIND: Kind = Kind::new("apps", "controllerrevisions")
    .habits(Habits {
        metadata_rechecks: MetadataRechecks::ALL,
        ..Habits::COMMON
    })
    .validation(Validation::new(check, check_update))
    .cells(cells);

// === Validation ===

pub fn check(revision: &Field<'_>, found: &mut Findings) {
    found.non_negative(&revision.at("revision"));
    let data = revision.at("data");
    if !data.is_set() {
        found.required(&data, "data is mandatory");
    } else if !data.value().is_object() {
        found.required(&data, "data must be a valid JSON object");
    }
}

/// Checks an update except for changes of the data, which the caller compares as text.
pub fn check_update(_: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    found.non_negative(&new.at("revision"));
}

// === Cells ===

pub fn cells(object: &Value, now: Timestamp) -> Cells {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::KIND;
    use crate::testing::check;

    #[test]
    fn revisions_are_checked() {
        let revision = json!({"metadata": {"name": "r"}, "revision": 1, "data": {"a": 1}});
        check(&KIND, &revision, &[]);
        check(
            &KIND,
            &json!({"metadata": {"name": "r"}, "revision": -1}),
            &[
                "revision: Invalid value: -1: must be greater than or equal to 0",
                "data: Required value: data is mandatory",
            ],
        );
    }
}
