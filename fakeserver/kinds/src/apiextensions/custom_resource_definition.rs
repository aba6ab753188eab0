//! Definitions of custom resources.

use fakeserver_value::{
    field::Field,
    findings::Findings,
    read::{items, text},
};
use serde_json::{Value, json};

use crate::{AcceptedObject, Habits, Kind, Removal, Validation, custom_resources};

/// Definitions of custom resources.
pub static KIND: Kind = Kind::new("apiextensions.k8s.io", "customresourcedefinitions")
    .habits(Habits {
        has_generation: true,
        requires_version: true,
        checks_finalizers: false,
        removal: Removal::AfterInstances,
        ..Habits::COMMON
    })
    .defaults(custom_resources::set_definition_defaults)
    .prepare(custom_resources::conditions::record_stored_version)
    .complete_update(custom_resources::conditions::record_stored_version)
    .validation(Validation::new(check, check_update).with(&[("status", check_status)]))
    .cells_by_column(cell)
    .warnings(warn);

/// Returns the cell of a column of some versions.
fn cell(column: &str, definition: &Value) -> Option<Value> {
    let (spec, names) = (&definition["spec"], &definition["spec"]["names"]);
    Some(match column {
        "Scope" => spec["scope"].clone(),
        "Group" => spec["group"].clone(),
        "Kind" => names["kind"].clone(),
        "ShortNames" => {
            let names = items(&names["shortNames"]).iter().map(text);
            json!(names.collect::<Vec<_>>().join(","))
        }
        "Versions" => {
            let served = items(&spec["versions"]).iter();
            let served = served.filter(|version| version["served"] == true);
            let mut names: Vec<String> = served
                .map(|version| {
                    let mark = if version["storage"] == true {
                        "(storage)"
                    } else {
                        ""
                    };
                    format!("{}{mark}", text(&version["name"]))
                })
                .collect();
            names.sort();
            json!(names.join(","))
        }
        "Established" => {
            let mut conditions = items(&definition["status"]["conditions"]).iter();
            json!(conditions.any(|it| it["type"] == "Established" && it["status"] == "True"))
        }
        _ => return None,
    })
}

fn check(definition: &Field<'_>, found: &mut Findings) {
    let errors =
        custom_resources::definition_errors(found.kubernetes(), definition.original(), None);
    found.extend(errors);
}

fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let errors =
        custom_resources::definition_errors(found.kubernetes(), new.original(), Some(old.value()));
    found.extend(errors);
}

fn check_status(_: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    found.extend(custom_resources::status_errors(new.value()));
}

fn warn(definition: &AcceptedObject<'_>, warnings: &mut Vec<String>) {
    if !definition.is_on("CRDsWarnOfUnrecognizedFormats") {
        return;
    }
    let old = Some(definition.old.value()).filter(|_| !definition.is_new);
    warnings.extend(custom_resources::definition_warnings(
        definition.object.value(),
        old,
    ));
}
