//! Tests of kinds, as tables: defaults, findings and warnings of each.

mod creates;
mod defaults;
mod page;
mod updates;
mod warnings;

use fakeserver_versions::KubernetesVersion;
use serde_json::json;

use crate::{Kind, PreservedMetadata, ResourceType, built_in, testing::resource};

/// Returns the built-in kind of a group and a plural.
fn kind((group, plural): (&str, &str)) -> &'static Kind {
    built_in(group, plural).expect("a built-in kind")
}

/// Lists the habits that differ from the common ones.
fn habits(resource: &ResourceType) -> String {
    let habits = resource.rules.habits;
    let answers = [
        ("generation", habits.has_generation),
        ("created on update", habits.creates_on_update),
        ("version required", habits.requires_version),
        ("returned deleted", habits.returns_deleted),
        ("collected", habits.is_garbage_collected),
        (
            "metadata kept by status",
            habits.kept_by_status != PreservedMetadata::NONE,
        ),
        ("created with status", resource.is_created_with_status()),
    ];
    let yes = answers.iter().filter(|(_, answer)| *answer);
    yes.map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

#[test]
fn types_answer_for_themselves() {
    for (name, expected) in [
        (
            "pods",
            "generation, returned deleted, collected, metadata kept by status",
        ),
        ("namespaces", "returned deleted, collected"),
        ("nodes", "collected, created with status"),
        ("configmaps", "collected, created with status"),
        ("services", "created on update, returned deleted, collected"),
        ("events", "created on update, created with status"),
        (
            "events.events.k8s.io",
            "created on update, created with status",
        ),
        (
            "deployments.apps",
            "generation, collected, metadata kept by status",
        ),
        ("controllerrevisions.apps", "collected, created with status"),
        ("jobs.batch", "generation, collected"),
        ("ingresses.networking.k8s.io", "generation, collected"),
        (
            "poddisruptionbudgets.policy",
            "generation, version required, collected",
        ),
        (
            "endpointslices.discovery.k8s.io",
            "generation, collected, created with status",
        ),
        (
            "leases.coordination.k8s.io",
            "created on update, version required, collected, created with status",
        ),
        (
            "roles.rbac.authorization.k8s.io",
            "created on update, collected, created with status",
        ),
        (
            "csidrivers.storage.k8s.io",
            "generation, version required, returned deleted, collected, created with status",
        ),
        (
            "storageclasses.storage.k8s.io",
            "returned deleted, collected, created with status",
        ),
    ] {
        assert_eq!(habits(&resource(name)), expected, "{name}");
    }
}

#[test]
fn names_follow_the_rules_of_their_type() {
    for (name, good, bad) in [
        ("namespaces", "a-1", "a.b"),
        ("services", "1-a", "a.b"),
        ("configmaps", "a.b-c", "A"),
        ("roles.rbac.authorization.k8s.io", "system:Any", "a/b"),
    ] {
        let resource = resource(name);
        let kind = &resource.rules;
        assert!(kind.name_problems(good).is_empty(), "{name} {good}");
        assert!(!kind.name_problems(bad).is_empty(), "{name} {bad}");
    }
}

#[test]
fn a_generation_counts_changes_of_the_desired_state() {
    let old =
        json!({"metadata": {"annotations": {"a": "1"}}, "spec": {"x": 1}, "status": {"y": 1}});
    let with = |pointer: &str| {
        let mut new = old.clone();
        *new.pointer_mut(pointer).unwrap() = json!("2");
        new
    };
    for (name, pointer, expected) in [
        ("deployments.apps", "/spec/x", true),
        ("deployments.apps", "/status/y", false),
        ("deployments.apps", "/metadata/annotations/a", true),
        ("replicasets.apps", "/spec/x", true),
        ("replicasets.apps", "/metadata/annotations/a", false),
    ] {
        let resource = resource(name);
        let counts = resource
            .rules
            .habits
            .is_next_generation(&old, &with(pointer));
        assert_eq!(counts, expected, "{name} {pointer}");
    }
    let deployments = resource("deployments.apps");
    assert!(!deployments.rules.habits.is_next_generation(&old, &old));
}

#[test]
fn new_objects_have_server_set_fields() {
    for (name, object, expected) in [
        (
            "namespaces",
            json!({"metadata": {"name": "n"}, "spec": {}}),
            json!({
                "metadata": {"name": "n", "labels": {"kubernetes.io/metadata.name": "n"}},
                "spec": {"finalizers": ["kubernetes"]},
                "status": {"phase": "Active"},
            }),
        ),
        (
            "namespaces",
            json!({"metadata": {"name": "n"}, "spec": {"finalizers": ["own", "kubernetes"]}}),
            json!({
                "metadata": {"name": "n", "labels": {"kubernetes.io/metadata.name": "n"}},
                "spec": {"finalizers": ["own", "kubernetes"]},
                "status": {"phase": "Active"},
            }),
        ),
        (
            "persistentvolumes",
            json!({"metadata": {"creationTimestamp": "now"}}),
            json!({
                "metadata": {"creationTimestamp": "now"},
                "status": {"phase": "Pending", "lastPhaseTransitionTime": "now"},
            }),
        ),
        (
            "secrets",
            json!({"metadata": {}}),
            json!({"metadata": {}, "type": "Opaque"}),
        ),
        (
            "secrets",
            json!({"metadata": {}, "type": "own"}),
            json!({"metadata": {}, "type": "own"}),
        ),
        (
            "replicasets.apps",
            json!({"metadata": {}}),
            json!({"metadata": {"generation": 1}}),
        ),
    ] {
        let resource = resource(name);
        let kind = &resource.rules;
        let mut begun = object;
        kind.set_defaults(&mut begun);
        kind.prepare_create(KubernetesVersion::DEFAULT, &mut begun);
        assert_eq!(begun, expected, "{name}");
    }
}

#[test]
fn each_endpoint_writes_its_own_part() {
    let old = json!({"metadata": {"name": "a", "resourceVersion": "1"}, "spec": {"x": 1}, "status": {"y": 1}});
    let sent = json!({
        "metadata": {"name": "a", "resourceVersion": "2", "labels": {"l": "m"}},
        "spec": {"x": 2},
        "status": {"y": 2},
    });
    for (name, subresource, expected) in [
        (
            "deployments.apps",
            "",
            json!({"metadata": sent["metadata"], "spec": {"x": 2}, "status": {"y": 1}}),
        ),
        (
            "deployments.apps",
            "status",
            json!({"metadata": {"name": "a", "resourceVersion": "2"}, "spec": {"x": 1}, "status": {"y": 2}}),
        ),
        (
            "pods",
            "status",
            json!({"metadata": sent["metadata"], "spec": {"x": 1}, "status": {"y": 2}}),
        ),
        ("configmaps", "", sent.clone()),
    ] {
        let resource = resource(name);
        let mut new = sent.clone();
        resource.reset_for_endpoint(subresource, &old, &mut new);
        assert_eq!(new, expected, "{name}/{subresource}");
    }
}
