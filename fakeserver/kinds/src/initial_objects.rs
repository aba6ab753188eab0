//! The objects of a new cluster, apart from its namespaces, as a real server of a version of Kubernetes has them.

use std::{borrow::Cow, fmt::Display};

use fakeserver_value::resource::GroupResource;
use fakeserver_versions::{KubernetesVersion, PerVersion};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{
    Kind, built_in,
    core::service::range::{IpFamily, ServiceRange},
};

/// The objects of each version, with marks for what differs from server to server.
static TEXTS: PerVersion<Cow<'static, str>> = PerVersion::new();

/// Stands for the time of creation.
const TIME: &str = "<time>";
/// Stands for its day.
const DAY: &str = "<date>";
/// The address of the API server in the embedded objects, and the one of a cluster whose primary family is IPv6. Both are
/// of documentation: none of them is reached.
const SERVER_V4: &str = "192.0.2.1";
const SERVER_V6: &str = "2001:db8::1";

#[derive(Debug, Deserialize)]
struct Entry<'a> {
    group: &'a str,
    resource: &'a str,
    object: Value,
}

/// Returns the objects as they are created at `now`, a time in whole seconds as objects write times, in a cluster whose
/// services have addresses of `services`, and whose API server has one of the primary family. Each comes with its kind, and
/// always has the same uid, but for the one that is named after an address.
pub fn initial_objects(
    kubernetes: KubernetesVersion,
    now: &str,
    services: ServiceRange,
) -> Vec<(&'static Kind, Value)> {
    let day = now.split('T').next().unwrap_or_default();
    let text = TEXTS.get_or_init(kubernetes, || kubernetes.initial_objects());
    let mut text = text.replace(TIME, now).replace(DAY, day);
    let embedded = ServiceRange::DEFAULT;
    let quoted = |value: &dyn Display| format!("\"{value}\"");
    if services != embedded {
        let cidrs: Vec<String> = services.ranges().map(|range| quoted(&range)).collect();
        text = text
            .replace(&quoted(&embedded), &cidrs.join(","))
            .replace(&quoted(&embedded.first()), &quoted(&services.first()));
    }
    let family = services.primary().family();
    if family != IpFamily::V4 {
        // The service is of the primary family alone, and so are the address of the server and the slice with it.
        text = text
            .replace(&quoted(&IpFamily::V4.name()), &quoted(&family.name()))
            .replace(&quoted(&SERVER_V4), &quoted(&SERVER_V6));
    }
    let entries = serde_json::Deserializer::from_str(&text).into_iter::<Entry<'_>>();
    let entries = entries.map(|entry| entry.expect("the embedded objects are JSON"));
    entries.map(read).collect()
}

/// Returns the object of that resource, namespace (empty for one of the cluster) and name as [`initial_objects`] has it, if
/// there is one.
pub fn initial_object(
    kubernetes: KubernetesVersion,
    resource: &GroupResource,
    (namespace, name): (&str, &str),
    now: &str,
    services: ServiceRange,
) -> Option<Value> {
    let mut objects = initial_objects(kubernetes, now, services).into_iter();
    let found = objects.find(|(kind, object)| {
        let metadata = &object["metadata"];
        kind.storage() == resource
            && metadata["namespace"].as_str().unwrap_or_default() == namespace
            && metadata["name"] == name
    });
    found.map(|(_, object)| object)
}

fn read(entry: Entry<'_>) -> (&'static Kind, Value) {
    let kind =
        built_in(entry.group, entry.resource).expect("the embedded objects are of known kinds");
    let mut object = entry.object;
    let metadata = &mut object["metadata"];
    let text = |field: &str| metadata[field].as_str().unwrap_or_default();
    let uid = uid_of([entry.group, entry.resource, text("namespace"), text("name")]);
    metadata["uid"] = json!(uid);
    (kind, object)
}

/// Returns the uid of the object of that group, resource, namespace and name, which is always the same.
pub fn uid_of(place: [&str; 4]) -> String {
    let digest = Sha256::digest(place.join("/"));
    let (uid, _) = digest.split_at(size_of::<uuid::Bytes>());
    let uid = uid.try_into().expect("it is as long as a uid");
    let uid = uuid::Builder::from_random_bytes(uid).into_uuid();
    uid.to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use fakeserver_value::managed_fields::{Manager, described, record_update};

    use crate::registry::Registry;

    const NOW: &str = "2026-01-01T00:00:00Z";

    #[test]
    fn every_object_has_a_uid_of_its_own_and_no_mark() {
        let objects = initial_objects(KubernetesVersion::DEFAULT, NOW, ServiceRange::DEFAULT);
        let uids: BTreeSet<&str> = (objects.iter())
            .map(|(_, object)| object["metadata"]["uid"].as_str().unwrap())
            .collect();
        assert_eq!(uids.len(), objects.len());
        for (kind, object) in &objects {
            assert_eq!(object["metadata"]["creationTimestamp"], NOW);
            let text = object.to_string();
            assert!(!text.contains('<'), "{} {text}", kind.plural());
        }
    }

    #[test]
    fn the_service_of_the_api_is_of_the_primary_family() {
        for (ranges, cidrs, address, family, server) in [
            (
                "10.1.0.0/16,fd00::/112",
                json!(["10.1.0.0/16", "fd00::/112"]),
                "10.1.0.1",
                "IPv4",
                SERVER_V4,
            ),
            (
                "fd00::/112,10.1.0.0/16",
                json!(["fd00::/112", "10.1.0.0/16"]),
                "fd00::1",
                "IPv6",
                SERVER_V6,
            ),
            (
                "fd00::/112",
                json!(["fd00::/112"]),
                "fd00::1",
                "IPv6",
                SERVER_V6,
            ),
        ] {
            let objects = initial_objects(KubernetesVersion::DEFAULT, NOW, ranges.parse().unwrap());
            let named = |plural: &str, name: &str| {
                let mut found = objects.iter().filter(|(kind, object)| {
                    kind.plural() == plural && object["metadata"]["name"] == name
                });
                found.next().map(|(_, object)| object).unwrap()
            };
            assert_eq!(named("servicecidrs", "kubernetes")["spec"]["cidrs"], cidrs);
            let spec = &named("services", "kubernetes")["spec"];
            assert_eq!(spec["clusterIP"], address);
            assert_eq!(spec["clusterIPs"], json!([address]));
            assert_eq!(spec["ipFamilies"], json!([family]));
            assert_eq!(spec["ipFamilyPolicy"], "SingleStack");
            let labels = &named("ipaddresses", address)["metadata"]["labels"];
            assert_eq!(labels["ipaddress.kubernetes.io/ip-family"], family);
            let slice = named("endpointslices", "kubernetes");
            assert_eq!(slice["addressType"], family);
            assert_eq!(slice["endpoints"][0]["addresses"], json!([server]));
            let subset = &named("endpoints", "kubernetes")["subsets"][0];
            assert_eq!(subset["addresses"], json!([{"ip": server}]));
        }
    }

    #[test]
    fn managers_own_the_fields_that_they_set() {
        let kind_name = |kind: &Kind| {
            let registry = Registry::builtin(KubernetesVersion::DEFAULT);
            let versions = registry.groups().iter().flat_map(|group| &group.versions);
            let mut resources = versions.flat_map(|version| &version.resources);
            let found = resources.find(|resource| *resource.plural == *kind.plural());
            found.unwrap().kind.to_string()
        };
        for (kind, object) in
            initial_objects(KubernetesVersion::DEFAULT, NOW, ServiceRange::DEFAULT)
        {
            let metadata = &object["metadata"];
            let entries = metadata["managedFields"].as_array().unwrap();
            // What a controller has set of the status is another entry.
            let own = entries.iter().find(|entry| entry["subresource"].is_null());
            let own = own.unwrap();
            let mut made = object.clone();
            made["metadata"]["managedFields"] = Value::Null;
            // Managers are recorded before addresses are allocated.
            for (part, field) in [
                ("", "status"),
                ("/spec", "clusterIPs"),
                ("/spec", "ipFamilies"),
            ] {
                let part = made.pointer_mut(part).and_then(Value::as_object_mut);
                part.map(|part| part.remove(field));
            }
            let api_version = own["apiVersion"].as_str().unwrap();
            let manager = Manager {
                name: own["manager"].as_str().unwrap(),
                api_version,
                subresource: "",
            };
            let described = described(api_version, &kind_name(kind));
            record_update(None, &mut made, described, &manager, NOW);
            let found = &made["metadata"]["managedFields"][0];
            assert_eq!(found, own, "{} {}", kind.plural(), metadata["name"]);
        }
    }
}
