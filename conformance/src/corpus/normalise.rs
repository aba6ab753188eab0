//! Replaces the parts of an answer that differ from server to server: uids, versions, times, addresses.
//!
//! The recorded answers of a corpus are in this form. Unlike transcripts, its requests are independent of each other, so
//! that uids and versions need no numbers.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value, json};

use crate::golden::patterns::{ADDRESS, UID, VERSION_IN_TEXT, VERSION_OF_PRECONDITION, pattern};

static TIME: LazyLock<Regex> =
    pattern!(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| \+0000 UTC)");
static VERSION_IN_JSON: LazyLock<Regex> = pattern!(r#"(resourceVersion\\*"?:\\*")\d+"#);
static STORAGE_KEY: LazyLock<Regex> = pattern!(r"(current: |Code: 4, Key: )[^,]*");
static POINTER: LazyLock<Regex> = pattern!(r"0xc[0-9a-f]{8,}");
static SCHEME: LazyLock<Regex> = pattern!(r#"in scheme \\*"[^"]*""#);
static SINGLE_ADDRESS: LazyLock<Regex> = pattern!(r"^(?:[\d.]+\n?$|[0-9a-f:]+:)");
static ADDRESS_OF_LIST: LazyLock<Regex> = pattern!(r"^(?:[\d.]+\n?$|:)");
static GENERATED: LazyLock<Regex> = pattern!(r".{5}(\n?)$");
/// The time that requests have in them: an answer with it is exact.
const GIVEN_TIME: &str = "2026-01-01T00:00:00";
/// The first port that a server allocates.
const ALLOCATED_PORT_MIN: i64 = 30_000;
/// Fields of certificate requests that tell the requester.
const REQUESTER: [&str; 4] = ["username", "uid", "groups", "extra"];

/// Returns the comparable form of an answer.
pub fn normalised(answer: &Value) -> Value {
    walk(answer, "")
}

fn walk(value: &Value, key: &str) -> Value {
    match value {
        Value::Object(fields) => object(fields),
        Value::Array(items) => array(items, key),
        Value::String(text) => Value::String(self::text(text)),
        other => other.clone(),
    }
}

fn object(fields: &Map<String, Value>) -> Value {
    let is_request_for_certificate = fields.contains_key("signerName");
    let is_entry_of_manager = fields.contains_key("manager");
    let mut walked = Map::new();
    for (key, value) in fields {
        if is_request_for_certificate && REQUESTER.contains(&key.as_str()) {
            continue;
        }
        let walked_value = if is_entry_of_manager && key == "time" {
            json!("<time>")
        } else {
            replacement(key, value).unwrap_or_else(|| walk(value, key))
        };
        walked.insert(key.clone(), walked_value);
    }
    if walked.contains_key("generateName")
        && let Some(Value::String(name)) = walked.get("name")
    {
        let name = GENERATED.replace(name, "<gen>$1").into_owned();
        walked.insert("name".to_owned(), Value::String(name));
    }
    Value::Object(walked)
}

/// Returns the value in place of one that a server chooses.
fn replacement(key: &str, value: &Value) -> Option<Value> {
    let text = value.as_str();
    let is_text = |matches: &dyn Fn(&str) -> bool| text.is_some_and(matches);
    let is_replaced = match key {
        "clusterIP" => is_text(&|text| SINGLE_ADDRESS.is_match(text)),
        "clusterIPs" => return Some(value.as_array()?.iter().map(address).collect()),
        "nodePort" | "healthCheckNodePort" => is_allocated(value),
        "resourceVersion" => is_text(&is_number),
        "continue" => !is_empty(value),
        "retryAfterSeconds" => true,
        "token" => is_text(&|text| text.matches('.').count() == 2),
        _ => false,
    };
    let name = match key {
        "clusterIP" => "<ip>",
        "nodePort" | "healthCheckNodePort" => "<port>",
        "resourceVersion" => "<rv>",
        "continue" => "<continue>",
        "retryAfterSeconds" => "<secs>",
        _ => "<jwt>",
    };
    is_replaced.then(|| json!(name))
}

fn address(item: &Value) -> Value {
    let printed = match item {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if ADDRESS_OF_LIST.is_match(&printed) {
        json!("<ip>")
    } else {
        item.clone()
    }
}

fn is_allocated(port: &Value) -> bool {
    match port.as_i64() {
        Some(port) => port >= ALLOCATED_PORT_MIN,
        None => port.is_u64(),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

fn array(items: &[Value], key: &str) -> Value {
    let mut items = items.to_vec();
    let sort = |items: &mut Vec<Value>, fields: &[&str]| {
        items.sort_by_cached_key(|item| {
            let parts = fields.iter().map(|field| sorted_by(item, field));
            item.as_object().map(|_| parts.collect::<Vec<_>>())
        });
    };
    match key {
        "managedFields" => sort(
            &mut items,
            &["manager", "operation", "subresource", "apiVersion"],
        ),
        "causes" => sort(&mut items, &["field", "message"]),
        "columnDefinitions" => {
            for item in items.iter_mut().filter_map(Value::as_object_mut) {
                item.remove("description");
            }
        }
        _ => {}
    }
    items.iter().map(|item| walk(item, key)).collect()
}

fn sorted_by(item: &Value, field: &str) -> String {
    match &item[field] {
        Value::Null if item.get(field).is_none() => String::new(),
        Value::Null => "None".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn text(text: &str) -> String {
    let text = UID.replace_all(text, "<uid>");
    let text = if text.starts_with(GIVEN_TIME) {
        text
    } else {
        TIME.replace_all(&text, "<time>").into_owned().into()
    };
    let text = VERSION_IN_TEXT.replace_all(&text, "${1}<n>");
    let text = VERSION_OF_PRECONDITION.replace_all(&text, "${1} (<n>)");
    let text = VERSION_IN_JSON.replace_all(&text, "${1}<n>");
    let text = STORAGE_KEY.replace_all(&text, "${1}<n>");
    let text = ADDRESS.replace_all(&text, "<host>");
    let text = POINTER.replace_all(&text, "<ptr>");
    let text = SCHEME.replace_all(&text, "in scheme \"<scheme>\"");
    text.into_owned()
}
