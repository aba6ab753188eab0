//! The operations of a JSON patch: read, bounded and applied.

use fakeserver_value::{
    json::{DEPTH_MAX, is_deeper_than, json_type},
    patch::{self, apply_operation, changed_items, source},
    status::Status,
};
use serde_json::Value;

use crate::edge::request::BODY_MAX_BYTES;

/// The number of items of lists that the operations of a JSON patch may move, as each one moves all behind its own.
const MOVED_MAX_ITEMS: usize = 50_000_000;
/// The number of bytes that the operations of a JSON patch may move to longer paths, where their depth is checked.
const MOVED_MAX_BYTES: usize = 20 * BODY_MAX_BYTES;

/// Returns the refusal of a patch that cannot be read.
pub(super) fn undecodable(why: &str) -> Status {
    Status::bad_request(format!("error decoding patch: {why}"))
}

/// Refuses a value that is not a valid operation, before it is applied.
pub(super) fn check_operation(operation: &Value) -> Result<(), Status> {
    let Some(members) = operation.as_object() else {
        return match operation {
            Value::Null => Ok(()),
            other => Err(undecodable(&format!(
                "json: cannot unmarshal {} into Go value of type handlers.jsonPatchOp",
                json_type(other)
            ))),
        };
    };
    for name in ["op", "path", "from"] {
        if let Some(other) = members.get(name)
            && !other.is_string()
            && !other.is_null()
        {
            return Err(undecodable(&format!(
                "json: cannot unmarshal {} into Go struct field jsonPatchOp.{name} of type string",
                json_type(other)
            )));
        }
    }
    Ok(())
}

/// Returns the members of operations that no operation has.
pub(super) fn unknown_members(operations: &[Value]) -> impl Iterator<Item = String> {
    let operations = operations.iter().enumerate();
    operations.flat_map(|(index, operation)| {
        let names = operation
            .as_object()
            .into_iter()
            .flat_map(|members| members.keys());
        names
            .filter(|name| !matches!(name.as_str(), "op" | "path" | "from" | "value"))
            .map(move |name| format!("unknown field \"[{index}].{name}\""))
    })
}

/// Applies operations, in bounded work.
pub(super) fn apply_operations(object: &mut Value, operations: &[Value]) -> Result<(), Status> {
    let (mut copied_bytes, mut moved_bytes, mut moved_items) = (0, 0, 0);
    for operation in operations {
        moved_items += changed_items(object, operation);
        let from = source(object, operation);
        // Values that are put into each other would overflow any stack, and copies of copies fill any memory.
        let depth = |field: &str| {
            let path = operation[field].as_str().unwrap_or_default();
            path.matches('/').count()
        };
        let Some(levels) = DEPTH_MAX.checked_sub(depth("path")) else {
            return Err(Status::unprocessable());
        };
        let is_copy = patch::kind(operation) == Some("copy");
        let deepens = depth("path") > depth("from");
        if let Some(from) = from
            && (is_copy || deepens)
        {
            let length = from.to_string().len();
            if deepens && is_deeper_than(from, levels) {
                return Err(Status::unprocessable());
            }
            moved_bytes += if deepens { length } else { 0 };
            copied_bytes += if is_copy { length } else { 0 };
        }
        if copied_bytes > BODY_MAX_BYTES {
            return Err(Status::unprocessable());
        }
        if moved_bytes > MOVED_MAX_BYTES || moved_items > MOVED_MAX_ITEMS {
            return Err(Status::too_large(&format!(
                "the operations of a JSON patch may move {MOVED_MAX_ITEMS} items of lists, and {MOVED_MAX_BYTES} bytes to \
                 longer paths: make it several patches"
            )));
        }
        apply_operation(object, operation).map_err(|_| Status::unprocessable())?;
    }
    Ok(())
}
