//! What the metadata of each kind may be, and how often it is looked at.

use super::Strategy;
use crate::validation::names::{
    dns_label_problems, path_segment_problems, service_name_problems, subdomain_problems,
};

/// What the rules of a kind look at in the metadata of an update.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MetadataRechecks {
    /// What may not change.
    pub(crate) change: bool,
    /// All that is looked at in a new object.
    pub(crate) whole: bool,
}

// === impl Strategy ===

impl Strategy<'_> {
    /// What is wrong with a name, apart from its length once something is appended.
    pub(crate) fn name_problems(self, name: &str) -> Vec<String> {
        match self.id() {
            ("", "namespaces") | ("apps", "statefulsets") => dns_label_problems(name),
            ("", "services") => service_name_problems(name),
            ("rbac.authorization.k8s.io", _) => path_segment_problems(name),
            _ => subdomain_problems(name),
        }
    }

    /// Whether it is a kind of Kubernetes itself, whose rules are stricter than those for any object.
    pub(crate) fn is_kube(self) -> bool {
        let group = &*self.resource.group;
        !self.is_custom() && !matches!(group, "apiextensions.k8s.io" | "apiregistration.k8s.io")
    }

    /// How often the rules of the kind look at metadata that was looked at already.
    pub(crate) fn metadata_rechecks(self) -> MetadataRechecks {
        let (change, whole) = match self.id() {
            ("policy", "poddisruptionbudgets") => (false, false),
            ("", "limitranges")
            | ("discovery.k8s.io", "endpointslices")
            | ("admissionregistration.k8s.io", _) => (false, true),
            (
                "",
                "configmaps"
                | "namespaces"
                | "nodes"
                | "persistentvolumeclaims"
                | "persistentvolumes"
                | "pods"
                | "replicationcontrollers"
                | "secrets"
                | "serviceaccounts"
                | "services",
            )
            | ("apps", "daemonsets" | "replicasets")
            | ("batch", "jobs")
            | ("networking.k8s.io", "ingresses" | "networkpolicies")
            | ("node.k8s.io", "runtimeclasses")
            | ("rbac.authorization.k8s.io", _)
            | ("storage.k8s.io", "storageclasses") => (true, true),
            _ => (true, false),
        };
        MetadataRechecks { change, whole }
    }
}
