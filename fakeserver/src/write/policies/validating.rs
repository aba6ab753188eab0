//! Validating policies: their judgements on a write.

use http::StatusCode;
use kube_cel::cel::Value as CelValue;

use super::{
    inputs::{Inputs, Known, OutOfBudget},
    policy::{Annotation, Policy, Validation},
    selection::{Applied, attributes, check_namespace, select},
};
use crate::{
    kinds::admission::match_conditions::Match,
    value::status::{Cause, Status},
    write::{
        Attempt, AttemptError, Write,
        admission::{Attributes, in_version_of},
    },
};

/// The maximum length of a message that an expression makes.
const MESSAGE_MAX_BYTES: usize = 5 * 1024;
/// The reason for rejections that say none.
const INVALID: &str = "Invalid";

/// A judgement that something is wrong.
#[derive(Debug, PartialEq, Eq)]
struct Denial {
    message: String,
    reason: String,
    /// True if it rejects the write, whatever the binding makes of denials.
    is_forced: bool,
}

/// Puts a write to the validating policies.
pub(in crate::write) fn validate(
    write: &Write<'_>,
    attempt: &mut Attempt<'_, '_>,
) -> Result<(), AttemptError> {
    let policies = attempt.policies();
    if policies.validating.is_empty() {
        return Ok(());
    }
    let Some(attributes) = attributes(write, attempt) else {
        return Ok(());
    };
    let mut rejection: Option<Status> = None;
    let mut warnings = Vec::new();
    for selected in select(&policies.validating, write, attempt, &attributes) {
        let (policy, binding, denials) = match selected {
            Err(failed) => {
                let what = if failed.binding.is_some() {
                    "binding"
                } else {
                    "policy"
                };
                let why = format!("failed to configure {what}: {}", failed.why);
                let denial = (!failed.policy.ignores_failure).then(|| Denial::forced(why));
                (failed.policy, failed.binding, denial.into_iter().collect())
            }
            Ok(applied) => {
                let denials = judge(write, attempt, &attributes, &applied)?;
                (applied.policy, Some(applied.binding), denials)
            }
        };
        let by = match binding {
            Some(binding) => format!("'{}' with binding '{}'", policy.name, binding.name),
            None => format!("'{}'", policy.name),
        };
        for denial in denials {
            let (denies, warns) =
                binding.map_or((true, false), |binding| (binding.denies, binding.warns));
            if warns && !denial.is_forced {
                warnings.push(format!(
                    "Validation failed for ValidatingAdmissionPolicy {by}: {}",
                    denial.message
                ));
            }
            if (denies || denial.is_forced) && rejection.is_none() {
                rejection = Some(rejected(write, &by, &denial));
            }
        }
    }
    attempt.warn(warnings);
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

/// Returns what a policy finds wrong with a write.
fn judge(
    write: &Write<'_>,
    attempt: &Attempt<'_, '_>,
    attributes: &Attributes,
    applied: &Applied<'_>,
) -> Result<Vec<Denial>, Status> {
    let policy = applied.policy;
    let mut denials = Vec::new();
    if applied.params.is_empty() {
        return Ok(denials);
    }
    check_namespace(attempt, attributes)?;
    let seen = match in_version_of(write.target, &applied.invocation, attributes) {
        Ok(seen) => seen,
        Err(status) if !policy.ignores_failure => {
            let why = format!("failed to convert object version: {}", status.message);
            denials.push(Denial::forced(format!(
                "failed to configure binding: {why}"
            )));
            return Ok(denials);
        }
        Err(_) => return Ok(denials),
    };
    let known = Known::new(attempt, &write.author, &seen, &applied.invocation);
    for params in &applied.params {
        denials.extend(evaluate(policy, &known.with_params(params.as_ref())));
    }
    Ok(denials)
}

/// Evaluates a policy with its parameters.
fn evaluate(policy: &Policy, known: &Known) -> Vec<Denial> {
    let failed = |why: String| {
        let denial = (!policy.ignores_failure).then(|| Denial::failure(why));
        denial.into_iter().collect::<Vec<_>>()
    };
    match policy
        .conditions
        .judge_with(&Inputs::new(known.without_namespace(), policy))
    {
        Match::Yes => {}
        Match::No => return Vec::new(),
        Match::Unknown(why) => return failed(why),
    }
    let inputs = Inputs::new(known.clone(), policy);
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
        match (outcome, &messages) {
            (Err(why), _) => denials.extend(failed(why)),
            (_, Err(OutOfBudget)) => {
                denials.extend(failed(format!(
                    "failed messageExpression: {}",
                    OutOfBudget::message()
                )));
            }
            (Ok(CelValue::Bool(true)), _) => {}
            (Ok(_), Ok(messages)) => denials.push(validation.denial(messages[index].as_deref())),
        }
    }
    match annotate(&policy.annotations, &Inputs::new(known.clone(), policy)) {
        Ok(errors) if !policy.ignores_failure => {
            denials.extend(errors.into_iter().map(Denial::forced));
        }
        Ok(_) => {}
        Err(OutOfBudget) => return failed(OutOfBudget::message().to_owned()),
    }
    denials
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

/// Evaluates annotations, and returns the errors.
fn annotate(annotations: &[Annotation], inputs: &Inputs<'_>) -> Result<Vec<String>, OutOfBudget> {
    let mut errors = Vec::new();
    for annotation in annotations {
        match inputs.evaluate(&annotation.expression, &annotation.program)? {
            Ok(CelValue::String(_) | CelValue::Null) => {}
            Ok(_) => errors.push(format!(
                "valueExpression '{}' resulted in unsupported return type. Return type must be either string or null.",
                annotation.expression
            )),
            Err(why) => errors.push(why),
        }
    }
    Ok(errors)
}

// === impl Denial ===

impl Denial {
    fn failure(message: String) -> Self {
        Self {
            message,
            reason: INVALID.to_owned(),
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
    /// Returns the denial of a write that does not meet the condition, with the message that an expression has made.
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
            is_forced: false,
        }
    }
}
