//! Warnings about new pods.

use crate::{
    Accepted,
    pod_spec::warnings::{hostname, pod},
};

/// Warns of a new pod: updates of pods are not made by people.
pub(super) fn warn(accepted: &Accepted<'_>, told: &mut Vec<String>) {
    if accepted.is_new {
        hostname(&accepted.metadata(), "the Pod's hostname", told);
        pod(&accepted.object, told);
    }
}
