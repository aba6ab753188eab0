//! The client's side of a watch: frames as a body.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::Frame as BodyFrame;
use tokio::sync::mpsc;

use super::Watcher;

/// The client's side of a stream. When it is dropped, the watch is over.
pub(super) struct WatchBody {
    pub(super) frames: mpsc::Receiver<io::Result<Bytes>>,
    pub(super) watcher: Arc<Watcher>,
}

// === impl WatchBody ===

impl http_body::Body for WatchBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<BodyFrame<Bytes>>>> {
        self.frames
            .poll_recv(context)
            .map(|bytes| bytes.map(|bytes| bytes.map(BodyFrame::data)))
    }
}

impl Drop for WatchBody {
    fn drop(&mut self) {
        // At once, not when the task next runs.
        self.watcher.close();
    }
}
