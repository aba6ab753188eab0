//! `RuntimeClass`: the class of a pod exists, adds its overhead, and restricts the nodes of the pod.

use fakeserver_kinds::{core::pod, formats::quantity, node::runtime_class};
use fakeserver_value::{edit::is_unset, status::Status};
use serde_json::{Map, Value, json};

use super::{find, items};
use crate::{
    store::Transaction,
    write::{Attempt, AttemptError, Write, chain::Step},
};

pub(in crate::write) const STEP: Step = Step::both("RuntimeClass", mutate, |write, attempt| {
    validate(write, attempt)
});

const OTHER_OVERHEAD: &str =
    "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
const OVERHEAD_WITHOUT_CLASS: &str =
    "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";

/// Gives a new pod the overhead, the node selector and the tolerations of its class.
fn mutate(write: &mut Write<'_>, attempt: &mut Attempt<'_, '_>) -> Result<(), AttemptError> {
    if !write.creates(&pod::KIND) || write.is_import() {
        return Ok(());
    }
    let Some(class) = class_of(write, attempt)? else {
        return Ok(());
    };
    let given = &write.new["spec"]["overhead"];
    let overhead = &class["overhead"]["podFixed"];
    if !class["overhead"].is_null() {
        if has_entries(given) && !is_same(given, overhead) {
            return Err(forbidden(write, OTHER_OVERHEAD).into());
        }
        write.new["spec"]["overhead"] = overhead.clone();
    }
    let scheduling = &class["scheduling"];
    if !scheduling.is_null() {
        let spec = &write.new["spec"];
        let selector = merged_selector(&spec["nodeSelector"], &scheduling["nodeSelector"])
            .map_err(|why| forbidden(write, &why))?;
        let tolerations = merged_tolerations(&spec["tolerations"], &scheduling["tolerations"]);
        let spec = &mut write.new["spec"];
        if !selector.is_empty() {
            spec["nodeSelector"] = json!(selector);
        }
        if !tolerations.is_empty() {
            spec["tolerations"] = json!(tolerations);
        }
    }
    Ok(())
}

/// Refuses a new pod with another overhead than that of its class.
fn validate(write: &Write<'_>, attempt: &Attempt<'_, '_>) -> Result<(), AttemptError> {
    if !write.creates(&pod::KIND) || write.is_import() {
        return Ok(());
    }
    let class = class_of(write, attempt)?;
    let given = &write.new["spec"]["overhead"];
    match class.map(|mut class| class["overhead"].take()) {
        Some(overhead) if !overhead.is_null() => {
            if !is_same(given, &overhead["podFixed"]) {
                return Err(forbidden(write, OTHER_OVERHEAD).into());
            }
        }
        _ if given.is_null() => {}
        _ => return Err(forbidden(write, OVERHEAD_WITHOUT_CLASS).into()),
    }
    Ok(())
}

/// Returns the class of a pod that names one.
fn class_of(write: &Write<'_>, tx: &Transaction<'_>) -> Result<Option<Value>, Status> {
    let Some(name) = write.new["spec"]["runtimeClassName"].as_str() else {
        return Ok(None);
    };
    let found = find(tx, &runtime_class::KIND, name);
    let why = || format!("pod rejected: RuntimeClass {name:?} not found");
    found.map(Some).ok_or_else(|| forbidden(write, &why()))
}

/// Returns both selectors together, or the key for which they want different values.
fn merged_selector(of_pod: &Value, of_class: &Value) -> Result<Map<String, Value>, String> {
    let mut merged = of_pod.as_object().cloned().unwrap_or_default();
    for (key, value) in of_class.as_object().into_iter().flatten() {
        let given = merged.entry(key).or_insert_with(|| value.clone());
        if given != value {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            return Err(format!(
                "conflict: runtimeClass.scheduling.nodeSelector[{key}] = {}; pod.spec.nodeSelector[{key}] = {}",
                text(value),
                text(given)
            ));
        }
    }
    Ok(merged)
}

/// Returns both lists of tolerations together, without those that another one covers.
fn merged_tolerations(of_pod: &Value, of_class: &Value) -> Vec<Value> {
    let all: Vec<&Value> = items(of_pod).chain(items(of_class)).collect();
    let mut merged: Vec<&Value> = Vec::new();
    for (place, toleration) in all.iter().copied().enumerate() {
        let is_covered = merged.iter().any(|kept| covers(kept, toleration))
            || all[place + 1..]
                .iter()
                .any(|later| *later != toleration && covers(later, toleration));
        if !is_covered {
            merged.push(toleration);
        }
    }
    merged.into_iter().cloned().collect()
}

/// Returns whether a toleration tolerates all that another one tolerates.
fn covers(wide: &Value, narrow: &Value) -> bool {
    let exists = wide["operator"] == "Exists";
    let is_same = |field: &str| text(wide, field) == text(narrow, field);
    let covers_key = is_same("key") || is_unset(&wide["key"]) && exists;
    let covers_effect = is_same("effect") || is_unset(&wide["effect"]);
    let seconds = |toleration: &Value| toleration["tolerationSeconds"].as_i64();
    let is_longer = match (text(wide, "effect"), seconds(wide)) {
        ("NoExecute", Some(limit)) => seconds(narrow).is_some_and(|narrow| narrow <= limit),
        _ => true,
    };
    let covers_value = match text(wide, "operator") {
        "" | "Equal" => narrow["operator"] == "Equal" && is_same("value"),
        _ => exists,
    };
    wide == narrow || covers_key && covers_effect && is_longer && covers_value
}

fn text<'a>(toleration: &'a Value, field: &str) -> &'a str {
    toleration[field].as_str().unwrap_or_default()
}

/// Returns whether two lists of resources have the same amounts.
fn is_same(left: &Value, right: &Value) -> bool {
    let count = |list: &Value| list.as_object().map_or(0, Map::len);
    let mut entries = left.as_object().into_iter().flatten();
    count(left) == count(right)
        && entries.all(|(name, amount)| {
            let other = right.get(name);
            other.is_some_and(|other| quantity(other) == quantity(amount))
        })
}

fn has_entries(list: &Value) -> bool {
    list.as_object().is_some_and(|list| !list.is_empty())
}

fn forbidden(write: &Write<'_>, why: &str) -> Status {
    Status::forbidden(write.named(), why, Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covered_tolerations_are_left_out() {
        let equal =
            |effect: &str| json!({"key": "k", "operator": "Equal", "value": "v", "effect": effect});
        let all = json!({"key": "k", "operator": "Exists"});
        let other = json!({"key": "l", "operator": "Exists"});
        let merged = merged_tolerations(
            &json!([equal("NoSchedule"), other]),
            &json!([all, equal("NoExecute"), other]),
        );
        assert_eq!(merged, [other, all]);
        let short = json!({"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5});
        let merged = merged_tolerations(&json!([equal("NoExecute")]), &json!([short]));
        assert_eq!(merged.len(), 2, "a limit covers nothing without one");
    }

    #[test]
    fn selectors_conflict_by_key() {
        let merged = merged_selector(&json!({"a": "1"}), &json!({"a": "1", "b": "2"}));
        assert_eq!(merged.map(Value::Object), Ok(json!({"a": "1", "b": "2"})));
        assert_eq!(
            merged_selector(&json!({"a": "1"}), &json!({"a": "2"})),
            Err("conflict: runtimeClass.scheduling.nodeSelector[a] = 2; pod.spec.nodeSelector[a] = 1".into())
        );
    }
}
