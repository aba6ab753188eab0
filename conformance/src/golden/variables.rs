//! Variables: values that steps take out of answers, for the requests of later steps.

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
    /// Saves the wanted values of an answer; a missing one becomes a text that says so.
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

    /// Replaces `${name}`, `${name+N}` and `${name-1}` by saved values.
    pub(super) fn fill(&self, text: &str) -> String {
        replaced(text, |reference| Some(self.value(reference)))
    }

    /// Fills all texts of a value.
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

    /// Returns the value for `name`, `name+N` or `name-1`.
    fn value(&self, reference: &str) -> String {
        let (name, offset) = match reference.split_once('+') {
            Some((name, offset)) => (name, offset.parse().unwrap_or(0)),
            None => match reference.strip_suffix("-1") {
                Some(name) => (name, -1),
                None => (reference, 0),
            },
        };
        match self.0.get(name) {
            None => format!("<unset:{name}>"),
            Some(value) if offset == 0 => value.clone(),
            // The text in place of an unsaved value is no number; it shows up as a difference.
            Some(value) => match value.parse::<i64>() {
                Ok(number) => (number + offset).to_string(),
                Err(_) => value.clone(),
            },
        }
    }
}

/// Replaces each `${reference}` by its value; a reference without one stays.
pub(crate) fn replaced(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let replaced = REFERENCE.replace_all(text, |found: &Captures<'_>| {
        value(&found[1]).unwrap_or_else(|| found[0].to_owned())
    });
    replaced.into_owned()
}

/// Finds the value at a path like `items[0].metadata.name`.
fn dig<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split(['.', '[', ']'])
        .filter(|part| !part.is_empty())
        .try_fold(value, |value, part| match value {
            Value::Array(items) => items.get(part.parse::<usize>().ok()?),
            other => other.get(part),
        })
}
