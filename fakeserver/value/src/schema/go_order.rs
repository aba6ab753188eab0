//! JSON in the order in which Go prints the fields of its structs.

use std::collections::BTreeMap;

use serde_json::Value;

use super::types::{Field, FieldValue, Form, Shape, TypeId, TypeTable};
use crate::go_text::escape_html;

/// The parts of a printed object that a patch has decoded into maps: Go prints these sorted by key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchedParts {
    inner: BTreeMap<String, PatchedParts>,
    /// Everything below was taken apart, too.
    is_whole: bool,
}

/// Prints an object of a built-in type as the API server does, apart from what was `touched`.
pub fn print_in_go_order(
    table: &TypeTable,
    id: Option<TypeId>,
    value: &Value,
    touched: Option<&PatchedParts>,
) -> String {
    let mut text = String::new();
    let printer = Printer { table };
    printer.value(&mut text, id, value, touched);
    escape_html(&text)
}

struct Printer<'a> {
    table: &'a TypeTable,
}

// === impl PatchedParts ===

impl PatchedParts {
    /// Returns the touched parts of a merge patch: the objects that it reaches into, and its values.
    pub fn by_merge(patch: &Value) -> Self {
        let members = patch.as_object().into_iter().flatten();
        Self {
            inner: members
                .map(|(name, value)| (name.clone(), Self::by_merge(value)))
                .collect(),
            // A list replaces the present value, and Go walks its items to remove nulls.
            is_whole: patch.is_array(),
        }
    }

    fn below(&self, name: &str) -> Option<&Self> {
        if self.is_whole {
            return Some(self);
        }
        self.inner.get(name)
    }

    /// Returns the touched part at the end of a path, which is touched now, too.
    pub fn reach<'a>(&mut self, path: impl IntoIterator<Item = &'a str>) -> &mut Self {
        let mut at = self;
        for step in path {
            at = at.inner.entry(step.to_owned()).or_default();
        }
        at
    }

    /// Touches everything below, too.
    pub fn touch_all(&mut self) {
        self.is_whole = true;
    }

    /// Forgets a part, which has another value now.
    pub fn forget(&mut self, name: &str) {
        self.inner.remove(name);
    }

    /// Moves the items of a list from `index` on by one place.
    pub fn shift(&mut self, index: usize, is_insertion: bool) {
        let items = std::mem::take(&mut self.inner);
        let moved = items.into_iter().filter_map(|(name, item)| {
            let place = name.parse::<usize>().ok();
            let place = place.filter(|place| *place >= index);
            match place {
                None => Some((name, item)),
                Some(place) if is_insertion => Some(((place + 1).to_string(), item)),
                Some(place) if place == index => None,
                Some(place) => Some(((place - 1).to_string(), item)),
            }
        });
        self.inner = moved.collect();
    }
}

// === impl Printer ===

impl Printer<'_> {
    fn value(
        &self,
        text: &mut String,
        id: Option<TypeId>,
        value: &Value,
        touched: Option<&PatchedParts>,
    ) {
        let id = id.and_then(|id| self.struct_of(id));
        match value {
            Value::Object(members) => {
                let mut names: Vec<&String> = members.keys().collect();
                if let (Some(id), None) = (id, touched) {
                    names.sort_by_key(|name| self.place(id, name));
                }
                text.push('{');
                for (place, name) in names.into_iter().enumerate() {
                    text.push_str(if place > 0 { "," } else { "" });
                    text.push_str(&Value::from(name.as_str()).to_string());
                    text.push(':');
                    let field = id.and_then(|id| self.table.field(id, name));
                    let touched = touched.and_then(|touched| touched.below(name));
                    self.field(text, field, &members[name], touched);
                }
                text.push('}');
            }
            Value::Array(items) => {
                text.push('[');
                for (place, item) in items.iter().enumerate() {
                    text.push_str(if place > 0 { "," } else { "" });
                    let touched = touched.and_then(|touched| touched.below(&place.to_string()));
                    self.value(text, id, item, touched);
                }
                text.push(']');
            }
            other => text.push_str(&other.to_string()),
        }
    }

    /// Returns the type of the objects that a type has in JSON: of a schema or something else, it is the schema.
    fn struct_of(&self, id: TypeId) -> Option<TypeId> {
        match self.table.get(id).form {
            Form::Struct => Some(id),
            Form::SchemaOrArray | Form::SchemaOrBool | Form::SchemaOrStringArray => {
                let mut fields = self.table.get(id).fields.iter();
                fields.find_map(|field| match field.value {
                    FieldValue::Message(schema) => Some(schema),
                    _ => None,
                })
            }
            _ => None,
        }
    }

    fn field(
        &self,
        text: &mut String,
        field: Option<&Field>,
        value: &Value,
        touched: Option<&PatchedParts>,
    ) {
        let element = field.and_then(|field| match field.value {
            FieldValue::Message(id) => Some((field.shape, id)),
            _ => None,
        });
        match (element, value) {
            (Some((Shape::Map, id)), Value::Object(entries)) => {
                text.push('{');
                for (place, (name, value)) in entries.iter().enumerate() {
                    text.push_str(if place > 0 { "," } else { "" });
                    text.push_str(&Value::from(name.as_str()).to_string());
                    text.push(':');
                    self.value(text, Some(id), value, touched);
                }
                text.push('}');
            }
            (Some((_, id)), value) => self.value(text, Some(id), value, touched),
            (None, value) => self.value(text, None, value, touched),
        }
    }

    /// Returns the position of a field in the struct; kind and version come first.
    fn place(&self, id: TypeId, name: &str) -> usize {
        let own = match name {
            "kind" if self.table.get(id).has_type_meta => return 0,
            "apiVersion" if self.table.get(id).has_type_meta => return 1,
            name => name,
        };
        2 + self.flat_place(id, own).unwrap_or(usize::MAX - 2)
    }

    /// The place among all fields, those of embedded structs counted where they are embedded.
    fn flat_place(&self, id: TypeId, name: &str) -> Option<usize> {
        let mut place = 0;
        for field in &self.table.get(id).fields {
            match field.value {
                FieldValue::Message(inner) if field.inline => {
                    if let Some(within) = self.flat_place(inner, name) {
                        return Some(place + within);
                    }
                    place += self.table.json_fields(inner).count();
                }
                _ if field.name == name => return Some(place),
                _ => place += 1,
            }
        }
        None
    }
}
