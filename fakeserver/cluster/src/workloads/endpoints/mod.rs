//! Endpoints of services: the addresses of the pods that they select, in slices and in the older endpoints.
//!
//! The rules are those of the endpoint slice controller, the endpoints controller and the one that mirrors endpoints that a user
//! has written.

mod addresses;
mod slices;

use std::collections::BTreeSet;

use fakeserver_kinds::{
    core::{
        self,
        service::{families::families, range::IpFamily},
    },
    discovery,
};
use fakeserver_server::{
    controllers::{
        cluster::{Actor, Cluster},
        controller::Controller,
        index::{Index, ObjectChange},
        queue::KeyQueue,
    },
    store::ObjectKey,
    write::deletion::{DeletionParameters, is_deleted},
};
use fakeserver_value::{object::selectors::LabelSelector, read::text};
use serde_json::{Value, json};

use self::{
    addresses::{Group, groups_of, mirrored, of_family, subsets},
    slices::{FamilyGroups, Owner, write_slices},
};
use super::{
    objects::{COALESCED, ReconciledKind},
    selectors::Selectors,
};

const ACTOR: Actor = Actor::CONTROLLER_MANAGER;
const SERVICE: ReconciledKind = ReconciledKind {
    kind: &core::service::KIND,
    name: "Service",
    api_version: "v1",
    component: "endpoint-slice-controller",
};
const ENDPOINTS: ReconciledKind = ReconciledKind {
    kind: &core::endpoints::KIND,
    name: "Endpoints",
    api_version: "v1",
    component: "endpoint-slice-mirroring-controller",
};
const HEADLESS: &str = "service.kubernetes.io/headless";
/// The label with the writer of endpoints.
const MANAGED_BY: &str = "endpoints.kubernetes.io/managed-by";
const MANAGER: &str = "endpoint-controller";
const SKIP_MIRROR: &str = "endpointslice.kubernetes.io/skip-mirror";
const CHANGED_AT: &str = "endpoints.kubernetes.io/last-change-trigger-time";

/// The controller of endpoints.
#[derive(Debug, Default)]
pub(super) struct ServiceEndpoints {
    services: Selectors,
    /// The services whose endpoints are yet to be deleted.
    deleted: BTreeSet<ObjectKey>,
}

impl Controller for ServiceEndpoints {
    fn name(&self) -> &'static str {
        "endpoints"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, _index: &Index, due: &mut KeyQueue<'_>) {
        let key = change.key();
        if change.is_of(SERVICE.kind) {
            let after = change.after.as_ref();
            let selects = after.and_then(|(service, _)| selector(&service.to_value()));
            self.services.set(key, selects);
            if after.is_none() {
                self.deleted.insert(key.clone());
            } else {
                self.deleted.remove(key);
            }
            due.add(key.clone(), COALESCED);
        } else if change.is_of(ENDPOINTS.kind) {
            due.add(SERVICE.key(key.namespace(), key.name()), COALESCED);
        } else if change.is_of(&discovery::endpoint_slice::KIND) {
            if let Some(service) = change
                .subject()
                .labels()
                .get(discovery::endpoint_slice::SERVICE_NAME)
            {
                due.add(SERVICE.key(key.namespace(), service), COALESCED);
            }
        } else if change.is_of(&core::pod::KIND) {
            for service in self.services.selecting(&SERVICE, change) {
                due.add(service.clone(), COALESCED);
            }
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        _due: &mut KeyQueue<'_>,
    ) {
        let Some(service) = cluster.get(key).map(|stored| stored.to_value()) else {
            // Slices go with their owner. Endpoints that never had a service stay.
            if self.deleted.remove(key) {
                cluster.delete(
                    &ENDPOINTS.key(key.namespace(), key.name()),
                    DeletionParameters::default(),
                );
            }
            return;
        };
        if is_deleted(&service) || service["spec"]["type"] == "ExternalName" {
            return;
        }
        let Some(selects) = self.services.get(key) else {
            mirror(cluster, key);
            return;
        };
        let namespace = key.namespace().unwrap_or_default();
        let pods = cluster.index.pods.selected(namespace, selects);
        let families = families_of(cluster, &service).into_iter();
        let groups: FamilyGroups = families
            .map(|family| (family, groups_of(&service, &pods, family)))
            .collect();
        // Endpoints are of the primary family alone.
        if let Some((_, primary)) = groups.first() {
            write_endpoints(cluster, &service, primary);
        }
        let owner = Owner {
            kind: SERVICE,
            object: &service,
            manager: "endpointslice-controller.k8s.io",
        };
        write_slices(cluster, &owner, &groups);
    }
}

/// Returns the selector of a service; nothing if it has none.
fn selector(service: &Value) -> Option<LabelSelector> {
    let labels = service["spec"]["selector"].as_object()?;
    if labels.is_empty() {
        return None;
    }
    super::objects::selector(&json!({"spec": {"selector": {"matchLabels": labels}}}))
}

/// Returns the families of a service; for one without any, as it may be loaded, those of the cluster.
fn families_of(cluster: &Cluster<'_, '_>, service: &Value) -> Vec<IpFamily> {
    let own = families(&service["spec"]);
    if own.is_empty() {
        return cluster.backend.service_range().families().collect();
    }
    own
}

fn is_headless(service: &Value) -> bool {
    service["spec"]["clusterIP"] == "None"
}

/// Writes the endpoints of a service.
fn write_endpoints(cluster: &mut Cluster<'_, '_>, service: &Value, groups: &[Group]) {
    let metadata = &service["metadata"];
    let mut labels = metadata["labels"].as_object().cloned().unwrap_or_default();
    labels.insert(MANAGED_BY.to_owned(), json!(MANAGER));
    if is_headless(service) {
        labels.insert(HEADLESS.to_owned(), json!(""));
    }
    let subsets = subsets(groups);
    let key = ENDPOINTS.key(metadata["namespace"].as_str(), text(&metadata["name"]));
    let now = cluster.now_text();
    if cluster.get(&key).is_none() {
        let endpoints = json!({
            "metadata": {
                "name": metadata["name"],
                "namespace": metadata["namespace"],
                "labels": labels,
                "annotations": {CHANGED_AT: now},
            },
            "subsets": subsets,
        });
        cluster.create(ENDPOINTS.kind.storage(), ACTOR, endpoints);
        return;
    }
    cluster.update(&key, ACTOR, |endpoints| {
        let is_same = endpoints["metadata"]["labels"] == json!(labels)
            && endpoints.get("subsets").unwrap_or(&Value::Null) == &subsets;
        if !is_same {
            endpoints["metadata"]["labels"] = json!(labels);
            endpoints["metadata"]["annotations"][CHANGED_AT] = json!(now);
            endpoints["subsets"] = subsets;
        }
    });
}

/// Writes slices of the endpoints that a user has written for a service without a selector.
fn mirror(cluster: &mut Cluster<'_, '_>, service: &ObjectKey) {
    let key = ENDPOINTS.key(service.namespace(), service.name());
    let Some(endpoints) = cluster.get(&key).map(|stored| stored.to_value()) else {
        return;
    };
    let labels = &endpoints["metadata"]["labels"];
    let is_skipped = labels[SKIP_MIRROR] == "true" || !labels[MANAGED_BY].is_null();
    if is_skipped || is_deleted(&endpoints) {
        return;
    }
    let owner = Owner {
        kind: ENDPOINTS,
        object: &endpoints,
        manager: "endpointslicemirroring-controller.k8s.io",
    };
    let mirrored = mirrored(&endpoints);
    let families = [IpFamily::V4, IpFamily::V6].into_iter();
    let mut groups: FamilyGroups = families
        .map(|family| (family, of_family(&mirrored, family)))
        .filter(|(_, groups)| !groups.is_empty())
        .collect();
    // Without addresses there is one slice without endpoints.
    if groups.is_empty() {
        let primary = cluster.backend.service_range().primary().family();
        groups.push((primary, Vec::new()));
    }
    write_slices(cluster, &owner, &groups);
}
