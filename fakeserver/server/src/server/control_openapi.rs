//! The OpenAPI document of `/_control`, from which clients in other languages are generated.
//!
//! The schemas of what clients send and receive are data, which a test derives from the types.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use crate::faults::Fault;

/// The schemas of the statistics, of `match` and of `when`, of versions and upgrades, and the parameters of all faults.
static SCHEMAS: LazyLock<Value> = LazyLock::new(|| {
    let schemas = serde_json::from_str(include_str!("../../data/control-schemas.json"));
    schemas.expect("a test writes the file")
});

/// An operation of the control API.
struct Operation {
    /// The method, in lower case.
    method: &'static str,
    /// The path below `/_control`.
    path: &'static str,
    /// The name: that of the method of a client.
    id: &'static str,
    summary: &'static str,
    answer: Content,
}

/// The content of an answer.
#[derive(Clone, Copy)]
enum Content {
    Nothing,
    /// JSON of the schema of this name.
    Json(&'static str),
    /// An array of JSON of the schema of this name.
    Array(&'static str),
    /// Lines of JSON.
    Lines,
}

const OPERATIONS: [Operation; 15] = [
    Operation::new(
        "get",
        "/stats",
        "stats",
        "Returns the counts of the server.",
        Content::Json("Stats"),
    ),
    Operation::new(
        "post",
        "/compact",
        "compact",
        "Removes history: lists of older versions are answered with 410. Watches go on.",
        Content::Nothing,
    ),
    Operation::new(
        "post",
        "/expire",
        "expire",
        "Removes history for watches, too: one that begins at an older version receives an ERROR event with 410.",
        Content::Nothing,
    ),
    Operation::new(
        "post",
        "/disconnect",
        "disconnect",
        "Ends all open watches.",
        Content::Nothing,
    ),
    Operation::new(
        "post",
        "/reset",
        "reset",
        "Restores the state of the start: later objects are gone, and all watches end. Faults stay in force.",
        Content::Nothing,
    ),
    Operation::new(
        "get",
        "/snapshot",
        "snapshot",
        "Returns the whole state, a line of JSON an object.",
        Content::Lines,
    ),
    Operation::new(
        "post",
        "/snapshot",
        "saveSnapshot",
        "Writes the state to the data file; 409 if the server has none.",
        Content::Nothing,
    ),
    Operation::new(
        "get",
        "/kubernetes-version",
        "kubernetesVersion",
        "Returns the release of Kubernetes that is served, and those that there are.",
        Content::Json("KubernetesVersions"),
    ),
    Operation::new(
        "post",
        "/kubernetes-version",
        "upgrade",
        "Serves another version of Kubernetes, newer or older, with open watches; 400 lists the versions.",
        Content::Json("UpgradeReport"),
    ),
    Operation::new(
        "get",
        "/faults",
        "listFaults",
        "Returns the faults in force.",
        Content::Json("FaultList"),
    ),
    Operation::new(
        "post",
        "/faults",
        "installFaults",
        "Installs a fault, or several, all or none; 400 names the invalid field.",
        Content::Json("FaultList"),
    ),
    Operation::new(
        "delete",
        "/faults",
        "removeFaults",
        "Removes all faults.",
        Content::Nothing,
    ),
    Operation::new(
        "get",
        "/faults/{id}",
        "getFault",
        "Returns a fault in force.",
        Content::Json("InstalledFault"),
    ),
    Operation::new(
        "delete",
        "/faults/{id}",
        "removeFault",
        "Removes a fault.",
        Content::Nothing,
    ),
    Operation::new(
        "get",
        "/faults/catalogue",
        "faultCatalogue",
        "Returns what is known about each fault.",
        Content::Array("CatalogueEntry"),
    ),
];

/// Returns the document.
pub(super) fn document() -> Value {
    let mut paths = Map::new();
    for operation in &OPERATIONS {
        let path = format!("/_control{}", operation.path);
        let methods = paths.entry(path).or_insert_with(|| json!({}));
        methods[operation.method] = operation.document();
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Control of a fakeserver",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Requests need what any other request to the server needs: a client certificate or a token, if it wants one.",
        },
        "paths": paths,
        "components": {"schemas": schemas()},
    })
}

fn schemas() -> Value {
    json!({
        "Stats": SCHEMAS["stats"],
        "Match": match_schema(),
        "When": when_schema(),
        "Fault": fault(),
        "InstalledFault": {
            "description": "A fault in force.",
            "type": "object",
            "properties": {
                "id": {"type": "integer", "description": "The id by which it can be removed."},
                "spec": reference("Fault"),
                "fired": {"type": "integer", "description": "The number of its firings."},
                "lastRevision": {"type": ["integer", "null"], "description": "The revision at its last firing."},
            },
            "required": ["id", "spec", "fired", "lastRevision"],
        },
        "FaultList": {
            "description": "Faults in force.",
            "type": "object",
            "properties": {"items": {"type": "array", "items": reference("InstalledFault")}},
            "required": ["items"],
        },
        "CatalogueEntry": catalogue_entry(),
        "KubernetesVersions": SCHEMAS["versions"],
        "UpgradeReport": SCHEMAS["upgrade"],
    })
}

/// Returns the schema of the `match` of a fault.
pub fn match_schema() -> Value {
    SCHEMAS["match"].clone()
}

/// Returns the schema of the `when` of a fault.
pub fn when_schema() -> Value {
    SCHEMAS["when"].clone()
}

/// Returns the schema of a fault: its name, with the parameters of all faults, and `match` and `when`.
fn fault() -> Value {
    let names: Vec<&str> = Fault::all().map(Fault::name).collect();
    let mut properties = Map::new();
    properties.insert(
        "fault".to_owned(),
        json!({"type": "string", "enum": names, "description": "The name of the fault."}),
    );
    for (fault, parameter, mut schema) in fault_parameters() {
        schema["description"] = format!(
            "{fault}: {}",
            schema["description"].as_str().unwrap_or_default()
        )
        .into();
        if let Some(merged) = properties.get_mut(&parameter) {
            merge(merged, &schema);
        } else {
            properties.insert(parameter, schema);
        }
    }
    properties.insert("match".to_owned(), reference("Match"));
    properties.insert("when".to_owned(), reference("When"));
    json!({
        "description": "A fault: its name, and beside it its parameters, which the catalogue lists.",
        "type": "object",
        "properties": properties,
        "required": ["fault"],
        "additionalProperties": false,
    })
}

/// Returns the parameters of all faults: fault, parameter, schema.
pub fn fault_parameters() -> Vec<(String, String, Value)> {
    let parameters = serde_json::from_value(SCHEMAS["parameters"].clone());
    parameters.expect("a test writes the file")
}

/// Merges the schema of another fault's parameter with the same name.
fn merge(merged: &mut Value, other: &Value) {
    let text = |schema: &Value| {
        schema["description"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    merged["description"] = format!("{} {}", text(merged), text(other)).into();
    let values = merged.get_mut("enum").and_then(Value::as_array_mut);
    if let (Some(values), Some(others)) = (values, other["enum"].as_array()) {
        let new: Vec<Value> = others
            .iter()
            .filter(|other| !values.contains(other))
            .cloned()
            .collect();
        values.extend(new);
    }
    // Bounds that hold for one fault only are left for the server to check.
    if let Value::Object(fields) = merged {
        for bound in ["default", "minimum", "maximum"] {
            if fields.get(bound) != other.get(bound) {
                fields.remove(bound);
            }
        }
    }
}

fn catalogue_entry() -> Value {
    let text = |description| json!({"type": "string", "description": description});
    let properties = json!({
        "number": text("The number, `F1` and up. Several faults may share one."),
        "fault": text("The name."),
        "effect": text("The effect, in a paragraph."),
        "models": text("The situation that it models, in a line."),
        "suffered": text("Clients that suffered from it, or the kind of client that does."),
        "parameters": {"type": "array", "items": {"type": "string"}, "description": "The names of its parameters."},
        "needsTcp": {"type": "boolean", "description": "Whether the fault itself happens over TCP only."},
        "canBeHeld": {"type": "boolean", "description": "Whether a correct client can hold it."},
    });
    let names = properties.as_object().into_iter().flat_map(Map::keys);
    let required: Vec<&String> = names.collect();
    json!({
        "description": "What is known about a fault.",
        "type": "object",
        "properties": properties,
        "required": required,
    })
}

fn reference(schema: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{schema}")})
}

// === impl Operation ===

impl Operation {
    const fn new(
        method: &'static str,
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        answer: Content,
    ) -> Self {
        Self {
            method,
            path,
            id,
            summary,
            answer,
        }
    }

    fn document(&self) -> Value {
        let code = match (self.method, self.answer) {
            (_, Content::Nothing) => "204",
            ("post", _) if self.id == "installFaults" => "201",
            _ => "200",
        };
        let mut document = json!({
            "operationId": self.id,
            "summary": self.summary,
            "responses": {
                code: self.answer.document(),
                "default": {"description": "An error: a text, or a Status of the Kubernetes API."},
            },
        });
        if self.path.ends_with("{id}") {
            let schema = json!({"type": "integer"});
            document["parameters"] =
                json!([{"name": "id", "in": "path", "required": true, "schema": schema}]);
        }
        if let Some(schema) = self.body() {
            document["requestBody"] =
                json!({"required": true, "content": {"application/json": {"schema": schema}}});
        }
        document
    }

    /// Returns the schema of what a client sends.
    fn body(&self) -> Option<Value> {
        match self.id {
            "installFaults" => {
                let fault = reference("Fault");
                Some(json!({"oneOf": [fault, {"type": "array", "items": fault}]}))
            }
            "upgrade" => Some(json!({
                "type": "object",
                "properties": {"version": {"type": "string"}},
                "required": ["version"],
                "additionalProperties": false,
            })),
            _ => None,
        }
    }
}

// === impl Content ===

impl Content {
    fn document(self) -> Value {
        let json = |schema: Value| json!({"description": "OK", "content": {"application/json": {"schema": schema}}});
        match self {
            Self::Nothing => json!({"description": "Done"}),
            Self::Json(schema) => json(reference(schema)),
            Self::Array(schema) => json(json!({"type": "array", "items": reference(schema)})),
            Self::Lines => {
                let schema = json!({"type": "string"});
                json!({"description": "OK", "content": {"application/jsonl": {"schema": schema}}})
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{env, fs};

    use schemars::{JsonSchema, generate::SchemaSettings};

    use super::*;
    use crate::{
        faults::{Filter, Trigger},
        server::{control_version::ServedVersions, stats::Stats, upgrade::Upgrade},
    };

    #[test]
    fn the_schemas_are_those_of_the_types() {
        let derived = json!({
            "stats": schema_of::<Stats>("The counts of a server."),
            "match": schema_of::<Filter>(
                "The requests and watches that a fault affects; what is absent matches all.",
            ),
            "when": schema_of::<Trigger>(
                "The occasions at which a fault fires, all by default: requests, or frames of watches, that it matches and \
                 affects. Times are of the server's clock.",
            ),
            "parameters": fault_parameters(),
            "versions": schema_of::<ServedVersions>(
                "The release of Kubernetes that is served, and those that there are.",
            ),
            "upgrade": schema_of::<Upgrade>("A change of the version of Kubernetes."),
        });
        if env::var_os("REWRITE").is_some() {
            let file = concat!(env!("CARGO_MANIFEST_DIR"), "/data/control-schemas.json");
            fs::write(file, format!("{derived:#}\n")).unwrap();
        } else {
            assert_eq!(*SCHEMAS, derived, "set REWRITE=1 to write the file");
        }
    }

    /// Returns the parameters of all faults: fault, parameter, schema.
    fn fault_parameters() -> Vec<(String, String, Value)> {
        let faults = schema_of::<Fault>("");
        let variants = faults["oneOf"].as_array().into_iter().flatten();
        let of_variant = |variant: &Value| {
            let (fault, parameters) = variant["properties"].as_object()?.iter().next()?;
            let parameters = parameters["properties"].as_object()?.clone();
            Some((fault.clone(), parameters))
        };
        let each = variants.filter_map(of_variant);
        let each = each.flat_map(|(fault, parameters)| {
            let named = move |(name, schema)| (fault.clone(), name, schema);
            parameters.into_iter().map(named)
        });
        each.collect()
    }

    /// Returns the schema of a type, without references to others.
    fn schema_of<T: JsonSchema>(description: &str) -> Value {
        let mut settings = SchemaSettings::draft2020_12();
        settings.inline_subschemas = true;
        settings.meta_schema = None;
        let mut schema = settings
            .into_generator()
            .into_root_schema_for::<T>()
            .to_value();
        simplify(&mut schema);
        schema["description"] = description.into();
        schema
    }

    /// Converts a schema to the form that client generators support: choices of texts as an `enum`, no alternatives to null, and no
    /// links of Rust's documentation.
    fn simplify(schema: &mut Value) {
        match schema {
            Value::Array(items) => items.iter_mut().for_each(simplify),
            Value::Object(fields) => {
                fields.values_mut().for_each(simplify);
                if let Some(Value::Array(choices)) = fields.remove("anyOf") {
                    let choice = choices.into_iter().find(|choice| choice["type"] != "null");
                    if let Some(Value::Object(choice)) = choice {
                        let description = fields.remove("description");
                        fields.extend(choice);
                        fields.extend(description.map(|text| ("description".to_owned(), text)));
                    }
                }
                let choices = fields.get("oneOf").and_then(Value::as_array);
                if let Some(values) = choices.and_then(|choices| texts(choices)) {
                    fields.remove("oneOf");
                    fields.insert("type".to_owned(), "string".into());
                    fields.insert("enum".to_owned(), values);
                }
                // Formats and titles are those of Rust's types.
                fields.retain(|name, value| {
                    !(matches!(name.as_str(), "format" | "title") && value.is_string())
                });
                if let Some(Value::String(text)) = fields.get_mut("description") {
                    *text = text
                        .replace("[`", "`")
                        .replace("`]", "`")
                        .replace("`None`", "absent");
                }
            }
            _ => {}
        }
    }

    /// Returns the values of choices that are texts, all of them.
    fn texts(choices: &[Value]) -> Option<Value> {
        let values = choices.iter().map(|choice| choice.get("const").cloned());
        values.collect::<Option<Vec<Value>>>().map(Value::Array)
    }
}
