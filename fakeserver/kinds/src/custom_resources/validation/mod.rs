//! Validation of a value by a schema, with findings in the words of the API.
//!
//! A real server has its validator from `kube-openapi`; upstream has the ratcheting around it in
//! `apiextensions-apiserver/pkg/apiserver/validation`.

mod alternatives;
pub(super) mod correlation;
pub(super) mod embedded;
mod formats;
mod list_types;
mod numbers;
mod outcome;
pub(super) mod scale;

use fakeserver_value::{
    go_text::{quote, type_name},
    pattern::compile,
    status::FieldError,
};
use fakeserver_versions::KubernetesVersion;
use serde_json::{Map, Value};

use self::{
    alternatives::check_alternatives,
    correlation::Correlation,
    numbers::check_number,
    outcome::{Outcome, ValueLocation},
};
pub(super) use self::{formats::is_recognized, list_types::list_type_errors};

/// Returns the errors of `object`, the root of a custom resource, by its `schema`; those of parts that `correlation`
/// says did not change are left out.
pub(super) fn validate(
    kubernetes: KubernetesVersion,
    object: &Value,
    schema: &Value,
    correlation: Option<Correlation<'_>>,
) -> Vec<FieldError> {
    let place = ValueLocation {
        kubernetes,
        base: "",
        name: "",
    };
    check_child(object, schema, place, correlation, None).into_errors()
}

/// Returns the errors of the value at `path` by its `schema`.
pub(super) fn validate_at(
    kubernetes: KubernetesVersion,
    value: &Value,
    schema: &Value,
    path: &str,
    correlation: Option<Correlation<'_>>,
) -> Vec<FieldError> {
    let place = ValueLocation {
        kubernetes,
        base: path,
        name: "",
    };
    check_child(value, schema, place, correlation, None).into_errors()
}

/// Checks a part with its own correlation. A part without one is checked with the correlation of the enclosing part: a real
/// server mistakes fields of that part for equally named fields of this one.
fn check_child(
    value: &Value,
    schema: &Value,
    place: ValueLocation<'_>,
    own: Option<Correlation<'_>>,
    around: Option<Correlation<'_>>,
) -> Outcome {
    let Some(own) = own else {
        return check(value, schema, place, around);
    };
    let mut outcome = check(value, schema, place, Some(own));
    // Checked first and forgiven after: alternatives are compared by how much of a part matched.
    if !outcome.is_valid() && own.is_unchanged() {
        outcome.forgive();
    }
    outcome
}

fn check(
    value: &Value,
    schema: &Value,
    place: ValueLocation<'_>,
    correlation: Option<Correlation<'_>>,
) -> Outcome {
    let mut outcome = Outcome::default();
    let has_type = !types(schema).is_empty() || !format(schema).is_empty();
    // For null only the type and the enum count.
    if value.is_null() {
        check_type(value, schema, place, &mut outcome);
        check_enum(value, schema, place, &mut outcome);
        return outcome;
    }
    if has_type {
        check_type(value, schema, place, &mut outcome);
        outcome.matches += 1;
    }
    // The order of these checks is that of a real server, and so is the order of the errors.
    outcome.merge(check_alternatives(value, schema, place, correlation));
    outcome.matches += 1;
    match value {
        Value::String(text) => {
            check_string(text, schema, place, &mut outcome);
            outcome.matches += 1;
            let format = format(schema);
            if formats::is_known(format) {
                if !formats::is_format(format, text) {
                    place.refuse_type(format, text, &mut outcome);
                }
                outcome.matches += 1;
            }
        }
        Value::Number(number) => {
            check_number(number, schema, place, &mut outcome);
            outcome.matches += 1;
        }
        Value::Array(items) => {
            check_array(items, schema, place, correlation, &mut outcome);
            outcome.matches += 2;
        }
        _ => {}
    }
    check_enum(value, schema, place, &mut outcome);
    outcome.matches += 1;
    if let Value::Object(fields) = value {
        check_object(fields, schema, place, correlation, &mut outcome);
        outcome.matches += 1;
    }
    outcome.matches += 1;
    outcome
}

/// Returns the types that a value may have.
fn types(schema: &Value) -> Vec<&str> {
    if schema["x-kubernetes-int-or-string"] == true {
        return vec!["integer", "string"];
    }
    schema["type"].as_str().into_iter().collect()
}

/// Returns the format of a schema; empty if custom resources do not support the format.
fn format(schema: &Value) -> &str {
    let format = schema["format"].as_str().unwrap_or_default();
    let types = types(schema);
    let ty = match types.as_slice() {
        [one] => one,
        _ => "",
    };
    if is_recognized(ty, format) {
        format
    } else {
        ""
    }
}

fn check_type(value: &Value, schema: &Value, place: ValueLocation<'_>, outcome: &mut Outcome) {
    let (types, format) = (types(schema), format(schema));
    if value.is_null() {
        if !types.is_empty() && schema["nullable"] != true {
            place.refuse_type(&types.join(","), "null", outcome);
        } else {
            outcome.matches += 1;
        }
        return;
    }
    let found = type_of(value);
    let is_integral = value.is_f64()
        && types.contains(&"integer")
        && value.as_f64().is_some_and(numbers::is_integral);
    let fits =
        types.contains(&found) || is_integral || (found == "integer" && types.contains(&"number"));
    let is_text_or_list = value.is_string() || value.is_array();
    let native = match value {
        Value::Number(_) => type_name(value),
        _ => "",
    };
    if !is_text_or_list && !format.is_empty() && !fits && native != format {
        return place.refuse_type(format, native, outcome);
    }
    let is_numeric = types.contains(&"number") || types.contains(&"integer");
    if (!is_numeric && !format.is_empty() && is_text_or_list) || fits {
        outcome.matches += 1;
    } else {
        place.refuse_type(&types.join(","), found, outcome);
    }
}

fn check_string(text: &str, schema: &Value, place: ValueLocation<'_>, outcome: &mut Outcome) {
    let length = text.chars().count() as u64;
    if let Some(max) = schema["maxLength"].as_i64()
        && i64::try_from(length).is_ok_and(|length| length > max)
    {
        let key = format!("{} in body should be at most {max} chars long", place.name);
        let max = usize::try_from(max).unwrap_or_default();
        outcome.add(key, FieldError::too_long(place.field(), max));
    } else if let Some(min) = schema["minLength"].as_u64()
        && length < min
    {
        let what = format!("should be at least {min} chars long");
        place.refuse(&quote(text), &what, outcome);
    } else if let Some(pattern) = schema["pattern"].as_str().filter(|text| !text.is_empty())
        && compile(pattern).is_ok_and(|pattern| !pattern.is_match(text))
    {
        place.refuse(&quote(text), &format!("should match '{pattern}'"), outcome);
    }
}

fn check_enum(value: &Value, schema: &Value, place: ValueLocation<'_>, outcome: &mut Outcome) {
    let Some(allowed) = schema["enum"].as_array().filter(|all| !all.is_empty()) else {
        return;
    };
    let equals = |other: &Value| match (value, other) {
        // `1` and `1.0` are equal here, though JSON keeps them apart.
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (one, other) => !other.is_null() && one == other,
    };
    if !allowed.iter().any(equals) {
        place.refuse_choice(value, allowed, outcome);
    }
}

fn check_array(
    items: &[Value],
    schema: &Value,
    place: ValueLocation<'_>,
    correlation: Option<Correlation<'_>>,
    outcome: &mut Outcome,
) {
    if schema["items"].is_object() {
        for (index, item) in items.iter().enumerate() {
            let name = format!("{}[{index}]", place.name);
            let own = correlation.and_then(|correlation| correlation.index(index));
            let place = ValueLocation {
                name: &name,
                ..place
            };
            outcome.merge(check_child(item, &schema["items"], place, own, correlation));
        }
    }
    let count = items.len() as u64;
    if let Some(min) = schema["minItems"].as_u64()
        && count < min
    {
        let what = format!("should have at least {min} items");
        place.refuse(&count.to_string(), &what, outcome);
    }
    if let Some(max) = schema["maxItems"].as_u64()
        && count > max
    {
        let key = format!("{} in body should have at most {max} items", place.name);
        outcome.add(key, FieldError::too_many(place.field(), count, max));
    }
}

fn check_object(
    fields: &Map<String, Value>,
    schema: &Value,
    place: ValueLocation<'_>,
    correlation: Option<Correlation<'_>>,
    outcome: &mut Outcome,
) {
    let count = fields.len() as u64;
    if let Some(min) = schema["minProperties"].as_u64()
        && count < min
    {
        let what = format!("should have at least {min} properties");
        place.refuse(&count.to_string(), &what, outcome);
    }
    if let Some(max) = schema["maxProperties"].as_u64()
        && count > max
    {
        let key = format!(
            "{} in body should have at most {max} properties",
            place.name
        );
        outcome.add(key, FieldError::too_many(place.field(), count, max));
    }
    let own = |name: &str| {
        // `kind` and `apiVersion` change with the version of the request, so that those of the whole object are not correlated.
        let is_type_meta = place.name.is_empty() && matches!(name, "kind" | "apiVersion");
        correlation
            .filter(|_| !is_type_meta)
            .and_then(|correlation| correlation.key(name))
    };
    let additional = &schema["additionalProperties"];
    let is_regular = |name: &str| schema["properties"].get(name).is_some();
    for (name, value) in fields {
        if is_regular(name) {
            continue;
        }
        if *additional == false {
            let message = format!("{}.{name} in body is a forbidden property", place.name);
            let error = FieldError::invalid_printed(place.field(), &quote(name), &message);
            outcome.add(message, error);
        } else if additional.is_object() {
            let path = format!("{}.{name}", place.name);
            let place = ValueLocation {
                name: &path,
                ..place
            };
            outcome.merge(check_child(
                value,
                additional,
                place,
                own(name),
                correlation,
            ));
        }
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = fields.get(name) {
            let path = below(place.name, name);
            let place = ValueLocation {
                name: &path,
                ..place
            };
            outcome.merge(check_child(value, property, place, own(name), correlation));
        }
    }
    check_required(fields, schema, place, outcome);
}

fn check_required(
    fields: &Map<String, Value>,
    schema: &Value,
    place: ValueLocation<'_>,
    outcome: &mut Outcome,
) {
    for name in schema["required"].as_array().into_iter().flatten() {
        let name = name.as_str().unwrap_or_default();
        if !fields.contains_key(name) {
            let path = format!("{}.{name}", place.name);
            let place = ValueLocation {
                name: &path,
                ..place
            };
            let key = format!("{path} in body is required");
            outcome.add(key, FieldError::required(place.field(), ""));
        }
    }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
