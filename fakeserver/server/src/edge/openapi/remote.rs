//! The documents of other servers: what of them concerns one API, and how it is added to the documents of this server.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// The parts of a document of version 2 that others refer to, with the beginning of the references.
const SHARED: [(&str, &str); 2] = [
    ("definitions", "#/definitions/"),
    ("parameters", "#/parameters/"),
];

/// The part of a document of version 2 that is about one API: its paths, and everything that they refer to.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct RemoteSpec {
    paths: Map<String, Value>,
    /// Of each of [`SHARED`].
    shared: [Map<String, Value>; 2],
}

// === impl RemoteSpec ===

impl RemoteSpec {
    /// Takes the part below `path`, such as `/apis/g/v1`, out of a document.
    #[doc(alias = "FilterSpecByPaths")]
    pub(crate) fn of(document: &Value, path: &str) -> Self {
        let root = format!("{path}/");
        let all = document["paths"].as_object();
        let paths: Map<String, Value> = all
            .into_iter()
            .flatten()
            .filter(|(template, _)| template.starts_with(&root))
            .map(|(template, item)| (template.clone(), item.clone()))
            .collect();
        let mut spec = Self {
            paths: Map::new(),
            shared: [Map::new(), Map::new()],
        };
        let mut open: Vec<&Value> = Vec::new();
        let own = Value::Object(paths);
        open.push(&own);
        while let Some(value) = open.pop() {
            each_reference(value, &mut |reference| {
                for (number, (part, beginning)) in SHARED.iter().enumerate() {
                    if let Some(name) = reference.strip_prefix(beginning)
                        && let Some(found) = document[part].get(name)
                        && !spec.shared[number].contains_key(name)
                    {
                        spec.shared[number].insert(name.to_owned(), found.clone());
                        open.push(found);
                    }
                }
            });
        }
        if let Value::Object(paths) = own {
            spec.paths = paths;
        }
        spec
    }

    /// Adds it to `document`. Paths that are there stay; a definition that is there with another content gets another name.
    #[doc(alias = "MergeSpecsIgnorePathConflict")]
    pub(super) fn add_to(&self, document: &mut Value) {
        let mut renamed = BTreeMap::new();
        for ((part, beginning), own) in SHARED.iter().zip(&self.shared) {
            let there = &document[part];
            for (name, content) in own {
                let is_other = |name: &str| {
                    let definition = there.get(name);
                    definition.is_some_and(|definition| definition != content)
                };
                if !is_other(name) {
                    continue;
                }
                let mut number = 2;
                let free = loop {
                    let other = format!("{name}_v{number}");
                    if !is_other(&other) && !own.contains_key(&other) {
                        break other;
                    }
                    number += 1;
                };
                renamed.insert(format!("{beginning}{name}"), format!("{beginning}{free}"));
            }
        }
        for ((part, beginning), own) in SHARED.iter().zip(&self.shared) {
            if own.is_empty() {
                continue;
            }
            if document[part].is_null() {
                document[part] = json!({});
            }
            for (name, content) in own {
                let reference = format!("{beginning}{name}");
                let name = renamed.get(&reference).map_or(&**name, |reference| {
                    reference.strip_prefix(beginning).unwrap_or(reference)
                });
                document[part][name] = with_names(content, &renamed);
            }
        }
        for (template, item) in &self.paths {
            if document["paths"].get(template).is_none() {
                document["paths"][template] = with_names(item, &renamed);
            }
        }
    }
}

/// Returns the entry of the API at `path`, such as `/apis/g/v1`, in the index of an aggregated server.
pub(crate) fn index_entry(index: &Value, path: &str) -> Option<Value> {
    let name = path.trim_start_matches('/');
    let entry = index["paths"].get(name)?;
    entry["serverRelativeURL"].as_str()?;
    Some(entry.clone())
}

/// Calls `found` with each reference in `value`.
fn each_reference(value: &Value, found: &mut impl FnMut(&str)) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(reference)) = members.get("$ref") {
                    found(reference);
                }
                open.extend(members.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
}

/// Returns `value` with references to what has another name now.
fn with_names(value: &Value, renamed: &BTreeMap<String, String>) -> Value {
    let mut value = value.clone();
    let mut open = vec![&mut value];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                for (key, member) in members {
                    match member {
                        Value::String(reference) if key == "$ref" => {
                            if let Some(other) = renamed.get(reference) {
                                reference.clone_from(other);
                            }
                        }
                        member => open.push(member),
                    }
                }
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn theirs() -> Value {
        let refers = |name: &str| json!({"$ref": format!("#/definitions/{name}")});
        json!({
            "paths": {
                "/apis/g/v1/things": {
                    "get": {"responses": {"200": {"schema": refers("List")}}},
                    "parameters": [{"$ref": "#/parameters/limit"}],
                },
                "/apis/g/v2/things": {"get": {"schema": refers("Other")}},
                "/apis/other/v1/": {},
            },
            "definitions": {
                "List": {"items": refers("Thing"), "meta": refers("Meta")},
                "Thing": {"self": refers("Thing"), "text": {"$ref": {"type": "string"}}},
                "Meta": {"type": "object"},
                "Other": {},
            },
            "parameters": {"limit": {"in": "query"}, "unused": {}},
        })
    }

    #[test]
    fn only_referenced_definitions_of_an_api_are_merged() {
        let mut merged = json!({"paths": {}, "definitions": {}});
        RemoteSpec::of(&theirs(), "/apis/g/v1").add_to(&mut merged);
        let mut expected = theirs();
        for (part, name) in [
            ("paths", "/apis/g/v2/things"),
            ("paths", "/apis/other/v1/"),
            ("definitions", "Other"),
            ("parameters", "unused"),
        ] {
            expected[part].as_object_mut().unwrap().remove(name);
        }
        assert_eq!(merged, expected);
    }

    #[test]
    fn definitions_of_another_content_get_another_name() {
        let mut merged = json!({
            "paths": {"/apis/g/v1/things": "ours"},
            "definitions": {"Meta": {"type": "object"}, "Thing": {"ours": 1}, "Thing_v2": {"ours": 2}},
        });
        let spec = RemoteSpec::of(&theirs(), "/apis/g/v1");
        spec.add_to(&mut merged);
        assert_eq!(merged["paths"]["/apis/g/v1/things"], "ours");
        let definitions = &merged["definitions"];
        assert_eq!(definitions["Thing"], json!({"ours": 1}));
        assert_eq!(definitions["Thing_v2"], json!({"ours": 2}));
        let own = json!({"$ref": "#/definitions/Thing_v3"});
        assert_eq!(definitions["Thing_v3"]["self"], own);
        assert_eq!(definitions["List"]["items"], own);
        assert_eq!(
            definitions["List"]["meta"],
            json!({"$ref": "#/definitions/Meta"})
        );
        let mut same = theirs();
        spec.add_to(&mut same);
        assert_eq!(same, theirs(), "what is there with its content stays");
    }

    #[test]
    fn an_entry_of_an_index_is_that_of_the_api() {
        let entry = json!({"serverRelativeURL": "/openapi/v3/apis/g/v1?hash=1"});
        let index = json!({"paths": {"apis/g/v1": entry, "apis/g/v2": {"other": 1}}});
        assert_eq!(index_entry(&index, "/apis/g/v1"), Some(entry));
        assert_eq!(index_entry(&index, "/apis/g/v2"), None);
        assert_eq!(index_entry(&json!([]), "/apis/g/v1"), None);
    }
}
