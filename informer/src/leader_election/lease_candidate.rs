//! A candidate that an API server may elect.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use kube::{
    Api,
    api::{DeleteParams, PostParams},
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use serde_json::{Value, json};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::{
    LeaderElectionError, LeaseLock, WallClock,
    candidacy::{Candidacy, ObservedCandidate, Step},
    record::micro_time,
};
use crate::{
    HandlerFuncs, Scope, SharedInformer, entropy::fnv1a, http::HttpListWatch,
    reflector::ReflectorOptions,
};

/// The time limit of a request, within which an answer to the server counts.
const REQUEST_LIMIT: Duration = Duration::from_secs(5);
/// The pause after a request that failed.
const RETRY: Duration = Duration::from_secs(2);
/// The time after which a warning says that candidates cannot be read.
const SYNC_LIMIT: Duration = Duration::from_secs(30);
/// The strategy that API servers know.
const OLDEST_EMULATION_VERSION: &str = "OldestEmulationVersion";

/// A candidate that the API server may elect: one `LeaseCandidate` object, which is renewed whenever the server asks.
///
/// [`LeaderElector::coordinated`](super::LeaderElector::coordinated) makes it stand for as long as it competes and leads. One that
/// has an elector of its own [runs](Self::run) it.
///
/// A candidate needs the feature gate `CoordinatedLeaderElection`, the version `coordination.k8s.io/v1beta1`, and the rights to `list`,
/// `watch`, `create`, `update` and `delete` lease candidates in the namespace of the lease.
///
/// Its times are the server's, which it learns from what the server writes: clocks need not agree.
#[doc(alias = "NewCandidate")]
#[doc(alias = "NewCandidateWithConfig")]
#[doc(alias = "CandidateConfig")]
#[derive(Clone, Debug)]
pub struct LeaseCandidate {
    lock: LeaseLock,
    identity: String,
    binary_version: String,
    emulation_version: String,
    strategy: String,
    clock: WallClock,
}

// === impl LeaseCandidate ===

impl LeaseCandidate {
    /// A candidate for `lock` by the name of `identity`, which is that of its object: the pod's name, say. `binary_version` is a
    /// version of semver.org, which it emulates, too.
    ///
    /// # Errors
    ///
    /// [`LeaderElectionError::NoIdentity`] or [`LeaderElectionError::NoVersion`], if that is empty.
    pub fn new(
        lock: LeaseLock,
        identity: impl Into<String>,
        binary_version: impl Into<String>,
    ) -> Result<Self, LeaderElectionError> {
        let (identity, binary_version) = (identity.into(), binary_version.into());
        if identity.is_empty() {
            return Err(LeaderElectionError::NoIdentity);
        }
        if binary_version.is_empty() {
            return Err(LeaderElectionError::NoVersion);
        }
        Ok(Self {
            lock,
            identity,
            emulation_version: binary_version.clone(),
            binary_version,
            strategy: OLDEST_EMULATION_VERSION.to_owned(),
            clock: WallClock::system(),
        })
    }

    /// Sets the version whose behaviour it shows. Of several candidates the one with the oldest leads.
    #[doc(alias = "EmulationVersion")]
    #[must_use]
    pub fn with_emulation_version(mut self, version: impl Into<String>) -> Self {
        self.emulation_version = version.into();
        self
    }

    /// Sets the strategy of the election in place of `OldestEmulationVersion`. The server leaves others to a controller of the user's.
    #[doc(alias = "CoordinatedLeaseStrategy")]
    #[must_use]
    pub fn with_strategy(mut self, strategy: impl Into<String>) -> Self {
        self.strategy = strategy.into();
        self
    }

    /// Sets the time of day that it writes before it knows the server's.
    #[must_use]
    pub fn with_clock(mut self, clock: WallClock) -> Self {
        self.clock = clock;
        self
    }

    pub(super) fn lock(&self) -> &LeaseLock {
        &self.lock
    }

    /// The name of this candidate.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// Keeps the object there, and answers the server, until `stop`. What fails is logged and tried again. The object stays: the
    /// server passes it over once it is silent, and deletes it half an hour later.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with time enabled.
    ///
    /// # Cancel safety
    ///
    /// If dropped, it stands no more.
    #[doc(alias = "Run")]
    pub async fn run(&self, stop: CancellationToken) {
        let (sender, mut receiver) = watch::channel(None);
        let Some(informer) = self.informer(sender) else {
            return;
        };
        informer.start();
        let work = async {
            while let Err(error) = informer.wait_for_cache_sync(SYNC_LIMIT).await {
                warn!(
                    key = self.lock.key(), %error,
                    "cannot read lease candidates, which take the feature gate CoordinatedLeaderElection"
                );
            }
            self.stand(&mut receiver).await;
        };
        stop.run_until_cancelled(work).await;
        informer.shutdown().await;
    }

    /// Deletes the object, so that the server need not wait for its answer.
    pub(super) async fn withdraw(&self) {
        let (key, params) = (self.lock.key(), DeleteParams::default());
        match timeout(REQUEST_LIMIT, self.api().delete(&self.identity, &params)).await {
            Ok(Ok(_)) => debug!(key, "stands no more"),
            Ok(Err(error)) => debug!(key, %error, "cannot delete the candidate"),
            Err(_) => debug!(key, "no answer to deleting the candidate"),
        }
    }

    /// Returns an informer of the object alone, which tells `receiver`.
    fn informer(
        &self,
        receiver: watch::Sender<Option<Arc<DynamicObject>>>,
    ) -> Option<SharedInformer<DynamicObject>> {
        let (client, namespace, _) = self.lock.parts();
        let scope = Scope::Namespace(namespace.to_owned());
        let list_watch = HttpListWatch::new_with(client, scope, &resource())
            .with_fields(format!("metadata.name={}", self.identity));
        let options = ReflectorOptions {
            // It is one object: an answer that takes longer than that to a write has been lost.
            list_timeout: REQUEST_LIMIT,
            initial_events_timeout: REQUEST_LIMIT,
            initial_events_silence: REQUEST_LIMIT,
            header_timeout: REQUEST_LIMIT,
            // Candidates spread by their names, as their electors do.
            seed: Some(fnv1a(&self.identity)),
            ..ReflectorOptions::default()
        };
        let informer = SharedInformer::builder(list_watch)
            .with_name("lease candidate")
            .with_options(options)
            .build();
        let informer = informer
            .inspect_err(|error| warn!(%error, "cannot watch lease candidates"))
            .ok()?;
        let [added, updated, deleted] = [receiver.clone(), receiver.clone(), receiver];
        let handler = HandlerFuncs::<DynamicObject>::new()
            .with_add(move |object, _| drop(added.send_replace(Some(Arc::clone(object.get())))))
            .with_update(move |_, object| {
                drop(updated.send_replace(Some(Arc::clone(object.get()))));
            })
            .with_delete(move |_| drop(deleted.send_replace(None)));
        informer.add_handler(handler).detach();
        Some(informer)
    }

    /// Writes the object as the core decides, for ever.
    async fn stand(&self, receiver: &mut watch::Receiver<Option<Arc<DynamicObject>>>) {
        let mut candidacy = Candidacy::default();
        let mut held = receiver.borrow_and_update().clone();
        loop {
            let (now, seen) = (Instant::now(), held.as_deref().map(seen));
            let until = match candidacy.step(now, self.clock.now(), seen) {
                Step::Rest { until } => until,
                Step::Write { renewed } => match self.write(held.as_deref(), renewed).await {
                    Ok(object) => {
                        let time = server_time(&object);
                        candidacy.on_written(Instant::now(), renewed, seen, time);
                        held = Some(Arc::new(object));
                        continue;
                    }
                    Err(error) => {
                        let key = self.lock.key();
                        if error.is_conflict() {
                            debug!(key, "the server has just written the lease candidate");
                        } else {
                            warn!(key, %error, "cannot write the lease candidate");
                        }
                        Instant::now() + RETRY
                    }
                },
            };
            tokio::select! {
                biased;
                Ok(()) = receiver.changed() => held.clone_from(&receiver.borrow_and_update()),
                () = sleep_until(until) => {}
            }
        }
    }

    async fn write(
        &self,
        held: Option<&DynamicObject>,
        renewed: Timestamp,
    ) -> Result<DynamicObject, WriteError> {
        let params = PostParams::default();
        let (api, (_, namespace, lease_name)) = (self.api(), self.lock.parts());
        let spec = json!({
            "leaseName": lease_name,
            "binaryVersion": self.binary_version,
            "emulationVersion": self.emulation_version,
            "strategy": self.strategy,
            "renewTime": micro_time(renewed),
        });
        let written = async {
            if let Some(held) = held {
                let mut object = held.clone();
                put(&mut object.data["spec"], spec);
                api.replace(&self.identity, &params, &object).await
            } else {
                let object = DynamicObject::new(&self.identity, &resource()).within(namespace);
                let object = object.data(json!({"spec": spec}));
                api.create(&params, &object).await
            }
        };
        let written = timeout(REQUEST_LIMIT, written).await;
        Ok(written.map_err(|_| WriteError::NoAnswer)??)
    }

    fn api(&self) -> Api<DynamicObject> {
        let (client, namespace, _) = self.lock.parts();
        Api::namespaced_with(client, namespace, &resource())
    }
}

/// The reason why a write failed. It may pass.
#[derive(Debug, thiserror::Error)]
enum WriteError {
    #[error(transparent)]
    Server(#[from] kube::Error),
    #[error("no answer in time")]
    NoAnswer,
}

// === impl WriteError ===

impl WriteError {
    /// Returns whether the server has written or created the object since it was read.
    fn is_conflict(&self) -> bool {
        matches!(self, Self::Server(kube::Error::Api(status)) if status.code == 409)
    }
}

fn resource() -> ApiResource {
    let kind = GroupVersionKind::gvk("coordination.k8s.io", "v1beta1", "LeaseCandidate");
    ApiResource::from_gvk(&kind)
}

fn seen(object: &DynamicObject) -> ObservedCandidate {
    let pinged = object.data["spec"]["pingTime"].as_str();
    ObservedCandidate {
        pinged: pinged.and_then(|time| time.parse().ok()),
    }
}

/// Returns the latest time in the metadata of an object, which the server has written.
fn server_time(object: &DynamicObject) -> Option<Timestamp> {
    let metadata = &object.metadata;
    let created = metadata.creation_timestamp.iter();
    let managed = metadata.managed_fields.iter().flatten();
    let managed = managed.filter_map(|entry| entry.time.as_ref());
    created.chain(managed).map(|time| time.0).max()
}

/// Sets the members of `spec` in an object's own.
fn put(own: &mut Value, spec: Value) {
    match (own, spec) {
        (Value::Object(own), Value::Object(spec)) => own.extend(spec),
        (own, spec) => *own = spec,
    }
}
