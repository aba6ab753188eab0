//! Sends writes to webhooks, and applies their answers.

use fakeserver_value::{
    audit_annotations::AuditAnnotations, resource::GroupVersionKind, status::Status,
};
use serde_json::Value;
use tracing::warn;

use super::{
    Attributes, Invocation, Operation, Versions, Webhook, hooks::equivalents, review::review,
    verdict::Verdict, versions,
};
use crate::{
    entropy::Entropy,
    write::{
        FieldValidation, Target,
        webhook::{WebhookError, Webhooks},
    },
};

/// Calls the webhooks that match a write.
#[derive(Clone, Copy)]
pub struct Dispatcher<'a> {
    pub webhooks: &'a Webhooks,
    pub entropy: &'a Entropy,
    pub target: &'a Target,
    pub audit: &'a AuditAnnotations,
    pub versions: &'a Versions,
}

/// A webhook did not allow a write, or gave no answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// The write is refused, regardless of the webhook's failure policy.
    Refused(Status),
    /// There was no answer: it depends on the webhook's policy.
    NotAsked(String),
}

// === impl Dispatcher ===

impl Dispatcher<'_> {
    pub(super) fn equivalents(&self, attributes: &Attributes) -> Vec<Invocation> {
        equivalents(attributes, self.versions)
    }

    /// Returns the write in the version that a webhook's rules match.
    pub(super) fn in_version_of(
        &self,
        invocation: &Invocation,
        attributes: &Attributes,
    ) -> Result<Attributes, Status> {
        versions::in_version_of(self.target, invocation, attributes)
    }

    /// Calls `webhook` with a write in the version of `invocation`. A rejection is part of the verdict.
    pub(super) async fn ask(
        &self,
        webhook: &Webhook,
        uid: &str,
        attributes: &Attributes,
        invocation: &Invocation,
        is_mutating: bool,
    ) -> Result<Verdict, Failure> {
        // Regardless of the failure policy: a webhook with side effects cannot be skipped, nor called.
        if attributes.is_dry_run && !webhook.takes_dry_runs {
            return Err(Failure::Refused(Status::bad_request(format!(
                "admission webhook {:?} does not support dry run",
                webhook.name
            ))));
        }
        let question = review(webhook, uid, attributes, invocation);
        let call = self
            .webhooks
            .ask(&webhook.client, webhook.timeout, &question);
        let answer = call.await.map_err(|error: WebhookError| {
            webhook.failure(&format!("failed to call webhook: {error}"))
        })?;
        let read = Verdict::read(
            &webhook.name,
            webhook.review_version,
            uid,
            is_mutating,
            &answer,
        );
        let verdict = read.map_err(|error| webhook.failure(&error.to_string()))?;
        // Also for a rejection, which the audit log explains by them.
        for (key, value) in &verdict.annotations {
            self.audit.add(&format!("{}/{key}", webhook.name), value);
        }
        Ok(verdict)
    }

    /// Settles the failure of a webhook, and annotates one that does not matter under `key`.
    pub(super) fn settle(
        &self,
        webhook: &Webhook,
        failure: Failure,
        operation: Operation,
        key: &str,
    ) -> Result<(), Status> {
        let is_open = webhook.ignores_failure && matches!(failure, Failure::NotAsked(_));
        if is_open {
            self.audit.add(key, &*webhook.name);
        }
        webhook.settle(failure, operation)
    }

    /// Reads what a webhook made of an object as an object of a kind again.
    pub(super) fn read(&self, kind: &GroupVersionKind, object: Value) -> Result<Value, String> {
        let text = object.to_string();
        let read = self
            .target
            .read_patched(kind, object, &text, FieldValidation::Ignore);
        read.map(|received| received.object)
    }

    /// Converts the object to another version of its kind.
    pub(super) fn convert(&self, object: Value, to: &GroupVersionKind) -> Result<Value, String> {
        versions::convert(self.target, object, to)
    }

    pub(super) fn uid(&self) -> String {
        self.entropy.audit_id().to_string()
    }
}

// === impl Webhook ===

impl Webhook {
    /// The webhook gave no answer that counts.
    pub(super) fn failure(&self, why: &str) -> Failure {
        Failure::NotAsked(format!("failed calling webhook {:?}: {why}", self.name))
    }

    /// Returns the effect of a failure on the write: by its policy, nothing or a rejection.
    fn settle(&self, failure: Failure, operation: Operation) -> Result<(), Status> {
        match failure {
            Failure::Refused(status) => Err(status),
            // Without the reason, which may quote a response, and with it an object.
            Failure::NotAsked(_) if self.ignores_failure => {
                warn!(
                    webhook = self.name,
                    operation = operation.name(),
                    "webhook failed; the write continues by its failure policy"
                );
                Ok(())
            }
            Failure::NotAsked(why) => Err(Status::internal(&why)),
        }
    }
}
