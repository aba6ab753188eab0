//! Groups of pods that are scheduled together.

use fakeserver_value::{edit::set_absent, field::Field, findings::Findings};
use serde_json::json;

use super::group::{check_group, check_group_update};
use crate::{
    Habits, Kind, PreservedMetadata, Validation,
    declared::{Format, check_gated, check_immutable, check_optional, check_required},
    formats::check_conditions,
};

const CLAIM_STATUSES_MAX: usize = 4;
/// The gate of groups of groups.
const COMPOSITE: &str = "CompositePodGroup";

/// Groups of pods. Nothing of their specification changes but the count of a gang.
pub static KIND: Kind = Kind::new("scheduling.k8s.io", "podgroups")
    .habits(Habits {
        has_generation: true,
        requires_version: true,
        kept_by_status: PreservedMetadata::ALL,
        ..Habits::COMMON
    })
    .defaults(|group| {
        set_absent(
            &mut group["spec"],
            "disruptionMode",
            json!({ "single": {} }),
        );
    })
    .validation(Validation::new(check, check_update).with(&[("status", check_status)]));

// === Validation ===

fn check(group: &Field<'_>, found: &mut Findings) {
    let spec = group.at("spec");
    let parent = spec.at("parentCompositePodGroupName");
    if check_gated(&parent, COMPOSITE, found) {
        check_optional(&parent, Format::LongName, found);
    }
    let workload = spec.at("workloadRef");
    if workload.is_set() {
        check_required(&workload.at("workloadName"), Format::LongName, found);
        check_required(&workload.at("templateName"), Format::ShortName, found);
    }
    check_group(&spec, found);
}

fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
    let (was, is) = (old.at("spec"), new.at("spec"));
    for field in ["parentCompositePodGroupName", "workloadRef"] {
        check_immutable(&was.at(field), &is.at(field), found);
    }
    check_group_update(&was, &is, found);
}

fn check_status(_: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let status = new.at("status");
    check_conditions(&status.at("conditions"), found);
    let claims = status.at("resourceClaimStatuses");
    if claims.len() > CLAIM_STATUSES_MAX {
        found.too_many(&claims, CLAIM_STATUSES_MAX);
    }
    for claim in claims.items() {
        check_optional(&claim.at("resourceClaimName"), Format::LongName, found);
    }
}
