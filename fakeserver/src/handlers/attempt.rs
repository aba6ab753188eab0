//! A write, tried until everybody who has a say in it has said so.
//!
//! Writes are transactions: functions of the store that never wait. Webhooks are far away. So a transaction that comes to
//! where a webhook has to be asked ends without having written anything, and says what it has to know ([`Halt::Asks`]). The
//! answer is got while nobody holds the store, and the transaction begins anew, with the answer at hand. It is written when
//! all that it has to know is known. If the object has changed meanwhile, the question is another one, and is asked again.
//!
//! The time, uids and generated names are the same in all attempts. Without webhooks there is one, without a wait.
//!
//! A write may also be tried while others write ([`Call::write_optimistically`]), and takes the store only to read and to
//! commit. Then it is made anew, alone, if somebody has changed what it had read, or if a webhook has a say in it.

use std::{
    mem,
    ops::{Deref, DerefMut},
    sync::Arc,
};

use jiff::Timestamp;
use serde_json::{Value, json};

pub(super) use super::halt::Halt;
use super::{
    Call,
    admission::{AdmissionOptions, kind_below, resource_of},
    question::Question,
    reviews,
    write::{Outcome, shallow},
};
use crate::{
    admission::{Attributes, Dispatcher, Hooks, Mutated, Objects as _, Operation, Phase},
    request::WriteOptions,
    state::Core,
    status::Status,
    storage::{ObjectKey, StoredObject, Transaction, Unmade},
};

/// How often a write begins anew because the object has changed while webhooks were asked.
const RESTARTS_MAX: usize = 16;

/// What is the same in all attempts at one write, and what was learned in those before.
#[derive(Debug)]
struct Review {
    options: Value,
    is_dry_run: bool,
    now: Timestamp,
    now_text: String,
    uid: Option<String>,
    name_suffixes: Vec<String>,
    learned: Vec<(Box<Question>, Mutated)>,
    restarts: usize,
    /// What the client should know of the object, as the last attempt has it.
    told: Vec<String>,
}

/// One attempt: a transaction that can also ask webhooks.
pub(super) struct Attempt<'a, 't> {
    tx: &'a mut Transaction<'t>,
    review: &'a mut Review,
    core: &'a Core,
    hooks: Arc<Hooks>,
    /// Whether webhooks are asked.
    is_reviewed: bool,
    /// How many questions were answered in this attempt.
    answered: usize,
}

// === impl Call ===

impl Call<'_> {
    /// Runs `work` alone on the store, as often as webhooks have to be asked, and gives what it comes to with the warnings
    /// of webhooks. `options` are those of the request.
    ///
    /// # Errors
    ///
    /// What `work` or a webhook refuses; a conflict if the object changes each time before webhooks have answered.
    ///
    /// # Cancel safety
    ///
    /// If dropped, nothing is written.
    pub(super) async fn write<T>(
        &self,
        options: &impl AdmissionOptions,
        mut work: impl FnMut(&mut Attempt<'_, '_>) -> Result<T, Halt> + Send,
    ) -> Result<(T, Vec<String>), Status> {
        let core = &*self.server.core;
        let mut review = Review::new(core, options, self);
        loop {
            let outcome = core.storage.transact(|tx| {
                let hooks = core.hooks.current(tx);
                work(&mut Attempt::new(tx, &mut review, core, Some(hooks)))
            });
            let question = match outcome {
                Ok(done) => return Ok((done, review.warnings())),
                Err(Halt::Refused(status)) => return Err(status.after(&review.warnings())),
                Err(Halt::Asks(question)) => question,
            };
            if review.restarts > RESTARTS_MAX {
                return Err(Status::stale(self.named(self.name())));
            }
            let dispatcher = Dispatcher {
                webhooks: &core.webhooks,
                entropy: &core.entropy,
                objects: self,
            };
            let answer = question.put_to(dispatcher).await?;
            review.learned.push((question, answer));
        }
    }

    /// Runs `work` on the store while others write to it, and gives what it comes to with what the client should know.
    /// `None` if it has to be run alone, by [`write`](Self::write): nothing has happened then.
    pub(super) fn write_optimistically(
        &self,
        options: &impl AdmissionOptions,
        work: impl FnOnce(&mut Attempt<'_, '_>) -> Result<Outcome, Halt>,
    ) -> Option<Result<(Outcome, Vec<String>), Status>> {
        let core = &*self.server.core;
        let mut review = Review::new(core, options, self);
        let done = core.storage.transact_optimistically(|tx| {
            let hooks = core.hooks.current(tx);
            work(&mut Attempt::new(tx, &mut review, core, Some(hooks)))
        });
        match done {
            Ok((outcome, changes)) => Some(Ok((outcome.made_by(&changes), review.warnings()))),
            Err(Unmade::Refused(Halt::Refused(status))) => {
                Some(Err(status.after(&review.warnings())))
            }
            Err(Unmade::Overtaken | Unmade::Refused(Halt::Asks(_))) => None,
        }
    }

    /// Runs `work` alone on the store, for somebody behind the API: no webhook is asked.
    pub(super) fn write_unreviewed<T>(
        &self,
        options: &impl AdmissionOptions,
        work: impl FnOnce(&mut Attempt<'_, '_>) -> Result<T, Halt>,
    ) -> Result<T, Status> {
        let core = &*self.server.core;
        let mut review = Review::new(core, options, self);
        let outcome = core
            .storage
            .transact(|tx| work(&mut Attempt::new(tx, &mut review, core, None)));
        outcome.map_err(|halt| match halt {
            Halt::Refused(status) => status,
            Halt::Asks(_) => unreachable!("where there are no webhooks, none is asked"),
        })
    }
}

// === impl Review ===

impl Review {
    fn new(core: &Core, options: &impl AdmissionOptions, call: &Call<'_>) -> Self {
        Self {
            options: options.to_json(call),
            is_dry_run: options.is_dry_run(),
            now: core.clock.now(),
            now_text: core.clock.now_text(),
            uid: None,
            name_suffixes: Vec::new(),
            learned: Vec::new(),
            restarts: 0,
            told: Vec::new(),
        }
    }

    /// What the client should know of the object, and what webhooks want it to read, each once.
    fn warnings(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        let of_webhooks = self.learned.iter().flat_map(|(_, said)| &said.warnings);
        for warning in self.told.iter().chain(of_webhooks) {
            if !all.contains(warning) {
                all.push(warning.clone());
            }
        }
        all
    }
}

// === impl Attempt ===

impl<'a, 't> Attempt<'a, 't> {
    fn new(
        tx: &'a mut Transaction<'t>,
        review: &'a mut Review,
        core: &'a Core,
        hooks: Option<Arc<Hooks>>,
    ) -> Self {
        let is_reviewed = hooks.is_some();
        review.told.clear();
        Self {
            tx,
            review,
            core,
            hooks: hooks.unwrap_or_default(),
            is_reviewed,
            answered: 0,
        }
    }

    /// What the request brought. It is needed again if webhooks may be asked.
    pub(super) fn input<T: Clone + Default>(&self, call: &Call<'_>, brought: &mut T) -> T {
        if self.hooks.is_empty() && call.conversion().is_none() {
            mem::take(brought)
        } else {
            brought.clone()
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.review.now
    }

    /// Has the client told of the object that is written.
    pub(super) fn warn(&mut self, warnings: Vec<String>) {
        self.review.told.extend(warnings);
    }

    pub(super) fn now_text(&self) -> &str {
        &self.review.now_text
    }

    /// The uid of the object that is created.
    pub(super) fn uid(&mut self) -> String {
        let draw = || self.core.entropy.uid().to_string();
        self.review.uid.get_or_insert_with(draw).clone()
    }

    /// What is put behind `generateName`, when that was done `tried` times already.
    pub(super) fn name_suffix(&mut self, tried: usize) -> String {
        let suffixes = &mut self.review.name_suffixes;
        while suffixes.len() <= tried {
            suffixes.push(self.core.entropy.name_suffix());
        }
        suffixes[tried].clone()
    }

    /// What is stored, as the version of the request shows it.
    pub(super) fn shown(&mut self, call: &Call<'_>, stored: &StoredObject) -> Result<Value, Halt> {
        let (Some(by), Some(custom)) = (call.conversion(), &call.resource.custom) else {
            return Ok(call.shown(stored));
        };
        let shown = self.know(Question::Conversion {
            by: Arc::clone(by),
            is_shown: true,
            object: stored.to_value(),
        })?;
        Ok(custom.complete(shown.unwrap_or_default()))
    }

    /// Stores `object`, which is in the version of the request, unless the write is only tried.
    pub(super) fn store(
        &mut self,
        call: &Call<'_>,
        options: &WriteOptions,
        key: &ObjectKey,
        mut object: Value,
    ) -> Result<Outcome, Halt> {
        let Some(by) = call.conversion() else {
            return Ok(Call::store(self, options, key, object)?);
        };
        let stored = self.know(Question::Conversion {
            by: Arc::clone(by),
            is_shown: false,
            object: object.clone(),
        })?;
        if !options.is_dry_run {
            let stored = self.tx.put(key, shallow(stored.unwrap_or_default())?);
            object["metadata"]["resourceVersion"] = json!(stored.revision().to_string());
        }
        Ok(Outcome::Shown(object))
    }

    /// Asks mutating webhooks what `object` is to be, and gives it if they want it otherwise.
    pub(super) fn mutate(
        &mut self,
        call: &Call<'_>,
        operation: Operation,
        object: Option<&Value>,
        old: Option<&Value>,
    ) -> Result<Option<Value>, Halt> {
        self.ask(call, Phase::Mutating, operation, object, old)
    }

    /// Asks validating webhooks whether `object` may be.
    pub(super) fn validate(
        &mut self,
        call: &Call<'_>,
        operation: Operation,
        object: Option<&Value>,
        old: Option<&Value>,
    ) -> Result<(), Halt> {
        self.ask(call, Phase::Validating, operation, object, old)
            .map(drop)
    }

    /// Puts something that is not stored itself, such as an eviction, to all webhooks.
    pub(super) fn admit_new(&mut self, call: &Call<'_>, object: Value) -> Result<Value, Halt> {
        let mutated = self.mutate(call, Operation::Create, Some(&object), None)?;
        let object = mutated.unwrap_or(object);
        self.validate(call, Operation::Create, Some(&object), None)?;
        Ok(object)
    }

    /// Asks all webhooks whether `old` may be deleted.
    pub(super) fn admit_deletion(&mut self, call: &Call<'_>, old: &Value) -> Result<(), Halt> {
        self.mutate(call, Operation::Delete, None, Some(old))?;
        self.validate(call, Operation::Delete, None, Some(old))
    }

    fn ask(
        &mut self,
        call: &Call<'_>,
        phase: Phase,
        operation: Operation,
        object: Option<&Value>,
        old: Option<&Value>,
    ) -> Result<Option<Value>, Halt> {
        if self.hooks.is_empty() {
            return Ok(None);
        }
        let mut attributes = self.attributes(call, phase, operation, object);
        if !self.hooks.concern(phase, &attributes, &call.versions()) {
            return Ok(None);
        }
        attributes.object = object.cloned();
        attributes.old_object = old.cloned();
        self.know(Question::Admission {
            phase,
            hooks: Arc::clone(&self.hooks),
            attributes: Box::new(attributes),
        })
    }

    /// The answer to a question, if it is known already.
    fn know(&mut self, question: Question) -> Result<Option<Value>, Halt> {
        if !self.is_reviewed {
            return Err(Status::internal(
                "a webhook has to convert the object, and none is asked from behind the API",
            )
            .into());
        }
        let question = Box::new(question);
        match self.review.learned.get(self.answered) {
            Some((asked, answer)) if asked.is_same(&question) => {
                self.answered += 1;
                return Ok(answer.object.clone());
            }
            Some(_) => {
                // The object is another one by now: what was said of the one before says nothing.
                self.review.restarts += 1;
                self.review.learned.truncate(self.answered);
            }
            None => {}
        }
        Err(Halt::Asks(question))
    }

    /// A write without its objects.
    fn attributes(
        &self,
        call: &Call<'_>,
        phase: Phase,
        operation: Operation,
        object: Option<&Value>,
    ) -> Attributes {
        let own_name = object.map_or("", |object| {
            object["metadata"]["name"].as_str().unwrap_or_default()
        });
        let name = match call.path.name.as_deref() {
            Some(name) => name,
            None if operation == Operation::Create => own_name,
            // Each of a collection is deleted without being named.
            None => "",
        };
        let namespace = match call.path.namespace.as_deref() {
            None if call.strategy().is_namespace() => name,
            other => other.unwrap_or_default(),
        };
        debug_assert!(
            phase == Phase::Mutating
                || operation != Operation::Create
                || !own_name.is_empty()
                || !call.subresource().is_empty()
                || reviews::Review::of(call).is_some(),
            "a name is generated before anybody validates"
        );
        let mut options = self.review.options.clone();
        options["kind"] = json!(operation.options_kind());
        options["apiVersion"] = json!("meta.k8s.io/v1");
        Attributes {
            operation,
            kind: kind_below(&call.resource, call.subresource()),
            resource: resource_of(&call.resource),
            subresource: call.subresource().to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            object: None,
            old_object: None,
            options,
            is_dry_run: self.review.is_dry_run,
            user: call.requester.user.to_json(),
        }
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
