//! `PodSecurity`: pods keep to the policy in the labels of their namespace.
//!
//! Pods that violate the enforced policy are rejected. Violations of the warning policy become warnings for writers of
//! pods and pod templates. An update of a namespace to a stricter policy has warnings about its existing pods. Upstream
//! has this in `k8s.io/pod-security-admission`.

mod baseline;
mod evaluation;
mod existing;
mod policy;
mod restricted;
mod shape;
#[cfg(test)]
mod tests;

use fakeserver_kinds::core::{namespace, pod};
use fakeserver_value::{audit_annotations::AuditAnnotations, status::Status};
use serde_json::Value;
use tracing::debug;

use self::{
    evaluation::evaluate,
    policy::{LevelVersion, Policy, is_policy_label},
    shape::PodShape,
};
use super::{items, namespace_lifecycle};
use crate::write::{Attempt, AttemptError, Write, admission::Operation, chain::Step};

pub(in crate::write) const STEP: Step = Step::validating("PodSecurity", validate);

/// The keys of audit annotations: the policy that a pod was held to, and what it violates of the audited one.
const ENFORCED: &str = "pod-security.kubernetes.io/enforce-policy";
const VIOLATIONS: &str = "pod-security.kubernetes.io/audit-violations";
/// The subresources of pods that do not change the parts of a pod that policies are about.
const IGNORED_SUBRESOURCES: [&str; 8] = [
    "exec",
    "attach",
    "binding",
    "eviction",
    "log",
    "portforward",
    "proxy",
    "status",
];

fn validate(write: &Write<'_>, attempt: &mut Attempt<'_, '_>) -> Result<(), AttemptError> {
    if write.operation() == Operation::Delete || write.is_import() {
        return Ok(());
    }
    let rules = write.target.rules();
    if rules.is(&pod::KIND) {
        return Ok(validate_pod(write, attempt)?);
    }
    if !write.target.subresource().is_empty() {
        return Ok(());
    }
    if rules.is(&namespace::KIND) {
        return Ok(validate_namespace(write, attempt)?);
    }
    if let Some(pointer) = rules.pod_template_at() {
        warn_of_template(write, pointer, attempt);
    }
    Ok(())
}

/// Refuses a pod that violates the enforced policy, and warns of one that violates the other.
fn validate_pod(write: &Write<'_>, attempt: &mut Attempt<'_, '_>) -> Result<(), Status> {
    if IGNORED_SUBRESOURCES.contains(&write.target.subresource())
        || write.operation() == Operation::Update && !is_significant(&write.old, &write.new)
    {
        return Ok(());
    }
    let audit = write.author.audit;
    let Some(policy) = policy_of_namespace(write, attempt) else {
        audit.add(ENFORCED, LevelVersion::PRIVILEGED.to_string());
        return Ok(());
    };
    audit.add(ENFORCED, policy.enforce.to_string());
    let pod = PodShape::new(&write.new);
    if let Some(violations) = evaluate(policy.enforce, &pod) {
        annotate(&policy, &pod, audit);
        let why = format!(
            "violates PodSecurity \"{}\": {}",
            policy.enforce,
            violations.details()
        );
        return Err(Status::forbidden(write.named(), &why, Vec::new()));
    }
    warn(&policy, &pod, write.author.audit, attempt);
    Ok(())
}

/// Warns of a template whose pods would violate a policy.
fn warn_of_template(write: &Write<'_>, pointer: &str, attempt: &mut Attempt<'_, '_>) {
    let template = write.new.pointer(pointer).filter(|found| !found.is_null());
    if let Some(template) = template
        && let Some(policy) = policy_of_namespace(write, attempt)
    {
        warn(
            &policy,
            &PodShape::new(template),
            write.author.audit,
            attempt,
        );
    }
}

/// Annotates that a pod violates the audited policy.
fn annotate(policy: &Policy, pod: &PodShape<'_>, audit: &AuditAnnotations) {
    if let Some(violations) = evaluate(policy.audit, pod) {
        debug!(policy = %policy.audit, "a pod violates the audited policy of its namespace");
        let violations = format!(
            "would violate PodSecurity \"{}\": {}",
            policy.audit,
            violations.details()
        );
        audit.add(VIOLATIONS, violations);
    }
}

/// Warns of a pod that violates a policy, and annotates it.
fn warn(
    policy: &Policy,
    pod: &PodShape<'_>,
    audit: &AuditAnnotations,
    attempt: &mut Attempt<'_, '_>,
) {
    annotate(policy, pod, audit);
    if let Some(violations) = evaluate(policy.warn, pod) {
        attempt.warn(vec![format!(
            "would violate PodSecurity \"{}\": {}",
            policy.warn,
            violations.details()
        )]);
    }
}

/// Rejects invalid policy labels, and warns of existing pods that violate a stricter policy.
fn validate_namespace(write: &Write<'_>, attempt: &mut Attempt<'_, '_>) -> Result<(), Status> {
    let labels = |object: &Value| Policy::of_labels(&object["metadata"]["labels"]);
    let (new, errors) = labels(&write.new);
    let (old, old_errors) = labels(&write.old);
    if !errors.is_empty() && errors != old_errors {
        return Err(write.target.invalid(write.new_name(), &errors));
    }
    if write.operation() == Operation::Update && new.enforce.is_stricter(old.enforce) {
        let warnings = existing::warnings(attempt, write.new_name(), new.enforce);
        attempt.warn(warnings);
    }
    Ok(())
}

/// Returns the policy of the namespace of an object, if it has one.
fn policy_of_namespace(write: &Write<'_>, attempt: &Attempt<'_, '_>) -> Option<Policy> {
    let namespace = write.target.path.namespace.as_deref()?;
    let found = attempt.get(&namespace_lifecycle::key(namespace))?;
    let labels = found.labels();
    let has_some = labels.iter().any(|(name, _)| is_policy_label(name));
    has_some.then(|| Policy::new(|name| labels.get(name)).0)
}

/// Returns whether an update changes something of a pod that policies are about: its containers or their images.
fn is_significant(old: &Value, new: &Value) -> bool {
    let is_changed = |field: &str| {
        let [was, is] = [old, new].map(|pod| items(&pod["spec"][field]));
        was.map(|container| &container["image"])
            .ne(is.map(|container| &container["image"]))
    };
    let is_known = |container: &Value| {
        let mut old_containers = items(&old["spec"]["ephemeralContainers"]);
        let same = old_containers.find(|old| old["name"] == container["name"]);
        same.is_some_and(|same| same["image"] == container["image"])
    };
    is_changed("containers")
        || is_changed("initContainers")
        || !items(&new["spec"]["ephemeralContainers"]).all(is_known)
}
