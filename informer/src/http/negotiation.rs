//! The encoding that is asked for, and the way back to JSON.

use crate::{
    encoding::Encoding,
    list_watch::ListWatchError,
    sync::{AtomicBool, Ordering},
};

/// The encoding that is asked for, which all clones of a source share.
///
/// A server or a proxy that refuses it, or that answers with something else than it and JSON, is asked for JSON from then on.
#[derive(Debug, Default)]
pub(super) struct Negotiation {
    wanted: Encoding,
    /// True if an answer has made JSON the only choice.
    is_refused: AtomicBool,
}

// === impl Negotiation ===

impl Negotiation {
    pub(super) fn new(wanted: Encoding) -> Self {
        Self {
            wanted,
            is_refused: AtomicBool::new(false),
        }
    }

    /// Returns the encoding to ask for.
    pub(super) fn encoding(&self) -> Encoding {
        if self.is_refused.load(Ordering::Relaxed) {
            Encoding::Json
        } else {
            self.wanted
        }
    }

    /// Returns whether the next request asks for something else than JSON.
    pub(super) fn is_open(&self) -> bool {
        self.encoding() != Encoding::Json
    }

    /// Reads the media type of an answer. One that is not known is read as JSON, and is not asked for again.
    pub(super) fn answered(&self, media_type: &str) -> Encoding {
        Encoding::of_media_type(media_type).unwrap_or_else(|| {
            self.refuse();
            Encoding::Json
        })
    }

    /// Asks for JSON from now on.
    pub(super) fn refuse(&self) {
        self.is_refused.store(true, Ordering::Relaxed);
    }

    /// Asks for JSON from now on if an answer in another encoding could not be read.
    pub(super) fn check(&self, encoding: Encoding, error: &ListWatchError) {
        if encoding != Encoding::Json && matches!(error, ListWatchError::Protocol { .. }) {
            self.refuse();
        }
    }
}
