//! Taints of devices that many share.

use fakeserver_value::{field::Field, findings::Findings, names::dns_label_problems};
use serde_json::{Value, json};

use crate::{
    Habits, Kind, PreservedMetadata, Validation,
    formats::{check_conditions, check_driver_name},
    resource::{names::check_pool_name, taints::check_taint},
    table::cell::{age, name},
};

const CONDITIONS_MAX: usize = 8;

/// Taints of devices that many share.
pub static KIND: Kind = Kind::new("resource.k8s.io", "devicetaintrules")
    .habits(Habits {
        has_generation: true,
        requires_version: true,
        kept_by_status: PreservedMetadata::ALL,
        ..Habits::COMMON
    })
    .validation(
        Validation::new(check, |_, new, found| check(new, found)).with(&[("status", check_status)]),
    )
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

/// Sets the time at which a taint got its effect: `now` if a rule is new or has another effect than before, unless its writer
/// sets another time.
pub fn set_time(now: &str, old: &Value, new: &mut Value) {
    let (was, taint) = (&old["spec"]["taint"], &mut new["spec"]["taint"]);
    let is_changed = old.is_object()
        && was["effect"] != taint["effect"]
        && was["timeAdded"] == taint["timeAdded"];
    if taint.is_object() && (taint["timeAdded"].is_null() || is_changed) {
        taint["timeAdded"] = json!(now);
    }
}

// === Validation ===

fn check(rule: &Field<'_>, found: &mut Findings) {
    let selector = rule.at("spec").at("deviceSelector");
    if selector.at("driver").is_set() {
        check_driver_name(&selector.at("driver"), found);
    }
    if selector.at("pool").is_set() {
        check_pool_name(&selector.at("pool"), found);
    }
    let device = selector.at("device");
    if device.is_set() {
        for problem in dns_label_problems(device.text()) {
            found.invalid_as(&device, &json!(device.text()), &problem);
        }
    }
    check_taint(&rule.at("spec").at("taint"), found);
}

fn check_status(_: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let conditions = new.at("status").at("conditions");
    check_conditions(&conditions, found);
    if conditions.len() > CONDITIONS_MAX {
        found.too_many(&conditions, CONDITIONS_MAX);
    }
}
