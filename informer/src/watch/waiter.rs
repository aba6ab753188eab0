//! Waits for conditions on a selection, one after the other, without a gap between them.

use std::{fmt, sync::Arc, time::Duration};

use tokio::time::{Instant, sleep_until, timeout, timeout_at};
use tracing::debug;

use super::{
    ObjectState, RetryWatcherError, Seen, Selection, UntilError, UntilTimeout, WatchOptions,
    driver::Watching, machine::after, selection::Change,
};
use crate::{
    backoff::Backoff,
    known::{Known, KnownNothing},
    list_watch::{Arrived, ListRequest, ListWatch, ListWatchError},
    object::{DecodeError, ObjectKey, ResourceVersion},
    reflector::Cause,
};

/// Waits for conditions on a selection, one after the other, without a gap between them.
///
/// The first wait asks for the present state; the later ones go on from where the one before ended, and judge that state
/// first. While nobody waits, changes stay with the server: after a long pause the state is asked for anew.
///
/// # Examples
///
/// ```
/// use std::{convert::Infallible, time::Duration};
///
/// use informer::{
///     http::{HttpListWatch, Scope},
///     watch::Waiter,
/// };
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
    list_watch: L,
    options: WatchOptions,
    known: Arc<dyn Known<K>>,
    selection: Selection<K>,
    /// The watch from the selection's version on; without it the state is asked for next.
    watching: Option<Watching<K, L>>,
    backoff: Backoff,
    /// Not before this is the state asked for again.
    list_at: Option<Instant>,
    failure: Option<ListWatchError>,
    has_listed: bool,
}

/// Why no wait can go on.
struct Refused(ListWatchError);

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
        Self {
            list_watch,
            known: Arc::new(KnownNothing),
            selection: Selection::new(),
            watching: None,
            backoff: Backoff::new(options.backoff.clone(), options.seed),
            options,
            list_at: None,
            failure: None,
            has_listed: false,
        }
    }

    /// Waits until `condition` holds of the whole selection, for `limit` at most. The state in which it held is then to be
    /// read from [`selection`](Self::selection).
    ///
    /// The condition is asked about the present state, and then after each change. A state that was asked for anew, as
    /// after 410, is one change.
    ///
    /// # Errors
    ///
    /// [`UntilError::Condition`] with what the condition gave, [`UntilError::Timeout`] and [`UntilError::Refused`]. What
    /// may pass is tried again until the limit. After each of them the waiter can be used again.
    ///
    /// # Panics
    ///
    /// If the condition does. The waiter can be used again; it has taken in what the condition was asked about.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if dropped: the next wait goes on from where this one stood.
    pub async fn until<C, E>(
        &mut self,
        limit: Duration,
        mut condition: C,
    ) -> Result<(), UntilError<E>>
    where
        C: FnMut(&Selection<K>) -> Result<bool, E>,
    {
        let deadline = after(Instant::now(), limit);
        let mut is_news = self.has_listed;
        loop {
            if is_news && condition(&self.selection).map_err(UntilError::Condition)? {
                return Ok(());
            }
            let changes = match timeout_at(deadline, self.advance()).await {
                Ok(changes) => changes.map_err(|Refused(error)| UntilError::Refused(error))?,
                Err(_) => return Err(self.timed_out(limit, None)),
            };
            is_news = changes.is_some();
        }
    }

    /// Waits until `condition` holds of the object under `key`, for `limit` at most, and gives the state in which it held.
    ///
    /// The condition is asked about the present state, and then after each change of this object. A deletion is told, also
    /// one that was not seen, and also if the object was made anew.
    ///
    /// # Errors
    ///
    /// As of [`until`](Self::until), and [`UntilError::Decode`] if the object is there but cannot be decoded.
    ///
    /// # Panics
    ///
    /// If the condition does. The waiter can be used again; it has taken in what the condition was asked about.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if dropped: the next wait goes on from where this one stood, but a deletion that this one heard of
    /// is then mere absence.
    pub async fn until_object<C, E>(
        &mut self,
        limit: Duration,
        key: &ObjectKey,
        mut condition: C,
    ) -> Result<ObjectState<K>, UntilError<E>>
    where
        C: FnMut(&ObjectState<K>) -> Result<bool, E>,
    {
        let deadline = after(Instant::now(), limit);
        let mut states = if self.has_listed {
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
                Ok(changes) => changes.map_err(|Refused(error)| UntilError::Refused(error))?,
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
        &self.selection
    }

    /// One step towards news: what changed, or none if there is nothing yet.
    async fn advance(&mut self) -> Result<Option<Vec<Change<K>>>, Refused> {
        let Some(watching) = &mut self.watching else {
            return self.list().await;
        };
        match watching.next(&self.list_watch).await {
            Some(Ok(event)) => {
                self.backoff.reset();
                Ok(self.selection.apply(event).map(|change| vec![change]))
            }
            Some(Err(RetryWatcherError::Refused(error))) => {
                self.watching = None;
                // Who waits again in spite of this does not make a hot loop either.
                self.rest(error.retry_after());
                Err(Refused(error))
            }
            Some(Err(error)) => {
                debug!(%error, "asking for the state again");
                self.watching = None;
                self.rest(None);
                self.failure = error.into_answer();
                Ok(None)
            }
            None => {
                self.watching = None;
                Ok(None)
            }
        }
    }

    /// Asks for the present state, most recent and consistent.
    async fn list(&mut self) -> Result<Option<Vec<Change<K>>>, Refused> {
        if let Some(list_at) = self.list_at {
            sleep_until(list_at).await;
        }
        let (items, version) = match self.pages().await {
            Ok(state) => state,
            Err(error) => {
                let cause = Cause::of(&error);
                self.rest(error.retry_after());
                if cause.is_denied() || matches!(cause, Cause::Invalid | Cause::Request) {
                    return Err(Refused(error));
                }
                debug!(%cause, "listing again");
                self.failure = Some(error);
                return Ok(None);
            }
        };
        let watching = Watching::new(
            version.clone(),
            self.options.clone(),
            Arc::clone(&self.known),
        );
        let Ok(watching) = watching else {
            // A state that nothing can be resumed from is no beginning.
            self.rest(None);
            self.failure = Some(ListWatchError::Protocol {
                what: format!("a list at version {version:?}"),
                source: None,
            });
            return Ok(None);
        };
        self.watching = Some(watching);
        self.failure = None;
        self.has_listed = true;
        Ok(Some(self.selection.replace(items, version)))
    }

    async fn pages(&self) -> Result<(Vec<Arrived<K>>, ResourceVersion), ListWatchError> {
        let mut request = ListRequest {
            limit: self.options.page_size,
            ..ListRequest::default()
        };
        let mut items = Vec::new();
        // Asked for at once; a server that pages all the same is asked again after a delay.
        let mut is_whole = false;
        loop {
            let limit = self.options.list_timeout;
            let page = timeout(limit, self.list_watch.list(&request, &self.known)).await;
            let page = page.unwrap_or(Err(ListWatchError::Timeout {
                what: "whole page",
                limit,
            }));
            match page {
                Ok(page) => {
                    items.extend(page.items);
                    let Some(token) = page.continue_token else {
                        return Ok((items, page.resource_version));
                    };
                    request.continue_token = Some(token);
                }
                // Between two pages the first one's version went: all in one, then.
                Err(error)
                    if error.is_expired() && request.continue_token.is_some() && !is_whole =>
                {
                    is_whole = true;
                    items.clear();
                    request = ListRequest::default();
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn rest(&mut self, retry_after: Option<Duration>) {
        let delay = self.backoff.next_delay(retry_after);
        self.list_at = Some(after(Instant::now(), delay));
    }

    fn state_of(&self, key: &ObjectKey) -> Result<ObjectState<K>, DecodeError> {
        if let Some(error) = self.selection.undecodable_at(key) {
            return Err(error.clone());
        }
        let object = self.selection.get(key).cloned();
        Ok(object.map_or(ObjectState::Absent, ObjectState::Present))
    }

    fn timed_out<E>(&mut self, limit: Duration, key: Option<&ObjectKey>) -> UntilError<E> {
        let watching = self.watching.as_mut();
        let source = match watching.and_then(Watching::take_failure) {
            Some(failure) => Some(failure),
            None => self.failure.take(),
        };
        UntilError::Timeout(Box::new(UntilTimeout {
            resource: self.list_watch.resource().unwrap_or_default().to_owned(),
            key: key.cloned(),
            limit,
            seen: self.seen(key),
            source,
        }))
    }

    fn seen(&self, key: Option<&ObjectKey>) -> Seen {
        if !self.has_listed {
            return Seen::Nothing;
        }
        // What was heard of last may be a bookmark, which leaves the selection as it is.
        let resource_version = match &self.watching {
            Some(watching) => watching.resource_version(),
            None => self.selection.resource_version(),
        };
        let resource_version = resource_version.clone();
        let Some(key) = key else {
            return Seen::Selection {
                object_count: self.selection.len(),
                resource_version,
            };
        };
        match self.selection.get(key) {
            Some(object) => Seen::Present(object.resource_version().clone()),
            None => Seen::Absent(resource_version),
        }
    }
}

impl<K, L: ListWatch<K>> fmt::Debug for Waiter<K, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiter")
            .field("resource", &self.list_watch.resource())
            .field("selection", &self.selection)
            .finish_non_exhaustive()
    }
}

/// The states of one object that `changes` tell, in order.
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
