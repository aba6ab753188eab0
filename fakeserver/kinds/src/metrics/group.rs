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
/// Its version.
pub const VERSION: &str = "v1beta1";

/// Returns the group with its resources, which are read only.
pub fn group(kubernetes: KubernetesVersion) -> Group {
    let resources = [
        resource("nodes", "NodeMetrics", false, &node_metrics::KIND),
        resource("pods", "PodMetrics", true, &pod_metrics::KIND),
    ];
    let version = Version {
        name: VERSION.into(),
        resources: resources
            .map(|resource| {
                Arc::new(ResourceType {
                    kubernetes,
                    ..resource
                })
            })
            .into(),
    };
    Group {
        name: GROUP.into(),
        versions: vec![version],
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
