//! Paths as documents write them.

use serde_json::{Map, Value, json};

use super::{
    definitions::Dialect,
    operations::{Operation, Path},
    parameters::{Parameter, ParameterLocation},
    v2, v3,
};

/// Returns a path as `dialect` writes it. What all of its operations take, is written once.
pub(super) fn path_item(dialect: Dialect, path: &Path) -> Value {
    let common = path.common();
    let mut item = Map::new();
    if !common.is_empty() {
        item.insert("parameters".to_owned(), written(dialect, &common));
    }
    for operation in &path.operations {
        let own = operation.own(&common);
        item.insert(
            operation.method.to_owned(),
            self::operation(dialect, operation, &own),
        );
    }
    item.into()
}

fn operation(dialect: Dialect, operation: &Operation, own: &[&Parameter]) -> Value {
    let mut item = json!({
        "tags": [operation.tag],
        "operationId": operation.id,
        "description": operation.description,
    });
    if let Some((action, kind)) = &operation.subject {
        item["x-kubernetes-action"] = json!(action);
        item["x-kubernetes-group-version-kind"] = json!({
            "group": &*kind.group,
            "version": &*kind.version,
            "kind": &*kind.kind,
        });
    }
    if !own.is_empty() {
        item["parameters"] = written(dialect, own);
    }
    match dialect {
        Dialect::V2 => v2::complete(&mut item, operation),
        Dialect::V3 => v3::complete(&mut item, operation),
    }
    item
}

fn written(dialect: Dialect, parameters: &[&Parameter]) -> Value {
    let parameters = parameters.iter();
    parameters
        .map(|parameter| {
            let mut written = json!({
                "name": parameter.name,
                "in": match parameter.place {
                    ParameterLocation::Path => "path",
                    ParameterLocation::Query => "query",
                },
            });
            if !parameter.description.is_empty() {
                written["description"] = json!(parameter.description);
            }
            if parameter.place == ParameterLocation::Path {
                written["required"] = json!(true);
            }
            let schema = json!({"type": parameter.ty, "uniqueItems": true});
            match (dialect, schema) {
                (Dialect::V2, Value::Object(schema)) => {
                    written.as_object_mut().into_iter().for_each(|written| {
                        written.extend(schema.clone());
                    });
                }
                (_, schema) => written["schema"] = schema,
            }
            written
        })
        .collect()
}

/// Returns the responses of an operation: the successful ones, each completed by `with_content`, and 401.
pub(super) fn responses(operation: &Operation, with_content: impl Fn(&mut Value)) -> Value {
    let mut responses = Map::new();
    for (code, description) in operation.codes {
        let mut response = json!({"description": description});
        with_content(&mut response);
        responses.insert(code.to_string(), response);
    }
    responses.insert("401".to_owned(), json!({"description": "Unauthorized"}));
    responses.into()
}

/// Returns the schema of what a definition describes; without one, of text.
pub(super) fn schema(dialect: Dialect, definition: Option<&str>) -> Value {
    match definition {
        Some(name) => json!({"$ref": dialect.reference(name)}),
        None => json!({"type": "string"}),
    }
}
