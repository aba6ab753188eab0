//! Leases.

use fakeserver_value::{
    edit::{remove, within},
    field::Field,
    findings::Findings,
    read::text,
};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::check_strategy;
use crate::{
    Habits, Kind, Validation,
    table::cell::{Cells, age, name},
};

/// Leases.
pub static KIND: Kind = leases()
    .prepare(|lease| prepare_update(&Value::Null, lease))
    .prepare_update(prepare_update);

/// Leases of a server that holds elections: they have a strategy, and a preferred holder.
pub static COORDINATED: Kind = leases().stored_as(&KIND);

/// Returns the rules of both.
const fn leases() -> Kind {
    Kind::new("coordination.k8s.io", "leases")
        .habits(Habits {
            creates_on_update: true,
            requires_version: true,
            checks_finalizers: false,
            ..Habits::COMMON
        })
        .validation(Validation::new(check, check_update))
        .cells(cells)
}

// === Validation ===

/// Drops the fields of a feature that is off, unless the lease had them before.
fn prepare_update(old: &Value, lease: &mut Value) {
    let Some(spec) = within(lease, "spec") else {
        return;
    };
    for field in ["strategy", "preferredHolder"] {
        if old["spec"][field].is_null() {
            remove(spec, field);
        }
    }
}

pub fn check(lease: &Field<'_>, found: &mut Findings) {
    let spec = lease.at("spec");
    let seconds = spec.at("leaseDurationSeconds");
    if seconds.is_set() && seconds.number() <= 0 {
        found.invalid(&seconds, "must be greater than 0");
    }
    found.non_negative(&spec.at("leaseTransitions"));
    let strategy = spec.at("strategy");
    check_strategy(&strategy, found);
    if spec.at("preferredHolder").has_text() && !strategy.has_text() {
        found.forbidden(
            &spec.at("preferredHolder"),
            "may only be specified if `strategy` is defined",
        );
    }
}

pub fn check_update(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
}

// === Cells ===

pub fn cells(object: &Value, now: Timestamp) -> Cells {
    let holder = text(&object["spec"]["holderIdentity"]);
    vec![json!(name(object)), json!(holder), json!(age(object, now))]
}
