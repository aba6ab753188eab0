//! A read under way, in the trace file.

use std::sync::Arc;

use http::StatusCode;
use serde_json::Value;

use crate::recorder::Recorder;

/// A read under way. Its end is its drop.
pub(super) struct OpenRead {
    pub(super) recorder: Arc<Recorder>,
    pub(super) replica: usize,
    /// The number of the request; `None` if there is no trace file.
    pub(super) request: Option<usize>,
}

// === impl OpenRead ===

impl OpenRead {
    pub(super) fn answered(&self, code: StatusCode) {
        if let Some(request) = self.request {
            self.recorder
                .write_trace(|writer, at| writer.answer(at, request, code.as_u16()));
        }
    }

    /// Takes the document of an answer.
    pub(super) fn document(&self, document: &Value) {
        if let Some(request) = self.request {
            self.recorder
                .write_trace(|writer, at| writer.document(at, self.replica, request, document));
        }
    }

    /// Takes an event of a watch.
    pub(super) fn watched(&self, event: &Value) {
        if let Some(request) = self.request {
            self.recorder
                .write_trace(|writer, at| writer.watch_event(at, self.replica, request, event));
        }
    }
}

impl Drop for OpenRead {
    fn drop(&mut self) {
        if let Some(request) = self.request {
            self.recorder
                .write_trace(|writer, at| writer.end_request(at, self.replica, request));
        }
    }
}
