//! Parameters of policies: the objects that a binding names.

use std::sync::Arc;

use fakeserver_kinds::{ResourceType, registry::Registry};
use serde_json::Value;

use super::policy::{Binding, ParamRef, Policy};
use crate::{
    store::{ObjectKey, StoredObject},
    write::{Attempt, admission::Attributes},
};

/// Returns the resource of a policy's parameters; `None` for a policy without parameters.
///
/// # Errors
///
/// The kind is not served.
pub(super) fn resource_of_params(
    registry: &Registry,
    policy: &Policy,
) -> Result<Option<Arc<ResourceType>>, String> {
    let Some((api_version, kind)) = &policy.param_kind else {
        return Ok(None);
    };
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let resources = registry
        .version(group, version)
        .map(|version| &version.resources);
    let mut resources = resources.into_iter().flatten();
    match resources.find(|resource| *resource.kind == **kind) {
        Some(resource) => Ok(Some(Arc::clone(resource))),
        None => Err(format!(
            "failed to find resource referenced by paramKind: '{group}/{version}, Kind={kind}'"
        )),
    }
}

/// Returns the parameters with which a binding applies a policy to a write: each leads to an evaluation. A policy
/// without parameters is evaluated once.
///
/// # Errors
///
/// The parameters do not exist and must, or cannot be looked for.
pub(super) fn params(
    attempt: &Attempt<'_, '_>,
    resource: Option<&ResourceType>,
    binding: &Binding,
    attributes: &Attributes,
) -> Result<Vec<Option<Value>>, String> {
    let (Some(resource), Some(reference)) = (resource, &binding.params) else {
        return Ok(vec![None]);
    };
    let namespace = namespace_of(resource, reference, attributes)?;
    let storage = resource.rules.storage();
    let found: Vec<Arc<StoredObject>> = if let Some(selector) = &reference.selector {
        let all = attempt.list(storage, namespace).into_iter();
        all.filter(|object| selector.matches(object.labels()))
            .collect()
    } else {
        let key = ObjectKey::new(storage.clone(), namespace, &reference.name);
        attempt.get(&key).into_iter().collect()
    };
    if found.is_empty() && reference.must_exist {
        return Err(
            "no params found for policy binding with `Deny` parameterNotFoundAction".to_owned(),
        );
    }
    Ok(found
        .iter()
        .map(|object| Some(resource.to_served(object.to_value())))
        .collect())
}

fn namespace_of<'a>(
    resource: &ResourceType,
    reference: &'a ParamRef,
    attributes: &'a Attributes,
) -> Result<Option<&'a str>, String> {
    if !resource.is_namespaced {
        return if reference.namespace.is_empty() {
            Ok(None)
        } else {
            Err(
                "paramRef.namespace must not be provided for a cluster-scoped `paramKind`"
                    .to_owned(),
            )
        };
    }
    match (reference.namespace.as_str(), attributes.namespace.as_str()) {
        ("", "") => Err(
            "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
                .to_owned(),
        ),
        ("", own) => Ok(Some(own)),
        (named, _) => Ok(Some(named)),
    }
}
