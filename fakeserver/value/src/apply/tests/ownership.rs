//! Ownership after an apply, and the removal of fields without an owner.

use serde_json::json;

use super::{AppliedObject, ApplyOptions, LATER, by, by_force, config_map, containers, deployment};
use crate::managed_fields::{Manager, described, record_update};

#[test]
fn an_applier_owns_leaves_and_items() {
    let mut applied = AppliedObject::default();
    let config = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "d", "labels": {"a": "b"}, "finalizers": ["example.com/f"]},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"a": "b"}},
            "strategy": {},
            "template": {"spec": {"containers": [{
                "name": "c", "args": ["x", "y"],
                "ports": [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}],
            }]}},
        },
    });
    applied.apply(by("m"), &config).unwrap();
    assert_eq!(
        applied.owners(),
        json!({"m": {
            "f:metadata": {
                "f:labels": {"f:a": {}},
                "f:finalizers": {"v:\"example.com/f\"": {}},
            },
            "f:spec": {
                "f:replicas": {},
                "f:selector": {},
                "f:strategy": {},
                "f:template": {"f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {
                    ".": {}, "f:name": {}, "f:args": {},
                    "f:ports": {
                        "k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}},
                        "k:{\"containerPort\":80,\"protocol\":\"UDP\"}": {
                            ".": {}, "f:containerPort": {}, "f:protocol": {},
                        },
                    },
                }}}},
            },
        }})
    );
}

#[test]
fn changing_fields_of_others_conflicts_unless_the_value_is_equal() {
    let mut applied = AppliedObject::default();
    applied
        .apply(by("one"), &config_map(&json!({"k": "1", "l": "1"})))
        .unwrap();
    applied
        .apply(by("two"), &config_map(&json!({"l": "1"})))
        .unwrap();
    let owners = json!({
        "one": {"f:data": {"f:k": {}, "f:l": {}}},
        "two": {"f:data": {"f:l": {}}},
    });
    assert_eq!(applied.owners(), owners);

    let wanted = config_map(&json!({"k": "2", "l": "2"}));
    let error = applied.clone().apply(by("two"), &wanted).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Apply failed with 2 conflicts: conflicts with \"one\":\n- .data.k\n- .data.l"
    );
    assert_eq!(applied.owners(), owners);

    let object = applied.apply(by_force("two"), &wanted).unwrap();
    assert_eq!(object["data"], json!({"k": "2", "l": "2"}));
    assert_eq!(
        applied.owners(),
        json!({"two": {"f:data": {"f:k": {}, "f:l": {}}}})
    );
}

#[test]
fn a_conflict_names_version_and_subresource() {
    let schema = described("v1", "ConfigMap");
    let mut object = config_map(&json!({"k": "1"}));
    let manager = Manager {
        name: "updater",
        api_version: "v1",
        subresource: "status",
    };
    object["metadata"]["uid"] = json!("u");
    record_update(None, &mut object, schema, &manager, LATER);
    let mut applied = AppliedObject {
        object: Some(object),
    };
    let error = applied
        .apply(by("one"), &config_map(&json!({"k": "2"})))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "Apply failed with 1 conflict: conflict with \"updater\" with subresource \"status\" using v1: .data.k"
    );
}

#[test]
fn fields_given_up_are_removed_unless_another_manager_owns_them() {
    let mut applied = AppliedObject::default();
    applied
        .apply(
            by("one"),
            &config_map(&json!({"k": "1", "l": "1", "m": "1"})),
        )
        .unwrap();
    applied
        .apply(by("two"), &config_map(&json!({"l": "1"})))
        .unwrap();
    let object = applied
        .apply(by("one"), &config_map(&json!({"m": "1"})))
        .unwrap();
    assert_eq!(object["data"], json!({"l": "1", "m": "1"}));
    applied.apply(by("one"), &config_map(&json!(null))).unwrap();
    let object = applied.apply(by("two"), &config_map(&json!(null))).unwrap();
    assert_eq!(object.get("data"), None);
}

#[test]
fn a_removed_item_takes_its_unowned_fields_along() {
    let mut applied = AppliedObject::default();
    let both = json!([{"name": "a", "image": "1"}, {"name": "b", "image": "1"}]);
    applied.apply(by("one"), &deployment(&both)).unwrap();
    // Like a default, this field is in the object without an owner.
    let object = applied.object.as_mut().unwrap();
    for at in [0, 1] {
        object["spec"]["template"]["spec"]["containers"][at]["imagePullPolicy"] = json!("Always");
    }
    let object = applied
        .apply(by("one"), &deployment(&json!([both[0]])))
        .unwrap();
    assert_eq!(
        *containers(object),
        json!([{"name": "a", "image": "1", "imagePullPolicy": "Always", "resources": {}}])
    );
}

#[test]
fn an_owned_item_keeps_its_unowned_fields() {
    let mut applied = AppliedObject::default();
    let both = json!([{"name": "a", "image": "1"}, {"name": "b", "image": "1"}]);
    applied.apply(by("one"), &deployment(&both)).unwrap();
    let env = json!([{"name": "b", "env": [{"name": "X", "value": "1"}]}]);
    applied.apply(by("two"), &deployment(&env)).unwrap();
    let object = applied.object.as_mut().unwrap();
    object["spec"]["template"]["spec"]["containers"][1]["imagePullPolicy"] = json!("Always");
    let object = applied
        .apply(by("one"), &deployment(&json!([both[0]])))
        .unwrap();
    assert_eq!(
        containers(object)[1],
        json!({
            "name": "b", "env": [{"name": "X", "value": "1"}], "imagePullPolicy": "Always", "resources": {},
        })
    );
}

#[test]
fn an_atomic_list_has_one_owner() {
    let mut applied = AppliedObject::default();
    let args = |args: &[&str]| deployment(&json!([{"name": "c", "args": args}]));
    applied.apply(by("one"), &args(&["a", "b"])).unwrap();
    let error = applied.clone().apply(by("two"), &args(&["a"])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Apply failed with 1 conflict: conflict with \"one\": .spec.template.spec.containers[name=\"c\"].args"
    );
    let object = applied.apply(by_force("two"), &args(&["a"])).unwrap();
    assert_eq!(containers(object)[0]["args"], json!(["a"]));
}

#[test]
fn a_set_has_an_owner_for_each_item() {
    let finalizers = |finalizers: &[&str]| {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a", "finalizers": finalizers},
        })
    };
    let mut applied = AppliedObject::default();
    applied
        .apply(by("one"), &finalizers(&["x.io/1", "x.io/2"]))
        .unwrap();
    let object = applied
        .apply(by("two"), &finalizers(&["x.io/2", "x.io/3"]))
        .unwrap();
    assert_eq!(
        object["metadata"]["finalizers"],
        json!(["x.io/1", "x.io/2", "x.io/3"])
    );
    let object = applied.apply(by("one"), &finalizers(&[])).unwrap();
    assert_eq!(
        object["metadata"]["finalizers"],
        json!(["x.io/2", "x.io/3"])
    );
}

#[test]
fn the_time_changes_with_the_object() {
    let mut applied = AppliedObject::default();
    let config = config_map(&json!({"k": "1"}));
    let later = |manager| ApplyOptions {
        now: LATER,
        ..by(manager)
    };
    let time = |applied: &AppliedObject, at: usize| {
        applied.object.as_ref().unwrap()["metadata"]["managedFields"][at]["time"].clone()
    };
    applied.apply(by("one"), &config).unwrap();
    let before = applied.object.clone();
    applied.apply(later("one"), &config).unwrap();
    assert_eq!(applied.object, before);
    // A manager that becomes the owner of an unchanged field changes nothing, and its entry has no time.
    applied.apply(later("two"), &config).unwrap();
    assert_eq!(time(&applied, 0), json!(null));
    let changed = config_map(&json!({"k": "1", "l": "1"}));
    applied.apply(later("one"), &changed).unwrap();
    assert_eq!(time(&applied, 1), LATER);
}

#[test]
fn each_subresource_is_applied_by_itself() {
    let status = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
        "status": {"replicas": 3},
    });
    let mut applied = AppliedObject::default();
    applied
        .apply(by("one"), &deployment(&json!([{"name": "c"}])))
        .unwrap();
    let how = ApplyOptions {
        subresource: "status",
        ..by("one")
    };
    let object = applied.apply(how, &status).unwrap();
    assert_eq!(containers(object)[0]["name"], "c");
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    let subresources: Vec<_> = entries.iter().map(|entry| &entry["subresource"]).collect();
    assert_eq!(subresources, [&json!(null), &json!("status")]);
    assert_eq!(
        entries[1]["fieldsV1"],
        json!({"f:status": {"f:replicas": {}}})
    );
}

#[test]
fn fields_before_the_first_apply_get_an_owner() {
    let mut object = config_map(&json!({"k": "1"}));
    object["metadata"]["uid"] = json!("u");
    let mut applied = AppliedObject {
        object: Some(object),
    };
    applied
        .apply(by("one"), &config_map(&json!({"l": "1"})))
        .unwrap();
    assert_eq!(
        applied.owners(),
        json!({
            "one": {"f:data": {"f:l": {}}},
            "before-first-apply*": {"f:data": {".": {}, "f:k": {}}},
        })
    );
}

#[test]
fn a_kind_without_a_schema_merges_by_the_shape_of_values() {
    let widget = |spec: serde_json::Value| {
        json!({
            "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": spec,
        })
    };
    let mut applied = AppliedObject::default();
    applied
        .apply(
            by("one"),
            &widget(json!({"a": {"x": 1}, "list": [{"name": "1"}]})),
        )
        .unwrap();
    let object = applied
        .apply(by("two"), &widget(json!({"a": {"y": 1}})))
        .unwrap();
    assert_eq!(
        object["spec"],
        json!({"a": {"x": 1, "y": 1}, "list": [{"name": "1"}]})
    );
    let error = applied
        .clone()
        .apply(by("two"), &widget(json!({"list": [{"name": "2"}]})))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "Apply failed with 1 conflict: conflict with \"one\": .spec.list"
    );
    assert_eq!(
        applied.owners()["one"],
        json!({"f:spec": {
            ".": {}, "f:a": {".": {}, "f:x": {}}, "f:list": {},
        }})
    );
}

#[test]
fn kubectl_takes_over_its_client_side_apply() {
    let applied_by_client = config_map(&json!({"k": "1"}));
    let mut object = config_map(&json!({"k": "1", "other": "1"}));
    object["metadata"]["uid"] = json!("u");
    object["metadata"]["annotations"] = json!({
        "kubectl.kubernetes.io/last-applied-configuration": applied_by_client.to_string(),
    });
    let manager = Manager {
        name: "kubectl-client-side-apply",
        api_version: "v1",
        subresource: "",
    };
    record_update(
        None,
        &mut object,
        described("v1", "ConfigMap"),
        &manager,
        LATER,
    );
    let live = AppliedObject {
        object: Some(object),
    };
    let wanted = config_map(&json!({"k": "2"}));
    // No other manager may change it.
    assert!(live.clone().apply(by("one"), &wanted).is_err());
    let other = config_map(&json!({"other": "2"}));
    assert_eq!(
        live.clone()
            .apply(by("kubectl"), &other)
            .unwrap_err()
            .to_string(),
        "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using v1: .data.other"
    );

    let mut applied = live;
    let object = applied.apply(by("kubectl"), &wanted).unwrap();
    assert_eq!(object["data"], json!({"k": "2", "other": "1"}));
    assert_eq!(
        object["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"],
        format!("{wanted}\n")
    );
}
