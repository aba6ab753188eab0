//! Nodes, namespaces, leases, events, and what rules over pods.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    field::Field,
    findings::Findings,
    formats::{check_at_most_all, check_cidr, check_label_selector, check_qualified, check_share},
    names::{label_value_problems, path_segment_problems, qualified_name_problems},
    pod::check_resource_amount,
};

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const ONCE: &str = "node updates may not change podCIDR except from \"\" to valid";
const ONCE_PROVIDER: &str = "node updates may not change providerID except from \"\" to valid";
const EVENT_TEXT_MAX: usize = 128;
const EVENT_NOTE_MAX: usize = 1_024;
const USER_PRIORITY_MAX: i64 = 1_000_000_000;

// === Nodes ===

pub(super) fn check_node(node: &Field<'_>, found: &mut Findings) {
    check_taints(node, found);
    check_node_resources(node, found);
    let ranges = node.at("spec").at("podCIDRs");
    for range in ranges.items() {
        check_cidr(&range, found);
    }
    let is_v6 = |range: &Field<'_>| range.text().contains(':');
    let families: Vec<bool> = ranges.items().map(|range| is_v6(&range)).collect();
    if families.len() > 1 && (families.len() > 2 || families[0] == families[1]) {
        found.invalid(
            &ranges,
            "may specify no more than one CIDR for each IP family",
        );
    }
}

pub(super) fn update_node(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_node_resources(new, found);
    let mut seen = Vec::new();
    for address in new.at("status").at("addresses").items() {
        if seen.contains(&address.value()) {
            found.duplicate(&address);
        }
        seen.push(address.value());
    }
    let (was, is) = (old.at("spec"), new.at("spec"));
    if !was.at("podCIDRs").is_empty() && was.get("podCIDRs") != is.get("podCIDRs") {
        found.forbidden(&is.at("podCIDRs"), ONCE);
    }
    if was.at("providerID").has_text() && was.get("providerID") != is.get("providerID") {
        found.forbidden(&is.at("providerID"), ONCE_PROVIDER);
    }
    check_taints(new, found);
}

fn check_taints(node: &Field<'_>, found: &mut Findings) {
    let taints = node.at("spec").at("taints");
    let taints = taints.called_within(&node.at("metadata"), "taints");
    let mut seen = BTreeSet::new();
    for taint in taints.items() {
        check_qualified(&taint.at("key"), found);
        let value = taint.at("value");
        let problems = label_value_problems(value.text());
        if !problems.is_empty() {
            found.invalid(&value, &problems.join(";"));
        }
        found.one_of(&taint.at("effect"), &EFFECTS);
        if !seen.insert((taint.at("key").text(), taint.at("effect").text())) {
            found.duplicate_with(&taint, "taints must be unique by key and effect pair");
        }
    }
}

fn check_node_resources(node: &Field<'_>, found: &mut Findings) {
    for list in ["capacity", "allocatable"] {
        let amounts = node.at("status").at(list);
        for (resource, amount) in amounts.entries() {
            let place = amount.called_at(&amounts.key_as_member(resource));
            check_resource_amount(resource, &place, found);
        }
    }
}

// === Namespaces ===

pub(super) fn check_namespace(namespace: &Field<'_>, found: &mut Findings) {
    let finalizers = namespace.at("spec").at("finalizers");
    for finalizer in finalizers.items() {
        check_finalizer(&finalizer.called_at(&finalizers), found);
    }
}

/// An update through `finalize`.
pub(super) fn finalize_namespace(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    for finalizer in new.at("spec").at("finalizers").items() {
        check_finalizer(&finalizer, found);
    }
}

/// An update through `status`.
pub(super) fn check_namespace_status(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let phase = new.at("status").at("phase");
    let place = phase.called_within(&new.at("status"), "Phase");
    let is_going = new.at("metadata").at("deletionTimestamp").is_set();
    if !is_going && phase.text() != "Active" {
        found.invalid_as(
            &place,
            &json!(phase.text()),
            "may only be 'Active' if `deletionTimestamp` is empty",
        );
    } else if is_going && phase.text() != "Terminating" {
        found.invalid_as(
            &place,
            &json!(phase.text()),
            "may only be 'Terminating' if `deletionTimestamp` is not empty",
        );
    }
}

fn check_finalizer(finalizer: &Field<'_>, found: &mut Findings) {
    check_qualified(finalizer, found);
    let standard = ["kubernetes", "orphan", "foregroundDeletion"];
    if !finalizer.text().contains('/') && !standard.contains(&finalizer.text()) {
        found.invalid(
            finalizer,
            "name is neither a standard finalizer name nor is it fully qualified",
        );
    }
}

// === Leases ===

pub(super) fn check_lease(lease: &Field<'_>, found: &mut Findings) {
    let spec = lease.at("spec");
    let seconds = spec.at("leaseDurationSeconds");
    if seconds.is_set() && seconds.number() <= 0 {
        found.invalid(&seconds, "must be greater than 0");
    }
    found.non_negative(&spec.at("leaseTransitions"));
    let strategy = spec.at("strategy");
    let place = strategy.called_within(&strategy, "strategy");
    if strategy.text().contains('/') {
        found.problems(&place, qualified_name_problems(strategy.text()));
    } else {
        found.optional_one_of(&place, &["OldestEmulationVersion"]);
    }
    if spec.at("preferredHolder").has_text() && !strategy.has_text() {
        found.forbidden(
            &spec.at("preferredHolder"),
            "may only be specified if `strategy` is defined",
        );
    }
}

pub(super) fn update_lease(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_lease(new, found);
}

// === Events ===

/// An event, as either of its two groups names its fields.
pub(super) fn check_event(event: &Field<'_>, found: &mut Findings) {
    let about = if event.at("regarding").is_set() {
        event.at("regarding")
    } else {
        event.at("involvedObject")
    };
    let place = about
        .at("namespace")
        .called_within(&event.at("involvedObject"), "namespace");
    let own = event.at("metadata").at("namespace").text();
    let is_timed = event.at("eventTime").is_set();
    let is_elsewhere = match (place.text(), is_timed) {
        ("", false) => !matches!(own, "" | "default"),
        ("", true) => !matches!(own, "default" | "kube-system"),
        (said, false) => said != own,
        (_, true) => false,
    };
    if is_elsewhere {
        found.invalid_as(
            &place,
            &json!(place.text()),
            "does not match event.namespace",
        );
    }
    if !is_timed {
        return;
    }
    let core = event.at("reportingComponent");
    let controller = if core.is_set() {
        core
    } else {
        event.at("reportingController")
    };
    let controller = controller.called_at(&event.at("reportingController"));
    if !controller.has_text() {
        found.required(&controller, "");
    }
    for problem in qualified_name_problems(controller.text()) {
        found.invalid_as(&controller, &json!(controller.text()), &problem);
    }
    for name in ["reportingInstance", "action", "reason"] {
        let field = event.at(name);
        if !field.has_text() {
            found.required(&field, "");
        }
        if field.text().len() > EVENT_TEXT_MAX {
            let why = format!("can have at most {EVENT_TEXT_MAX} characters");
            found.invalid_as(&field, &json!(""), &why);
        }
    }
    let note = if event.at("note").is_set() {
        event.at("note")
    } else {
        event.at("message")
    };
    if note.text().len() > EVENT_NOTE_MAX {
        let why = format!("can have at most {EVENT_NOTE_MAX} characters");
        found.invalid_as(&note.called_at(&event.at("message")), &json!(""), &why);
    }
}

pub(super) fn update_event(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_event(new, found);
}

// === Disruption budgets ===

pub(super) fn check_budget(budget: &Field<'_>, found: &mut Findings) {
    let spec = budget.at("spec");
    let shares = [spec.at("minAvailable"), spec.at("maxUnavailable")];
    if shares.iter().all(Field::is_set) {
        found.invalid_struct(
            &spec,
            "io.k8s.api.policy.v1.PodDisruptionBudgetSpec",
            "minAvailable and maxUnavailable cannot be both set",
        );
    }
    for share in shares.iter().filter(|share| share.is_set()) {
        check_share(share, found);
        check_at_most_all(share, found);
    }
    check_label_selector(&spec.at("selector"), found);
    found.optional_one_of(
        &spec.at("unhealthyPodEvictionPolicy"),
        &["AlwaysAllow", "IfHealthyBudget"],
    );
}

pub(super) fn update_budget(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_budget(new, found);
}

/// An update through `status`.
pub(super) fn check_budget_status(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    for count in [
        "disruptionsAllowed",
        "currentHealthy",
        "desiredHealthy",
        "expectedPods",
    ] {
        found.non_negative(&new.at("status").at(count));
    }
}

// === Autoscalers ===

pub(super) fn check_autoscaler(autoscaler: &Field<'_>, found: &mut Findings) {
    let spec = autoscaler.at("spec");
    let (least, most) = (spec.at("minReplicas"), spec.at("maxReplicas"));
    if least.is_set() && least.number() < 1 {
        found.invalid(&least, "must be greater than or equal to 1");
    }
    if most.number() < 1 {
        found.invalid_as(&most, &most.number().into(), "must be greater than 0");
    }
    if least.is_set() && most.number() < least.number() {
        found.invalid_as(
            &most,
            &most.number().into(),
            "must be greater than or equal to `minReplicas`",
        );
    }
    let target = spec.at("scaleTargetRef");
    for name in ["kind", "name"] {
        let field = target.at(name);
        if field.has_text() {
            found.problems(&field, path_segment_problems(field.text()));
        } else {
            found.required(&field, "");
        }
    }
}

pub(super) fn update_autoscaler(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_autoscaler(new, found);
}

// === Priority classes ===

pub(super) fn check_priority(class: &Field<'_>, found: &mut Findings) {
    let value = class.at("value");
    let name = class.at("metadata").at("name");
    if name.text().starts_with("system-") {
        let known = match name.text() {
            "system-node-critical" => value.number() == 2_000_001_000,
            "system-cluster-critical" => value.number() == 2_000_000_000,
            _ => false,
        };
        if !known {
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

pub(super) fn update_priority(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let number = |class: &Field<'_>| class.get("value").as_i64().unwrap_or_default();
    if number(old) != number(new) {
        found.forbidden(&new.at("value"), "may not be changed in an update.");
    }
    let policy = new.at("preemptionPolicy");
    if *old.get("preemptionPolicy") != Value::Null {
        found.immutable(&policy, &old.at("preemptionPolicy"));
    }
}
