//! Parses objects of an expected kind, from JSON and protobuf.

use std::fmt::Write;

use fakeserver_versions::KubernetesVersion;
use serde_json::{Value, json};

use super::{
    cbor,
    json::{json_type, parse_value},
    protobuf::{decode_object_in, peek_kind},
    resource::GroupVersionKind,
    schema::{self, TypeMeta, cannot_be_handled_as, schemas_in, type_in},
    status::{FieldError, Status},
};

/// The kinds that every version of every group has.
const UNVERSIONED: [&str; 5] = [
    "APIGroup",
    "APIGroupList",
    "APIResourceList",
    "APIVersions",
    "Status",
];
/// The number of bytes of a body without text that an error shows.
const SHOWN_BYTES: usize = 30;

/// Parses an object of the kind `wanted`.
///
/// `apiVersion` and `kind` may be missing, and are then the expected ones; a wrong one is an error. Errors show the
/// object as it was `sent`.
pub fn parse_object(
    kubernetes: KubernetesVersion,
    bytes: &[u8],
    sent: &[u8],
    wanted: &GroupVersionKind,
) -> Result<Value, Status> {
    let object = parse_members(bytes, sent, wanted)?;
    check_kind(kubernetes, object, wanted).map_err(|error| error.of_body(&wanted.kind, bytes))
}

/// Parses an object of any kind.
fn parse_members(bytes: &[u8], sent: &[u8], wanted: &GroupVersionKind) -> Result<Value, Status> {
    let kind = &*wanted.kind;
    match parse_value(bytes) {
        Ok(object @ Value::Object(_)) => Ok(object),
        // A body of `null` reads as an empty object.
        Ok(Value::Null) => Ok(json!({})),
        Ok(other) => Err(unrecognized(kind, &not_an_object(&other), sent)),
        Err(error) => Err(unrecognized(kind, &error, sent)),
    }
}

/// Parses a custom object, which has to say its kind; its version may be missing or another one.
///
/// `names_default` tells whether the error of a missing kind names the one that is expected.
pub fn parse_custom(
    bytes: &[u8],
    sent: &[u8],
    wanted: &GroupVersionKind,
    names_default: bool,
) -> Result<(Value, TypeMeta), Status> {
    let object = parse_members(bytes, sent, wanted)?;
    let text = |field: &str| {
        let text = text_field(&object, field, "");
        text.map_err(|error| error.of_body(&wanted.kind, sent))
    };
    let (api_version, kind) = (text("apiVersion")?, text("kind")?);
    check_slashes(&api_version).map_err(|error| error.of_body(&wanted.kind, sent))?;
    if kind.is_empty() {
        let body = if names_default { bytes } else { sent };
        let why = format!(
            "Object 'Kind' is missing in '{}'",
            String::from_utf8_lossy(body)
        );
        return Err(Status::bad_request(if names_default {
            cannot_be_handled_as(&wanted.kind, &wanted.version, &wanted.kind, why)
        } else {
            schema::unrecognized(&wanted.kind, why, sent)
        }));
    }
    Ok((object, TypeMeta { kind, api_version }))
}

/// Refuses a custom object of another version than the expected one.
pub fn check_custom_version(type_meta: &TypeMeta, wanted: &GroupVersionKind) -> Result<(), Status> {
    let (group, version) = type_meta
        .api_version
        .split_once('/')
        .unwrap_or(("", &type_meta.api_version));
    let is_wanted = group == &*wanted.group && version == &*wanted.version;
    if is_wanted {
        return Ok(());
    }
    // The core group has no name, and its version is printed without a slash.
    let found = if group.is_empty() {
        version
    } else {
        &type_meta.api_version
    };
    Err(other_version(found, &wanted.api_version()))
}

/// Does the same as [`parse_object`] for an object that a patch made. The error leaves out the kind that the server expects.
pub fn parse_patched(
    kubernetes: KubernetesVersion,
    object: Value,
    wanted: &GroupVersionKind,
) -> Result<Value, String> {
    check_kind(kubernetes, object, wanted).map_err(KindError::into_reason)
}

/// Reads an object of the kind `wanted` from protobuf.
pub fn parse_protobuf(
    kubernetes: KubernetesVersion,
    bytes: &[u8],
    wanted: &GroupVersionKind,
) -> Result<Value, Status> {
    let default = TypeMeta {
        kind: wanted.kind.to_string(),
        api_version: wanted.api_version(),
    };
    let object = decode_object_in(kubernetes, bytes, Some(&default)).map_err(|error| {
        let type_meta = peek_kind(bytes)
            .ok()
            .filter(|type_meta| !type_meta.kind.is_empty());
        Status::bad_request(match type_meta {
            Some(type_meta) => cannot_be_handled_as(
                &type_meta.kind,
                last_segment(&type_meta.api_version),
                &wanted.kind,
                error,
            ),
            None => schema::unrecognized(&wanted.kind, error, bytes),
        })
    })?;
    check_kind(kubernetes, object, wanted).map_err(|error| error.of_body(&wanted.kind, bytes))
}

/// Reads an object of the kind `wanted` from CBOR, and returns it with the first field that its type does not have.
///
/// An object that says that it is of another kind has nothing but that: it is refused for it.
pub fn parse_cbor(
    kubernetes: KubernetesVersion,
    bytes: &[u8],
    wanted: &GroupVersionKind,
    is_custom: bool,
) -> Result<(Value, Option<String>), Status> {
    let named = cbor::Document::parse(bytes).and_then(|document| {
        let type_meta = document.type_meta()?;
        Ok((document, type_meta))
    });
    let (document, type_meta) = named.map_err(|error| {
        let why = format!("unable to determine group/version/kind: {error}");
        Status::bad_request(schema::unrecognized(&wanted.kind, why, bytes))
    })?;
    let or = |given: &str, wanted: &str| if given.is_empty() { wanted } else { given }.to_owned();
    let api_version = wanted.api_version();
    let named = (
        or(&type_meta.kind, &wanted.kind),
        or(&type_meta.api_version, &api_version),
    );
    let cannot = |why: String| {
        let version = last_segment(&named.1);
        Status::bad_request(cannot_be_handled_as(&named.0, version, &wanted.kind, why))
    };
    if is_custom {
        let object = document.object();
        let object = object.map_err(|error| cannot(error.to_string()))?;
        // Custom resources have no default kind, so that both fields are required.
        let missing = match (&*type_meta.kind, &*type_meta.api_version) {
            ("", _) => "Kind",
            (_, "") => "apiVersion",
            _ => return Ok((object, None)),
        };
        return Err(unnamed(&type_meta, wanted, missing, &document, bytes));
    }
    let id = type_in(kubernetes, &wanted.group, &wanted.version, &wanted.kind);
    let is_wanted = named.0 == *wanted.kind && named.1 == api_version;
    match id.filter(|_| is_wanted) {
        Some(id) => {
            let object = document.decode(id);
            let object = object.map_err(|error| cannot(error.to_string()))?;
            let unknown = document.unknown_field(id);
            Ok((object, unknown.map(|error| error.to_string())))
        }
        None => Ok((json!({"kind": named.0, "apiVersion": named.1}), None)),
    }
}

/// Refuses an object that does not say its kind or its version.
fn unnamed(
    type_meta: &TypeMeta,
    wanted: &GroupVersionKind,
    missing: &str,
    document: &cbor::Document<'_>,
    bytes: &[u8],
) -> Status {
    let why = format!("Object '{missing}' is missing in '{}'", document.diagnose());
    Status::bad_request(if type_meta.kind.is_empty() {
        schema::unrecognized(&wanted.kind, why, bytes)
    } else {
        cannot_be_handled_as(&type_meta.kind, "", &wanted.kind, why)
    })
}

/// An object that is not of the kind that it should be.
enum KindError {
    /// `kind` or `apiVersion` is no text.
    Unrecognized(String),
    /// The object has a kind that cannot be read as the expected one.
    Other {
        kind: String,
        version: String,
        why: String,
    },
    /// A complete answer, which does not depend on the expected kind.
    Refused(Status),
}

// === impl KindError ===

impl KindError {
    /// Returns the answer to a body that should have been of the kind `wanted`.
    fn of_body(self, wanted: &str, bytes: &[u8]) -> Status {
        match self {
            Self::Unrecognized(why) => Status::bad_request(format!(
                "the object provided is unrecognized (must be of type {wanted}): {why} ({})",
                excerpt(bytes)
            )),
            Self::Other { kind, version, why } => Status::bad_request(cannot_be_handled_as(
                &kind,
                last_segment(&version),
                wanted,
                why,
            )),
            Self::Refused(status) => status,
        }
    }

    fn into_reason(self) -> String {
        match self {
            Self::Unrecognized(why) | Self::Other { why, .. } => why,
            Self::Refused(status) => status.message,
        }
    }
}

/// Refuses an object of another kind than `wanted`, and names the kind of one that does not say.
fn check_kind(
    kubernetes: KubernetesVersion,
    mut object: Value,
    wanted: &GroupVersionKind,
) -> Result<Value, KindError> {
    let kind = &*wanted.kind;
    let api_version = wanted.api_version();
    let found_version = text_field(&object, "apiVersion", &api_version)?;
    let found_kind = text_field(&object, "kind", kind)?;
    check_slashes(&found_version)?;
    if !is_registered(kubernetes, &api_version, kind) {
        return check_custom_kind(object, wanted, &found_version, &found_kind)
            .map_err(KindError::Refused);
    }
    let other = |why: String| KindError::Other {
        kind: found_kind.clone(),
        version: found_version.clone(),
        why,
    };
    if !is_registered(kubernetes, &found_version, &found_kind) {
        // A scheme has the name of the place where it is made, as far as the compiler keeps that.
        let scheme = if kubernetes.gates().is_on("SchemesNamedByRuntime") {
            "pkg/runtime/scheme.go:111"
        } else {
            "pkg/api/legacyscheme/scheme.go:30"
        };
        return Err(other(format!(
            "no kind {found_kind:?} is registered for version {found_version:?} in scheme {scheme:?}"
        )));
    }
    let is_same_type = found_kind == kind
        && internal_package(group_of(&found_version)) == internal_package(&wanted.group);
    if !is_same_type {
        return Err(other(format!(
            "converting ({}.{found_kind}) to ({}.{kind}): unknown conversion",
            if UNVERSIONED.contains(&&*found_kind) {
                "v1"
            } else {
                go_package(&found_version)
            },
            internal_package(&wanted.group),
        )));
    }
    if found_version != api_version {
        return Err(KindError::Refused(other_version(
            &found_version,
            &api_version,
        )));
    }
    object["apiVersion"] = api_version.into();
    object["kind"] = kind.into();
    Ok(object)
}

/// Does the same for a custom kind: objects are read with the kind that they name, and validated then.
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

/// Refuses a version of more parts than a group and its version.
fn check_slashes(api_version: &str) -> Result<(), KindError> {
    if api_version.matches('/').count() > 1 {
        let why = format!("unexpected GroupVersion string: {api_version}");
        return Err(KindError::Unrecognized(why));
    }
    Ok(())
}

fn other_version(found: &str, expected: &str) -> Status {
    Status::bad_request(format!(
        "the API version in the data ({found}) does not match the expected API version ({expected})"
    ))
}

/// Returns whether a real server knows objects of this kind, stored or not.
fn is_registered(kubernetes: KubernetesVersion, api_version: &str, kind: &str) -> bool {
    let (group, version) = (group_of(api_version), last_segment(api_version));
    schemas_in(kubernetes)
        .of_kind(group, version, kind)
        .is_some()
        || UNVERSIONED.contains(&kind)
        || (api_version == "v1" && kind == "List")
}

fn group_of(api_version: &str) -> &str {
    api_version.rsplit_once('/').map_or("", |(group, _)| group)
}

/// A field of the type's identity, or the expected value where it is missing.
fn text_field(object: &Value, field: &str, expected: &str) -> Result<String, KindError> {
    match &object[field] {
        Value::Null => Ok(expected.to_owned()),
        Value::String(text) if text.is_empty() => Ok(expected.to_owned()),
        Value::String(text) => Ok(text.clone()),
        other => Err(KindError::Unrecognized(format!(
            "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go struct field .{field} of \
             type string",
            json_type(other),
        ))),
    }
}

fn unrecognized(kind: &str, error: &str, bytes: &[u8]) -> Status {
    Status::bad_request(format!(
        "the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; json parse error: \
         {error} ({})",
        excerpt(bytes)
    ))
}

/// A body as errors show it: the beginning, as text if it looks like JSON, else as hexadecimal digits.
pub fn excerpt(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "<empty>".to_owned();
    }
    let beginning = &bytes[..bytes.len().min(SHOWN_BYTES)];
    let looks_like_json = bytes.trim_ascii_start().first() == Some(&b'{');
    let mut excerpt = match std::str::from_utf8(beginning) {
        Ok(text) if looks_like_json => text.to_owned(),
        _ => beginning.iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        }),
    };
    if bytes.len() > SHOWN_BYTES {
        excerpt.push_str(" ...");
    }
    excerpt
}

pub fn not_an_object(value: &Value) -> String {
    format!(
        "json: cannot unmarshal {} into Go value of type struct {{ APIVersion string \
         \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}",
        json_type(value)
    )
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
pub fn internal_package(group: &str) -> &str {
    match group.split('.').next().unwrap_or_default() {
        // Events of both groups are those of one.
        "" | "events" => "core",
        first => first,
    }
}
