//! Runtime classes.

use std::collections::BTreeSet;

use fakeserver_value::{field::Field, findings::Findings, read::text};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    Habits, Kind, MetadataRechecks, Validation,
    formats::{check_label, check_labels},
    pod_spec::validation::{placement::check_tolerations, resources::check_overhead},
    table::cell::{Cells, age, name},
};

const TOLERATION: &str = "io.k8s.api.core.v1.Toleration";

/// Runtime classes.
pub static KIND: Kind = Kind::new("node.k8s.io", "runtimeclasses")
    .habits(Habits {
        creates_on_update: true,
        requires_version: true,
        metadata_rechecks: MetadataRechecks::ALL,
        checks_finalizers: false,
        ..Habits::COMMON
    })
    .validation(Validation::new(check, check_update))
    .cells(cells);

// === Validation ===

pub fn check(class: &Field<'_>, found: &mut Findings) {
    let handler = class.at("handler");
    if handler.has_text() || !found.is_on("HandlerRequired") {
        check_label(&handler, found);
    } else {
        found.required(&handler, "");
    }
    let overhead = class.at("overhead");
    check_overhead(&overhead.at("podFixed").called_at(&overhead), found);
    let scheduling = class.at("scheduling");
    check_labels(&scheduling.at("nodeSelector"), found);
    let tolerations = scheduling.at("tolerations");
    let named = if found.is_on("TolerationsOfRuntimeClassesNamedOnce") {
        tolerations.clone()
    } else {
        tolerations.called_within(&tolerations, "tolerations")
    };
    check_tolerations(&named, found);
    let mut seen = BTreeSet::new();
    for toleration in tolerations.items() {
        let key = ["key", "operator", "value", "effect"].map(|name| toleration.at(name).text());
        if !seen.insert(key) {
            found.duplicate_struct(&toleration, TOLERATION);
        }
    }
}

pub fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
    found.immutable_text(&new.at("handler"), &old.at("handler"));
}

// === Cells ===

pub fn cells(object: &Value, now: Timestamp) -> Cells {
    let handler = text(&object["handler"]);
    vec![json!(name(object)), json!(handler), json!(age(object, now))]
}
