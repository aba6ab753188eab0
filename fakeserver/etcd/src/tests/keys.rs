//! Keys, both ways.

use std::collections::BTreeSet;

use fakeserver_value::resource::GroupResource;

use super::golden::DATABASES;
use crate::{Database, Key, Layout, ObjectPath, ServerKey, resources::StoredResource};

fn path(group: &str, resource: &str, namespace: Option<&str>, name: &str) -> ObjectPath {
    ObjectPath {
        resource: GroupResource::new(group, resource),
        namespace: namespace.map(str::to_owned),
        name: name.to_owned(),
    }
}

#[test]
fn every_golden_key_is_an_object_or_known() {
    let layout = Layout::default();
    for golden in &*DATABASES {
        let database = Database::read(&golden.file).unwrap();
        let mut resources = BTreeSet::new();
        for record in &database.records {
            match layout.parse_key(record.key) {
                Key::Object(path) => {
                    assert_eq!(layout.key_of(&path).as_bytes(), record.key);
                    resources.insert(path.resource);
                }
                Key::Server(_) => {}
                other => panic!("{}: {other:?}", record.key.escape_ascii()),
            }
        }
        assert!(resources.len() > 20, "{resources:?}");
    }
}

#[test]
fn every_listed_object_has_its_key() {
    let layout = Layout::default();
    for golden in &*DATABASES {
        let database = Database::read(&golden.file).unwrap();
        let keys: BTreeSet<&[u8]> = database.records.iter().map(|record| record.key).collect();
        let mut count = 0;
        for (list, answer) in golden.answers.as_object().unwrap() {
            let parts: Vec<&str> = list.split('/').collect();
            let (group, resource) = match parts[..] {
                ["", "api", _, resource] => ("", resource),
                ["", "apis", group, _, resource] => (group, resource),
                _ => panic!("{list} is a list"),
            };
            // These are made at the request, and those are stored in the core group.
            if resource == "componentstatuses" || group == "events.k8s.io" {
                continue;
            }
            for object in answer["items"].as_array().unwrap() {
                let metadata = &object["metadata"];
                let name = metadata["name"].as_str().unwrap();
                let object = path(group, resource, metadata["namespace"].as_str(), name);
                let key = layout.key_of(&object);
                // The lease of the server itself ended with it.
                if !key.starts_with("/registry/leases/kube-system/apiserver-") {
                    assert!(keys.contains(key.as_bytes()), "{key}");
                }
                assert_eq!(layout.parse_key(key.as_bytes()), Key::Object(object));
                count += 1;
            }
        }
        assert!(count > 200, "{count} objects");
    }
}

#[test]
fn exceptions_to_the_rule_of_keys_are_read_and_written() {
    let layout = Layout::default();
    let cases = [
        (
            "/registry/services/specs/a/b",
            path("", "services", Some("a"), "b"),
        ),
        (
            "/registry/services/endpoints/a/b",
            path("", "endpoints", Some("a"), "b"),
        ),
        ("/registry/minions/n", path("", "nodes", None, "n")),
        (
            "/registry/controllers/a/b",
            path("", "replicationcontrollers", Some("a"), "b"),
        ),
        (
            "/registry/podtemplates/a/b",
            path("", "podtemplates", Some("a"), "b"),
        ),
        (
            "/registry/ingress/a/b",
            path("networking.k8s.io", "ingresses", Some("a"), "b"),
        ),
        (
            "/registry/leases/a/b",
            path("coordination.k8s.io", "leases", Some("a"), "b"),
        ),
        (
            "/registry/deployments/a/b",
            path("apps", "deployments", Some("a"), "b"),
        ),
        (
            "/registry/ipaddresses/2001:db8::1",
            path("networking.k8s.io", "ipaddresses", None, "2001:db8::1"),
        ),
        (
            "/registry/apiregistration.k8s.io/apiservices/v1.apps",
            path("apiregistration.k8s.io", "apiservices", None, "v1.apps"),
        ),
        (
            "/registry/apiextensions.k8s.io/customresourcedefinitions/w.example.com",
            path(
                "apiextensions.k8s.io",
                "customresourcedefinitions",
                None,
                "w.example.com",
            ),
        ),
        (
            "/registry/example.com/ws/a/b",
            path("example.com", "ws", Some("a"), "b"),
        ),
        (
            "/registry/example.com/ws/b",
            path("example.com", "ws", None, "b"),
        ),
    ];
    for (key, object) in cases {
        assert_eq!(
            layout.parse_key(key.as_bytes()),
            Key::Object(object.clone())
        );
        assert_eq!(layout.key_of(&object), key);
    }
}

#[test]
fn keys_that_are_no_objects_are_told_apart() {
    let layout = Layout::default();
    let cases = [
        ("compact_rev_key", Key::Server(ServerKey::Compaction)),
        (
            "/registry/ranges/serviceips",
            Key::Server(ServerKey::ServiceIps),
        ),
        (
            "/registry/ranges/servicenodeports",
            Key::Server(ServerKey::ServiceNodePorts),
        ),
        (
            "/registry/masterleases/192.0.2.1",
            Key::Server(ServerKey::MasterLease),
        ),
        (
            "/registry/peerserverleases/apiserver-x",
            Key::Server(ServerKey::PeerLease),
        ),
        ("/registry/health", Key::Server(ServerKey::Health)),
        ("/registry/podsecuritypolicy/p", Key::Unknown),
        ("/registry/pods/p", Key::Unknown),
        ("/registry/pods/a/b/c", Key::Unknown),
        ("/registry/minions/a/b", Key::Unknown),
        ("/registry/pods//p", Key::Unknown),
        ("/registry/pods/a/", Key::Unknown),
        ("/registry/pods", Key::Unknown),
        ("/registry/", Key::Unknown),
        ("/registry/example.com/ws/a/b/c", Key::Unknown),
        ("/registryother/pods/a/b", Key::Foreign),
        ("/kubernetes.io/pods/a/b", Key::Foreign),
        ("", Key::Foreign),
    ];
    for (key, meaning) in cases {
        assert_eq!(layout.parse_key(key.as_bytes()), meaning, "{key}");
    }
    assert_eq!(layout.parse_key(b"/registry/pods/a/\xff"), Key::Unknown);
}

#[test]
fn a_prefix_may_be_written_in_several_ways() {
    for prefix in ["/kubernetes.io", "kubernetes.io/", "//kubernetes.io//"] {
        let layout = Layout::new(prefix);
        assert_eq!(layout.prefix(), "/kubernetes.io/");
        let pod = path("", "pods", Some("a"), "b");
        assert_eq!(layout.key_of(&pod), "/kubernetes.io/pods/a/b");
    }
    assert_eq!(Layout::new("").prefix(), "/");
    assert_eq!(
        Layout::new("a/b").folder_of(&GroupResource::new("", "nodes")),
        "/a/b/minions/"
    );
}

/// Every resource of every version that can be written is in the table, with its kind and scope, and nothing else is.
#[test]
fn the_table_has_the_resources_of_all_versions() {
    use fakeserver_kinds::registry::Registry;
    use fakeserver_versions::KubernetesVersion;

    // The gates that add resources to some version.
    const GATES: [&str; 3] = [
        "CoordinatedLeaderElection",
        "GenericWorkload",
        "EvictionRequestAPI",
    ];
    let mut served = BTreeSet::new();
    for kubernetes in KubernetesVersion::all() {
        let registry = Registry::gated(kubernetes, &GATES);
        let versions = registry.groups().iter().flat_map(|group| &group.versions);
        for resource in versions.flat_map(|version| &version.resources) {
            let is_stored =
                resource.has_verb("update") && resource.rules.storage().group() == &*resource.group;
            if !is_stored {
                continue;
            }
            let stored = StoredResource::find(resource.rules.storage());
            let stored = stored.unwrap_or_else(|| panic!("{} is in the table", resource.plural));
            assert_eq!(stored.kind, &*resource.kind);
            assert_eq!(stored.is_namespaced, resource.is_namespaced);
            assert!(
                stored.type_in(kubernetes).is_some(),
                "{} in {kubernetes}",
                stored.kind
            );
            served.insert(stored.resource.clone());
        }
    }
    let all = StoredResource::all().iter();
    let unserved: Vec<String> = all
        .filter(|stored| !served.contains(&stored.resource))
        .map(|stored| stored.resource.to_string())
        .collect();
    assert_eq!(unserved, [""; 0]);
}
