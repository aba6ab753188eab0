//! Helpers of tests: findings and warnings about objects as clients read them.

use std::sync::Arc;

use fakeserver_value::field::Field;
use fakeserver_versions::KubernetesVersion;
use serde_json::Value;

use super::{
    Kind, ResourceType,
    registry::{Lookup, Registry},
};

/// Returns a resource in its first version: `pods`, `deployments.apps`.
pub(crate) fn resource(name: &str) -> Arc<ResourceType> {
    let (plural, group) = name.split_once('.').unwrap_or((name, ""));
    let registry = Registry::builtin(KubernetesVersion::DEFAULT);
    let group = registry.group(group).expect("a built-in group");
    match registry.lookup(&group.name, &group.versions[0].name, plural) {
        Lookup::Found(resource) => resource,
        other => panic!("{name}: {other:?}"),
    }
}

/// Sets defaults, and checks that setting them again changes nothing.
pub(crate) fn defaulted(kind: &Kind, mut object: Value) -> Value {
    kind.set_defaults(&mut object);
    let once = object.clone();
    kind.set_defaults(&mut object);
    assert_eq!(object, once, "{kind:?}");
    object
}

/// Returns the findings about a new object, after its defaults are set.
pub(crate) fn findings(kind: &Kind, object: &Value) -> Vec<String> {
    let mut object = object.clone();
    kind.set_defaults(&mut object);
    printed_errors(kind, "", &object, None)
}

/// Returns the findings about an update through `subresource`, which is empty for the object itself.
pub(crate) fn update_findings(
    kind: &Kind,
    subresource: &str,
    old: &Value,
    change: impl FnOnce(&mut Value),
) -> Vec<String> {
    let mut old = old.clone();
    kind.set_defaults(&mut old);
    let mut new = old.clone();
    change(&mut new);
    printed_errors(kind, subresource, &new, Some(&old))
}

/// Returns the warnings about a new object.
pub(crate) fn warnings(kind: &Kind, object: &Value) -> Vec<String> {
    kind.warnings_of(KubernetesVersion::DEFAULT, object, None)
}

/// Compares the findings about a new object with the expected ones.
#[track_caller]
pub(crate) fn check(kind: &Kind, object: &Value, expected: &[&str]) {
    assert_eq!(findings(kind, object), expected, "{object}");
}

/// Compares the findings about an update of an object with the expected ones.
#[track_caller]
pub(crate) fn check_update(
    kind: &Kind,
    old: &Value,
    change: impl FnOnce(&mut Value),
    expected: &[&str],
) {
    assert_eq!(update_findings(kind, "", old, change), expected);
}

fn printed_errors(
    kind: &Kind,
    subresource: &str,
    object: &Value,
    old: Option<&Value>,
) -> Vec<String> {
    let errors = kind.errors(
        KubernetesVersion::DEFAULT,
        subresource,
        &Field::root(object),
        old,
    );
    errors.iter().map(ToString::to_string).collect()
}
