//! How stored objects are shown to one client: under which kind, and how much of them.

use bytes::{BufMut, Bytes, BytesMut};
use serde_json::{Map, Value};

use super::bookmark;
use crate::{
    revision::Revision,
    storage::{Change, StoredObject},
    watch_cache::EventKind,
};

/// How much of an object is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Representation {
    /// All of it.
    Object,
    /// `PartialObjectMetadata`.
    Metadata,
}

/// A representation of one version of one resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Encoding {
    kind: String,
    api_version: String,
    representation: Representation,
    /// What distinguishes its frames from those of other encodings, behind a place for the event's kind.
    frame_key: Box<[u8]>,
    /// Whether items of a list say what they are, as those of custom resources do.
    has_whole_items: bool,
    /// `{"kind":"Pod","apiVersion":"v1",`: what an object begins with.
    object_head: Box<[u8]>,
}

// === impl Encoding ===

impl Encoding {
    /// Shows objects of `kind` in `api_version` (`v1`, `apps/v1`).
    pub(crate) fn new(kind: &str, api_version: &str, representation: Representation) -> Self {
        let shown = match representation {
            Representation::Object => (kind, api_version),
            Representation::Metadata => ("PartialObjectMetadata", "meta.k8s.io/v1"),
        };
        let mut frame_key = vec![0, representation as u8];
        frame_key.extend_from_slice(api_version.as_bytes());
        Self {
            kind: kind.to_owned(),
            api_version: api_version.to_owned(),
            representation,
            has_whole_items: representation == Representation::Metadata,
            frame_key: frame_key.into(),
            object_head: format!(r#"{{"kind":"{}","apiVersion":"{}","#, shown.0, shown.1)
                .into_bytes()
                .into(),
        }
    }

    /// Shows the items of a list with what they are.
    pub(crate) fn with_whole_items(mut self) -> Self {
        self.has_whole_items = true;
        self
    }

    /// The kind that it was made for.
    pub(crate) fn kind(&self) -> &str {
        &self.kind
    }

    /// The version that it was made for.
    pub(crate) fn api_version(&self) -> &str {
        &self.api_version
    }

    /// `object` as the answer to a request, with the newline that ends it.
    pub(crate) fn object(&self, object: &StoredObject) -> Bytes {
        let mut bytes = BytesMut::with_capacity(self.size(object));
        self.put_object(&mut bytes, object);
        bytes.put_u8(b'\n');
        bytes.freeze()
    }

    /// An object that is not stored as it is shown: of a write that was only tried, or one that is gone.
    pub(crate) fn value(&self, object: &Value) -> Bytes {
        let empty = Map::new();
        let members = object.as_object().unwrap_or(&empty);
        let mut bytes = BytesMut::from(&*self.object_head);
        put_member(&mut bytes, "metadata", &object["metadata"]);
        let is_shown = |name: &str| {
            self.representation == Representation::Object
                && !matches!(name, "kind" | "apiVersion" | "metadata")
        };
        for (name, value) in members.iter().filter(|(name, _)| is_shown(name)) {
            bytes.put_u8(b',');
            put_member(&mut bytes, name, value);
        }
        bytes.put_slice(b"}\n");
        bytes.freeze()
    }

    /// The head of a list, up to its items.
    pub(super) fn list_head(&self, metadata: &str) -> String {
        let (kind, api_version) = match self.representation {
            Representation::Object => (format!("{}List", self.kind), self.api_version.as_str()),
            Representation::Metadata => ("PartialObjectMetadataList".to_owned(), "meta.k8s.io/v1"),
        };
        format!(r#"{{"kind":"{kind}","apiVersion":"{api_version}","metadata":{metadata},"items":["#)
    }

    /// `object` as an item of a list: objects say there what they are only if it is not what the list says.
    pub(super) fn put_item(&self, bytes: &mut BytesMut, object: &StoredObject) {
        if self.has_whole_items {
            self.put_object(bytes, object);
        } else {
            bytes.put_slice(object.json());
        }
    }

    /// The frame of a change. It is made on first use and shared by everybody who watches in this encoding.
    pub(crate) fn event(&self, kind: EventKind, change: &Change) -> Bytes {
        let mut key = self.frame_key.clone();
        key[0] = kind as u8;
        change.frame(&key, || match (kind, change.before(), change.after()) {
            (EventKind::Added, _, Some(object)) => self.frame("ADDED", object),
            (EventKind::Modified, _, Some(object)) => self.frame("MODIFIED", object),
            (_, Some(before), _) => self.deleted(before, Revision::new(change.revision())),
            (_, None, _) => unreachable!("only what was there can leave"),
        })
    }

    /// The frame of an object that was there before the watch began.
    pub(crate) fn initial(&self, object: &StoredObject) -> Bytes {
        self.frame("ADDED", object)
    }

    /// The frame that says: you have seen everything up to `revision`.
    pub(crate) fn bookmark(&self, revision: Revision, ends_initial_events: bool) -> Bytes {
        let annotations = if ends_initial_events {
            r#","annotations":{"k8s.io/initial-events-end":"true"}"#
        } else {
            ""
        };
        let rest = match self.representation {
            Representation::Object => bookmark::zero_value(&self.api_version, &self.kind),
            Representation::Metadata => "",
        };
        let head = String::from_utf8_lossy(&self.object_head);
        format!(
            r#"{{"type":"BOOKMARK","object":{head}"metadata":{{"resourceVersion":"{revision}"{annotations}}}{rest}}}}}{}"#,
            '\n'
        )
        .into()
    }

    fn frame(&self, kind: &str, object: &StoredObject) -> Bytes {
        let mut bytes = BytesMut::with_capacity(self.size(object));
        put_frame_head(&mut bytes, kind);
        self.put_object(&mut bytes, object);
        bytes.put_slice(b"}\n");
        bytes.freeze()
    }

    /// The last state of an object, under the version of its end.
    fn deleted(&self, object: &StoredObject, revision: Revision) -> Bytes {
        let mut bytes = BytesMut::with_capacity(self.size(object));
        put_frame_head(&mut bytes, "DELETED");
        bytes.put_slice(&self.object_head);
        let revision = revision.to_string();
        match self.representation {
            Representation::Object => {
                let (head, _, tail) = object.around_version();
                bytes.put_slice(&head[1..]);
                bytes.put_slice(revision.as_bytes());
                bytes.put_slice(tail);
            }
            Representation::Metadata => {
                let (head, _, tail) = object.metadata_around_version();
                bytes.put_slice(b"\"metadata\":");
                bytes.put_slice(head);
                bytes.put_slice(revision.as_bytes());
                bytes.put_slice(tail);
                bytes.put_u8(b'}');
            }
        }
        bytes.put_slice(b"}\n");
        bytes.freeze()
    }

    fn put_object(&self, bytes: &mut BytesMut, object: &StoredObject) {
        bytes.put_slice(&self.object_head);
        match self.representation {
            Representation::Object => bytes.put_slice(&object.json()[1..]),
            Representation::Metadata => {
                bytes.put_slice(b"\"metadata\":");
                bytes.put_slice(&object.metadata_json());
                bytes.put_u8(b'}');
            }
        }
    }

    /// Enough for the object and what stands around it in a frame.
    fn size(&self, object: &StoredObject) -> usize {
        const AROUND: usize = 64;
        let object = match self.representation {
            Representation::Object => object.json().len(),
            Representation::Metadata => object.metadata_json().len(),
        };
        self.object_head.len() + object + AROUND
    }
}

fn put_member(bytes: &mut BytesMut, name: &str, value: &Value) {
    bytes.put_slice(Value::from(name).to_string().as_bytes());
    bytes.put_u8(b':');
    bytes.put_slice(value.to_string().as_bytes());
}

fn put_frame_head(bytes: &mut BytesMut, kind: &str) {
    bytes.put_slice(b"{\"type\":\"");
    bytes.put_slice(kind.as_bytes());
    bytes.put_slice(b"\",\"object\":");
}
