//! The types that schemas give values in expressions, with the sizes that they can have.

use std::{collections::BTreeMap, sync::Arc};

use fakeserver_cel::{Environment, Objects, Sizes, Type, names::escape};
use serde_json::Value;

/// The maximum size of a request, which limits what nothing else does.
const REQUEST_MAX_BYTES: i64 = 3 << 20;

/// The type that a schema gives a value.
#[derive(Debug)]
pub(super) struct SchemaType {
    pub(super) shape: Shape,
    /// The maximum number of characters, bytes, items or entries.
    pub(super) elements_max: u64,
    /// The size of the smallest value as JSON.
    pub(super) bytes_min: i64,
}

#[derive(Debug)]
pub(super) enum Shape {
    /// A type that has no parts.
    Simple(Type),
    List(Arc<SchemaType>, ListKind),
    /// A map from texts.
    Map(Arc<SchemaType>),
    /// Fields by the names that expressions use.
    Object(BTreeMap<String, Arc<SchemaType>>),
}

/// The kinds of lists, which differ in when they are equal.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ListKind {
    Atomic,
    Set,
    /// The fields that identify an item, by the names that expressions use.
    Map(Vec<String>),
}

/// The fields of the values of a schema, by the paths to them: the name of the root type, then fields, `@items` and
/// `@values`.
struct Fields(Arc<SchemaType>);

/// The name of the type of whole values.
const ROOT: &str = "selfType";

// === impl SchemaType ===

impl SchemaType {
    /// Returns the type of the values of `schema`; `None` if expressions cannot see them.
    #[doc(alias = "SchemaDeclType")]
    pub(super) fn of(schema: &Value, is_object_root: bool) -> Option<Arc<Self>> {
        let limit = |keyword: &str| schema[keyword].as_i64().map(|max| max.max(0));
        if schema["x-kubernetes-int-or-string"] == true {
            let max = limit("maxLength").map_or(REQUEST_MAX_BYTES - 2, |max| max * 4);
            return Some(Self::simple(Type::Dyn, max, 1));
        }
        match schema["type"].as_str().unwrap_or_default() {
            "array" => {
                let items = Self::of(schema.get("items")?, is_embedded(&schema["items"]))?;
                let max = (REQUEST_MAX_BYTES - 2) / (items.bytes_min + 1);
                let max = limit("maxItems").unwrap_or(max);
                Some(Self::new(Shape::List(items, ListKind::of(schema)), max, 2))
            }
            "object" if schema["additionalProperties"].is_object() && !is_object_root => {
                let values = &schema["additionalProperties"];
                let values = Self::of(values, is_embedded(values))?;
                let max = (REQUEST_MAX_BYTES - 2) / (values.bytes_min + 6);
                let max = limit("maxProperties").unwrap_or(max);
                Some(Self::new(Shape::Map(values), max, 2))
            }
            "object" => Some(Self::object(schema, is_object_root)),
            "string" => Some(Self::text(schema, limit("maxLength"))),
            "boolean" => Some(Self::simple(Type::Bool, 0, 4)),
            "number" => Some(Self::simple(Type::Double, 0, 1)),
            "integer" => Some(Self::simple(Type::Int, 0, 1)),
            _ => None,
        }
    }

    fn new(shape: Shape, elements_max: i64, bytes_min: i64) -> Arc<Self> {
        Arc::new(Self {
            shape,
            elements_max: elements_max.max(0).cast_unsigned(),
            bytes_min,
        })
    }

    fn simple(ty: Type, elements_max: i64, bytes_min: i64) -> Arc<Self> {
        Self::new(Shape::Simple(ty), elements_max, bytes_min)
    }

    fn object(schema: &Value, is_root: bool) -> Arc<Self> {
        let required = schema["required"].as_array().map(Vec::as_slice);
        let required = required.unwrap_or_default();
        let mut fields = BTreeMap::new();
        let mut bytes_min = 2;
        let mut add = |name: &str, property: &Value| {
            let Some(ty) = Self::of(property, is_embedded(property)) else {
                return;
            };
            let is_required = required.iter().any(|one| one == name);
            if is_required && property["default"].is_null() {
                bytes_min += name.len().cast_signed() as i64 + ty.bytes_min + 4;
            }
            if let Some(name) = escape(name) {
                fields.insert(name, ty);
            }
        };
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let is_meta = matches!(name.as_str(), "kind" | "apiVersion" | "metadata");
            if !(is_root && is_meta) {
                add(name, property);
            }
        }
        if is_root {
            let text = serde_json::json!({"type": "string"});
            let names = serde_json::json!({"name": text, "generateName": text});
            add("kind", &text);
            add("apiVersion", &text);
            add(
                "metadata",
                &serde_json::json!({"type": "object", "properties": names}),
            );
        }
        Self::new(Shape::Object(fields), 0, bytes_min)
    }

    fn text(schema: &Value, length_max: Option<i64>) -> Arc<Self> {
        match schema["format"].as_str().unwrap_or_default() {
            "byte" => {
                let max = length_max.unwrap_or(REQUEST_MAX_BYTES - 2);
                Self::simple(Type::Bytes, max, 2)
            }
            "duration" => Self::simple(Type::Duration, 32, 3),
            "date" => Self::simple(Type::Timestamp, 12, 12),
            "date-time" => Self::simple(Type::Timestamp, 32, 21),
            _ => {
                let all = schema["enum"].as_array().into_iter().flatten();
                let longest = all.filter_map(Value::as_str).map(str::len).max();
                let max = match (length_max, longest) {
                    (Some(max), _) => max.saturating_mul(4),
                    (None, Some(longest)) => i64::try_from(longest).unwrap_or(i64::MAX),
                    (None, None) => REQUEST_MAX_BYTES - 2,
                };
                Self::simple(Type::String, max, 2)
            }
        }
    }

    /// Returns the variables of rules: `self` and `oldSelf`, which may be optional.
    pub(super) fn environment(self: &Arc<Self>, has_optional_old: bool) -> Environment {
        let mut environment = Environment::default();
        let of = self.expression_type(ROOT);
        environment.declare("self", of.clone());
        let old = if has_optional_old {
            Type::optional(of)
        } else {
            of
        };
        environment.declare("oldSelf", old);
        environment.set_objects(Arc::new(Fields(Arc::clone(self))));
        environment
    }

    /// Returns the type of expressions that have such a value, which is at `path`.
    fn expression_type(&self, path: &str) -> Type {
        match &self.shape {
            Shape::Simple(of) => of.clone(),
            Shape::List(items, _) => Type::list(items.expression_type(&format!("{path}.@items"))),
            Shape::Map(values) => {
                let values = values.expression_type(&format!("{path}.@values"));
                Type::map(Type::String, values)
            }
            Shape::Object(_) => Type::object(path),
        }
    }

    /// Returns the type of a part.
    fn part(&self, step: &str) -> Option<&Self> {
        match (step, &self.shape) {
            ("@items", Shape::List(inner, _)) | ("@values", Shape::Map(inner)) => Some(inner),
            (name, Shape::Object(fields)) => fields.get(name).map(|field| &**field),
            _ => None,
        }
    }

    /// Returns the maximum number of such values in one request.
    pub(super) fn cardinality_max(&self) -> u64 {
        (REQUEST_MAX_BYTES / (self.bytes_min + 1)).cast_unsigned()
    }
}

impl Sizes for SchemaType {
    fn size_max(&self, path: &[String]) -> Option<u64> {
        let mut node = self;
        for step in path.get(1..)? {
            if step == "@keys" && matches!(node.shape, Shape::Map(_)) {
                // The type of keys has no size.
                return Some(0);
            }
            node = node.part(step)?;
        }
        Some(node.elements_max)
    }
}

// === impl Fields ===

impl Objects for Fields {
    fn field(&self, name: &str, field: &str) -> Option<Type> {
        let mut steps = name.split('.');
        let root = steps.next().filter(|root| *root == ROOT).map(|_| &*self.0);
        let object = steps.try_fold(root?, |node, step| node.part(step))?;
        let path = format!("{name}.{field}");
        Some(object.part(field)?.expression_type(&path))
    }
}

// === impl ListKind ===

impl ListKind {
    fn of(schema: &Value) -> Self {
        match schema["x-kubernetes-list-type"].as_str() {
            Some("set") => Self::Set,
            Some("map") => {
                let keys = schema["x-kubernetes-list-map-keys"].as_array();
                let keys = keys.into_iter().flatten().filter_map(Value::as_str);
                Self::Map(keys.filter_map(escape).collect())
            }
            _ => Self::Atomic,
        }
    }
}

fn is_embedded(schema: &Value) -> bool {
    schema["x-kubernetes-embedded-resource"] == true
}
