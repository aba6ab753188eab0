//! Workloads: templates of groups of pods that are scheduled together.

use fakeserver_value::{field::Field, findings::Findings};

use super::group::{check_group, check_group_update};
use crate::{
    Habits, Kind, Validation,
    declared::{
        Format, check_gated, check_immutable, check_named_items, check_optional, check_required,
        check_same_items, check_union,
    },
};

const TEMPLATES_MAX: usize = 8;
/// The gate of groups of groups.
const COMPOSITE: &str = "CompositePodGroup";

/// Workloads. Nothing of them changes but the counts of gangs.
pub static KIND: Kind = Kind::new("scheduling.k8s.io", "workloads")
    .habits(Habits {
        has_generation: true,
        requires_version: true,
        ..Habits::COMMON
    })
    .validation(Validation::new(check, check_update));

// === Validation ===

fn check(workload: &Field<'_>, found: &mut Findings) {
    let spec = workload.at("spec");
    let controller = spec.at("controllerRef");
    if controller.is_set() {
        check_optional(&controller.at("apiGroup"), Format::LongName, found);
        for part in ["kind", "name"] {
            check_required(&controller.at(part), Format::PathSegment, found);
        }
    }
    let composite = spec.at("compositePodGroupTemplates");
    check_gated(&composite, COMPOSITE, found);
    check_union(
        &spec,
        &["podGroupTemplates", "compositePodGroupTemplates"],
        found,
    );
    let templates = spec.at("podGroupTemplates");
    if check_named_items(&templates, TEMPLATES_MAX, found) {
        for template in templates.items() {
            check_required(&template.at("name"), Format::ShortName, found);
            check_group(&template, found);
        }
    }
}

fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
    let (was, is) = (old.at("spec"), new.at("spec"));
    check_immutable(&was.at("controllerRef"), &is.at("controllerRef"), found);
    let [was, is] = [&was, &is].map(|spec| spec.at("podGroupTemplates"));
    check_same_items(&was, &is, found);
    for template in is.items() {
        let name = template.at("name");
        if let Some(before) = was.items().find(|old| old.at("name").text() == name.text()) {
            check_group_update(&before, &template, found);
        }
    }
}
