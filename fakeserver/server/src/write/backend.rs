//! The parts of a server that writes and controllers need, and attempts at a write.

use std::{
    fmt,
    sync::{Arc, Mutex, OnceLock, PoisonError, RwLock},
    time::Duration,
};

use fakeserver_datalog::Durability;
use fakeserver_kinds::{ResourceType, core::service::range::ServiceRange, registry::Registry};
use fakeserver_value::status::Status;
use fakeserver_versions::{KubernetesVersion, SharedVersionSet};
use serde_json::Value;
use tokio::time::sleep;

use super::{
    Attempt, AttemptError, BackendFollower, Outcome, Target, WriteResult,
    admission::{Dispatcher, HookCache, versions_of},
    attempt::Progress,
    chain::EnabledSteps,
    options::AdmissionOptions,
    webhook::Webhooks,
};
use crate::{
    clock::Clock,
    entropy::Entropy,
    kubelets::Kubelets,
    store::{
        Change, ChangeSink, CommitError, CommitLog, Compaction, Foundation, Leases, LogError,
        OptimisticError, Storage, StoredObject, Transaction, ask_blocking, snapshot::DataLog,
    },
    watch::Watchers,
};

/// The maximum number of restarts of a write whose object changes while webhooks are called.
const RESTARTS_MAX: usize = 16;

/// The number of retries of a write that needs an object of a controller. They take a second in all.
const WAITS_MAX: u32 = 10;
const WAIT: Duration = Duration::from_millis(1);

/// Signs claims, so that the server takes the token for one of its own.
pub trait ClaimsSigner: fmt::Debug + Send + Sync {
    /// Returns a signed token with `claims`.
    fn sign(&self, claims: &Value) -> String;
}

/// The store, its watchers, and the resources, webhooks, time and randomness that writes depend on.
#[derive(Debug)]
pub struct Backend {
    pub storage: Arc<Storage>,
    /// The resources of the version of Kubernetes that is served, and of definitions. Replaced as a whole under the lock of
    /// the storage.
    registry: Arc<RwLock<Arc<Registry>>>,
    /// The same resources in another version, with the registry from which they were made.
    peer: Mutex<Option<(Arc<Registry>, Arc<Registry>)>>,
    /// The versions by which the objects of the store may have been written.
    pub(crate) writers: Arc<SharedVersionSet>,
    pub(crate) watchers: Arc<Watchers>,
    /// The kubelets of the cluster, if there is one behind the API.
    pub kubelets: Option<Arc<dyn Kubelets>>,
    /// The expiry of events.
    pub leases: Arc<Leases>,
    pub clock: Clock,
    pub entropy: Arc<Entropy>,
    /// The routes of webhooks, and their configurations.
    pub webhooks: Arc<Webhooks>,
    hooks: HookCache,
    /// The admission plugins that are on.
    pub(super) steps: EnabledSteps,
    pub(super) policies: super::policies::PolicyCache,
    /// True if containers may be privileged.
    pub(super) allows_privileged: bool,
    /// The ranges of the addresses of services, whose families are those of the cluster.
    services: RwLock<ServiceRange>,
    /// The log on disk, if the state is kept in one.
    data_log: Option<Arc<DataLog>>,
    /// The signer of tokens of service accounts, once the server has one.
    signer: OnceLock<Arc<dyn ClaimsSigner>>,
}

/// Passes each change on to several sinks, in this order.
struct Sinks(Vec<Arc<dyn ChangeSink>>);

/// Returns the answer to a request that needs the log of the store, if that fails.
pub fn log_failure(error: &LogError) -> Status {
    Status::internal(&error.to_string())
}

fn current(registry: &RwLock<Arc<Registry>>) -> Arc<Registry> {
    Arc::clone(&registry.read().unwrap_or_else(PoisonError::into_inner))
}

// === impl Backend ===

impl Backend {
    /// Creates an empty backend. Each change goes to the watchers, then to `kubelets`, then to `feeds`.
    pub fn new(
        seed: u64,
        clock: Clock,
        compaction: Compaction,
        watcher_buffer: usize,
        kubelets: Option<Arc<dyn Kubelets>>,
        feeds: Vec<Arc<dyn ChangeSink>>,
        steps: EnabledSteps,
    ) -> Self {
        let watchers = Arc::new(Watchers::new(watcher_buffer));
        let leases = Arc::new(Leases::default());
        // Watchers come first: a change is queued for clients before anything can react to it.
        let mut sinks: Vec<Arc<dyn ChangeSink>> = vec![watchers.clone(), leases.clone()];
        sinks.extend(kubelets.clone().map(|kubelets| kubelets as _));
        sinks.extend(feeds);
        let sinks = Sinks(sinks);
        let registry = Arc::new(RwLock::new(Registry::builtin(KubernetesVersion::DEFAULT)));
        let shared = Arc::clone(&registry);
        // Through the registry, not the kinds: the selectable fields of custom resources come and go with definitions.
        let fields =
            move |resource: &_, object: &_| current(&shared).selectable_values(resource, object);
        Self {
            storage: Arc::new(Storage::new(compaction, Box::new(fields), Arc::new(sinks))),
            registry,
            peer: Mutex::default(),
            writers: Arc::default(),
            watchers,
            kubelets,
            leases,
            clock,
            entropy: Arc::new(Entropy::new(seed)),
            webhooks: Arc::default(),
            hooks: HookCache::default(),
            steps,
            policies: super::policies::PolicyCache::default(),
            allows_privileged: false,
            services: RwLock::new(ServiceRange::DEFAULT),
            data_log: None,
            signer: OnceLock::new(),
        }
    }

    /// Sets the signer of tokens of service accounts, unless there is one.
    pub fn set_signer(&self, signer: Arc<dyn ClaimsSigner>) {
        self.signer.get_or_init(|| signer);
    }

    /// Returns a signed token with `claims`, if there is a signer.
    pub fn sign(&self, claims: &Value) -> Option<String> {
        self.signer.get().map(|signer| signer.sign(claims))
    }

    /// Has the log on disk know what is in no change of an object. The changes of the store go to it as a feed.
    pub fn with_data_log(mut self, data_log: Option<Arc<DataLog>>) -> Self {
        self.data_log = data_log;
        self
    }

    /// Returns the handle to wait until changes are on the disk, if the state is kept in a log.
    pub fn durability(&self) -> Option<&Durability> {
        self.data_log()?.durability()
    }

    /// Returns the log on disk, if the state is kept in one.
    pub fn data_log(&self) -> Option<&DataLog> {
        self.data_log.as_deref()
    }

    /// Sets whether containers may be privileged.
    pub fn with_privileged_containers(mut self, allows_privileged: bool) -> Self {
        self.allows_privileged = allows_privileged;
        self
    }

    /// Returns the ranges of the addresses of services.
    pub fn service_range(&self) -> ServiceRange {
        *self.services.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the ranges of the addresses of services.
    pub(crate) fn set_service_range(&self, range: ServiceRange) {
        *self
            .services
            .write()
            .unwrap_or_else(PoisonError::into_inner) = range;
    }

    /// Serves the resources of `base`, beside those of definitions.
    pub fn with_base(self, base: Arc<Registry>) -> Self {
        self.set_registry(base);
        self
    }

    /// Returns the resources that exist now.
    pub fn registry(&self) -> Arc<Registry> {
        current(&self.registry)
    }

    /// Returns a function that returns them, without the rest of the backend.
    pub(crate) fn shared_registry(&self) -> impl Fn() -> Arc<Registry> + Send + Sync + use<> {
        let registry = Arc::clone(&self.registry);
        move || current(&registry)
    }

    /// Returns the resources that exist now, as a server of another version of Kubernetes serves them from the same store.
    pub fn registry_in(&self, kubernetes: KubernetesVersion) -> Arc<Registry> {
        let own = self.registry();
        if own.kubernetes() == kubernetes {
            return own;
        }
        let mut peer = self.peer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, made)) = &*peer
            && Arc::ptr_eq(of, &own)
            && made.kubernetes() == kubernetes
        {
            return Arc::clone(made);
        }
        let made = own.in_version(kubernetes);
        *peer = Some((own, Arc::clone(&made)));
        made
    }

    /// Returns the resources that exist now in the version of Kubernetes of a target.
    pub(super) fn registry_of(&self, target: &Target) -> Arc<Registry> {
        self.registry_in(target.resource.kubernetes)
    }

    /// Serves another version of Kubernetes from now on, and ends the watches of resources that it does not have. Other
    /// watches go on in the version in which they began. To be called in a transaction.
    pub(crate) fn serve_version(&self, kubernetes: KubernetesVersion) {
        let registry = self.registry().in_version(kubernetes);
        self.watchers.end_unserved(&registry);
        self.writers.insert(kubernetes);
        self.set_registry(registry);
        if let Some(log) = &self.data_log {
            log.replace();
        }
    }

    /// Returns a stored object in the form of `resource`, without the fields that its version of Kubernetes does not know.
    pub(crate) fn decoded(&self, resource: &ResourceType, object: Value) -> Value {
        if self.writers.has_only(resource.kubernetes) {
            return object;
        }
        resource.without_unknown_fields(object)
    }

    /// Returns a stored object as a client of the target reads it.
    pub(crate) fn api_object(&self, target: &Target, stored: &StoredObject) -> Value {
        self.decoded(&target.resource, target.api_object(stored))
    }

    /// Serves other resources from now on. To be called in a transaction, so that what is stored and what is served go
    /// together.
    pub(super) fn set_registry(&self, registry: Arc<Registry>) {
        *self
            .registry
            .write()
            .unwrap_or_else(PoisonError::into_inner) = registry;
    }

    /// Commits by `log` from now on, whose state replaces the present one, and serves the version `kubernetes`. Blocks the thread
    /// until the state is there.
    ///
    /// # Errors
    ///
    /// The log cannot be reached, or its state cannot be read.
    pub(crate) fn join(
        self: &Arc<Self>,
        kubernetes: KubernetesVersion,
        log: &Arc<dyn CommitLog>,
    ) -> Result<(), LogError> {
        self.set_registry(self.registry().without_definitions(kubernetes));
        self.writers.replace_with(kubernetes);
        self.storage.set_log(Arc::clone(log));
        let follower = Arc::new(BackendFollower::new(Arc::downgrade(self)));
        ask_blocking(|reply| log.start(follower, reply))
    }

    /// Resets the store to `foundation`, serves the version `kubernetes` without definitions, and lets `bootstrap` write
    /// further objects. Time and uids continue.
    pub fn reset(
        &self,
        kubernetes: KubernetesVersion,
        foundation: Option<&Foundation>,
        bootstrap: impl FnOnce(&mut Transaction<'_>),
    ) {
        // In the transaction: no request finds the old registry with the new store.
        self.storage.reset(foundation, |tx| {
            self.set_registry(self.registry().without_definitions(kubernetes));
            self.writers.replace_with(kubernetes);
            bootstrap(tx);
        });
    }

    /// Runs `work` with the store locked, and returns its result with all warnings. Repeats it after each webhook that
    /// it needs, or until a controller has created a missing object. `options` are those of the request.
    ///
    /// # Errors
    ///
    /// `work` or a webhook rejects the write, the object changes each time before webhooks have answered, or the log of the store
    /// fails.
    ///
    /// # Cancel safety
    ///
    /// If dropped, nothing is written, unless the store has a log outside of the process: what was sent to it is written.
    pub async fn write<T: WriteResult + Send>(
        &self,
        target: &Target,
        options: &impl AdmissionOptions,
        mut work: impl FnMut(&mut Attempt<'_, '_>) -> Result<T, AttemptError> + Send,
    ) -> Result<(T, Vec<String>), Status> {
        let mut progress = Progress::new(&self.clock, options);
        let mut waits = 0;
        loop {
            let committing = self.storage.commit(|tx| {
                let hooks = self.hooks.current(tx);
                work(&mut Attempt::new(self, tx, &mut progress, Some(hooks)))
            });
            let error = match committing.await {
                Ok((done, writes)) => {
                    return Ok((done.committed(&writes), progress.all_warnings()));
                }
                Err(CommitError::Log(error)) => return Err(log_failure(&error)),
                Err(CommitError::Rejected(error)) => error,
            };
            let question = match error {
                // Outside of the transaction: the controller needs the store's lock to write the missing object.
                AttemptError::NotYet(_) if waits < WAITS_MAX => {
                    sleep(WAIT * 2_u32.pow(waits)).await;
                    waits += 1;
                    continue;
                }
                AttemptError::Rejected(status) | AttemptError::NotYet(status) => {
                    return Err(status.after(&progress.all_warnings()));
                }
                AttemptError::NeedsWebhook(question) => question,
            };
            // Before the next call: an object that changes all the time would keep the webhooks busy for ever.
            if progress.restarts > RESTARTS_MAX {
                return Err(Status::stale(target.named(target.name())));
            }
            let dispatcher = Dispatcher {
                webhooks: &self.webhooks,
                entropy: &self.entropy,
                target,
                audit: &progress.audit,
                versions: &versions_of(&self.registry_of(target), target),
            };
            // The only await of a write with webhooks. The store is unlocked, and what was read may change: the next
            // attempt reads everything again.
            // On the heap, so that requests without webhooks are not as large.
            let answer = Box::pin(question.ask(dispatcher)).await?;
            progress.answers.push((question, answer));
        }
    }

    /// Runs `work` optimistically, while others write, and returns its result with all warnings. Returns `None` if it
    /// has to be repeated by [`write`](Self::write): the store is unchanged then.
    pub fn write_optimistically(
        &self,
        options: &impl AdmissionOptions,
        work: impl FnOnce(&mut Attempt<'_, '_>) -> Result<Outcome, AttemptError>,
    ) -> Option<Result<(Outcome, Vec<String>), Status>> {
        // A log has every write run beside others.
        if self.storage.log().is_some() {
            return None;
        }
        let mut progress = Progress::new(&self.clock, options);
        let done = self.storage.transact_optimistically(|tx| {
            let hooks = self.hooks.current(tx);
            work(&mut Attempt::new(self, tx, &mut progress, Some(hooks)))
        });
        match done {
            Ok((outcome, changes)) => {
                // The revisions were drawn at commit, after `work` had returned its outcome.
                Some(Ok((
                    outcome.with_stored_object(&changes),
                    progress.all_warnings(),
                )))
            }
            // The reads were confirmed, so that the rejection is final.
            Err(OptimisticError::Rejected(AttemptError::Rejected(status))) => {
                Some(Err(status.after(&progress.all_warnings())))
            }
            Err(
                // Not tried again optimistically: under contention a writer could lose every race.
                OptimisticError::Conflict
                | OptimisticError::Rejected(AttemptError::NeedsWebhook(_) | AttemptError::NotYet(_)),
            ) => None,
        }
    }

    /// Returns whether a controller makes the service accounts that pods have if they name none.
    pub fn awaits_accounts(&self) -> bool {
        self.steps.awaits_accounts
    }

    /// Runs `work` with the store locked, for a writer behind the API: no webhook is called. Blocks the thread if the store has a
    /// log.
    pub fn write_unreviewed<T: WriteResult>(
        &self,
        options: &impl AdmissionOptions,
        mut work: impl FnMut(&mut Attempt<'_, '_>) -> Result<T, AttemptError>,
    ) -> Result<T, Status> {
        let mut progress = Progress::new(&self.clock, options);
        let result = self
            .storage
            .commit_blocking(|tx| work(&mut Attempt::new(self, tx, &mut progress, None)));
        match result {
            Ok((done, writes)) => Ok(done.committed(&writes)),
            Err(CommitError::Log(error)) => Err(log_failure(&error)),
            Err(CommitError::Rejected(AttemptError::NeedsWebhook(_))) => {
                unreachable!("an attempt without webhooks asks none")
            }
            Err(CommitError::Rejected(
                AttemptError::Rejected(status) | AttemptError::NotYet(status),
            )) => Err(status),
        }
    }

    /// Ends every open watch, and every stream from a container.
    pub fn disconnect(&self) {
        self.watchers.disconnect();
        if let Some(kubelets) = &self.kubelets {
            kubelets.disconnect();
        }
    }

    /// Returns whether webhooks were configured at the last write.
    pub fn has_webhooks(&self) -> bool {
        self.hooks.has_some()
    }
}

// === impl Sinks ===

impl ChangeSink for Sinks {
    fn changed(&self, change: &Arc<Change>) {
        for sink in &self.0 {
            sink.changed(change);
        }
    }

    fn committed(&self) {
        for sink in &self.0 {
            sink.committed();
        }
    }

    fn reset(&self) {
        for sink in &self.0 {
            sink.reset();
        }
    }
}
