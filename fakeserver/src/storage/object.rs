//! An object as it is stored: serialized once, with what lists and watches ask for beside the bytes.

use std::ops;

use bytes::Bytes;
use serde_json::{Map, Value};

use super::{
    ObjectKey,
    key::GroupResource,
    packer::{Packed, Packer},
};
use crate::{object::Pairs, revision::Revision};

/// The order in which the API writes `metadata`.
const METADATA_ORDER: [&str; 15] = [
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
];

/// One version of one object.
///
/// The bytes hold neither `kind` nor `apiVersion`: a list item is the bytes as they are, everything else puts a head
/// before them.
#[derive(Debug, Clone)]
pub struct StoredObject {
    key: ObjectKey,
    revision: Revision,
    uid: Box<str>,
    labels: Pairs,
    fields: Pairs,
    json: Json,
    /// Where the value of `metadata` is.
    metadata: ops::Range<usize>,
    /// Where the digits of `metadata.resourceVersion` are.
    version: ops::Range<usize>,
}

#[derive(Debug, Clone)]
enum Json {
    Plain(Bytes),
    Packed(Packed),
}

/// What lists and watches ask for without reading the JSON.
pub(super) struct Header {
    pub(super) key: ObjectKey,
    pub(super) revision: Revision,
    pub(super) uid: Box<str>,
    pub(super) labels: Pairs,
    /// What field selectors may ask for.
    pub(super) fields: Pairs,
}

/// `{"metadata":{...},...}`, and where is what.
pub(super) struct Serialized {
    pub(super) json: Bytes,
    /// The value of `metadata`.
    pub(super) metadata: ops::Range<usize>,
    /// The digits of `metadata.resourceVersion`.
    pub(super) version: ops::Range<usize>,
}

// === impl StoredObject ===

impl StoredObject {
    /// Serializes `object` as it stands at `revision`. `fields` are what field selectors may ask for.
    pub(super) fn new(key: ObjectKey, revision: Revision, object: Value, fields: Pairs) -> Self {
        let mut object = match object {
            Value::Object(object) => object,
            _ => Map::new(),
        };
        let mut metadata = match object.remove("metadata") {
            Some(Value::Object(metadata)) => metadata,
            _ => Map::new(),
        };
        object.remove("kind");
        object.remove("apiVersion");
        metadata.insert("resourceVersion".into(), revision.to_string().into());

        let uid = text(&metadata, "uid");
        let labels = match metadata.get("labels") {
            Some(Value::Object(labels)) => labels
                .iter()
                .filter_map(|(label, value)| Some((label.as_str(), value.as_str()?)))
                .collect(),
            _ => Pairs::default(),
        };
        let header = Header {
            key,
            revision,
            uid,
            labels,
            fields,
        };
        Self::from_parts(header, serialize(&metadata, &object))
    }

    /// The object whose JSON is there already.
    pub(super) fn from_parts(header: Header, serialized: Serialized) -> Self {
        Self {
            key: header.key,
            revision: header.revision,
            uid: header.uid,
            labels: header.labels,
            fields: header.fields,
            json: Json::Plain(serialized.json),
            metadata: serialized.metadata,
            version: serialized.version,
        }
    }

    /// Where the value of `metadata` is, and where the digits of the version are.
    pub(super) fn places(&self) -> (&ops::Range<usize>, &ops::Range<usize>) {
        (&self.metadata, &self.version)
    }

    /// The same in less space, if `packer` knows how.
    pub(super) fn packed(mut self, packer: Option<&Packer>) -> Self {
        if let (Some(packer), Json::Plain(json)) = (packer, &self.json)
            && let Some(packed) = packer.pack(self.key.resource(), json)
        {
            self.json = Json::Packed(packed);
        }
        self
    }

    /// The same version of the same object, which says `object`.
    pub(crate) fn saying(&self, object: Value) -> Self {
        Self::new(self.key.clone(), self.revision, object, self.fields.clone())
    }

    pub(crate) fn key(&self) -> &ObjectKey {
        &self.key
    }

    pub(crate) fn resource(&self) -> &GroupResource {
        self.key.resource()
    }

    /// The namespace, or nothing for an object of the cluster.
    pub fn namespace(&self) -> Option<&str> {
        self.key.namespace()
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.key.name()
    }

    /// `metadata.uid`.
    pub fn uid(&self) -> &str {
        &self.uid
    }

    /// The revision of the write that made this version: its `metadata.resourceVersion`.
    pub fn revision(&self) -> u64 {
        self.revision.get()
    }

    /// `metadata.labels`.
    pub fn labels(&self) -> &Pairs {
        &self.labels
    }

    /// The values that field selectors may ask for, apart from name and namespace.
    pub(crate) fn fields(&self) -> &Pairs {
        &self.fields
    }

    /// The object as JSON, without `kind` and `apiVersion`.
    ///
    /// These are the bytes of the store, unless it [compresses](crate::FakeServerBuilder::with_compression) them: then they
    /// are made anew at each call.
    pub fn json(&self) -> Bytes {
        match &self.json {
            Json::Plain(json) => json.clone(),
            Json::Packed(packed) => packed.unpack(),
        }
    }

    /// How long its JSON is.
    pub(crate) fn json_length(&self) -> usize {
        match &self.json {
            Json::Plain(json) => json.len(),
            Json::Packed(packed) => packed.length(),
        }
    }

    pub(crate) fn metadata_length(&self) -> usize {
        self.metadata.len()
    }

    /// How many bytes its JSON takes in the store.
    pub(super) fn held_bytes(&self) -> usize {
        match &self.json {
            Json::Plain(json) => json.len(),
            Json::Packed(packed) => packed.held_bytes(),
        }
    }

    /// The JSON of `metadata`.
    pub(crate) fn metadata_json(&self) -> Bytes {
        self.json().slice(self.metadata.clone())
    }

    /// The object's bytes in three parts, the middle one being the digits of its version.
    pub(crate) fn around_version(&self) -> [Bytes; 3] {
        split(&self.json(), &self.version)
    }

    /// The bytes of `metadata` in three parts, the middle one being the digits of its version.
    pub(crate) fn metadata_around_version(&self) -> [Bytes; 3] {
        let offset = self.metadata.start;
        split(
            &self.metadata_json(),
            &(self.version.start - offset..self.version.end - offset),
        )
    }

    /// The object as a value, without `kind` and `apiVersion`.
    pub fn to_value(&self) -> Value {
        serde_json::from_slice(&self.json()).expect("stored objects are serialized values")
    }
}

fn serialize(metadata: &Map<String, Value>, rest: &Map<String, Value>) -> Serialized {
    let mut json = Vec::with_capacity(512);
    let mut version = 0..0;
    json.extend_from_slice(b"{\"metadata\":");
    let start = json.len();
    json.push(b'{');
    let known = METADATA_ORDER
        .iter()
        .filter_map(|field| metadata.get_key_value(*field));
    let unknown = metadata
        .iter()
        .filter(|(field, _)| !METADATA_ORDER.contains(&field.as_str()));
    for (field, value) in known.chain(unknown) {
        let value_start = write_member(&mut json, field, value);
        if field == "resourceVersion" {
            version = value_start + 1..json.len() - 1;
        }
    }
    json.push(b'}');
    let end = json.len();
    for (field, value) in rest {
        write_member(&mut json, field, value);
    }
    json.push(b'}');
    Serialized {
        // Its own length and no more: a store holds many of them.
        json: Bytes::copy_from_slice(&json),
        metadata: start..end,
        version,
    }
}

/// Writes `"field":value`, with a comma unless it is the first of its object. Returns where the value begins.
fn write_member(json: &mut Vec<u8>, field: &str, value: &Value) -> usize {
    if json.last() != Some(&b'{') {
        json.push(b',');
    }
    serde_json::to_writer(&mut *json, field).expect("strings serialize into memory");
    json.push(b':');
    let start = json.len();
    serde_json::to_writer(&mut *json, value).expect("values serialize into memory");
    start
}

fn split(bytes: &Bytes, middle: &ops::Range<usize>) -> [Bytes; 3] {
    [
        bytes.slice(..middle.start),
        bytes.slice(middle.clone()),
        bytes.slice(middle.end..),
    ]
}

fn text(object: &Map<String, Value>, field: &str) -> Box<str> {
    object
        .get(field)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .into()
}
