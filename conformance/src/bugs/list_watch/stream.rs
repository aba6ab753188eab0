//! A watch whose events differ from those of the server.

use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures::{Stream, StreamExt};
use informer::{
    Object, ResourceVersion,
    list_watch::{ArrivedObject, ListWatchError, WatchEvent},
};

use super::{ListWatchBug, memory::Memory};

type Item<K> = Result<WatchEvent<K>, ListWatchError>;

/// The events of a watch, with the deviations of a bug.
pub struct BuggyStream<K, S> {
    /// Present until the stream ends.
    inner: Option<S>,
    kind: Option<ListWatchBug>,
    memory: Memory<K, S>,
    is_initial: bool,
    /// The version of the last event.
    version: ResourceVersion,
    ready: VecDeque<WatchEvent<K>>,
}

// === impl BuggyStream ===

impl<K, S> BuggyStream<K, S>
where
    K: Send + Sync + 'static,
{
    pub(super) fn new(
        inner: S,
        kind: Option<ListWatchBug>,
        memory: Memory<K, S>,
        is_initial: bool,
    ) -> Self {
        Self {
            inner: Some(inner),
            kind,
            memory,
            is_initial,
            version: ResourceVersion::unknown(),
            ready: VecDeque::new(),
        }
    }

    /// Takes one event; its replacements wait in `ready`.
    fn take(&mut self, kind: ListWatchBug, event: WatchEvent<K>) {
        use ListWatchBug as M;
        use WatchEvent as E;

        let is_initial = self.is_initial;
        match (kind, event) {
            (M::AddedIgnored, E::Added(_)) if !is_initial => {}
            (M::ModifiedIgnored, E::Modified(_))
            | (M::DeletedIgnored, E::Deleted(_))
            | (
                M::BookmarksIgnored,
                E::Bookmark {
                    is_end_of_initial_events: false,
                    ..
                },
            ) => {}
            (M::ExpiredEventSkipped, E::Error(status)) if status.is_expired() => {}
            (M::ThrottledRelists, E::Error(mut status)) if status.code == 429 => {
                status.code = 410;
                self.ready.push_back(E::Error(status));
            }
            (M::RetryAfterIgnored, E::Error(mut status)) => {
                status.retry_after = None;
                self.ready.push_back(E::Error(status));
            }
            (
                M::WatchFromList,
                E::Bookmark {
                    resource_version,
                    is_end_of_initial_events: true,
                },
            ) => {
                self.memory.note_list(&resource_version);
                self.ready.push_back(end_of_initial_state(resource_version));
            }
            (M::InitialStateEndsEarly, E::Added(object)) if is_initial => {
                let end = version(&object).clone();
                self.is_initial = false;
                self.ready.push_back(E::Added(object));
                self.ready.push_back(end_of_initial_state(end));
            }
            (M::UidOfTheFirst, event) => {
                let memory = self.memory.clone();
                self.ready.push_back(of_the_first(event, &memory));
            }
            (M::VersionOfEventBefore, event) if !is_initial => {
                let event = self.with_version_before(event);
                self.ready.push_back(event);
            }
            (_, event) => self.ready.push_back(event),
        }
    }

    fn with_version_before(&mut self, event: WatchEvent<K>) -> WatchEvent<K> {
        changed(event, |object| {
            let own = object.resource_version().clone();
            let before = std::mem::replace(&mut self.version, own);
            if before.is_unknown() {
                return object;
            }
            let mut metadata = object.metadata().clone();
            metadata.resource_version = before;
            remade(&object, metadata)
        })
    }

    fn note(&mut self, event: &WatchEvent<K>) {
        if let WatchEvent::Added(Ok(object)) | WatchEvent::Modified(Ok(object)) = event {
            self.memory.note(object);
        }
        if let WatchEvent::Bookmark {
            is_end_of_initial_events: true,
            ..
        } = event
        {
            self.is_initial = false;
        }
    }
}

impl<K, S> Stream for BuggyStream<K, S>
where
    K: Send + Sync + 'static,
    S: Stream<Item = Item<K>> + Unpin,
{
    type Item = Item<K>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Item<K>>> {
        let own = self.get_mut();
        loop {
            if let Some(event) = own.ready.pop_front() {
                return Poll::Ready(Some(Ok(event)));
            }
            let Some(inner) = &mut own.inner else {
                return Poll::Ready(None);
            };
            let event = match ready!(inner.poll_next_unpin(context)) {
                Some(Ok(event)) => event,
                other => return Poll::Ready(other),
            };
            let Some(kind) = own.kind else {
                return Poll::Ready(Some(Ok(event)));
            };
            own.note(&event);
            own.take(kind, event);
        }
    }
}

impl<K, S> Drop for BuggyStream<K, S> {
    fn drop(&mut self) {
        if self.kind == Some(ListWatchBug::StreamsKeptOpen)
            && let Some(inner) = self.inner.take()
        {
            self.memory.keep_open(inner);
        }
    }
}

impl<K, S> Unpin for BuggyStream<K, S> {}

impl<K, S> fmt::Debug for BuggyStream<K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BuggyStream")
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

fn of_the_first<K, S>(event: WatchEvent<K>, memory: &Memory<K, S>) -> WatchEvent<K> {
    changed(event, |object| {
        let mut metadata = object.metadata().clone();
        metadata.uid = memory.first_uid(&object);
        remade(&object, metadata)
    })
}

/// Returns the event with another object in it.
fn changed<K>(event: WatchEvent<K>, change: impl FnOnce(Object<K>) -> Object<K>) -> WatchEvent<K> {
    match event {
        WatchEvent::Added(Ok(object)) => WatchEvent::Added(Ok(change(object))),
        WatchEvent::Modified(Ok(object)) => WatchEvent::Modified(Ok(change(object))),
        WatchEvent::Deleted(Ok(object)) => WatchEvent::Deleted(Ok(change(object))),
        event => event,
    }
}

fn remade<K>(object: &Object<K>, metadata: informer::Metadata) -> Object<K> {
    Object::with_metadata(metadata, Arc::clone(object.get()))
}

fn version<K>(arrived: &ArrivedObject<K>) -> &ResourceVersion {
    match arrived {
        Ok(object) => object.resource_version(),
        Err(error) => &error.resource_version,
    }
}

fn end_of_initial_state<K>(resource_version: ResourceVersion) -> WatchEvent<K> {
    WatchEvent::Bookmark {
        resource_version,
        is_end_of_initial_events: true,
    }
}
