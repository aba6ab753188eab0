//! Bodies of which the log keeps what passes.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use axum::body::Body;
use fakeserver_value::{cbor, protobuf, yaml};
use http_body::Body as _;
use serde_json::Value;

use super::AuditedRequest;
use crate::server::observed_body::{BodyObserver, PolledFrame};

/// The longest body that is kept.
const KEPT_MAX_BYTES: usize = 8 << 20;

/// The recorded part of a body.
#[derive(Debug)]
pub(super) struct RecordedBody {
    bytes: Vec<u8>,
    syntax: Option<Syntax>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Syntax {
    Json,
    Yaml,
    Protobuf,
    Cbor,
}

/// An observer of a body that records its bytes.
#[derive(Debug)]
pub(super) enum Observer {
    Request(Arc<Mutex<RecordedBody>>),
    /// The request is complete when the response has been read or is dropped.
    Response(RecordedBody, Box<AuditedRequest>),
}

// === impl RecordedBody ===

impl RecordedBody {
    /// Creates the record of a body of this media type. Bodies of types that contain no objects are not recorded.
    pub(super) fn of(media_type: &str) -> Self {
        let essence = media_type.split(';').next().unwrap_or_default();
        let syntax = match essence.rsplit(['/', '+', '.']).next() {
            Some("" | "json") => Some(Syntax::Json),
            Some("yaml") => Some(Syntax::Yaml),
            Some("protobuf") => Some(Syntax::Protobuf),
            Some("cbor") => Some(Syntax::Cbor),
            _ => None,
        };
        Self {
            bytes: Vec::new(),
            syntax,
        }
    }

    pub(super) fn nothing() -> Self {
        Self {
            bytes: Vec::new(),
            syntax: None,
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        if self.syntax.is_none() {
            return;
        }
        if self.bytes.len() + bytes.len() > KEPT_MAX_BYTES {
            *self = Self::nothing();
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Returns the body, if it is whole and can be read.
    pub(super) fn value(&self) -> Option<Value> {
        match self.syntax? {
            Syntax::Json => serde_json::from_slice(&self.bytes).ok(),
            Syntax::Yaml => yaml::parse(&self.bytes).ok(),
            Syntax::Protobuf => protobuf::decode_object(&self.bytes, None).ok(),
            Syntax::Cbor => cbor::Document::parse(&self.bytes).ok()?.value().ok(),
        }
    }
}

// === impl Observer ===

impl BodyObserver for Observer {
    fn poll_frame(&mut self, body: &mut Body, context: &mut Context<'_>) -> PolledFrame {
        let polled = Pin::new(&mut *body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(data) = frame.data_ref()
        {
            match self {
                Self::Request(kept) => {
                    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                    kept.add(data);
                }
                Self::Response(kept, audited) => {
                    kept.add(data);
                    // The event is written before the client gets the last frame, so that a client that has read the
                    // response finds it in the log.
                    if body.is_end_stream() {
                        audited.complete(kept.value());
                    }
                }
            }
        }
        polled
    }

    fn end(&mut self, _: Body) {
        if let Self::Response(kept, audited) = self {
            audited.complete(kept.value());
        }
    }
}
