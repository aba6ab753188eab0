//! Types whose JSON form differs from their message.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::schema::{Form, Precision, Quantity, is_zero_time, parse_time, print_time};

/// Folds the fields of a message into the value that JSON shows.
pub(super) fn fold(form: Form, mut fields: Map<String, Value>) -> Result<Value, String> {
    let mut take = |name: &str| fields.remove(name).unwrap_or(Value::Null);
    Ok(match form {
        Form::Time => time(&fields, Precision::Seconds)?,
        Form::MicroTime => time(&fields, Precision::Micros)?,
        Form::Quantity => match take("string") {
            Value::String(text) => {
                let quantity = text
                    .parse::<Quantity>()
                    .map_err(|error| error.to_string())?;
                json!(quantity.to_string())
            }
            _ => json!("0"),
        },
        Form::IntOrString => match take("type") {
            Value::Number(kind) if kind.as_i64() == Some(1) => or(take("strVal"), json!("")),
            _ => or(take("intVal"), json!(0)),
        },
        Form::StringList => or(take("items"), Value::Null),
        Form::SchemaOrArray => or(take("jSONSchemas"), take("schema")),
        Form::SchemaOrStringArray => or(take("property"), take("schema")),
        Form::SchemaOrBool => or(take("schema"), or(take("allows"), json!(false))),
        Form::Struct | Form::RawExtension | Form::RawJson => Value::Object(fields),
    })
}

/// The fields of what JSON shows, but for texts of times and quantities; `None` is an empty message, which differs from one of
/// zeros.
pub(super) fn unfold(
    form: Form,
    value: &Value,
) -> Result<Option<Map<String, Value>>, &'static str> {
    let fields = match (form, value) {
        (Form::Time | Form::MicroTime, Value::Null) => return Ok(None),
        (Form::Quantity, Value::Null) => json!({"string": "0"}),
        (Form::Quantity, Value::Number(number)) => json!({"string": number.to_string()}),
        (Form::IntOrString, Value::Null) => json!({}),
        (Form::IntOrString, Value::Number(number)) => json!({"intVal": number}),
        (Form::IntOrString, Value::String(text)) => json!({"type": 1, "strVal": text}),
        (Form::StringList, items @ (Value::Array(_) | Value::Null)) => json!({"items": items}),
        (Form::SchemaOrArray, Value::Array(_)) => json!({"jSONSchemas": value}),
        (Form::SchemaOrStringArray, Value::Array(_)) => json!({"property": value}),
        (Form::SchemaOrBool, Value::Bool(allows)) => json!({"allows": allows}),
        (Form::SchemaOrBool, Value::Object(_)) => json!({"allows": true, "schema": value}),
        (Form::SchemaOrArray | Form::SchemaOrStringArray, Value::Object(_)) => {
            json!({"schema": value})
        }
        (Form::SchemaOrArray | Form::SchemaOrStringArray | Form::SchemaOrBool, Value::Null) => {
            json!({})
        }
        _ => return Err(expected(form)),
    };
    match fields {
        Value::Object(fields) => Ok(Some(fields)),
        _ => Err(expected(form)),
    }
}

fn expected(form: Form) -> &'static str {
    match form {
        Form::Time | Form::MicroTime => "a time",
        Form::Quantity => "a quantity",
        Form::IntOrString => "an integer or a string",
        Form::StringList => "a list of strings",
        Form::SchemaOrArray => "a schema or a list of schemas",
        Form::SchemaOrBool => "a schema or a boolean",
        Form::SchemaOrStringArray => "a schema or a list of strings",
        Form::Struct | Form::RawExtension | Form::RawJson => "an object",
    }
}

fn or(value: Value, otherwise: Value) -> Value {
    if value.is_null() { otherwise } else { value }
}

/// An empty message is Go's zero time. Fractions are cut: JSON has never had them, so that Go drops them here, too.
fn time(fields: &Map<String, Value>, precision: Precision) -> Result<Value, String> {
    if fields.is_empty() {
        return Ok(Value::Null);
    }
    let part = |name: &str| fields.get(name).and_then(Value::as_i64).unwrap_or(0);
    let nanos = match precision {
        Precision::Seconds => 0,
        Precision::Micros => i32::try_from(part("nanos")).unwrap_or(0),
    };
    let time = Timestamp::new(part("seconds"), 0)
        .and_then(|time| time.checked_add(jiff::SignedDuration::new(0, nanos)));
    let time = time.map_err(|_| "time out of range".to_owned())?;
    Ok(if is_zero_time(time) {
        Value::Null
    } else {
        json!(print_time(time, precision))
    })
}

/// Returns the whole seconds of a time since 1970, and the nanoseconds after them.
pub(super) fn since_epoch(text: &str, precision: Precision) -> Result<(i64, i32), &'static str> {
    let time = parse_time(text, precision).map_err(|_| "a time")?;
    // Go counts nanoseconds forward from a whole second, also before 1970.
    let total = time.as_nanosecond();
    let seconds = i64::try_from(total.div_euclid(1_000_000_000)).map_err(|_| "a time")?;
    let nanos = match precision {
        Precision::Seconds => 0,
        Precision::Micros => total.rem_euclid(1_000_000_000) / 1_000 * 1_000,
    };
    Ok((seconds, i32::try_from(nanos).map_err(|_| "a time")?))
}
