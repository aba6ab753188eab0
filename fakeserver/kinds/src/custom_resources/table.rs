//! Tables of custom resources: the columns that a definition names, and their cells.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::PrinterColumn;
use crate::table::{
    age::since,
    cell::{Cells, name},
};

/// Returns the definitions of the columns, as JSON.
pub(super) fn columns(columns: &[PrinterColumn]) -> String {
    let name = json!({
        "name": "Name",
        "type": "string",
        "format": "name",
        "description": "",
        "priority": 0,
    });
    let others = columns.iter().map(|column| {
        json!({
            "name": column.name,
            "type": column.ty,
            "format": column.format,
            "description": column.description,
            "priority": column.priority,
        })
    });
    let all: Value = [name].into_iter().chain(others).collect();
    all.to_string()
}

/// Returns the cells of an object.
pub(super) fn cells(columns: &[PrinterColumn], object: &Value, now: Timestamp) -> Cells {
    let others = columns
        .iter()
        .map(|column| cell(&column.ty, column.value(object), now));
    [json!(name(object))].into_iter().chain(others).collect()
}

/// A value in a column of a type; null if it does not fit there.
fn cell(ty: &str, value: Option<&Value>, now: Timestamp) -> Value {
    match (ty, value) {
        (_, None | Some(Value::Null)) => Value::Null,
        ("string", Some(Value::String(text))) => json!(text),
        ("string", Some(other)) => json!(other.to_string()),
        ("integer", Some(Value::Number(number))) => whole(number),
        ("number", Some(number @ Value::Number(_))) => number.clone(),
        ("boolean", Some(truth @ Value::Bool(_))) => truth.clone(),
        ("date", Some(Value::String(text))) => match text.parse::<Timestamp>() {
            Ok(_) => json!(since(&json!(text), now)),
            Err(_) => json!("<invalid>"),
        },
        _ => Value::Null,
    }
}

/// The whole part of a number.
fn whole(number: &serde_json::Number) -> Value {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the part behind the point is not shown, and what is too large is shown as the largest"
    )]
    let truncated = || number.as_f64().map(|number| number as i64);
    number.as_i64().or_else(truncated).into()
}
