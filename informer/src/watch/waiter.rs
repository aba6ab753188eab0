//! Waits for conditions on a selection, one after the other, without a gap between them.

use std::{fmt, time::Duration};

use tokio::time::{Instant, timeout_at};

use super::{
    LastState, ObjectState, Selection, UntilError, UntilTimeout, WatchOptions, selection::Change,
};
use crate::{
    list_watch::{ListWatch, ListWatchError},
    object::{DecodeError, ObjectKey},
    reflector::{Driver, FailureCause, Mode, Progress, Reflector},
    store::{Delta, ReflectorStore, StoreClosed},
};

/// The longest limit of a wait: the clock's arithmetic is safe up to it.
const LIMIT_MAX: Duration = Duration::from_hours(24 * 365 * 30);

/// Waits for conditions on a selection, one after the other, without a gap between them.
///
/// The first wait asks for the present state; each later one continues where the one before ended, and checks that
/// state first. Between waits, changes stay with the server: after a long pause the state is requested again.
///
/// # Examples
///
/// ```
/// use std::{convert::Infallible, time::Duration};
///
/// use informer::{Scope, http::HttpListWatch, watch::Waiter};
/// use k8s_openapi::api::core::v1::Namespace;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let client = fakeserver::FakeServer::builder().build().client();
/// let mut namespaces = Waiter::new(HttpListWatch::<Namespace>::new(client, Scope::All));
/// namespaces
///     .until(Duration::from_secs(10), |present| Ok::<_, Infallible>(present.len() >= 4))
///     .await?;
/// # Ok(())
/// # }
/// ```
#[doc(alias = "UntilWithSync")]
#[doc(alias = "ListWatchUntil")]
pub struct Waiter<K, L: ListWatch<K>> {
    driver: Driver<K, L, AwaitedSelection<K>>,
    /// The last failure, if nothing has arrived since.
    failure: Option<ListWatchError>,
}

/// A store of a selection, and of the changes of the last step.
struct AwaitedSelection<K> {
    selection: Selection<K>,
    changes: Option<Vec<Change<K>>>,
    has_listed: bool,
}

/// The server rejects the request, so that no wait can continue.
struct RejectedRequest(ListWatchError);

// === impl Waiter ===

impl<K, L> Waiter<K, L>
where
    K: Send + Sync + 'static,
    L: ListWatch<K>,
{
    /// Waits for what `list_watch` selects. No request is made before the first wait.
    pub fn new(list_watch: L) -> Self {
        Self::with_options(list_watch, WatchOptions::default())
    }

    /// The same, with options.
    pub fn with_options(list_watch: L, options: WatchOptions) -> Self {
        let store = AwaitedSelection {
            selection: Selection::new(),
            changes: None,
            has_listed: false,
        };
        let start_interval_min = options.start_interval_min;
        let driver = Reflector::new(list_watch, store, options.into_reflector())
            .into_driver(Mode::Wait)
            .with_watch_interval_min(start_interval_min);
        Self {
            driver,
            failure: None,
        }
    }

    /// Waits until `condition` holds of the whole selection, for `limit` at most. The state in which it held is then to be
    /// read from [`selection`](Self::selection).
    ///
    /// The condition is checked against the present state, and then after each change. A state that was requested
    /// again, as after 410, is one change.
    ///
    /// # Errors
    ///
    /// [`UntilError::Condition`] with the condition's error, [`UntilError::Timeout`] and [`UntilError::Refused`].
    /// Transient failures are retried until the limit. After each of them the waiter can be used again.
    ///
    /// # Panics
    ///
    /// If the condition does. The waiter can be used again; it has applied the state that was checked.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if dropped: the next wait continues where this one stopped.
    pub async fn until<C, E>(
        &mut self,
        limit: Duration,
        mut condition: C,
    ) -> Result<(), UntilError<E>>
    where
        C: FnMut(&Selection<K>) -> Result<bool, E>,
    {
        let deadline = Instant::now() + limit.min(LIMIT_MAX);
        let mut is_news = self.has_listed();
        loop {
            if is_news && condition(self.selection()).map_err(UntilError::Condition)? {
                return Ok(());
            }
            let changes = match timeout_at(deadline, self.advance()).await {
                Ok(changes) => {
                    changes.map_err(|RejectedRequest(error)| UntilError::Refused(error))?
                }
                Err(_) => return Err(self.timed_out(limit, None)),
            };
            is_news = changes.is_some();
        }
    }

    /// Waits until `condition` holds of the object under `key`, for `limit` at most, and gives the state in which it held.
    ///
    /// The condition is checked against the present state, and then after each change of this object. A deletion is
    /// delivered, also if it was missed, and also if the object was recreated.
    ///
    /// # Errors
    ///
    /// As of [`until`](Self::until), and [`UntilError::Decode`] if the object is there but cannot be decoded.
    ///
    /// # Panics
    ///
    /// If the condition does. The waiter can be used again; it has applied the state that was checked.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if dropped: the next wait continues where this one stopped, but a deletion that this one saw is
    /// then mere absence.
    pub async fn until_object<C, E>(
        &mut self,
        limit: Duration,
        key: &ObjectKey,
        mut condition: C,
    ) -> Result<ObjectState<K>, UntilError<E>>
    where
        C: FnMut(&ObjectState<K>) -> Result<bool, E>,
    {
        let deadline = Instant::now() + limit.min(LIMIT_MAX);
        let mut states = if self.has_listed() {
            vec![self.state_of(key).map_err(UntilError::Decode)?]
        } else {
            Vec::new()
        };
        let mut is_first = states.is_empty();
        loop {
            for state in states {
                if condition(&state).map_err(UntilError::Condition)? {
                    return Ok(state);
                }
            }
            let changes = match timeout_at(deadline, self.advance()).await {
                Ok(changes) => {
                    changes.map_err(|RejectedRequest(error)| UntilError::Refused(error))?
                }
                Err(_) => return Err(self.timed_out(limit, Some(key))),
            };
            states = match changes {
                Some(_) if std::mem::take(&mut is_first) => {
                    vec![self.state_of(key).map_err(UntilError::Decode)?]
                }
                Some(changes) => states_of(key, changes).map_err(UntilError::Decode)?,
                None => Vec::new(),
            };
        }
    }

    /// The state that the last wait ended with. Empty before the first.
    pub fn selection(&self) -> &Selection<K> {
        &self.driver.store().selection
    }

    fn has_listed(&self) -> bool {
        self.driver.store().has_listed
    }

    /// Takes one step, and returns the changes that it brought; `None` if it brought no state.
    async fn advance(&mut self) -> Result<Option<Vec<Change<K>>>, RejectedRequest> {
        match self.driver.step().await {
            Ok(Progress::Received(_)) => {
                self.failure = None;
                Ok(self.driver.store_mut().changes.take())
            }
            Ok(Progress::Failed(error)) if FailureCause::of(&error).is_rejected() => {
                Err(RejectedRequest(error))
            }
            Ok(Progress::Failed(error)) => {
                self.failure = Some(error);
                Ok(None)
            }
            Ok(Progress::Other) => Ok(None),
            Err(ended) => unreachable!("neither store nor mode ends it: {ended}"),
        }
    }

    fn state_of(&self, key: &ObjectKey) -> Result<ObjectState<K>, DecodeError> {
        if let Some(error) = self.selection().undecodable_at(key) {
            return Err(error.clone());
        }
        let object = self.selection().get(key).cloned();
        Ok(object.map_or(ObjectState::Absent, ObjectState::Present))
    }

    fn timed_out<E>(&mut self, limit: Duration, key: Option<&ObjectKey>) -> UntilError<E> {
        UntilError::Timeout(Box::new(UntilTimeout {
            resource: self.driver.resource().unwrap_or_default().to_owned(),
            key: key.cloned(),
            limit,
            last_state: self.last_state(key),
            source: self.failure.take(),
        }))
    }

    fn last_state(&self, key: Option<&ObjectKey>) -> LastState {
        if !self.has_listed() {
            return LastState::Nothing;
        }
        // A bookmark may have come since the last change.
        let resource_version = self.driver.resource_version().clone();
        let Some(key) = key else {
            return LastState::Selection {
                object_count: self.selection().len(),
                resource_version,
            };
        };
        match self.selection().get(key) {
            Some(object) => LastState::Present(object.resource_version().clone()),
            None => LastState::Absent(resource_version),
        }
    }
}

impl<K, L> fmt::Debug for Waiter<K, L>
where
    K: Send + Sync + 'static,
    L: ListWatch<K>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiter")
            .field("resource", &self.driver.resource())
            .field("selection", self.selection())
            .finish_non_exhaustive()
    }
}

// === impl AwaitedSelection ===

impl<K: Send + Sync + 'static> ReflectorStore<K> for AwaitedSelection<K> {
    async fn write(&mut self, delta: Delta<K>) -> Result<(), StoreClosed> {
        self.has_listed |= matches!(delta, Delta::ReplacedAll(_));
        if !matches!(delta, Delta::Bookmark(_)) {
            self.changes = Some(self.selection.apply(delta));
        }
        Ok(())
    }
}

/// Returns the states of one object after each of `changes`, in order.
fn states_of<K>(
    key: &ObjectKey,
    changes: Vec<Change<K>>,
) -> Result<Vec<ObjectState<K>>, DecodeError> {
    let of_key = changes.into_iter().filter(|change| change.key() == key);
    let states = of_key.map(|change| match change {
        Change::Present(object) => Ok(ObjectState::Present(object)),
        Change::Deleted(deleted) => Ok(ObjectState::Deleted(deleted)),
        Change::Undecodable(error) => Err(error),
    });
    states.collect()
}
