//! Configurations that are rejected, and their messages.

use serde_json::{Value, json};

use super::{AppliedObject, by, deployment};
use crate::{managed_fields::check_typed, read::text, schema::Schemas};

#[track_caller]
fn check(config: &Value, error: &str) {
    let found = AppliedObject::default().apply(by("m"), config).unwrap_err();
    assert_eq!(found.to_string(), error);
}

#[track_caller]
fn check_untyped(config: &Value, why: &str) {
    let name = text(&config["metadata"]["name"]);
    let (version, kind) = (&config["apiVersion"], &config["kind"]);
    let slash = if version == "v1" { "/" } else { "" };
    check(
        config,
        &format!(
            "failed to create typed patch object (/{name}; {slash}{}, Kind={}): {why}",
            version.as_str().unwrap(),
            kind.as_str().unwrap()
        ),
    );
}

#[test]
fn managers_are_the_servers() {
    check(
        &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "managedFields": []}}),
        "metadata.managedFields must be nil",
    );
    let silent = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "managedFields": null}});
    assert!(AppliedObject::default().apply(by("m"), &silent).is_ok());
}

#[test]
fn configurations_that_do_not_fit_the_schema() {
    let config_map = |rest: Value| {
        let mut config =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
        for (name, value) in rest.as_object().unwrap() {
            config[name] = value.clone();
        }
        config
    };
    for (rest, why) in [
        (json!({"bogus": 1}), ".bogus: field not declared in schema"),
        (json!({"data": "x"}), ".data: expected map, got &{x}"),
        (
            json!({"data": {"k": 1}}),
            ".data.k: expected string, got &value.valueUnstructured{Value:1}",
        ),
        (
            json!({"data": {"k": {"x": [true, null]}}}),
            ".data.k: expected string, got \
             &value.valueUnstructured{Value:map[string]interface {}{\"x\":[]interface {}{true, interface {}(nil)}}}",
        ),
        (
            json!({"immutable": "x"}),
            ".immutable: expected boolean, got &{x}",
        ),
        (
            json!({"data": {"k": 1}, "immutable": {"a": [1, "b"]}}),
            "errors:\n  .data.k: expected string, got &value.valueUnstructured{Value:1}\n  .immutable: expected \
             boolean, got &{map[a:[1 b]]}",
        ),
    ] {
        check_untyped(&config_map(rest), why);
    }
}

#[test]
fn items_with_equal_keys() {
    let at = ".spec.template.spec.containers";
    for (containers, why) in [
        (json!({}), format!("{at}: expected list, got &{{map[]}}")),
        (
            json!([{"name": "c"}, {"name": "c"}]),
            format!("{at}: duplicate entries for key [name=\"c\"]"),
        ),
        (
            json!(["c"]),
            format!("{at}: element 0: associative list with keys may not have non-map elements"),
        ),
        (
            json!([null]),
            format!("{at}: element 0: associative list with keys may not have a null element"),
        ),
        (
            json!([{"name": "c", "ports": [{"containerPort": "x"}]}]),
            format!(
                "{at}[name=\"c\"].ports[containerPort=\"x\",protocol=\"TCP\"].containerPort: expected numeric (int or \
                 float), got string"
            ),
        ),
        (
            json!([{"name": "c", "args": [1]}]),
            format!(
                "{at}[name=\"c\"].args[0]: expected string, got &value.valueUnstructured{{Value:1}}"
            ),
        ),
    ] {
        check_untyped(&deployment(&containers), &why);
    }
}

#[test]
fn fields_of_several_types() {
    let config = deployment(&json!([{
        "name": "c",
        "resources": {"limits": {"cpu": 1, "memory": "1Gi"}},
        "readinessProbe": {"httpGet": {"port": "http"}},
        "livenessProbe": {"httpGet": {"port": 80}},
    }]));
    assert!(AppliedObject::default().apply(by("m"), &config).is_ok());
}

#[test]
fn a_key_that_is_missing_and_has_no_default() {
    let (schemas, root) = Schemas::of_custom_resource(&json!({
        "type": "object",
        "properties": {"spec": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["id"],
            "items": {"type": "object", "properties": {"id": {"type": "string"}, "n": {"type": "integer"}}}}},
    }));
    let check =
        |spec: Value| check_typed(&json!({"kind": "W", "spec": spec}), Some(schemas.get(root)));
    assert_eq!(check(json!([{"id": "a"}, {"id": "b", "n": 1}])), Ok(()));
    assert_eq!(
        check(json!([{"id": "a"}, {"n": 1}])),
        Err(
            ".spec: element 1: associative list with keys has an element that omits all key fields [\"id\"] (and \
             doesn't have default values for any key fields)"
                .to_owned()
        )
    );
}

#[test]
fn items_of_a_set_are_scalars() {
    for (finalizer, why) in [
        (
            json!({}),
            "associative list without keys has an element that's a map type",
        ),
        (
            json!([]),
            "not supported: associative list with lists as elements",
        ),
        (
            json!(null),
            "associative list without keys has an element that's an explicit null",
        ),
    ] {
        let config = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "finalizers": [finalizer]},
        });
        check_untyped(&config, &format!(".metadata.finalizers: element 0: {why}"));
    }
}
