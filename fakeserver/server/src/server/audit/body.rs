//! Bodies of which the log keeps what passes.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use axum::body::{Body, Bytes};
use fakeserver_value::{cbor, protobuf};
use http_body::{Body as HttpBody, Frame, SizeHint};
use serde_json::Value;

use super::Audited;
use crate::edge::request::yaml;

/// The longest body that is kept.
const KEPT_MAX_BYTES: usize = 8 << 20;

/// The part of a body that has passed.
#[derive(Debug)]
pub(super) struct Kept {
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

/// A body on its way.
#[derive(Debug)]
pub(super) struct ObservedBody {
    body: Body,
    observer: Observer,
}

#[derive(Debug)]
enum Observer {
    Request(Arc<Mutex<Kept>>),
    Response(Kept, Box<Audited>),
}

// === impl Kept ===

impl Kept {
    /// Creates the beginning of a body of a media type. Nothing is kept of one in which no objects are written.
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
            Syntax::Yaml => {
                let text = std::str::from_utf8(&self.bytes).ok()?;
                yaml::Document::parse_single(text).ok()?.value().ok()
            }
            Syntax::Protobuf => protobuf::decode_object(&self.bytes, None).ok(),
            Syntax::Cbor => cbor::Document::parse(&self.bytes).ok()?.value().ok(),
        }
    }
}

// === impl ObservedBody ===

impl ObservedBody {
    pub(super) fn of_request(body: Body, kept: Arc<Mutex<Kept>>) -> Self {
        Self {
            body,
            observer: Observer::Request(kept),
        }
    }

    /// Observes the body of an answer. The request is complete when it has been read or is dropped.
    pub(super) fn of_response(body: Body, kept: Kept, audited: Audited) -> Self {
        Self {
            body,
            observer: Observer::Response(kept, Box::new(audited)),
        }
    }

    fn note(&mut self, data: &[u8]) {
        match &mut self.observer {
            Observer::Request(kept) => {
                kept.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .add(data);
            }
            Observer::Response(kept, audited) => {
                kept.add(data);
                // Before the client has the last of it, who may look at the log then.
                if self.body.is_end_stream() {
                    audited.complete(kept.value());
                }
            }
        }
    }
}

impl HttpBody for ObservedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(data) = frame.data_ref()
        {
            self.note(data);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for ObservedBody {
    fn drop(&mut self) {
        if let Observer::Response(kept, audited) = &mut self.observer {
            audited.complete(kept.value());
        }
    }
}
