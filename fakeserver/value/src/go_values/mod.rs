//! The values in errors of fields, in versions that print them as Go's internal types rather than as JSON.

use serde_json::Value;

use crate::{
    go_text::{quote, syntax},
    schema::{
        Field, FieldValue, Form, Precision, Shape, TypeId, TypeTable, decode_base64,
        element_syntax, field_syntax, go_syntax, quantity_syntax, time_text,
    },
    status::FieldError,
};

/// The change of Kubernetes by which errors show values as JSON.
pub const JSON_VALUES: &str = "JsonValuesInErrors";
/// Words of checks that show an amount rather than its text: of limits of ranges, and of counts.
const OF_AMOUNTS: [&str; 3] = [" value ", "ratio ", "must be an integer"];

/// The place that a path leads to.
#[derive(Clone, Copy)]
enum TypedPlace<'a> {
    /// All of an object.
    Whole(TypeId),
    /// A field of the type that declares it.
    Field(TypeId, &'a Field),
    /// An item of a list or an entry of a map, and its key.
    Element(&'a Field, &'a str),
}

/// Prints the values in `errors` as Go's verb `%#v` prints those of the internal types. `root` is the type of the object, and
/// nothing for a custom one, of which only `metadata` is typed: that is the same in all types.
pub fn print_go_values(errors: &mut [FieldError], table: &TypeTable, root: Option<TypeId>) {
    for error in errors {
        let Some(value) = error.shown_value() else {
            continue;
        };
        let partial = || table.meta("PartialObjectMetadata");
        let root = root.or_else(|| partial().filter(|_| error.field.starts_with("metadata.")));
        let place = root.and_then(|root| find(table, root, &error.field));
        let printed = match place {
            Some(place) => printed(table, place, value, &error.detail),
            None => untyped(value, root),
        };
        if let Some(printed) = printed {
            error.print_value_as(&printed);
        }
    }
}

/// Follows a path, as errors write it.
fn find<'a>(table: &'a TypeTable, root: TypeId, path: &'a str) -> Option<TypedPlace<'a>> {
    let mut place = TypedPlace::Whole(root);
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let end = inner.find("].").or_else(|| inner.rfind(']'))?;
            place = place.element(&inner[..end])?;
            rest = &inner[end + 1..];
        } else {
            let name = rest.strip_prefix('.').unwrap_or(rest);
            let end = name.find(['.', '[']).unwrap_or(name.len());
            place = place.member(table, &name[..end])?;
            rest = &name[end..];
        }
    }
    Some(place)
}

/// Prints a value at its place; `None` leaves it as it is.
fn printed(
    table: &TypeTable,
    place: TypedPlace<'_>,
    value: &Value,
    detail: &str,
) -> Option<String> {
    let form = place.form(table);
    match (place, value) {
        (TypedPlace::Whole(id), Value::Object(_)) => Some(go_syntax(table, id, value)),
        (TypedPlace::Field(owner, field), Value::Array(_) | Value::Null)
            if field.shape == Shape::Repeated =>
        {
            Some(field_syntax(table, owner, field, value))
        }
        (TypedPlace::Field(owner, field), Value::Object(_) | Value::Null)
            if field.shape == Shape::Map =>
        {
            Some(field_syntax(table, owner, field, value))
        }
        (TypedPlace::Field(_, field) | TypedPlace::Element(field, _), value)
            if field.value == FieldValue::Bytes && !value.is_array() && !place.shows_key(value) =>
        {
            // A text that is none of bytes is something else about them. Alone, they have the name that programs use.
            let is_text = value
                .as_str()
                .is_some_and(|text| decode_base64(text).is_err());
            let printed = element_syntax(table, field, value).replacen("[]uint8", "[]byte", 1);
            (!is_text).then_some(printed)
        }
        (_, Value::Null) => Some(quote("null")),
        (TypedPlace::Element(field, _), Value::String(text)) if place.shows_key(value) => {
            // The name of a resource prints itself.
            let is_amount = form == Some(Form::Quantity) && field.shape == Shape::Map;
            is_amount.then(|| text.clone())
        }
        (_, Value::String(text)) => match form? {
            Form::Time => time_text(text, Precision::Seconds),
            Form::MicroTime => time_text(text, Precision::Micros),
            Form::Quantity => {
                let is_amount = OF_AMOUNTS.iter().any(|words| detail.contains(words));
                is_amount.then(|| quantity_syntax(text, text))
            }
            Form::IntOrString if detail.contains('%') => {
                let value = Value::from(text.as_str());
                Some(place.element_syntax(table, &value))
            }
            _ => None,
        },
        (TypedPlace::Field(_, field) | TypedPlace::Element(field, _), Value::Object(_)) => {
            matches!(field.value, FieldValue::Message(_))
                .then(|| element_syntax(table, field, value))
        }
        _ => untyped(value, None),
    }
}

/// Prints a value without a type, of an object of the type `root`, if that has one; `None` leaves it as it is.
fn untyped(value: &Value, root: Option<TypeId>) -> Option<String> {
    match value {
        Value::Null => Some(quote("null")),
        // At paths that a built-in type does not have, errors show lists of names.
        Value::Array(items) if root.is_some() && items.iter().all(Value::is_string) => {
            Some(syntax(value).replacen("[]interface {}", "[]string", 1))
        }
        Value::Array(_) | Value::Object(_) => Some(syntax(value)),
        _ => None,
    }
}

// === impl TypedPlace ===

impl<'a> TypedPlace<'a> {
    fn member(self, table: &'a TypeTable, name: &'a str) -> Option<Self> {
        let within = match self {
            Self::Field(_, field) if field.shape == Shape::Map => {
                return Some(Self::Element(field, name));
            }
            Self::Whole(id) => id,
            Self::Field(_, field) | Self::Element(field, _) => match field.value {
                FieldValue::Message(id) => id,
                _ => return None,
            },
        };
        let (owner, field) = table.declared_field(within, name)?;
        Some(Self::Field(owner, field))
    }

    fn element(self, key: &'a str) -> Option<Self> {
        match self {
            Self::Field(_, field) if field.shape != Shape::Single => {
                Some(Self::Element(field, key))
            }
            _ => None,
        }
    }

    /// Returns whether an error of an entry shows the key rather than the value.
    fn shows_key(self, value: &Value) -> bool {
        matches!(self, Self::Element(_, key) if value == key)
    }

    /// The form of one value of it.
    fn form(self, table: &TypeTable) -> Option<Form> {
        match self {
            Self::Whole(id) => Some(table.get(id).form),
            Self::Field(_, field) | Self::Element(field, _) => match field.value {
                FieldValue::Message(id) => Some(table.get(id).form),
                _ => None,
            },
        }
    }

    fn element_syntax(self, table: &TypeTable, value: &Value) -> String {
        match self {
            Self::Whole(id) => go_syntax(table, id, value),
            Self::Field(_, field) | Self::Element(field, _) => element_syntax(table, field, value),
        }
    }
}

#[cfg(test)]
mod tests;
