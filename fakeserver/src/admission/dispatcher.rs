//! Puts writes to webhooks, and takes their answers.

use serde_json::Value;
use tracing::warn;

use super::{
    Attributes, Operation, Resource, Webhook, hooks::equivalents, review::review, verdict::Verdict,
    webhook::Invocation,
};
use crate::{
    entropy::Entropy,
    object::Pairs,
    resource::GroupVersionKind,
    status::Status,
    webhook::{WebhookError, Webhooks},
};

/// What admission has to know of objects.
pub(crate) trait Objects: Sync {
    /// Reads what a webhook made of an object as an object of a kind again.
    fn read(&self, kind: &GroupVersionKind, object: &Value) -> Result<Value, String>;

    /// The object as another version of its kind shows it.
    fn convert(&self, object: Value, to: &GroupVersionKind) -> Result<Value, String>;

    /// The labels of a namespace, if it is there.
    fn namespace_labels(&self, name: &str) -> Option<Pairs>;

    /// The versions of what is written, with what the kind of the request is called in each.
    fn versions(&self) -> Vec<(Resource, GroupVersionKind)>;
}

/// Asks the webhooks that are concerned.
#[derive(Clone, Copy)]
pub(crate) struct Dispatcher<'a> {
    pub(crate) webhooks: &'a Webhooks,
    pub(crate) entropy: &'a Entropy,
    pub(crate) objects: &'a dyn Objects,
}

/// A webhook did not allow a write, or gave no answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// The write is refused, whatever the webhook's policy.
    Refused(Status),
    /// There was no answer: it depends on the webhook's policy.
    NotAsked(String),
}

// === impl Dispatcher ===

impl Dispatcher<'_> {
    pub(super) fn equivalents(&self, attributes: &Attributes) -> Vec<Invocation> {
        equivalents(attributes, &self.objects.versions())
    }

    /// The write in the version in which a webhook wants to be asked about it.
    pub(super) fn in_version_of(
        &self,
        invocation: &Invocation,
        attributes: &Attributes,
    ) -> Result<Attributes, Status> {
        let mut attributes = attributes.clone();
        if invocation.kind == attributes.kind {
            return Ok(attributes);
        }
        for side in [&mut attributes.object, &mut attributes.old_object] {
            if let Some(object) = side.take() {
                let converted = self.objects.convert(object, &invocation.kind);
                *side = Some(converted.map_err(|why| Status::internal(&why))?);
            }
        }
        Ok(attributes)
    }

    /// Asks `webhook` about a write that is in the version of `invocation`. Its refusal is part of its verdict.
    pub(super) async fn ask(
        &self,
        webhook: &Webhook,
        uid: &str,
        attributes: &Attributes,
        invocation: &Invocation,
        is_mutating: bool,
    ) -> Result<Verdict, Failure> {
        if attributes.is_dry_run && !webhook.takes_dry_runs {
            return Err(Failure::Refused(Status::bad_request(format!(
                "admission webhook {:?} does not support dry run",
                webhook.name
            ))));
        }
        let question = review(webhook, uid, attributes, invocation);
        let asked = self
            .webhooks
            .ask(&webhook.client, webhook.timeout, &question);
        let answer = asked.await.map_err(|error: WebhookError| {
            webhook.failure(&format!("failed to call webhook: {error}"))
        })?;
        Verdict::read(
            &webhook.name,
            webhook.review_version,
            uid,
            is_mutating,
            &answer,
        )
        .map_err(|why| webhook.failure(&format!("received invalid webhook response: {why}")))
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

    /// What a failure means for the write: by its policy, nothing, or its end.
    pub(super) fn settle(&self, failure: Failure, operation: Operation) -> Result<(), Status> {
        match failure {
            Failure::Refused(status) => Err(status),
            // Why is not told here: the reason may quote an answer, and with it an object.
            Failure::NotAsked(_) if self.ignores_failure => {
                warn!(
                    webhook = self.name,
                    operation = operation.name(),
                    "webhook gave no answer, the write goes on"
                );
                Ok(())
            }
            Failure::NotAsked(why) => Err(Status::internal(&why)),
        }
    }
}
