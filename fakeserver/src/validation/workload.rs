//! What makes pods and keeps them: deployments, replica sets, stateful sets, daemon sets, replication controllers.

use serde_json::Value;

use super::{
    field::Field,
    findings::Findings,
    formats::{
        Selected, check_annotations, check_at_most_all, check_label_selector, check_labels,
        check_share, is_empty_selector, is_zero_share, selects,
    },
    pod::{check_runs_forever, check_selected, check_template},
};

const STATEFUL_FIXED: &str = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', \
    'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are \
    forbidden";

// === Pod templates ===

pub(super) fn check_pod_template(object: &Field<'_>, found: &mut Findings) {
    check_template(&object.at("template"), found);
}

pub(super) fn update_pod_template(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_pod_template(new, found);
}

// === Deployments ===

pub(super) fn check_deployment(deployment: &Field<'_>, found: &mut Findings) {
    let spec = deployment.at("spec");
    found.non_negative(&spec.at("replicas"));
    check_selector(&spec, "deployment", found);
    check_made(&spec, "ReplicaSet", found);
    check_strategy(&spec.at("strategy"), found);
    for count in ["minReadySeconds", "revisionHistoryLimit"] {
        found.non_negative(&spec.at(count));
    }
    let deadline = spec.at("progressDeadlineSeconds");
    if deadline.is_set() {
        found.non_negative(&deadline);
        if deadline.number() <= spec.at("minReadySeconds").number() {
            found.invalid(&deadline, "must be greater than minReadySeconds");
        }
    }
}

pub(super) fn update_deployment(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_deployment(new, found);
    fix_selector(old, new, found);
}

fn check_strategy(strategy: &Field<'_>, found: &mut Findings) {
    let rolling = strategy.at("rollingUpdate");
    match strategy.at("type").text() {
        "Recreate" if rolling.is_set() => found.forbidden(
            &rolling,
            "may not be specified when strategy `type` is 'Recreate'",
        ),
        "Recreate" => {}
        "RollingUpdate" if !rolling.is_set() => {
            found.required(&rolling, "this should be defaulted and never be nil");
        }
        "RollingUpdate" => {
            let (missing, extra) = (rolling.at("maxUnavailable"), rolling.at("maxSurge"));
            check_share(&missing, found);
            check_share(&extra, found);
            if is_zero_share(missing.value()) && is_zero_share(extra.value()) {
                found.invalid(&missing, "may not be 0 when `maxSurge` is 0");
            }
            check_at_most_all(&missing, found);
        }
        _ => found.not_supported(&strategy.at("type"), &["Recreate", "RollingUpdate"]),
    }
}

// === Replica sets ===

pub(super) fn check_replica_set(set: &Field<'_>, found: &mut Findings) {
    let spec = set.at("spec");
    found.non_negative(&spec.at("replicas"));
    found.non_negative(&spec.at("minReadySeconds"));
    check_selector(&spec, "deployment", found);
    check_made(&spec, "ReplicaSet", found);
}

pub(super) fn update_replica_set(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_replica_set(new, found);
    fix_selector(old, new, found);
}

pub(super) fn check_replication_controller(controller: &Field<'_>, found: &mut Findings) {
    let spec = controller.at("spec");
    found.non_negative(&spec.at("minReadySeconds"));
    let selector = spec.at("selector");
    if selector.is_empty() {
        found.required(&selector, "");
    }
    found.non_negative(&spec.at("replicas"));
    let template = spec.at("template");
    if !template.is_set() {
        found.required(&template, "");
        return;
    }
    let labels = template.at("metadata").at("labels");
    let differs = selector
        .entries()
        .any(|(label, value)| labels.get(label) != value.value());
    if differs {
        found.invalid(&labels, "`selector` does not match template `labels`");
    }
    check_template(&template, found);
    check_runs_forever(&template, "ReplicationController", found);
}

pub(super) fn update_replication_controller(
    _old: &Field<'_>,
    new: &Field<'_>,
    found: &mut Findings,
) {
    check_replication_controller(new, found);
}

// === Stateful sets ===

pub(super) fn check_stateful_set(set: &Field<'_>, found: &mut Findings) {
    let spec = set.at("spec");
    let policy = spec.at("podManagementPolicy");
    match policy.text() {
        "" => found.required(&policy, ""),
        "OrderedReady" | "Parallel" => {}
        _ => found.invalid(&policy, "must be 'OrderedReady' or 'Parallel'"),
    }
    let strategy = spec.at("updateStrategy");
    let rolling = strategy.at("rollingUpdate");
    match strategy.at("type").text() {
        "" => found.required(&strategy, ""),
        "OnDelete" if rolling.is_set() => {
            found.invalid(&rolling, "only allowed for updateStrategy 'RollingUpdate'");
        }
        "OnDelete" => {}
        "RollingUpdate" => {
            check_share(&rolling.at("partition"), found);
            let missing = rolling.at("maxUnavailable");
            if missing.is_set() {
                check_share(&missing, found);
                if is_zero_share(missing.value()) {
                    found.invalid(&missing, "cannot be 0");
                }
                check_at_most_all(&missing, found);
            }
        }
        _ => found.invalid(&strategy, "must be 'RollingUpdate' or 'OnDelete'"),
    }
    let retention = spec.at("persistentVolumeClaimRetentionPolicy");
    for event in ["whenDeleted", "whenScaled"] {
        let policy = retention.at(event);
        if retention.is_set() && !matches!(policy.text(), "Retain" | "Delete") {
            found.not_supported(&policy, &["Retain", "Delete"]);
        }
    }
    found.non_negative(&spec.at("replicas"));
    found.non_negative(&spec.at("minReadySeconds"));
    found.non_negative(&spec.at("revisionHistoryLimit"));
    found.non_negative(&spec.at("ordinals").at("start"));
    check_selector(&spec, "statefulset", found);
    // The rest of the template may use volumes that the claims make, and is looked at when pods are made.
    let template = spec.at("template");
    check_selected(spec.get("selector"), &template, found);
    let metadata = template.at("metadata");
    check_labels(
        &metadata.at("labels").called_within(&template, "labels"),
        found,
    );
    check_annotations(
        &metadata
            .at("annotations")
            .called_within(&template, "annotations"),
        found,
    );
    check_runs_forever(&template, "StatefulSet", found);
}

pub(super) fn update_stateful_set(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_stateful_set(new, found);
    let fixed = |object: &Field<'_>| -> Value {
        let mut spec = object.get("spec").clone();
        if let Some(spec) = spec.as_object_mut() {
            for field in [
                "replicas",
                "ordinals",
                "template",
                "updateStrategy",
                "revisionHistoryLimit",
                "persistentVolumeClaimRetentionPolicy",
                "minReadySeconds",
            ] {
                spec.remove(field);
            }
        }
        spec
    };
    if fixed(old) != fixed(new) {
        found.forbidden(&new.at("spec"), STATEFUL_FIXED);
    }
}

// === Daemon sets ===

pub(super) fn check_daemon_set(set: &Field<'_>, found: &mut Findings) {
    let spec = set.at("spec");
    let (selector, template) = (spec.at("selector"), spec.at("template"));
    check_label_selector(&selector, found);
    check_selected(selector.value(), &template, found);
    if selector.is_set() && is_empty_selector(&selector) {
        found.invalid(&selector, "empty selector is invalid for daemonset");
    }
    check_template(&template, found);
    check_runs_forever(&template, "DaemonSet", found);
    found.non_negative(&spec.at("minReadySeconds"));
    let strategy = spec.at("updateStrategy");
    let rolling = strategy.at("rollingUpdate");
    match strategy.at("type").text() {
        "OnDelete" => {}
        "RollingUpdate" if !rolling.is_set() => found.required(&rolling, ""),
        "RollingUpdate" => {
            let (missing, extra) = (rolling.at("maxUnavailable"), rolling.at("maxSurge"));
            for share in [&missing, &extra] {
                check_share(share, found);
            }
            for share in [&missing, &extra] {
                check_at_most_all(share, found);
            }
            match (is_zero_share(missing.value()), is_zero_share(extra.value())) {
                (false, false) => {
                    found.invalid(&extra, "may not be set when maxUnavailable is non-zero");
                }
                (true, true) => found.required(&missing, "cannot be 0 when maxSurge is 0"),
                _ => {}
            }
        }
        _ => found.not_supported(&strategy.at("type"), &["RollingUpdate", "OnDelete"]),
    }
    found.non_negative(&spec.at("revisionHistoryLimit"));
}

pub(super) fn update_daemon_set(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_daemon_set(new, found);
    fix_selector(old, new, found);
}

// === What they share ===

fn check_selector(spec: &Field<'_>, kind: &str, found: &mut Findings) {
    let selector = spec.at("selector");
    if !selector.is_set() {
        found.required(&selector, "");
        return;
    }
    check_label_selector(&selector, found);
    if is_empty_selector(&selector) {
        found.invalid(&selector, &format!("empty selector is invalid for {kind}"));
    }
}

fn check_made(spec: &Field<'_>, kind: &str, found: &mut Findings) {
    let (selector, template) = (spec.at("selector"), spec.at("template"));
    let labels = template.get("metadata").get("labels");
    if selects(selector.value(), labels.unwrap_or(&Value::Null)) == Selected::Unreadable {
        found.invalid(&selector, "invalid label selector");
        return;
    }
    if !(selector.is_set() && is_empty_selector(&selector)) {
        check_selected(selector.value(), &template, found);
    }
    check_template(&template, found);
    check_runs_forever(&template, kind, found);
}

fn fix_selector(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    found.immutable(
        &new.at("spec").at("selector"),
        &old.at("spec").at("selector"),
    );
}
