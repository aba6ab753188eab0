//! Properties of every history of applies.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{AppliedObject, ApplyOptions, LATER, by, by_force, deployment};
use crate::{
    apply::owned::owned,
    managed_fields::{FieldSet, cut_unowned, described},
};

const MANAGERS: [&str; 3] = ["one", "two", "three"];

/// A deployment with fields of every kind of merging: maps, an atomic map, keyed lists in each other, a set, a leaf.
fn any_config() -> impl Strategy<Value = Value> {
    let names =
        |of: &'static [&'static str]| prop::sample::subsequence(of, 0..=of.len()).prop_shuffle();
    let value = "[0-2]";
    let env = names(&["A", "B", "C"]).prop_flat_map(move |names| {
        prop::collection::vec(value, names.len()).prop_map(move |values| -> Value {
            let pairs = names.iter().zip(values);
            pairs
                .map(|(name, value)| json!({"name": name, "value": value}))
                .collect()
        })
    });
    let container =
        (prop::option::of(value), env, prop::option::of(value)).prop_map(|(image, env, arg)| {
            let mut container = json!({"env": env});
            if let Some(image) = image {
                container["image"] = image.into();
            }
            if let Some(arg) = arg {
                container["args"] = json!([arg]);
            }
            container
        });
    let containers = names(&["a", "b", "c"]).prop_flat_map(move |names| {
        prop::collection::vec(container.clone(), names.len()).prop_map(move |containers| -> Value {
            let pairs = names.iter().zip(containers);
            pairs
                .map(|(name, mut container)| {
                    container["name"] = json!(name);
                    container
                })
                .collect()
        })
    });
    let labels = prop::collection::btree_map("[k-m]", value, 0..3);
    let finalizers = names(&["x.io/1", "x.io/2", "x.io/3"]);
    let selector = prop::option::of(prop::collection::btree_map("[k-m]", value, 1..3));
    (containers, labels, finalizers, selector).prop_map(
        |(containers, labels, finalizers, selector)| {
            let mut config = deployment(&containers);
            config["metadata"]["labels"] = json!(labels);
            config["metadata"]["finalizers"] = json!(finalizers);
            drop_empty(&mut config);
            if let Some(selector) = selector {
                config["spec"]["selector"] = json!({"matchLabels": selector});
            }
            config
        },
    )
}

/// Drops empty values: an object does not keep them, and each apply would set them again.
fn drop_empty(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(drop_empty);
            fields.retain(|_, value| *value != json!([]) && *value != json!({}));
        }
        Value::Array(items) => items.iter_mut().for_each(drop_empty),
        _ => {}
    }
}

fn any_history() -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    prop::collection::vec((prop::sample::select(&MANAGERS[..]), any_config()), 1..6)
}

/// Plays a history, by force.
fn played(history: &[(&str, Value)]) -> AppliedObject {
    let mut applied = AppliedObject::default();
    for (manager, config) in history {
        applied.apply(by_force(manager), config).unwrap();
    }
    applied
}

fn nothing() -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}})
}

/// Returns the fields of an object that a manager can own.
fn fields(object: &Value) -> FieldSet {
    let mut object = object.clone();
    object["metadata"]
        .as_object_mut()
        .unwrap()
        .remove("managedFields");
    let mut fields = owned(&object, described("apps/v1", "Deployment").schema);
    cut_unowned(&mut fields);
    fields
}

fn set_of(owners: &Value, manager: &str) -> FieldSet {
    FieldSet::from_value(&owners[manager]).unwrap_or_default()
}

/// Lists with keys in the order of their keys.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), sorted(value)))
            .collect(),
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(sorted).collect();
            items.sort_by_key(|item| item["name"].to_string() + &item.to_string());
            items.into()
        }
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_second_apply_changes_nothing(history in any_history()) {
        let mut applied = played(&history);
        let (manager, config) = history.last().unwrap();
        let before = applied.object.clone();
        let again = ApplyOptions { now: LATER, ..by(manager) };
        applied.apply(again, config).unwrap();
        prop_assert_eq!(applied.object, before);
    }

    #[test]
    fn every_field_has_an_owner(history in any_history()) {
        let applied = played(&history);
        let object = applied.object.as_ref().unwrap();
        let zero = fields(described("apps/v1", "Deployment").zero);
        let mut nobodys = fields(object);
        nobodys.subtract(&zero);
        let owners = applied.owners();
        for manager in MANAGERS {
            nobodys.subtract(&set_of(&owners, manager));
        }
        // A struct that every container prints, and that needs no owner.
        let left: Vec<String> = nobodys.printed();
        prop_assert!(left.iter().all(|path| path.ends_with(".resources")), "{:?}", left);
    }

    #[test]
    fn owned_fields_exist(history in any_history()) {
        let applied = played(&history);
        let present = fields(applied.object.as_ref().unwrap());
        let owners = applied.owners();
        for manager in MANAGERS {
            let mut gone = set_of(&owners, manager);
            gone.subtract(&present);
            prop_assert!(gone.is_empty(), "{manager}: {:?}", gone.printed());
        }
    }

    #[test]
    fn when_all_give_up_nothing_is_left(history in any_history()) {
        let mut applied = played(&history);
        for manager in MANAGERS {
            applied.apply(by(manager), &nothing()).unwrap();
        }
        let mut never = AppliedObject::default();
        never.apply(by("nobody"), &nothing()).unwrap();
        prop_assert_eq!(applied.object, never.object);
    }

    #[test]
    fn force_takes_changed_fields(history in any_history(), config in any_config()) {
        let mut applied = played(&history);
        let before = applied.clone();
        applied.apply(by_force("taker"), &config).unwrap();
        let owners = applied.owners();
        let mut wanted = fields(&config);
        wanted.subtract(&set_of(&owners, "taker"));
        prop_assert!(wanted.is_empty(), "{:?}", wanted.printed());
        // An apply without force is a conflict exactly if a manager loses a field that is still there.
        let present = fields(applied.object.as_ref().unwrap());
        let is_lost = MANAGERS.iter().any(|manager| {
            let mut lost = set_of(&before.owners(), manager);
            lost.subtract(&set_of(&owners, manager));
            !lost.intersection(&present).is_empty()
        });
        prop_assert_eq!(before.clone().apply(by("taker"), &config).is_err(), is_lost);
    }

    #[test]
    fn applies_without_a_field_in_common_commute(
        one in any_config(),
        two in any_config(),
    ) {
        let mut two = two;
        // Other names make them disjoint.
        let containers = two.pointer_mut("/spec/template/spec/containers");
        for container in containers.into_iter().flat_map(|list| list.as_array_mut().unwrap()) {
            container["name"] = json!(format!("{}-two", container["name"].as_str().unwrap()));
        }
        two["metadata"] = json!({"name": "d", "annotations": two["metadata"]["labels"]});
        two.pointer_mut("/spec").and_then(|spec| spec.as_object_mut()?.remove("selector"));
        let play = |configs: [(&str, &Value); 2]| {
            let mut applied = AppliedObject::default();
            for (manager, config) in configs {
                applied.apply(by(manager), config).unwrap();
            }
            applied
        };
        let there = play([("one", &one), ("two", &two)]);
        let back = play([("two", &two), ("one", &one)]);
        prop_assert_eq!(there.owners(), back.owners());
        let spec = |applied: &AppliedObject| sorted(&applied.object.as_ref().unwrap()["spec"]);
        prop_assert_eq!(spec(&there), spec(&back));
    }
}
