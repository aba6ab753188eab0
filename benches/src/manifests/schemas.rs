//! JSON schemas for kubeconform, of the types that a fake server publishes and of the definition in the set.

use std::{error::Error, fs, path::Path};

use fakeserver::{FakeServer, value::yaml};
use http::Request;
use serde_json::{Map, Value, json};

use crate::seeded::DEFINITION;

/// The name of the file of a kind, as kubeconform makes it.
pub(super) const TEMPLATE: &str = "{{.ResourceKind}}{{.KindSuffix}}.json";
/// The beginning of references in the document.
const DEFINITIONS: &str = "#/definitions/";
/// Types that take a number as well as a text.
const NUMBERS_OR_TEXTS: [&str; 2] = [
    "io.k8s.apimachinery.pkg.api.resource.Quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
];

/// Writes a schema for each kind into a folder: whole, and without fields that the type does not have.
pub(super) async fn write(folder: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    let server = FakeServer::builder().build();
    let request = Request::get("/openapi/v2").body(Vec::new())?;
    let document: Value = server.client().request(request).await?;
    let definitions = document["definitions"].as_object();
    let definitions = definitions.ok_or("the server publishes no types")?;
    for (name, definition) in definitions {
        let kinds = definition["x-kubernetes-group-version-kind"].as_array();
        for kind in kinds.into_iter().flatten() {
            let text = |field: &str| kind[field].as_str().unwrap_or_default();
            let schema = json!({"$ref": format!("{DEFINITIONS}{name}")});
            let schema = whole(definitions, &schema, &mut Vec::new());
            let file = file_name(text("group"), text("version"), text("kind"));
            fs::write(folder.join(file), schema.to_string())?;
        }
    }
    let definition = yaml::parse(DEFINITION.as_bytes())?;
    let spec = &definition["spec"];
    let version = &spec["versions"][0];
    let mut schema = version["schema"]["openAPIV3Schema"].clone();
    for field in ["apiVersion", "kind"] {
        schema["properties"][field] = json!({"type": "string"});
    }
    schema["properties"]["metadata"] = json!({});
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let file = file_name(
        &text(&spec["group"]),
        &text(&version["name"]),
        &text(&spec["names"]["kind"]),
    );
    let schema = whole(&Map::new(), &schema, &mut Vec::new());
    Ok(fs::write(folder.join(file), schema.to_string())?)
}

/// Returns the name of the file of a kind.
fn file_name(group: &str, version: &str, kind: &str) -> String {
    let group = group.split('.').next().filter(|group| !group.is_empty());
    let group = group.map_or_else(String::new, |group| format!("-{group}"));
    format!("{kind}{group}-{version}.json").to_lowercase()
}

/// Returns a schema in which references are followed, and that takes no other fields. A type within itself takes anything.
fn whole<'a>(
    definitions: &'a Map<String, Value>,
    schema: &'a Value,
    followed: &mut Vec<&'a str>,
) -> Value {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.strip_prefix(DEFINITIONS).unwrap_or(name);
        if NUMBERS_OR_TEXTS.contains(&name) {
            return json!({"type": ["string", "number", "null"]});
        }
        let target = definitions.get(name).filter(|_| !followed.contains(&name));
        let Some(target) = target else {
            return json!({});
        };
        followed.push(name);
        let whole = whole(definitions, target, followed);
        followed.pop();
        return whole;
    }
    let mut below = |schema: &'a Value| whole(definitions, schema, followed);
    let mut fields = Map::new();
    for field in ["enum", "minimum", "maximum", "pattern", "required"] {
        if let Some(value) = schema.get(field) {
            fields.insert(field.to_owned(), value.clone());
        }
    }
    if let Some(kind) = schema["type"].as_str() {
        fields.insert("type".to_owned(), json!([kind, "null"]));
    }
    if schema["x-kubernetes-int-or-string"] == true || schema["format"] == "int-or-string" {
        fields.insert("type".to_owned(), json!(["string", "integer", "null"]));
    }
    if let Some(properties) = schema["properties"].as_object() {
        let all = properties
            .iter()
            .map(|(name, schema)| (name.clone(), below(schema)));
        fields.insert("properties".to_owned(), all.collect::<Map<_, _>>().into());
        fields.insert("additionalProperties".to_owned(), false.into());
    } else if let Some(values) = schema.get("additionalProperties") {
        fields.insert("additionalProperties".to_owned(), below(values));
    }
    if let Some(items) = schema.get("items") {
        fields.insert("items".to_owned(), below(items));
    }
    fields.into()
}
