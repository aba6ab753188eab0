//! The objects on their way from the server to the store.

use std::{
    mem,
    sync::Arc,
    task::{Context, Poll},
};

use futures::{FutureExt, StreamExt, future::BoxFuture};

use crate::{
    held_objects::HeldObjects,
    list_watch::{
        ArrivedObject, ListPage, ListRequest, ListWatch, ListWatchError, Status, WatchEvent,
        WatchRequest,
    },
    object::{DecodeError, ResourceVersion},
    reflector::{machine::EventKind, staging::Staging},
    store::{Delta, ReflectorStore, Replacement, StoreClosed},
};

/// The objects of a reflector on their way, whatever their type is: all that decides is compiled once.
///
/// A call for each event and each write costs little beside the decoding of an object.
pub(super) trait ObjectFlow: Send {
    /// Requests a page, and keeps its items at hand.
    fn list<'a>(
        &'a mut self,
        request: &'a ListRequest,
    ) -> BoxFuture<'a, Result<Page, ListWatchError>>;

    /// Opens a watch, in place of the one that is open.
    fn open<'a>(
        &'a mut self,
        request: &'a WatchRequest,
    ) -> BoxFuture<'a, Result<(), ListWatchError>>;

    fn close(&mut self);

    /// Reads the next event of the open watch, and keeps its object at hand.
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Event, ListWatchError>>>;

    /// Adds to the new state what is at hand.
    fn stage(&mut self);

    /// Drops the new state.
    fn discard(&mut self);

    /// Drops what is at hand.
    fn release(&mut self);

    /// Writes the event at hand to the store.
    fn deliver(&mut self) -> BoxFuture<'_, Result<(), StoreClosed>>;

    /// Writes the new state to the store.
    fn commit(
        &mut self,
        version: ResourceVersion,
        is_authoritative: bool,
    ) -> BoxFuture<'_, Result<(), StoreClosed>>;

    /// Writes to the store that nothing of the resource is left.
    fn empty(&mut self, version: ResourceVersion) -> BoxFuture<'_, Result<(), StoreClosed>>;

    fn bookmark(&mut self, version: ResourceVersion) -> BoxFuture<'_, Result<(), StoreClosed>>;
}

/// A page without its items.
pub(super) struct Page {
    pub(super) len: usize,
    pub(super) undecodable: Vec<DecodeError>,
    pub(super) resource_version: ResourceVersion,
    pub(super) continue_token: Option<String>,
}

/// An event without its object.
pub(super) enum Event {
    Object {
        kind: EventKind,
        version: ResourceVersion,
        /// The error if the object cannot be decoded.
        undecodable: Option<DecodeError>,
    },
    Bookmark {
        version: ResourceVersion,
        is_end_of_initial_events: bool,
    },
    Error(Status),
}

/// The server, the new state and the store of one reflector.
pub(super) struct Flow<K, L: ListWatch<K>, S> {
    pub(super) list_watch: L,
    pub(super) store: S,
    held: Arc<dyn HeldObjects<K>>,
    /// The open stream, while the machine reads.
    stream: Option<L::Stream>,
    staging: Staging<K>,
    at_hand: LastArrival<K>,
}

/// The objects that arrived last.
enum LastArrival<K> {
    Nothing,
    Page(Vec<ArrivedObject<K>>),
    Event(EventKind, ArrivedObject<K>),
}

// === impl Flow ===

impl<K, L: ListWatch<K>, S> Flow<K, L, S> {
    pub(super) fn new(list_watch: L, store: S, held: Arc<dyn HeldObjects<K>>) -> Self {
        Self {
            list_watch,
            store,
            held,
            stream: None,
            staging: Staging::new(),
            at_hand: LastArrival::Nothing,
        }
    }

    fn take_page(&mut self, page: ListPage<K>) -> Page {
        let undecodable = page.items.iter().filter_map(|item| item.as_ref().err());
        let head = Page {
            len: page.items.len(),
            undecodable: undecodable.cloned().collect(),
            resource_version: page.resource_version,
            continue_token: page.continue_token,
        };
        self.at_hand = LastArrival::Page(page.items);
        head
    }

    fn take_event(&mut self, event: WatchEvent<K>) -> Event {
        let (kind, arrived) = match event {
            WatchEvent::Added(arrived) => (EventKind::Added, arrived),
            WatchEvent::Modified(arrived) => (EventKind::Modified, arrived),
            WatchEvent::Deleted(arrived) => (EventKind::Deleted, arrived),
            WatchEvent::Bookmark {
                resource_version,
                is_end_of_initial_events,
            } => {
                return Event::Bookmark {
                    version: resource_version,
                    is_end_of_initial_events,
                };
            }
            WatchEvent::Error(status) => return Event::Error(status),
        };
        let (version, undecodable) = match &arrived {
            Ok(object) => (object.resource_version().clone(), None),
            Err(error) => (error.resource_version.clone(), Some(error.clone())),
        };
        self.at_hand = LastArrival::Event(kind, arrived);
        Event::Object {
            kind,
            version,
            undecodable,
        }
    }
}

impl<K, L, S> ObjectFlow for Flow<K, L, S>
where
    K: Send + Sync + 'static,
    L: ListWatch<K>,
    S: ReflectorStore<K>,
{
    fn list<'a>(
        &'a mut self,
        request: &'a ListRequest,
    ) -> BoxFuture<'a, Result<Page, ListWatchError>> {
        let page = async {
            let page = self.list_watch.list(request, &self.held).await?;
            Ok(self.take_page(page))
        };
        page.boxed()
    }

    fn open<'a>(
        &'a mut self,
        request: &'a WatchRequest,
    ) -> BoxFuture<'a, Result<(), ListWatchError>> {
        let opened = async {
            let stream = self.list_watch.watch(request, &self.held).await?;
            self.stream = Some(stream);
            Ok(())
        };
        opened.boxed()
    }

    fn close(&mut self) {
        self.stream = None;
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Event, ListWatchError>>> {
        let stream = self.stream.as_mut();
        let stream = stream.expect("a stream was opened before it is read");
        stream
            .poll_next_unpin(cx)
            .map_ok(|event| self.take_event(event))
    }

    fn stage(&mut self) {
        match mem::replace(&mut self.at_hand, LastArrival::Nothing) {
            LastArrival::Nothing => {}
            LastArrival::Page(items) => self.staging.extend(items),
            LastArrival::Event(EventKind::Deleted, arrived) => self.staging.remove(&arrived),
            LastArrival::Event(_, arrived) => self.staging.put(arrived),
        }
    }

    fn discard(&mut self) {
        self.staging.discard();
    }

    fn release(&mut self) {
        self.at_hand = LastArrival::Nothing;
    }

    fn deliver(&mut self) -> BoxFuture<'_, Result<(), StoreClosed>> {
        match mem::replace(&mut self.at_hand, LastArrival::Nothing) {
            LastArrival::Event(kind, arrived) => self.store.write(delta_of(kind, arrived)).boxed(),
            LastArrival::Nothing | LastArrival::Page(_) => futures::future::ready(Ok(())).boxed(),
        }
    }

    fn commit(
        &mut self,
        version: ResourceVersion,
        is_authoritative: bool,
    ) -> BoxFuture<'_, Result<(), StoreClosed>> {
        let replacement = self.staging.take(version, is_authoritative);
        self.store.write(Delta::ReplacedAll(replacement)).boxed()
    }

    fn empty(&mut self, version: ResourceVersion) -> BoxFuture<'_, Result<(), StoreClosed>> {
        let mut replacement = Replacement::new(Vec::new(), version);
        replacement.is_authoritative = true;
        self.store.write(Delta::ReplacedAll(replacement)).boxed()
    }

    fn bookmark(&mut self, version: ResourceVersion) -> BoxFuture<'_, Result<(), StoreClosed>> {
        self.store.write(Delta::Bookmark(version)).boxed()
    }
}

fn delta_of<K>(kind: EventKind, arrived: ArrivedObject<K>) -> Delta<K> {
    match (kind, arrived) {
        (EventKind::Added | EventKind::Modified, Ok(object)) => Delta::Upserted(object),
        (EventKind::Added | EventKind::Modified, Err(error)) => Delta::Undecodable(error),
        (EventKind::Deleted, Ok(object)) => Delta::Deleted(object),
        (EventKind::Deleted, Err(error)) => Delta::DeletedUndecodable(error),
    }
}
