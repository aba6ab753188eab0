//! The body of a request: an object, or a patch.

use std::borrow::Cow;

use axum::body::Body;
use bytes::Bytes;
use fakeserver_value::{
    cbor,
    json::{json_type, parse_value, syntax_error},
    parse::not_an_object,
    protobuf::decode_object,
    schema::{self, TypeId, TypeMeta, type_of_kind},
    status::Status,
    yaml::yaml_to_json,
};
use http::{HeaderMap, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::{Value, json};

use super::{header::header_text, media_types::MediaTypes};

/// The largest body that the API takes.
pub(crate) const BODY_MAX_BYTES: usize = 3 * 1024 * 1024;

/// The kind of the options of a delete.
const KIND: &str = "DeleteOptions";
/// The beginning of the errors of options that are not read.
const UNREADABLE: &str = "couldn't get version/kind; json parse error: ";

/// The format of an object in a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyFormat {
    Json,
    Yaml,
    Protobuf,
    Cbor,
}

/// The format of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatchType {
    /// RFC 6902.
    Json,
    /// RFC 7386.
    Merge,
    /// A strategic merge patch.
    Strategic,
    /// A configuration that is applied.
    Apply,
    /// The same, as CBOR.
    ApplyCbor,
}

/// Reads a body to its end.
pub(crate) async fn read_body(body: Body) -> Result<Bytes, Status> {
    // A body whose announced length exceeds the limit is rejected before it is read.
    let announced = http_body::Body::size_hint(&body).lower();
    if announced > BODY_MAX_BYTES as u64 {
        return Err(Status::body_too_large(BODY_MAX_BYTES));
    }
    match Limited::new(body, BODY_MAX_BYTES).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Status::body_too_large(BODY_MAX_BYTES)),
        Err(error) => Err(Status::bad_request(format!("the body broke off: {error}"))),
    }
}

/// Parses the options of a delete, if there are any.
pub(crate) fn parse_delete_options(
    headers: &HeaderMap,
    media_types: MediaTypes,
    bytes: &[u8],
) -> Result<Option<Value>, Status> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let id = type_of_kind("", "v1", KIND).expect("every group has options of its deletions");
    let format = BodyFormat::of(headers, media_types)?;
    if format == BodyFormat::Protobuf {
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
            Err(error) => Err(Status::bad_request(error.to_string())),
        };
    }
    let bytes = &match format {
        BodyFormat::Yaml => Cow::Owned(yaml_to_json(bytes).map_err(Status::bad_request)?),
        BodyFormat::Cbor => Cow::Owned(cbor_options(id, bytes).map_err(Status::bad_request)?),
        BodyFormat::Json | BodyFormat::Protobuf => Cow::Borrowed(bytes),
    };
    let unreadable = |why: &str| Status::bad_request(format!("{UNREADABLE}{why}"));
    let options = match serde_json::from_slice::<Value>(bytes) {
        Ok(options @ Value::Object(_)) => options,
        Ok(Value::Null) => json!({}),
        Ok(other) => return Err(unreadable(&not_an_object(&other))),
        Err(error) => {
            let error = syntax_error(bytes).unwrap_or_else(|| error.to_string());
            return Err(unreadable(&error));
        }
    };
    check_options_kind(&options)?;
    let decoded = schema::decode(id, options.to_string().as_bytes());
    let decoded = decoded.map_err(|error| Status::bad_request(error.to_string()))?;
    Ok(Some(decoded.value))
}

/// Refuses options of another kind.
fn check_options_kind(options: &Value) -> Result<(), Status> {
    let option = |field: &str| match &options[field] {
        Value::String(text) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
        Value::Null => Ok(None),
        other => Err(Status::bad_request(format!(
            "{UNREADABLE}json: cannot unmarshal {} into Go struct field .{field} of type string",
            json_type(other)
        ))),
    };
    let (version, kind) = (
        option("apiVersion")?.unwrap_or("meta.k8s.io/v1"),
        option("kind")?,
    );
    if version.matches('/').count() > 1 {
        return Err(Status::bad_request(format!(
            "unexpected GroupVersion string: {version}"
        )));
    }
    // A version without a name is the expected one.
    let version = if version == "/" {
        "meta.k8s.io/v1"
    } else {
        version
    };
    if let Some(other) = kind.filter(|kind| *kind != KIND) {
        if is_meta_kind(version, other) {
            return Err(Status::bad_request(format!(
                "converting (v1.{other}) to (v1.{KIND}): unknown conversion"
            )));
        }
        return Err(Status::bad_request(format!(
            "no kind {other:?} is registered for version {version:?} in scheme \"pkg/runtime/scheme.go:111\""
        )));
    }
    Ok(())
}

/// Returns whether the scheme of options has a kind in a version.
fn is_meta_kind(version: &str, kind: &str) -> bool {
    match kind {
        "Status" | "APIVersions" | "APIGroup" | "APIGroupList" | "APIResourceList" => true,
        "CreateOptions" | "GetOptions" | "ListOptions" | "PatchOptions" | "UpdateOptions" => {
            matches!(version, "v1" | "meta.k8s.io/v1")
        }
        "PartialObjectMetadata"
        | "PartialObjectMetadataList"
        | "Table"
        | "TableOptions"
        | "WatchEvent" => version == "meta.k8s.io/v1",
        _ => false,
    }
}

/// Converts options in CBOR to JSON. If they are of another kind, only that is in it.
fn cbor_options(id: TypeId, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let document = cbor::Document::parse(bytes).and_then(|document| {
        let type_meta = document.type_meta()?;
        Ok((document, type_meta))
    });
    let (document, type_meta) =
        document.map_err(|error| format!("unable to determine group/version/kind: {error}"))?;
    let json = if matches!(&*type_meta.kind, "" | "DeleteOptions") {
        document.decode(id).map_err(|error| error.to_string())?
    } else {
        json!({"kind": type_meta.kind, "apiVersion": type_meta.api_version})
    };
    Ok(json.to_string().into_bytes())
}

/// Returns the type of a patch, if an object of a built-in or of a custom kind can be patched so.
pub(crate) fn patch_type(
    headers: &HeaderMap,
    media_types: MediaTypes,
    is_custom: bool,
) -> Result<PatchType, Status> {
    let value = header_text(headers, header::CONTENT_TYPE);
    match value.split(';').next().map_or("", str::trim) {
        "application/json-patch+json" => Ok(PatchType::Json),
        "application/merge-patch+json" => Ok(PatchType::Merge),
        // Only Go types declare how their lists merge.
        "application/strategic-merge-patch+json" if !is_custom => Ok(PatchType::Strategic),
        "application/apply-patch+yaml" => Ok(PatchType::Apply),
        "application/apply-patch+cbor" if media_types.has_cbor() => Ok(PatchType::ApplyCbor),
        // No router looks at the types of these.
        _ if is_custom => Err(unknown_format(&media_types.of_custom_patches())),
        _ => Err(Status::unsupported_media_type(
            "415: Unsupported Media Type",
        )),
    }
}

fn unknown_format(accepted: &[&str]) -> Status {
    let mut status = Status::unsupported_media_type(format!(
        "the body of the request was in an unknown format - accepted media types include: {}",
        accepted.join(", ")
    ));
    status.details = None;
    status
}

/// Parses a patch.
pub(crate) fn parse_patch(bytes: &[u8]) -> Result<Value, Status> {
    parse_value(bytes)
        .map_err(|error| Status::bad_request(format!("error decoding patch: {error}")))
}

// === impl BodyFormat ===

impl BodyFormat {
    /// Returns the format that the headers of a request name, if the server has it.
    pub(crate) fn of(headers: &HeaderMap, media_types: MediaTypes) -> Result<Self, Status> {
        let value = header_text(headers, header::CONTENT_TYPE);
        let mut parts = value.split(';').map(str::trim);
        let named = parts.next().unwrap_or_default();
        if parts.any(|parameter| !parameter.is_empty() && !parameter.contains('=')) {
            return Err(unknown_format(&media_types.of_objects()));
        }
        match &*named.to_ascii_lowercase() {
            "" | "application/json" => Ok(Self::Json),
            "application/yaml" => Ok(Self::Yaml),
            "application/vnd.kubernetes.protobuf" => Ok(Self::Protobuf),
            "application/cbor" if media_types.has_cbor() => Ok(Self::Cbor),
            _ => Err(unknown_format(&media_types.of_objects())),
        }
    }
}

// === impl PatchType ===

impl PatchType {
    /// Returns whether the body is a configuration that is applied.
    pub(crate) fn is_apply(self) -> bool {
        matches!(self, Self::Apply | Self::ApplyCbor)
    }
}
