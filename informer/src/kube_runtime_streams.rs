//! Feeds a [`kube_runtime::Controller`] from shared informers, so that it lists and watches nothing itself.
//!
//! The controller keeps its scheduler and its reconcile loop. What it owns and watches comes from informers that others
//! share, with what kube-runtime's own watches do not have: deletions that a relist found, a resync period, limits on
//! every wait, and streams that delay no other reader when the controller is slow.
//!
//! # Examples
//!
//! ```
//! use std::sync::Arc;
//!
//! use futures::StreamExt;
//! use informer::{SharedInformer, kube_runtime_streams};
//! use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
//! use kube_runtime::controller::{Action, Controller};
//!
//! async fn run(deployments: &SharedInformer<Deployment>, replica_sets: &SharedInformer<ReplicaSet>) {
//!     let (objects, store) = kube_runtime_streams::reflect(deployments, ());
//!     Controller::for_stream(objects, store)
//!         .owns_shared_stream(kube_runtime_streams::touched_objects(replica_sets))
//!         .run(
//!             async |deployment: Arc<Deployment>, _| {
//!                 println!("{:?}", deployment.metadata.name);
//!                 Ok::<_, std::convert::Infallible>(Action::await_change())
//!             },
//!             |_, _, _| Action::await_change(),
//!             Arc::new(()),
//!         )
//!         .for_each(async |_| {})
//!         .await;
//! }
//! ```
//!
//! | kube-runtime | here |
//! |---|---|
//! | `Controller::for_stream(objects, store)` | [`reflect`] |
//! | `owns_shared_stream`, `watches_shared_stream` | [`touched_objects`] |
//! | `owns_stream_with`, `watches_stream_with` of a dynamic type | [`touched_objects`], [owned](TouchedObjects::owned) |
//!
//! The caller starts the informers, waits for their sync, and shuts them down.

use std::{
    collections::BTreeMap,
    fmt,
    hash::Hash,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures::{Stream, StreamExt};
use kube_runtime::{
    reflector::{Lookup, Store, store::Writer},
    watcher::{self, Event},
};

use self::sealed::Sealed;
#[cfg(feature = "compact")]
use crate::compact::Compact;
use crate::{
    handler::Notification,
    object::{Object, ObjectKey},
    processor::{HandlerOptions, NotificationStream},
    shared_informer::SharedInformer,
};

/// A type of cached objects that can feed a controller: a kind of kube's, or `Compact` of one.
///
/// The trait is sealed: every kind has it.
pub trait ControllerObject: Sealed + Send + Sync + 'static {
    /// The kind, as the controller sees it.
    type Kind: Lookup<DynamicType: Eq + Hash + Clone> + Clone + Send + Sync + 'static;

    /// Returns the object itself; `None` if it cannot be decoded, which is logged.
    #[doc(hidden)]
    fn value(object: &Object<Self>) -> Option<Arc<Self::Kind>>
    where
        Self: Sized;
}

/// The objects of a controller's main kind, in the order in which they are put into its store.
#[must_use = "streams do nothing unless polled"]
pub struct ReflectedObjects<K: ControllerObject> {
    notifications: NotificationStream<K>,
    writer: Writer<K::Kind>,
    /// While the store is not ready: the objects that were deleted before.
    gone: Option<BTreeMap<ObjectKey, K::Kind>>,
}

/// The objects that changed or went, each in the last state that is known.
#[must_use = "streams do nothing unless polled"]
#[derive(Debug)]
pub struct TouchedObjects<K>(NotificationStream<K>);

/// The main kind of a controller: what triggers it, and the store that it reads.
///
/// Each object comes when it is added or updated, or by a resync; a deletion only takes it out of the store, as
/// kube-runtime has it. The store is ready once it has what the informer held at first.
///
/// # Memory
///
/// The store is kube-runtime's own, and cannot share the informer's memory: every object of the main kind is held twice, and
/// copied twice when it changes. What a controller owns and watches is not copied.
pub fn reflect<K>(
    informer: &SharedInformer<K>,
    dynamic_type: <K::Kind as Lookup>::DynamicType,
) -> (ReflectedObjects<K>, Store<K::Kind>)
where
    K: ControllerObject,
{
    reflect_with(informer, dynamic_type, HandlerOptions::default())
}

/// The same, served as `options` say: a name, a resync period, a buffer.
pub fn reflect_with<K>(
    informer: &SharedInformer<K>,
    dynamic_type: <K::Kind as Lookup>::DynamicType,
    options: HandlerOptions,
) -> (ReflectedObjects<K>, Store<K::Kind>)
where
    K: ControllerObject,
{
    let mut writer = Writer::new(dynamic_type);
    writer.apply_watcher_event(&Event::Init);
    let store = writer.as_reader();
    let objects = ReflectedObjects {
        notifications: informer.stream_with(options),
        writer,
        gone: Some(BTreeMap::new()),
    };
    (objects, store)
}

/// Streams the objects that a controller owns or watches: every object that was added, updated or deleted.
///
/// Of an update the new object comes. One that gave up its owner leads to the old one no more: a controller that must be notified of
/// that needs an [`Enqueue`](crate::workqueue::Enqueue) of its own.
pub fn touched_objects<K: ControllerObject>(informer: &SharedInformer<K>) -> TouchedObjects<K> {
    touched_objects_with(informer, HandlerOptions::default())
}

/// The same, served as `options` say: a name, a resync period, a buffer.
pub fn touched_objects_with<K: ControllerObject>(
    informer: &SharedInformer<K>,
    options: HandlerOptions,
) -> TouchedObjects<K> {
    TouchedObjects(informer.stream_with(options))
}

mod sealed {
    pub trait Sealed {}
}

// === impl ControllerObject ===

impl<K> ControllerObject for K
where
    K: Lookup<DynamicType: Eq + Hash + Clone> + Clone + Send + Sync + 'static,
{
    type Kind = K;

    fn value(object: &Object<K>) -> Option<Arc<K>> {
        Some(Arc::clone(object.get()))
    }
}

impl<K: Lookup> Sealed for K {}

#[cfg(feature = "compact")]
impl<K> ControllerObject for Compact<K>
where
    K: Lookup<DynamicType: Eq + Hash + Clone> + Clone + Send + Sync + 'static,
{
    type Kind = K;

    fn value(object: &Object<Compact<K>>) -> Option<Arc<K>> {
        let decoded = object.decode().inspect_err(|error| {
            tracing::warn!(key = %object.key(), %error, "object left out, since it cannot be decoded");
        });
        decoded.ok()
    }
}

#[cfg(feature = "compact")]
impl<K> Sealed for Compact<K> {}

// === impl ReflectedObjects ===

impl<K> ReflectedObjects<K>
where
    K: ControllerObject,
{
    /// Applies a notification to the store; returns the object if the controller is to receive it.
    fn apply(&mut self, notification: &Notification<K>) -> Option<K::Kind> {
        let object = K::value(notification.object()?)?;
        let object = Arc::unwrap_or_clone(object);
        let is_deletion = matches!(notification, Notification::Delete { .. });
        let event = match &mut self.gone {
            // A store that is not ready does not accept a deletion.
            Some(gone) if is_deletion => {
                gone.insert(notification.key().clone(), object);
                return None;
            }
            Some(gone) => {
                gone.remove(notification.key());
                Event::InitApply(object)
            }
            None if is_deletion => Event::Delete(object),
            None => Event::Apply(object),
        };
        self.writer.apply_watcher_event(&event);
        match event {
            Event::InitApply(object) | Event::Apply(object) => Some(object),
            Event::Delete(_) | Event::Init | Event::InitDone => None,
        }
    }

    /// Makes the store ready, as soon as all of the initial state was read.
    fn settle(&mut self) {
        if !self.notifications.has_synced() {
            return;
        }
        let Some(gone) = self.gone.take() else {
            return;
        };
        self.writer.apply_watcher_event(&Event::InitDone);
        for object in gone.into_values() {
            self.writer.apply_watcher_event(&Event::Delete(object));
        }
    }
}

impl<K> Stream for ReflectedObjects<K>
where
    K: ControllerObject,
{
    type Item = Result<K::Kind, watcher::Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            let polled = this.notifications.poll_next_unpin(cx);
            // What was read by now comes first: the initial state ends before the next change is delivered.
            this.settle();
            match polled {
                Poll::Ready(Some(notification)) => {
                    if let Some(object) = this.apply(&notification) {
                        return Poll::Ready(Some(Ok(object)));
                    }
                }
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl<K> Unpin for ReflectedObjects<K> where K: ControllerObject {}

impl<K> fmt::Debug for ReflectedObjects<K>
where
    K: ControllerObject,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReflectedObjects")
            .field("notifications", &self.notifications)
            .field("is_ready", &self.gone.is_none())
            .finish_non_exhaustive()
    }
}

// === impl TouchedObjects ===

impl<K: ControllerObject> TouchedObjects<K> {
    /// Each object as a value of its own, as streams of kube-runtime that are not shared have it. Each is copied.
    pub fn owned(self) -> impl Stream<Item = Result<K::Kind, watcher::Error>> + Send {
        self.map(|object| Ok(Arc::unwrap_or_clone(object)))
    }
}

impl<K: ControllerObject> Stream for TouchedObjects<K> {
    type Item = Arc<K::Kind>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let notifications = &mut self.get_mut().0;
        loop {
            let Some(notification) = ready!(notifications.poll_next_unpin(cx)) else {
                return Poll::Ready(None);
            };
            if let Some(object) = notification.object().and_then(K::value) {
                return Poll::Ready(Some(object));
            }
        }
    }
}
