//! `MutatingAdmissionWebhook` and `ValidatingAdmissionWebhook`: the webhooks that configurations name.

use fakeserver_kinds::core::namespace;
use fakeserver_value::object::Pairs;
use serde_json::json;

use super::namespace_lifecycle;
use crate::write::{
    Attempt, AttemptError, Write,
    admission::{Attributes, Operation, Phase, kind_below, resource_of},
    chain::Step,
};

pub(in crate::write) const MUTATING: Step = Step::mutating("MutatingAdmissionWebhook", mutate);
pub(in crate::write) const VALIDATING: Step =
    Step::validating("ValidatingAdmissionWebhook", validate);

fn mutate(write: &mut Write<'_>, attempt: &mut Attempt<'_, '_>) -> Result<(), AttemptError> {
    if attempt.is_second_round() {
        // Webhooks invoke each other again by themselves.
        return Ok(());
    }
    let Some(attributes) = attributes(write, attempt, Phase::Mutating) else {
        return Ok(());
    };
    match attempt.ask_webhooks(Phase::Mutating, attributes)? {
        Some(mutated) => {
            write.replace_new(mutated)?;
            attempt.require_second_round();
            Ok(())
        }
        None => Ok(()),
    }
}

fn validate(write: &Write<'_>, attempt: &mut Attempt<'_, '_>) -> Result<(), AttemptError> {
    match attributes(write, attempt, Phase::Validating) {
        Some(attributes) => attempt
            .ask_webhooks(Phase::Validating, attributes)
            .map(drop),
        None => Ok(()),
    }
}

/// Returns the attributes of `write` for webhooks, if one is configured for such writes.
fn attributes(write: &Write<'_>, attempt: &Attempt<'_, '_>, phase: Phase) -> Option<Attributes> {
    let hooks = attempt.hooks();
    if hooks.is_empty() || write.target.rules().habits.is_exempt_from_webhooks {
        return None;
    }
    let mut attributes = describe(write, attempt);
    // Before the objects are copied: most writes concern no webhook.
    if !hooks.concern(phase, &attributes, &attempt.versions(write.target)) {
        return None;
    }
    add_objects(write, attempt, &mut attributes);
    Some(attributes)
}

/// Returns the attributes of `write` without its objects.
pub(in crate::write) fn describe(write: &Write<'_>, attempt: &Attempt<'_, '_>) -> Attributes {
    let (target, operation) = (write.target, write.operation());
    let name = match target.path.name.as_deref() {
        Some(name) => name,
        None if operation == Operation::Create => write.new_name(),
        // Objects of a collection are deleted without being named.
        None => "",
    };
    let namespace = match target.path.namespace.as_deref() {
        None if target.rules().is(&namespace::KIND) => name,
        other => other.unwrap_or_default(),
    };
    let mut options = attempt.options().clone();
    options["kind"] = json!(operation.options_kind());
    options["apiVersion"] = json!("meta.k8s.io/v1");
    Attributes {
        operation,
        kind: kind_below(&target.resource, target.subresource()),
        resource: resource_of(&target.resource),
        subresource: target.subresource().to_owned(),
        namespace: namespace.to_owned(),
        namespace_labels: None,
        name: name.to_owned(),
        object: None,
        old_object: None,
        options,
        is_dry_run: attempt.is_dry_run(),
        user: write.author.user.to_json(),
    }
}

/// Adds the objects of `write`, and the labels of its namespace.
pub(in crate::write) fn add_objects(
    write: &Write<'_>,
    attempt: &Attempt<'_, '_>,
    attributes: &mut Attributes,
) {
    let operation = write.operation();
    attributes.object = (operation != Operation::Delete).then(|| write.new.clone());
    attributes.old_object = (operation != Operation::Create).then(|| write.old.clone());
    attributes.namespace_labels = labels_of_namespace(attempt, &attributes.namespace);
}

/// Returns the labels of a namespace, if it exists.
fn labels_of_namespace(attempt: &Attempt<'_, '_>, name: &str) -> Option<Pairs> {
    let found = attempt.get(&namespace_lifecycle::key(name))?;
    Some(found.labels().clone())
}
