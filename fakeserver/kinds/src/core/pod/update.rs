//! Validation of updates of pods.

use fakeserver_value::{
    difference::difference,
    edit::{copy, remove},
    field::Field,
    findings::Findings,
};
use serde_json::Value;

use crate::{
    core::pod::{annotations, qos::qos_class, validation::check_pod},
    pod_spec::validation::{
        containers::check_trimmed, placement::check_tolerations, resources::same_amounts,
    },
};

const DEFINITION: &str = "io.k8s.api.core.v1.PodSpec";

const CHANGEABLE: &str = "`spec.containers[*].image`,`spec.initContainers[*].image`,\
    `spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),\
    `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/// An update of a pod as a whole.
pub(super) fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    annotations::check_update(old, new, found);
    check_pod(new, found);
    let (was, is) = (old.at("spec"), new.at("spec"));
    for list in ["containers", "initContainers"] {
        if was.at(list).len() != is.at(list).len() {
            found.forbidden(&is.at(list), "pod updates may not add or remove containers");
            return;
        }
        for container in is.at(list).items() {
            if !container.at("image").has_text() {
                found.required(&container.at("image"), "");
            }
            check_trimmed(&container.at("image"), found);
        }
    }
    if !check_deadline(&was, &is, found) {
        return;
    }
    check_added_tolerations(&was, &is, found);
    check_removed_gates(&was, &is, found);
    if was.value() == is.value() {
        return;
    }
    let mut munged = is.value().clone();
    munge(was.value(), &mut munged);
    if !was.at("schedulingGates").is_empty() {
        munge_gated(&was, &is, &mut munged, found);
    }
    if munged != *was.value() {
        if was.at("schedulingGates").is_empty() {
            // The message shows values as they were sent, the comparison needs them as they are read.
            munged = is.original().clone();
            munge(was.value(), &mut munged);
        }
        found.forbidden(
            &is,
            &format!(
                "pod updates may not change fields other than {CHANGEABLE}\n{}",
                difference(found.kubernetes(), DEFINITION, was.value(), &munged)
            ),
        );
    }
}

/// Checks that the deadline is valid, and is neither extended nor removed. Returns whether to check further.
fn check_deadline(was: &Field<'_>, is: &Field<'_>, found: &mut Findings) -> bool {
    let name = "activeDeadlineSeconds";
    let (before, after) = (was.at(name), is.at(name));
    match (before.is_set(), after.is_set()) {
        (_, true) if !(0..=i64::from(i32::MAX)).contains(&after.number()) => {
            found.invalid(&after, "must be between 0 and 2147483647, inclusive");
            return false;
        }
        (true, true) if before.number() < after.number() => {
            found.invalid(&after, "must be less than or equal to previous value");
            return false;
        }
        (true, false) => found.invalid(
            &after,
            "must not update from a positive integer to nil value",
        ),
        _ => {}
    }
    true
}

fn check_added_tolerations(was: &Field<'_>, is: &Field<'_>, found: &mut Findings) {
    let without_time = |toleration: &Value| {
        let mut toleration = toleration.clone();
        remove(&mut toleration, "tolerationSeconds");
        toleration
    };
    let tolerations = is.at("tolerations");
    let kept: Vec<Value> = tolerations
        .items()
        .map(|toleration| without_time(toleration.value()))
        .collect();
    let is_kept = |toleration: Field<'_>| kept.contains(&without_time(toleration.value()));
    if !was.at("tolerations").items().all(is_kept) {
        found.forbidden(
            &tolerations,
            "existing toleration can not be modified except its tolerationSeconds",
        );
        return;
    }
    check_tolerations(&tolerations, found);
}

fn check_removed_gates(was: &Field<'_>, is: &Field<'_>, found: &mut Findings) {
    for gate in is.at("schedulingGates").items() {
        let name = gate.at("name");
        let mut before = was.at("schedulingGates").items();
        if !before.any(|before| before.get("name") == name.value()) {
            found.forbidden(
                &name,
                &format!(
                    "only deletion is allowed, but found new scheduling gate '{}'",
                    name.text()
                ),
            );
        }
    }
}

/// Reverts the permitted changes, so that all remaining changes are forbidden ones.
fn munge(was: &Value, munged: &mut Value) {
    for list in ["containers", "initContainers"] {
        let before = was[list].as_array().map(Vec::as_slice).unwrap_or_default();
        let after = munged.get_mut(list).and_then(Value::as_array_mut);
        for (before, after) in before.iter().zip(after.into_iter().flatten()) {
            copy(before, after, "image");
        }
    }
    for field in ["activeDeadlineSeconds", "schedulingGates", "tolerations"] {
        copy(was, munged, field);
    }
    let grace = "terminationGracePeriodSeconds";
    if was[grace].as_i64().is_some_and(|seconds| seconds < 0) && munged[grace] == 1 {
        copy(was, munged, grace);
    }
}

/// A pod that waits at a gate may still be narrowed to fewer nodes.
fn munge_gated(was: &Field<'_>, is: &Field<'_>, munged: &mut Value, found: &mut Findings) {
    let selector = is.at("nodeSelector");
    if was.get("nodeSelector") != selector.value() {
        let keeps = was
            .at("nodeSelector")
            .entries()
            .all(|(label, value)| selector.get(label) == value.value());
        if !keeps {
            found.invalid(
                &selector,
                "only additions to spec.nodeSelector are allowed (no mutations or deletions)",
            );
        }
        copy(was.value(), munged, "nodeSelector");
    }
    let name = "nodeAffinity";
    let (before, after) = (was.at("affinity"), is.at("affinity"));
    if before.get(name) != after.get(name) {
        if before.at(name).is_set() && !after.at(name).is_set() {
            found.invalid(
                &after.at(name),
                "no additions/deletions to non-empty NodeSelectorTerms list are allowed",
            );
        }
        if before.at(name).is_set() {
            munged["affinity"][name] = before.get(name).clone();
        } else if before.is_set() {
            remove(&mut munged["affinity"], name);
        } else {
            remove(munged, "affinity");
        }
    }
}

/// An update through `ephemeralcontainers`: containers are added, and none changes.
pub(super) fn check_ephemeral_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_pod(new, found);
    let list = new.at("spec").at("ephemeralContainers");
    for before in old.at("spec").at("ephemeralContainers").items() {
        let name = before.get("name");
        let after = list.items().find(|after| after.get("name") == name);
        let why = match after {
            None => format!("existing ephemeral containers {name} may not be removed\n"),
            Some(after) if after.value() == before.value() => continue,
            Some(after) => format!(
                "existing ephemeral containers {name} may not be changed\n{}",
                difference(
                    found.kubernetes(),
                    "io.k8s.api.core.v1.EphemeralContainer",
                    before.value(),
                    after.value()
                )
            ),
        };
        found.forbidden(&list, &why);
    }
}

/// An update through `resize`: a pod stays as good as it was.
pub(super) fn check_resize(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_pod(new, found);
    let (was, is) = (old.at("spec"), new.at("spec"));
    let class = |pod: &Field<'_>| qos_class(pod.value());
    if class(old) != class(new) {
        let place = new.at("status").at("qosClass").called_at(&is);
        found.invalid(
            &place,
            "Pod QOS Class may not change as a result of resizing",
        );
    }
    for list in ["containers", "initContainers"] {
        for (before, after) in was.at(list).items().zip(is.at(list).items()) {
            let (before, after) = (before.at("resources"), after.at("resources"));
            for kind in ["limits", "requests"] {
                if same_amounts(before.get(kind), after.get(kind)) {
                    continue;
                }
                let names = before.at(kind);
                let gone = names
                    .entries()
                    .find(|(resource, _)| after.get(kind).get(resource).is_none());
                if gone.is_some() {
                    found.forbidden(
                        &after.at(kind),
                        &format!("resource {kind} cannot be removed"),
                    );
                }
                let is_sizable = |resource: &str| matches!(resource, "cpu" | "memory");
                let changed = after.at(kind).entries().any(|(resource, amount)| {
                    !is_sizable(resource) && before.get(kind).get(resource) != Some(amount.value())
                });
                if changed {
                    found.forbidden(&after.at(kind), "only cpu and memory resources are mutable");
                }
            }
        }
    }
}
