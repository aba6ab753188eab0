//! Schemas of OpenAPI v3 documents, as far as objects are generated from them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

const PREFIX: &str = "#/components/schemas/";

/// The schemas of a server's types, by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Schemas(BTreeMap<String, Value>);

/// A schema, which may refer to others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schema<'a> {
    schemas: &'a Schemas,
    value: &'a Value,
    /// The name of the type, if it has one.
    name: &'a str,
}

// === impl Schemas ===

impl Schemas {
    /// Adds the schemas of a document.
    pub(super) fn add(&mut self, document: &Value) {
        let schemas = document["components"]["schemas"].as_object();
        for (name, schema) in schemas.into_iter().flatten() {
            self.0.entry(name.clone()).or_insert_with(|| schema.clone());
        }
    }

    /// Adds the schemas of a definition's versions, under the names that [`of_kind`](Self::of_kind) finds.
    pub(super) fn add_definition(&mut self, definition: &Value) {
        let spec = &definition["spec"];
        let group = &spec["group"];
        for version in spec["versions"].as_array().into_iter().flatten() {
            let mut schema = version["schema"]["openAPIV3Schema"].clone();
            let kind = &spec["names"]["kind"];
            schema["x-kubernetes-group-version-kind"] = serde_json::json!([
                {"group": group, "version": version["name"], "kind": kind}
            ]);
            let name = format!("{group}/{}/{kind}", version["name"]);
            self.0.insert(name, schema);
        }
    }

    /// Returns the schema of a kind of objects.
    pub(super) fn of_kind(&self, group: &str, version: &str, kind: &str) -> Option<Schema<'_>> {
        let is_it = |schema: &Value| {
            let kinds = schema["x-kubernetes-group-version-kind"].as_array();
            kinds.is_some_and(|kinds| {
                kinds.iter().any(|named| {
                    named["group"] == group && named["version"] == version && named["kind"] == kind
                })
            })
        };
        let found = self.0.iter().find(|(_, schema)| is_it(schema));
        found.map(|(name, value)| self.schema(name, value))
    }

    fn schema<'a>(&'a self, name: &'a str, value: &'a Value) -> Schema<'a> {
        Schema {
            schemas: self,
            value,
            name,
        }
    }
}

// === impl Schema ===

impl<'a> Schema<'a> {
    /// Returns the name of the type; empty if it has none.
    pub(super) fn name(self) -> &'a str {
        self.name
    }

    /// Returns the schema of a field or of a value in a map.
    pub(super) fn field(self, name: &str) -> Option<Self> {
        let property = self.value["properties"].get(name);
        let additional = || {
            self.value
                .get("additionalProperties")
                .filter(|value| value.is_object())
        };
        property
            .or_else(additional)
            .map(|value| self.resolved(value))
    }

    /// Returns the fields and their schemas.
    pub(super) fn fields(self) -> impl Iterator<Item = (&'a str, Self)> {
        let properties = self.value["properties"].as_object();
        let properties = properties.into_iter().flat_map(Map::iter);
        properties.map(move |(name, value)| (name.as_str(), self.resolved(value)))
    }

    /// Returns the schema of the values of a map.
    pub(super) fn values(self) -> Option<Self> {
        let values = self.value.get("additionalProperties")?;
        values.is_object().then(|| self.resolved(values))
    }

    /// Returns the schema of the items of a list.
    pub(super) fn items(self) -> Option<Self> {
        self.value.get("items").map(|value| self.resolved(value))
    }

    /// Returns the type; `int-or-string` and `quantity` are types here.
    pub(super) fn kind(self) -> &'a str {
        let value = self.value;
        if self.name.ends_with("resource.Quantity") {
            return "quantity";
        }
        let is_either =
            value["x-kubernetes-int-or-string"] == true || value["format"] == "int-or-string";
        if is_either {
            return "int-or-string";
        }
        value["type"].as_str().unwrap_or_default()
    }

    /// Returns the format; empty if there is none.
    pub(super) fn format(self) -> &'a str {
        self.value["format"].as_str().unwrap_or_default()
    }

    /// Returns the allowed values; empty if all are.
    pub(super) fn allowed(self) -> &'a [Value] {
        self.value["enum"].as_array().map_or(&[], Vec::as_slice)
    }

    /// Returns true if the field is needed.
    pub(super) fn requires(self, field: &str) -> bool {
        let required = self.value["required"].as_array();
        required.is_some_and(|required| required.iter().any(|name| name == field))
    }

    /// Returns the field by which a strategic merge patch finds an item of the list.
    pub(super) fn merge_key(self) -> Option<&'a str> {
        self.value["x-kubernetes-patch-merge-key"].as_str()
    }

    /// Follows a reference, which may be the only one of `allOf`.
    fn resolved(self, value: &'a Value) -> Self {
        let reference = value["$ref"]
            .as_str()
            .or_else(|| value["allOf"][0]["$ref"].as_str());
        let target = reference.and_then(|reference| {
            let name = reference.strip_prefix(PREFIX)?;
            self.schemas.0.get_key_value(name)
        });
        match target {
            Some((name, target)) => Self {
                value: target,
                name,
                ..self
            },
            None => Self {
                value,
                name: "",
                ..self
            },
        }
    }
}
