//! Validation of annotations of pods that have a meaning.

use fakeserver_value::{field::Field, findings::Findings};
use serde_json::json;

/// The annotation of pods that a kubelet has from elsewhere and shows here.
const MIRROR: &str = "kubernetes.io/config.mirror";
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";
const APP_ARMOR_PREFIX: &str = "container.apparmor.security.beta.kubernetes.io/";
const SECCOMP: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_PREFIX: &str = "container.seccomp.security.alpha.kubernetes.io/";
const LOCALHOST_PREFIX: &str = "localhost/";

/// Checks the annotations of a pod.
pub(super) fn check(pod: &Field<'_>, found: &mut Findings) {
    let spec = pod.at("spec");
    let annotations = pod.at("metadata").at("annotations");
    if annotations.is_empty() {
        return;
    }
    let mirror = annotations.key(MIRROR);
    if mirror.is_set() && !spec.at("nodeName").has_text() {
        found.invalid(
            &mirror,
            "must set spec.nodeName if mirror pod annotation is set",
        );
    }
    let cost = annotations.key(DELETION_COST);
    if cost.is_set() && !is_cost(cost.text()) {
        found.invalid(&cost, "must be a 32bit integer");
    }
    for (key, value) in annotations.entries() {
        if (key == SECCOMP || key.starts_with(SECCOMP_PREFIX)) && !is_seccomp_profile(value.text())
        {
            let path = annotations.key_as_member(key);
            found.invalid(&path, "must be a valid seccomp profile");
        }
    }
    for (key, value) in annotations.entries() {
        if let Some(container) = key.strip_prefix(APP_ARMOR_PREFIX) {
            if !has_container(&spec, container) {
                found.invalid_as(&value, &json!(container), "container not found");
            }
            let profile = value.text();
            if !is_app_armor_profile(profile) {
                let why = format!("invalid AppArmor profile name: {profile:?}");
                found.invalid(&value, &why);
            }
        }
    }
}

/// Refuses changes of annotations that are fixed.
pub(super) fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let annotations = |pod: &Field<'_>| pod.at("metadata").at("annotations").value().clone();
    let (was, is) = (annotations(old), annotations(new));
    let place = new.at("metadata").at("annotations");
    for (key, value) in was.as_object().into_iter().flatten() {
        if is[key.as_str()] != *value {
            if key.starts_with(APP_ARMOR_PREFIX) {
                found.forbidden(
                    &place.key(key),
                    "may not remove or update AppArmor annotations",
                );
            } else if key == MIRROR {
                found.forbidden(
                    &place.key(key),
                    "may not remove or update mirror pod annotation",
                );
            }
        }
    }
    for (key, _) in is.as_object().into_iter().flatten() {
        if was[key.as_str()].is_null() {
            if key.starts_with(APP_ARMOR_PREFIX) {
                found.forbidden(&place.key(key), "may not add AppArmor annotations");
            } else if key == MIRROR {
                found.forbidden(&place.key(key), "may not add mirror pod annotation");
            }
        }
    }
}

/// Returns whether a text is a number of 32 bits without superfluous characters.
fn is_cost(text: &str) -> bool {
    let begins = text.starts_with(|first: char| first == '-' || ('1'..='9').contains(&first));
    (begins || text == "0") && text.parse::<i32>().is_ok()
}

fn is_seccomp_profile(profile: &str) -> bool {
    matches!(profile, "runtime/default" | "docker/default" | "unconfined")
        || profile
            .strip_prefix(LOCALHOST_PREFIX)
            .is_some_and(|path| !path.starts_with('/') && path.split('/').all(|part| part != ".."))
}

fn is_app_armor_profile(profile: &str) -> bool {
    matches!(profile, "" | "runtime/default" | "unconfined")
        || profile.starts_with(LOCALHOST_PREFIX)
}

fn has_container(spec: &Field<'_>, name: &str) -> bool {
    ["initContainers", "containers", "ephemeralContainers"]
        .into_iter()
        .flat_map(|list| spec.at(list).items())
        .any(|container| container.at("name").text() == name)
}
