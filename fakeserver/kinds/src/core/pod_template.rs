//! Pod templates.

use fakeserver_value::{field::Field, findings::Findings};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    AcceptedObject, Habits, Kind, Validation,
    pod_spec::{self, validation::check_template, warnings::pod},
    table::cell::{Cells, containers, labels, name},
};

/// Pod templates.
pub static KIND: Kind = Kind::new("", "podtemplates")
    .pod_at("/template")
    .habits(Habits {
        has_generation: true,
        returns_deleted: true,
        ..Habits::COMMON
    })
    .defaults(set_defaults)
    .validation(Validation::new(check, check_update))
    .warnings(warn)
    .cells(cells);

// === Defaults ===

/// Sets the defaults of a pod template object.
pub fn set_defaults(template: &mut Value) {
    pod_spec::defaults::set_defaults(&mut template["template"]["spec"]);
}

// === Validation ===

pub fn check(object: &Field<'_>, found: &mut Findings) {
    check_template(&object.at("template"), found);
}

pub fn check_update(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
}

// === Warnings ===

pub fn warn(accepted: &AcceptedObject<'_>, warnings: &mut Vec<String>) {
    if accepted.is_next_generation {
        pod(&accepted.object.at("template"), warnings);
    }
}

// === Cells ===

pub fn cells(object: &Value, _now: Timestamp) -> Cells {
    let template = &object["template"];
    let mut cells = vec![json!(name(object))];
    cells.extend(containers(&template["spec"]));
    cells.push(json!(labels(&template["metadata"]["labels"])));
    cells
}
