//! Tests against records of a real server, and of the rules between managers.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{FieldSet, Manager, described, record_update};

const NOW: &str = "2026-01-01T00:00:00Z";
const LATER: &str = "2026-01-01T00:01:00Z";

fn writes(name: &str) -> Manager<'_> {
    Manager {
        name,
        api_version: "v1",
        subresource: "",
    }
}

fn config_map(data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "uid": "u"}, "data": data})
}

/// Applies writes in turn, each a manager and its value of `data`, and returns the owners of all fields.
fn owners(writes_of: &[(&str, Value)]) -> Value {
    let schema = described("v1", "ConfigMap");
    let mut before: Option<Value> = None;
    for (manager, data) in writes_of {
        let mut after = config_map(data);
        record_update(before.as_ref(), &mut after, schema, &writes(manager), NOW);
        before = Some(after);
    }
    let entries = before.unwrap()["metadata"]["managedFields"].take();
    entries
        .as_array()
        .into_iter()
        .flatten()
        .map(|entry| {
            (
                entry["manager"].as_str().unwrap().to_owned(),
                entry["fieldsV1"].clone(),
            )
        })
        .collect::<serde_json::Map<_, _>>()
        .into()
}

#[test]
fn a_creator_owns_the_fields_that_it_set() {
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "p", "namespace": "n", "generateName": "p-", "creationTimestamp": NOW,
            "labels": {"app": "x"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u1"}],
            "finalizers": ["example.com/f"],
        },
        "spec": {
            "restartPolicy": "Always",
            "securityContext": {},
            "containers": [{
                "name": "c", "image": "i", "resources": {},
                "ports": [{"containerPort": 80, "protocol": "TCP"}, {"containerPort": 81}],
                "args": ["a", "b"],
            }],
            "tolerations": [{"operator": "Exists"}],
        },
    });
    record_update(None, &mut pod, described("v1", "Pod"), &writes("m"), NOW);
    assert_eq!(
        pod["metadata"]["managedFields"],
        json!([{
            "manager": "m", "operation": "Update", "apiVersion": "v1", "time": NOW, "fieldsType": "FieldsV1",
            "fieldsV1": {
                "f:metadata": {
                    "f:generateName": {},
                    "f:labels": {".": {}, "f:app": {}},
                    "f:ownerReferences": {".": {}, "k:{\"uid\":\"u1\"}": {}},
                    "f:finalizers": {".": {}, "v:\"example.com/f\"": {}},
                },
                "f:spec": {
                    "f:restartPolicy": {},
                    "f:securityContext": {},
                    "f:containers": {"k:{\"name\":\"c\"}": {
                        ".": {}, "f:name": {}, "f:image": {}, "f:resources": {}, "f:args": {},
                        "f:ports": {
                            ".": {},
                            "k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {
                                ".": {}, "f:containerPort": {}, "f:protocol": {},
                            },
                            "k:{\"containerPort\":81,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}},
                        },
                    }},
                    "f:tolerations": {},
                },
            },
        }])
    );
}

#[test]
fn a_field_belongs_to_its_last_writer() {
    assert_eq!(
        owners(&[
            ("a", json!({"k": "1", "l": "1"})),
            ("b", json!({"k": "2", "l": "1"}))
        ]),
        json!({
            "a": {"f:data": {".": {}, "f:l": {}}},
            "b": {"f:data": {"f:k": {}}},
        })
    );
}

#[test]
fn a_removed_field_has_no_owner() {
    assert_eq!(
        owners(&[
            ("a", json!({"k": "1"})),
            ("b", json!({"k": "2", "l": "1"})),
            ("a", json!({"l": "1"}))
        ]),
        json!({"a": {"f:data": {}}, "b": {"f:data": {"f:l": {}}}})
    );
}

#[test]
fn a_manager_of_nothing_is_not_listed() {
    assert_eq!(
        owners(&[
            ("a", json!({"k": "1"})),
            ("b", json!({"k": "2"})),
            ("c", json!({"k": "3"}))
        ]),
        json!({"a": {"f:data": {}}, "c": {"f:data": {"f:k": {}}}})
    );
}

#[test]
fn an_object_without_managers_stays_without() {
    let mut after = config_map(&json!({"k": "1"}));
    let before =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "uid": "u"}});
    record_update(
        Some(&before),
        &mut after,
        described("v1", "ConfigMap"),
        &writes("m"),
        NOW,
    );
    assert_eq!(after["metadata"].get("managedFields"), None);
}

#[test]
fn a_write_that_changes_nothing_leaves_the_time() {
    let schema = described("v1", "ConfigMap");
    let mut first = config_map(&json!({"k": "1"}));
    record_update(None, &mut first, schema, &writes("m"), NOW);
    let mut again = config_map(&json!({"k": "1"}));
    record_update(Some(&first), &mut again, schema, &writes("m"), LATER);
    assert_eq!(again, first);
    let mut changed = config_map(&json!({"k": "2"}));
    record_update(Some(&first), &mut changed, schema, &writes("m"), LATER);
    assert_eq!(changed["metadata"]["managedFields"][0]["time"], LATER);
}

#[test]
fn a_client_may_forget_all_managers() {
    let schema = described("v1", "ConfigMap");
    let mut first = config_map(&json!({"k": "1"}));
    record_update(None, &mut first, schema, &writes("m"), NOW);
    let mut after = config_map(&json!({"k": "1"}));
    after["metadata"]["managedFields"] = json!([{}]);
    record_update(Some(&first), &mut after, schema, &writes("m"), LATER);
    assert_eq!(after["metadata"].get("managedFields"), None);
}

#[test]
fn the_oldest_of_many_managers_are_taken_together() {
    let names: Vec<String> = (0..14).map(|n| format!("m{n:02}")).collect();
    let mut data = serde_json::Map::new();
    let mut all = Vec::new();
    for name in &names {
        data.insert(name.clone(), "1".into());
        all.push((name.as_str(), Value::Object(data.clone())));
    }
    let owners = owners(&all);
    assert_eq!(owners.as_object().unwrap().len(), 10);
    assert_eq!(
        owners["ancient-changes"],
        json!({"f:data": {".": {}, "f:m00": {}, "f:m01": {}, "f:m02": {}, "f:m03": {}, "f:m04": {}}})
    );
}

#[test]
fn invalid_field_sets_are_rejected() {
    for bad in [
        json!(1),
        json!({"name": {}}),
        json!({"f:a": 1}),
        json!({"é": {}}),
    ] {
        assert_eq!(FieldSet::from_value(&bad), None, "{bad}");
    }
}

#[test]
fn a_scale_is_managed_if_the_replicas_are() {
    let scaled = |first: &Value| {
        let schema = described("apps/v1", "Deployment");
        let object = |spec: &Value| {
            json!({
                "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "uid": "u"}, "spec": spec,
            })
        };
        let mut before = object(first);
        let creator = Manager {
            api_version: "apps/v1",
            ..writes("creator")
        };
        record_update(None, &mut before, schema, &creator, NOW);
        let mut after = before.clone();
        after["spec"]["replicas"] = json!(3);
        let scaler = Manager {
            name: "scaler",
            api_version: "apps/v1",
            subresource: "scale",
        };
        record_update(Some(&before), &mut after, schema, &scaler, "");
        let entries = after["metadata"]["managedFields"].as_array().unwrap();
        let managers: Vec<String> = entries
            .iter()
            .map(|entry| entry["manager"].as_str().unwrap().to_owned())
            .collect();
        managers
    };
    assert_eq!(
        scaled(&json!({"paused": true, "replicas": 1})),
        ["scaler", "creator"]
    );
    assert_eq!(scaled(&json!({"paused": true})), ["creator"]);
}

#[test]
fn a_manager_of_a_version_that_the_kind_does_not_have_is_forgotten() {
    let schema = described("v1", "ConfigMap");
    let mut before = config_map(&json!({"a": "1"}));
    let gone = Manager {
        api_version: "v0",
        ..writes("old")
    };
    record_update(None, &mut before, schema, &gone, NOW);
    let mut after = config_map(&json!({"a": "1", "b": "1"}));
    after["metadata"]["managedFields"] = before["metadata"]["managedFields"].clone();
    record_update(Some(&before), &mut after, schema, &writes("new"), LATER);
    let entries = after["metadata"]["managedFields"].as_array().unwrap();
    let managers = entries.iter().map(|entry| &entry["manager"]);
    assert_eq!(managers.collect::<Vec<_>>(), ["new"]);
}

fn any_data() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-d]", "[0-2]", 0..4).prop_map(|data| json!(data))
}

proptest! {
    #[test]
    fn every_field_has_one_owner(
        writes in prop::collection::vec((prop::sample::select(vec!["a", "b", "c"]), any_data()), 1..8),
    ) {
        let owners = owners(&writes);
        let owners = owners.as_object().unwrap();
        let mut owned: Vec<&str> = owners
            .values()
            .flat_map(|fields| fields["f:data"].as_object().into_iter().flatten())
            .filter_map(|(field, _)| field.strip_prefix("f:"))
            .collect();
        owned.sort_unstable();
        let (_, last) = writes.last().unwrap();
        let present: Vec<&String> = last.as_object().unwrap().keys().collect();
        // An object that once had no owners never has any again.
        prop_assert!(owners.is_empty() || owned == present, "{owners:?}");
    }

    #[test]
    fn field_sets_survive_a_round_trip(paths in prop::collection::vec(prop::collection::vec("f:[ab]", 1..4), 0..6)) {
        let mut set = FieldSet::default();
        for path in &paths {
            set.insert(path);
        }
        prop_assert_eq!(FieldSet::from_value(&set.clone().into_value()), Some(set));
    }
}
