//! Strategic merge patch against Go's results, and against its own inverse.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{PatchError, merge_strategically};
use crate::schema::{Schema, arbitrary::arbitrary, schemas, types};

fn schema(kind: &str) -> Schema<'static> {
    let (_, _, kind_name) = KINDS
        .iter()
        .find(|(name, ..)| *name == kind)
        .expect("a kind of the table");
    let api_version = KINDS
        .iter()
        .find(|(name, ..)| *name == kind)
        .map(|(_, version, _)| *version)
        .unwrap();
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    schemas()
        .of_kind(group, version, kind_name)
        .expect("a built-in kind")
}

const KINDS: [(&str, &str, &str); 6] = [
    ("pod", "v1", "Pod"),
    ("deployment", "apps/v1", "Deployment"),
    ("service", "v1", "Service"),
    ("serviceaccount", "v1", "ServiceAccount"),
    ("node", "v1", "Node"),
    (
        "subjectaccessreview",
        "authorization.k8s.io/v1",
        "SubjectAccessReview",
    ),
];

/// Recorded from `kubectl 1.33 patch --local --type strategic`, which applies patches by apimachinery's own code.
#[test]
fn patches_agree_with_apimachinery() {
    let table: Value =
        serde_json::from_str(include_str!("../../tests/data/strategic.json")).unwrap();
    let cases = table["cases"].as_array().unwrap();
    assert!(cases.len() > 100);
    let mut wrong = Vec::new();
    for case in cases {
        let kind = case["of"].as_str().unwrap();
        let original = table["originals"][kind].clone();
        let result = merge_strategically(original, case["patch"].clone(), schema(kind));
        let found = result.map_err(|error| error.to_string().trim_end().to_owned());
        let expected = match case["error"].as_str() {
            Some(error) => Err(error.to_owned()),
            None => Ok(case["result"].clone()),
        };
        if found != expected {
            wrong.push(format!(
                "{kind} {}\n found    {found:?}\n expected {expected:?}",
                case["patch"]
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

#[test]
fn errors_are_answered_with_the_recorded_status() {
    let check = |patch: Value, code: u16| {
        let original = json!({"spec": {"containers": [{"name": "c"}]}});
        let error = merge_strategically(original, patch, schema("pod")).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
    };
    check(json!({"spec": {"$retainKeys": 1}}), 400);
    check(json!({"spec": {"$setElementOrder": []}}), 400);
    check(json!({"spec": {"$deleteFromPrimitiveList": []}}), 400);
    check(json!({"spec": {"containers": [{"image": "noname"}]}}), 500);
    check(json!([]), 500);
    let lists = merge_strategically(
        json!({"metadata": {"finalizers": [["a"]]}}),
        json!({"metadata": {"finalizers": ["b"]}}),
        schema("pod"),
    );
    assert_eq!(lists, Err(PatchError::ListOfLists));
    assert_eq!(PatchError::ListOfLists.code(), 422);
}

/// Computes the patch that leads from one object to another, as `kubectl apply` does.
fn diff(from: &Value, to: &Value, schema: Schema<'_>) -> Value {
    let (Value::Object(old), Value::Object(new)) = (from, to) else {
        return to.clone();
    };
    // What is no struct cannot be merged more than one level deep.
    if schema.properties().next().is_none() {
        let mut patch = new.clone();
        patch.insert("$patch".to_owned(), json!("replace"));
        return patch.into();
    }
    let mut patch = serde_json::Map::new();
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    for (key, value) in new
        .iter()
        .filter(|(key, value)| old.get(*key) != Some(*value))
    {
        let field = schema
            .property(key)
            .expect("values conform to their schema");
        match (old.get(key), value) {
            (Some(Value::Array(old)), Value::Array(new)) if field.patch_strategy().merge => {
                diff_lists(&mut patch, key, old, new, field);
            }
            (Some(old @ Value::Object(_)), Value::Object(_)) if !field.patch_strategy().replace => {
                let mut change = diff(old, value, field);
                if field.patch_strategy().retain_keys {
                    let keys: Vec<_> = value.as_object().unwrap().keys().cloned().collect();
                    change["$retainKeys"] = json!(keys);
                }
                patch.insert(key.clone(), change);
            }
            _ => {
                patch.insert(key.clone(), value.clone());
            }
        }
    }
    patch.into()
}

fn diff_lists(
    patch: &mut serde_json::Map<String, Value>,
    key: &str,
    old: &[Value],
    new: &[Value],
    field: Schema<'_>,
) {
    let mut changes = Vec::new();
    let Some(merge_key) = field.merge_key() else {
        let added = new.iter().filter(|item| !old.contains(item));
        let removed = old.iter().filter(|item| !new.contains(item));
        patch.insert(key.to_owned(), added.cloned().collect());
        patch.insert(
            format!("$deleteFromPrimitiveList/{key}"),
            removed.cloned().collect(),
        );
        patch.insert(format!("$setElementOrder/{key}"), new.into());
        return;
    };
    for item in new {
        match old.iter().find(|other| other[merge_key] == item[merge_key]) {
            Some(other) if other == item => {}
            Some(other) => {
                let mut change = diff(other, item, field.items().unwrap());
                change[merge_key] = item[merge_key].clone();
                changes.push(change);
            }
            None => changes.push(item.clone()),
        }
    }
    for item in old {
        if !new.iter().any(|other| other[merge_key] == item[merge_key]) {
            changes.push(json!({"$patch": "delete", merge_key: item[merge_key]}));
        }
    }
    patch.insert(key.to_owned(), changes.into());
    let order: Vec<_> = new
        .iter()
        .map(|item| json!({merge_key: item[merge_key]}))
        .collect();
    patch.insert(format!("$setElementOrder/{key}"), order.into());
}

/// Removes values that a patch cannot express: nulls, items without their key, repeated items.
fn tidy(value: Value, schema: Option<Schema<'_>>) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
            let fields = fields.map(|(key, value)| {
                let field = schema.and_then(|schema| schema.field(&key));
                (key, tidy(value, field))
            });
            Value::Object(fields.collect())
        }
        Value::Array(items) => {
            let mut kept: Vec<Value> = Vec::new();
            let strategy = schema.map(Schema::patch_strategy).unwrap_or_default();
            let merge_key = schema.and_then(Schema::merge_key);
            for item in items {
                let item = tidy(item, schema.and_then(Schema::items));
                let is_double = |other: &Value| match merge_key {
                    Some(key) => other[key] == item[key],
                    None => *other == item,
                };
                let has_key = merge_key.is_none_or(|key| item.get(key).is_some());
                if !strategy.merge || has_key && !kept.iter().any(is_double) {
                    kept.push(item);
                }
            }
            kept.into()
        }
        other => other,
    }
}

fn arbitrary_of(schema: Schema<'_>, seed: u64) -> Value {
    let id = types().find(schema.definition_name().unwrap()).unwrap();
    tidy(arbitrary(id, seed), Some(schema))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn the_patch_of_a_difference_makes_the_difference(seeds: (u64, u64)) {
        for (group, version, kind) in schemas().kinds() {
            let schema = schemas().of_kind(group, version, kind).unwrap();
            let (from, to) = (arbitrary_of(schema, seeds.0), arbitrary_of(schema, seeds.1));
            let patch = diff(&from, &to, schema);
            let merged = merge_strategically(from, patch.clone(), schema);
            prop_assert_eq!(merged, Ok(to), "{} {}", kind, patch);
        }
    }

    #[test]
    fn a_patch_of_nothing_changes_nothing(seed: u64) {
        for (group, version, kind) in schemas().kinds() {
            let schema = schemas().of_kind(group, version, kind).unwrap();
            let object = arbitrary_of(schema, seed);
            prop_assert_eq!(merge_strategically(object.clone(), json!({}), schema), Ok(object.clone()));
            let same = diff(&object, &object, schema);
            prop_assert_eq!(merge_strategically(object.clone(), same, schema), Ok(object));
        }
    }

    #[test]
    fn a_damaged_patch_is_applied_or_refused(seed: u64, patch_seed: u64, damage in 0..DAMAGES.len()) {
        for (group, version, kind) in schemas().kinds() {
            let schema = schemas().of_kind(group, version, kind).unwrap();
            let original = arbitrary_of(schema, seed);
            let patch = diff(&original, &arbitrary_of(schema, patch_seed), schema).to_string();
            let (from, to) = DAMAGES[damage];
            let patch = serde_json::from_str(&patch.replacen(from, to, 5)).unwrap();
            if let Err(error) = merge_strategically(original, patch, schema) {
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }
}

/// Replacements that damage a patch, which stays JSON.
const DAMAGES: [(&str, &str); 9] = [
    ("\"$patch\":", "\"$retainKeys\":"),
    ("\"name\":", "\"$patch\":"),
    ("$setElementOrder/", "$deleteFromPrimitiveList/"),
    ("$deleteFromPrimitiveList/", "$setElementOrder/"),
    ("\"delete\"", "null"),
    ("[{", "[null,{"),
    ("[{", "[[],{"),
    ("[{", "[{\"$patch\":\"replace\"},{"),
    ("\":{\"", "\":{\"$retainKeys\":[\"name\",1],\""),
];
