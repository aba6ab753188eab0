//! Warnings about workloads.

use fakeserver_value::field::Field;

use crate::{
    AcceptedObject,
    pod_spec::warnings::{hostname, pod},
};

/// Warns of a name from which pods get a hostname that is no DNS label.
pub(crate) fn warn_of_pod_names(accepted: &AcceptedObject<'_>, warnings: &mut Vec<String>) {
    if accepted.is_new {
        hostname(&accepted.metadata(), "Pod names and hostnames", warnings);
    }
}

/// Warns of the template of pods in `object`, which is the accepted object or a template within it.
pub(crate) fn warn_of_template(
    accepted: &AcceptedObject<'_>,
    object: &Field<'_>,
    warnings: &mut Vec<String>,
) {
    if accepted.is_next_generation {
        pod(&object.at("spec").at("template"), warnings);
    }
}

/// Warns of the names and the template of pods.
pub(crate) fn warn(accepted: &AcceptedObject<'_>, warnings: &mut Vec<String>) {
    warn_of_pod_names(accepted, warnings);
    warn_of_template(accepted, &accepted.object, warnings);
}
