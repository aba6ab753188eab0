//! The encoding of stored objects for one client: kind, view and format.
//!
//! As JSON, an object is a prefix and the bytes of the store. All other encodings are built from its parsed value.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use fakeserver_kinds::custom_resources::CustomType;
use fakeserver_value::{
    cbor, edit::remove, protobuf, revision::Revision, served_form::ServedForm, status::Status,
};
use fakeserver_versions::KubernetesVersion;
use serde_json::Value;

use super::{
    Format, TableView,
    accept::MetaVersion,
    answer::{status_cbor, status_protobuf},
    bookmark,
};
use crate::{
    store::{Change, StoredObject},
    watch::EventKind,
};

pub(super) const METADATA_KIND: &str = "PartialObjectMetadata";

/// The part of an object that a response contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Representation {
    /// All of it.
    Object,
    /// `PartialObjectMetadata`.
    Metadata,
}

/// A representation of one version of one resource.
#[derive(Debug, Clone)]
pub(crate) struct Encoding {
    /// The version of Kubernetes whose types it writes.
    pub(super) kubernetes: KubernetesVersion,
    pub(super) kind: String,
    pub(super) api_version: String,
    /// The kind of a list, if it is not the usual one.
    pub(super) list_kind: Option<Arc<str>>,
    pub(super) representation: Representation,
    /// The version of metadata and tables.
    pub(super) meta_version: MetaVersion,
    /// The form of a kind to which stored objects are converted, if they are.
    pub(super) form: Option<&'static ServedForm>,
    /// True if objects may have fields that this version of Kubernetes does not know.
    pub(super) drops_unknown: bool,
    /// The custom type, if its objects differ from their stored form.
    pub(super) custom: Option<Arc<CustomType>>,
    format: Format,
    /// Objects are rows.
    pub(super) table: Option<TableView>,
    /// The key of its frames among those of other encodings, behind a place for the event's kind.
    frame_key: Box<[u8]>,
    /// True if objects come without `metadata.managedFields`.
    drops_managed_fields: bool,
    /// True if items of a list carry their kind, as those of custom resources do.
    has_whole_items: bool,
    /// `{"kind":"Pod","apiVersion":"v1",`: what an object begins with.
    object_head: Box<[u8]>,
}

// === impl Encoding ===

impl Encoding {
    /// Creates an encoding of objects of `kind` in `api_version` (`v1`, `apps/v1`) as JSON.
    pub(crate) fn new(kind: &str, api_version: &str, representation: Representation) -> Self {
        let meta_version = MetaVersion::default();
        let kind_and_version = match representation {
            Representation::Object => (kind, api_version),
            Representation::Metadata => (METADATA_KIND, meta_version.api_version()),
        };
        let mut frame_key = vec![0, representation as u8, Format::Json as u8];
        frame_key.extend_from_slice(api_version.as_bytes());
        Self {
            kubernetes: KubernetesVersion::DEFAULT,
            kind: kind.to_owned(),
            api_version: api_version.to_owned(),
            list_kind: None,
            representation,
            meta_version,
            form: None,
            drops_unknown: false,
            custom: None,
            format: Format::Json,
            table: None,
            drops_managed_fields: false,
            has_whole_items: representation == Representation::Metadata,
            frame_key: frame_key.into(),
            object_head: object_head(kind_and_version),
        }
    }

    /// Sets the version of Kubernetes whose types it writes.
    pub(crate) fn of_kubernetes(mut self, version: KubernetesVersion) -> Self {
        self.kubernetes = version;
        self.with_key(&[u8::try_from(version.index()).unwrap_or(u8::MAX)])
    }

    /// Leaves out of objects the fields that its version of Kubernetes does not know.
    pub(crate) fn dropping_unknown(mut self) -> Self {
        self.drops_unknown = true;
        self.with_key(&[u8::MAX])
    }

    /// Returns whether it leaves out fields that its version of Kubernetes does not know.
    pub(crate) fn drops_unknown(&self) -> bool {
        self.drops_unknown
    }

    /// Returns the version of Kubernetes whose types it writes.
    pub(crate) fn kubernetes(&self) -> KubernetesVersion {
        self.kubernetes
    }

    /// Appends bytes to the key of its frames.
    fn with_key(mut self, bytes: &[u8]) -> Self {
        let mut key = Vec::from(self.frame_key);
        key.extend_from_slice(bytes);
        self.frame_key = key.into();
        self
    }

    /// Sets the version of `meta.k8s.io` for partial metadata and tables.
    pub(crate) fn in_meta_version(mut self, version: MetaVersion) -> Self {
        self.meta_version = version;
        if self.representation == Representation::Metadata {
            self.object_head = object_head((METADATA_KIND, version.api_version()));
            return self.with_key(&[version as u8]);
        }
        self
    }

    /// Writes them in another format. YAML is made of the JSON when it goes out.
    pub(crate) fn in_format(mut self, format: Format) -> Self {
        self.format = format;
        self.frame_key[2] = format as u8;
        self
    }

    /// Leaves `metadata.managedFields` out of objects, those in rows of tables included.
    pub(crate) fn without_managed_fields(mut self) -> Self {
        self.drops_managed_fields = true;
        self.with_key(b"-managedFields")
    }

    /// Converts stored objects to `form`.
    pub(crate) fn with_form(mut self, form: &'static ServedForm) -> Self {
        self.table = self.table.map(|table| table.with_form(form));
        self.form = Some(form);
        self
    }

    /// Converts stored objects to the version of a custom type, if it differs from the stored one.
    pub(crate) fn with_custom(mut self, custom: &Arc<CustomType>) -> Self {
        if let Some(form) = custom.shown_form() {
            // Frames that were made before the definition changed are not those of today.
            self.custom = Some(Arc::clone(custom));
            return self.with_key(&form.to_le_bytes());
        }
        self
    }

    /// Calls a list of them by a name of its own.
    pub(crate) fn with_list_kind(mut self, list_kind: Option<Arc<str>>) -> Self {
        self.list_kind = list_kind;
        self
    }

    /// Encodes objects as rows of a table. Tables have no protobuf and no CBOR.
    pub(crate) fn with_table(mut self, table: TableView) -> Self {
        self.table = Some(table.in_version(self.meta_version));
        self
    }

    /// Returns whether the encoding contains whole objects, and not rows or partial metadata.
    pub(crate) fn has_whole_objects(&self) -> bool {
        matches!(self.representation, Representation::Object) && self.table.is_none()
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Includes kind and apiVersion in the items of a list.
    pub(crate) fn with_whole_items(mut self) -> Self {
        self.has_whole_items = true;
        self
    }

    /// Returns whether the items of a list have kind and apiVersion.
    pub(super) fn has_whole_items(&self) -> bool {
        self.has_whole_items
    }

    /// The kind that it was made for.
    pub(crate) fn kind(&self) -> &str {
        &self.kind
    }

    /// The version that it was made for.
    pub(crate) fn api_version(&self) -> &str {
        &self.api_version
    }

    /// `object` as the answer to a request; JSON ends with a newline.
    pub(crate) fn object(&self, object: &StoredObject) -> Bytes {
        let reduced = self.reduced(object);
        let object = reduced.as_ref().unwrap_or(object);
        if !self.is_plain() {
            return self.encode_value(&self.typed(object));
        }
        let mut bytes = BytesMut::with_capacity(self.size(object));
        self.put_object(&mut bytes, object);
        bytes.put_u8(b'\n');
        bytes.freeze()
    }

    /// Encodes an object that is not in the store: of a dry run, or one that was deleted.
    pub(crate) fn value(&self, object: &Value) -> Bytes {
        let mut object = self.typed_value(object);
        if self.drops_managed_fields {
            remove(&mut object["metadata"], "managedFields");
        }
        self.encode_value(&object)
    }

    /// Returns the object without the fields that the client does without, if it has them.
    pub(super) fn reduced(&self, object: &StoredObject) -> Option<StoredObject> {
        let is_reduced = self.drops_managed_fields;
        is_reduced
            .then(|| object.without_managed_fields())
            .flatten()
    }

    /// Encodes `object` as an item of a list. Items have kind and apiVersion only if these do not follow from the
    /// list's.
    pub(super) fn put_item(&self, bytes: &mut impl BufMut, object: &StoredObject) {
        let reduced = self.reduced(object);
        let object = reduced.as_ref().unwrap_or(object);
        if let Some(table) = &self.table {
            let is_stored = self.has_stored_form() && table.has_stored_rows();
            return if is_stored {
                table.put_stored_row(bytes, object, self.response_kind());
            } else {
                table.put_row(bytes, &self.typed(object));
            };
        }
        if self.is_converted() {
            self.put_converted(bytes, object);
        } else if self.has_whole_items {
            self.put_object(bytes, object);
        } else {
            bytes.put_slice(&object.json());
        }
    }

    /// Returns the frame of a change. The frame is encoded on first use and shared by all watches with this encoding,
    /// unless it contains ages.
    pub(crate) fn event(&self, kind: EventKind, change: &Change) -> Bytes {
        let frame = || match (kind, change.before(), change.after()) {
            (EventKind::Added, _, Some(object)) => self.frame("ADDED", object),
            (EventKind::Modified, _, Some(object)) => self.frame("MODIFIED", object),
            (_, Some(before), _) => self.deleted(before, Revision::new(change.revision())),
            (_, None, _) => unreachable!("only what was there can leave"),
        };
        if self.table.is_some() {
            return frame();
        }
        let mut key = self.frame_key.clone();
        key[0] = kind as u8;
        change.frame(&key, frame)
    }

    /// The frame of an object that was there before the watch began.
    pub(crate) fn initial(&self, object: &StoredObject) -> Bytes {
        self.frame("ADDED", object)
    }

    /// Returns the bookmark of `revision`.
    pub(crate) fn bookmark(&self, revision: Revision, ends_initial_events: bool) -> Bytes {
        let annotations = if ends_initial_events {
            r#","annotations":{"k8s.io/initial-events-end":"true"}"#
        } else {
            ""
        };
        let rest = match self.representation {
            Representation::Object => {
                bookmark::zero_value(self.kubernetes, &self.api_version, &self.kind)
            }
            Representation::Metadata => String::new(),
        };
        let head = String::from_utf8_lossy(&self.object_head);
        let object =
            format!(r#"{head}"metadata":{{"resourceVersion":"{revision}"{annotations}}}{rest}}}"#);
        if self.is_plain() {
            return format!("{{\"type\":\"BOOKMARK\",\"object\":{object}}}\n").into();
        }
        let object: Value = serde_json::from_str(&object).expect("it was written as JSON");
        self.encode_value_frame("BOOKMARK", &object)
    }

    /// Returns the frame of an `ERROR` event.
    pub(crate) fn error_frame(&self, status: &Status) -> Bytes {
        match self.format {
            Format::Protobuf => {
                return protobuf::encode_watch_frame("ERROR", &status_protobuf(status)).into();
            }
            Format::Cbor => return cbor::encode_frame("ERROR", &status_cbor(status)).into(),
            Format::Json | Format::Yaml => {}
        }
        let mut frame = BytesMut::new();
        put_frame_head(&mut frame, "ERROR");
        frame.put_slice(&status.to_json());
        frame.put_slice(b"}\n");
        frame.freeze()
    }

    /// Converts a frame in JSON to this encoding. Bytes that are no frame stay unchanged.
    pub(crate) fn adopt(&self, frame: Bytes) -> Bytes {
        if self.is_text() {
            return frame;
        }
        let Ok(event) = serde_json::from_slice::<Value>(&frame) else {
            return frame;
        };
        let (kind, object) = (event["type"].as_str().unwrap_or_default(), &event["object"]);
        if self.format == Format::Cbor {
            return cbor::encode_frame(kind, &cbor::encode(object, None)).into();
        }
        match protobuf::encode_object_in(self.kubernetes, object) {
            Ok(object) => protobuf::encode_watch_frame(kind, &object).into(),
            Err(_) => frame,
        }
    }

    /// Notes that the first frame was sent. Later frames omit the column definitions.
    pub(crate) fn first_frame_sent(&mut self) {
        if let Some(table) = &mut self.table {
            table.omit_columns();
        }
    }

    /// Returns whether responses contain the stored bytes unchanged.
    pub(super) fn is_plain(&self) -> bool {
        self.table.is_none() && !self.is_converted() && self.is_text()
    }

    /// Returns whether objects are written as JSON, or as YAML that is made of JSON.
    fn is_text(&self) -> bool {
        matches!(self.format, Format::Json | Format::Yaml)
    }

    /// Returns whether whole objects are encoded in their stored form.
    fn has_stored_form(&self) -> bool {
        self.representation == Representation::Object && !self.is_converted()
    }

    /// Returns whether objects are converted from their stored form.
    pub(super) fn is_converted(&self) -> bool {
        self.form.is_some() || self.custom.is_some() || self.drops_unknown
    }

    fn frame(&self, kind: &str, object: &StoredObject) -> Bytes {
        let reduced = self.reduced(object);
        let object = reduced.as_ref().unwrap_or(object);
        if !self.is_plain() {
            return self.encode_value_frame(kind, &self.typed(object));
        }
        let mut bytes = BytesMut::with_capacity(self.size(object));
        put_frame_head(&mut bytes, kind);
        self.put_object(&mut bytes, object);
        bytes.put_slice(b"}\n");
        bytes.freeze()
    }

    /// The last state of an object, under the version of its end.
    fn deleted(&self, object: &StoredObject, revision: Revision) -> Bytes {
        let reduced = self.reduced(object);
        let object = reduced.as_ref().unwrap_or(object);
        let revision = revision.to_string();
        if !self.is_plain() {
            let mut object = self.typed(object);
            object["metadata"]["resourceVersion"] = revision.into();
            return self.encode_value_frame("DELETED", &object);
        }
        let mut bytes = BytesMut::with_capacity(self.size(object));
        put_frame_head(&mut bytes, "DELETED");
        bytes.put_slice(&self.object_head);
        match self.representation {
            Representation::Object => {
                let [head, _, tail] = object.around_version();
                bytes.put_slice(&head[1..]);
                bytes.put_slice(revision.as_bytes());
                bytes.put_slice(&tail);
            }
            Representation::Metadata => {
                let [head, _, tail] = object.metadata_around_version();
                bytes.put_slice(b"\"metadata\":");
                bytes.put_slice(&head);
                bytes.put_slice(revision.as_bytes());
                bytes.put_slice(&tail);
                bytes.put_u8(b'}');
            }
        }
        bytes.put_slice(b"}\n");
        bytes.freeze()
    }

    /// Writes a converted object as JSON, its metadata first.
    pub(super) fn put_value(&self, bytes: &mut impl BufMut, object: &Value) {
        bytes.put_slice(&self.object_head);
        put_members(bytes, object);
        bytes.put_u8(b'}');
    }

    /// Writes a converted `object` as an item of a list.
    fn put_converted(&self, bytes: &mut impl BufMut, object: &StoredObject) {
        let object = self.typed(object);
        if self.has_whole_items {
            return self.put_value(bytes, &object);
        }
        bytes.put_u8(b'{');
        put_members(bytes, &object);
        bytes.put_u8(b'}');
    }

    fn put_object(&self, bytes: &mut impl BufMut, object: &StoredObject) {
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
            Representation::Object => object.json_length(),
            Representation::Metadata => object.metadata_length(),
        };
        self.object_head.len() + object + AROUND
    }
}

/// Returns the beginning of an object of this kind and version.
fn object_head((kind, api_version): (&str, &str)) -> Box<[u8]> {
    let head = format!(r#"{{"kind":"{kind}","apiVersion":"{api_version}","#);
    head.into_bytes().into()
}

/// Writes what an object has beside its kind.
fn put_members(bytes: &mut impl BufMut, object: &Value) {
    put_member(bytes, "metadata", &object["metadata"]);
    let members = object.as_object().into_iter().flatten();
    for (name, value) in members {
        if !matches!(name.as_str(), "kind" | "apiVersion" | "metadata") {
            bytes.put_u8(b',');
            put_member(bytes, name, value);
        }
    }
}

fn put_member(bytes: &mut impl BufMut, name: &str, value: &Value) {
    bytes.put_slice(Value::from(name).to_string().as_bytes());
    bytes.put_u8(b':');
    bytes.put_slice(value.to_string().as_bytes());
}

pub(super) fn put_frame_head(bytes: &mut impl BufMut, kind: &str) {
    bytes.put_slice(b"{\"type\":\"");
    bytes.put_slice(kind.as_bytes());
    bytes.put_slice(b"\",\"object\":");
}
