//! Documents of version 3: one for each group and version.

use serde_json::{Map, Value, json};

use super::{
    definitions::{Definitions, Dialect},
    documents::{Subject, info},
    operations::{Body, Operation, Path, group_word, paths, tag, title},
    parameters::{PRETTY, Parameter},
};
use crate::kinds::registry::Registry;

const DIALECT: Dialect = Dialect::V3;

/// The formats of what is neither an object nor a list of objects.
const PLAIN: [&str; 3] = [
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
];

/// The document about `subject`.
pub(super) fn document(registry: &Registry, subject: &Subject) -> Value {
    let version = match subject {
        Subject::Version { group, version } => registry.version(group, version),
        _ => None,
    };
    let resources = version.map_or(&[][..], |version| &version.resources);
    let is_custom =
        resources.iter().all(|resource| resource.rules.is_custom()) && !resources.is_empty();
    let definitions = Definitions::new(DIALECT, resources.iter().map(|resource| &**resource));

    let mut roots = Vec::new();
    let mut items = Map::new();
    if !is_custom {
        let url = format!("/{}/", subject.path());
        items.insert(url, discovery(subject));
        roots.push(subject.definition().to_owned());
    }
    for path in resources.iter().flat_map(|resource| paths(resource)) {
        for operation in &path.operations {
            roots.extend(operation.definitions());
        }
        items.insert(path.template.clone(), path_item(&path));
    }
    json!({
        "openapi": "3.0.0",
        "info": info(is_custom),
        "paths": items,
        "components": {
            "schemas": definitions.closure(roots),
            "securitySchemes": {"BearerToken": {
                "type": "apiKey",
                "name": "authorization",
                "in": "header",
                "description": "Bearer Token authentication",
            }},
        },
    })
}

/// The path of a document of discovery.
fn discovery(subject: &Subject) -> Value {
    let (id, tag) = match subject {
        Subject::CoreVersions => ("getCoreAPIVersions".to_owned(), "core".to_owned()),
        Subject::Groups => ("getAPIVersions".to_owned(), "apis".to_owned()),
        Subject::Group(group) => {
            let word = group_word(group);
            (
                format!("get{word}APIGroup"),
                tag(group, "").trim_end_matches('_').to_owned(),
            )
        }
        Subject::Version { group, version } => (
            format!("get{}{}APIResources", group_word(group), title(version)),
            tag(group, version),
        ),
        Subject::ServerVersion => ("getCodeVersion".to_owned(), "version".to_owned()),
    };
    json!({"get": {
        "tags": [tag],
        "operationId": id,
        "description": "what is there",
        "responses": responses(&[(200, "OK")], Some(subject.definition()), &PLAIN),
    }})
}

fn path_item(path: &Path) -> Value {
    let variables = path.variables.iter().map(|(name, description)| {
        json!({
            "name": name,
            "in": "path",
            "description": description,
            "required": true,
            "schema": {"type": "string", "uniqueItems": true},
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
    let mut written = json!({
        "tags": [operation.tag],
        "operationId": operation.id,
        "description": operation.description,
        "responses": responses(operation.codes, operation.answer.as_deref(), &operation.produces),
        "x-kubernetes-action": operation.action,
        "x-kubernetes-group-version-kind": {
            "group": &*kind.group,
            "version": &*kind.version,
            "kind": &*kind.kind,
        },
    });
    if !operation.query.is_empty() {
        written["parameters"] = operation.query.iter().map(query).collect();
    }
    if let Some(body) = &operation.body {
        written["requestBody"] = request_body(body);
    }
    written
}

fn query(parameter: &Parameter) -> Value {
    json!({
        "name": parameter.name,
        "in": "query",
        "description": parameter.description,
        "schema": {"type": parameter.ty, "uniqueItems": true},
    })
}

fn request_body(body: &Body) -> Value {
    let types = if body.consumes.is_empty() {
        &["*/*"][..]
    } else {
        &body.consumes
    };
    let mut written = json!({"content": content(Some(&body.definition), types)});
    if body.is_required {
        written["required"] = true.into();
    }
    written
}

fn responses(codes: &[(u16, &str)], definition: Option<&str>, types: &[&str]) -> Value {
    let mut responses = Map::new();
    for (code, description) in codes {
        let response = json!({"description": description, "content": content(definition, types)});
        responses.insert(code.to_string(), response);
    }
    responses.insert("401".to_owned(), json!({"description": "Unauthorized"}));
    responses.into()
}

/// The same in each of `types`; without a definition, text.
fn content(definition: Option<&str>, types: &[&str]) -> Value {
    let schema = match definition {
        Some(name) => json!({"$ref": DIALECT.reference(name)}),
        None => json!({"type": "string"}),
    };
    let types = types.iter();
    types
        .map(|name| ((*name).to_owned(), json!({"schema": schema})))
        .collect()
}
