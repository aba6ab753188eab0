//! Stage 2: keeps a `ReflectorStore` equal to the server by list and watch.
//!
//! A [`Reflector`] lists a selection, writes the whole of it to its store, then watches from the list's version on and
//! writes each change. It goes on for ever: whatever fails is tried again, from the last version where that is enough, from
//! a new list where it is not, and after a delay that grows until the server has proved healthy.
//!
//! What to do next is decided by `machine`, a pure function of what was heard and when; `driver` does it.
//! The machine's page has the states and transitions.

mod cause;
mod observer;
mod options;
mod resume;
mod machine;
mod staging;
mod driver;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::{
    known::{Known, KnownNothing},
    list_watch::ListWatch,
    store::ReflectorStore,
};

pub use self::{
    cause::Cause,
    observer::{Failure, Phase, ReflectorObserver, Request},
    options::ReflectorOptions,
};

/// Keeps a store equal to the server.
///
/// # Examples
///
/// ```
/// use informer::{
///     http::{HttpListWatch, Scope},
///     reflector::{Reflector, ReflectorOptions},
///     store::ReflectorStore,
/// };
/// use k8s_openapi::api::core::v1::Pod;
/// use tokio_util::sync::CancellationToken;
///
/// # async fn example(client: kube::Client, store: impl ReflectorStore<Pod>) {
/// let pods = HttpListWatch::new(client, Scope::All);
/// let stop = CancellationToken::new();
/// Reflector::new(pods, store, ReflectorOptions::default()).run(stop).await;
/// # }
/// ```
///
/// # Memory
///
/// While listing, the new state is held beside the store's until it is complete; objects that
/// [are known](Self::with_known) are shared between the two.
#[doc(alias = "NewReflector")]
pub struct Reflector<K, L, S> {
    list_watch: L,
    store: S,
    options: ReflectorOptions,
    known: Arc<dyn Known<K>>,
    observer: Arc<dyn ReflectorObserver>,
}

// === impl Reflector ===

impl<K, L, S> Reflector<K, L, S>
where
    K: Send + Sync + 'static,
    L: ListWatch<K>,
    S: ReflectorStore<K>,
{
    /// A reflector of what `list_watch` selects into `store`.
    pub fn new(list_watch: L, store: S, options: ReflectorOptions) -> Self {
        Self {
            list_watch,
            store,
            options,
            known: Arc::new(KnownNothing),
            observer: Arc::new(()),
        }
    }

    /// Uses the handles that `known` holds instead of decoding the same version again.
    #[must_use]
    pub fn with_known(mut self, known: Arc<dyn Known<K>>) -> Self {
        self.known = known;
        self
    }

    /// Reports to `observer`.
    #[must_use]
    pub fn with_observer(mut self, observer: Arc<dyn ReflectorObserver>) -> Self {
        self.observer = observer;
        self
    }

    /// Lists and watches until `stop` fires or the store is closed.
    ///
    /// Never gives up by itself: what goes wrong is reported to the observer and tried again.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the request in flight; the store keeps what was written to it, in order and without a
    /// part of a list. Nothing goes on in the background.
    pub async fn run(self, stop: CancellationToken) {
        let mut driver = driver::Driver::new(self);
        tokio::select! {
            biased;
            () = stop.cancelled() => tracing::debug!("reflector stopped"),
            closed = driver.drive() => tracing::debug!(error = %closed, "reflector ended"),
        }
    }
}

impl<K, L, S> std::fmt::Debug for Reflector<K, L, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reflector")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
