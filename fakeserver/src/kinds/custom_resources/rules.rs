//! The rules of a schema that are written in CEL: `x-kubernetes-validations`.

use kube_cel::{CompiledSchema, ErrorKind, Validator, compile_schema};
use serde_json::{Value, json};

use crate::value::status::FieldError;

/// The compiled rules of one schema.
#[derive(Debug)]
pub(super) struct Rules {
    compiled: Option<CompiledSchema>,
}

// === impl Rules ===

impl Rules {
    /// Compiles the rules of `schema`; one without any costs nothing later.
    pub(super) fn compile(schema: &Value) -> Self {
        Self {
            compiled: has_rules(schema).then(|| compile_schema(schema)),
        }
    }

    /// The rules that `object` breaks, given what it replaces.
    pub(super) fn errors(
        &self,
        schema: &Value,
        object: &Value,
        old: Option<&Value>,
    ) -> Vec<FieldError> {
        let Some(compiled) = &self.compiled else {
            return Vec::new();
        };
        let Err(errors) = Validator::new().validate_compiled(compiled, object, old) else {
            return Vec::new();
        };
        let mut found: Vec<FieldError> = errors
            .into_vec()
            .into_iter()
            .map(|error| field_error(schema, &error))
            .collect();
        // The evaluator walks properties in no order.
        found.sort_by(|a, b| (&a.field, &a.detail).cmp(&(&b.field, &b.detail)));
        found
    }
}

/// Returns the errors of the rules of `schema`, each with the path of the schema that has it.
pub(super) fn compilation_errors(schema: &Value, path: &str) -> Vec<(String, String)> {
    let mut errors = Vec::new();
    let compiled = compile_schema(&json!({
        "x-kubernetes-validations": schema["x-kubernetes-validations"]
    }));
    for (index, outcome) in compiled.validations.iter().enumerate() {
        if let Err(error) = outcome {
            let field = format!("{path}.x-kubernetes-validations[{index}].rule");
            errors.push((field, error.to_string()));
        }
    }
    errors
}

fn has_rules(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => {
            let own = members.get("x-kubernetes-validations");
            own.and_then(Value::as_array)
                .is_some_and(|rules| !rules.is_empty())
                || members.values().any(has_rules)
        }
        Value::Array(items) => items.iter().any(has_rules),
        _ => false,
    }
}

fn field_error(schema: &Value, error: &kube_cel::ValidationError) -> FieldError {
    let field = if error.field_path.is_empty() {
        "<nil>"
    } else {
        &error.field_path
    };
    let shown = json!(type_at(schema, &error.field_path));
    let message = match error.kind {
        ErrorKind::ValidationFailure => error.message.clone(),
        _ => format!("rule evaluation error: {}", error.message),
    };
    match error.reason.as_deref() {
        Some("FieldValueForbidden") => FieldError::forbidden(field, &message),
        Some("FieldValueRequired") => FieldError::required(field, &message),
        Some("FieldValueDuplicate") => FieldError::duplicate(field, &shown),
        _ => FieldError::invalid(field, &shown, &message),
    }
}

/// The type that the schema gives what stands at `path`, such as `spec.ports[0].name`: errors show it for the value.
fn type_at<'s>(schema: &'s Value, path: &str) -> &'s str {
    let mut schema = schema;
    for segment in path.split('.').filter(|segment| !segment.is_empty()) {
        let name = segment.split('[').next().unwrap_or_default();
        if !name.is_empty() {
            let property = &schema["properties"][name];
            schema = if property.is_null() {
                &schema["additionalProperties"]
            } else {
                property
            };
        }
        for _ in segment.matches('[') {
            let items = &schema["items"];
            schema = if items.is_null() {
                &schema["additionalProperties"]
            } else {
                items
            };
        }
    }
    schema["type"].as_str().unwrap_or("object")
}
