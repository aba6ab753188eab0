//! Bodies and answers of writes.

use axum::response::Response;
use http::{StatusCode, header};
use serde_json::Value;

use super::Call;
use crate::{
    edge::{
        request::{is_protobuf, object_json},
        response::{Encoding, Format},
    },
    value::{
        parse::{parse_object, parse_protobuf},
        protobuf::encode_object,
        resource::GroupVersionKind,
        status::{Status, Success, warning_header},
    },
    write::{Attempt, FieldValidation, Outcome, Received, WriteOptions, admit},
};

// === impl Call ===

impl Call<'_> {
    /// Reads the body of a request as an object of this type.
    pub(super) fn receive(
        &self,
        bytes: &[u8],
        validation: FieldValidation,
    ) -> Result<Received, Status> {
        self.receive_as(
            &self.target.resource.group_version_kind(),
            bytes,
            validation,
        )
    }

    /// Reads the body of a request as an object of another kind than the resource's.
    pub(super) fn receive_as(
        &self,
        wanted: &GroupVersionKind,
        bytes: &[u8],
        validation: FieldValidation,
    ) -> Result<Received, Status> {
        if is_protobuf(self.headers) {
            // What is unknown is not there, and nothing is twice: there is nothing to warn of.
            return Ok(Received {
                object: parse_protobuf(bytes, wanted)?,
                warnings: Vec::new(),
            });
        }
        let bytes = &*object_json(self.headers, bytes, &wanted.kind)?;
        let read = if let Some(read) = self.target.read_expected(wanted, bytes, validation) {
            read
        } else {
            let parsed = parse_object(bytes, wanted)?;
            self.target.read_parsed(wanted, parsed, bytes, validation)
        };
        read.map_err(|why| {
            Status::bad_request(format!(
                "{kind} in version {:?} cannot be handled as a {kind}: {why}",
                &*wanted.version,
                kind = wanted.kind,
            ))
        })
    }

    /// Puts an object that is not stored to admission, and returns what it has become, with all warnings.
    pub(super) async fn admit(
        &self,
        kind: &GroupVersionKind,
        options: &WriteOptions,
        object: Value,
    ) -> Result<(Value, Vec<String>), Status> {
        let author = self.author(options);
        let work = |attempt: &mut Attempt<'_, '_>| {
            admit(attempt, &self.target, author, kind, object.clone())
        };
        let writer = &self.api.backend;
        writer.write(&self.target, options, work).await
    }

    /// The answer to a request that leaves no object.
    pub(super) fn succeed(
        &self,
        code: StatusCode,
        encoding: &Encoding,
        success: &Success,
    ) -> Response {
        let mut body = success.to_json();
        if encoding.format() == Format::Protobuf {
            let status: Value = serde_json::from_slice(&body).expect("it was written as JSON");
            body = encode_object(&status)
                .expect("a status has a message")
                .into();
        }
        self.delivery(encoding).whole(code, body)
    }

    /// The answer to a write that went well.
    pub(super) fn answer(
        &self,
        code: StatusCode,
        encoding: &Encoding,
        outcome: &Outcome,
        warnings: &[String],
    ) -> Response {
        let body = match outcome {
            Outcome::Stored(object) => encoding.object(object),
            Outcome::Shown(object) | Outcome::Deleted(object) => encoding.value(object),
        };
        let mut response = self.delivery(encoding).whole(code, body);
        add_warnings(&mut response, warnings);
        response
    }
}

/// Tells the client all that it should know though all went well.
pub(super) fn add_warnings(response: &mut Response, warnings: &[String]) {
    for warning in warnings {
        add_warning(response, warning);
    }
}

/// Tells the client what it should know though all went well.
pub(super) fn add_warning(response: &mut Response, warning: &str) {
    if let Some(value) = warning_header(warning) {
        response.headers_mut().append(header::WARNING, value);
    }
}
