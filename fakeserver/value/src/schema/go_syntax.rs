//! Values of the API server's internal types as Go's verb `%#v` prints them: with the names of all types and fields.

use std::fmt::Write as _;

use jiff::tz::TimeZone;
use serde_json::Value;

use super::{
    base64,
    internal::{HOST_FIELDS, go_name, own_fields},
    quantity::Quantity,
    time::{self, Precision},
    types::{Field, FieldValue, Form, Shape, TypeId, TypeTable},
};
use crate::go_text::{quote, syntax};

/// The address of everything that a pointer in a struct leads to: a real server prints that of its own memory.
const ADDRESS: &str = "0xc000000000";
/// Go types of the core group, as those of other groups name them.
const CORE_TYPES: [&str; 2] = ["v1.ResourceList", "v1.ResourceName"];

/// One value of a type.
pub fn go_syntax(table: &TypeTable, id: TypeId, value: &Value) -> String {
    match (table.get(id).form, value) {
        (Form::Struct, _) => struct_syntax(table, id, value),
        (Form::Time, _) => time_syntax(value, Precision::Seconds),
        (Form::MicroTime, _) => time_syntax(value, Precision::Micros),
        (Form::Quantity, _) => {
            let text = value.as_str().unwrap_or("0");
            quantity_syntax(text, text.parse().as_ref().map_or("", Quantity::kept_text))
        }
        (Form::IntOrString, Value::String(text)) => int_or_string(1, 0, text),
        (Form::IntOrString, number) => int_or_string(0, number.as_i64().unwrap_or_default(), ""),
        (Form::RawExtension, Value::Null) => raw_extension(None),
        (Form::RawExtension, raw) => raw_extension(Some(&raw.to_string())),
        _ => syntax(value),
    }
}

/// All of a field, as the struct that declares it holds it.
pub fn field_syntax(table: &TypeTable, owner: TypeId, field: &Field, value: &Value) -> String {
    match (field.shape, value) {
        (Shape::Single, Value::Null) if field.pointer && is_time(table, field) => {
            "<nil>".to_owned()
        }
        (Shape::Single, _) if field.pointer && !is_time(table, field) => {
            let address = if value.is_null() { "nil" } else { ADDRESS };
            format!("(*{})({address})", element_type(table, owner, field))
        }
        (Shape::Single, _) => element_syntax(table, field, value),
        (Shape::Repeated, Value::Array(items)) => {
            let items = items.iter().map(|item| element_syntax(table, field, item));
            let items: Vec<String> = items.collect();
            format!("{}{{{}}}", list_type(table, owner, field), items.join(", "))
        }
        (Shape::Repeated, _) => format!("{}(nil)", list_type(table, owner, field)),
        (Shape::Map, Value::Object(entries)) => {
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            let entries = entries.into_iter();
            let entries = entries.map(|(key, value)| {
                format!("{}:{}", quote(key), element_syntax(table, field, value))
            });
            let entries: Vec<String> = entries.collect();
            format!(
                "{}{{{}}}",
                map_type(table, owner, field),
                entries.join(", ")
            )
        }
        (Shape::Map, _) => format!("{}(nil)", map_type(table, owner, field)),
    }
}

/// One value of a field.
pub fn element_syntax(table: &TypeTable, field: &Field, value: &Value) -> String {
    match (field.value, value) {
        (FieldValue::Message(id), value) => go_syntax(table, id, value),
        (FieldValue::Bytes, Value::String(text)) => {
            byte_list(&base64::decode(text).unwrap_or_default())
        }
        (FieldValue::Bytes, _) => "[]uint8(nil)".to_owned(),
        (FieldValue::String, Value::Null) => "\"\"".to_owned(),
        (FieldValue::Bool, Value::Null) => "false".to_owned(),
        (_, Value::Null) => "0".to_owned(),
        (_, value) => syntax(value),
    }
}

/// A time as Go's method `String` prints it.
pub fn time_text(text: &str, precision: Precision) -> Option<String> {
    let time = time::parse(text, precision).ok()?.to_zoned(TimeZone::UTC);
    let mut printed = time.strftime("%Y-%m-%d %H:%M:%S").to_string();
    let nanoseconds = time.subsec_nanosecond();
    if nanoseconds != 0 {
        let digits = format!(".{nanoseconds:09}");
        printed.push_str(digits.trim_end_matches('0'));
    }
    printed.push_str(" +0000 UTC");
    Some(printed)
}

/// Raw JSON in a field of any type, by its text.
pub fn raw_extension(text: Option<&str>) -> String {
    let raw = text.map(str::as_bytes);
    let raw = raw.map_or_else(|| "[]uint8(nil)".to_owned(), byte_list);
    format!("runtime.RawExtension{{Raw:{raw}, Object:runtime.Object(nil)}}")
}

fn struct_syntax(table: &TypeTable, id: TypeId, value: &Value) -> String {
    let ty = table.get(id);
    let mut fields = Vec::new();
    if ty.has_type_meta {
        fields.push("TypeMeta:v1.TypeMeta{Kind:\"\", APIVersion:\"\"}".to_owned());
    }
    for field in own_fields(table, id) {
        let name = field.name.as_str();
        let is_in_context = ty.go_name() == "PodSpec" && HOST_FIELDS.contains(&name);
        if is_in_context || name == "serviceAccount" {
            continue;
        }
        let printed = match field.value {
            FieldValue::Message(inner) if field.inline => {
                let inner_name = table.get(inner).go_name();
                format!("{inner_name}:{}", struct_syntax(table, inner, value))
            }
            _ if name == "metadata" => {
                format!(
                    "ObjectMeta:{}",
                    field_syntax(table, id, field, &value[name])
                )
            }
            _ => {
                let own = field_syntax(table, id, field, &value[name]);
                format!("{}:{own}", go_name(ty.go_name(), name))
            }
        };
        fields.push(printed);
    }
    format!("{}{{{}}}", type_name(table, id), fields.join(", "))
}

fn is_time(table: &TypeTable, field: &Field) -> bool {
    match field.value {
        FieldValue::Message(id) => {
            matches!(table.get(id).form, Form::Time | Form::MicroTime)
        }
        _ => false,
    }
}

fn time_syntax(value: &Value, precision: Precision) -> String {
    let text = value.as_str().unwrap_or_default();
    let Ok(time) = time::parse(text, precision) else {
        return "time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC)".to_owned();
    };
    let time = time.to_zoned(TimeZone::UTC);
    format!(
        "time.Date({}, time.{}, {}, {}, {}, {}, {}, time.Local)",
        time.year(),
        time.strftime("%B"),
        time.day(),
        time.hour(),
        time.minute(),
        time.second(),
        time.subsec_nanosecond()
    )
}

/// A quantity beside which Go keeps a text.
pub fn quantity_syntax(text: &str, kept: &str) -> String {
    let Ok(quantity) = text.parse::<Quantity>() else {
        return quote(text);
    };
    let (mantissa, exponent, family) = quantity.parts();
    let (value, scale, big) = if quantity.is_big() {
        (0, 0, ADDRESS)
    } else {
        (mantissa, exponent, "nil")
    };
    format!(
        "resource.Quantity{{i:resource.int64Amount{{value:{value}, scale:{scale}}}, \
         d:resource.infDecAmount{{Dec:(*inf.Dec)({big})}}, s:{}, Format:\"{family}\"}}",
        quote(kept)
    )
}

fn int_or_string(ty: u8, number: i64, text: &str) -> String {
    format!(
        "intstr.IntOrString{{Type:{ty}, IntVal:{number}, StrVal:{}}}",
        quote(text)
    )
}

/// The bytes of a list, as a field of a struct prints them.
fn byte_list(bytes: &[u8]) -> String {
    let mut printed = "[]uint8{".to_owned();
    for (place, byte) in bytes.iter().enumerate() {
        let comma = if place > 0 { ", " } else { "" };
        write!(printed, "{comma}{byte:#x}").expect("a string takes all");
    }
    printed.push('}');
    printed
}

/// The internal name of a type: `core.Pod`, `v1.ObjectMeta`.
fn type_name(table: &TypeTable, id: TypeId) -> String {
    let ty = table.get(id);
    format!("{}.{}", package(&ty.name), ty.go_name())
}

/// The name of the package with the internal form of a type: its group, but for the types that all groups share.
fn package(definition: &str) -> &str {
    let mut parts = definition.rsplit('.').skip(1);
    let last = parts.next().unwrap_or_default();
    let is_version = last.starts_with('v') && last[1..].starts_with(|c: char| c.is_ascii_digit());
    match parts.next() {
        Some("meta") => last,
        Some("events") => "core",
        Some(group) if is_version => group,
        _ => last,
    }
}

fn element_type(table: &TypeTable, owner: TypeId, field: &Field) -> String {
    match field.value {
        FieldValue::Message(id) => type_name(table, id),
        _ => named(table, owner, field.go_element.trim_start_matches('*')),
    }
}

fn list_type(table: &TypeTable, owner: TypeId, field: &Field) -> String {
    if field.go.starts_with("[]") {
        format!("[]{}", element_type(table, owner, field))
    } else {
        named(table, owner, &field.go)
    }
}

fn map_type(table: &TypeTable, owner: TypeId, field: &Field) -> String {
    let key = field
        .go
        .strip_prefix("map[")
        .and_then(|rest| rest.split_once(']'));
    match key {
        Some((key, _)) => {
            let key = named(table, owner, key);
            format!("map[{key}]{}", element_type(table, owner, field))
        }
        None => named(table, owner, &field.go),
    }
}

/// The internal name of a type that a struct calls by this name.
fn named(table: &TypeTable, owner: TypeId, go: &str) -> String {
    match go.rsplit_once('.') {
        Some((version, name)) if version.starts_with('v') => {
            let package = if CORE_TYPES.contains(&go) {
                "core"
            } else {
                package(&table.get(owner).name)
            };
            format!("{package}.{name}")
        }
        _ => go.to_owned(),
    }
}
