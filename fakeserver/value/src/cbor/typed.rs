//! A data item becomes JSON of a built-in type.

use std::ops::RangeInclusive;

use serde_json::{Map, Value, json};

use super::{
    entries::{fields, is_repeated},
    error::CborError,
    item::{FALSE, Item, NULL, TRUE, negated},
    plain::{self, key, string},
    tags::{ExpectedEncoding, described, untagged},
};
use crate::schema::{
    Field, FieldValue, Form, Precision, Quantity, Shape, TypeId, TypeTable, decode_base64,
    encode_base64, parse_time, print_double,
};

/// Reads items into types.
pub(super) struct TypedReader {
    pub(super) table: &'static TypeTable,
    /// True if unknown fields are errors.
    pub(super) is_strict: bool,
    /// The first error of values that are kept as bytes, and converted after all others.
    pub(super) deferred: Option<CborError>,
}

// === impl TypedReader ===

impl TypedReader {
    /// Reads an item as a type of the table; `go` is the name of that type.
    pub(super) fn message(
        &mut self,
        id: TypeId,
        item: &Item<'_>,
        later: Option<ExpectedEncoding>,
        go: &str,
    ) -> Result<Value, CborError> {
        match self.table.get(id).form {
            Form::Struct => self.structure(id, item, later, go),
            Form::Time => time(described(item)?, Precision::Seconds),
            Form::MicroTime => time(described(item)?, Precision::Micros),
            Form::Quantity => match described(item)? {
                item if item.is_nil() => Ok(Value::Null),
                item => quantity(&string(item, None, "string")?),
            },
            Form::IntOrString => {
                let item = described(item)?;
                let text = string(item, None, "string").map(Value::String);
                text.or_else(|_| integer(item, "int32", i32::MIN.into()..=i32::MAX.into()))
            }
            Form::RawExtension | Form::RawJson => self.raw(id, described(item)?),
            Form::StringList => self.list(item, later, go, |_, item, later| {
                string(item, later, "string").map(Value::String)
            }),
            Form::SchemaOrArray | Form::SchemaOrBool | Form::SchemaOrStringArray => {
                let item = described(item)?;
                // In Go these types have their own `UnmarshalCBOR`, which is always strict.
                let was_strict = std::mem::replace(&mut self.is_strict, true);
                let read = self.schema_or(id, item);
                self.is_strict = was_strict;
                read
            }
        }
    }

    fn structure(
        &mut self,
        id: TypeId,
        item: &Item<'_>,
        later: Option<ExpectedEncoding>,
        go: &str,
    ) -> Result<Value, CborError> {
        const NO_ARRAY: &str = "cannot decode CBOR array to struct without toarray option";
        let (item, later) = untagged(item, later)?;
        match item {
            Item::Map(pairs) => {
                let (table, is_strict) = (self.table, self.is_strict);
                let has_type_meta = table.get(id).has_type_meta;
                let read = |name: &str, item: &Item<'_>| {
                    if let Some(field) = table.field(id, name) {
                        return Some(self.field(field, item, later));
                    }
                    let is_meta = has_type_meta && matches!(name, "kind" | "apiVersion");
                    is_meta.then(|| string(item, later, "string").map(Value::String))
                };
                fields(pairs, go, is_strict, read).map(Value::Object)
            }
            Item::Array(_) => Err(CborError::mismatch_because(item, go, NO_ARRAY.to_owned())),
            Item::Simple(NULL) => Ok(Value::Null),
            other => Err(CborError::mismatch(other, go)),
        }
    }

    fn field(
        &mut self,
        field: &'static Field,
        item: &Item<'_>,
        later: Option<ExpectedEncoding>,
    ) -> Result<Value, CborError> {
        match field.shape {
            Shape::Single if field.pointer && item.is_nil() => Ok(Value::Null),
            Shape::Single => self.element(field, item, later),
            Shape::Repeated => self.list(item, later, &field.go, |typed, item, later| {
                typed.element(field, item, later)
            }),
            Shape::Map => self.map(field, item, later),
        }
    }

    fn map(
        &mut self,
        field: &'static Field,
        item: &Item<'_>,
        later: Option<ExpectedEncoding>,
    ) -> Result<Value, CborError> {
        let (item, later) = untagged(item, later)?;
        let pairs = match item {
            Item::Map(pairs) => pairs,
            Item::Simple(NULL) => return Ok(Value::Null),
            other => return Err(CborError::mismatch(other, &field.go)),
        };
        // Go decodes each of these values into the variable of the previous one, so that null repeats the previous value.
        let keeps_last = !matches!(field.value, FieldValue::Message(_) | FieldValue::Bytes);
        let key_go = match &*field.go {
            "v1.ResourceList" => "v1.ResourceName",
            _ => "string",
        };
        let mut out = Map::new();
        let (mut last_key, mut last) = (String::new(), Value::Null);
        let mut first = None;
        for (index, (name, item)) in pairs.iter().enumerate() {
            let is_null = matches!(untagged(item, later), Ok((Item::Simple(NULL), _)));
            let read = key(name, later, key_go, &mut last_key).and_then(|key| {
                let value = self.element(field, item, later)?;
                Ok((key, value))
            });
            match read {
                Ok((key, _)) if out.contains_key(&key) => return Err(is_repeated(&key, index)),
                Ok((key, value)) => {
                    if !is_null || !keeps_last {
                        last = value;
                    }
                    out.insert(key, last.clone());
                }
                Err(error) => {
                    first.get_or_insert(error);
                }
            }
        }
        first.map_or_else(|| Ok(out.into()), Err)
    }

    fn list(
        &mut self,
        item: &Item<'_>,
        later: Option<ExpectedEncoding>,
        go: &str,
        mut read: impl FnMut(&mut Self, &Item<'_>, Option<ExpectedEncoding>) -> Result<Value, CborError>,
    ) -> Result<Value, CborError> {
        match untagged(item, later)? {
            (Item::Array(items), later) => {
                items.iter().map(|item| read(self, item, later)).collect()
            }
            (Item::Simple(NULL), _) => Ok(Value::Null),
            (other, _) => Err(CborError::mismatch(other, go)),
        }
    }

    fn element(
        &mut self,
        field: &'static Field,
        item: &Item<'_>,
        later: Option<ExpectedEncoding>,
    ) -> Result<Value, CborError> {
        let go = &field.go_element;
        match field.value {
            FieldValue::Message(id) => self.message(id, item, later, go),
            FieldValue::String => string(item, later, go).map(Value::String),
            FieldValue::Bool => match untagged(item, later)?.0 {
                Item::Simple(FALSE) => Ok(json!(false)),
                Item::Simple(TRUE) => Ok(json!(true)),
                Item::Simple(NULL) => Ok(Value::Null),
                other => Err(CborError::mismatch(other, go)),
            },
            FieldValue::Int32 => integer(item, go, i32::MIN.into()..=i32::MAX.into()),
            FieldValue::Int64 => integer(item, go, i64::MIN..=i64::MAX),
            FieldValue::Double => double(item, go),
            FieldValue::Bytes => self.bytes(item, later, go),
        }
    }

    /// Reads bytes: those that no tag marks are base64.
    fn bytes(
        &mut self,
        item: &Item<'_>,
        later: Option<ExpectedEncoding>,
        go: &str,
    ) -> Result<Value, CborError> {
        let (item, later) = untagged(item, later)?;
        match item {
            Item::Bytes(bytes) if later.is_some() => Ok(json!(encode_base64(bytes))),
            Item::Bytes(bytes) => match decode_base64(&String::from_utf8_lossy(bytes)) {
                Ok(bytes) => Ok(json!(encode_base64(&bytes))),
                Err(error) => Err(CborError::unacceptable(format!(
                    "failed to decode base64 from byte string: {error}"
                ))),
            },
            Item::Array(_) => {
                let numbers = self.list(item, later, go, |_, item, _| {
                    integer(item, "uint8", 0..=u8::MAX.into())
                })?;
                let numbers = numbers.as_array().into_iter().flatten();
                let bytes = numbers.map(|number| number.as_u64().unwrap_or_default());
                let bytes: Vec<u8> = bytes.map(|byte| byte.try_into().unwrap_or(0)).collect();
                Ok(json!(encode_base64(&bytes)))
            }
            Item::Simple(NULL) => Ok(Value::Null),
            other => Err(CborError::mismatch(other, go)),
        }
    }

    /// Reads a value that is kept as raw bytes.
    fn raw(&mut self, id: TypeId, item: &Item<'_>) -> Result<Value, CborError> {
        if matches!(item, Item::Simple(NULL)) {
            return Ok(Value::Null);
        }
        let (value, what) = match self.table.get(id).go_name() {
            "JSON" => return plain::value(item, None).map(as_printed),
            // Go's `FieldsV1` reads anything but a map as null.
            "FieldsV1" if !matches!(item, Item::Map(_) | Item::Tag(..)) => return Ok(Value::Null),
            "FieldsV1" => (
                plain::map(item).map(Value::Object),
                "FieldsV1 to JSON: metav1.FieldsV1 cbor invalid",
            ),
            _ => (
                plain::value(item, None),
                "RawExtension to JSON: failed to parse RawExtension bytes as CBOR",
            ),
        };
        Ok(match value {
            Ok(value) => as_printed(value),
            Err(error) => {
                let error = CborError::invalid(format!("failed to transcode {what}: {error}"));
                self.deferred.get_or_insert(error);
                Value::Null
            }
        })
    }

    /// Reads a JSON schema, or one of the other types that may stand in its place.
    fn schema_or(&mut self, id: TypeId, item: &Item<'_>) -> Result<Value, CborError> {
        const SCHEMA: &str = "v1.JSONSchemaProps";
        let schema = self.table.field(id, "schema").map(|field| field.value);
        let Some(FieldValue::Message(schema)) = schema else {
            return plain::value(item, None);
        };
        match (self.table.get(id).form, item) {
            (_, Item::Map(_)) => self.message(schema, item, None, SCHEMA),
            (Form::SchemaOrArray, Item::Array(_)) => {
                self.list(item, None, "[]v1.JSONSchemaProps", |typed, item, later| {
                    typed.message(schema, item, later, SCHEMA)
                })
            }
            (Form::SchemaOrStringArray, Item::Array(_)) => {
                self.list(item, None, "[]string", |_, item, later| {
                    string(item, later, "string").map(Value::String)
                })
            }
            (Form::SchemaOrBool, Item::Simple(TRUE)) => Ok(json!(true)),
            (Form::SchemaOrBool, Item::Simple(FALSE)) => Ok(json!(false)),
            (Form::SchemaOrBool, _) => Err(CborError::invalid("boolean or JSON schema expected")),
            _ => Ok(Value::Null),
        }
    }
}

/// Reads a time, which is a text or null.
fn time(item: &Item<'_>, precision: Precision) -> Result<Value, CborError> {
    if item.is_nil() {
        return Ok(Value::Null);
    }
    let text = string(item, None, "string")?;
    parse_time(&text, precision).map_err(CborError::invalid)?;
    Ok(json!(text))
}

/// Reads a quantity.
fn quantity(text: &str) -> Result<Value, CborError> {
    let quantity = text.trim().parse::<Quantity>();
    quantity.map_err(CborError::invalid)?;
    Ok(json!(text))
}

fn integer(item: &Item<'_>, go: &str, range: RangeInclusive<i64>) -> Result<Value, CborError> {
    let (item, _) = untagged(item, None)?;
    let number = match item {
        Item::Positive(number) => i128::from(*number),
        // No type of Go is as large.
        Item::Negative(number) if i64::try_from(*number).is_err() => {
            let why = format!("{} overflows Go's int64", negated(*number));
            return Err(CborError::mismatch_because(item, go, why));
        }
        Item::Negative(number) => negated(*number),
        Item::Simple(NULL) => return Ok(Value::Null),
        other => return Err(CborError::mismatch(other, go)),
    };
    match i64::try_from(number) {
        Ok(number) if range.contains(&number) => Ok(json!(number)),
        // Bytes have no sign.
        _ if number < 0 && *range.start() == 0 => Err(CborError::mismatch(item, go)),
        _ => Err(CborError::mismatch_because(
            item,
            go,
            format!("{number} overflows {go}"),
        )),
    }
}

#[expect(clippy::cast_precision_loss, reason = "Go loses it as well")]
fn double(item: &Item<'_>, go: &str) -> Result<Value, CborError> {
    let (item, _) = untagged(item, None)?;
    match item {
        Item::Float(number) => Ok(print_double(*number)),
        Item::Positive(number) => Ok(print_double(*number as f64)),
        Item::Negative(number) if i64::try_from(*number).is_ok() => {
            Ok(print_double(negated(*number) as f64))
        }
        Item::Negative(number) => {
            let why = format!("{} overflows Go's int64", negated(*number));
            Err(CborError::mismatch_because(item, go, why))
        }
        Item::Simple(NULL) => Ok(Value::Null),
        other => Err(CborError::mismatch(other, go)),
    }
}

/// Returns a value with its numbers as Go prints them as JSON.
fn as_printed(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => {
            print_double(number.as_f64().unwrap_or_default())
        }
        Value::Array(items) => items.into_iter().map(as_printed).collect(),
        Value::Object(members) => {
            let members = members.into_iter();
            Value::Object(
                members
                    .map(|(key, value)| (key, as_printed(value)))
                    .collect(),
            )
        }
        other => other,
    }
}
