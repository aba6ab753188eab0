//! Reads one's own writes: a reconcile begins when the caches show what the one before it wrote.

use std::{
    any::TypeId,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::future::{BoxFuture, FutureExt, try_join_all};
use kube::{Client, Resource};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::{
    pending::{LostWrite, Pending, UnseenWrites},
    request::Request,
};
use crate::{
    factory::ScopedInformer,
    object::{Metadata, ObjectKey},
    shared_informer::{ConsistencyError, SharedInformer, WaitError},
};

/// Holds a reconcile back until the caches show the writes of the reconciles of that key before it.
///
/// A cache lags behind the server. A reconcile that counts the pods of its object right after one that made some may not see
/// them, and makes them again. A version that the server answered with is noted by [`wrote`](Self::wrote); [`wait`](Self::wait)
/// of the same key ends when the caches concerned show it or a later one. A write whose answer was lost is noted by
/// [`lost`](Self::lost); then the server is asked for the object, or, if its name is not known, for its present version.
///
/// [`Controller`](super::Controller)s have one by themselves. With other loops, such as kube-runtime's `Controller`, call `wait`
/// at the beginning of a reconcile, and `wrote` or `lost` after each write. A clone is another handle to the same gate.
///
/// # Memory
///
/// A version for each type that was written, for each key that was reconciled and not seen since.
///
/// # Source
///
/// KEP-5647, stale controller handling. There a reconcile is put off, and asks again; here it waits.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use informer::{ObjectKey, Scope, SharedInformer, controller::ConsistencyGate};
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube::Api;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let client = fakeserver::FakeServer::builder().build().client();
/// let informer = SharedInformer::<ConfigMap>::new(client.clone(), Scope::All);
/// informer.start();
/// let gate = ConsistencyGate::new().with_informer(&informer);
/// let key = ObjectKey::new("default", "web");
///
/// let api: Api<ConfigMap> = Api::namespaced(client, "default");
/// let mut map = ConfigMap::default();
/// map.metadata.name = Some("made-for-web".to_owned());
/// gate.wrote(&key, &api.create(&Default::default(), &map).await?);
///
/// gate.wait(&key, Duration::from_secs(10)).await?;
/// assert!(informer.lister().namespaced("default").get("made-for-web").is_ok());
/// # Ok(())
/// # }
/// ```
#[doc(alias = "ConsistencyStore")]
#[derive(Clone, Default)]
pub struct ConsistencyGate(Arc<Shared>);

/// A wait for one's own writes that ended without success.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GateError {
    /// A cache did not show a write in time, or stopped. Waiting again is useful unless it stopped.
    #[error("a cache is behind a write of this reconcile")]
    Behind(#[from] WaitError),
    /// The answer to a write was lost, and the server does not say how new it is. Waiting again is useful.
    #[error("it is unknown how much a cache has to show after a lost answer")]
    Unknown(#[from] ConsistencyError),
    /// The answer to a write was lost, and the server does not say what became of the object. Waiting again is useful.
    #[error("it is unknown what became of a write whose answer was lost")]
    Unanswered(#[source] Box<kube::Error>),
}

#[derive(Default)]
struct Shared {
    caches: Mutex<Vec<Arc<dyn Cache>>>,
    pending: Mutex<Pending>,
}

/// A cache of one type.
trait Cache: Send + Sync {
    fn of(&self) -> TypeId;

    /// Completes when the cache shows a write.
    fn shows(&self, written: Metadata, limit: Duration) -> BoxFuture<'_, Result<(), GateError>>;

    /// Completes when the cache shows what became of a write.
    fn shows_lost(&self, write: LostWrite, limit: Duration)
    -> BoxFuture<'_, Result<(), GateError>>;
}

/// The informers of one type, by namespace.
struct Informers<K, F> {
    informer_of: F,
    /// Asks the server for an object by namespace and name.
    ask: Option<Box<LookupFn>>,
    kind: std::marker::PhantomData<fn() -> K>,
}

type LookupFn =
    dyn Fn(LostWrite) -> BoxFuture<'static, Result<Option<Metadata>, kube::Error>> + Send + Sync;

// === impl ConsistencyGate ===

impl ConsistencyGate {
    /// Creates a gate that knows no cache, and lets everything pass.
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits for writes of the type `K`, too, until this informer shows them. It should select all that is written.
    #[must_use]
    pub fn with_informer<K>(self, informer: &SharedInformer<K>) -> Self
    where
        K: Resource + Send + Sync + 'static,
    {
        let informer = informer.clone();
        self.add::<K, _>(move |_: &str| Some(informer.clone()), None);
        self
    }

    /// Waits for writes of the type `K`, too, until the informer of their namespace shows them.
    pub(super) fn add_scoped<K>(&self, client: &Client, informers: &ScopedInformer<K>)
    where
        K: Resource<DynamicType: Default> + DeserializeOwned + Send + Sync + 'static,
    {
        let (client, informers) = (client.clone(), informers.clone());
        let ask = move |write: LostWrite| {
            let client = client.clone();
            let answer = async move {
                let name = write.name.unwrap_or_default();
                Request::<K>::new(&client, &write.namespace)
                    .metadata(&name)
                    .await
            };
            answer.boxed()
        };
        self.add::<K, _>(
            move |namespace: &str| informers.informer_of(namespace),
            Some(Box::new(ask)),
        );
    }

    /// Notes what the server answered to a write that was made for `key`; to a deletion, the object of the answer.
    ///
    /// Of a type without a cache nothing is noted.
    pub fn wrote<K: Resource + 'static>(&self, key: &ObjectKey, answer: &K) {
        if self.knows(TypeId::of::<K>()) {
            let written = Metadata::of(answer);
            self.pending().answered(key, TypeId::of::<K>(), written);
        }
    }

    /// Notes that the answer to a write in `namespace` was lost: it may have been carried out.
    pub fn lost<K: Resource + 'static>(&self, key: &ObjectKey, namespace: &str) {
        self.lost_of::<K>(key, namespace, None);
    }

    /// Notes the same of a write to an object whose name is known.
    pub(super) fn lost_of<K: Resource + 'static>(
        &self,
        key: &ObjectKey,
        namespace: &str,
        name: Option<&str>,
    ) {
        if self.knows(TypeId::of::<K>()) {
            let write = LostWrite {
                namespace: namespace.into(),
                name: name.map(Into::into),
            };
            self.pending().lost(key, TypeId::of::<K>(), write);
        }
    }

    /// Waits until the caches show all that was noted for `key`, at most for `limit` each.
    ///
    /// # Errors
    ///
    /// Not in time: retry the reconcile later. What was noted stays noted.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if dropped.
    pub async fn wait(&self, key: &ObjectKey, limit: Duration) -> Result<(), GateError> {
        let Some(unseen) = self.pending().of(key) else {
            return Ok(());
        };
        self.see(&unseen, limit).await?;
        self.pending().seen(key, &unseen);
        Ok(())
    }

    /// Returns the number of keys whose next reconcile has something to wait for.
    pub fn pending_count(&self) -> usize {
        self.pending().len()
    }

    async fn see(&self, unseen: &UnseenWrites, limit: Duration) -> Result<(), GateError> {
        let caches = self.caches().clone();
        let waits = unseen.iter().filter_map(|(of, writes)| {
            let cache = caches.iter().find(|cache| cache.of() == *of)?;
            let answered = writes.answered.iter().cloned();
            let lost = writes.lost.iter().cloned();
            let answered = answered.map(|written| cache.shows(written, limit));
            Some(answered.chain(lost.map(|write| cache.shows_lost(write, limit))))
        });
        try_join_all(waits.flatten()).await?;
        Ok(())
    }

    fn add<K, F>(&self, informer_of: F, ask: Option<Box<LookupFn>>)
    where
        K: Send + Sync + 'static,
        F: Fn(&str) -> Option<SharedInformer<K>> + Send + Sync + 'static,
    {
        let cache = Informers::<K, F> {
            informer_of,
            ask,
            kind: std::marker::PhantomData,
        };
        self.caches().push(Arc::new(cache));
    }

    fn knows(&self, of: TypeId) -> bool {
        self.caches().iter().any(|cache| cache.of() == of)
    }

    fn caches(&self) -> MutexGuard<'_, Vec<Arc<dyn Cache>>> {
        self.0.caches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.0
            .pending
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for ConsistencyGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConsistencyGate")
            .field("pending_count", &self.pending_count())
            .finish_non_exhaustive()
    }
}

// === impl Informers ===

impl<K, F> Cache for Informers<K, F>
where
    K: Send + Sync + 'static,
    F: Fn(&str) -> Option<SharedInformer<K>> + Send + Sync,
{
    fn of(&self) -> TypeId {
        TypeId::of::<K>()
    }

    fn shows(&self, written: Metadata, limit: Duration) -> BoxFuture<'_, Result<(), GateError>> {
        let wait = async move {
            let Some(informer) = (self.informer_of)(written.key.namespace()) else {
                return Ok(());
            };
            match informer.shows(&written, limit).await {
                // Another object has the name: the cache has seen the end of the one that was written.
                Ok(_) | Err(WaitError::OtherObject { .. }) => Ok(()),
                Err(error) => Err(GateError::Behind(error)),
            }
        };
        wait.boxed()
    }

    fn shows_lost(
        &self,
        write: LostWrite,
        limit: Duration,
    ) -> BoxFuture<'_, Result<(), GateError>> {
        let wait = async move {
            let Some(informer) = (self.informer_of)(&write.namespace) else {
                return Ok(());
            };
            let Some((ask, name)) = self.ask.as_ref().zip(write.name.as_deref()) else {
                let version = informer.latest_version(limit).await?;
                return Ok(informer.wait_until(&version, limit).await?);
            };
            let key = ObjectKey::new(&*write.namespace, name);
            let answer = timeout(limit, ask(write.clone())).await;
            let answer = answer.map_err(|_| informer.not_told_within(limit))?;
            match answer.map_err(|error| GateError::Unanswered(Box::new(error)))? {
                Some(present) => self.shows(present, limit).await,
                None => Ok(informer.lacks(&key, limit).await?),
            }
        };
        wait.boxed()
    }
}
