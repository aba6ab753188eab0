//! A scripted `ListWatch`: a pair of the thing itself and the handle that plays the server.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures::Stream;
use tokio::sync::{mpsc, oneshot};

use crate::{
    held_objects::HeldObjects,
    list_watch::{
        ListPage, ListRequest, ListWatch, ListWatchError, Status, WatchEvent, WatchRequest,
    },
    object::{Object, ResourceVersion},
};

type Answer<T> = oneshot::Sender<Result<T, ListWatchError>>;

/// The pair: a `ListWatch` whose requests wait for an answer, and the [`Script`] that answers them.
///
/// # Examples
///
/// ```
/// use informer::{list_watch::{HeldObjects, ListRequest, ListWatch, NoHeldObjects}, testing::scripted};
/// use k8s_openapi::api::core::v1::Pod;
/// use std::sync::Arc;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let (pods, mut script) = scripted::<Pod>();
/// let held: Arc<dyn HeldObjects<Pod>> = Arc::new(NoHeldObjects);
/// let request = ListRequest::default();
/// let (page, ()) = tokio::join!(pods.list(&request, &held), async {
///     script.expect_list().await.page([], "7");
/// });
/// assert_eq!(page.unwrap().resource_version, "7".into());
/// # });
/// ```
pub fn scripted<K>() -> (ScriptedListWatch<K>, Script<K>) {
    let (tx, rx) = mpsc::unbounded_channel();
    (ScriptedListWatch { calls: tx }, Script { calls: rx })
}

/// A `ListWatch` whose answers come from a [`Script`].
///
/// # Memory
///
/// Requests that the script does not take pile up; that is for tests to see.
#[derive(Debug)]
pub struct ScriptedListWatch<K> {
    calls: mpsc::UnboundedSender<ScriptedCall<K>>,
}

/// Plays the server of a [`ScriptedListWatch`]: takes its requests in order, and answers them.
#[derive(Debug)]
pub struct Script<K> {
    calls: mpsc::UnboundedReceiver<ScriptedCall<K>>,
}

/// A request that waits for its answer.
#[derive(Debug)]
#[must_use = "a request that is dropped is answered with a broken connection"]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: one variant a method of the trait"
)]
pub enum ScriptedCall<K> {
    /// A page is asked for.
    List(ListCall<K>),
    /// A watch is to be opened.
    Watch(WatchCall<K>),
}

/// A page that is asked for.
#[derive(Debug)]
#[must_use = "a request that is dropped is answered with a broken connection"]
pub struct ListCall<K> {
    /// The request.
    pub request: ListRequest,
    answer: Answer<ListPage<K>>,
}

/// A watch that is to be opened.
#[derive(Debug)]
#[must_use = "a request that is dropped is answered with a broken connection"]
pub struct WatchCall<K> {
    /// The request.
    pub request: WatchRequest,
    answer: Answer<ScriptedStream<K>>,
}

/// Feeds an open watch by hand. Dropping it ends the stream in good order.
#[derive(Debug)]
#[must_use = "dropping it ends the stream"]
pub struct EventSender<K> {
    events: mpsc::UnboundedSender<Result<WatchEvent<K>, ListWatchError>>,
}

/// The events of a scripted watch.
#[derive(Debug)]
pub struct ScriptedStream<K> {
    events: mpsc::UnboundedReceiver<Result<WatchEvent<K>, ListWatchError>>,
}

// === impl ScriptedListWatch ===

impl<K: Send + Sync + 'static> ScriptedListWatch<K> {
    async fn call<T>(
        &self,
        call: impl FnOnce(Answer<T>) -> ScriptedCall<K>,
    ) -> Result<T, ListWatchError> {
        let (tx, rx) = oneshot::channel();
        let gone = || ListWatchError::Transport("the script dropped the request".into());
        self.calls.send(call(tx)).map_err(|_| gone())?;
        rx.await.unwrap_or_else(|_| Err(gone()))
    }
}

impl<K: Send + Sync + 'static> ListWatch<K> for ScriptedListWatch<K> {
    type Stream = ScriptedStream<K>;

    /// # Cancel safety
    ///
    /// Dropping the future gives up the request; the script sees it in [`ListCall::is_given_up`].
    async fn list(
        &self,
        request: &ListRequest,
        _held: &Arc<dyn HeldObjects<K>>,
    ) -> Result<ListPage<K>, ListWatchError> {
        let request = request.clone();
        self.call(|answer| ScriptedCall::List(ListCall { request, answer }))
            .await
    }

    /// # Cancel safety
    ///
    /// Dropping the future gives up the request; the script sees it in [`WatchCall::is_given_up`].
    async fn watch(
        &self,
        request: &WatchRequest,
        _held: &Arc<dyn HeldObjects<K>>,
    ) -> Result<ScriptedStream<K>, ListWatchError> {
        let request = request.clone();
        self.call(|answer| ScriptedCall::Watch(WatchCall { request, answer }))
            .await
    }
}

impl<K> Clone for ScriptedListWatch<K> {
    fn clone(&self) -> Self {
        Self {
            calls: self.calls.clone(),
        }
    }
}

// === impl Script ===

impl<K> Script<K> {
    /// Waits for the next request.
    ///
    /// # Panics
    ///
    /// If the `ListWatch` is gone, so that no request can come.
    ///
    /// # Cancel safety
    ///
    /// A request that was not returned stays the next one.
    pub async fn expect_call(&mut self) -> ScriptedCall<K> {
        self.calls
            .recv()
            .await
            .expect("a request was expected, but the ListWatch is gone")
    }

    /// Waits for the next request, which must be for a page.
    ///
    /// # Panics
    ///
    /// If it is for a watch.
    ///
    /// # Cancel safety
    ///
    /// A request that was not returned stays the next one.
    pub async fn expect_list(&mut self) -> ListCall<K> {
        match self.expect_call().await {
            ScriptedCall::List(call) => call,
            ScriptedCall::Watch(call) => panic!("a list was expected, not {:?}", call.request),
        }
    }

    /// Waits for the next request, which must be for a watch.
    ///
    /// # Panics
    ///
    /// If it is for a page.
    ///
    /// # Cancel safety
    ///
    /// A request that was not returned stays the next one.
    pub async fn expect_watch(&mut self) -> WatchCall<K> {
        match self.expect_call().await {
            ScriptedCall::Watch(call) => call,
            ScriptedCall::List(call) => panic!("a watch was expected, not {:?}", call.request),
        }
    }

    /// Asserts that no request comes within `time`.
    ///
    /// # Panics
    ///
    /// If one does.
    ///
    /// # Cancel safety
    ///
    /// A request that came is the next one.
    pub async fn expect_no_call_for(&mut self, time: Duration) {
        // A `ListWatch` that is gone makes no request either.
        let next = async {
            match self.calls.recv().await {
                Some(call) => call,
                None => std::future::pending().await,
            }
        };
        match tokio::time::timeout(time, next).await {
            Err(_) => {}
            Ok(ScriptedCall::List(call)) => panic!("no request was expected: {:?}", call.request),
            Ok(ScriptedCall::Watch(call)) => panic!("no request was expected: {:?}", call.request),
        }
    }

    /// Returns whether the `ListWatch` and all its clones are gone, and no request is left.
    pub fn is_over(&self) -> bool {
        self.calls.is_closed() && self.calls.is_empty()
    }
}

// === impl ListCall ===

impl<K> ListCall<K> {
    /// Answers with the last page, at `version`.
    pub fn page(self, objects: impl IntoIterator<Item = Object<K>>, version: &str) {
        self.answer(Ok(ListPage {
            items: objects.into_iter().map(Ok).collect(),
            resource_version: version.into(),
            continue_token: None,
        }));
    }

    /// Answers with a page that is not the last.
    pub fn page_and_more(
        self,
        objects: impl IntoIterator<Item = Object<K>>,
        version: &str,
        continue_token: &str,
    ) {
        self.answer(Ok(ListPage {
            items: objects.into_iter().map(Ok).collect(),
            resource_version: version.into(),
            continue_token: Some(continue_token.to_owned()),
        }));
    }

    /// Answers with an error.
    pub fn fail(self, error: impl Into<ListWatchError>) {
        self.answer(Err(error.into()));
    }

    /// Answers.
    pub fn answer(self, answer: Result<ListPage<K>, ListWatchError>) {
        // The receiver is gone if the request was given up.
        drop(self.answer.send(answer));
    }

    /// Returns whether the caller has given up the request.
    pub fn is_given_up(&self) -> bool {
        self.answer.is_closed()
    }
}

// === impl WatchCall ===

impl<K> WatchCall<K> {
    /// Answers with an open stream, which is fed by hand.
    pub fn open(self) -> EventSender<K> {
        let (tx, rx) = mpsc::unbounded_channel();
        // The receiver is gone if the request was given up.
        drop(self.answer.send(Ok(ScriptedStream { events: rx })));
        EventSender { events: tx }
    }

    /// Answers with an error.
    pub fn fail(self, error: impl Into<ListWatchError>) {
        drop(self.answer.send(Err(error.into())));
    }

    /// Returns whether the caller has given up the request.
    pub fn is_given_up(&self) -> bool {
        self.answer.is_closed()
    }
}

// === impl EventSender ===

impl<K> EventSender<K> {
    /// Sends ADDED.
    pub fn added(&self, object: Object<K>) {
        self.send(WatchEvent::Added(Ok(object)));
    }

    /// Sends MODIFIED.
    pub fn modified(&self, object: Object<K>) {
        self.send(WatchEvent::Modified(Ok(object)));
    }

    /// Sends DELETED; the object's version is that of the deletion.
    pub fn deleted(&self, object: Object<K>) {
        self.send(WatchEvent::Deleted(Ok(object)));
    }

    /// Sends an ordinary bookmark.
    pub fn bookmark(&self, version: &str) {
        self.send(bookmark(version, false));
    }

    /// Sends the bookmark that ends the initial events of a streaming list.
    pub fn end_of_initial_events(&self, version: &str) {
        self.send(bookmark(version, true));
    }

    /// Sends an ERROR event and ends the stream.
    pub fn error(self, status: Status) {
        self.send(WatchEvent::Error(status));
    }

    /// Breaks the stream off.
    pub fn fail(self, error: impl Into<ListWatchError>) {
        drop(self.events.send(Err(error.into())));
    }

    /// Ends the stream in good order.
    pub fn end(self) {}

    /// Sends any event. The event is lost if the stream was dropped.
    pub fn send(&self, event: WatchEvent<K>) {
        drop(self.events.send(Ok(event)));
    }

    /// Returns whether the stream has no reader any more.
    pub fn is_closed(&self) -> bool {
        self.events.is_closed()
    }
}

fn bookmark<K>(version: &str, is_end_of_initial_events: bool) -> WatchEvent<K> {
    WatchEvent::Bookmark {
        resource_version: ResourceVersion::new(version),
        is_end_of_initial_events,
    }
}

// === impl ScriptedStream ===

impl<K> Stream for ScriptedStream<K> {
    type Item = Result<WatchEvent<K>, ListWatchError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.events.poll_recv(cx)
    }
}
