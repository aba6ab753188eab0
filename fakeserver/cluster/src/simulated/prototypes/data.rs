//! Prototypes of each namespace's objects, of application data, and of events.

use fakeserver_kinds::{core, registry::Registry};
use fakeserver_server::controllers::written_object::Actor;
use serde_json::json;

use super::draft::{CONTROLLER_MANAGER, DEPLOYER, Draft};
use crate::simulated::hole::Placeholder;

pub(super) fn namespace(registry: &Registry) -> Draft<'_> {
    let namespace = json!({
        "metadata": {"labels": {"team": Placeholder::App.text(), "environment": Placeholder::Kind.text()}},
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
    let app = Placeholder::App.text();
    let config = format!(
        "server:\n  address: 0.0.0.0:8080\n  name: {app}\nlogging:\n  level: info\n  format: json\n\
         features:\n  checkout: true\n  search: true\n  build: {}\n",
        Placeholder::Data.text()
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
        "metadata": {"labels": {"app.kubernetes.io/name": Placeholder::App.text()}},
        "type": "Opaque",
        "data": {"username": "YXBw", "password": Placeholder::Data.text()},
    });
    Draft::create(registry, &core::secret::KIND, DEPLOYER, secret)
}

/// Something that was seen of a pod, a node or a workload.
pub(super) fn event(registry: &Registry) -> Draft<'_> {
    let event = json!({
        "involvedObject": {
            "apiVersion": Placeholder::ApiVersion.text(),
            "kind": Placeholder::Kind.text(),
            "name": Placeholder::Owner.text(),
            "namespace": Placeholder::App.text(),
            "resourceVersion": Placeholder::ObjectVersion.text(),
            "uid": Placeholder::OwnerUid.text(),
        },
        "reason": Placeholder::Reason.text(),
        "message": Placeholder::Message.text(),
        "source": {"component": Placeholder::Component.text(), "host": Placeholder::Node.text()},
        "reportingComponent": Placeholder::Component.text(),
        "reportingInstance": Placeholder::Node.text(),
        "type": "Normal",
        "count": 1,
        "firstTimestamp": Placeholder::Created.text(),
        "lastTimestamp": Placeholder::Created.text(),
    });
    Draft::create(registry, &core::event::KIND, Actor::new("kubelet"), event).set(|event| {
        event["metadata"]["managedFields"][0]["manager"] = json!(Placeholder::Component.text());
    })
}
