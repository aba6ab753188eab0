//! The frames of one watch, in the encoding that its client negotiated.

use std::{borrow::Cow, sync::Arc};

use bytes::Bytes;
use fakeserver_kinds::custom_resources::CustomType;
use fakeserver_value::{revision::Revision, status::Status};
use fakeserver_versions::SharedVersionSet;

use super::Encoding;
use crate::{
    entropy::Entropy,
    store::{Change, StoredObject},
    watch::{Encode, EventKind},
    write::{Converter, webhook::Webhooks},
};

/// An encoding, and the conversion that stored objects go through before it.
#[derive(Debug, Clone)]
pub(crate) struct WatchEncoding {
    encoding: Encoding,
    conversion: Option<Conversion>,
    /// The versions of Kubernetes by which built-in objects may have been written.
    writers: Option<Arc<SharedVersionSet>>,
}

/// The conversion of custom objects to the version of a watch, by a webhook.
#[derive(Debug, Clone)]
struct Conversion {
    custom: Arc<CustomType>,
    webhooks: Arc<Webhooks>,
    entropy: Arc<Entropy>,
}

// === impl WatchEncoding ===

impl WatchEncoding {
    /// Encodes objects in their stored form.
    pub(crate) fn new(encoding: Encoding) -> Self {
        Self {
            encoding,
            conversion: None,
            writers: None,
        }
    }

    /// Leaves out of built-in objects the fields that its version of Kubernetes does not know, once one of `writers` may have
    /// written some.
    pub(crate) fn decoding(mut self, writers: &Arc<SharedVersionSet>) -> Self {
        self.writers = Some(Arc::clone(writers));
        self
    }

    /// Converts objects of `custom` first, if a webhook converts them.
    pub(crate) fn converting(
        mut self,
        custom: &Arc<CustomType>,
        webhooks: &Arc<Webhooks>,
        entropy: &Arc<Entropy>,
    ) -> Self {
        self.conversion = custom.conversion().is_some().then(|| Conversion {
            custom: Arc::clone(custom),
            webhooks: Arc::clone(webhooks),
            entropy: Arc::clone(entropy),
        });
        self
    }

    /// Returns the encoding of the next frame: the server may have been upgraded since the watch began.
    fn present(&self) -> Cow<'_, Encoding> {
        let kubernetes = self.encoding.kubernetes();
        let writers = self
            .writers
            .as_ref()
            .filter(|_| !self.encoding.drops_unknown());
        if writers.is_none_or(|writers| writers.has_only(kubernetes)) {
            return Cow::Borrowed(&self.encoding);
        }
        Cow::Owned(self.encoding.clone().dropping_unknown())
    }
}

impl Encode for WatchEncoding {
    fn initial(&self, object: &StoredObject) -> Bytes {
        self.present().initial(object)
    }

    fn event(&self, kind: EventKind, change: &Change) -> Bytes {
        self.present().event(kind, change)
    }

    fn bookmark(&self, revision: Revision, ends_initial_events: bool) -> Bytes {
        self.encoding.bookmark(revision, ends_initial_events)
    }

    fn error(&self, status: &Status) -> Bytes {
        self.encoding.error_frame(status)
    }

    fn adopt(&self, frame: Bytes) -> Bytes {
        self.encoding.adopt(frame)
    }

    fn api_version(&self) -> &str {
        self.encoding.api_version()
    }

    fn kind(&self) -> &str {
        self.encoding.kind()
    }

    fn first_frame_sent(&mut self) {
        self.encoding.first_frame_sent();
    }

    fn is_converting(&self) -> bool {
        self.conversion.is_some()
    }

    async fn convert(&self, object: &Arc<StoredObject>) -> Result<Arc<StoredObject>, Status> {
        let Some(conversion) = &self.conversion else {
            return Ok(Arc::clone(object));
        };
        let stored = vec![Arc::clone(object)];
        let converter = Converter::new(&conversion.webhooks, &conversion.entropy);
        let presented = converter.present(&conversion.custom, stored).await?;
        let presented = presented.into_iter().next();
        Ok(presented.unwrap_or_else(|| Arc::clone(object)))
    }
}
