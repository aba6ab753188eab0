//! Documents of version 3: one for each group and version.

use fakeserver_kinds::registry::Registry;
use serde_json::{Map, Value, json};

use super::{
    definitions::{Definitions, Dialect},
    documents::{Subject, info, security_scheme},
    items::{path_item, responses, schema},
    operation_builder::paths,
    operations::Operation,
};

const DIALECT: Dialect = Dialect::V3;

/// The document about `subject`.
pub(super) fn document(registry: &Registry, subject: &Subject) -> Value {
    let (version, resources) = match subject {
        Subject::Version { group, version } => {
            let found = registry.version(group, version);
            let resources = found.map_or(&[][..], |found| &found.resources);
            (Some((group.as_str(), version.as_str())), resources)
        }
        _ => (None, &[][..]),
    };
    let is_custom = subject.is_custom(registry);
    let definitions = Definitions::new(
        registry.kubernetes(),
        DIALECT,
        version.filter(|_| !is_custom),
        resources.iter().map(|resource| &**resource),
    );
    let mut roots = Vec::new();
    let mut items = Map::new();
    let discovery = (!is_custom).then(|| subject.discovery());
    let of_resources = resources.iter().flat_map(|resource| paths(resource));
    for path in discovery.into_iter().chain(of_resources) {
        for operation in &path.operations {
            roots.extend(operation.definitions());
        }
        items.insert(path.template.clone(), path_item(DIALECT, &path));
    }
    let mut components = Map::new();
    if !roots.is_empty() {
        components.insert("schemas".to_owned(), definitions.closure(roots).into());
    }
    if !is_custom {
        components.insert("securitySchemes".to_owned(), security_scheme());
    }
    json!({
        "openapi": "3.0.0",
        "info": info(registry.kubernetes(), is_custom),
        "paths": items,
        "components": components,
    })
}

/// Writes the parts of an operation that only version 3 has.
pub(super) fn complete(item: &mut Value, operation: &Operation) {
    if let Some(body) = &operation.body {
        item["requestBody"] = json!({"content": content(Some(&body.definition), &body.consumes)});
        if body.is_required {
            item["requestBody"]["required"] = true.into();
        }
    }
    let answer = operation.answer.as_deref();
    item["responses"] = responses(operation, |response| {
        response["content"] = content(answer, &operation.produces);
    });
}

/// The same in each of `types`; without a definition, text.
fn content(definition: Option<&str>, types: &[&str]) -> Value {
    let schema = schema(DIALECT, definition);
    let types = types.iter();
    types
        .map(|name| ((*name).to_owned(), json!({"schema": schema})))
        .collect()
}
