//! Warnings about new pods.

use crate::{
    AcceptedObject,
    pod_spec::warnings::{hostname, pod},
};

/// Warns of a new pod: updates of pods are not made by people.
pub(super) fn warn(accepted: &AcceptedObject<'_>, warnings: &mut Vec<String>) {
    if accepted.is_new {
        hostname(&accepted.metadata(), "the Pod's hostname", warnings);
        pod(&accepted.object, warnings);
    }
}
