//! The frames of one watch, in the encoding that its client negotiated.

use std::sync::Arc;

use bytes::Bytes;
use fakeserver_kinds::custom_resources::CustomType;
use fakeserver_value::{revision::Revision, status::Status};

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
        }
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
}

impl Encode for WatchEncoding {
    fn initial(&self, object: &StoredObject) -> Bytes {
        self.encoding.initial(object)
    }

    fn event(&self, kind: EventKind, change: &Change) -> Bytes {
        self.encoding.event(kind, change)
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
