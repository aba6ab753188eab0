//! The handle of a recorder.

use std::{fmt, sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::ObjectReference;
use kube::Resource;
use tokio::{
    sync::{
        mpsc::{self, error::TrySendError},
        oneshot,
    },
    time::{Instant, timeout},
};
use tracing::{debug, warn};

use super::{
    EventRecorderOptions, FlushError,
    correlator::Occurrence,
    driver::{Driver, QueuedItem},
    metrics::{DropReason, Metrics},
};
use crate::{leader_election::WallClock, task::TaskSet};

/// The type of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum EventType {
    /// Information that causes no problem.
    #[doc(alias = "EventTypeNormal")]
    Normal,
    /// Something may be wrong.
    #[doc(alias = "EventTypeWarning")]
    Warning,
}

/// Writes events about objects: combines similar ones, counts equal ones, and limits those about one object.
///
/// Clones are handles of one recorder. It has one task, which ends after [`shutdown`](Self::shutdown), or after the last handle
/// is dropped: either way it writes what is queued first, for at most
/// [`shutdown_timeout`](EventRecorderOptions::shutdown_timeout) and if the runtime keeps running.
#[doc(alias = "EventBroadcaster")]
#[doc(alias = "EventSink")]
#[derive(Clone)]
pub struct EventRecorder(Arc<Inner>);

struct Inner {
    component: Arc<str>,
    queue: mpsc::Sender<QueuedItem>,
    clock: WallClock,
    metrics: Metrics,
    tasks: TaskSet,
}

// === impl EventType ===

impl EventType {
    /// Returns the type as events have it: `Normal` or `Warning`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "Normal",
            Self::Warning => "Warning",
        }
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

// === impl EventRecorder ===

impl EventRecorder {
    /// A recorder that reports as `component`, which is the name of the controller, such as `replicaset-controller`.
    ///
    /// Make one for each controller of a program and clone it: limits and counts are those of a recorder.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    #[doc(alias = "NewBroadcaster")]
    #[doc(alias = "NewRecorder")]
    pub fn new(client: kube::Client, component: impl Into<String>) -> Self {
        Self::with_options(client, component, EventRecorderOptions::default())
    }

    /// The same, with options.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn with_options(
        client: kube::Client,
        component: impl Into<String>,
        options: EventRecorderOptions,
    ) -> Self {
        let component: Arc<str> = component.into().into();
        let metrics = Metrics::new(&component);
        let (sender, receiver) = mpsc::channel(options.queue_max.max(1));
        let recorder = Self(Arc::new(Inner {
            component: Arc::clone(&component),
            queue: sender,
            clock: options.clock,
            metrics: metrics.clone(),
            tasks: TaskSet::new(),
        }));
        let driver = Driver::new(client, component, options, receiver, metrics);
        let tasks = &recorder.0.tasks;
        tasks.spawn(driver.run(tasks.stop_token().clone()));
        recorder
    }

    /// Records an event about `object`.
    ///
    /// `reason` is short and for programs, such as `ScaledUp`; `message` is for people. Events of one reason with many different
    /// messages are combined: put what is the same for all of them into the reason.
    ///
    /// The call returns at once and cannot fail: an event that does not find its way to the server is
    /// [counted](Self::dropped_count) and logged, and its controller continues. Events of one thread are written in their order.
    #[doc(alias = "Eventf")]
    pub fn event<K>(
        &self,
        object: &K,
        type_: EventType,
        reason: impl Into<String>,
        message: impl Into<String>,
    ) where
        K: Resource,
        K::DynamicType: Default,
    {
        let object = object_reference(object, &K::DynamicType::default());
        self.event_for(object, type_, reason, message);
    }

    /// Records an event about the object of a reference, as [`event`](Self::event) does: about an object whose type is known at
    /// run time, by [`object_reference`], or about a part of an object, by the reference's `field_path`.
    pub fn event_for(
        &self,
        object: ObjectReference,
        type_: EventType,
        reason: impl Into<String>,
        message: impl Into<String>,
    ) {
        let event = Occurrence {
            object,
            type_,
            reason: reason.into(),
            message: message.into(),
            at: Instant::now(),
            time: self.0.clock.now(),
        };
        let Inner {
            component, metrics, ..
        } = &*self.0;
        let kind = event.object.kind.as_deref().unwrap_or_default();
        let name = event.object.name.as_deref().unwrap_or_default();
        debug!(%component, kind, name, %type_, reason = event.reason, message = event.message, "event");
        metrics.note_recorded();
        match self.0.queue.try_send(QueuedItem::Event(Box::new(event))) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => {
                // Not one line for each: there are many.
                if metrics.dropped_count().is_multiple_of(LOG_EVERY) {
                    warn!(%component, "the queue of events is full: they are dropped");
                }
                metrics.dropped(DropReason::QueueFull);
            }
            Err(TrySendError::Closed(_)) => {
                debug!(%component, "an event after the shutdown is dropped");
                metrics.dropped(DropReason::Shutdown);
            }
        }
    }

    /// Waits until all events that were recorded before are written or dropped. Returns at once after a
    /// [`shutdown`](Self::shutdown).
    ///
    /// # Errors
    ///
    /// [`FlushError`] if that takes longer than `limit`. They are still being written: another flush is of use.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with time enabled.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if dropped.
    pub async fn flush(&self, limit: Duration) -> Result<(), FlushError> {
        let (done, is_done) = oneshot::channel();
        let flushed = async {
            // A recorder that has ended has nothing to write.
            if self.0.queue.send(QueuedItem::Flush(done)).await.is_ok() {
                let _ = is_done.await;
            }
        };
        timeout(limit, flushed).await.map_err(|_| FlushError {
            limit,
            pending: self.pending_count(),
        })
    }

    /// Ends the recorder, and waits until all events that were recorded before are written or dropped: each is tried once more,
    /// within [`shutdown_timeout`](EventRecorderOptions::shutdown_timeout). Events that are recorded later are dropped. A second
    /// shutdown waits for the first.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the recorder still ends, but the caller does not wait for it.
    #[doc(alias = "Shutdown")]
    pub async fn shutdown(&self) {
        self.0.tasks.shutdown().await;
    }

    /// Returns the name of the component that reports.
    pub fn component(&self) -> &str {
        &self.0.component
    }

    /// Returns the number of events that were recorded, and are neither written nor dropped yet.
    pub fn pending_count(&self) -> u64 {
        self.0.metrics.pending_count()
    }

    /// Returns the number of events that were dropped: the queue was full, there were too many about an object, the server
    /// refused them or could not be reached, or the recorder was shut down. [`metrics`](super::metrics) count each.
    pub fn dropped_count(&self) -> u64 {
        self.0.metrics.dropped_count()
    }
}

/// The number of dropped events of which one is logged.
const LOG_EVERY: u64 = 100;

impl fmt::Debug for EventRecorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventRecorder")
            .field("component", &self.0.component)
            .field("pending_count", &self.pending_count())
            .field("dropped_count", &self.dropped_count())
            .finish_non_exhaustive()
    }
}

/// Returns a reference to `object`, as events have it: with uid and version.
#[doc(alias = "GetReference")]
pub fn object_reference<K: Resource>(object: &K, type_: &K::DynamicType) -> ObjectReference {
    let mut reference = object.object_ref(type_);
    reference
        .resource_version
        .clone_from(&object.meta().resource_version);
    reference
}
