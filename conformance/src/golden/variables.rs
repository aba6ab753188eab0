//! What steps take out of answers, and later steps put into their requests.

use std::{collections::BTreeMap, sync::LazyLock};

use regex::{Captures, Regex};
use serde_json::Value;

static REFERENCE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\$\{([^}]+)\}").expect("the pattern is a constant"));

/// Values by name.
#[derive(Debug, Default)]
pub(super) struct Variables(BTreeMap<String, String>);

// === impl Variables ===

impl Variables {
    /// Takes what is wanted out of an answer; what is not there becomes a text that says so.
    pub(super) fn save(&mut self, wanted: &BTreeMap<String, String>, from: &Value) {
        for (variable, path) in wanted {
            let value = match dig(from, path) {
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
                None => "<none>".to_owned(),
            };
            self.0.insert(variable.clone(), value);
        }
    }

    /// Puts saved values in place of `${name}`, `${name+N}` and `${name-1}`.
    pub(super) fn fill(&self, text: &str) -> String {
        let filled = REFERENCE.replace_all(text, |found: &Captures<'_>| {
            let (name, offset) = match found[1].split_once('+') {
                Some((name, offset)) => (name, offset.parse().unwrap_or(0)),
                None => match found[1].strip_suffix("-1") {
                    Some(name) => (name, -1),
                    None => (&found[1], 0),
                },
            };
            match self.0.get(name) {
                None => format!("<unset:{name}>"),
                Some(value) if offset == 0 => value.clone(),
                // What a failed step did not save is no number; the difference shows where.
                Some(value) => match value.parse::<i64>() {
                    Ok(number) => (number + offset).to_string(),
                    Err(_) => value.clone(),
                },
            }
        });
        filled.into_owned()
    }

    /// A value with all its texts filled.
    pub(super) fn fill_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(items) => items.iter().map(|item| self.fill_value(item)).collect(),
            Value::Object(fields) => fields
                .iter()
                .map(|(key, value)| (self.fill(key), self.fill_value(value)))
                .collect(),
            other => other.clone(),
        }
    }
}

/// The value at a path like `items[0].metadata.name`.
fn dig<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split(['.', '[', ']'])
        .filter(|part| !part.is_empty())
        .try_fold(value, |value, part| match value {
            Value::Array(items) => items.get(part.parse::<usize>().ok()?),
            other => other.get(part),
        })
}
