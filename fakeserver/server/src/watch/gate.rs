//! The traits by which a watch encodes its frames and sends them.

use std::{future::Future, io, ops::ControlFlow, sync::Arc};

use bytes::Bytes;
use fakeserver_value::{revision::Revision, status::Status};
use tokio::{sync::mpsc, time::Instant};
use tracing::debug;

use super::{EventKind, Watcher};
use crate::store::{Change, ObjectKey, Storage, StoredObject};

/// Makes the bytes of the frames of one watch.
pub(crate) trait Encode: Send + Sync + 'static {
    /// Returns the frame of an object that was there before the watch began.
    fn initial(&self, object: &StoredObject) -> Bytes;

    /// Returns the frame of a change.
    fn event(&self, kind: EventKind, change: &Change) -> Bytes;

    /// Returns the bookmark of the revision up to which all changes were sent.
    fn bookmark(&self, revision: Revision, ends_initial_events: bool) -> Bytes;

    /// Returns the frame of an error.
    fn error(&self, status: &Status) -> Bytes;

    /// Converts a frame in JSON to this encoding. A text that is no frame stays unchanged.
    fn adopt(&self, frame: Bytes) -> Bytes;

    /// Returns the `apiVersion` of the objects.
    fn api_version(&self) -> &str;

    /// Returns the `kind` of the objects.
    fn kind(&self) -> &str;

    /// Notes that the first frame was sent: later frames omit column definitions.
    fn first_frame_sent(&mut self);

    /// Returns whether objects are converted by a webhook before they are encoded.
    fn is_converting(&self) -> bool;

    /// Converts a stored object to the version of the watch.
    ///
    /// # Errors
    ///
    /// The webhook gives no answer, or not the requested object.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if the future is dropped.
    fn convert(
        &self,
        object: &Arc<StoredObject>,
    ) -> impl Future<Output = Result<Arc<StoredObject>, Status>> + Send;
}

/// Sends the frames of one watch, and decides for each whether, when and in which pieces it goes.
pub(crate) trait Gate: Send + Sync + 'static {
    /// The encoding of the frames.
    type Encoding: Encode;

    /// Returns the encoding of the frames.
    fn encoding(&self) -> &Self::Encoding;

    /// Sends a frame, or the consequence of a fault.
    fn send(&mut self, frame: Frame, output: &WatchOutput) -> impl Future<Output = Flow> + Send;

    /// Sends bytes that no fault concerns.
    fn put(&mut self, bytes: Bytes, output: &WatchOutput) -> impl Future<Output = Flow> + Send;

    /// Sends all bytes that are held back to be joined with later ones.
    fn flush(&mut self, output: &WatchOutput) -> impl Future<Output = Flow> + Send;

    /// Returns the time of the bookmark that ends the initial events, if it was postponed.
    fn end_postponed_to(&self) -> Option<Instant>;

    /// Sends the postponed bookmark, for a client that has seen everything up to `position`.
    fn send_postponed_end(
        &mut self,
        position: Revision,
        output: &WatchOutput,
    ) -> impl Future<Output = Flow> + Send;

    /// Returns the time at which joined bytes are sent even if no others follow.
    fn joined_until(&self) -> Option<Instant>;
}

/// A frame before it is sent, and the facts that faults decide by.
pub(crate) struct Frame {
    pub(crate) bytes: Bytes,
    /// `None` for a bookmark.
    pub(crate) event: Option<EventKind>,
    pub(crate) revision: Revision,
    pub(crate) is_initial: bool,
    /// The time and the object of a change; `None` for initial events and bookmarks.
    pub(crate) change: Option<(Instant, ObjectKey)>,
}

/// The reason why a stream ends.
pub(crate) enum Outcome {
    End,
    /// The stream stays open, but nothing more is sent.
    Silent,
}

/// Continues the stream or ends it.
pub(crate) type Flow = ControlFlow<Outcome>;

/// The output of a watch: its body, and what a fault needs of the watcher and the store.
pub(crate) struct WatchOutput {
    pub(super) body: mpsc::Sender<io::Result<Bytes>>,
    pub(super) watcher: Arc<Watcher>,
    pub(super) store: Arc<Storage>,
}

// === impl WatchOutput ===

impl WatchOutput {
    /// Sends bytes, or the error that breaks the connection, to the client.
    pub(crate) async fn send_bytes(&self, bytes: io::Result<Bytes>) -> Flow {
        if self.body.send(bytes).await.is_err() {
            debug!("watcher has left");
            return ControlFlow::Break(Outcome::End);
        }
        Flow::Continue(())
    }

    /// Ends the watch after the changes that are queued already.
    pub(crate) fn cut_off(&self) {
        self.watcher.cut_off();
    }

    /// Returns whether the object of a change has changed again.
    pub(crate) fn is_superseded(&self, frame: &Frame) -> bool {
        let Some((_, key)) = &frame.change else {
            return false;
        };
        let revision = frame.revision.get();
        self.store.view(|view| {
            // A deleted object has a deletion still to be sent.
            view.get(key).is_none_or(|now| now.revision() > revision)
        })
    }
}
