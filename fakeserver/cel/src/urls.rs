//! Functions of URLs.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    interpreter::{EvaluationResult, Failure},
    value::{Key, Opaque, Value, downcast, list, map, string},
};
use fakeserver_value::go_url::GoUrl;

/// A URL as a value: a text that was read without an error.
#[derive(Clone, Debug)]
struct UrlValue(Arc<str>);

impl PartialEq for UrlValue {
    fn eq(&self, other: &Self) -> bool {
        GoUrl::parse(&self.0) == GoUrl::parse(&other.0)
    }
}

impl Opaque for UrlValue {
    fn type_name(&self) -> &'static str {
        "kubernetes.URL"
    }
}

/// Calls a function of URLs, if `name` is one for such operands.
pub(super) fn call(name: &str, operands: &[Value]) -> Option<EvaluationResult> {
    match (name, operands) {
        ("url", [Value::String(text)]) => Some(read(text)),
        ("isURL", [Value::String(text)]) => {
            Some(Ok(Value::Bool(GoUrl::parse_request(text).is_ok())))
        }
        (_, [value]) => part(name, &GoUrl::parse(&downcast::<UrlValue>(value)?.0).ok()?).map(Ok),
        _ => None,
    }
}

fn read(text: &Arc<str>) -> EvaluationResult {
    GoUrl::parse_request(text)
        .and_then(|_| GoUrl::parse(text))
        .map(|_| Value::Opaque(Arc::new(UrlValue(Arc::clone(text)))))
        .map_err(|why| {
            Failure::Error(format!(
                "URL parse error during conversion from string: parse {text:?}: {why}"
            ))
        })
}

fn part(name: &str, url: &GoUrl<'_>) -> Option<Value> {
    Some(match name {
        "getScheme" => string(&url.scheme),
        "getHost" => string(&url.decoded_host()),
        "getHostname" => string(&url.hostname()),
        "getPort" => string(url.port()),
        "getEscapedPath" => string(&url.escaped_path()),
        "getQuery" => {
            let mut values: BTreeMap<String, Vec<Value>> = BTreeMap::new();
            for (name, value) in url.query_pairs() {
                values.entry(name).or_default().push(string(&value));
            }
            let entries = values.into_iter();
            map(entries.map(|(name, values)| (Key::String(name.into()), list(values))))
        }
        _ => return None,
    })
}
