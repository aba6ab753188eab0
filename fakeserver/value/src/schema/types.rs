//! The Go types behind the built-in resources: fields, their protobuf numbers, and those that JSON always shows.
//!
//! The API server answers with what its Go structs print, rather than what the client sent. Empty optional fields are
//! left out. Fields without `omitempty` are present as zero or null, and a struct held by value as `{}`. A pointer to
//! zero is kept. Protobuf follows the same structs. So one table for each version of Kubernetes, read from its `types.json`,
//! serves both.

use std::collections::BTreeMap;

use fakeserver_versions::{KubernetesVersion, PerVersion};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde::Deserialize;

/// Every Go type of the built-in resources of a version of Kubernetes; [`types_in`] gives the only one.
#[derive(Debug)]
pub struct TypeTable {
    kubernetes: KubernetesVersion,
    types: Vec<Type>,
    by_name: BTreeMap<String, TypeId>,
}

/// A type in the table of a version of Kubernetes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TypeId {
    at: u32,
    kubernetes: KubernetesVersion,
}

/// One Go struct, or one of the types that print as something else than a struct.
#[derive(Debug)]
pub struct Type {
    /// The name of its OpenAPI definition.
    pub name: String,
    /// The form in which it prints, if not as an object of its fields.
    pub form: Form,
    /// True if it carries `kind` and `apiVersion`.
    pub has_type_meta: bool,
    /// The fields, in the order in which Go prints them.
    pub fields: Vec<Field>,
    /// The places of the fields, in the order of their numbers.
    wire_order: Vec<usize>,
    /// The fields as JSON has them, by name.
    by_name: IndexMap<String, FieldPosition, FxBuildHasher>,
    /// The fields that JSON shows even if they are absent.
    json_fields: Vec<FieldPosition>,
}

/// The position of a field's declaration.
#[derive(Debug, Clone, Copy)]
struct FieldPosition {
    ty: TypeId,
    field: usize,
}

/// The form of a type in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "every use must treat every form; a new one is a change of the wire"
)]
pub enum Form {
    /// An object of its fields.
    Struct,
    /// RFC 3339 in whole seconds.
    Time,
    /// RFC 3339 with six digits of a second.
    MicroTime,
    /// A decimal number with a suffix, in canonical form.
    Quantity,
    /// A number or a string.
    IntOrString,
    /// Any object, held as bytes of JSON or of protobuf.
    RawExtension,
    /// Any JSON, held as bytes.
    RawJson,
    /// A list of strings.
    StringList,
    /// A JSON schema or a list of them.
    SchemaOrArray,
    /// A JSON schema or a boolean.
    SchemaOrBool,
    /// A JSON schema or a list of strings.
    SchemaOrStringArray,
}

/// One field of a struct.
#[derive(Debug)]
pub struct Field {
    /// Its name in JSON; for an inlined struct, which has none, its name in protobuf.
    pub name: String,
    /// Its number in protobuf.
    pub number: u32,
    /// The type of one value.
    pub value: FieldValue,
    /// The number of values.
    pub shape: Shape,
    /// True if nil and zero are different.
    pub pointer: bool,
    /// The condition under which JSON leaves it out.
    pub omit: OmitRule,
    /// True if its own fields stand in its parent.
    pub inline: bool,
    /// The Go type of the whole field, as error texts name it.
    pub go: String,
    /// The Go type of one value of it.
    pub go_element: String,
}

/// The type of one value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: what Kubernetes' protobuf uses"
)]
pub enum FieldValue {
    /// UTF-8 text.
    String,
    /// True or false.
    Bool,
    /// A signed integer of 32 bits.
    Int32,
    /// A signed integer of 64 bits.
    Int64,
    /// A floating-point number.
    Double,
    /// Bytes, which JSON shows in base64.
    Bytes,
    /// Another type.
    Message(TypeId),
}

/// The number of values that a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: what Kubernetes' protobuf uses"
)]
pub enum Shape {
    /// At most one.
    Single,
    /// A list.
    Repeated,
    /// A map from strings.
    Map,
}

/// The condition under which JSON leaves a field out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: Go's options of encoding/json"
)]
pub enum OmitRule {
    /// Never: an empty one is zero or null.
    Never,
    /// If it is empty, which a struct never is.
    Empty,
    /// If it is zero, also for structs.
    Zero,
}

/// The table of the default version, for those who have no server.
pub fn types() -> &'static TypeTable {
    types_in(KubernetesVersion::DEFAULT)
}

/// The table of a version, read on first use (a few milliseconds, once a process).
pub fn types_in(kubernetes: KubernetesVersion) -> &'static TypeTable {
    static TABLES: PerVersion<TypeTable> = PerVersion::new();
    TABLES.get_or_init(kubernetes, || {
        TypeTable::read(kubernetes, &kubernetes.types())
    })
}

#[derive(Deserialize)]
struct Document {
    types: BTreeMap<String, TypeRow>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TypeRow {
    #[serde(default)]
    type_meta: bool,
    fields: Vec<FieldRow>,
}

#[derive(Deserialize)]
struct FieldRow {
    number: u32,
    name: String,
    r#type: String,
    #[serde(default)]
    repeated: bool,
    #[serde(default)]
    pointer: bool,
    #[serde(default)]
    inline: bool,
    omit: Option<String>,
    go: Option<String>,
    element: Option<String>,
}

// === impl TypeId ===

impl TypeId {
    /// The table that has it.
    pub fn table(self) -> &'static TypeTable {
        types_in(self.kubernetes)
    }
}

// === impl TypeTable ===

impl TypeTable {
    /// A table without types, for text that is not of a type.
    pub(super) const EMPTY: &'static Self = &Self {
        kubernetes: KubernetesVersion::DEFAULT,
        types: Vec::new(),
        by_name: BTreeMap::new(),
    };

    /// The version of Kubernetes whose types it has.
    pub fn kubernetes(&self) -> KubernetesVersion {
        self.kubernetes
    }

    /// The type of an OpenAPI definition.
    pub fn find(&self, name: &str) -> Option<TypeId> {
        self.by_name.get(name).copied()
    }

    /// The type of that name in the group that all resources share.
    pub fn meta(&self, name: &str) -> Option<TypeId> {
        self.find(&format!("io.k8s.apimachinery.pkg.apis.meta.v1.{name}"))
    }

    /// Looks into a type.
    pub fn get(&self, id: TypeId) -> &Type {
        &self.types[id.at as usize]
    }

    /// The field of that name in JSON, looking into inlined structs.
    pub fn field(&self, id: TypeId, name: &str) -> Option<&Field> {
        let place = self.get(id).by_name.get(name)?;
        Some(self.at(*place))
    }

    /// The same field, and the type that declares it: another one if that is inlined.
    pub fn declared_field(&self, id: TypeId, name: &str) -> Option<(TypeId, &Field)> {
        let place = self.get(id).by_name.get(name)?;
        Some((place.ty, self.at(*place)))
    }

    /// The names of the structs that a struct embeds, one in the other, of which the last has the field.
    pub fn embedding(&self, id: TypeId, name: &str) -> Vec<&str> {
        let ty = self.get(id);
        if ty.has_type_meta && matches!(name, "kind" | "apiVersion") {
            return vec!["TypeMeta"];
        }
        let inner = ty.fields.iter().filter(|field| field.inline);
        for field in inner {
            if let FieldValue::Message(inner) = field.value
                && self.field(inner, name).is_some()
            {
                let mut path = vec![self.get(inner).go_name()];
                path.extend(self.embedding(inner, name));
                return path;
            }
        }
        Vec::new()
    }

    /// The fields as JSON has them, those of inlined structs among them, by name.
    pub fn json_fields(&self, id: TypeId) -> impl Iterator<Item = &Field> {
        self.get(id).by_name.values().map(|place| self.at(*place))
    }

    /// The fields that JSON shows even if they are absent.
    pub fn shown_fields(&self, id: TypeId) -> impl Iterator<Item = &Field> {
        self.get(id).json_fields.iter().map(|place| self.at(*place))
    }

    /// Every type, with its name.
    pub fn iter(&self) -> impl Iterator<Item = (TypeId, &Type)> {
        ids(self.kubernetes).zip(&self.types)
    }

    fn at(&self, place: FieldPosition) -> &Field {
        &self.get(place.ty).fields[place.field]
    }

    fn read(kubernetes: KubernetesVersion, text: &str) -> TypeTable {
        let document: Document = serde_json::from_str(text).expect("the embedded table is JSON");
        let names = document.types.keys().cloned();
        let by_name: BTreeMap<_, _> = names.zip(ids(kubernetes)).collect();
        let types = document.types.into_iter();
        let types = types.map(|(name, row)| Type::read(name, row, &by_name));
        let mut table = TypeTable {
            kubernetes,
            types: types.collect(),
            by_name,
        };
        for id in ids(kubernetes).take(table.types.len()) {
            let mut places = Vec::new();
            table.collect_places(id, &mut places);
            places.sort_by(|a, b| table.at(*a).name.cmp(&table.at(*b).name));
            let json_fields = places
                .iter()
                .copied()
                .filter(|place| table.at(*place).is_always_shown());
            let json_fields = json_fields.collect();
            let entries = places
                .iter()
                .map(|place| (table.at(*place).name.clone(), *place));
            let by_name = entries.collect();
            let ty = &mut table.types[id.at as usize];
            ty.by_name = by_name;
            ty.json_fields = json_fields;
        }
        table
    }

    fn collect_places(&self, ty: TypeId, out: &mut Vec<FieldPosition>) {
        for (field, row) in self.get(ty).fields.iter().enumerate() {
            match row.value {
                FieldValue::Message(inner) if row.inline => self.collect_places(inner, out),
                _ => out.push(FieldPosition { ty, field }),
            }
        }
    }
}

// === impl Type ===

impl Type {
    fn read(name: String, row: TypeRow, by_name: &BTreeMap<String, TypeId>) -> Type {
        let fields: Vec<_> = (row.fields.into_iter())
            .map(|field| Field::read(field, by_name))
            .collect();
        let mut wire_order: Vec<_> = (0..fields.len()).collect();
        wire_order.sort_by_key(|at| fields[*at].number);
        Type {
            form: Form::of(&name),
            name,
            has_type_meta: row.type_meta,
            fields,
            wire_order,
            by_name: IndexMap::default(),
            json_fields: Vec::new(),
        }
    }

    /// The fields in the order in which protobuf writes them.
    pub fn wire_fields(&self) -> impl Iterator<Item = &Field> {
        self.wire_order.iter().map(|at| &self.fields[*at])
    }

    /// The field of that number.
    pub fn wire_field(&self, number: u32) -> Option<&Field> {
        let at = self
            .wire_order
            .binary_search_by_key(&number, |at| self.fields[*at].number);
        at.ok().map(|at| &self.fields[self.wire_order[at]])
    }

    /// The name of the Go struct, without its package.
    pub fn go_name(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or(&self.name)
    }
}

// === impl Form ===

impl Form {
    fn of(name: &str) -> Form {
        match name.rsplit('.').next().unwrap_or(name) {
            "Time" => Form::Time,
            "MicroTime" => Form::MicroTime,
            "Quantity" => Form::Quantity,
            "IntOrString" => Form::IntOrString,
            "RawExtension" => Form::RawExtension,
            "FieldsV1" | "JSON" => Form::RawJson,
            "Verbs" | "ExtraValue" => Form::StringList,
            "JSONSchemaPropsOrArray" => Form::SchemaOrArray,
            "JSONSchemaPropsOrBool" => Form::SchemaOrBool,
            "JSONSchemaPropsOrStringArray" => Form::SchemaOrStringArray,
            _ => Form::Struct,
        }
    }
}

// === impl Field ===

impl Field {
    /// Returns whether JSON shows it even if it is absent: as zero, as null, or as an empty struct.
    pub fn is_always_shown(&self) -> bool {
        let is_struct = matches!(self.value, FieldValue::Message(_)) && self.shape == Shape::Single;
        match self.omit {
            OmitRule::Never => true,
            OmitRule::Empty => is_struct && !self.pointer,
            OmitRule::Zero => false,
        }
    }

    fn read(row: FieldRow, by_name: &BTreeMap<String, TypeId>) -> Field {
        let (shape, element) = match row.r#type.strip_prefix("map<string,") {
            Some(rest) => (Shape::Map, rest.trim_end_matches('>')),
            None if row.repeated => (Shape::Repeated, row.r#type.as_str()),
            None => (Shape::Single, row.r#type.as_str()),
        };
        let value = match element {
            "string" => FieldValue::String,
            "bool" => FieldValue::Bool,
            "int32" => FieldValue::Int32,
            "int64" => FieldValue::Int64,
            "double" => FieldValue::Double,
            "bytes" => FieldValue::Bytes,
            name => FieldValue::Message(
                *by_name
                    .get(name)
                    .expect("the embedded table names only types it has"),
            ),
        };
        let go_element = row.element.unwrap_or_else(|| match shape {
            Shape::Single => row.go.clone().unwrap_or_else(|| go_name(element)),
            Shape::Repeated | Shape::Map => go_name(element),
        });
        let go = row.go.unwrap_or_else(|| match shape {
            Shape::Single => go_element.clone(),
            Shape::Repeated => format!("[]{go_element}"),
            Shape::Map => format!("map[string]{go_element}"),
        });
        Field {
            name: row.name,
            number: row.number,
            value,
            shape,
            pointer: row.pointer,
            omit: match row.omit.as_deref() {
                None => OmitRule::Never,
                Some("zero") => OmitRule::Zero,
                Some(_) => OmitRule::Empty,
            },
            inline: row.inline,
            go,
            go_element,
        }
    }
}

/// The types of a table, in its order.
fn ids(kubernetes: KubernetesVersion) -> impl Iterator<Item = TypeId> {
    (0..).map(move |at| TypeId { at, kubernetes })
}

/// A type as Go's reflection prints it: the last part of its package, and its name.
fn go_name(element: &str) -> String {
    match element {
        "bytes" => "[]uint8".to_owned(),
        "double" => "float64".to_owned(),
        _ => match element.rmatch_indices('.').nth(1) {
            Some((at, _)) => element[at + 1..].to_owned(),
            None => element.to_owned(),
        },
    }
}
