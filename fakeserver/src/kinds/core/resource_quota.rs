//! Resource quotas.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    kinds::{
        Habits, Kind, Validation,
        resource_names::{is_counted, is_of_quotas},
        table::cell::{Cells, age, name, plain},
    },
    value::{field::Field, findings::Findings, names::qualified_name_problems, schema::Quantity},
};

/// Resource quotas.
pub(crate) static KIND: Kind = Kind::new("", "resourcequotas")
    .habits(Habits {
        returns_deleted: true,
        ..Habits::COMMON
    })
    .validation(Validation::new(check, check_update).with(&[("status", check_status)]))
    .cells(cells);

// === Validation ===

pub(crate) fn check(quota: &Field<'_>, found: &mut Findings) {
    check_amounts(&quota.at("spec").at("hard"), found);
}

pub(crate) fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
    let scopes = new.at("spec").at("scopes");
    found.immutable(&scopes, &old.at("spec").at("scopes"));
}

/// An update through `status`.
pub(crate) fn check_status(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    for amounts in ["hard", "used"] {
        check_amounts(&new.at("status").at(amounts), found);
    }
}

fn check_amounts(amounts: &Field<'_>, found: &mut Findings) {
    for (resource, amount) in amounts.entries() {
        let mut refuse = |why: &str| found.invalid_as(&amount, &resource.into(), why);
        for problem in qualified_name_problems(resource) {
            refuse(&problem);
        }
        if !resource.contains('/') && !is_of_quotas(resource) {
            refuse("must be a standard resource for quota");
        }
        let Ok(quantity) = amount.text().parse::<Quantity>() else {
            continue;
        };
        if quantity.is_negative() {
            found.invalid(&amount, "must be greater than or equal to 0");
        }
        if is_counted(resource) && quantity.as_integer().is_none() {
            found.invalid(&amount, "must be an integer");
        }
    }
}

// === Cells ===

pub(crate) fn cells(object: &Value, now: Timestamp) -> Cells {
    let (hard, used) = (&object["status"]["hard"], &object["status"]["used"]);
    let mut requests = Vec::new();
    let mut limits = Vec::new();
    for (resource, most) in hard.as_object().into_iter().flatten() {
        let now = match &used[resource] {
            Value::Null => "0".to_owned(),
            used => plain(used),
        };
        let shown = format!("{resource}: {now}/{}", plain(most));
        if resource.starts_with("limits.") {
            limits.push(shown);
        } else {
            requests.push(shown);
        }
    }
    vec![
        json!(name(object)),
        json!(requests.join(", ")),
        json!(limits.join(", ")),
        json!(age(object, now)),
    ]
}
