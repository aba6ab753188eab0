//! Runtime classes.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    kinds::{
        Habits, Kind, MetadataRechecks, Validation,
        table::cell::{Cells, age, name, text},
    },
    value::{field::Field, findings::Findings, names::dns_label_problems},
};

/// Runtime classes.
pub(crate) static KIND: Kind = Kind::new("node.k8s.io", "runtimeclasses")
    .habits(Habits {
        creates_on_update: true,
        requires_version: true,
        metadata_rechecks: MetadataRechecks::ALL,
        ..Habits::COMMON
    })
    .validation(Validation::new(check, check_update))
    .cells(cells);

// === Validation ===

pub(crate) fn check(class: &Field<'_>, found: &mut Findings) {
    let handler = class.at("handler");
    found.problems(&handler, dns_label_problems(handler.text()));
}

pub(crate) fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
    found.immutable(&new.at("handler"), &old.at("handler"));
}

// === Cells ===

pub(crate) fn cells(object: &Value, now: Timestamp) -> Cells {
    let handler = text(&object["handler"]);
    vec![json!(name(object)), json!(handler), json!(age(object, now))]
}
