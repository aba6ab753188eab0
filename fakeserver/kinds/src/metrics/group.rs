//! The group as discovery has it.

use std::sync::Arc;

use fakeserver_versions::KubernetesVersion;

use super::{node_metrics, pod_metrics};
use crate::{
    Kind, KindRef, ResourceType,
    registry::{Group, Version},
};

/// The name of the group.
pub const GROUP: &str = "metrics.k8s.io";
/// Its version that every Kubernetes knows.
pub const VERSION: &str = "v1beta1";
/// Its version that newer ones know, and prefer.
const STABLE_VERSION: &str = "v1";
/// The change after which there is the stable version.
const HAS_STABLE: &str = "UsageMetricsV1";

/// Returns the versions of the group that a version of Kubernetes knows, the preferred one first.
pub fn versions(kubernetes: KubernetesVersion) -> impl Iterator<Item = &'static str> {
    let has_stable = kubernetes.gates().is_on(HAS_STABLE);
    let stable = has_stable.then_some(STABLE_VERSION);
    stable.into_iter().chain([VERSION])
}

/// Returns the group with its resources, which are read only.
pub fn group(kubernetes: KubernetesVersion) -> Group {
    let version = |name: &'static str| {
        let resources = [
            resource("nodes", "NodeMetrics", false, &node_metrics::KIND),
            resource("pods", "PodMetrics", true, &pod_metrics::KIND),
        ];
        let resources = resources.map(|resource| {
            Arc::new(ResourceType {
                kubernetes,
                version: name.into(),
                ..resource
            })
        });
        Version {
            name: name.into(),
            resources: resources.into(),
        }
    };
    Group {
        name: GROUP.into(),
        versions: versions(kubernetes).map(version).collect(),
        is_custom: false,
    }
}

fn resource(plural: &str, kind: &str, is_namespaced: bool, rules: &'static Kind) -> ResourceType {
    ResourceType {
        kubernetes: KubernetesVersion::DEFAULT,
        group: GROUP.into(),
        version: VERSION.into(),
        plural: plural.into(),
        singular: "".into(),
        kind: kind.into(),
        list_kind: None,
        is_namespaced,
        verbs: vec!["get".into(), "list".into()],
        short_names: Vec::new(),
        categories: Vec::new(),
        subresources: Vec::new(),
        form: None,
        rules: KindRef::BuiltIn(rules),
    }
}
