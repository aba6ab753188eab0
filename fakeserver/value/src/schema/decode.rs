//! Decoding of JSON into a built-in type, as Go does it: with mismatches, unknown fields and duplicate fields.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    fmt::{self, Write as _},
};

use serde_json::{Map, Value, json};

use super::{
    base64,
    canonical::as_read,
    error::{DecodeError, StrictError},
    member::store,
    quantity::{Quantity, QuantityError},
    time::{self, Precision},
    types::{Field, FieldValue, Form, Shape, TypeId, TypeTable},
};
use crate::json::{self, Json, SyntaxError};

/// An object as read, and what strict reading would refuse.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DecodedObject {
    /// The object as the API server prints it.
    pub value: Value,
    /// Unknown and duplicate fields, in the order of the text, each once.
    pub strict: Vec<StrictError>,
}

/// A body that was parsed, and is not yet of a type.
#[derive(Debug)]
pub struct Document<'a>(Json<'a>);

// === impl DecodedObject ===

impl DecodedObject {
    /// Creates it from a value that was read by other means.
    pub fn new(value: Value, strict: Vec<StrictError>) -> Self {
        Self { value, strict }
    }
}

// === impl Document ===

impl<'a> Document<'a> {
    /// # Errors
    /// The body is no JSON.
    pub fn parse(body: &'a [u8]) -> Result<Self, SyntaxError> {
        json::parse(body).map(Self)
    }

    /// Returns the text in a field, which is empty where the field is absent; `None` for everything that is no text.
    pub fn text(&self, field: &str) -> Option<&str> {
        let Json::Object(pairs) = &self.0 else {
            return None;
        };
        let last = pairs.iter().rev().find(|(key, _)| key == field);
        match last.map(|(_, value)| value) {
            None | Some(Json::Null) => Some(""),
            Some(Json::String(text)) => Some(text),
            Some(_) => None,
        }
    }

    /// Reads it into a type.
    ///
    /// # Errors
    /// A value does not fit its field: of several, the first in the text.
    pub fn decode(&self, id: TypeId) -> Result<DecodedObject, DecodeError> {
        let table = id.table();
        let mut decoder = Decoder::new(table);
        let go_type = GoTypeName::of(table, id);
        let value = decoder.message(id, &self.0, &go_type);
        match decoder.stop.or(decoder.mismatch) {
            Some(message) => Err(DecodeError::Mismatch { message }),
            None => Ok(DecodedObject {
                value: as_read(table, id, value),
                strict: decoder.strict,
            }),
        }
    }
}

/// Reads a body into a type.
///
/// # Errors
/// The body is no JSON, or a value does not fit its field: of several, the first in the text.
pub fn decode(id: TypeId, body: &[u8]) -> Result<DecodedObject, DecodeError> {
    Document::parse(body)?.decode(id)
}

/// Every key that an object of the text has twice, by its path; for text without a type, such as a patch.
///
/// # Errors
/// The text is no JSON.
pub fn duplicate_fields(body: &[u8]) -> Result<Vec<StrictError>, SyntaxError> {
    fn look(decoder: &mut Decoder, value: &Json) {
        match value {
            Json::Object(pairs) => {
                let mut seen = BTreeSet::new();
                for (key, value) in pairs {
                    let length = decoder.enter_key(key);
                    if !seen.insert(key) {
                        decoder.strict_error(StrictError::DuplicateField);
                    }
                    look(decoder, value);
                    decoder.path.truncate(length);
                }
            }
            Json::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let length = decoder.enter_index(index);
                    look(decoder, item);
                    decoder.path.truncate(length);
                }
            }
            _ => {}
        }
    }
    let document = json::parse(body)?;
    let mut decoder = Decoder::new(TypeTable::EMPTY);
    look(&mut decoder, &document);
    Ok(decoder.strict)
}

struct Decoder {
    table: &'static TypeTable,
    /// The current path, as strict errors print it: `spec.containers[0].image`.
    path: String,
    /// The current path, as type errors print it: names of fields only, each with the struct that it was read for.
    fields: Vec<(TypeId, &'static str)>,
    /// The innermost struct.
    parent: Option<&'static str>,
    strict: Vec<StrictError>,
    seen: BTreeSet<StrictError>,
    /// The first value that does not fit.
    mismatch: Option<String>,
    /// The first error of a type that reads itself. Go stops there, and forgets what did not fit before.
    stop: Option<String>,
}

/// Go's name of the type of a value.
struct GoTypeName<'a>(&'a str);

// === impl Decoder ===

impl Decoder {
    fn new(table: &'static TypeTable) -> Decoder {
        Decoder {
            table,
            path: String::new(),
            fields: Vec::new(),
            parent: None,
            strict: Vec::new(),
            seen: BTreeSet::new(),
            mismatch: None,
            stop: None,
        }
    }

    fn message(&mut self, id: TypeId, json: &Json, go: &GoTypeName) -> Value {
        match self.table.get(id).form {
            Form::Struct => match json {
                Json::Object(pairs) => self.object(id, pairs).into(),
                other => self.null_or_mismatch(other, go.0),
            },
            Form::Time => self.apart(|decoder| decoder.time(json, Precision::Seconds)),
            Form::MicroTime => self.apart(|decoder| decoder.time(json, Precision::Micros)),
            Form::Quantity => self.apart(|decoder| decoder.quantity(json)),
            Form::IntOrString => self.apart(|decoder| match json {
                Json::String(text) => json!(text),
                other => decoder.integer(other, "int32", i64::from(i32::MIN)..=i64::from(i32::MAX)),
            }),
            Form::RawExtension | Form::RawJson => self.raw(json),
            Form::StringList => {
                self.list(json, go.0, |decoder, item| decoder.string(item, "string"))
            }
            Form::SchemaOrArray | Form::SchemaOrBool | Form::SchemaOrStringArray => {
                self.apart(|decoder| decoder.schema_or(id, json))
            }
        }
    }

    /// Reads a value of a type that reads itself: its first error ends the reading.
    fn apart(&mut self, read: impl FnOnce(&mut Self) -> Value) -> Value {
        let before = self.mismatch.take();
        let value = read(self);
        let error = std::mem::replace(&mut self.mismatch, before);
        if self.stop.is_none() {
            self.stop = error;
        }
        value
    }

    fn object(&mut self, id: TypeId, pairs: &[(Cow<'_, str>, Json<'_>)]) -> Map<String, Value> {
        let table = self.table;
        let ty = table.get(id);
        let parent = self.parent.replace(ty.go_name());
        let mut out = Map::new();
        for (key, json) in pairs {
            let length = self.enter_key(key);
            let is_twice = if let Some(field) = table.field(id, key) {
                self.fields.push((id, &field.name));
                let value = self.field(field, json);
                self.fields.pop();
                Some(store(&mut out, field, value))
            } else if let Some(name) = type_meta_name(key).filter(|_| ty.has_type_meta) {
                self.fields.push((id, name));
                let value = self.string(json, "string");
                self.fields.pop();
                Some(out.insert(name.to_owned(), value).is_some())
            } else {
                None
            };
            match is_twice {
                Some(false) => {}
                Some(true) => self.strict_error(StrictError::DuplicateField),
                None => self.strict_error(StrictError::UnknownField),
            }
            self.path.truncate(length);
        }
        self.parent = parent;
        out
    }

    fn field(&mut self, field: &'static Field, json: &Json) -> Value {
        match field.shape {
            Shape::Single => self.element(field, json),
            Shape::Repeated => self.list(json, &field.go, |decoder, item| {
                decoder.element(field, item)
            }),
            Shape::Map => match json {
                Json::Object(pairs) => self.map(field, pairs).into(),
                other => self.null_or_mismatch(other, &field.go),
            },
        }
    }

    fn map(
        &mut self,
        field: &'static Field,
        pairs: &[(Cow<'_, str>, Json<'_>)],
    ) -> Map<String, Value> {
        let mut out = Map::new();
        for (key, json) in pairs {
            let length = self.enter_key(key);
            if out.contains_key(&**key) {
                self.strict_error(StrictError::DuplicateField);
            }
            let value = self.element(field, json);
            out.insert(key.to_string(), value);
            self.path.truncate(length);
        }
        out
    }

    fn list(
        &mut self,
        json: &Json,
        go: &str,
        mut read: impl FnMut(&mut Self, &Json) -> Value,
    ) -> Value {
        let Json::Array(items) = json else {
            return self.null_or_mismatch(json, go);
        };
        let mut out = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let length = self.enter_index(index);
            out.push(read(self, item));
            self.path.truncate(length);
        }
        out.into()
    }

    fn element(&mut self, field: &'static Field, json: &Json) -> Value {
        let go = &field.go_element;
        match field.value {
            FieldValue::Message(id) => self.message(id, json, &GoTypeName(go)),
            FieldValue::String => self.string(json, go),
            FieldValue::Bool => match json {
                Json::Bool(value) => json!(value),
                other => self.null_or_mismatch(other, go),
            },
            FieldValue::Int32 => self.integer(json, go, i64::from(i32::MIN)..=i64::from(i32::MAX)),
            FieldValue::Int64 => self.integer(json, go, i64::MIN..=i64::MAX),
            FieldValue::Double => self.double(json, go),
            FieldValue::Bytes => match json {
                Json::String(text) => match base64::decode(text) {
                    Ok(bytes) => json!(base64::encode(&bytes)),
                    Err(error) => self.refuse(error),
                },
                Json::Array(items) => self.bytes(items),
                other => self.null_or_mismatch(other, go),
            },
        }
    }

    /// Reads bytes from a list of numbers, which Go takes for them as well.
    fn bytes(&mut self, items: &[Json]) -> Value {
        let read = items.iter().map(|item| {
            let value = self.integer(item, "uint8", 0..=i64::from(u8::MAX));
            u8::try_from(value.as_i64().unwrap_or_default()).unwrap_or_default()
        });
        let bytes: Vec<u8> = read.collect();
        json!(base64::encode(&bytes))
    }

    fn string(&mut self, json: &Json, go: &str) -> Value {
        match json {
            Json::String(text) => json!(text),
            other => self.null_or_mismatch(other, go),
        }
    }

    fn integer(&mut self, json: &Json, go: &str, range: std::ops::RangeInclusive<i64>) -> Value {
        let Json::Number(text) = json else {
            return self.null_or_mismatch(json, go);
        };
        match text.parse::<i64>() {
            Ok(value) if range.contains(&value) => json!(value),
            _ => self.cannot_unmarshal(&format!("number {text}"), go),
        }
    }

    fn double(&mut self, json: &Json, go: &str) -> Value {
        let Json::Number(text) = json else {
            return self.null_or_mismatch(json, go);
        };
        match json::number(text) {
            Some(value) => print_double(value.as_f64().unwrap_or_default()),
            None => self.cannot_unmarshal(&format!("number {text}"), go),
        }
    }

    /// Accepts any value except numbers that are beyond a double.
    fn raw(&mut self, json: &Json) -> Value {
        match json.beyond_double() {
            Some(number) => self.cannot_unmarshal(&format!("number {number}"), "float64"),
            None => json.to_value(),
        }
    }

    fn time(&mut self, json: &Json, precision: Precision) -> Value {
        let Json::String(text) = json else {
            return self.null_or_mismatch(json, "string");
        };
        match time::parse(text, precision) {
            Ok(time) if time::is_zero(time) => Value::Null,
            Ok(time) => json!(time::print(time, precision)),
            Err(error) => self.refuse(error),
        }
    }

    fn quantity(&mut self, json: &Json) -> Value {
        let parsed = match json {
            Json::Null => return Value::Null,
            Json::String(text) => text.trim().parse::<Quantity>(),
            Json::Number(text) => text.parse(),
            _ => Err(QuantityError::Format),
        };
        match parsed {
            Ok(quantity) => json!(quantity.to_string()),
            Err(error) => self.refuse(error),
        }
    }

    /// Decodes a JSON schema, or one of the other types that may stand in its place.
    fn schema_or(&mut self, id: TypeId, json: &Json) -> Value {
        let table = self.table;
        let schema = table.field(id, "schema").map(|field| field.value);
        let Some(FieldValue::Message(schema)) = schema else {
            return json.to_value();
        };
        let go = GoTypeName::of(table, schema);
        // In Go these types have their own `UnmarshalJSON`, which ignores unknown fields even when reading is strict.
        let reported = self.strict.len();
        let value = match (table.get(id).form, json) {
            (_, Json::Object(_)) => self.message(schema, json, &go),
            (Form::SchemaOrArray, Json::Array(_)) => {
                self.list(json, "[]v1.JSONSchemaProps", |decoder, item| {
                    decoder.message(schema, item, &go)
                })
            }
            (Form::SchemaOrStringArray, Json::Array(_)) => {
                self.list(json, "[]string", |decoder, item| {
                    decoder.string(item, "string")
                })
            }
            (Form::SchemaOrBool, Json::Bool(value)) => json!(value),
            (Form::SchemaOrBool, _) => self.refuse("boolean or JSON schema expected"),
            _ => Value::Null,
        };
        for error in self.strict.drain(reported..) {
            self.seen.remove(&error);
        }
        value
    }

    /// Null is nothing for every type; anything else that comes here does not fit.
    fn null_or_mismatch(&mut self, json: &Json, go: &str) -> Value {
        match json {
            Json::Null => Value::Null,
            other => self.cannot_unmarshal(other.kind_name(), go),
        }
    }

    fn cannot_unmarshal(&mut self, what: &str, go: &str) -> Value {
        let place = match self.parent {
            Some(parent) => format!("struct field {parent}.{}", self.go_path()),
            None => "value".to_owned(),
        };
        self.refuse(format!(
            "json: cannot unmarshal {what} into Go {place} of type {go}"
        ))
    }

    /// The current path as Go prints it: embedded structs, which JSON does not show, have their names in it in later versions.
    fn go_path(&self) -> String {
        let mut steps = Vec::new();
        let gates = self.table.kubernetes().gates();
        let has_embedded = gates.is_on("EmbeddedStructsInTypeErrors");
        for (id, name) in &self.fields {
            if has_embedded {
                steps.extend(self.table.embedding(*id, name));
            }
            steps.push(*name);
        }
        steps.join(".")
    }

    /// Records an error; the first one counts. Reading continues, as in Go.
    fn refuse(&mut self, message: impl fmt::Display) -> Value {
        self.mismatch.get_or_insert_with(|| message.to_string());
        Value::Null
    }

    /// Steps into a key; the length of the path before it undoes that.
    fn enter_key(&mut self, key: &str) -> usize {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(key);
        length
    }

    fn enter_index(&mut self, index: usize) -> usize {
        let length = self.path.len();
        write!(self.path, "[{index}]").expect("a string takes all text");
        length
    }

    fn strict_error(&mut self, error: fn(String) -> StrictError) {
        let error = error(self.path.clone());
        if self.seen.insert(error.clone()) {
            self.strict.push(error);
        }
    }
}

// === impl GoTypeName ===

impl GoTypeName<'static> {
    fn of(table: &'static TypeTable, id: TypeId) -> GoTypeName<'static> {
        let name = &table.get(id).name;
        let start = name.rmatch_indices('.').nth(1).map_or(0, |(at, _)| at + 1);
        GoTypeName(&name[start..])
    }
}

fn type_meta_name(key: &str) -> Option<&'static str> {
    ["kind", "apiVersion"].into_iter().find(|name| *name == key)
}

/// A double as Go prints it: without a point if it is whole.
pub fn print_double(value: f64) -> Value {
    // Every whole number below this is exact.
    const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < WHOLE_MAX {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "whole and within range, as just checked"
        )]
        return json!(value as i64);
    }
    json!(value)
}
