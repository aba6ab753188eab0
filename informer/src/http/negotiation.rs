//! The form of answers that is asked for, and the way back to plain JSON.

use crate::{
    encoding::Encoding,
    list_watch::ListWatchError,
    sync::{AtomicBool, Ordering},
};

/// The form of answers that a request asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Preference {
    pub(super) encoding: Encoding,
    /// True if the server can leave `metadata.managedFields` out.
    pub(super) drops_managed_fields: bool,
    /// True if lists and streaming lists may be compressed.
    pub(super) accepts_gzip: bool,
}

/// The form that is asked for, which all clones of a source share.
///
/// A server or a proxy that refuses a part of it, or whose answers cannot be read, is not asked for that part again.
#[derive(Debug, Default)]
pub(super) struct Negotiation {
    wanted: Preference,
    /// True if an answer has made JSON the only choice.
    is_encoding_refused: AtomicBool,
    is_drop_refused: AtomicBool,
    is_gzip_refused: AtomicBool,
}

// === impl Negotiation ===

impl Negotiation {
    pub(super) fn new(wanted: Preference) -> Self {
        Self {
            wanted,
            ..Self::default()
        }
    }

    /// Returns the form that was asked for at first.
    pub(super) fn wanted(&self) -> Preference {
        self.wanted
    }

    /// Returns the form to ask for.
    pub(super) fn preference(&self) -> Preference {
        let is_refused = |part: &AtomicBool| part.load(Ordering::Relaxed);
        let wanted = self.wanted;
        Preference {
            encoding: if is_refused(&self.is_encoding_refused) {
                Encoding::Json
            } else {
                wanted.encoding
            },
            drops_managed_fields: wanted.drops_managed_fields && !is_refused(&self.is_drop_refused),
            accepts_gzip: wanted.accepts_gzip && !is_refused(&self.is_gzip_refused),
        }
    }

    /// Reads the media type of an answer. One that is not known is read as JSON, and is not asked for again.
    pub(super) fn answered(&self, media_type: &str) -> Encoding {
        Encoding::of_media_type(media_type).unwrap_or_else(|| {
            self.refuse_encoding();
            Encoding::Json
        })
    }

    /// Gives up a part of the form to which a failure of this code can be due; returns false if there is none.
    pub(super) fn concede(&self, code: http::StatusCode) -> bool {
        let preference = self.preference();
        match code.as_u16() {
            // An unknown parameter of a media type; servers of Kubernetes ignore those.
            400 | 406 | 415 if preference.drops_managed_fields => {
                self.is_drop_refused.store(true, Ordering::Relaxed);
                true
            }
            406 | 415 if preference.encoding != Encoding::Json => {
                self.refuse_encoding();
                true
            }
            _ => false,
        }
    }

    /// Asks for JSON from now on if an answer in another encoding could not be read.
    pub(super) fn check(&self, encoding: Encoding, error: &ListWatchError) {
        if encoding != Encoding::Json && matches!(error, ListWatchError::Protocol { .. }) {
            self.refuse_encoding();
        }
    }

    /// Asks for answers without compression from now on.
    pub(super) fn refuse_gzip(&self) {
        self.is_gzip_refused.store(true, Ordering::Relaxed);
    }

    fn refuse_encoding(&self) {
        self.is_encoding_refused.store(true, Ordering::Relaxed);
    }
}
