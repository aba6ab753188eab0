//! Changes of a custom object, one field at a time, drawn from the schema of its definition. Pure: whether a server takes them is
//! for the caller to ask.

use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use support::seed::Seed;

/// The depth to which fields are changed.
const DEPTH_MAX: usize = 6;

/// A change of one field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The path of the field from the object's root.
    pub path: Vec<String>,
    /// The value before; `None` if the field was absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Value>,
    /// The value after; `None` if the field is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Value>,
}

// === impl Change ===

impl Change {
    /// Returns the merge patch that makes the change, or takes it back.
    pub fn patch(&self, is_back: bool) -> Value {
        let value = if is_back { &self.from } else { &self.to };
        let mut patch = value.clone().unwrap_or_default();
        for name in self.path.iter().rev() {
            patch = json!({ name: patch });
        }
        patch
    }

    /// Returns `object` with the change.
    pub fn applied(&self, object: &Value) -> Value {
        let mut object = object.clone();
        let mut place = &mut object;
        let Some((last, parents)) = self.path.split_last() else {
            return object;
        };
        for name in parents {
            if !place[name].is_object() {
                place[name] = json!({});
            }
            place = &mut place[name];
        }
        match &self.to {
            Some(value) => place[last] = value.clone(),
            None => {
                if let Some(fields) = place.as_object_mut() {
                    fields.remove(last);
                }
            }
        }
        object
    }
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let display = |value: &Option<Value>| {
            value
                .as_ref()
                .map_or_else(|| "nothing".to_owned(), ToString::to_string)
        };
        let path = self.path.join(".");
        write!(
            f,
            "{path} from {} to {}",
            display(&self.from),
            display(&self.to)
        )
    }
}

/// Returns the changes of `object` by the schema of its definition, in an order that the seed determines.
pub(super) fn changes(object: &Value, definition: &Value, seed: Seed) -> Vec<Change> {
    let Some(schema) = schema_of(object, definition) else {
        return Vec::new();
    };
    let mut changes = Vec::new();
    let spec = (&schema["properties"]["spec"], &object["spec"]);
    let is_required = is_required(schema, "spec");
    walk(
        spec.0,
        spec.1,
        &["spec".to_owned()],
        is_required,
        &mut changes,
    );
    changes.shuffle(&mut seed.stream("survive-changes"));
    changes
}

/// Returns the schema of the object's version, if the definition is about its kind.
fn schema_of<'a>(object: &Value, definition: &'a Value) -> Option<&'a Value> {
    let spec = &definition["spec"];
    let (group, version) = object["apiVersion"].as_str()?.split_once('/')?;
    let is_same = spec["group"] == group && spec["names"]["kind"] == object["kind"];
    let mut versions = spec["versions"].as_array()?.iter();
    let found = versions.find(|served| served["name"] == version);
    found
        .filter(|_| is_same)
        .map(|found| &found["schema"]["openAPIV3Schema"])
}

fn is_required(schema: &Value, name: &str) -> bool {
    let required = schema["required"].as_array();
    required.is_some_and(|required| required.iter().any(|it| it == name))
}

fn walk(
    schema: &Value,
    value: &Value,
    path: &[String],
    is_required: bool,
    changes: &mut Vec<Change>,
) {
    let from = (!value.is_null()).then(|| value.clone());
    let mut add = |to: Option<Value>| {
        if to != from {
            changes.push(Change {
                path: path.to_vec(),
                from: from.clone(),
                to,
            });
        }
    };
    for other in others(schema, value) {
        add(Some(other));
    }
    if from.is_some() && !is_required && path.len() > 1 {
        add(None);
    }
    let Some(properties) = schema["properties"].as_object() else {
        return;
    };
    if path.len() >= DEPTH_MAX || from.is_none() {
        return;
    }
    for (name, schema_of_field) in properties {
        let mut path = path.to_vec();
        path.push(name.clone());
        let is_required = self::is_required(schema, name);
        walk(schema_of_field, &value[name], &path, is_required, changes);
    }
}

/// Returns other values that the schema seems to allow.
fn others(schema: &Value, value: &Value) -> Vec<Value> {
    if let Some(choices) = schema["enum"].as_array() {
        return choices.clone();
    }
    match schema["type"].as_str() {
        Some("boolean") => vec![json!(true), json!(false)],
        Some("integer") => integers(schema, value),
        Some("number") => {
            let now = value.as_f64().unwrap_or_default();
            vec![json!(now + 1.0), json!(now / 2.0)]
        }
        Some("string") if schema["pattern"].is_null() && schema["format"].is_null() => {
            let now = value.as_str().unwrap_or_default();
            vec![json!(format!("{now}-other"))]
        }
        Some("array") => match value.as_array() {
            Some(items) if items.len() > 1 => {
                vec![json!(items[1..]), json!(items[..items.len() - 1])]
            }
            _ => Vec::new(),
        },
        Some("object") if schema["additionalProperties"]["type"] == "string" => {
            let mut map = value.as_object().cloned().unwrap_or_default();
            map.insert("survive".to_owned(), json!("other"));
            vec![Value::Object(map)]
        }
        _ => Vec::new(),
    }
}

fn integers(schema: &Value, value: &Value) -> Vec<Value> {
    let (min, max) = (schema["minimum"].as_f64(), schema["maximum"].as_f64());
    let now = value.as_i64().unwrap_or_default();
    let mut found: Vec<i64> = vec![now + 1, now - 1, now * 2];
    #[expect(
        clippy::cast_possible_truncation,
        reason = "limits of integers are integers, and others are refused by the server"
    )]
    found.extend([min, max].into_iter().flatten().map(|limit| limit as i64));
    found.sort_unstable();
    found.dedup();
    #[expect(
        clippy::cast_precision_loss,
        reason = "it is compared with limits that are floating-point numbers themselves"
    )]
    found.retain(|it| {
        let it = *it as f64;
        min.is_none_or(|min| it >= min) && max.is_none_or(|max| it <= max) && it >= 0.0
    });
    found.into_iter().map(Value::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition() -> Value {
        let spec = json!({
            "type": "object",
            "required": ["image"],
            "properties": {
                "image": {"type": "string"},
                "replicas": {"type": "integer", "minimum": 1.0, "maximum": 10.0},
                "mode": {"type": "string", "enum": ["fast", "safe"]},
                "paused": {"type": "boolean"},
            },
        });
        let schema = json!({"type": "object", "properties": {"spec": spec}});
        let version = json!({"name": "v1", "schema": {"openAPIV3Schema": schema}});
        json!({"spec": {"group": "example.org", "names": {"kind": "Website"}, "versions": [version]}})
    }

    fn website() -> Value {
        json!({
            "apiVersion": "example.org/v1",
            "kind": "Website",
            "metadata": {"name": "shop"},
            "spec": {"image": "nginx", "replicas": 3, "mode": "fast"},
        })
    }

    #[test]
    fn fields_are_changed_one_at_a_time_within_their_schemas() {
        let mut texts: Vec<String> = changes(&website(), &definition(), Seed::new(1))
            .iter()
            .map(ToString::to_string)
            .collect();
        texts.sort();
        assert_eq!(
            texts,
            [
                "spec.image from \"nginx\" to \"nginx-other\"",
                "spec.mode from \"fast\" to \"safe\"",
                "spec.mode from \"fast\" to nothing",
                "spec.paused from nothing to false",
                "spec.paused from nothing to true",
                "spec.replicas from 3 to 1",
                "spec.replicas from 3 to 10",
                "spec.replicas from 3 to 2",
                "spec.replicas from 3 to 4",
                "spec.replicas from 3 to 6",
                "spec.replicas from 3 to nothing",
            ]
        );
    }

    #[test]
    fn a_change_is_a_patch_there_and_back() {
        let change = Change {
            path: vec!["spec".to_owned(), "mode".to_owned()],
            from: Some(json!("fast")),
            to: None,
        };
        assert_eq!(change.patch(false), json!({"spec": {"mode": null}}));
        assert_eq!(change.patch(true), json!({"spec": {"mode": "fast"}}));
        assert_eq!(change.applied(&website())["spec"]["mode"], Value::Null);
        let other = json!({"apiVersion": "example.org/v2", "kind": "Website"});
        assert_eq!(changes(&other, &definition(), Seed::new(1)), []);
    }
}
