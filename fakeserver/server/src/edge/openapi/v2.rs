//! The document of version 2: all groups and versions in one.

use fakeserver_kinds::{ResourceType, registry::Registry};
use serde_json::{Map, Value, json};

use super::{
    definitions::{Definitions, Dialect},
    documents::{Subject, info, security_scheme, subjects},
    items::{path_item, responses, schema},
    operation_builder::paths,
    operations::Operation,
};

const DIALECT: Dialect = Dialect::V2;

/// The document of everything in `registry`.
pub(super) fn document(registry: &Registry) -> Value {
    let definitions = Definitions::new(registry.kubernetes(), DIALECT, None, resources(registry));
    let subjects = subjects(registry);
    let discovery = subjects
        .iter()
        .filter(|subject| !subject.is_custom(registry));
    let discovery = discovery.map(Subject::discovery);
    let mut roots = Vec::new();
    let mut items = Map::new();
    for path in discovery.chain(resources(registry).flat_map(paths)) {
        for operation in &path.operations {
            roots.extend(operation.definitions());
        }
        items.insert(path.template.clone(), path_item(DIALECT, &path));
    }
    json!({
        "swagger": "2.0",
        "info": info(registry.kubernetes(), false),
        "paths": items,
        "definitions": definitions.closure(roots),
        "securityDefinitions": security_scheme(),
        "security": [{"BearerToken": []}],
    })
}

/// Writes the parts of an operation that only version 2 has.
pub(super) fn complete(item: &mut Value, operation: &Operation) {
    let mut consumes = vec!["*/*"];
    if let Some(body) = &operation.body {
        let mut parameter = json!({
            "name": "body",
            "in": "body",
            "schema": schema(DIALECT, Some(&body.definition)),
        });
        if body.is_required {
            parameter["required"] = true.into();
        }
        match item["parameters"].as_array_mut() {
            Some(parameters) => parameters.insert(0, parameter),
            None => item["parameters"] = json!([parameter]),
        }
        consumes.clone_from(&body.consumes);
    }
    item["consumes"] = json!(consumes);
    item["produces"] = json!(operation.produces);
    item["schemes"] = json!(["https"]);
    let answer = operation.answer.as_deref();
    item["responses"] = responses(operation, |response| {
        response["schema"] = schema(DIALECT, answer);
    });
}

fn resources(registry: &Registry) -> impl Iterator<Item = &ResourceType> {
    let versions = registry.groups().iter().flat_map(|group| &group.versions);
    versions
        .flat_map(|version| &version.resources)
        .map(|resource| &**resource)
}
