//! The `IPAddress` of each address of a service: created with the service, and deleted with it.
//!
//! A real API server writes them when it allocates addresses, and repairs them later. Here they follow the services.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
    time::Duration,
};

use fakeserver_kinds::{
    core::service,
    networking::ip_address::{self, ALLOCATOR, MANAGED_BY},
};
use fakeserver_server::{
    controllers::{
        cluster::{Actor, Cluster},
        controller::Controller,
        index::{Index, ObjectChange},
        queue::KeyQueue,
    },
    store::{ObjectKey, StoredObject},
    write::deletion::DeletionParameters,
};
use fakeserver_value::read::text;
use serde_json::{Value, json};

const SERVER: Actor = Actor::new("kube-apiserver");
const FAMILY: &str = "ipaddress.kubernetes.io/ip-family";

/// The controller of the addresses of services.
///
/// # Memory
///
/// Two keys for each address.
#[derive(Debug, Default)]
pub(super) struct ServiceAddresses {
    /// The allocated addresses by the service that they name.
    allocated: BTreeMap<ObjectKey, BTreeSet<String>>,
    /// The services of addresses that are allocated to others.
    waiting: BTreeMap<String, ObjectKey>,
}

// === impl ServiceAddresses ===

impl ServiceAddresses {
    fn observe_address(&mut self, change: &ObjectChange<'_>, due: &mut KeyQueue<'_>) {
        let name = change.key().name();
        let service = |side: &StoredObject| service_of(&side.to_value());
        if let Some(service) = (change.before.as_ref()).and_then(|(before, _)| service(before)) {
            if let Some(names) = self.allocated.get_mut(&service) {
                names.remove(name);
                if names.is_empty() {
                    self.allocated.remove(&service);
                }
            }
            due.add(service, Duration::ZERO);
        }
        let Some((after, _)) = &change.after else {
            if let Some(waiting) = self.waiting.remove(name) {
                due.add(waiting, Duration::ZERO);
            }
            return;
        };
        let is_allocated = after.labels().get(MANAGED_BY) == Some(ALLOCATOR);
        if let Some(service) = service(after).filter(|_| is_allocated) {
            due.add(service.clone(), Duration::ZERO);
            let names = self.allocated.entry(service).or_default();
            names.insert(name.to_owned());
        }
    }
}

impl Controller for ServiceAddresses {
    fn name(&self) -> &'static str {
        "service addresses"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, _index: &Index, due: &mut KeyQueue<'_>) {
        if change.is_of(&service::KIND) {
            due.add(change.key().clone(), Duration::ZERO);
        } else if change.is_of(&ip_address::KIND) {
            self.observe_address(change, due);
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        _due: &mut KeyQueue<'_>,
    ) {
        let service = cluster.get(key).map(|stored| stored.to_value());
        let wanted = service.as_ref().map(addresses).unwrap_or_default();
        let allocated = self.allocated.get(key).cloned().unwrap_or_default();
        let names = |addresses: &BTreeMap<String, IpAddr>| addresses.keys().cloned().collect();
        let wanted_names: BTreeSet<String> = names(&wanted);
        for name in allocated.difference(&wanted_names) {
            cluster.delete(&address_key(name), DeletionParameters::default());
        }
        for name in wanted_names.difference(&allocated) {
            if cluster.get(&address_key(name)).is_some() {
                // Another service has the address; the object is made when that one is gone.
                self.waiting.insert(name.clone(), key.clone());
            } else {
                let object = object(key, name, wanted[name]);
                cluster.create(ip_address::KIND.storage(), SERVER, object);
            }
        }
    }
}

fn address_key(name: &str) -> ObjectKey {
    ObjectKey::cluster(ip_address::KIND.storage().clone(), name)
}

/// Returns the key of the service that an address names as its parent.
fn service_of(address: &Value) -> Option<ObjectKey> {
    let parent = &address["spec"]["parentRef"];
    if parent["resource"] != "services" || !text(&parent["group"]).is_empty() {
        return None;
    }
    let (namespace, name) = (parent["namespace"].as_str()?, parent["name"].as_str()?);
    let services = service::KIND.storage().clone();
    Some(ObjectKey::namespaced(services, namespace, name))
}

/// Returns the addresses of a service by the names of their objects. A headless service has none.
fn addresses(service: &Value) -> BTreeMap<String, IpAddr> {
    let all = service["spec"]["clusterIPs"].as_array();
    let all = all.into_iter().flatten();
    let parsed = all.filter_map(|address| text(address).parse::<IpAddr>().ok());
    parsed
        .map(|address| (address.to_string(), address))
        .collect()
}

/// Returns the object of an address of a service.
fn object(service: &ObjectKey, name: &str, address: IpAddr) -> Value {
    let family = if address.is_ipv4() { "IPv4" } else { "IPv6" };
    json!({
        "metadata": {"name": name, "labels": {FAMILY: family, MANAGED_BY: ALLOCATOR}},
        "spec": {"parentRef": {
            "resource": "services",
            "namespace": service.namespace(),
            "name": service.name(),
        }},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_its_service() {
        let service = json!({"spec": {"clusterIPs": ["10.0.0.7", "fd00::7"]}});
        let services = service::KIND.storage().clone();
        let key = ObjectKey::namespaced(services, "n", "s");
        let found = addresses(&service);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["10.0.0.7", "fd00::7"]);
        for ((name, address), family) in found.into_iter().zip(["IPv4", "IPv6"]) {
            let object = object(&key, &name, address);
            assert_eq!(object["metadata"]["labels"][FAMILY], family);
            assert_eq!(service_of(&object), Some(key.clone()));
        }
        for spec in [json!({"clusterIPs": ["None"]}), json!({})] {
            assert!(addresses(&json!({"spec": spec})).is_empty());
        }
        let other = json!({"spec": {"parentRef": {"resource": "gateways", "name": "g"}}});
        assert_eq!(service_of(&other), None);
    }
}
