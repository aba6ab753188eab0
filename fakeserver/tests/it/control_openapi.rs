//! The OpenAPI document of the control API against the control API.

use axum::body::Body;
use fakeserver::faults::{Fault, FaultSpec};
use serde_json::{Value, json};

use crate::support::Api;

async fn document(api: &Api) -> Value {
    api.get("/_control/openapi.json").await.ok()
}

/// Fails unless `value` is as `schema` says, as far as this document's schemas go.
fn check(document: &Value, schema: &Value, value: &Value, at: &str) {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = document.pointer(reference.trim_start_matches('#'));
        return check(document, target.expect(reference), value, at);
    }
    let is_named = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{at}: the type {other}"),
    };
    match &schema["type"] {
        Value::Array(names) => {
            let mut names = names.iter().filter_map(Value::as_str);
            assert!(names.any(is_named), "{at}: {value}");
        }
        name => assert!(is_named(name.as_str().expect(at)), "{at}: {value}"),
    }
    if let Some(values) = schema["enum"].as_array() {
        assert!(values.contains(value), "{at}: {value}");
    }
    let required = schema["required"].as_array().into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        assert!(value.get(name).is_some(), "{at}.{name}");
    }
    for item in value.as_array().into_iter().flatten() {
        check(document, &schema["items"], item, at);
    }
    for (name, field) in value.as_object().into_iter().flatten() {
        let within = match schema["properties"].get(name) {
            Some(within) => within,
            None => &schema["additionalProperties"],
        };
        check(document, within, field, &format!("{at}.{name}"));
    }
}

#[tokio::test]
async fn every_operation_answers_as_described() {
    let api = Api::new();
    let document = document(&api).await;
    let fault = json!([{"fault": "hang", "match": {"client": "other"}}]);
    let mut count = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            count += 1;
            // Other operations may have removed those that were there.
            let installed = api.post("/_control/faults", &fault).await.created();
            let path = path.replace("{id}", &installed["items"][0]["id"].to_string());
            let body = operation.get("requestBody");
            let sent = match operation["operationId"].as_str() {
                Some("upgrade") => json!({"version": "1.35"}).to_string(),
                _ => fault.to_string(),
            };
            let body = body.map_or_else(Body::empty, |_| Body::from(sent));
            let answer = api.send(&method.to_uppercase(), &path, &[], body).await;
            let code = answer.code.as_u16().to_string();
            let described = operation["responses"].get(&code);
            // There is no data file to save to.
            let Some(described) = described else {
                let is_expected = operation["operationId"] == "saveSnapshot" && code == "409";
                assert!(is_expected, "{method} {path}: {answer:?}");
                continue;
            };
            if let Some(schema) = described.pointer("/content/application~1json/schema") {
                check(&document, schema, &answer.json(), &path);
            }
        }
    }
    assert_eq!(count, 15);
}

#[tokio::test]
async fn every_fault_that_can_be_drawn_is_as_described() {
    let api = Api::new();
    let document = document(&api).await;
    let schema = &document["components"]["schemas"]["Fault"];
    for fault in Fault::all() {
        for seed in 0..50 {
            let spec = FaultSpec::new(fault.drawn(seed)).to_value();
            check(&document, schema, &spec, fault.name());
        }
        for parameter in fault.entry().parameters {
            let description = schema["properties"][parameter]["description"].as_str();
            let is_described = description.is_some_and(|text| text.contains(fault.name()));
            assert!(is_described, "{}: {parameter}", fault.name());
        }
    }
}
