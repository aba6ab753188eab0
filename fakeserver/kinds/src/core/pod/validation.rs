//! Validation of new pods.

use fakeserver_value::{field::Field, findings::Findings};

use super::annotations;

use crate::pod_spec::validation::{check_spec, containers::check_trimmed};

/// Checks a new pod.
pub(super) fn check(pod: &Field<'_>, found: &mut Findings) {
    check_pod(pod, found);
    let spec = pod.at("spec");
    if !spec.at("ephemeralContainers").is_empty() {
        found.forbidden(&spec.at("ephemeralContainers"), "cannot be set on create");
    }
    if spec.at("nodeName").has_text() && !spec.at("schedulingGates").is_empty() {
        found.forbidden(
            &spec.at("nodeName"),
            "cannot be set until all schedulingGates have been cleared",
        );
    }
}

/// Refuses tokens of a service account in a pod that has none.
fn check_no_tokens(spec: &Field<'_>, found: &mut Findings) {
    for volume in spec.at("volumes").items() {
        for source in volume.at("projected").at("sources").items() {
            let token = source.at("serviceAccountToken");
            if token.is_set() {
                found.forbidden(
                    &token,
                    "must not be specified when serviceAccountName is not set",
                );
            }
        }
    }
}

/// Checks any pod.
pub(super) fn check_pod(pod: &Field<'_>, found: &mut Findings) {
    annotations::check(pod, found);
    let spec = pod.at("spec");
    check_spec(&spec, true, found);
    if !spec.at("serviceAccountName").has_text() {
        check_no_tokens(&spec, found);
    }
    for list in ["containers", "initContainers"] {
        for container in spec.at(list).items() {
            check_trimmed(&container.at("image"), found);
        }
    }
}
