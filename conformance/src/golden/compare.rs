//! Differences between two normalised answers.

use std::{collections::BTreeSet, fmt};

use serde_json::Value;

/// A place where an answer differs from the recorded one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Difference {
    /// The path, as in `.body.items[0].metadata.name`.
    pub path: String,
    /// The value in the recorded answer; `None` if it has none.
    pub want: Option<Value>,
    /// The value in this answer; `None` if it has none.
    pub got: Option<Value>,
}

/// Lists where `got` differs from `want`, in order of the paths.
pub fn differences(want: &Value, got: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare(want, got, String::new(), &mut found);
    found
}

/// Removes the values at `path` (dotted; `*` is any key or index, a leading `**.` is any depth).
pub fn ignore(value: &mut Value, path: &str) {
    let parts: Vec<&str> = path.split('.').collect();
    remove(value, &parts);
}

// === impl Difference ===

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |value: &Option<Value>| shown(value.as_ref(), 200);
        write!(
            f,
            "{} want {} got {}",
            self.path,
            show(&self.want),
            show(&self.got)
        )
    }
}

/// Formats a value in at most `length_max` characters.
pub(crate) fn shown(value: Option<&Value>, length_max: usize) -> String {
    let Some(value) = value else {
        return "nothing".to_owned();
    };
    let text = value.to_string();
    match text.char_indices().nth(length_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn compare(want: &Value, got: &Value, path: String, found: &mut Vec<Difference>) {
    match (want, got) {
        (Value::Object(want), Value::Object(got)) => {
            let keys: BTreeSet<&String> = want.keys().chain(got.keys()).collect();
            for key in keys {
                let path = format!("{path}.{key}");
                match (want.get(key), got.get(key)) {
                    (Some(want), Some(got)) => compare(want, got, path, found),
                    (want, got) => found.push(Difference {
                        path,
                        want: want.cloned(),
                        got: got.cloned(),
                    }),
                }
            }
        }
        (Value::Array(want), Value::Array(got)) => {
            // One finding for the length; the items that both have are compared all the same.
            if want.len() != got.len() {
                found.push(Difference {
                    path: format!("{path}.len"),
                    want: Some(want.len().into()),
                    got: Some(got.len().into()),
                });
            }
            for (index, (want, got)) in want.iter().zip(got).enumerate() {
                compare(want, got, format!("{path}[{index}]"), found);
            }
        }
        (want, got) if is_same(want, got) => {}
        (want, got) => found.push(Difference {
            path,
            want: Some(want.clone()),
            got: Some(got.clone()),
        }),
    }
}

/// Compares two values that are not both objects or both arrays. Numbers are equal by value: 1 is 1.0.
fn is_same(want: &Value, got: &Value) -> bool {
    match (want, got) {
        (Value::Number(want), Value::Number(got)) => want == got || want.as_f64() == got.as_f64(),
        (want, got) => want == got,
    }
}

fn remove(value: &mut Value, parts: &[&str]) {
    let Some((first, rest)) = parts.split_first() else {
        return;
    };
    if *first == "**" {
        remove(value, rest);
        for child in children(value) {
            remove(child, parts);
        }
        return;
    }
    match value {
        Value::Array(items) => {
            let rest = if *first == "*" { rest } else { parts };
            for item in items {
                remove(item, rest);
            }
        }
        Value::Object(fields) => {
            let keys: Vec<String> = if *first == "*" {
                fields.keys().cloned().collect()
            } else {
                vec![(*first).to_owned()]
            };
            for key in keys {
                if rest.is_empty() {
                    fields.remove(&key);
                } else if let Some(child) = fields.get_mut(&key) {
                    remove(child, rest);
                }
            }
        }
        _ => {}
    }
}

fn children(value: &mut Value) -> Vec<&mut Value> {
    match value {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(fields) => fields.values_mut().collect(),
        _ => Vec::new(),
    }
}
