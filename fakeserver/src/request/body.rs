//! The body of a request: an object, or a patch.

use std::{borrow::Cow, fmt::Write};

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::{Value, json};

use super::{config::in_go_words, json_syntax::syntax_error};
use crate::{
    protobuf::{decode_object, peek_kind},
    resource::GroupVersionKind,
    schema::{self, TypeMeta, cannot_be_handled_as, schemas, type_of_kind},
    status::{FieldError, Status},
};

/// The largest body that the API takes.
pub(crate) const BODY_MAX_BYTES: usize = 3 * 1024 * 1024;

const UNKNOWN_FORMAT: &str = "the body of the request was in an unknown format - accepted media types include: \
    application/json, application/yaml, application/vnd.kubernetes.protobuf";
/// How much of a body that is no text an error shows.
const SHOWN_BYTES: usize = 30;

/// How a patch is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatchType {
    /// RFC 6902.
    Json,
    /// RFC 7386.
    Merge,
    /// A merge patch that knows the type.
    Strategic,
    /// A configuration that is applied.
    Apply,
}

/// Reads a body to its end.
pub(crate) async fn read_body(body: Body) -> Result<Bytes, Status> {
    // What says that it is too long need not come first.
    let said = http_body::Body::size_hint(&body).lower();
    if said > BODY_MAX_BYTES as u64 {
        return Err(Status::body_too_large(BODY_MAX_BYTES));
    }
    match Limited::new(body, BODY_MAX_BYTES).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Status::body_too_large(BODY_MAX_BYTES)),
        Err(error) => Err(Status::bad_request(format!("the body broke off: {error}"))),
    }
}

/// An object as JSON. One that is sent as YAML becomes JSON before it is read, as it does in a real server.
pub(crate) fn object_json<'a>(
    headers: &HeaderMap,
    bytes: &'a [u8],
    kind: &str,
) -> Result<Cow<'a, [u8]>, Status> {
    match media_type(headers) {
        "" | "application/json" => Ok(Cow::Borrowed(bytes)),
        "application/yaml" => {
            let object: Value = serde_saphyr::from_slice(bytes).map_err(|error| {
                let error = error.without_snippet().to_string();
                let first = in_go_words(error.lines().next().unwrap_or_default());
                Status::bad_request(format!(
                    "the object provided is unrecognized (must be of type {kind}): error converting YAML to JSON: yaml: \
                     {first} ({})",
                    shown(bytes)
                ))
            })?;
            Ok(Cow::Owned(object.to_string().into_bytes()))
        }
        _ => {
            let mut status = Status::unsupported_media_type(UNKNOWN_FORMAT);
            status.details = None;
            Err(status)
        }
    }
}

/// Parses an object of the kind `wanted`.
///
/// `apiVersion` and `kind` may be missing, and are then the expected ones; a wrong one is an error.
pub(crate) fn parse_object(bytes: &[u8], wanted: &GroupVersionKind) -> Result<Value, Status> {
    let kind = &*wanted.kind;
    let object = match serde_json::from_slice::<Value>(bytes) {
        Ok(object @ Value::Object(_)) => object,
        // It says nothing, and is as good as an empty object.
        Ok(Value::Null) => json!({}),
        Ok(other) => return Err(unrecognized(kind, &not_an_object(&other), bytes)),
        Err(error) => {
            let error = syntax_error(bytes).unwrap_or_else(|| error.to_string());
            return Err(unrecognized(kind, &error, bytes));
        }
    };
    check_kind(object, wanted)
}

/// Whether a body is protobuf.
pub(crate) fn is_protobuf(headers: &HeaderMap) -> bool {
    media_type(headers) == "application/vnd.kubernetes.protobuf"
}

/// Reads an object of the kind `wanted` from protobuf.
pub(crate) fn parse_protobuf(bytes: &[u8], wanted: &GroupVersionKind) -> Result<Value, Status> {
    let default = TypeMeta {
        kind: wanted.kind.to_string(),
        api_version: wanted.api_version(),
    };
    let object = decode_object(bytes, Some(&default)).map_err(|error| {
        let said = peek_kind(bytes).ok().filter(|said| !said.kind.is_empty());
        Status::bad_request(match said {
            Some(said) => cannot_be_handled_as(
                &said.kind,
                last_segment(&said.api_version),
                &wanted.kind,
                error,
            ),
            None => schema::unrecognized(&wanted.kind, error, bytes),
        })
    })?;
    check_kind(object, wanted)
}

/// Refuses an object of another kind than `wanted`, and names the kind of one that does not say.
fn check_kind(mut object: Value, wanted: &GroupVersionKind) -> Result<Value, Status> {
    let kind = &*wanted.kind;
    let api_version = wanted.api_version();
    let found_version = text_field(&object, "apiVersion", kind, &api_version)?;
    let found_kind = text_field(&object, "kind", kind, &api_version)?;
    if !is_registered(&api_version, kind) {
        return check_custom_kind(object, wanted, &found_version, &found_kind);
    }
    if !is_registered(&found_version, &found_kind) {
        return Err(Status::bad_request(format!(
            "{found_kind} in version {:?} cannot be handled as a {kind}: no kind {found_kind:?} is registered for \
             version {found_version:?} in scheme \"pkg/runtime/scheme.go:111\"",
            last_segment(&found_version),
        )));
    }
    let is_same_type = found_kind == kind
        && internal_package(group_of(&found_version)) == internal_package(&wanted.group);
    if !is_same_type {
        return Err(Status::bad_request(format!(
            "{found_kind} in version {:?} cannot be handled as a {kind}: converting ({}.{found_kind}) to \
             ({}.{kind}): unknown conversion",
            last_segment(&found_version),
            go_package(&found_version),
            internal_package(&wanted.group),
        )));
    }
    if found_version != api_version {
        return Err(other_version(&found_version, &api_version));
    }
    object["apiVersion"] = api_version.into();
    object["kind"] = kind.into();
    Ok(object)
}

/// The same of a custom kind, whose objects are read as whatever they say they are, and validated then.
fn check_custom_kind(
    mut object: Value,
    wanted: &GroupVersionKind,
    found_version: &str,
    found_kind: &str,
) -> Result<Value, Status> {
    let (kind, api_version) = (&*wanted.kind, wanted.api_version());
    if found_version != api_version {
        return Err(other_version(found_version, &api_version));
    }
    if found_kind != kind {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let error = FieldError::invalid("kind", &json!(found_kind), &format!("must be {kind}"));
        return Err(Status::invalid(found_kind, &wanted.group, name, &[error]));
    }
    object["apiVersion"] = api_version.into();
    object["kind"] = kind.into();
    Ok(object)
}

fn other_version(found: &str, expected: &str) -> Status {
    Status::bad_request(format!(
        "the API version in the data ({found}) does not match the expected API version ({expected})"
    ))
}

/// Whether a real server knows objects of this kind, be they kept or not.
fn is_registered(api_version: &str, kind: &str) -> bool {
    let (group, version) = (group_of(api_version), last_segment(api_version));
    schemas().of_kind(group, version, kind).is_some()
        || (api_version == "v1" && matches!(kind, "List" | "Status"))
}

fn group_of(api_version: &str) -> &str {
    api_version.rsplit_once('/').map_or("", |(group, _)| group)
}

/// A field of the type's identity, or the expected value where it is missing.
fn text_field(
    object: &Value,
    field: &str,
    kind: &str,
    api_version: &str,
) -> Result<String, Status> {
    let default = if field == "kind" { kind } else { api_version };
    match &object[field] {
        Value::Null => Ok(default.to_owned()),
        Value::String(text) if text.is_empty() => Ok(default.to_owned()),
        Value::String(text) => Ok(text.clone()),
        other => Err(Status::bad_request(format!(
            "the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; json parse \
             error: json: cannot unmarshal {} into Go struct field .{field} of type string",
            json_type(other),
        ))),
    }
}

/// Parses the options of a delete, if there are any.
pub(crate) fn parse_delete_options(
    headers: &HeaderMap,
    bytes: &[u8],
) -> Result<Option<Value>, Status> {
    const KIND: &str = "DeleteOptions";
    if bytes.is_empty() {
        return Ok(None);
    }
    if is_protobuf(headers) {
        let default = TypeMeta {
            kind: KIND.to_owned(),
            api_version: "v1".to_owned(),
        };
        return match decode_object(bytes, Some(&default)) {
            // Its version is any that has the kind.
            Ok(options) if matches!(options["kind"].as_str(), None | Some(KIND)) => {
                Ok(Some(options))
            }
            Ok(_) => Err(Status::bad_request(format!(
                "decoded object cannot be converted to {KIND}"
            ))),
            Err(error) => Err(Status::bad_request(schema::unrecognized(
                KIND, error, bytes,
            ))),
        };
    }
    let bytes = &*object_json(headers, bytes, KIND)?;
    let unreadable = |why: &str| {
        Status::unclassified(format!(
            "couldn't get version/kind; json parse error: {why}"
        ))
    };
    let options = match serde_json::from_slice::<Value>(bytes) {
        Ok(options @ Value::Object(_)) => options,
        Ok(other) => return Err(unreadable(&not_an_object(&other))),
        Err(error) => {
            let error = syntax_error(bytes).unwrap_or_else(|| error.to_string());
            return Err(unreadable(&error));
        }
    };
    let said = |field: &str| options[field].as_str().filter(|text| !text.is_empty());
    let (kind, version) = (said("kind"), said("apiVersion").unwrap_or("v1"));
    if let Some(other) = kind.filter(|kind| *kind != KIND) {
        return Err(Status::unclassified(format!(
            "no kind {other:?} is registered for version {version:?} in scheme \"pkg/runtime/scheme.go:111\""
        )));
    }
    let id = type_of_kind("", "v1", KIND).expect("every group has options of its deletions");
    let decoded = schema::decode(id, bytes);
    let decoded = decoded.map_err(|error| Status::unclassified(error.to_string()))?;
    Ok(Some(decoded.value))
}

/// The type of a patch, if it is one that a patch of `resource` may have.
pub(crate) fn patch_type(
    headers: &HeaderMap,
    kind: &GroupVersionKind,
) -> Result<PatchType, Status> {
    match media_type(headers) {
        "application/json-patch+json" => Ok(PatchType::Json),
        "application/merge-patch+json" => Ok(PatchType::Merge),
        // Only Go types say how their lists merge.
        "application/strategic-merge-patch+json" if is_built_in(kind) => Ok(PatchType::Strategic),
        "application/strategic-merge-patch+json" => {
            let mut status = Status::unsupported_media_type(
                "the body of the request was in an unknown format - accepted media types include: \
                 application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
            );
            status.details = None;
            Err(status)
        }
        "application/apply-patch+yaml" => Ok(PatchType::Apply),
        _ => Err(Status::unsupported_media_type(
            "415: Unsupported Media Type",
        )),
    }
}

fn is_built_in(kind: &GroupVersionKind) -> bool {
    schemas()
        .of_kind(&kind.group, &kind.version, &kind.kind)
        .is_some()
}

/// Parses a patch.
pub(crate) fn parse_patch(bytes: &[u8]) -> Result<Value, Status> {
    parse_json(bytes).map_err(|error| Status::bad_request(format!("error decoding patch: {error}")))
}

/// Parses JSON, or tells what is wrong with it.
pub(crate) fn parse_json(bytes: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(bytes)
        .map_err(|error| syntax_error(bytes).unwrap_or_else(|| error.to_string()))
}

fn media_type(headers: &HeaderMap) -> &str {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .map_or("", str::trim)
}

fn unrecognized(kind: &str, error: &str, bytes: &[u8]) -> Status {
    Status::bad_request(format!(
        "the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; json parse error: \
         {error} ({})",
        shown(bytes)
    ))
}

/// A body as errors show it: the beginning, as text if it looks like JSON, else as hexadecimal digits.
fn shown(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "<empty>".to_owned();
    }
    let beginning = &bytes[..bytes.len().min(SHOWN_BYTES)];
    let looks_like_json = bytes.trim_ascii_start().first() == Some(&b'{');
    let mut shown = match std::str::from_utf8(beginning) {
        Ok(text) if looks_like_json => text.to_owned(),
        _ => beginning.iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        }),
    };
    if bytes.len() > SHOWN_BYTES {
        shown.push_str(" ...");
    }
    shown
}

fn not_an_object(value: &Value) -> String {
    format!(
        "json: cannot unmarshal {} into Go value of type struct {{ APIVersion string \
         \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}",
        json_type(value)
    )
}

pub(super) fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn last_segment(api_version: &str) -> &str {
    api_version
        .rsplit_once('/')
        .map_or(api_version, |(_, version)| version)
}

/// The package that a version's types live in.
fn go_package(api_version: &str) -> &str {
    last_segment(api_version)
}

/// The package that a group's own types live in: `core`, `apps`, `rbac`.
pub(crate) fn internal_package(group: &str) -> &str {
    match group.split('.').next().unwrap_or_default() {
        // Events of both groups are those of one.
        "" | "events" => "core",
        first => first,
    }
}
