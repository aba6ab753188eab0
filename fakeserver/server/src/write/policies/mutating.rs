//! Mutating policies: their changes of a write, and their reinvocation.

use std::{collections::BTreeSet, mem};

use fakeserver_kinds::admission::match_conditions::Match;
use fakeserver_value::{
    managed_fields::described_in,
    read::text,
    resource::GroupVersionKind,
    status::{Cause, NamedObject, Status},
};
use serde_json::Value;

use super::{
    cache::current_policies,
    inputs::{Inputs, OutOfBudget, RequestVariables},
    patching::{apply_configuration, apply_operations},
    policy::{Mutation, Policy},
    selection::{PolicyApplication, attributes, check_namespace, select},
};
use crate::write::{
    Attempt, AttemptError, FieldValidation, Target, Write,
    admission::{Attributes, Operation, convert, in_version_of},
};

/// The policies to invoke again.
///
/// After a change, a write passes the mutating plugins a second time. A policy with the reinvocation policy `IfNeeded`
/// is then invoked again, if others have changed the object after it. There is no third round.
#[derive(Clone, Debug, Default)]
struct Reinvocation {
    /// The invoked policies with the reinvocation policy `IfNeeded`.
    have_seen: BTreeSet<Key>,
    due: BTreeSet<Key>,
    /// The object as policies left it.
    left: Value,
}

/// A policy, a binding and parameters, by their names.
type Key = (String, String, String);

/// The error of a policy.
struct Problem {
    message: String,
    /// Empty for an error of the configuration.
    reason: &'static str,
}

/// Puts a write to the mutating policies.
pub(in crate::write) fn mutate(
    write: &mut Write<'_>,
    attempt: &mut Attempt<'_, '_>,
) -> Result<(), AttemptError> {
    let policies = current_policies(attempt);
    // A deletion has no object to change.
    if policies.mutating.is_empty() || write.operation() == Operation::Delete {
        return Ok(());
    }
    let Some(mut attributes) = attributes(write, attempt) else {
        return Ok(());
    };
    let is_again = attempt.is_second_round();
    let mut reinvocation = if is_again {
        mem::take(attempt.state::<Reinvocation>())
    } else {
        Reinvocation::default()
    };
    // Compared with what this plugin has left: only changes by others, after it, lead to a reinvocation.
    if is_again && reinvocation.left != write.new {
        reinvocation.changed();
    }
    let before = write.new.clone();
    let mut problems = Vec::new();
    for selected in select(&policies.mutating, write, attempt, &attributes) {
        match selected {
            Err(failed) => {
                let what = if failed.binding.is_some() {
                    "binding"
                } else {
                    "policy"
                };
                let problem = Problem {
                    message: format!("failed to configure {what}: {}", failed.why),
                    reason: "",
                };
                let binding = failed.binding.map(|binding| binding.name.as_str());
                problems.extend(problem.of(failed.policy, binding));
            }
            Ok(applied) => {
                let mut round = Round {
                    target: write.target,
                    is_again,
                    reinvocation: &mut reinvocation,
                };
                let variables = request_variables(write, attempt, &attributes, &applied)?;
                for params in &applied.params {
                    let found =
                        round.invoke(&applied, &variables, params.as_ref(), &mut attributes)?;
                    problems.extend(found.into_iter().filter_map(|problem| {
                        problem.of(applied.policy, Some(&applied.binding.name))
                    }));
                }
            }
        }
    }
    // After all policies: the rejection lists the problems of each as causes.
    if let Some(rejection) = rejection(write.named(), problems) {
        return Err(rejection.into());
    }
    if let Some(object) = attributes.object.filter(|object| *object != before) {
        write.replace_new(object)?;
        // Only after a change: plugins before this one have not seen the new object.
        attempt.require_second_round();
    }
    // After `replace_new`, whose defaults are no change by others.
    reinvocation.left = write.new.clone();
    *attempt.state() = reinvocation;
    Ok(())
}

/// Returns the variables of a policy for a write.
fn request_variables(
    write: &Write<'_>,
    attempt: &Attempt<'_, '_>,
    attributes: &Attributes,
    applied: &PolicyApplication<'_>,
) -> Result<RequestVariables, Status> {
    check_namespace(attempt, attributes)?;
    let seen = in_version_of(write.target, &applied.invocation, attributes)?;
    Ok(RequestVariables::new(
        attempt,
        &write.author,
        &seen,
        &applied.invocation,
    ))
}

/// Returns the answer to a write that policies fail on.
fn rejection(named: NamedObject<'_>, problems: Vec<(String, &'static str)>) -> Option<Status> {
    let causes = problems
        .iter()
        .map(|(message, _)| Cause::new("", message))
        .collect();
    let (message, reason) = problems.into_iter().next()?;
    let mut status = Status::forbidden(named, "", causes);
    status.message = message;
    if !reason.is_empty() {
        status.reason = reason.into();
    }
    Some(status)
}

/// A round of a write through the policies.
struct Round<'a> {
    target: &'a Target,
    is_again: bool,
    reinvocation: &'a mut Reinvocation,
}

// === impl Round ===

impl Round<'_> {
    /// Applies a policy with its parameters to the object of `attributes`. Returns its problems.
    fn invoke(
        &mut self,
        applied: &PolicyApplication<'_>,
        variables: &RequestVariables,
        params: Option<&Value>,
        attributes: &mut Attributes,
    ) -> Result<Vec<Problem>, Status> {
        let policy = applied.policy;
        let Some(before) = attributes.object.clone() else {
            return Ok(Vec::new());
        };
        let mut object = convert(self.target, before.clone(), &applied.invocation.kind)
            .map_err(|why| Status::internal(&why))?;
        let variables = variables.with_params(params);
        let of_conditions = variables.with_object(&object).without_namespace();
        match policy
            .conditions
            .judge_with(&Inputs::new(of_conditions, policy))
        {
            Match::Yes => {}
            Match::No => return Ok(Vec::new()),
            Match::Unknown(_) if policy.ignores_failure => return Ok(Vec::new()),
            Match::Unknown(why) => return Ok(vec![Problem::invalid(why)]),
        }
        let key = key_of(applied, params);
        if self.is_again && !self.reinvocation.due.contains(&key) {
            return Ok(Vec::new());
        }
        let mut problems = Vec::new();
        for mutation in &policy.mutations {
            match self.patch(policy, mutation, &variables.with_object(&object), &object) {
                Ok(Ok(patched)) => object = patched,
                Ok(Err(why)) => problems.push(Problem::invalid(why)),
                Err(status) => return Err(status),
            }
        }
        let object =
            convert(self.target, object, &attributes.kind).map_err(|why| Status::internal(&why))?;
        if object != before {
            self.reinvocation.changed();
            attributes.object = Some(object);
        }
        if policy.is_reinvoked {
            self.reinvocation.have_seen.insert(key);
        }
        Ok(problems)
    }

    /// Returns the object as a mutation changes it; the inner error depends on the failure policy.
    fn patch(
        &self,
        policy: &Policy,
        mutation: &Mutation,
        variables: &RequestVariables,
        object: &Value,
    ) -> Result<Result<Value, String>, Status> {
        let inputs = Inputs::new(variables.clone(), policy);
        let made = match inputs.evaluate(&mutation.expression, &mutation.program) {
            Ok(Ok(made)) => made,
            Ok(Err(why)) => return Ok(Err(why)),
            Err(OutOfBudget) => return Ok(Err(OutOfBudget::message().to_owned())),
        };
        let (api_version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
        let patched = if mutation.is_json_patch {
            apply_operations(object, &made)
        } else if self.target.resource.api_version() == api_version
            && *self.target.resource.kind == *kind
        {
            apply_configuration(object, &made, self.target.described())
        } else {
            apply_configuration(
                object,
                &made,
                described_in(self.target.resource.kubernetes, api_version, kind),
            )
        };
        let patched = match patched {
            Ok(patched) if patched == *object => return Ok(Ok(patched)),
            Ok(patched) => patched,
            Err(why) => return Ok(Err(why)),
        };
        let wanted = {
            let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
            GroupVersionKind::new(group, version, kind)
        };
        let read = self.target.read_as(
            &wanted,
            patched.to_string().as_bytes(),
            FieldValidation::Strict,
        );
        match read {
            Ok(received) => Ok(Ok(received.object)),
            Err(why) => Err(Status::internal(&why)),
        }
    }
}

// === impl Reinvocation ===

impl Reinvocation {
    /// The object is another one now.
    fn changed(&mut self) {
        self.due.append(&mut self.have_seen);
    }
}

// === impl Problem ===

impl Problem {
    fn invalid(message: String) -> Self {
        Self {
            message,
            reason: "Invalid",
        }
    }

    /// Returns the words and the reason with which a policy rejects a write; nothing if it ignores failures.
    fn of(self, policy: &Policy, binding: Option<&str>) -> Option<(String, &'static str)> {
        if policy.ignores_failure {
            return None;
        }
        let by = match binding {
            Some(binding) => format!("policy '{}' with binding '{binding}'", policy.name),
            None => format!("policy {:?}", policy.name),
        };
        Some((
            format!("{by} denied request: {}", self.message),
            self.reason,
        ))
    }
}

fn key_of(applied: &PolicyApplication<'_>, params: Option<&Value>) -> Key {
    let params = params.map_or(String::new(), |params| {
        let metadata = &params["metadata"];
        format!(
            "{}/{}",
            text(&metadata["namespace"]),
            text(&metadata["name"])
        )
    });
    (
        applied.policy.name.clone(),
        applied.binding.name.clone(),
        params,
    )
}
