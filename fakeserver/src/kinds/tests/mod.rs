//! Tests of kinds: tables of their differences, and of what each sets, finds, warns of.

mod creates;
mod defaults;
mod page;
mod updates;
mod warnings;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::kinds::{
    ResourceType, built_in,
    registry::{Lookup, Registry},
};

/// `pods`, `deployments.apps`: a resource in its first version.
fn resource(name: &str) -> Arc<ResourceType> {
    let (plural, group) = name.split_once('.').unwrap_or((name, ""));
    let registry = Registry::builtin();
    let group = registry.group(group).expect("a built-in group");
    match registry.lookup(&group.name, &group.versions[0].name, plural) {
        Lookup::Found(resource) => resource,
        other => panic!("{name}: {other:?}"),
    }
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
        ("metadata by status", habits.status_writes_metadata),
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
            "generation, returned deleted, collected, metadata by status",
        ),
        ("namespaces", "returned deleted, collected"),
        (
            "nodes",
            "collected, metadata by status, created with status",
        ),
        ("configmaps", "collected, created with status"),
        ("services", "created on update, returned deleted, collected"),
        ("events", "created on update, created with status"),
        (
            "events.events.k8s.io",
            "created on update, created with status",
        ),
        ("deployments.apps", "generation, collected"),
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
            "version required, returned deleted, collected, created with status",
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
        ("services", "a-1", "1a"),
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
fn a_generation_counts_what_is_wanted() {
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
        let counts = resource.rules.is_next_generation(&old, &with(pointer));
        assert_eq!(counts, expected, "{name} {pointer}");
    }
    let deployments = resource("deployments.apps");
    assert!(!deployments.rules.is_next_generation(&old, &old));
}

#[test]
fn objects_begin_with_what_the_server_gives_them() {
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
        kind.prepare_create(&mut begun);
        assert_eq!(begun, expected, "{name}");
    }
}

#[test]
fn pods_are_of_the_quality_that_they_ask_for() {
    let containers = |resources: Value| json!([{"name": "c", "resources": resources}]);
    let both = json!({"cpu": "1", "memory": "1Gi"});
    for (resources, expected) in [
        (json!({}), "BestEffort"),
        (json!({"requests": {"cpu": "1"}}), "Burstable"),
        (json!({"limits": {"cpu": "1"}}), "Burstable"),
        (json!({"limits": both}), "Guaranteed"),
        (json!({"limits": both, "requests": both}), "Guaranteed"),
        (
            json!({"limits": both, "requests": {"cpu": "0.5"}}),
            "Burstable",
        ),
    ] {
        let pods = resource("pods");
        let mut pod =
            json!({"metadata": {}, "spec": {"containers": containers(resources.clone())}});
        pods.rules.prepare_create(&mut pod);
        let expected = json!({"phase": "Pending", "qosClass": expected});
        assert_eq!(pod["status"], expected, "{resources}");
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

#[test]
fn only_finalize_takes_a_namespaces_finalizers_away() {
    let old =
        json!({"metadata": {"name": "n"}, "spec": {"finalizers": ["kubernetes"]}, "status": {}});
    let sent = json!({"metadata": {"name": "n", "labels": {"l": "m"}}, "spec": {}, "status": {}});
    let namespaces = resource("namespaces");
    let mut updated = sent.clone();
    namespaces.reset_for_endpoint("", &old, &mut updated);
    assert_eq!(updated["spec"], old["spec"]);
    assert_eq!(updated["metadata"], sent["metadata"]);
    let mut finalized = sent;
    namespaces.reset_for_endpoint("finalize", &old, &mut finalized);
    assert_eq!(finalized["spec"], json!({}));
    assert_eq!(finalized["metadata"], old["metadata"]);
}

fn set_defaults(group: &str, plural: &str, object: &mut Value) {
    let kind = built_in(group, plural).expect("a built-in kind");
    kind.set_defaults(object);
}

/// The findings about an object once it has its defaults, as a client reads them.
fn findings(kind: (&str, &str), object: &Value) -> Vec<String> {
    let mut object = object.clone();
    set_defaults(kind.0, kind.1, &mut object);
    shown(kind, "", &object, None)
}

/// The findings about an update through a subresource, or of the object itself if that is empty.
fn update_findings(
    kind: (&str, &str),
    subresource: &str,
    old: &Value,
    change: impl FnOnce(&mut Value),
) -> Vec<String> {
    let mut old = old.clone();
    set_defaults(kind.0, kind.1, &mut old);
    let mut new = old.clone();
    change(&mut new);
    shown(kind, subresource, &new, Some(&old))
}

fn shown(
    kind: (&str, &str),
    subresource: &str,
    object: &Value,
    old: Option<&Value>,
) -> Vec<String> {
    let kind = built_in(kind.0, kind.1).expect("a built-in kind");
    let errors = kind.errors(subresource, object, old);
    errors.iter().map(ToString::to_string).collect()
}
