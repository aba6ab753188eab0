//! PATCH: JSON patches (RFC 6902) and merge patches (RFC 7386).

use axum::response::Response;
use http::StatusCode;
use json_patch::{AddOperation, Patch, PatchOperation, ReplaceOperation};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Call,
    update::{Existing, Source, check_name, replace},
    write::Received,
};
use crate::{
    request::{BODY_MAX_BYTES, FieldValidation, PatchType, WriteOptions, parse_patch, patch_type},
    response::Shape,
    status::{FieldError, Status},
};

/// How many operations a JSON patch may have.
const OPERATIONS_MAX: usize = 10_000;
/// How deep a JSON patch may nest values.
const DEPTH_MAX: usize = 256;

/// A patch that was read, and is to be applied.
enum Change {
    Json(Vec<Value>),
    Merge(Value),
}

/// Applies the patch in `body`.
pub(super) fn patch(call: &Call<'_>, body: &[u8]) -> Result<Response, Status> {
    let encoding = call.encoding(Shape::Object)?;
    let patch_type = patch_type(call.headers)?;
    let options = WriteOptions::parse(&call.query, "PatchOptions")?;
    let change = Change::parse(patch_type, body)?;
    let mut warnings = Vec::new();
    let outcome = call.server.core.storage.transact(|tx| {
        let key = call.key(call.name());
        let stored = tx
            .get(&key)
            .ok_or_else(|| Status::not_found(call.named(call.name())))?;
        let shown = call.shown(&stored);
        let mut patched = shown.clone();
        change.apply(&mut patched)?;
        let received = receive_patched(call, &patched, options.field_validation)?;
        warnings = received.warnings;
        let mut object = received.object;
        call.place(&mut object)?;
        check_name(call, &object)?;
        let existing = Existing { key, stored, shown };
        replace(call, tx, &options, existing, object, Source::Patch)
    })?;
    Ok(call.answer(StatusCode::OK, &encoding, &outcome, &warnings))
}

/// Reads what a patch has made as an object again.
fn receive_patched(
    call: &Call<'_>,
    patched: &Value,
    validation: FieldValidation,
) -> Result<Received, Status> {
    let text = patched.to_string();
    call.read(text.as_bytes(), validation).map_err(|why| {
        let error = FieldError::invalid("patch", &json!(text), &why);
        Status::invalid("", "", "", &[error])
    })
}

// === impl Change ===

impl Change {
    fn parse(patch_type: PatchType, body: &[u8]) -> Result<Self, Status> {
        let patch = parse_patch(body)?;
        match (patch_type, patch) {
            (PatchType::Merge, patch @ Value::Object(_)) => Ok(Self::Merge(patch)),
            (PatchType::Json, Value::Array(operations)) if operations.len() > OPERATIONS_MAX => {
                Err(Status::too_large(&format!(
                    "The allowed maximum operations in a JSON patch is {OPERATIONS_MAX}, got {}",
                    operations.len()
                )))
            }
            (PatchType::Json, Value::Array(operations)) => Ok(Self::Json(operations)),
            (PatchType::Merge, _) => Err(Status::bad_request(
                "error decoding patch: Invalid JSON Patch",
            )),
            (PatchType::Json, other) => Err(Status::bad_request(format!(
                "error decoding patch: json: cannot unmarshal {} into Go value of type jsonpatch.Patch",
                json_type(&other)
            ))),
        }
    }

    fn apply(&self, object: &mut Value) -> Result<(), Status> {
        match self {
            Self::Merge(patch) => {
                json_patch::merge(object, patch);
                Ok(())
            }
            Self::Json(operations) => apply_operations(object, operations),
        }
    }
}

fn apply_operations(object: &mut Value, operations: &[Value]) -> Result<(), Status> {
    let mut copied_bytes = 0;
    for operation in operations {
        let operation =
            PatchOperation::deserialize(operation).map_err(|_| Status::unprocessable())?;
        let from = match &operation {
            PatchOperation::Copy(copy) => object.pointer(copy.from.as_str()),
            PatchOperation::Move(moved) => object.pointer(moved.from.as_str()),
            _ => None,
        };
        // Values that are put into each other would overflow any stack, and copies of copies fill any memory.
        let depth = operation.path().count() + from.map_or(0, depth);
        if matches!(operation, PatchOperation::Copy(_)) {
            copied_bytes += from.map_or(0, |from| from.to_string().len());
        }
        if depth > DEPTH_MAX || copied_bytes > BODY_MAX_BYTES {
            return Err(Status::unprocessable());
        }
        let operation = match operation {
            PatchOperation::Replace(ReplaceOperation { path, value })
                if is_absent_member(object, path.as_str()) =>
            {
                PatchOperation::Add(AddOperation { path, value })
            }
            other => other,
        };
        let patch = Patch(vec![operation]);
        json_patch::patch(object, &patch).map_err(|_| Status::unprocessable())?;
    }
    Ok(())
}

/// Whether `path` leads to a member that its object does not have: it can be replaced all the same.
fn is_absent_member(object: &Value, path: &str) -> bool {
    let parent = path
        .rsplit_once('/')
        .and_then(|(parent, _)| object.pointer(parent));
    parent.is_some_and(Value::is_object) && object.pointer(path).is_none()
}

/// How deep values are nested in `value`.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}

fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
