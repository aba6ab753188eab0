//! Mutating webhooks: calls in order, and reinvocation.

use std::collections::{BTreeMap, BTreeSet};

use fakeserver_value::{
    json::{json_type, syntax_error},
    patch::apply_operation,
    status::Status,
};
use serde::Serialize;
use serde_json::Value;

use super::{
    Attributes, Dispatcher, Hooks, Invocation, Webhook, dispatcher::Failure, verdict::JSON_PATCH,
};

/// The prefixes of audit annotations: whether a webhook has changed the object, how, and that it gave no answer.
const MUTATION: &str = "mutation.webhook.admission.k8s.io/";
const PATCH: &str = "patch.webhook.admission.k8s.io/";
const FAILED_OPEN: &str = "failed-open.";

/// The outcome of a call: the object, if it was changed, and warnings.
type CallOutcome = Result<(Option<Value>, Vec<String>), Failure>;

/// The annotation of a call.
#[derive(Serialize)]
struct MutationAnnotation<'a> {
    configuration: &'a str,
    webhook: &'a str,
    mutated: bool,
}

/// The annotation of a patch.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PatchAnnotation<'a> {
    configuration: &'a str,
    webhook: &'a str,
    patch: Vec<BTreeMap<String, Value>>,
    patch_type: &'a str,
}

/// The result of mutating webhooks.
#[derive(Clone, Debug, Default)]
pub struct MutationResult {
    /// The object, if any has changed it.
    pub object: Option<Value>,
    pub warnings: Vec<String>,
    /// The failure of a webhook that a write can go on without.
    pub failure: Option<Status>,
}

/// The webhooks to reinvoke.
///
/// A webhook with that reinvocation policy is called again if another one has changed the object after its call. There
/// is one second round, and a webhook that was not called in the first is not called in the second.
#[derive(Debug, Default)]
struct Reinvocations {
    /// The called webhooks with the policy `IfNeeded`.
    have_seen: BTreeSet<usize>,
    due: BTreeSet<usize>,
}

// === impl Dispatcher ===

impl Dispatcher<'_> {
    /// Calls the mutating webhooks that match a write.
    ///
    /// # Errors
    ///
    /// A webhook rejects the write, or fails and its policy is `Fail`.
    ///
    /// # Cancel safety
    ///
    /// If dropped, some webhooks may have been asked about a write that does not take place.
    pub async fn mutate(
        &self,
        hooks: &Hooks,
        attributes: &Attributes,
    ) -> Result<MutationResult, Status> {
        let mut attributes = attributes.clone();
        let mut mutated = MutationResult::default();
        let mut reinvocations = Reinvocations::default();
        let equivalents = self.equivalents(&attributes);
        // One after the other, in the order of their names: each sees the changes of those before.
        for round in 0..2 {
            let mut has_changed = false;
            for (index, webhook) in hooks.mutating.iter().enumerate() {
                // A webhook that has not matched in the first round is not called in the second one, as upstream.
                if round == 1 && !reinvocations.due.contains(&index) {
                    continue;
                }
                let Some(invocation) = webhook.invocation(&attributes, &equivalents) else {
                    continue;
                };
                // Converted for each webhook: the one before may have changed the object.
                let seen = self.in_version_of(&invocation, &attributes)?;
                // Selectors and conditions come after the rules, and see the object in the version of the rule.
                if !webhook.wants(&seen, &invocation)? {
                    continue;
                }
                let at = format!("{MUTATION}round_{round}_index_{index}");
                let outcome = self.mutate_by(webhook, &seen, &invocation, &at).await;
                self.annotate_mutation(webhook, &at, &outcome);
                match outcome {
                    Ok((object, warnings)) => {
                        mutated.warnings.extend(warnings);
                        if let Some(object) = object {
                            attributes.object = Some(self.back(object, &attributes)?);
                            mutated.object.clone_from(&attributes.object);
                            // Before this webhook is noted below: its own change is no reason to call it again.
                            reinvocations.changed();
                            has_changed = true;
                        }
                    }
                    Err(failure) => {
                        let key = format!("{FAILED_OPEN}{at}");
                        self.settle(webhook, failure, attributes.operation, &key)?;
                    }
                }
                if webhook.is_reinvoked {
                    reinvocations.have_seen.insert(index);
                }
            }
            if !has_changed {
                break;
            }
        }
        Ok(mutated)
    }

    /// Annotates whether a webhook has changed the object.
    fn annotate_mutation(&self, webhook: &Webhook, key: &str, outcome: &CallOutcome) {
        let mutation = MutationAnnotation {
            configuration: &webhook.configuration,
            webhook: &webhook.name,
            mutated: matches!(outcome, Ok((Some(_), _))),
        };
        self.audit.add_json(key, &mutation);
    }

    /// Annotates the patch of a webhook.
    fn annotate_patch(&self, webhook: &Webhook, at: &str, patch: &[u8]) {
        let Ok(patch) = serde_json::from_slice(patch) else {
            return;
        };
        let annotation = PatchAnnotation {
            configuration: &webhook.configuration,
            webhook: &webhook.name,
            patch,
            patch_type: "JSONPatch",
        };
        let place = at.trim_start_matches(MUTATION);
        let key = format!("{PATCH}{place}");
        self.audit.add_json_of_body(&key, &annotation);
    }

    /// Calls one webhook, and returns the changed object, if it changes it, and its warnings. `at` is its annotation's key.
    async fn mutate_by(
        &self,
        webhook: &Webhook,
        attributes: &Attributes,
        invocation: &Invocation,
        at: &str,
    ) -> CallOutcome {
        let uid = self.uid();
        let verdict = self
            .ask(webhook, &uid, attributes, invocation, true)
            .await?;
        if let Some(status) = verdict.refusal {
            return Err(Failure::Refused(status));
        }
        let internal = |why: String| Failure::Refused(Status::internal(&why));
        let patch = operations(&verdict.patch).map_err(|why| {
            webhook.failure(&format!(
                "received undecodable patch in webhook response: {why}"
            ))
        })?;
        if patch.is_empty() {
            return Ok((None, verdict.warnings));
        }
        let Some(object) = &attributes.object else {
            return Err(internal(format!(
                "admission webhook {:?} attempted to modify the object, which is not supported for this operation",
                webhook.name
            )));
        };
        if verdict.patch_type != JSON_PATCH {
            let why = format!("unsupported patch type {:?}", verdict.patch_type);
            return Err(webhook.failure(&why));
        }
        let mut patched = object.clone();
        for operation in &patch {
            apply_operation(&mut patched, operation).map_err(|why| internal(why.to_string()))?;
        }
        let patched = self.read(&invocation.kind, patched);
        let patched = patched.map_err(|why| {
            // The object is of another kind: it was read as that, and is converted only after all webhooks.
            if why.starts_with("converting (") {
                Failure::Refused(Status::unclassified(why))
            } else {
                internal(why)
            }
        })?;
        self.annotate_patch(webhook, at, &verdict.patch);
        let changed = (patched != *object).then_some(patched);
        Ok((changed, verdict.warnings))
    }

    /// An object that a webhook saw in another version, in that of the request.
    fn back(&self, object: Value, attributes: &Attributes) -> Result<Value, Status> {
        let converted = self.convert(object, &attributes.kind);
        converted.map_err(|why| Status::internal(&why))
    }
}

/// Reads the operations of a patch.
fn operations(patch: &[u8]) -> Result<Vec<Value>, String> {
    if patch.is_empty() {
        return Ok(Vec::new());
    }
    let parsed = match serde_json::from_slice(patch) {
        Ok(parsed) => parsed,
        Err(error) => return Err(syntax_error(patch).unwrap_or_else(|| error.to_string())),
    };
    let untyped = |value: &Value, wanted: &str| {
        let found = json_type(value);
        format!("json: cannot unmarshal {found} into Go value of type jsonpatch.{wanted}")
    };
    match parsed {
        Value::Null => Ok(Vec::new()),
        Value::Array(operations) => {
            let is_operation = |value: &Value| value.is_object() || value.is_null();
            match operations.iter().find(|value| !is_operation(value)) {
                Some(other) => Err(untyped(other, "Operation")),
                None => Ok(operations),
            }
        }
        other => Err(untyped(&other, "Patch")),
    }
}

// === impl Reinvocations ===

impl Reinvocations {
    /// The object is another one now.
    fn changed(&mut self) {
        self.due.append(&mut self.have_seen);
    }
}
