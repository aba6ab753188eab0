//! The body of a request: an object, or a patch.

use std::borrow::Cow;

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::Value;

use super::{
    config::{in_go_words, lenient, with_integers},
    header::header_text,
};
use crate::value::{
    json::{parse_value, syntax_error},
    parse::{excerpt, not_an_object},
    protobuf::decode_object,
    resource::GroupVersionKind,
    schema::{self, TypeMeta, schemas, type_of_kind},
    status::Status,
};

/// The largest body that the API takes.
pub(crate) const BODY_MAX_BYTES: usize = 3 * 1024 * 1024;

const UNKNOWN_FORMAT: &str = if cfg!(feature = "protobuf") {
    "the body of the request was in an unknown format - accepted media types include: \
    application/json, application/yaml, application/vnd.kubernetes.protobuf"
} else {
    "the body of the request was in an unknown format - accepted media types include: \
    application/json, application/yaml"
};

/// The format of a patch.
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
            let object: Value = serde_saphyr::from_slice_with_options(bytes, lenient()).map_err(|error| {
                let error = error.without_snippet().to_string();
                let first = in_go_words(error.lines().next().unwrap_or_default(), bytes);
                Status::bad_request(format!(
                    "the object provided is unrecognized (must be of type {kind}): error converting YAML to JSON: yaml: \
                     {first} ({})",
                    excerpt(bytes)
                ))
            })?;
            Ok(Cow::Owned(with_integers(object).to_string().into_bytes()))
        }
        _ => {
            let mut status = Status::unsupported_media_type(UNKNOWN_FORMAT);
            status.details = None;
            Err(status)
        }
    }
}

/// Returns whether a body is protobuf.
pub(crate) fn is_protobuf(headers: &HeaderMap) -> bool {
    cfg!(feature = "protobuf") && media_type(headers) == "application/vnd.kubernetes.protobuf"
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
        Status::bad_request(format!(
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
        return Err(Status::bad_request(format!(
            "no kind {other:?} is registered for version {version:?} in scheme \"pkg/runtime/scheme.go:111\""
        )));
    }
    let id = type_of_kind("", "v1", KIND).expect("every group has options of its deletions");
    let decoded = schema::decode(id, bytes);
    let decoded = decoded.map_err(|error| Status::bad_request(error.to_string()))?;
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
    parse_value(bytes)
        .map_err(|error| Status::bad_request(format!("error decoding patch: {error}")))
}

fn media_type(headers: &HeaderMap) -> &str {
    let value = header_text(headers, header::CONTENT_TYPE);
    value.split(';').next().map_or("", str::trim)
}
