//! Validating policies: their judgements on a write.

use std::collections::BTreeMap;

use fakeserver_cel::Value as CelValue;
use fakeserver_kinds::admission::match_conditions::Match;
use fakeserver_value::{
    audit_annotations::AuditAnnotations,
    status::{Cause, Status},
};
use http::StatusCode;
use serde::Serialize;

use super::{
    cache::current_policies,
    inputs::{Inputs, OutOfBudget, RequestVariables},
    policy::{Annotation, Binding, Policy, Validation},
    selection::{PolicyApplication, attributes, check_namespace, select},
};
use crate::write::{
    Attempt, AttemptError, Write,
    admission::{Attributes, in_version_of},
};

/// The maximum length of a message that an expression makes.
const MESSAGE_MAX_BYTES: usize = 5 * 1024;
/// The default reason of a rejection.
const INVALID: &str = "Invalid";
/// The key of the audit annotation of a denial that is to be audited.
const FAILURE: &str = "validation.policy.admission.k8s.io/validation_failure";
/// The maximum length of the value of an audit annotation.
const ANNOTATION_MAX_BYTES: usize = 10 * 1024;

/// Keys and values of audit annotations.
type KeysAndValues = Vec<(String, String)>;

/// The verdict of a policy on a write.
#[derive(Debug, Default, PartialEq, Eq)]
struct Judgement {
    denials: Vec<Denial>,
    annotations: KeysAndValues,
}

/// The audit annotation of a denial.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FailureAnnotation<'a> {
    message: &'a str,
    policy: &'a str,
    binding: &'a str,
    expression_index: usize,
    validation_actions: &'a [String],
}

/// The values of the audit annotations of policies, by policy and key.
#[derive(Default)]
struct AuditAnnotationValues<'p>(BTreeMap<(&'p str, String), Vec<String>>);

/// A judgement that something is wrong.
#[derive(Debug, PartialEq, Eq)]
struct Denial {
    message: String,
    reason: String,
    /// The place of the validation among those of the policy.
    index: usize,
    /// True if the denial rejects the write regardless of the binding's actions.
    is_forced: bool,
}

/// Puts a write to the validating policies.
pub(in crate::write) fn validate(
    write: &Write<'_>,
    attempt: &mut Attempt<'_, '_>,
) -> Result<(), AttemptError> {
    let policies = current_policies(attempt);
    if policies.validating.is_empty() {
        return Ok(());
    }
    let Some(attributes) = attributes(write, attempt) else {
        return Ok(());
    };
    let mut rejection: Option<Status> = None;
    let mut warnings = Vec::new();
    let mut published = AuditAnnotationValues::default();
    for selected in select(&policies.validating, write, attempt, &attributes) {
        let (policy, binding, judgement) = match selected {
            Err(failed) => {
                let what = if failed.binding.is_some() {
                    "binding"
                } else {
                    "policy"
                };
                let why = format!("failed to configure {what}: {}", failed.why);
                let denial = (!failed.policy.ignores_failure).then(|| Denial::forced(why));
                let judgement = Judgement::of(denial.into_iter().collect());
                (failed.policy, failed.binding, judgement)
            }
            Ok(applied) => {
                let judgement = judge(write, attempt, &attributes, &applied)?;
                (applied.policy, Some(applied.binding), judgement)
            }
        };
        // Before the denials: annotations are published even if the policy rejects the write.
        published.take(policy, judgement.annotations);
        let by = match binding {
            Some(binding) => format!("'{}' with binding '{}'", policy.name, binding.name),
            None => format!("'{}'", policy.name),
        };
        for denial in judgement.denials {
            let follows =
                |action| !denial.is_forced && binding.is_some_and(|binding| binding.has(action));
            if let Some(binding) = binding.filter(|_| follows("Audit")) {
                audit(write.author.audit, policy, binding, &denial);
            }
            if follows("Warn") {
                warnings.push(format!(
                    "Validation failed for ValidatingAdmissionPolicy {by}: {}",
                    denial.message
                ));
            }
            // The first rejection is the response, but the policies after it still warn and annotate.
            if (follows("Deny") || denial.is_forced) && rejection.is_none() {
                rejection = Some(rejected(write, &by, &denial));
            }
        }
    }
    // Also if the write is rejected: warnings stand beside the error.
    attempt.warn(warnings);
    published.publish(write.author.audit);
    rejection.map_or(Ok(()), |status| Err(status.into()))
}

/// Returns the answer to a write that a policy denies.
fn rejected(write: &Write<'_>, by: &str, denial: &Denial) -> Status {
    let message = format!(
        "ValidatingAdmissionPolicy {by} denied request: {}",
        denial.message
    );
    let mut status = Status::forbidden(write.named(), &message, vec![Cause::new("", &message)]);
    status.code = match denial.reason.as_str() {
        "Forbidden" => StatusCode::FORBIDDEN,
        "Unauthorized" => StatusCode::UNAUTHORIZED,
        "RequestEntityTooLarge" => StatusCode::PAYLOAD_TOO_LARGE,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    };
    status.reason = denial.reason.clone().into();
    status
}

/// Annotates a denial in the audit event of the request.
fn audit(annotations: &AuditAnnotations, policy: &Policy, binding: &Binding, denial: &Denial) {
    let annotation = FailureAnnotation {
        message: &denial.message,
        policy: &policy.name,
        binding: &binding.name,
        expression_index: denial.index,
        validation_actions: &binding.actions,
    };
    annotations.add_json(FAILURE, &[annotation]);
}

/// Evaluates a policy for a write.
fn judge(
    write: &Write<'_>,
    attempt: &Attempt<'_, '_>,
    attributes: &Attributes,
    applied: &PolicyApplication<'_>,
) -> Result<Judgement, Status> {
    let policy = applied.policy;
    let mut judgement = Judgement::default();
    // No parameters were found, and the binding allows that: nothing is evaluated, not even the match conditions.
    if applied.params.is_empty() {
        return Ok(judgement);
    }
    check_namespace(attempt, attributes)?;
    let seen = match in_version_of(write.target, &applied.invocation, attributes) {
        Ok(seen) => seen,
        Err(status) if !policy.ignores_failure => {
            let why = format!("failed to convert object version: {}", status.message);
            let denial = Denial::forced(format!("failed to configure binding: {why}"));
            return Ok(Judgement::of(vec![denial]));
        }
        Err(_) => return Ok(judgement),
    };
    let variables = RequestVariables::new(attempt, &write.author, &seen, &applied.invocation);
    for params in &applied.params {
        let evaluated = evaluate(policy, &variables.with_params(params.as_ref()));
        judgement.denials.extend(evaluated.denials);
        judgement.annotations.extend(evaluated.annotations);
    }
    Ok(judgement)
}

/// Evaluates a policy with its parameters.
fn evaluate(policy: &Policy, variables: &RequestVariables) -> Judgement {
    let failure = |why: String| (!policy.ignores_failure).then(|| Denial::failure(why));
    let failed = |why| Judgement::of(failure(why).into_iter().collect());
    match policy
        .conditions
        .judge_with(&Inputs::new(variables.without_namespace(), policy))
    {
        Match::Yes => {}
        Match::No => return Judgement::default(),
        Match::Unknown(why) => return failed(why),
    }
    let inputs = Inputs::new(variables.clone(), policy);
    let mut outcomes = Vec::new();
    for validation in &policy.validations {
        match inputs.evaluate(&validation.expression, &validation.program) {
            Ok(outcome) => outcomes.push(outcome),
            Err(OutOfBudget) => return failed(OutOfBudget::message().to_owned()),
        }
    }
    let messages = messages(&policy.validations, &inputs.again());
    let mut denials = Vec::new();
    for (index, (validation, outcome)) in policy.validations.iter().zip(outcomes).enumerate() {
        let denial = match (outcome, &messages) {
            (Err(why), _) => failure(why),
            (_, Err(OutOfBudget)) => failure(format!(
                "failed messageExpression: {}",
                OutOfBudget::message()
            )),
            (Ok(CelValue::Bool(true)), _) => None,
            (Ok(_), Ok(messages)) => Some(validation.denial(messages[index].as_deref())),
        };
        denials.extend(denial.map(|denial| Denial { index, ..denial }));
    }
    match annotate(&policy.annotations, &Inputs::new(variables.clone(), policy)) {
        Ok((annotations, errors)) => {
            if !policy.ignores_failure {
                denials.extend(errors.into_iter().map(Denial::forced));
            }
            Judgement {
                denials,
                annotations,
            }
        }
        Err(OutOfBudget) => failed(OutOfBudget::message().to_owned()),
    }
}

/// Evaluates the messages of all validations.
fn messages(
    validations: &[Validation],
    inputs: &Inputs<'_>,
) -> Result<Vec<Option<String>>, OutOfBudget> {
    let mut all = Vec::new();
    for validation in validations {
        let Some(program) = &validation.message_program else {
            all.push(None);
            continue;
        };
        all.push(match inputs.evaluate("", program)? {
            Ok(CelValue::String(message)) => Some(message.trim().to_owned()),
            _ => None,
        });
    }
    Ok(all)
}

/// Evaluates annotations, and returns their keys and values, and the errors.
fn annotate(
    annotations: &[Annotation],
    inputs: &Inputs<'_>,
) -> Result<(KeysAndValues, Vec<String>), OutOfBudget> {
    let (mut values, mut errors) = (Vec::new(), Vec::new());
    for annotation in annotations {
        match inputs.evaluate(&annotation.expression, &annotation.program)? {
            Ok(CelValue::String(value)) => {
                let value = value.trim();
                if !value.is_empty() {
                    let end = value.floor_char_boundary(ANNOTATION_MAX_BYTES);
                    values.push((annotation.key.clone(), value[..end].to_owned()));
                }
            }
            Ok(CelValue::Null) => {}
            Ok(_) => errors.push(format!(
                "valueExpression '{}' resulted in unsupported return type. Return type must be either string or null.",
                annotation.expression
            )),
            Err(why) => errors.push(why),
        }
    }
    Ok((values, errors))
}

// === impl Judgement ===

impl Judgement {
    fn of(denials: Vec<Denial>) -> Self {
        Self {
            denials,
            annotations: Vec::new(),
        }
    }
}

// === impl AuditAnnotationValues ===

impl<'p> AuditAnnotationValues<'p> {
    /// Takes the annotations of a policy, each value of a key once.
    fn take(&mut self, policy: &'p Policy, annotations: KeysAndValues) {
        for (key, value) in annotations {
            let values = self.0.entry((&policy.name, key)).or_default();
            if !values.contains(&value) {
                values.push(value);
            }
        }
    }

    fn publish(self, annotations: &AuditAnnotations) {
        for ((policy, key), values) in self.0 {
            annotations.add(&format!("{policy}/{key}"), values.join(", "));
        }
    }
}

// === impl Denial ===

impl Denial {
    fn failure(message: String) -> Self {
        Self {
            message,
            reason: INVALID.to_owned(),
            index: 0,
            is_forced: false,
        }
    }

    fn forced(message: String) -> Self {
        Self {
            is_forced: true,
            ..Self::failure(message)
        }
    }
}

// === impl Validation ===

impl Validation {
    /// Returns the denial of a write that fails the validation, with the message of its expression.
    fn denial(&self, made: Option<&str>) -> Denial {
        let is_usable = |message: &&str| {
            !message.is_empty() && message.len() <= MESSAGE_MAX_BYTES && !message.contains('\n')
        };
        let message = match made.filter(is_usable) {
            Some(message) => message.to_owned(),
            None if !self.message.trim().is_empty() => self.message.trim().to_owned(),
            None => format!("failed expression: {}", self.expression.trim()),
        };
        let reason = if self.reason.is_empty() {
            INVALID
        } else {
            &self.reason
        };
        Denial {
            message,
            reason: reason.to_owned(),
            index: 0,
            is_forced: false,
        }
    }
}
