//! The fields that pod groups and the templates of workloads share.

use fakeserver_value::{field::Field, findings::Findings};

use crate::declared::{
    Format, check_gated, check_immutable, check_minimum, check_named_items, check_optional,
    check_required, check_same_presence, check_union,
};

const CLAIMS_MAX: usize = 4;
const USER_PRIORITY_MAX: i64 = 1_000_000_000;

/// The gates of single fields.
const TOPOLOGY: &str = "TopologyAwareWorkloadScheduling";
const PREEMPTION_POLICY: &str = "PodGroupPreemptionPolicy";

/// Checks the specification of a group, or a template of one.
pub(super) fn check_group(group: &Field<'_>, found: &mut Findings) {
    let policy = group.at("schedulingPolicy");
    check_union(&policy, &["basic", "gang"], found);
    if policy.at("gang").is_set() {
        check_minimum(&policy.at("gang").at("minCount"), 1, found);
    }
    let constraints = group.at("schedulingConstraints");
    if check_gated(&constraints, TOPOLOGY, found) {
        let topology = constraints.at("topology");
        if topology.len() > 1 {
            found.too_many(&topology, 1);
        }
        for constraint in topology.items() {
            check_required(&constraint.at("key"), Format::LabelKey, found);
        }
    }
    let claims = group.at("resourceClaims");
    if check_named_items(&claims, CLAIMS_MAX, found) {
        for claim in claims.items() {
            check_required(&claim.at("name"), Format::ShortName, found);
            let members = ["resourceClaimName", "resourceClaimTemplateName"];
            check_union(&claim, &members, found);
            for member in members {
                check_optional(&claim.at(member), Format::LongName, found);
            }
        }
    }
    if group.at("disruptionMode").is_set() {
        check_union(&group.at("disruptionMode"), &["single", "all"], found);
    }
    check_optional(&group.at("priorityClassName"), Format::LongName, found);
    let priority = group.at("priority");
    if priority.number() > USER_PRIORITY_MAX {
        let why = format!("must be less than or equal to {USER_PRIORITY_MAX}");
        found.invalid(&priority, &why);
    }
    let preemption = group.at("preemptionPolicy");
    if check_gated(&preemption, PREEMPTION_POLICY, found) {
        found.optional_one_of(&preemption, &["Never", "PreemptLowerPriority"]);
    }
}

/// Checks what changed: the count of a gang only.
pub(super) fn check_group_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let [was, is] = [old, new].map(|group| group.at("schedulingPolicy"));
    check_immutable(&was.at("basic"), &is.at("basic"), found);
    check_same_presence(&was.at("gang"), &is.at("gang"), found);
    for field in [
        "schedulingConstraints",
        "resourceClaims",
        "disruptionMode",
        "priorityClassName",
        "priority",
        "preemptionPolicy",
    ] {
        check_immutable(&old.at(field), &new.at(field), found);
    }
}
