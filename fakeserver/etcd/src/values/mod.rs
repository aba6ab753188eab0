//! The values of objects: protobuf in the envelope `k8s\0`, or JSON.
//!
//! A value has no resourceVersion: that is the revision at which etcd has it. The version in which a built-in kind is stored
//! follows from the version of Kubernetes; a custom object is stored in the version that it names.

mod definition;
mod error;
mod read_defaults;

use std::iter;

use fakeserver_kinds::{built_in, conversion::form_of};
use fakeserver_value::{
    cbor,
    go_text::escape_html,
    json,
    protobuf::{decode_object_as, decode_object_in, encode_object_as, peek_kind},
    resource::{GroupResource, api_version},
    revision::Revision,
    schema::{self, TypeId, TypeMeta},
};
use fakeserver_versions::KubernetesVersion;
use serde_json::Value;

pub use self::error::ValueError;
use crate::resources::{Encoding, StoredResource};

/// The prefix of values that a provider of encryption has transformed; its name follows.
const ENCRYPTED: &[u8] = b"k8s:enc:";
/// The prefix of the envelope of protobuf.
const PROTOBUF: &[u8] = b"k8s\0";
/// The tag with which all CBOR of Kubernetes begins.
const CBOR: &[u8] = &[0xd9, 0xd9, 0xf7];

/// An object as a store has it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StoredValue {
    /// The object without kind and apiVersion, with its resourceVersion, in the form that is stored in memory.
    pub object: Value,
    /// Its kind, and the version of which its form is: of a custom object, the version in which it is stored.
    pub meta: TypeMeta,
    /// True if a definition has made its kind.
    pub is_custom: bool,
    /// The version of Kubernetes by whose types it was read: that of the server, unless that does not have the kind.
    pub kubernetes: KubernetesVersion,
}

/// Writes an object as a server of a version of Kubernetes stores it.
///
/// `object` needs no kind and no apiVersion, and its resourceVersion does not count. `custom` has the kind of a custom object, and
/// the version in which it is stored; without it the object names both.
///
/// # Errors
///
/// [`ValueError::UnknownKind`], if a built-in kind is not in that version, or a custom object has no kind;
/// [`ValueError::Protobuf`], if a field has a value of another type.
pub fn encode(
    kubernetes: KubernetesVersion,
    resource: &GroupResource,
    object: &Value,
    custom: Option<&TypeMeta>,
) -> Result<Vec<u8>, ValueError> {
    let mut object = object.clone();
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("resourceVersion");
    }
    let Some(stored) = StoredResource::find(resource) else {
        return encode_custom(object, custom);
    };
    let version = stored.storage_version(kubernetes);
    let meta = TypeMeta {
        kind: stored.kind.to_owned(),
        api_version: api_version(resource.group(), version),
    };
    let found = stored.type_in(kubernetes);
    let (_, id) = found.ok_or_else(|| unknown(&meta))?;
    match stored.encoding {
        Encoding::Protobuf => Ok(encode_object_as(id, &meta, &object)?),
        Encoding::Json if definition::is_older(&meta) => {
            Ok(line(definition::print(id, &meta, &object)))
        }
        Encoding::Json => {
            name_kind(&mut object, &meta);
            let text = schema::print_in_go_order(id.table(), Some(id), &object, None);
            Ok(line(text))
        }
    }
}

fn encode_custom(mut object: Value, custom: Option<&TypeMeta>) -> Result<Vec<u8>, ValueError> {
    if let Some(meta) = custom {
        name_kind(&mut object, meta);
    }
    let meta = kind_of(&object);
    if meta.kind.is_empty() || meta.api_version.is_empty() {
        return Err(unknown(&meta));
    }
    Ok(line(escape_html(&object.to_string())))
}

/// Returns a text as Go's encoder writes it.
fn line(mut text: String) -> Vec<u8> {
    text.push('\n');
    text.into_bytes()
}

/// Reads a value that etcd has of `revision`, for a server of a version of Kubernetes.
///
/// A kind that the version does not have is read by the types of the latest one that has it.
///
/// # Errors
///
/// The value is encrypted, damaged, or of a kind that no version has: see [`ValueError`]. A retry gives the same.
pub fn decode(
    kubernetes: KubernetesVersion,
    resource: &GroupResource,
    value: &[u8],
    revision: Revision,
) -> Result<StoredValue, ValueError> {
    let is_custom = StoredResource::find(resource).is_none();
    let mut decoded = if value.starts_with(PROTOBUF) {
        decode_protobuf(kubernetes, resource, value)?
    } else if let Some(rest) = value.strip_prefix(ENCRYPTED) {
        let provider = rest.split(|byte| *byte == b':').next().unwrap_or_default();
        let provider = String::from_utf8_lossy(provider).into_owned();
        return Err(ValueError::Encrypted { provider });
    } else if value.starts_with(CBOR) && is_custom {
        let document = cbor::Document::parse(value).and_then(|document| document.object());
        custom(
            kubernetes,
            document.map_err(|error| ValueError::json(error.to_string()))?,
        )
    } else if value.trim_ascii_start().starts_with(b"{") {
        let object = json::parse_value(value).map_err(ValueError::json)?;
        if is_custom {
            custom(kubernetes, object)
        } else {
            decode_json(kubernetes, resource, object, value)?
        }
    } else {
        return Err(ValueError::UnknownEncoding);
    };
    match decoded.object.get_mut("metadata") {
        Some(Value::Object(metadata)) => {
            metadata.insert("resourceVersion".to_owned(), revision.to_string().into());
        }
        _ => return Err(ValueError::json("there is no metadata")),
    }
    Ok(decoded)
}

fn custom(kubernetes: KubernetesVersion, mut object: Value) -> StoredValue {
    let meta = kind_of(&object);
    drop_kind(&mut object);
    StoredValue {
        object,
        meta,
        is_custom: true,
        kubernetes,
    }
}

fn decode_protobuf(
    kubernetes: KubernetesVersion,
    resource: &GroupResource,
    value: &[u8],
) -> Result<StoredValue, ValueError> {
    let meta = peek_kind(value)?;
    let found = find_type(kubernetes, resource, &meta)?;
    let object = match found.form {
        TypeForm::Stored(id) => decode_object_as(id, value)?,
        TypeForm::Other => {
            let object = decode_object_in(found.kubernetes, value, None)?;
            to_stored(&meta, object)
        }
    };
    Ok(found.value(resource, object))
}

/// Reads an object of a built-in kind in JSON, which servers also write if `--storage-media-type` says so.
fn decode_json(
    kubernetes: KubernetesVersion,
    resource: &GroupResource,
    object: Value,
    text: &[u8],
) -> Result<StoredValue, ValueError> {
    let meta = kind_of(&object);
    let found = find_type(kubernetes, resource, &meta)?;
    let read = |id: TypeId, text: &[u8]| {
        let decoded = schema::decode(id, text);
        let decoded = decoded.map_err(|error| ValueError::json(error.to_string()))?;
        Ok::<_, ValueError>(decoded.value)
    };
    let object = match found.form {
        TypeForm::Stored(id) if definition::is_older(&meta) => {
            read(id, definition::to_served(object).to_string().as_bytes())?
        }
        TypeForm::Stored(id) => read(id, text)?,
        TypeForm::Other => to_stored(&meta, object),
    };
    Ok(found.value(resource, object))
}

/// The type of a value.
struct FoundType {
    kubernetes: KubernetesVersion,
    /// The kind, in the version that is served.
    meta: TypeMeta,
    form: TypeForm,
}

enum TypeForm {
    /// The form in which a server holds objects.
    Stored(TypeId),
    /// The other form of a kind that is served in two.
    Other,
}

// === impl FoundType ===

impl FoundType {
    /// Completes the object as servers do when they read it: with the defaults of fields that came after it was written, too.
    fn value(self, resource: &GroupResource, mut object: Value) -> StoredValue {
        if let Some(kind) = built_in(resource.group(), resource.resource()) {
            kind.set_defaults(&mut object);
        }
        read_defaults::set(resource, &mut object);
        drop_kind(&mut object);
        StoredValue {
            object,
            meta: self.meta,
            is_custom: false,
            kubernetes: self.kubernetes,
        }
    }
}

/// Finds the type of a value of a built-in resource, in a version of Kubernetes, or else in the latest one that has it.
fn find_type(
    kubernetes: KubernetesVersion,
    resource: &GroupResource,
    meta: &TypeMeta,
) -> Result<FoundType, ValueError> {
    let error = || unknown(meta);
    let stored = StoredResource::find(resource).ok_or_else(error)?;
    let version = version_of(meta);
    let group = resource.group();
    if meta.api_version != api_version(group, version) || meta.kind != stored.kind {
        return Err(error());
    }
    let other_form = form_of(&meta.api_version, &meta.kind).filter(|form| !form.is_stored);
    if other_form.is_none() && !stored.versions().any(|known| known == version) {
        return Err(error());
    }
    let mut candidates = iter::once(kubernetes).chain(KubernetesVersion::all().rev());
    let found = candidates.find_map(|kubernetes| {
        let (version, id) = stored.type_in(kubernetes)?;
        Some(FoundType {
            kubernetes,
            meta: TypeMeta {
                api_version: api_version(group, version),
                kind: meta.kind.clone(),
            },
            form: other_form.map_or(TypeForm::Stored(id), |_| TypeForm::Other),
        })
    });
    found.ok_or_else(error)
}

/// Converts an object from the form that its kind names to the stored one.
fn to_stored(meta: &TypeMeta, object: Value) -> Value {
    match form_of(&meta.api_version, &meta.kind) {
        Some(form) => form.to_stored(object),
        None => object,
    }
}

/// Returns the version without the group.
fn version_of(meta: &TypeMeta) -> &str {
    let version = meta.api_version.rsplit_once('/');
    version.map_or(&meta.api_version, |(_, version)| version)
}

fn kind_of(object: &Value) -> TypeMeta {
    let part = |name: &str| object[name].as_str().unwrap_or_default().to_owned();
    TypeMeta {
        api_version: part("apiVersion"),
        kind: part("kind"),
    }
}

fn name_kind(object: &mut Value, meta: &TypeMeta) {
    if let Value::Object(fields) = object {
        fields.insert("kind".to_owned(), meta.kind.clone().into());
        fields.insert("apiVersion".to_owned(), meta.api_version.clone().into());
    }
}

fn drop_kind(object: &mut Value) {
    if let Value::Object(fields) = object {
        fields.remove("kind");
        fields.remove("apiVersion");
    }
}

fn unknown(meta: &TypeMeta) -> ValueError {
    ValueError::UnknownKind {
        api_version: meta.api_version.clone(),
        kind: meta.kind.clone(),
    }
}
