//! Bodies of requests that write.

use std::borrow::Cow;

use fakeserver_value::{
    parse::{
        check_custom_version, excerpt, parse_cbor, parse_custom, parse_object, parse_protobuf,
    },
    resource::GroupVersionKind,
    schema::cannot_be_handled_as,
    status::Status,
    yaml::{repeated_keys, strict_warnings, yaml_to_json},
};
use fakeserver_versions::KubernetesVersion;

use super::Request;

use crate::{
    edge::request::BodyFormat,
    write::{FieldValidation, ReceivedObject},
};

/// Reads the body of a request as an object of its type.
pub(super) fn receive(
    request: &Request<'_>,
    bytes: &[u8],
    validation: FieldValidation,
) -> Result<ReceivedObject, Status> {
    let kind = request.target.resource.group_version_kind();
    receive_as(request, &kind, bytes, validation)
}

/// Reads the body of a request as an object of another kind than the resource's.
pub(super) fn receive_as(
    request: &Request<'_>,
    wanted: &GroupVersionKind,
    bytes: &[u8],
    validation: FieldValidation,
) -> Result<ReceivedObject, Status> {
    let format = BodyFormat::of(request.headers, request.media_types)?;
    let kubernetes = request.target.resource.kubernetes;
    if format == BodyFormat::Protobuf {
        // The encoding has no unknown and no duplicate fields, so there is nothing to warn of.
        return Ok(ReceivedObject {
            object: parse_protobuf(kubernetes, bytes, wanted)?,
            warnings: Vec::new(),
        });
    }
    let is_custom = request.target.is_custom(wanted);
    let (json, found) = json_of(kubernetes, format, wanted, is_custom, bytes)?;
    let reading = match format {
        // Fields that a type does not have were found already. Those of custom types are not looked for.
        BodyFormat::Cbor => FieldValidation::Ignore,
        _ if found.is_some() && validation == FieldValidation::Strict => FieldValidation::Warn,
        _ => validation,
    };
    if is_custom {
        let text = (&*json, bytes);
        return receive_custom(request, wanted, text, reading, found.as_deref(), validation);
    }
    let read = read_json(request, wanted, (&json, bytes), reading)?;
    let cannot = |why: &str| {
        Status::bad_request(format!(
            "{kind} in version {:?} cannot be handled as a {kind}: {why}",
            &*wanted.version,
            kind = wanted.kind,
        ))
    };
    let mut received = read.map_err(|why| cannot(&why))?;
    add_found(&mut received, found.as_deref(), validation).map_err(|why| cannot(&why))?;
    Ok(received)
}

/// Decodes an object of a custom kind. Its version has to be the expected one; its kind is checked once its name is
/// known, as in a real server.
fn receive_custom(
    request: &Request<'_>,
    wanted: &GroupVersionKind,
    (json, sent): (&[u8], &[u8]),
    reading: FieldValidation,
    found: Option<&str>,
    validation: FieldValidation,
) -> Result<ReceivedObject, Status> {
    let is_silent = validation == FieldValidation::Ignore;
    let (parsed, type_meta) = parse_custom(json, sent, wanted, is_silent)?;
    let cannot = |why: &str| {
        let version = type_meta.api_version.rsplit('/').next().unwrap_or_default();
        Status::bad_request(cannot_be_handled_as(
            &type_meta.kind,
            version,
            &wanted.kind,
            why,
        ))
    };
    // Unknown fields are only found by the schema of the type itself.
    let is_wanted = type_meta.kind == *wanted.kind && type_meta.api_version == wanted.api_version();
    let reading = if is_wanted {
        reading
    } else {
        FieldValidation::Ignore
    };
    let read = request.target.read_parsed(wanted, parsed, json, reading);
    let mut received = read.map_err(|why| cannot(&why))?;
    add_found(&mut received, found, validation).map_err(|why| cannot(&why))?;
    let checked = check_custom_version(&type_meta, wanted);
    checked.map_err(|status| status.after(&received.warnings))?;
    received.object["kind"] = type_meta.kind.into();
    Ok(received)
}

/// Adds to the warnings of an object what strict reading found in its text.
///
/// # Errors
///
/// Something was found, and validation is strict.
fn add_found(
    received: &mut ReceivedObject,
    found: Option<&str>,
    validation: FieldValidation,
) -> Result<(), String> {
    let Some(found) = found.filter(|_| validation != FieldValidation::Ignore) else {
        return Ok(());
    };
    if validation == FieldValidation::Strict {
        received.warnings.insert(0, found.to_owned());
        let errors = received.warnings.join(", ");
        return Err(format!("strict decoding error: {errors}"));
    }
    received.warnings.splice(0..0, strict_warnings(found));
    Ok(())
}

/// Returns a body as JSON, and what strict reading finds in its own format: a repeated key of YAML, or a field that a type
/// does not have, of CBOR.
fn json_of<'a>(
    kubernetes: KubernetesVersion,
    format: BodyFormat,
    wanted: &GroupVersionKind,
    is_custom: bool,
    bytes: &'a [u8],
) -> Result<(Cow<'a, [u8]>, Option<String>), Status> {
    match format {
        BodyFormat::Json | BodyFormat::Protobuf => Ok((Cow::Borrowed(bytes), None)),
        BodyFormat::Yaml => match yaml_to_json(bytes) {
            Ok(json) => Ok((Cow::Owned(json), repeated_keys(bytes))),
            Err(why) => Err(Status::bad_request(format!(
                "the object provided is unrecognized (must be of type {}): {why} ({})",
                wanted.kind,
                excerpt(bytes)
            ))),
        },
        BodyFormat::Cbor => {
            let (object, unknown) = parse_cbor(kubernetes, bytes, wanted, is_custom)?;
            Ok((Cow::Owned(object.to_string().into_bytes()), unknown))
        }
    }
}

/// Decodes a body that was converted to JSON. Errors quote it as sent.
fn read_json(
    request: &Request<'_>,
    wanted: &GroupVersionKind,
    (bytes, sent): (&[u8], &[u8]),
    validation: FieldValidation,
) -> Result<Result<ReceivedObject, String>, Status> {
    let target = &request.target;
    if let Some(read) = target.read_expected(wanted, bytes, validation) {
        return Ok(read);
    }
    let parsed = parse_object(target.resource.kubernetes, bytes, sent, wanted)?;
    Ok(target.read_parsed(wanted, parsed, bytes, validation))
}
