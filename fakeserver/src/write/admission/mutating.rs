//! Mutating webhooks: calls in order, and reinvocation.

use std::collections::BTreeSet;

use json_patch::Patch;
use serde_json::Value;

use super::{Attributes, Dispatcher, Hooks, Invocation, Webhook, dispatcher::Failure};
use crate::value::status::Status;

/// The result of mutating webhooks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mutated {
    /// The object, if any has changed it.
    pub(crate) object: Option<Value>,
    pub(crate) warnings: Vec<String>,
}

/// The webhooks to reinvoke.
///
/// A webhook with that reinvocation policy is called again if another one has changed the object after its call. There
/// is one second round, and a webhook that was not called in the first is not called in the second.
#[derive(Debug, Default)]
struct Reinvocations {
    /// Those who have seen the object, and want to see it again if it changes.
    have_seen: BTreeSet<usize>,
    due: BTreeSet<usize>,
}

// === impl Dispatcher ===

impl Dispatcher<'_> {
    /// Puts a write to the mutating webhooks that are concerned.
    ///
    /// # Errors
    ///
    /// One of them refuses it, or gave no answer and must.
    ///
    /// # Cancel safety
    ///
    /// If dropped, some webhooks may have been asked about a write that does not take place.
    pub(crate) async fn mutate(
        &self,
        hooks: &Hooks,
        attributes: &Attributes,
    ) -> Result<Mutated, Status> {
        let mut attributes = attributes.clone();
        let mut mutated = Mutated::default();
        let mut reinvocations = Reinvocations::default();
        let equivalents = self.equivalents(&attributes);
        for round in 0..2 {
            let mut has_changed = false;
            for (index, webhook) in hooks.mutating.iter().enumerate() {
                if round == 1 && !reinvocations.due.contains(&index) {
                    continue;
                }
                let Some(invocation) = webhook.invocation(&attributes, &equivalents) else {
                    continue;
                };
                let seen = self.in_version_of(&invocation, &attributes)?;
                if !webhook.wants(&seen, &invocation)? {
                    continue;
                }
                let outcome = self.mutate_by(webhook, &seen, &invocation).await;
                match outcome {
                    Ok((object, warnings)) => {
                        mutated.warnings.extend(warnings);
                        if let Some(object) = object {
                            attributes.object = Some(self.back(object, &attributes)?);
                            mutated.object.clone_from(&attributes.object);
                            reinvocations.changed();
                            has_changed = true;
                        }
                    }
                    Err(failure) => webhook.settle(failure, attributes.operation)?,
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

    /// Calls one webhook, and returns the changed object, if it changes it, and its warnings.
    async fn mutate_by(
        &self,
        webhook: &Webhook,
        attributes: &Attributes,
        invocation: &Invocation,
    ) -> Result<(Option<Value>, Vec<String>), Failure> {
        let uid = self.uid();
        let verdict = self
            .ask(webhook, &uid, attributes, invocation, true)
            .await?;
        if let Some(status) = verdict.refusal {
            return Err(Failure::Refused(status));
        }
        let internal = |why: String| Failure::Refused(Status::internal(&why));
        let patch = match verdict.patch.as_slice() {
            [] => Patch::default(),
            patch => serde_json::from_slice(patch).map_err(|error| {
                webhook.failure(&format!(
                    "received undecodable patch in webhook response: {error}"
                ))
            })?,
        };
        if patch.0.is_empty() {
            return Ok((None, verdict.warnings));
        }
        let Some(object) = &attributes.object else {
            return Err(internal(format!(
                "admission webhook {:?} attempted to modify the object, which is not supported for this operation",
                webhook.name
            )));
        };
        let mut patched = object.clone();
        json_patch::patch(&mut patched, &patch).map_err(|error| internal(error.to_string()))?;
        let patched = self.read(&invocation.kind, &patched);
        let patched = patched.map_err(internal)?;
        let changed = (patched != *object).then_some(patched);
        Ok((changed, verdict.warnings))
    }

    /// An object that a webhook saw in another version, in that of the request.
    fn back(&self, object: Value, attributes: &Attributes) -> Result<Value, Status> {
        let converted = self.convert(object, &attributes.kind);
        converted.map_err(|why| Status::internal(&why))
    }
}

// === impl Reinvocations ===

impl Reinvocations {
    /// The object is another one now.
    fn changed(&mut self) {
        self.due.append(&mut self.have_seen);
    }
}
