//! Services, and the endpoints behind them.

use fakeserver_kinds::{
    core::{self, service::range::IpFamily},
    discovery,
    registry::Registry,
};
use fakeserver_server::store::Stencil;
use serde_json::json;

use super::draft::{CONTROLLER_MANAGER, DEPLOYER, Draft};
use crate::simulated::hole::{Placeholder, Values};

/// The maximum number of endpoints in one slice, as in a real cluster.
pub(in crate::simulated) const ENDPOINTS_PER_SLICE: usize = 100;

/// The stencil of an endpoint slice, and the text of each endpoint in it.
#[derive(Debug)]
pub(in crate::simulated) struct SliceStencil {
    pub(in crate::simulated) slice: Stencil,
}

/// A service in front of a deployment, of the primary family alone.
pub(super) fn service(registry: &Registry, family: IpFamily) -> Draft<'_> {
    let app = Placeholder::App.text();
    let service = json!({
        "metadata": {"labels": {"app.kubernetes.io/name": app}},
        "spec": {
            "type": "ClusterIP",
            "clusterIP": Placeholder::ClusterIp.text(),
            "clusterIPs": [Placeholder::ClusterIp.text()],
            "ipFamilies": [family.name()],
            "ipFamilyPolicy": "SingleStack",
            "selector": {"app.kubernetes.io/name": app},
            "ports": [{"name": "http", "port": 80, "protocol": "TCP", "targetPort": "http"}],
        },
    });
    Draft::create(registry, &core::service::KIND, DEPLOYER, service)
}

/// A part of the endpoints of a service.
pub(super) fn slice(registry: &Registry, family: IpFamily) -> SliceStencil {
    let app = Placeholder::App.text();
    let slice = json!({
        "metadata": {
            "generateName": format!("{app}-"),
            "labels": {
                "app.kubernetes.io/name": app,
                "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
                "kubernetes.io/service-name": app,
            },
            "annotations": {"endpoints.kubernetes.io/last-change-trigger-time": Placeholder::Ready.text()},
            "ownerReferences": [{
                "apiVersion": "v1",
                "kind": "Service",
                "name": app,
                "uid": Placeholder::OwnerUid.text(),
                "controller": true,
                "blockOwnerDeletion": true,
            }],
        },
        "addressType": family.name(),
        "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}],
        "endpoints": [{"addresses": ["10.0.0.1"]}],
    });
    let kind = &discovery::endpoint_slice::KIND;
    let draft = Draft::create(registry, kind, CONTROLLER_MANAGER, slice).set(|slice| {
        slice["metadata"]["generation"] = json!(Placeholder::Generation.number());
        slice["endpoints"] = json!(Placeholder::List.raw());
    });
    SliceStencil {
        slice: draft.stencil(),
    }
}

// === impl SliceStencil ===

impl SliceStencil {
    /// Writes the endpoint of one pod as JSON, with the values of the pod.
    pub(in crate::simulated) fn put_endpoint(list: &mut String, pod: &Values<'_>, is_ready: bool) {
        let value = |hole: Placeholder| pod.slice()[hole as usize];
        list.push(if list.is_empty() { '[' } else { ',' });
        let parts = [
            r#"{"addresses":[""#,
            value(Placeholder::PodIp),
            r#""],"conditions":{"ready":"#,
            if is_ready { "true" } else { "false" },
            r#","serving":"#,
            if is_ready { "true" } else { "false" },
            r#","terminating":false},"targetRef":{"kind":"Pod","namespace":""#,
            value(Placeholder::Namespace),
            r#"","name":""#,
            value(Placeholder::Name),
            r#"","uid":""#,
            value(Placeholder::Uid),
            r#""},"nodeName":""#,
            value(Placeholder::Node),
            r#"","zone":""#,
            value(Placeholder::Zone),
            r#""}"#,
        ];
        list.extend(parts);
    }
}
