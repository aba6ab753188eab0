//! A controller made of `informer`: two informers, a work queue, and writes with resource versions.

use std::{sync::Arc, time::Duration};

use informer::{
    HandlerRegistration, Lister, ObjectKey, Scope, SharedInformer,
    discovery::{CachedDiscovery, DiscoveryClient, GroupVersion},
    workqueue::{
        Action, Enqueue, OwnerKind, RateLimiter, WorkQueue, WorkQueueOptions, Workers,
        WorkersOptions,
    },
};
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, api::PostParams};
use thiserror::Error;
use tokio::time::Instant;

use super::expected_copies::Original;

/// A delay so that time passes: the run would stand still where a remembered failure costs no request.
const AS_GOOD_AS_AT_ONCE: Duration = Duration::from_millis(1);
const WORKERS: usize = 2;
/// The time limit of a reconciliation, which is retried then.
const RECONCILE_LIMIT: Duration = Duration::from_secs(30);

/// Keeps a copy of each config map.
pub(super) struct CopyController<K> {
    queue: WorkQueue<ObjectKey>,
    copies: SharedInformer<Secret>,
    work: Arc<Work<K>>,
    /// The registrations of the handlers that fill the queue.
    feeding: Vec<HandlerRegistration>,
    workers: Option<Workers<ObjectKey>>,
}

/// The state that reconciliations share.
struct Work<K> {
    originals: SharedInformer<K>,
    originals_lister: Lister<K>,
    copies: SharedInformer<Secret>,
    copies_lister: Lister<Secret>,
    client: kube::Client,
    discovery: CachedDiscovery,
    on_failure: OnFailure,
}

/// The reaction of a controller to a failure. All but the first are seeded bugs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnFailure {
    /// It retries with a growing backoff.
    #[default]
    BackOff,
    /// It retries at once.
    RetryAtOnce,
    /// It does not retry.
    Forget,
}

/// A rate limiter without limits.
struct NoDelay;

/// The failure of a reconciliation, which is retried.
#[derive(Debug, Error)]
enum CopyError {
    #[error("the server does not say that it has secrets")]
    NoSecrets,
    #[error("a cache is not complete")]
    Incomplete,
    #[error("a write failed")]
    Write(#[source] kube::Error),
}

// === impl CopyController ===

impl<K: Send + Sync + 'static> CopyController<K> {
    /// Creates a controller of the objects that `originals` mirrors. It does nothing before its start.
    pub(super) fn new(
        originals: &SharedInformer<K>,
        client: kube::Client,
        on_failure: OnFailure,
    ) -> Self {
        let queue = match on_failure {
            OnFailure::RetryAtOnce => {
                WorkQueue::with_options(WorkQueueOptions::new().with_rate_limiter(NoDelay))
            }
            OnFailure::BackOff | OnFailure::Forget => WorkQueue::new(),
        };
        let copies = SharedInformer::new(client.clone(), Scope::All);
        let owner = OwnerKind::new("", "ConfigMap");
        let feeding = vec![
            originals.add_handler(Enqueue::for_object(&queue)),
            copies.add_handler(Enqueue::for_owner(&queue, owner)),
        ];
        let work = Work {
            originals: originals.clone(),
            originals_lister: originals.lister(),
            copies_lister: copies.lister(),
            copies: copies.clone(),
            discovery: CachedDiscovery::new(DiscoveryClient::new(client.clone())),
            client,
            on_failure,
        };
        Self {
            queue,
            copies,
            work: Arc::new(work),
            feeding,
            workers: None,
        }
    }

    pub(super) fn start(&mut self) {
        self.copies.start();
        let work = Arc::clone(&self.work);
        let options = WorkersOptions::new(WORKERS).with_timeout(RECONCILE_LIMIT);
        self.workers = Some(Workers::start(&self.queue, options, move |key| {
            let work = Arc::clone(&work);
            async move { work.reconcile(&key).await }
        }));
    }

    /// Stops the controller and waits until it has stopped.
    pub(super) async fn stop(&mut self) {
        self.feeding.clear();
        if let Some(workers) = self.workers.take() {
            workers.abort().await;
        }
        self.copies.shutdown().await;
    }
}

// === impl NoDelay ===

impl RateLimiter<ObjectKey> for NoDelay {
    fn when(&mut self, _: &ObjectKey, _: Instant) -> Duration {
        AS_GOOD_AS_AT_ONCE
    }

    fn forget(&mut self, _: &ObjectKey) {}

    fn num_requeues(&self, _: &ObjectKey, _: Instant) -> u32 {
        0
    }
}

// === impl Work ===

impl<K: Send + Sync + 'static> Work<K> {
    async fn reconcile(&self, key: &ObjectKey) -> Result<Action, CopyError> {
        match self.copy(key).await {
            Err(_) if self.on_failure == OnFailure::Forget => Ok(Action::AwaitChange),
            outcome => outcome.map(|()| Action::AwaitChange),
        }
    }

    async fn copy(&self, key: &ObjectKey) -> Result<(), CopyError> {
        let core = GroupVersion::new("", "v1");
        let served = self.discovery.group_version(&core).await.found();
        let served = served.ok_or(CopyError::NoSecrets)?;
        if !served
            .iter()
            .any(|resource| resource.resource.resource == "secrets")
        {
            return Err(CopyError::NoSecrets);
        }
        // A young copy may be missing in its cache, and would be created twice.
        let originals = self.originals.wait_for_cache_sync(RECONCILE_LIMIT).await;
        let copies = self.copies.wait_for_cache_sync(RECONCILE_LIMIT).await;
        originals.and(copies).map_err(|_| CopyError::Incomplete)?;
        let (namespace, name) = (key.namespace(), key.name());
        let original = self.originals_lister.namespaced(namespace).get(name);
        // A deleted original takes its copy with it.
        let Ok(original) = original else {
            return Ok(());
        };
        let original = Original {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            uid: original.uid().to_owned(),
            version: original.resource_version().as_str().to_owned(),
        };
        let found = self.copies_lister.namespaced(namespace).get(name);
        let found = found.map(|copy| Arc::clone(copy.get())).ok();
        let api: Api<Secret> = Api::namespaced(self.client.clone(), namespace);
        let parameters = PostParams::default();
        let mut copy = original.copy();
        let written = match found {
            Some(found) if original.is_copied_by(&found) => return Ok(()),
            Some(found) => {
                // If the copy has changed, this is a conflict, and nothing is overwritten.
                copy.metadata
                    .resource_version
                    .clone_from(&found.metadata.resource_version);
                copy.metadata.uid.clone_from(&found.metadata.uid);
                api.replace(name, &parameters, &copy).await
            }
            None => api.create(&parameters, &copy).await,
        };
        written.map(|_| ()).map_err(CopyError::Write)
    }
}
