//! Stage 2: keeps a `ReflectorStore` equal to the server by list and watch.
//!
//! A [`Reflector`] lists a selection, writes the whole of it to its store, then watches from the list's version on and
//! writes each change. It runs until it is stopped. A failure is retried from the last version if that is enough,
//! otherwise from a new list, and after a delay that grows until the server has proved healthy.
//!
//! `machine`, a pure function of inputs and their times, decides the next action; `driver` performs it, by a `connection` to
//! the server and a `reporter` to observer and log. The machine's page has the states and transitions.
//! [`watch`](crate::watch) drives the same machine in two other modes.
//!
//! # Failures
//!
//! What a failure leads to, unless an [error policy](Reflector::with_error_policy) says otherwise:
//!
//! | [`FailureCause`] | a list fails | a streaming list fails | a watch fails |
//! |---|---|---|---|
//! | `Expired`, `TooLargeVersion` | again at once, without a version | again at once, without a version | delay, relist |
//! | `Throttled`, `Refused` | delay, again | delay, again | delay, same watch |
//! | `Unavailable`, `Transport`, `TimedOut` | delay, again | delay, again; then a list | at once after a good stream, else delay, same watch; relist every fifth time |
//! | `Forbidden`, `NotFound` | delay, again; after three, pause | a list at once | delay, same watch; relist every second time; after three, pause |
//! | `Invalid` | delay, again | a list at once, and for a while | delay, same watch; relist every second time |
//! | `Unreadable` | delay, again | delay, again; then a list | delay, relist |
//! | `EndedEarly` | | again, and then a list for a while | delay, same watch; relist every second time |
//! | `Undecodable` | the object is left out | the object is left out | the object is left out |
//! | any other | delay, again | delay, again; then a list | delay, same watch; relist every second time |
//!
//! A later page of a list that fails in passing is asked for again three times. Delays grow until the server has proved
//! healthy, and are at least what it asked for by `Retry-After`.

mod failure_cause;
mod observer;
mod options;
mod policy;
mod control;
mod gate;
mod machine;
mod staging;
mod driver;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use self::policy::ErrorPolicy;
use crate::{
    held_objects::{HeldObjects, NoHeldObjects},
    list_watch::ListWatch,
    object::ResourceVersion,
};

#[cfg(feature = "_fuzzing")]
pub(crate) use self::machine::{Chance, Chances};
pub use self::{
    control::ReflectorControl,
    failure_cause::FailureCause,
    gate::ListGate,
    observer::{Failure, ListSummary, Phase, ReflectorObserver, Request, WatchSummary},
    options::{PauseOptions, ReflectorOptions, WhenRemoved},
    policy::Decision,
};
pub(crate) use self::{
    driver::{Driver, Progress},
    machine::{EventKind, Mode},
};
pub use crate::{
    backoff::BackoffOptions,
    store::{Delta, ReflectorStore, Replacement, StoreClosed},
};

/// Keeps a store equal to the server.
///
/// # Examples
///
/// ```
/// use informer::{Scope, http::HttpListWatch, reflector::{Reflector, ReflectorOptions, ReflectorStore}};
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
/// While listing, the new state is held beside the store's until it is complete; objects that [are
/// held already](Self::with_held_objects) are shared between the two.
#[doc(alias = "NewReflector")]
#[doc(alias = "ListAndWatchWithContext")]
pub struct Reflector<K, L, S> {
    list_watch: L,
    store: S,
    options: ReflectorOptions,
    held: Arc<dyn HeldObjects<K>>,
    observer: Arc<dyn ReflectorObserver>,
    policy: ErrorPolicy,
    control: ReflectorControl,
    gate: Option<ListGate>,
    last_version: ResourceVersion,
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
            held: Arc::new(NoHeldObjects),
            observer: Arc::new(()),
            policy: ErrorPolicy::default(),
            control: ReflectorControl::new(),
            gate: None,
            last_version: ResourceVersion::unknown(),
        }
    }

    /// Resumes from a store that holds the state at `version`: an older one is accepted only if the server says that it
    /// is its most recent.
    #[must_use]
    pub fn with_last_version(mut self, version: ResourceVersion) -> Self {
        self.last_version = version;
        self
    }

    /// Uses the handles that `held` has instead of decoding the same version again.
    #[must_use]
    pub fn with_held_objects(mut self, held: Arc<dyn HeldObjects<K>>) -> Self {
        self.held = held;
        self
    }

    /// Reports to `observer`.
    #[must_use]
    pub fn with_observer(mut self, observer: Arc<dyn ReflectorObserver>) -> Self {
        self.observer = observer;
        self
    }

    /// Asks `policy` about every failure: of a request, of a stream, of an object that cannot be decoded.
    ///
    /// The policy is called from the reflector's task and must not block; the observer receives the failure afterwards. A policy that
    /// panics counts as [`Decision::Default`].
    #[must_use]
    pub fn with_error_policy(
        mut self,
        policy: impl Fn(&Failure<'_>) -> Decision + Send + Sync + 'static,
    ) -> Self {
        self.policy = ErrorPolicy::new(policy);
        self
    }

    /// Is paused and resumed by `control`. One control is for one reflector.
    #[must_use]
    pub fn with_control(mut self, control: ReflectorControl) -> Self {
        self.control = control;
        self
    }

    /// Waits for its turn at `gate` before it asks for a whole state.
    #[must_use]
    pub fn with_list_gate(mut self, gate: ListGate) -> Self {
        self.gate = Some(gate);
        self
    }

    /// Lists and watches until `stop` fires, the store is closed, or the error policy says [`Decision::Stop`].
    ///
    /// Never gives up by itself: a failure is reported to the observer and retried.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the request in flight; the store keeps what was written to it, in order and without a
    /// part of a list. No task remains in the background.
    pub async fn run(self, stop: CancellationToken) {
        self.into_driver(Mode::Mirror).run(stop).await;
    }

    /// Returns the loop of [`run`](Self::run), to be driven step by step.
    pub(crate) fn into_driver(self, mode: Mode) -> Driver<K, L, S> {
        Driver::new(self, mode)
    }
}

impl<K, L, S> std::fmt::Debug for Reflector<K, L, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reflector")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
