//! The service account and the root certificate that every namespace has.

use std::time::Duration;

use fakeserver_kinds::core::{config_map, namespace, service_account};
use serde_json::{Value, json};

use super::{
    cluster::{Actor, Cluster},
    controller::Controller,
    index::{Index, ObjectChange},
    meta::Meta,
    queue::KeyQueue,
    service_account_tokens::ServiceAccountTokens,
};
use crate::store::ObjectKey;

/// The config map with the root certificate.
const CERTIFICATE: &str = "kube-root-ca.crt";
/// The entry of the config map.
const ENTRY: &str = "ca.crt";
/// The certificate where the server has none of its own, as it speaks plain HTTP. It is valid, so that what mounts it can read
/// it, and nobody has its key.
const ANY_CERTIFICATE: &str = include_str!("../../data/root-ca.pem");
const DESCRIPTION: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal \
                           endpoints such as the internal service IP or kubernetes.default.svc. No other usage is \
                           guaranteed across distributions of Kubernetes clusters.";

/// The controller of the objects that every namespace has.
struct ServiceAccounts {
    /// The certificate of the authority that clients trust.
    root_certificate: String,
}

/// Returns the controllers: that of the accounts, and that of tokens in secrets.
pub(super) fn controller(root_certificate: Option<String>) -> Vec<Box<dyn Controller>> {
    let tokens = ServiceAccountTokens::new(root_certificate.clone());
    let root_certificate = root_certificate.unwrap_or_else(|| ANY_CERTIFICATE.to_owned());
    vec![
        Box::new(ServiceAccounts { root_certificate }),
        Box::new(tokens),
    ]
}

// === impl ServiceAccounts ===

impl ServiceAccounts {
    fn make_account(cluster: &mut Cluster<'_, '_>, namespace: &str) {
        let account =
            json!({"metadata": {"name": service_account::DEFAULT, "namespace": namespace}});
        let accounts = service_account::KIND.storage();
        cluster.create(accounts, Actor::CONTROLLER_MANAGER, account);
    }

    /// Makes the config map with the certificate, or puts the certificate back into it.
    fn publish(cluster: &mut Cluster<'_, '_>, namespace: &str, certificate: &str) {
        let maps = config_map::KIND.storage();
        let annotations = json!({"kubernetes.io/description": DESCRIPTION});
        let data = json!({ENTRY: certificate});
        let key = ObjectKey::new(maps.clone(), Some(namespace), CERTIFICATE);
        if cluster.get(&key).is_none() {
            let map = json!({
                "metadata": {"name": CERTIFICATE, "namespace": namespace, "annotations": annotations},
                "data": data,
            });
            cluster.create(maps, Actor::CONTROLLER_MANAGER, map);
            return;
        }
        cluster.update(&key, Actor::CONTROLLER_MANAGER, |map| {
            let has_description = annotations["kubernetes.io/description"]
                == map["metadata"]["annotations"]["kubernetes.io/description"];
            if map["data"] != data || !has_description {
                map["metadata"]["annotations"] = annotations;
                map["data"] = data;
            }
        });
    }
}

impl Controller for ServiceAccounts {
    fn name(&self) -> &'static str {
        "service-accounts"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, _index: &Index, due: &mut KeyQueue<'_>) {
        let key = change.key();
        let is_made = |name: &str| key.name() == name;
        let concerns = change.is_of(&namespace::KIND) && change.after.is_some()
            || change.is_of(&service_account::KIND)
                && is_made(service_account::DEFAULT)
                && change.after.is_none()
            || change.is_of(&config_map::KIND) && is_made(CERTIFICATE);
        if concerns {
            let name = key.namespace().unwrap_or(key.name());
            let namespace = ObjectKey::cluster(namespace::KIND.storage().clone(), name);
            due.add(namespace, Duration::ZERO);
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        _due: &mut KeyQueue<'_>,
    ) {
        let is_active = |namespace: &Value| namespace["status"]["phase"] == "Active";
        let found = cluster
            .get(key)
            .filter(|found| !Meta::of(found).is_deleted() && is_active(&found.to_value()));
        if found.is_some() {
            Self::make_account(cluster, key.name());
            Self::publish(cluster, key.name(), &self.root_certificate);
        }
    }
}
