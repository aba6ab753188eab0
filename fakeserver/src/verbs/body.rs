//! Bodies of requests that write.

use super::Request;
use crate::{
    edge::request::{is_protobuf, object_json},
    value::{
        parse::{parse_object, parse_protobuf},
        resource::GroupVersionKind,
        status::Status,
    },
    write::{FieldValidation, Received},
};

/// Reads the body of a request as an object of its type.
pub(super) fn receive(
    request: &Request<'_>,
    bytes: &[u8],
    validation: FieldValidation,
) -> Result<Received, Status> {
    let kind = request.target.resource.group_version_kind();
    receive_as(request, &kind, bytes, validation)
}

/// Reads the body of a request as an object of another kind than the resource's.
pub(super) fn receive_as(
    request: &Request<'_>,
    wanted: &GroupVersionKind,
    bytes: &[u8],
    validation: FieldValidation,
) -> Result<Received, Status> {
    if is_protobuf(request.headers) {
        // What is unknown is not there, and nothing is twice: there is nothing to warn of.
        return Ok(Received {
            object: parse_protobuf(bytes, wanted)?,
            warnings: Vec::new(),
        });
    }
    let target = &request.target;
    let bytes = &*object_json(request.headers, bytes, &wanted.kind)?;
    let read = if let Some(read) = target.read_expected(wanted, bytes, validation) {
        read
    } else {
        let parsed = parse_object(bytes, wanted)?;
        target.read_parsed(wanted, parsed, bytes, validation)
    };
    read.map_err(|why| {
        Status::bad_request(format!(
            "{kind} in version {:?} cannot be handled as a {kind}: {why}",
            &*wanted.version,
            kind = wanted.kind,
        ))
    })
}
