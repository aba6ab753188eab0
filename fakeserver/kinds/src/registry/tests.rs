//! Tests of the built-in registry.

use fakeserver_versions::KubernetesVersion;
use serde_json::json;

use super::{Lookup, Registry};
use crate::{ResourceType, core::pod};

fn builtin(group: &str, version: &str, plural: &str) -> std::sync::Arc<ResourceType> {
    match Registry::builtin(KubernetesVersion::DEFAULT).lookup(group, version, plural) {
        Lookup::Found(resource) => resource,
        other => panic!("{group}/{version} {plural}: {other:?}"),
    }
}

#[test]
fn every_built_in_resource_is_found_by_its_path() {
    let registry = Registry::builtin(KubernetesVersion::DEFAULT);
    let mut count = 0;
    for group in registry.groups() {
        for version in &group.versions {
            for resource in &version.resources {
                let found = registry.lookup(&group.name, &version.name, &resource.plural);
                assert_eq!(found, Lookup::Found(resource.clone()));
                count += 1;
            }
        }
    }
    assert!(count > 60, "{count} resources");
}

#[test]
fn a_failed_lookup_names_the_missing_part() {
    let lookup = |group, version, plural| {
        Registry::builtin(KubernetesVersion::DEFAULT).lookup(group, version, plural)
    };
    assert_eq!(lookup("nope", "v1", "pods"), Lookup::UnknownGroup);
    assert_eq!(lookup("apps", "v9", "deployments"), Lookup::UnknownVersion);
    assert_eq!(lookup("apps", "v1", "pods"), Lookup::UnknownResource);
}

#[test]
fn types_know_their_names_and_subresources() {
    let deployments = builtin("apps", "v1", "deployments");
    assert_eq!(deployments.api_version(), "apps/v1");
    assert!(deployments.has_status());
    assert!(deployments.is_namespaced);
    assert!(!builtin("", "v1", "configmaps").has_status());
    assert!(!builtin("", "v1", "nodes").is_namespaced);
}

#[test]
fn fields_are_selectable_by_type() {
    let refused = |group, plural, label| {
        builtin(group, "v1", plural)
            .check_field(label)
            .unwrap_err()
            .message
    };
    assert!(
        builtin("", "v1", "pods")
            .check_field("spec.nodeName")
            .is_ok()
    );
    assert_eq!(
        refused("", "pods", "spec.foo"),
        "field label not supported: spec.foo"
    );
    assert_eq!(
        refused("", "configmaps", "spec.foo"),
        "\"spec.foo\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
    );
    assert_eq!(
        refused("resource.k8s.io", "resourceslices", "spec.foo"),
        "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: spec.foo"
    );
}

#[test]
fn absent_fields_count_as_their_defaults() {
    let pod = json!({"metadata": {"name": "p", "namespace": "n"}, "spec": {"nodeName": "node"}});
    let fields = pod::KIND.selectable_values(&pod);
    assert_eq!(&fields["spec.nodeName"], "node");
    assert_eq!(&fields["spec.hostNetwork"], "false");
    assert_eq!(&fields["status.phase"], "");
}
