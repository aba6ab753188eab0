//! The document of version 2: all groups and versions in one.

use serde_json::{Map, Value, json};

use super::{
    definitions::{Definitions, Dialect},
    documents::{info, subjects},
    operations::{Operation, Path, paths},
    parameters::{PRETTY, Parameter},
};
use crate::kinds::{ResourceType, registry::Registry};

const DIALECT: Dialect = Dialect::V2;

/// The document of everything in `registry`.
pub(super) fn document(registry: &Registry) -> Value {
    let definitions = Definitions::new(DIALECT, resources(registry));
    let mut roots: Vec<String> = subjects(registry)
        .iter()
        .map(|subject| subject.definition().to_owned())
        .collect();
    let mut items = Map::new();
    for path in resources(registry).flat_map(paths) {
        for operation in &path.operations {
            roots.extend(operation.definitions());
        }
        items.insert(path.template.clone(), path_item(&path));
    }
    json!({
        "swagger": "2.0",
        "info": info(false),
        "paths": items,
        "definitions": definitions.closure(roots),
        "securityDefinitions": {"BearerToken": {
            "type": "apiKey",
            "name": "authorization",
            "in": "header",
            "description": "Bearer Token authentication",
        }},
        "security": [{"BearerToken": []}],
    })
}

fn resources(registry: &Registry) -> impl Iterator<Item = &ResourceType> {
    let versions = registry.groups().iter().flat_map(|group| &group.versions);
    versions
        .flat_map(|version| &version.resources)
        .map(|resource| &**resource)
}

fn path_item(path: &Path) -> Value {
    let variables = path.variables.iter().map(|(name, description)| {
        json!({
            "name": name,
            "in": "path",
            "description": description,
            "required": true,
            "type": "string",
            "uniqueItems": true,
        })
    });
    let parameters: Vec<Value> = variables.chain([query(&PRETTY)]).collect();
    let mut item = Map::new();
    item.insert("parameters".to_owned(), parameters.into());
    for operation in &path.operations {
        item.insert(operation.method.to_owned(), written(operation));
    }
    item.into()
}

fn written(operation: &Operation) -> Value {
    let kind = &operation.kind;
    let mut parameters = Vec::new();
    let mut consumes = vec!["*/*"];
    if let Some(body) = &operation.body {
        let mut parameter = json!({
            "name": "body",
            "in": "body",
            "schema": {"$ref": DIALECT.reference(&body.definition)},
        });
        if body.is_required {
            parameter["required"] = true.into();
        }
        parameters.push(parameter);
        if !body.consumes.is_empty() {
            consumes.clone_from(&body.consumes);
        }
    }
    parameters.extend(operation.query.iter().map(query));
    let mut written = json!({
        "tags": [operation.tag],
        "operationId": operation.id,
        "description": operation.description,
        "consumes": consumes,
        "produces": operation.produces,
        "schemes": ["https"],
        "responses": responses(operation),
        "x-kubernetes-action": operation.action,
        "x-kubernetes-group-version-kind": {
            "group": &*kind.group,
            "version": &*kind.version,
            "kind": &*kind.kind,
        },
    });
    if !parameters.is_empty() {
        written["parameters"] = parameters.into();
    }
    written
}

fn query(parameter: &Parameter) -> Value {
    json!({
        "name": parameter.name,
        "in": "query",
        "description": parameter.description,
        "type": parameter.ty,
        "uniqueItems": true,
    })
}

fn responses(operation: &Operation) -> Value {
    let schema = match &operation.answer {
        Some(name) => json!({"$ref": DIALECT.reference(name)}),
        None => json!({"type": "string"}),
    };
    let mut responses = Map::new();
    for (code, description) in operation.codes {
        let response = json!({"description": description, "schema": schema});
        responses.insert(code.to_string(), response);
    }
    responses.insert("401".to_owned(), json!({"description": "Unauthorized"}));
    responses.into()
}
