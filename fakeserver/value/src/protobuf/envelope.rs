//! The envelope of an object: the prefix and its kind, and on a watch the event and a length.

use fakeserver_versions::KubernetesVersion;
use serde_json::Value;

use super::{
    decode, encode,
    error::ProtobufError,
    reader::{FieldContext, Reader},
    wire,
};
use crate::schema::{TypeId, TypeMeta, canonical, type_in};

/// The prefix of every object.
pub(super) const PREFIX: [u8; 4] = *b"k8s\0";
/// A watch frame is never larger: an object is at most 3 MiB, and its envelope small.
const FRAME_BYTES_MAX: usize = 16 * 1024 * 1024;

/// A frame of a watch.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "complete by definition: metav1.WatchEvent"
)]
pub struct WatchFrame {
    /// `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK` or `ERROR`.
    pub kind: String,
    /// The object, or a Status.
    pub object: Value,
}

/// Reads an object with its envelope, as the API server prints it.
///
/// An envelope without a kind is of the kind `default`.
///
/// # Errors
/// The bytes are no such object, or of a kind that is not built in.
pub fn decode_object(bytes: &[u8], default: Option<&TypeMeta>) -> Result<Value, ProtobufError> {
    decode_object_in(KubernetesVersion::DEFAULT, bytes, default)
}

/// Does the same with the types of a version of Kubernetes.
///
/// # Errors
/// The bytes are no such object, or of a kind that is not built in.
pub fn decode_object_in(
    kubernetes: KubernetesVersion,
    bytes: &[u8],
    default: Option<&TypeMeta>,
) -> Result<Value, ProtobufError> {
    decode(kubernetes, Reader::new(bytes, 0), default, 0)
}

/// Reads an object of a type, whatever kind its envelope names, as the API server prints it, but without kind and apiVersion.
///
/// # Errors
/// The bytes are no such object.
pub fn decode_object_as(id: TypeId, bytes: &[u8]) -> Result<Value, ProtobufError> {
    let (_, raw) = open(Reader::new(bytes, 0))?;
    let value = decode::message(id, raw, 0)?;
    Ok(canonical(id.table(), id, value))
}

/// Reads the kind of an object off its envelope; empty if it does not say.
///
/// # Errors
/// The bytes are no such object.
pub fn peek_kind(bytes: &[u8]) -> Result<TypeMeta, ProtobufError> {
    Ok(open(Reader::new(bytes, 0))?.0)
}

/// Writes an object, which names its kind, with its envelope.
///
/// # Errors
/// The kind is not built in, or a value does not fit its field.
pub fn encode_object(object: &Value) -> Result<Vec<u8>, ProtobufError> {
    encode_object_in(KubernetesVersion::DEFAULT, object)
}

/// Does the same with the types of a version of Kubernetes.
///
/// # Errors
/// The kind is not built in, or a value does not fit its field.
pub fn encode_object_in(
    kubernetes: KubernetesVersion,
    object: &Value,
) -> Result<Vec<u8>, ProtobufError> {
    let part = |name: &str| object[name].as_str().unwrap_or_default().to_owned();
    let meta = TypeMeta {
        kind: part("kind"),
        api_version: part("apiVersion"),
    };
    encode_object_as(find(kubernetes, &meta)?, &meta, object)
}

/// Writes an object of a type, under a kind that it need not name.
///
/// # Errors
/// A value does not fit its field.
pub fn encode_object_as(
    id: TypeId,
    meta: &TypeMeta,
    object: &Value,
) -> Result<Vec<u8>, ProtobufError> {
    let mut kind = Vec::new();
    wire::block(1, meta.api_version.as_bytes(), &mut kind);
    wire::block(2, meta.kind.as_bytes(), &mut kind);
    let mut raw = Vec::new();
    encode::message(id, object, &mut raw)?;
    let mut out = PREFIX.to_vec();
    wire::block(1, &kind, &mut out);
    wire::block(2, &raw, &mut out);
    // The encoding and the type of the content are written though they are empty.
    wire::block(3, b"", &mut out);
    wire::block(4, b"", &mut out);
    Ok(out)
}

/// Writes a frame of a watch around an object that [`encode_object`] has written.
pub fn encode_watch_frame(kind: &str, object: &[u8]) -> Vec<u8> {
    let mut raw = Vec::with_capacity(object.len() + 8);
    wire::block(1, object, &mut raw);
    let mut event = Vec::with_capacity(raw.len() + kind.len() + 16);
    wire::block(1, kind.as_bytes(), &mut event);
    wire::block(2, &raw, &mut event);
    let length = u32::try_from(event.len()).expect("an object is smaller than 4 GiB");
    let mut out = length.to_be_bytes().to_vec();
    out.extend_from_slice(&event);
    out
}

/// Reads the first frame of a watch, and how many bytes it took; `None` if it is not all there.
///
/// # Errors
/// The bytes are no frame, or one larger than any object.
pub fn decode_watch_frame(bytes: &[u8]) -> Result<Option<(WatchFrame, usize)>, ProtobufError> {
    const MESSAGE: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent";
    let Some((length, rest)) = bytes.split_first_chunk::<4>() else {
        return Ok(None);
    };
    let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
    if length > FRAME_BYTES_MAX {
        let place = FieldContext {
            message: MESSAGE,
            field: "",
        };
        return Err(Reader::new(bytes, 0).malformed(place, "frame too large"));
    }
    let Some(body) = rest.get(..length) else {
        return Ok(None);
    };
    let mut reader = Reader::new(body, 4);
    let mut frame = WatchFrame {
        kind: String::new(),
        object: Value::Null,
    };
    while !reader.is_empty() {
        let tag = reader.tag(MESSAGE)?;
        let place = |field| FieldContext {
            message: MESSAGE,
            field,
        };
        match tag.number {
            1 => frame.kind = text(reader.block(tag, place("type"))?),
            2 => {
                let mut raw = reader.block(tag, place("object"))?;
                while !raw.is_empty() {
                    let tag = raw.tag(MESSAGE)?;
                    if tag.number == 1 {
                        let object = raw.block(tag, place("object"))?;
                        frame.object = decode(KubernetesVersion::DEFAULT, object, None, 1)?;
                    } else {
                        raw.skip(tag, MESSAGE)?;
                    }
                }
            }
            _ => reader.skip(tag, MESSAGE)?,
        }
    }
    Ok(Some((frame, 4 + length)))
}

/// Reads an object with its envelope, which may itself stand in another object.
pub(super) fn decode(
    kubernetes: KubernetesVersion,
    reader: Reader<'_>,
    default: Option<&TypeMeta>,
    depth: usize,
) -> Result<Value, ProtobufError> {
    let (mut meta, raw) = open(reader)?;
    if let (true, Some(default)) = (meta.kind.is_empty(), default) {
        meta = default.clone();
    }
    let id = find(kubernetes, &meta)?;
    let value = decode::message(id, raw, depth)?;
    let mut value = canonical(id.table(), id, value);
    if let (Value::Object(fields), true) = (&mut value, id.table().get(id).has_type_meta) {
        fields.insert("kind".to_owned(), meta.kind.into());
        fields.insert("apiVersion".to_owned(), meta.api_version.into());
    }
    Ok(value)
}

fn open(reader: Reader<'_>) -> Result<(TypeMeta, Reader<'_>), ProtobufError> {
    const MESSAGE: &str = "io.k8s.apimachinery.pkg.runtime.Unknown";
    let place = |field| FieldContext {
        message: MESSAGE,
        field,
    };
    let bytes = reader
        .bytes()
        .strip_prefix(&PREFIX)
        .ok_or(ProtobufError::NoPrefix)?;
    if bytes.is_empty() {
        return Err(ProtobufError::NoBody);
    }
    let mut reader = Reader::new(bytes, reader.offset() + PREFIX.len());
    let mut meta = TypeMeta::default();
    let mut raw = Reader::new(&[], reader.offset());
    while !reader.is_empty() {
        let tag = reader.tag(MESSAGE)?;
        match tag.number {
            1 => {
                let mut kind = reader.block(tag, place("typeMeta"))?;
                while !kind.is_empty() {
                    let tag = kind.tag(MESSAGE)?;
                    match tag.number {
                        1 => meta.api_version = text(kind.block(tag, place("apiVersion"))?),
                        2 => meta.kind = text(kind.block(tag, place("kind"))?),
                        _ => kind.skip(tag, MESSAGE)?,
                    }
                }
            }
            2 => raw = reader.block(tag, place("raw"))?,
            _ => reader.skip(tag, MESSAGE)?,
        }
    }
    Ok((meta, raw))
}

fn find(kubernetes: KubernetesVersion, meta: &TypeMeta) -> Result<TypeId, ProtobufError> {
    let (group, version) = meta
        .api_version
        .split_once('/')
        .unwrap_or(("", &meta.api_version));
    type_in(kubernetes, group, version, &meta.kind).ok_or_else(|| ProtobufError::UnknownKind {
        api_version: meta.api_version.clone(),
        kind: meta.kind.clone(),
    })
}

fn text(reader: Reader<'_>) -> String {
    String::from_utf8_lossy(reader.bytes()).into_owned()
}
