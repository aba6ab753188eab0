//! The policies and bindings that a write concerns.

use fakeserver_value::status::{NamedObject, Status};
use serde_json::Value;

use super::{
    params::{params, resource_of_params},
    policy::{Binding, BoundPolicy, Policy},
};
use crate::write::{
    Attempt, Write,
    admission::{Attributes, Criteria, Invocation, equivalents},
    namespace_key,
    steps::webhooks::{add_objects, describe},
};

/// An application of a policy to a write.
pub(super) struct PolicyApplication<'p> {
    pub(super) policy: &'p Policy,
    pub(super) binding: &'p Binding,
    /// The version in which the policy sees the write.
    pub(super) invocation: Invocation,
    /// The parameters of each evaluation.
    pub(super) params: Vec<Option<Value>>,
}

/// A policy that cannot be applied.
pub(super) struct MisconfiguredPolicy<'p> {
    pub(super) policy: &'p Policy,
    pub(super) binding: Option<&'p Binding>,
    pub(super) why: String,
}

/// The policies that a write concerns, in their order.
pub(super) type Selection<'p> = Vec<Result<PolicyApplication<'p>, MisconfiguredPolicy<'p>>>;

/// Returns the attributes of a write, if policies may concern it.
pub(super) fn attributes(write: &Write<'_>, attempt: &Attempt<'_, '_>) -> Option<Attributes> {
    let rules = write.target.rules();
    let is_policy = rules.group() == "admissionregistration.k8s.io"
        && !rules.plural().ends_with("webhookconfigurations");
    let is_review = ["authentication.k8s.io", "authorization.k8s.io"].contains(&rules.group());
    // A policy that matched policies could lock everyone out of changing it. Reviews must answer while policies fail.
    if is_policy || is_review {
        return None;
    }
    let mut attributes = describe(write, attempt);
    add_objects(write, attempt, &mut attributes);
    Some(attributes)
}

/// Returns the policies that a write concerns.
pub(super) fn select<'p>(
    policies: &'p [BoundPolicy],
    write: &Write<'_>,
    attempt: &Attempt<'_, '_>,
    attributes: &Attributes,
) -> Selection<'p> {
    let equivalents = equivalents(attributes, &attempt.versions(write.target));
    let mut selection = Vec::new();
    for BoundPolicy { policy, bindings } in policies {
        let failed = |binding, why| {
            Err(MisconfiguredPolicy {
                policy,
                binding,
                why,
            })
        };
        // Before the parameters are looked up: most writes match no policy.
        let invocation = match matches(&policy.criteria, attributes, &equivalents) {
            Ok(Some(invocation)) => invocation,
            Ok(None) => continue,
            Err(why) => {
                selection.push(failed(None, why));
                continue;
            }
        };
        let resource = match resource_of_params(&attempt.registry(), policy) {
            Ok(resource) => resource,
            Err(why) => {
                selection.push(failed(None, why));
                continue;
            }
        };
        for binding in bindings {
            let is_bound = match &binding.criteria {
                None => Ok(true),
                // A binding narrows the policy's match, and never changes the version in which the policy sees the
                // write.
                Some(criteria) => {
                    matches(criteria, attributes, &equivalents).map(|found| found.is_some())
                }
            };
            let params = match is_bound {
                Ok(true) => params(attempt, resource.as_deref(), binding, attributes),
                Ok(false) => continue,
                Err(why) => Err(why),
            };
            selection.push(match params {
                Ok(params) => Ok(PolicyApplication {
                    policy,
                    binding,
                    invocation: invocation.clone(),
                    params,
                }),
                Err(why) => failed(Some(&**binding), why),
            });
        }
    }
    selection
}

/// Refuses a write in a namespace that does not exist.
pub(super) fn check_namespace(
    attempt: &Attempt<'_, '_>,
    attributes: &Attributes,
) -> Result<(), Status> {
    let name = &attributes.namespace;
    let is_of_cluster = name.is_empty() || attributes.is_namespace();
    if is_of_cluster || attempt.get(&namespace_key(name)).is_some() {
        return Ok(());
    }
    Err(Status::not_found(NamedObject {
        resource: "namespaces",
        group: "",
        name,
    }))
}

/// Returns the version under which criteria match a write, if they do. A namespace that does not exist counts only if all
/// else matches.
fn matches(
    criteria: &Criteria,
    attributes: &Attributes,
    equivalents: &[Invocation],
) -> Result<Option<Invocation>, String> {
    let in_namespace = criteria.selects_namespace(attributes);
    if matches!(in_namespace, Ok(false)) || !criteria.selects_object(attributes) {
        return Ok(None);
    }
    match (criteria.invocation(attributes, equivalents), in_namespace) {
        // Only if the rules match: a policy for other resources must not fail a write in a missing namespace.
        (Some(_), Err(status)) => Err(status.message),
        (found, _) => Ok(found),
    }
}
