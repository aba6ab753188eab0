//! Prototypes of each namespace's objects, of application data, and of events.

use fakeserver_kinds::{core, registry::Registry};
use fakeserver_server::controllers::written_object::Actor;
use serde_json::json;

use super::draft::{CONTROLLER_MANAGER, DEPLOYER, Draft};
use crate::simulated::hole::Hole;

pub(super) fn namespace(registry: &Registry) -> Draft<'_> {
    let namespace = json!({
        "metadata": {"labels": {"team": Hole::App.text(), "environment": Hole::Kind.text()}},
        "spec": {},
    });
    Draft::create(registry, &core::namespace::KIND, DEPLOYER, namespace)
}

/// The service account that pods run as.
pub(super) fn service_account(registry: &Registry) -> Draft<'_> {
    let account = json!({"metadata": {"name": "default"}});
    Draft::create(
        registry,
        &core::service_account::KIND,
        CONTROLLER_MANAGER,
        account,
    )
}

/// The certificate of the cluster's authority, which every namespace has.
pub(super) fn root_certificate(registry: &Registry) -> Draft<'_> {
    let line = "MIIDBTCCAe2gAwIBAgIIQJ0Yk3Vb1m0wDQYJKoZIhvcNAQELBQAwFTETMBEGA1UE\n";
    let certificate = format!(
        "-----BEGIN CERTIFICATE-----\n{}-----END CERTIFICATE-----\n",
        line.repeat(16)
    );
    let map = json!({
        "metadata": {
            "name": "kube-root-ca.crt",
            "annotations": {"kubernetes.io/description":
                "Contains a CA bundle that can be used to verify the kube-apiserver."},
        },
        "data": {"ca.crt": certificate},
    });
    Draft::create(registry, &core::config_map::KIND, CONTROLLER_MANAGER, map)
}

/// The configuration of an application.
pub(super) fn config_map(registry: &Registry) -> Draft<'_> {
    let app = Hole::App.text();
    let config = format!(
        "server:\n  address: 0.0.0.0:8080\n  name: {app}\nlogging:\n  level: info\n  format: json\n\
         features:\n  checkout: true\n  search: true\n  build: {}\n",
        Hole::Data.text()
    );
    let map = json!({
        "metadata": {"labels": {"app.kubernetes.io/name": app}},
        "data": {"config.yaml": config},
    });
    Draft::create(registry, &core::config_map::KIND, DEPLOYER, map)
}

/// Returns the secret with an application's password.
pub(super) fn secret(registry: &Registry) -> Draft<'_> {
    let secret = json!({
        "metadata": {"labels": {"app.kubernetes.io/name": Hole::App.text()}},
        "type": "Opaque",
        "data": {"username": "YXBw", "password": Hole::Data.text()},
    });
    Draft::create(registry, &core::secret::KIND, DEPLOYER, secret)
}

/// Something that was seen of a pod, a node or a workload.
pub(super) fn event(registry: &Registry) -> Draft<'_> {
    let event = json!({
        "involvedObject": {
            "apiVersion": Hole::ApiVersion.text(),
            "kind": Hole::Kind.text(),
            "name": Hole::Owner.text(),
            "namespace": Hole::App.text(),
            "resourceVersion": Hole::ObjectVersion.text(),
            "uid": Hole::OwnerUid.text(),
        },
        "reason": Hole::Reason.text(),
        "message": Hole::Message.text(),
        "source": {"component": Hole::Component.text(), "host": Hole::Node.text()},
        "reportingComponent": Hole::Component.text(),
        "reportingInstance": Hole::Node.text(),
        "type": "Normal",
        "count": 1,
        "firstTimestamp": Hole::Created.text(),
        "lastTimestamp": Hole::Created.text(),
    });
    Draft::create(registry, &core::event::KIND, Actor::new("kubelet"), event).set(|event| {
        event["metadata"]["managedFields"][0]["manager"] = json!(Hole::Component.text());
    })
}
