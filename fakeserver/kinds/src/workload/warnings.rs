//! Warnings about workloads.

use fakeserver_value::field::Field;

use crate::{
    Accepted,
    pod_spec::warnings::{hostname, pod},
};

/// Warns of a name from which pods get a hostname that is no DNS label.
pub(crate) fn warn_of_pod_names(accepted: &Accepted<'_>, told: &mut Vec<String>) {
    if accepted.is_new {
        hostname(&accepted.metadata(), "Pod names and hostnames", told);
    }
}

/// Warns of the template of pods in `object`, which is the accepted object or a template within it.
pub(crate) fn warn_of_template(
    accepted: &Accepted<'_>,
    object: &Field<'_>,
    told: &mut Vec<String>,
) {
    if accepted.is_next_generation {
        pod(&object.at("spec").at("template"), told);
    }
}

/// Warns of the names and the template of pods.
pub(crate) fn warn(accepted: &Accepted<'_>, told: &mut Vec<String>) {
    warn_of_pod_names(accepted, told);
    warn_of_template(accepted, &accepted.object, told);
}
