//! Attempts at a write, repeated until all webhooks that it needs have answered.
//!
//! Writes are transactions: functions of the store that never wait. Webhooks are remote. So a transaction that needs
//! the answer of a webhook ends without a write, and returns the question ([`AttemptError::NeedsWebhook`]). The webhook
//! is called while the store is unlocked. Then the transaction is repeated with the answer, and it commits when all
//! answers are known. If the object has changed meanwhile, the question differs, and the webhook is called again.
//!
//! The time, uids and generated names are the same in all attempts. Without webhooks there is one, without a wait.
//!
//! A write may also be attempted while others write ([`Backend::write_optimistically`]). It then locks the store only
//! to read and to commit. It has to be repeated under the lock if another write has changed what it had read, or if it
//! needs a webhook.

use std::{
    mem,
    ops::{Deref, DerefMut},
    sync::Arc,
};

use fakeserver_kinds::{
    core::service::range::ServiceRange, custom_resources::Conversion,
    pod_spec::validation::security::is_about_privileges,
};
use fakeserver_value::{
    audit_annotations::AuditAnnotations,
    json::{OBJECT_DEPTH_MAX, is_deeper_than},
    status::{FieldError, Status},
};
use http::Extensions;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    Backend, ExistingObject, Outcome, Target, Write,
    admission::{Attributes, Hooks, MutationResult, Phase, Versions, versions_of},
    chain::EnabledSteps,
    data_text,
    object_size::check_size,
    options::AdmissionOptions,
    policies::PolicyCache,
    question::Question,
};
use crate::{
    clock::Clock,
    store::{ObjectKey, StoredObject, Transaction},
};

/// The error of an attempt that did not commit.
#[derive(Debug)]
pub enum AttemptError {
    /// The write is rejected.
    Rejected(Status),
    /// The write can be repeated after a webhook has answered.
    NeedsWebhook(Box<Question>),
    /// The write is rejected, unless a controller soon creates the missing object.
    NotYet(Status),
}

/// The values that are the same in all attempts at a write, and the answers of webhooks so far.
#[derive(Debug)]
pub(super) struct Progress {
    options: Value,
    is_dry_run: bool,
    now: Timestamp,
    now_text: String,
    // Drawn once and kept: an attempt that draws its own would change the object, and so the question.
    uid: Option<String>,
    name_suffixes: Vec<String>,
    volume_suffix: Option<String>,
    pub(super) answers: Vec<(Box<Question>, MutationResult)>,
    /// The number of times that the object has changed while webhooks were called.
    pub(super) restarts: usize,
    /// The warnings about the object in the last attempt.
    warnings: Vec<String>,
    /// Annotations of admission for the audit log.
    pub(super) audit: AuditAnnotations,
}

/// An attempt at a write: a transaction that can also ask webhooks.
///
/// Admission plugins read the store through it. They cannot reach the storage, whose lock the transaction holds.
pub struct Attempt<'a, 't> {
    tx: &'a mut Transaction<'t>,
    progress: &'a mut Progress,
    backend: &'a Backend,
    hooks: Arc<Hooks>,
    /// True if webhooks may be called, and the write can wait.
    pub(super) is_reviewed: bool,
    /// The number of answers that this attempt has used.
    used: usize,
    /// Other objects that are stored with the write, such as the quotas that it is charged to.
    companions: Vec<(ObjectKey, Value)>,
    /// The states that plugins keep during the attempt, each by its type.
    states: Extensions,
    round: Round,
}

/// The round of a write through the mutating plugins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Round {
    #[default]
    First,
    /// The first, after which a second one is required: a plugin has changed the object after others had seen it.
    FirstOfTwo,
    Second,
}

// === impl AttemptError ===

impl From<Status> for AttemptError {
    fn from(status: Status) -> Self {
        Self::Rejected(status)
    }
}

// === impl Progress ===

impl Progress {
    pub(super) fn new(clock: &Clock, options: &impl AdmissionOptions) -> Self {
        Self {
            options: options.to_json(),
            is_dry_run: options.is_dry_run(),
            now: clock.now(),
            now_text: clock.now_text(),
            uid: None,
            name_suffixes: Vec::new(),
            volume_suffix: None,
            answers: Vec::new(),
            restarts: 0,
            warnings: Vec::new(),
            audit: AuditAnnotations::default(),
        }
    }

    /// Returns the warnings about the object and those of webhooks, each once.
    pub(super) fn all_warnings(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        let of_webhooks = self.answers.iter().flat_map(|(_, result)| &result.warnings);
        for warning in self.warnings.iter().chain(of_webhooks) {
            if !all.contains(warning) {
                all.push(warning.clone());
            }
        }
        all
    }
}

// === impl Attempt ===

impl<'a, 't> Attempt<'a, 't> {
    /// Begins another attempt. Without `hooks` no webhook is called.
    pub(super) fn new(
        backend: &'a Backend,
        tx: &'a mut Transaction<'t>,
        progress: &'a mut Progress,
        hooks: Option<Arc<Hooks>>,
    ) -> Self {
        // The warnings of the attempt before are those of an object that was not written. Answers of webhooks stay.
        progress.warnings.clear();
        Self {
            tx,
            progress,
            backend,
            is_reviewed: hooks.is_some(),
            hooks: hooks.unwrap_or_default(),
            used: 0,
            companions: Vec::new(),
            states: Extensions::new(),
            round: Round::First,
        }
    }
}

impl Attempt<'_, '_> {
    /// Returns `input`, or a copy of it if this may not be the last attempt.
    pub fn input<T: Clone + Default>(&self, target: &Target, input: &mut T) -> T {
        // A copy of a large object can cost more than the write: it is only made if a webhook or a log may require another
        // attempt, or if a plugin may wait for a controller.
        let may_ask = !self.hooks.is_empty() || target.rules().has_conversion_webhook();
        let may_repeat = may_ask || self.backend.storage.log().is_some();
        if !may_repeat && !self.steps().may_wait(target) {
            mem::take(input)
        } else {
            input.clone()
        }
    }

    pub fn now(&self) -> Timestamp {
        self.progress.now
    }

    /// Returns the time in the format of objects.
    pub fn now_text(&self) -> &str {
        &self.progress.now_text
    }

    pub fn is_dry_run(&self) -> bool {
        self.progress.is_dry_run
    }

    /// Returns the options of the request, without kind and version.
    pub(super) fn options(&self) -> &Value {
        &self.progress.options
    }

    /// Sets the options that webhooks see, if they differ from those of the request.
    pub fn set_options(&mut self, options: &impl AdmissionOptions) {
        self.progress.options = options.to_json();
    }

    /// Warns the client of the object that is written.
    pub(super) fn warn(&mut self, warnings: Vec<String>) {
        self.progress.warnings.extend(warnings);
    }

    /// Takes the audit annotations of the request, for webhooks.
    pub(super) fn set_audit(&mut self, audit: &AuditAnnotations) {
        self.progress.audit = audit.clone();
    }

    /// Returns the uid of the object that is created.
    pub(super) fn uid(&mut self) -> &str {
        let draw = || self.backend.entropy.uid().to_string();
        self.progress.uid.get_or_insert_with(draw)
    }

    /// Returns the suffix of a generated name, after `tried` others.
    pub(super) fn name_suffix(&mut self, tried: usize) -> &str {
        let suffixes = &mut self.progress.name_suffixes;
        while suffixes.len() <= tried {
            suffixes.push(self.backend.entropy.name_suffix());
        }
        &suffixes[tried]
    }

    /// Returns the suffix of the generated name of a volume.
    pub(super) fn volume_suffix(&mut self) -> &str {
        let draw = || self.backend.entropy.name_suffix();
        self.progress.volume_suffix.get_or_insert_with(draw)
    }

    /// Returns the object of the target, if it exists.
    pub fn find(&mut self, target: &Target) -> Result<Option<ExistingObject>, AttemptError> {
        let Some(stored) = self.tx.get(&target.key(target.name())) else {
            return Ok(None);
        };
        let object = self.api_object(target, &stored)?;
        Ok(Some(ExistingObject { stored, object }))
    }

    /// Returns the object of the target.
    ///
    /// # Errors
    ///
    /// It does not exist.
    pub fn existing(&mut self, target: &Target) -> Result<ExistingObject, AttemptError> {
        let found = self.find(target)?;
        found.ok_or_else(|| Status::not_found(target.named(target.name())).into())
    }

    /// Returns `stored` in the version of the request.
    pub fn api_object(
        &mut self,
        target: &Target,
        stored: &StoredObject,
    ) -> Result<Value, AttemptError> {
        let custom = target.rules().as_custom();
        if let Some(custom) = custom {
            let checked = custom.check_stored(stored.stored_version());
            checked.map_err(Status::unclassified)?;
        }
        let Some((by, custom)) = target.conversion().zip(custom) else {
            return Ok(self.backend.api_object(target, stored));
        };
        let object = by.typed(stored.to_value(), stored.stored_version());
        Ok(custom.complete(self.converted(by, object, &by.own)?))
    }

    /// Returns `object`, which has its version, in the version `to`. Asks the webhook if that is another one.
    pub(super) fn converted(
        &mut self,
        by: &Arc<Conversion>,
        object: Value,
        to: &str,
    ) -> Result<Value, AttemptError> {
        if object["apiVersion"] == to {
            return Ok(object);
        }
        let converted = self.answer_or_ask(Question::Conversion {
            by: Arc::clone(by),
            to: to.to_owned(),
            object,
            may_fail: false,
        })?;
        Ok(converted.object.unwrap_or_default())
    }

    /// Does the same for a write that can go on without the object, or returns the failure of the webhook.
    pub(super) fn converted_or_failed(
        &mut self,
        by: &Arc<Conversion>,
        object: Value,
        to: &str,
    ) -> Result<Result<Value, Status>, AttemptError> {
        let MutationResult {
            object, failure, ..
        } = self.answer_or_ask(Question::Conversion {
            by: Arc::clone(by),
            to: to.to_owned(),
            object,
            may_fail: true,
        })?;
        Ok(failure.map_or_else(|| Ok(object.unwrap_or_default()), Err))
    }

    /// Stores these objects with that of the write, and no others.
    pub(super) fn set_companions(&mut self, companions: Vec<(ObjectKey, Value)>) {
        self.companions = companions;
    }

    /// Returns the state that a plugin keeps during the attempt, which begins as the default. The type is the plugin's own.
    pub(super) fn state<T: Clone + Default + Send + Sync + 'static>(&mut self) -> &mut T {
        self.states.get_or_insert_default()
    }

    /// Stores `object`, which is in the version of the request, and its companions, unless the write is a dry run.
    pub(super) fn store(
        &mut self,
        target: &Target,
        key: &ObjectKey,
        mut object: Value,
        text: Option<&str>,
    ) -> Result<Outcome, AttemptError> {
        let custom = target.rules().as_custom();
        let Some((by, custom)) = target.conversion().zip(custom) else {
            check_depth(&object)?;
            return Ok(if self.is_dry_run() {
                Outcome::Object(object)
            } else {
                if let Some(custom) = custom {
                    object["apiVersion"] = custom.storage_version().into();
                }
                // Companions are stored before the object, in the same transaction: the controller of quotas takes an
                // object that it sees before the charge for an uncharged one, and recounts.
                self.store_companions();
                let stored = match text {
                    Some(text) => (self.tx).put_with_text(key, object, (data_text::DATA, text)),
                    None => self.tx.put(key, object),
                };
                check_size(target, &stored)?;
                Outcome::Stored(stored)
            });
        };
        // Asked in a dry run as well: a conversion that fails is an error of the write.
        let typed = by.typed(object.clone(), &by.own);
        let stored = self.converted(by, typed, &by.stored)?;
        if !self.is_dry_run() {
            let stored = custom.complete_stored(stored);
            check_depth(&stored)?;
            self.store_companions();
            let stored = self.tx.put(key, stored);
            check_size(target, &stored)?;
            object["metadata"]["resourceVersion"] = json!(stored.revision().to_string());
        }
        Ok(Outcome::Object(object))
    }

    /// Returns the admission plugins that are on.
    pub(super) fn steps(&self) -> EnabledSteps {
        self.backend.steps
    }

    fn store_companions(&mut self) {
        for (key, object) in mem::take(&mut self.companions) {
            self.tx.put(&key, object);
        }
    }

    /// Removes the validation errors that this server tolerates.
    pub(super) fn tolerate(&self, write: &Write<'_>, errors: &mut Vec<FieldError>) {
        if self.backend.allows_privileged || write.is_import() {
            errors.retain(|error| !is_about_privileges(error));
        }
    }

    /// Returns the webhooks that are configured.
    pub(super) fn hooks(&self) -> &Hooks {
        &self.hooks
    }

    /// Returns the ranges of the addresses of services.
    pub(super) fn service_range(&self) -> ServiceRange {
        self.backend.service_range()
    }

    /// Returns the compiled admission policies. Not the backend: its storage must stay out of a plugin's reach.
    pub(super) fn policy_cache(&self) -> &PolicyCache {
        &self.backend.policies
    }

    /// Returns the resources that exist now.
    pub(super) fn registry(&self) -> Arc<fakeserver_kinds::registry::Registry> {
        self.backend.registry()
    }

    /// Begins the first round of a write through the plugins that mutate.
    pub(super) fn begin_first_round(&mut self) {
        self.round = Round::First;
    }

    /// Begins the second round, if the first requires one.
    pub(super) fn begin_second_round(&mut self) -> bool {
        let is_required = self.round == Round::FirstOfTwo;
        if is_required {
            self.round = Round::Second;
        }
        is_required
    }

    /// Requires a second round: the object was changed after plugins had seen it.
    pub(super) fn require_second_round(&mut self) {
        if self.round == Round::First {
            self.round = Round::FirstOfTwo;
        }
    }

    pub(super) fn is_second_round(&self) -> bool {
        self.round == Round::Second
    }

    /// Returns the versions of the resource of the target.
    pub(super) fn versions(&self, target: &Target) -> Versions {
        versions_of(&self.backend.registry_of(target), target)
    }

    /// Calls the webhooks of a phase, and returns the object if they have changed it.
    pub(super) fn ask_webhooks(
        &mut self,
        phase: Phase,
        attributes: Attributes,
    ) -> Result<Option<Value>, AttemptError> {
        let answer = self.answer_or_ask(Question::Admission {
            phase,
            hooks: Arc::clone(&self.hooks),
            attributes: Box::new(attributes),
        })?;
        Ok(answer.object)
    }

    /// Returns the answer to a question, or the error `NeedsWebhook` with the question.
    fn answer_or_ask(&mut self, question: Question) -> Result<MutationResult, AttemptError> {
        // A writer behind the API is synchronous: it could not wait for an answer.
        if !self.is_reviewed {
            return Err(Status::internal(
                "a webhook has to convert the object, and writes behind the API call no webhooks",
            )
            .into());
        }
        let question = Box::new(question);
        // Attempts are deterministic, so questions come in the same order. An equal question at the same place is the
        // one that was answered.
        match self.progress.answers.get(self.used) {
            Some((answered, answer)) if answered.is_same(&question) => {
                self.used += 1;
                return Ok(answer.clone());
            }
            Some(_) => {
                // The object has changed since: the answers about its former state are dropped.
                self.progress.restarts += 1;
                self.progress.answers.truncate(self.used);
            }
            None => {}
        }
        Err(AttemptError::NeedsWebhook(question))
    }
}

impl<'t> Deref for Attempt<'_, 't> {
    type Target = Transaction<'t>;

    fn deref(&self) -> &Self::Target {
        self.tx
    }
}

impl DerefMut for Attempt<'_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.tx
    }
}

/// Refuses an object that nests values deeper than can be read again.
fn check_depth(object: &Value) -> Result<(), Status> {
    if is_deeper_than(object, OBJECT_DEPTH_MAX) {
        return Err(Status::bad_request(format!(
            "the object is nested too deeply: the maximum is {OBJECT_DEPTH_MAX} levels"
        )));
    }
    Ok(())
}
