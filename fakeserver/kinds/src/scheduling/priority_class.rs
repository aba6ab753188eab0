//! Priority classes.

use fakeserver_value::{
    edit::set_absent,
    field::Field,
    findings::Findings,
    read::{number, text},
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    Habits, Kind, Validation,
    table::cell::{Cells, age, name},
};

const USER_PRIORITY_MAX: i64 = 1_000_000_000;

/// Priority classes.
pub static KIND: Kind = Kind::new("scheduling.k8s.io", "priorityclasses")
    .habits(Habits {
        has_generation: true,
        counts_nothing: true,
        ..Habits::COMMON
    })
    .defaults(set_defaults)
    .validation(Validation::new(check, check_update))
    .cells(cells);

// === Defaults ===

/// Sets the policy of a priority class.
fn set_defaults(class: &mut Value) {
    set_absent(class, "preemptionPolicy", json!("PreemptLowerPriority"));
}

// === Validation ===

pub fn check(class: &Field<'_>, found: &mut Findings) {
    let value = class.at("value");
    let name = class.at("metadata").at("name");
    if name.text().starts_with("system-") {
        let is_built_in = match name.text() {
            "system-node-critical" => value.number() == 2_000_001_000,
            "system-cluster-critical" => value.number() == 2_000_000_000,
            _ => false,
        };
        if !is_built_in {
            found.forbidden(
                &name,
                "priority class names with 'system-' prefix are reserved for system use only. error: \
                 only system priority classes can have this prefix",
            );
        }
    } else if value.number() > USER_PRIORITY_MAX {
        found.forbidden(
            &value,
            &format!("maximum allowed value of a user defined priority is {USER_PRIORITY_MAX}"),
        );
    }
    if class.at("preemptionPolicy").is_set() {
        found.one_of(
            &class.at("preemptionPolicy"),
            &["PreemptLowerPriority", "Never"],
        );
    }
}

pub fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let number = |class: &Field<'_>| class.get("value").as_i64().unwrap_or_default();
    if number(old) != number(new) {
        found.forbidden(&new.at("value"), "may not be changed in an update.");
    }
    let policy = new.at("preemptionPolicy");
    if *old.get("preemptionPolicy") != Value::Null {
        found.immutable(&policy, &old.at("preemptionPolicy"));
    }
}

// === Cells ===

pub fn cells(object: &Value, now: Timestamp) -> Cells {
    vec![
        json!(name(object)),
        json!(number(&object["value"])),
        json!(object["globalDefault"] == true),
        json!(age(object, now)),
        json!(text(&object["preemptionPolicy"])),
    ]
}
