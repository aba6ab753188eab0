//! The reader of an informer's stream of its status.

use std::cell::RefCell;

use futures::{FutureExt, StreamExt};
use informer::{SharedInformer, StatusStream, SyncStatus};

/// Reads the stream of one informer's status.
pub(super) struct StatusReader(RefCell<LastReading>);

struct LastReading {
    stream: StatusStream,
    last: Option<SyncStatus>,
}

// === impl StatusReader ===

impl StatusReader {
    pub(super) fn new<K: Send + Sync + 'static>(informer: &SharedInformer<K>) -> Self {
        Self(RefCell::new(LastReading {
            stream: informer.status_stream(),
            last: None,
        }))
    }

    /// Reads the stream as far as it goes, and describes its last status if the informer tells another one.
    pub(super) fn difference<K: Send + Sync + 'static>(
        &self,
        informer: &SharedInformer<K>,
    ) -> Option<String> {
        let reading = &mut *self.0.borrow_mut();
        let before = informer.status();
        while let Some(Some(status)) = reading.stream.next().now_or_never() {
            reading.last = Some(status);
        }
        let after = informer.status();
        // On other threads it may have changed meanwhile.
        let differs = before == after && reading.last.as_ref() != Some(&after);
        differs.then(|| format!("want {after:?}, got {:?}", reading.last))
    }
}
