//! A stored object: its serialized bytes, and the fields that lists and watches need.

use std::{
    collections::BTreeMap,
    ops,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use fakeserver_kinds::STORED_VERSION;
use fakeserver_value::{object::Pairs, pool::Pool, resource::GroupResource, revision::Revision};
use memchr::memmem;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, value::RawValue};

use super::{
    ObjectKey,
    packer::{CompressedObject, Packer},
};

/// The labels of all objects in the process.
pub(super) static LABELS: Pool<Pairs> = Pool::new();

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

/// The text before the value of `metadata`.
const BEFORE_METADATA: &[u8] = br#"{"metadata":"#;
/// The beginning of the member `managedFields`, behind another one.
const MANAGED_FIELDS: &[u8] = br#","managedFields":["#;
/// The usual maximum length of an object's JSON.
const USUAL_BYTES: usize = 8 << 10;

/// A version of an object.
///
/// The bytes contain neither `kind` nor `apiVersion`: a list item is a copy of the bytes, and other responses put a
/// head before them.
#[derive(Debug)]
pub struct StoredObject {
    header: Arc<Header>,
    revision: Revision,
    /// The value never changes, but may be compressed later.
    json: Mutex<Json>,
    /// The end of the value of `metadata`; it begins after [`BEFORE_METADATA`].
    metadata_end: u32,
    /// The start of the digits of `metadata.resourceVersion`; they are those of the revision.
    version_start: u32,
}

#[derive(Debug)]
enum Json {
    Plain(Bytes),
    CompressedObject(CompressedObject),
}

/// The facts that lists and watches need without reading the JSON. The versions of an object share it as long as it
/// stays the same.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) key: ObjectKey,
    pub(super) uid: Box<str>,
    /// Many objects have the same.
    pub(super) labels: Arc<Pairs>,
    /// The values of selectable fields, apart from name and namespace.
    pub(super) fields: Pairs,
}

/// `{"metadata":{...},...}`, and where is what.
pub(super) struct SerializedObject {
    pub(super) json: Bytes,
    /// The end of the value of `metadata`.
    pub(super) metadata_end: usize,
    /// The start of the digits of `metadata.resourceVersion`.
    pub(super) version_start: usize,
}

// === impl StoredObject ===

impl StoredObject {
    /// Serializes `object` at `revision`. `fields` are the values for field selectors, apart from name and namespace.
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
            uid,
            labels: LABELS.share(labels),
            fields,
        };
        Self::from_serialized(Arc::new(header), revision, serialize(&metadata, &object))
    }

    /// Creates an object from serialized JSON.
    ///
    /// # Panics
    ///
    /// If the JSON has more than 4 GiB.
    pub(super) fn from_serialized(
        header: Arc<Header>,
        revision: Revision,
        serialized: SerializedObject,
    ) -> Self {
        let place = |at: usize| u32::try_from(at).expect("an object is smaller than that");
        Self {
            header,
            revision,
            metadata_end: place(serialized.metadata_end),
            version_start: place(serialized.version_start),
            json: Mutex::new(Json::Plain(serialized.json)),
        }
    }

    /// Returns the range of the value of `metadata`, and that of the digits of the version.
    pub(super) fn places(&self) -> (ops::Range<usize>, ops::Range<usize>) {
        let digits = self.revision().checked_ilog10().map_or(1, |tens| tens + 1);
        let (end, start) = (self.metadata_end as usize, self.version_start as usize);
        (BEFORE_METADATA.len()..end, start..start + digits as usize)
    }

    /// Shares equal parts of the header with `before`, the previous version.
    pub(super) fn sharing(mut self, before: &Self) -> Self {
        if self.header == before.header {
            self.header = Arc::clone(&before.header);
        } else if let Some(own) = Arc::get_mut(&mut self.header) {
            own.key = before.header.key.clone();
        }
        self
    }

    /// Compresses the JSON, if `packer` has a dictionary for it. Returns the number of bytes that were freed.
    pub(super) fn pack(&self, packer: &Packer) -> usize {
        let json = match &*self.stored() {
            Json::Plain(json) => json.clone(),
            Json::CompressedObject(_) => return 0,
        };
        // Readers do not wait while the object is compressed.
        let Some(less) = packer.pack(self.resource(), &json) else {
            return 0;
        };
        *self.stored() = Json::CompressedObject(less);
        json.len()
    }

    /// The same object as if it had been written at `revision`.
    pub(super) fn at(&self, revision: Revision) -> Self {
        let old = self.json();
        let (metadata, version) = self.places();
        let digits = revision.to_string();
        let (head, tail) = (&old[..version.start], &old[version.end..]);
        let json = [head, digits.as_bytes(), tail].concat();
        let serialized = SerializedObject {
            json: json.into(),
            metadata_end: metadata.end - version.len() + digits.len(),
            version_start: version.start,
        };
        Self::from_serialized(Arc::clone(&self.header), revision, serialized)
    }

    /// The same, with a text for the value of one of its members, which has to be equal to that.
    pub(super) fn with_text(self, member: &str, text: &str) -> Self {
        let json = self.json();
        let Ok(mut rest) = serde_json::from_slice::<BTreeMap<String, &RawValue>>(&json) else {
            return self;
        };
        let metadata = self.places().0;
        rest.remove("metadata");
        let mut new = json[..metadata.end].to_vec();
        for (name, value) in rest {
            let value = if name == member { text } else { value.get() };
            let name = Value::from(name);
            new.extend_from_slice(format!(",{name}:{value}").as_bytes());
        }
        new.push(b'}');
        let serialized = SerializedObject {
            json: new.into(),
            metadata_end: metadata.end,
            version_start: self.places().1.start,
        };
        Self::from_serialized(Arc::clone(&self.header), self.revision, serialized)
    }

    /// Returns the same version of the object without `metadata.managedFields`; `None` if it has none.
    pub fn without_managed_fields(&self) -> Option<Self> {
        let json = self.json();
        let (metadata, version) = self.places();
        // Quotes within strings are escaped, and no other member of the name has a list: this is the member itself.
        let start = metadata.start + memmem::find(&json[metadata.clone()], MANAGED_FIELDS)?;
        let value_start = start + MANAGED_FIELDS.len() - 1;
        let value = serde_json::Deserializer::from_slice(&json[value_start..metadata.end]);
        let mut values = value.into_iter::<IgnoredAny>();
        values.next()?.ok()?;
        let end = value_start + values.byte_offset();
        debug_assert!(
            version.end <= start,
            "the version comes before the managers"
        );
        let serialized = SerializedObject {
            json: [&json[..start], &json[end..]].concat().into(),
            metadata_end: metadata.end - (end - start),
            version_start: version.start,
        };
        let header = Arc::clone(&self.header);
        Some(Self::from_serialized(header, self.revision, serialized))
    }

    /// Returns the same version of the object with another value.
    pub fn with_value(&self, object: Value) -> Self {
        let Header { key, fields, .. } = &*self.header;
        Self::new(key.clone(), self.revision, object, fields.clone())
    }

    pub fn key(&self) -> &ObjectKey {
        &self.header.key
    }

    pub fn resource(&self) -> &GroupResource {
        self.key().resource()
    }

    /// The namespace, or nothing for an object of the cluster.
    pub fn namespace(&self) -> Option<&str> {
        self.key().namespace()
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.key().name()
    }

    /// `metadata.uid`.
    pub fn uid(&self) -> &str {
        &self.header.uid
    }

    /// The revision of the write that made this version: its `metadata.resourceVersion`.
    pub fn revision(&self) -> u64 {
        self.revision.get()
    }

    /// Returns the version of its kind in which a custom object is stored, with its group; empty for other objects.
    pub fn stored_version(&self) -> &str {
        self.header.fields.get(STORED_VERSION).unwrap_or_default()
    }

    /// `metadata.labels`.
    pub fn labels(&self) -> &Pairs {
        &self.header.labels
    }

    /// Returns the value of a selectable field. A field that the object does not have is empty.
    pub fn field(&self, field: &str) -> &str {
        match field {
            "metadata.name" => self.name(),
            "metadata.namespace" => self.namespace().unwrap_or_default(),
            _ => self.header.fields.get(field).unwrap_or_default(),
        }
    }

    /// Returns the values of selectable fields, apart from name and namespace.
    pub(super) fn fields(&self) -> &Pairs {
        &self.header.fields
    }

    /// The object as JSON, without `kind` and `apiVersion`.
    ///
    /// These are the bytes of the store, unless it has [compressed](crate::FakeServerBuilder::with_compression) them:
    /// then they are decompressed at each call.
    pub fn json(&self) -> Bytes {
        match &*self.stored() {
            Json::Plain(json) => json.clone(),
            Json::CompressedObject(packed) => packed.unpack(),
        }
    }

    /// Returns the length of its JSON.
    pub fn json_length(&self) -> usize {
        match &*self.stored() {
            Json::Plain(json) => json.len(),
            Json::CompressedObject(packed) => packed.length(),
        }
    }

    pub fn metadata_length(&self) -> usize {
        self.places().0.len()
    }

    /// Returns the number of bytes that its JSON takes in the store.
    pub(super) fn held_bytes(&self) -> usize {
        match &*self.stored() {
            Json::Plain(json) => json.len(),
            Json::CompressedObject(packed) => packed.held_bytes(),
        }
    }

    /// Returns the number of bytes that its JSON takes in the store unpacked: none once it is packed.
    pub(super) fn plain_bytes(&self) -> usize {
        match &*self.stored() {
            Json::Plain(json) => json.len(),
            Json::CompressedObject(_) => 0,
        }
    }

    /// Locks the JSON, which is replaced in one step.
    fn stored(&self) -> MutexGuard<'_, Json> {
        self.json.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The JSON of `metadata`.
    pub fn metadata_json(&self) -> Bytes {
        self.json().slice(self.places().0)
    }

    /// The object's bytes in three parts, the middle one being the digits of its version.
    pub fn around_version(&self) -> [Bytes; 3] {
        split(&self.json(), &self.places().1)
    }

    /// The bytes of `metadata` in three parts, the middle one being the digits of its version.
    pub fn metadata_around_version(&self) -> [Bytes; 3] {
        let (metadata, version) = self.places();
        let offset = metadata.start;
        split(
            &self.metadata_json(),
            &(version.start - offset..version.end - offset),
        )
    }

    /// The object as a value, without `kind` and `apiVersion`.
    pub fn to_value(&self) -> Value {
        serde_json::from_slice(&self.json()).expect("stored objects are serialized values")
    }
}

fn serialize(metadata: &Map<String, Value>, rest: &Map<String, Value>) -> SerializedObject {
    let mut json = Vec::with_capacity(USUAL_BYTES);
    let mut version_start = 0;
    json.extend_from_slice(BEFORE_METADATA);
    json.push(b'{');
    let ordered = METADATA_ORDER
        .iter()
        .filter_map(|field| metadata.get_key_value(*field));
    let unknown = metadata
        .iter()
        .filter(|(field, _)| !METADATA_ORDER.contains(&field.as_str()));
    for (field, value) in ordered.chain(unknown) {
        let value_start = write_member(&mut json, field, value);
        if field == "resourceVersion" {
            version_start = value_start + 1;
        }
    }
    json.push(b'}');
    let metadata_end = json.len();
    for (field, value) in rest {
        write_member(&mut json, field, value);
    }
    json.push(b'}');
    SerializedObject {
        // Without spare capacity: a store holds many of these.
        json: Bytes::copy_from_slice(&json),
        metadata_end,
        version_start,
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
