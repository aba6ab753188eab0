//! Validating webhooks, called all at once.

use fakeserver_value::status::Status;
use futures::future::join_all;

use super::{Attributes, Dispatcher, Hooks, Invocation, Webhook, dispatcher::Failure};

/// The prefix of audit annotations that name a webhook which gave no answer.
const FAILED_OPEN: &str = "failed-open.validating.webhook.admission.k8s.io/";

// === impl Dispatcher ===

impl Dispatcher<'_> {
    /// Calls the validating webhooks that match a write, and returns their warnings.
    ///
    /// # Errors
    ///
    /// A webhook refuses the write, or fails and its policy is `Fail`. Of several errors the first in webhook order is
    /// returned.
    ///
    /// # Cancel safety
    ///
    /// If dropped, some webhooks may have been asked about a write that does not take place.
    pub async fn validate(
        &self,
        hooks: &Hooks,
        attributes: &Attributes,
    ) -> Result<Vec<String>, Status> {
        let equivalents = self.equivalents(attributes);
        let mut questions = Vec::new();
        for webhook in &hooks.validating {
            let Some(invocation) = webhook.invocation(attributes, &equivalents) else {
                continue;
            };
            let seen = self.in_version_of(&invocation, attributes)?;
            if webhook.wants(&seen, &invocation)? {
                // Drawn in order: the answers come in any.
                questions.push((webhook, invocation, seen, self.uid()));
            }
        }
        let calls = questions
            .iter()
            .map(|(webhook, invocation, seen, uid)| self.judge(webhook, uid, seen, invocation));
        let outcomes = join_all(calls).await;
        let mut warnings = Vec::new();
        for (index, ((webhook, ..), outcome)) in questions.iter().zip(outcomes).enumerate() {
            match outcome {
                Ok(call_warnings) => warnings.extend(call_warnings),
                Err(failure) => {
                    let key = format!("{FAILED_OPEN}round_0_index_{index}");
                    self.settle(webhook, failure, attributes.operation, &key)?;
                }
            }
        }
        Ok(warnings)
    }

    async fn judge(
        &self,
        webhook: &Webhook,
        uid: &str,
        attributes: &Attributes,
        invocation: &Invocation,
    ) -> Result<Vec<String>, Failure> {
        let verdict = self
            .ask(webhook, uid, attributes, invocation, false)
            .await?;
        match verdict.refusal {
            Some(status) => Err(Failure::Refused(status)),
            None => Ok(verdict.warnings),
        }
    }
}
