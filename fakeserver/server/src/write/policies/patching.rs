//! Patches that expressions make: apply configurations and lists of JSON patch operations.

use fakeserver_cel::{ConstructedObject, Value as CelValue, as_constructed, to_json};
use fakeserver_value::{
    apply::merge,
    managed_fields::{KindDescription, check_typed},
    patch::apply_operation,
    schema::{ListType, Schema},
};
use serde_json::{Map, Value, json};

use super::typed_names::type_name_problems;

/// Applies the configuration that an expression has made to an object.
pub(super) fn apply_configuration(
    object: &Value,
    made: &CelValue,
    described: KindDescription<'_>,
) -> Result<Value, String> {
    let made =
        as_constructed(made).ok_or("unsupported return type from ApplyConfiguration expression")?;
    if let Some(why) = type_name_problems(made) {
        return Err(format!("type mismatch: {why}"));
    }
    let fields = made.fields.iter();
    let fields = fields.map(|(name, value)| Ok((name.clone(), to_json(value)?)));
    let fields: Map<String, Value> = fields.collect::<Result<_, String>>()?;
    let mut config = Value::Object(fields);
    for field in ["apiVersion", "kind"] {
        config[field] = object[field].clone();
    }
    let fails = |why: String| format!("error applying patch: {why}");
    check_typed(&config, described.schema).map_err(|why| {
        fails(format!(
            "failed to convert patch object to typed object: {why}"
        ))
    })?;
    let mut atomics = Vec::new();
    find_atomics("", &config, described.schema, &mut atomics);
    if !atomics.is_empty() {
        return Err(fails(format!(
            "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {}",
            atomics.join(", ")
        )));
    }
    Ok(merge(Some(object), Some(&config), described.schema))
}

/// Collects the paths of lists and maps that can only be set as a whole.
fn find_atomics(path: &str, value: &Value, schema: Option<Schema<'_>>, found: &mut Vec<String>) {
    let Some(schema) = schema else {
        return;
    };
    match value {
        Value::Object(fields) => {
            if schema.is_atomic_map() {
                found.push(path.to_owned());
            }
            for (name, value) in fields {
                find_atomics(&format!("{path}.{name}"), value, schema.field(name), found);
            }
        }
        Value::Array(items) => {
            if schema.list_type() == ListType::Atomic {
                found.push(path.to_owned());
            }
            for (index, item) in items.iter().enumerate() {
                find_atomics(&format!("{path}[{index}]"), item, schema.items(), found);
            }
        }
        _ => {}
    }
}

/// Applies the JSON patch of an expression to an object. A failed `test` leaves the object unchanged.
pub(super) fn apply_operations(object: &Value, made: &CelValue) -> Result<Value, String> {
    let CelValue::List(operations) = made else {
        return Err("type mismatch: JSONPatchType.expression should evaluate to array".to_owned());
    };
    let mut patched = object.clone();
    for operation in &**operations {
        let Some(operation) = as_constructed(operation) else {
            return Err(
                "type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch"
                    .to_owned(),
            );
        };
        let operation = as_json(operation)?;
        if member(&operation, "op") == "test" {
            if patched.pointer(member(&operation, "path")) != Some(&operation["value"]) {
                return Ok(object.clone());
            }
            continue;
        }
        apply_operation(&mut patched, &operation).map_err(|why| format!("JSON Patch: {why}"))?;
    }
    Ok(patched)
}

fn as_json(operation: &ConstructedObject) -> Result<Value, String> {
    let mut made = json!({});
    for (name, value) in &operation.fields {
        if let Some(why) = as_constructed(value).and_then(type_name_problems) {
            return Err(format!("type mismatch: {why}"));
        }
        made[name] = to_json(value).map_err(|why| {
            format!(
                "JSONPath valueExpression evaluated to a type that could not marshal to JSON: {why}"
            )
        })?;
    }
    Ok(made)
}

/// Returns a member of an operation.
fn member<'v>(operation: &'v Value, name: &str) -> &'v str {
    operation
        .get(name)
        .and_then(Value::as_str)
        .unwrap_or_default()
}
