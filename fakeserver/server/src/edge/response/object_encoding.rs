//! Representations that are built from the parsed object: protobuf, CBOR, tables, and converted forms.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use fakeserver_value::{
    cbor,
    edit::remove,
    protobuf::{self, ItemEncoder, ProtobufError},
    schema::{self, TypeId, TypeMeta, type_in},
    status::Status,
};
use serde_json::{Value, json};
use tracing::error;

use super::{
    Encoding, Format, ListMeta, Representation,
    answer::status_protobuf,
    encoding::{METADATA_KIND, put_frame_head},
};
use crate::{
    store::StoredObject,
    task::{side_by_side, worker_count},
};

/// The minimum number of items for each thread that computes lengths.
const ITEMS_MIN: usize = 128;

// === impl Encoding ===

impl Encoding {
    /// The beginning and the end of a list of `items` as protobuf.
    pub(super) fn protobuf_list(
        &self,
        metadata: &ListMeta,
        items: &[Arc<StoredObject>],
    ) -> Result<(Vec<u8>, Vec<u8>), ProtobufError> {
        let share = items.len().div_ceil(worker_count()).max(ITEMS_MIN);
        let shares: Vec<_> = items.chunks(share).collect();
        let lengths = side_by_side(&shares, |share| {
            let (mut encoder, mut item) = (self.item_encoder()?, Vec::new());
            share.iter().try_fold(0, |length, object| {
                item.clear();
                self.push_protobuf_item(&mut encoder, object, &mut item)?;
                Ok(length + item.len())
            })
        });
        let length: Result<usize, ProtobufError> = lengths.into_iter().sum();
        let metadata = serde_json::to_value(metadata).expect("strings and numbers serialize");
        let head = protobuf::begin_list(self.kubernetes, &self.list_kind(), &metadata, length?)?;
        Ok((head, protobuf::end_list()))
    }

    /// The encoder of the items of a list as protobuf.
    pub(super) fn item_encoder(&self) -> Result<ItemEncoder, ProtobufError> {
        Ok(ItemEncoder::new(self.protobuf_type()?.0))
    }

    /// Appends an item of a list as protobuf.
    pub(super) fn push_protobuf_item(
        &self,
        encoder: &mut ItemEncoder,
        object: &StoredObject,
        out: &mut Vec<u8>,
    ) -> Result<(), ProtobufError> {
        let reduced = self.reduced(object);
        let object = reduced.as_ref().unwrap_or(object);
        if self.is_converted() {
            return encoder.push(&self.typed(object), out);
        }
        match self.representation {
            Representation::Object => encoder.push_json(&object.json(), out),
            Representation::Metadata => {
                let metadata = object.metadata_json();
                encoder.push_json(&[br#"{"metadata":"#, &*metadata, b"}"].concat(), out)
            }
        }
    }

    /// The beginning and the end of a list of `count` items as CBOR.
    pub(super) fn cbor_list(&self, metadata: &ListMeta, count: usize) -> (Vec<u8>, Vec<u8>) {
        let metadata = serde_json::to_value(metadata).expect("strings and numbers serialize");
        let TypeMeta { kind, api_version } = self.list_kind();
        (
            cbor::begin_list(&kind, count),
            cbor::end_list(&metadata, &api_version),
        )
    }

    /// Appends an item of a list as CBOR. The item has kind and apiVersion only if these do not follow from the list's.
    pub(super) fn push_cbor_item(&self, out: &mut Vec<u8>, object: &StoredObject) {
        let reduced = self.reduced(object);
        let object = reduced.as_ref().unwrap_or(object);
        let mut object = self.typed(object);
        if !self.has_whole_items() {
            remove(&mut object, "kind");
            remove(&mut object, "apiVersion");
        }
        cbor::push_item(&object, self.response_type(), out);
    }

    /// Encodes a parsed object.
    pub(super) fn encode_value(&self, object: &Value) -> Bytes {
        match self.format() {
            Format::Protobuf => self.protobuf(object).into(),
            Format::Cbor => cbor::encode(object, self.response_type()).into(),
            Format::Json | Format::Yaml => {
                let mut bytes = BytesMut::new();
                self.put_json(&mut bytes, object);
                bytes.put_u8(b'\n');
                bytes.freeze()
            }
        }
    }

    pub(super) fn encode_value_frame(&self, kind: &str, object: &Value) -> Bytes {
        match self.format() {
            Format::Protobuf => protobuf::encode_watch_frame(kind, &self.protobuf(object)).into(),
            Format::Cbor => {
                let object = cbor::encode(object, self.response_type());
                cbor::encode_frame(kind, &object).into()
            }
            Format::Json | Format::Yaml => {
                let mut bytes = BytesMut::new();
                put_frame_head(&mut bytes, kind);
                self.put_json(&mut bytes, object);
                bytes.put_slice(b"}\n");
                bytes.freeze()
            }
        }
    }

    /// Returns the built-in type of the encoded objects, if there is one.
    fn response_type(&self) -> Option<TypeId> {
        let (kind, api_version) = self.response_kind();
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        type_in(self.kubernetes, group, version, kind)
    }

    fn put_json(&self, bytes: &mut impl BufMut, object: &Value) {
        match &self.table {
            Some(table) => table.put_table(bytes, object),
            None => self.put_value(bytes, object),
        }
    }

    fn protobuf(&self, object: &Value) -> Vec<u8> {
        let encoded = self
            .protobuf_type()
            .and_then(|(id, meta)| protobuf::encode_object_as(id, &meta, object));
        encoded.unwrap_or_else(|error| unencodable(&error))
    }

    /// Returns the protobuf type of the encoded objects, with their kind and apiVersion.
    fn protobuf_type(&self) -> Result<(TypeId, TypeMeta), ProtobufError> {
        let (kind, api_version) = self.response_kind();
        let meta = TypeMeta {
            kind: kind.to_owned(),
            api_version: api_version.to_owned(),
        };
        match self.response_type() {
            Some(id) => Ok((id, meta)),
            None => Err(ProtobufError::UnknownKind {
                api_version: meta.api_version,
                kind: meta.kind,
            }),
        }
    }

    pub(super) fn response_kind(&self) -> (&str, &str) {
        match self.representation {
            Representation::Object => (&self.kind, &self.api_version),
            Representation::Metadata => (METADATA_KIND, self.meta_version.api_version()),
        }
    }

    pub(super) fn list_kind(&self) -> TypeMeta {
        let (kind, api_version) = self.response_kind();
        let own = self.list_kind.as_deref();
        let own = own.filter(|_| self.representation == Representation::Object);
        TypeMeta {
            kind: own.map_or_else(|| format!("{kind}List"), str::to_owned),
            api_version: api_version.to_owned(),
        }
    }

    /// Converts a stored object to the part that the response contains, with kind and apiVersion.
    ///
    /// Rows are built from the stored form: their cells do not depend on the version.
    pub(super) fn typed(&self, object: &StoredObject) -> Value {
        let typed = self.converted(object);
        // Cells of rows are built from the stored form, which has another type than the response.
        let is_decoded = self.drops_unknown && (self.table.is_none() || self.form.is_none());
        match self.response_type() {
            Some(id) if is_decoded => schema::canonical(id.table(), id, typed),
            _ => typed,
        }
    }

    fn converted(&self, object: &StoredObject) -> Value {
        if let Some(form) = self.form.filter(|_| self.table.is_none()) {
            return self.typed_value(&form.convert(object.to_value()));
        }
        if let Some(custom) = &self.custom {
            return self.typed_value(&custom.show(object.to_value()));
        }
        let value = match self.representation {
            Representation::Object => object.to_value(),
            Representation::Metadata => {
                let metadata: Value = serde_json::from_slice(&object.metadata_json())
                    .expect("stored objects are serialized values");
                json!({"metadata": metadata})
            }
        };
        self.with_type_meta(value)
    }

    pub(super) fn typed_value(&self, object: &Value) -> Value {
        self.with_type_meta(match self.representation {
            Representation::Object => object.clone(),
            Representation::Metadata => json!({"metadata": object["metadata"]}),
        })
    }

    fn with_type_meta(&self, mut object: Value) -> Value {
        let (kind, api_version) = self.response_kind();
        object["kind"] = kind.into();
        object["apiVersion"] = api_version.into();
        object
    }
}

/// Returns the substitute for an object that has no protobuf. No stored object lacks one: objects are decoded as their
/// type first.
pub(super) fn unencodable(error: &ProtobufError) -> Vec<u8> {
    error!(%error, "object not encoded");
    status_protobuf(&Status::internal(&error.to_string()))
}
