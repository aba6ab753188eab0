use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::{
    api::core::v1::{Container, Pod, PodSpec},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::api::DynamicObject;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{DroppedFields, FieldPath};
use crate::serde_layer::{Layered, Rules};

fn path(text: &str) -> FieldPath {
    text.parse().unwrap()
}

fn joined(found: &[Arc<str>]) -> String {
    found.join(" ")
}

/// Both readers find `expected` in `value`.
#[track_caller]
fn check(text: &str, value: &Value, expected: &str) {
    let path = path(text);
    assert_eq!(joined(&path.values_of(value).unwrap()), expected);
    let json = serde_json::to_vec(value).unwrap();
    assert_eq!(joined(&path.values_in_json(&json).unwrap()), expected);
}

#[test]
fn a_path_leads_to_texts() {
    let object = json!({
        "metadata": {"labels": {"app.kubernetes.io/name": "web", "it's": "quoted", "*": "star"}},
        "spec": {
            "nodeName": "node-1",
            "replicas": 3,
            "ratio": -0.5,
            "paused": true,
            "none": null,
            "containers": [
                {"image": "a", "ports": [{"port": 80}, {"port": 81}]},
                {"image": "b"},
                {"image": null, "ports": []},
            ],
            "args": ["x", "y"],
            "nested": [["p"], ["q", "r"]],
        },
    });
    for (text, expected) in [
        (".spec.nodeName", "node-1"),
        ("{.spec.nodeName}", "node-1"),
        ("spec.nodeName", "node-1"),
        ("['spec'][\"nodeName\"]", "node-1"),
        (".spec.replicas", "3"),
        (".spec.ratio", "-0.5"),
        (".spec.paused", "true"),
        (".spec.none", ""),
        (".spec.absent", ""),
        (".spec", ""),
        (".spec.nodeName.more", ""),
        (".spec.nodeName[*]", ""),
        (".spec.containers.image", "a b"),
        (".spec.containers[*].image", "a b"),
        (".spec.containers.*.image", "a b"),
        (".spec.containers[*].ports[*].port", "80 81"),
        (".spec.args", "x y"),
        (".spec.args[*]", "x y"),
        (".spec.nested", "p q r"),
        (".spec.nested[*][*]", "p q r"),
        (".metadata.labels['app.kubernetes.io/name']", "web"),
        (r".metadata.labels.app\.kubernetes\.io/name", "web"),
        (r".metadata.labels['it\'s']", "quoted"),
        (".metadata.labels['*']", "star"),
        (r".metadata.labels.\*", "star"),
        (".metadata.labels[*]", "star web quoted"),
    ] {
        check(text, &object, expected);
    }
}

#[test]
fn errors_of_a_path_name_the_place() {
    for (text, expected) in [
        ("", "no field at byte 0"),
        ("{}", "no field at byte 1"),
        (".", "no name after a dot at byte 1"),
        (".spec..nodeName", "no name after a dot at byte 6"),
        (".spec.", "no name after a dot at byte 6"),
        ("{.spec", "a brace that is not closed at byte 6"),
        (".spec[0]", "neither [*] nor a quoted key at byte 6"),
        (".spec[", "neither [*] nor a quoted key at byte 6"),
        (".spec['a", "a quote that is not closed at byte 8"),
        (".spec['a'", "a bracket that is not closed at byte 9"),
        (".spec[*", "a bracket that is not closed at byte 7"),
        (".spec[*]x", "a step without a dot at byte 8"),
        (".spec\\", "nothing after a backslash at byte 6"),
        (".sp\"ec", "a character that needs a backslash at byte 3"),
    ] {
        let error = text.parse::<FieldPath>().unwrap_err();
        let expected = format!("cannot parse field path {text:?}: {expected}");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn a_path_is_printed_as_it_can_be_read() {
    for (text, expected) in [
        ("{spec.nodeName}", ".spec.nodeName"),
        ("a.*['b.c'].d", ".a[*]['b.c'].d"),
        (r"a['it\'s\\'][*]", r".a['it\'s\\'][*]"),
        (r".\*", ".['*']"),
    ] {
        let path = path(text);
        assert_eq!(path.to_string(), expected.replace(".['*']", "['*']"));
        assert_eq!(path.to_string().parse(), Ok(path));
    }
}

#[test]
fn types_of_the_api_are_read_as_their_json() {
    let container = |image: &str| Container {
        image: Some(image.into()),
        ..Container::default()
    };
    let pod = Pod {
        metadata: ObjectMeta {
            labels: Some(BTreeMap::from([("app".into(), "web".into())])),
            ..ObjectMeta::default()
        },
        spec: Some(PodSpec {
            node_name: Some("node-1".into()),
            containers: vec![container("a"), container("b")],
            host_network: Some(false),
            ..PodSpec::default()
        }),
        ..Pod::default()
    };
    let dynamic: DynamicObject =
        serde_json::from_value(serde_json::to_value(&pod).unwrap()).unwrap();
    for (text, expected) in [
        (".kind", "Pod"),
        (".spec.nodeName", "node-1"),
        (".spec.containers.image", "a b"),
        (".spec.hostNetwork", "false"),
        (".metadata.labels.app", "web"),
    ] {
        assert_eq!(joined(&path(text).values_of(&pod).unwrap()), expected);
        assert_eq!(joined(&path(text).values_of(&dynamic).unwrap()), expected);
    }
}

/// One of each form that serde knows.
#[derive(Serialize)]
enum Form {
    Unit,
    One(u8),
    Two(u8, u8),
    Named { a: i64 },
}

#[test]
fn every_form_of_serde_is_walked_as_its_json() {
    let forms = vec![
        Form::Unit,
        Form::One(1),
        Form::Two(2, 3),
        Form::Named { a: -4 },
    ];
    let value = (
        forms,
        Some('c'),
        (),
        BTreeMap::from([(1, "one"), (12, "twelve")]),
    );
    let json = serde_json::to_vec(&value).unwrap();
    for (text, expected) in [
        ("[*]", "Unit c"),
        ("One", "1"),
        ("Two", "2 3"),
        ("[*].Two[*]", "2 3"),
        ("Named.a", "-4"),
        ("Unit", ""),
        ("1", "one"),
        ("12", "twelve"),
        ("[*][*]", "Unit 1 one twelve"),
    ] {
        let path = path(text);
        let found = path.values_of(&value).unwrap();
        assert_eq!(
            found,
            path.values_in_json(&json).unwrap(),
            "both readers: {text}"
        );
        if text != "[*][*]" {
            assert_eq!(joined(&found), expected, "{text}");
        }
    }
}

/// Is only to be skipped.
struct Unreadable;

impl Serialize for Unreadable {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("not to be read"))
    }
}

#[test]
fn values_off_the_path_are_not_parsed() {
    #[derive(Serialize)]
    struct Holder {
        a: &'static str,
        b: Unreadable,
    }
    let holder = Holder {
        a: "x",
        b: Unreadable,
    };
    assert_eq!(joined(&path(".a").values_of(&holder).unwrap()), "x");
    let error = path(".b").values_of(&holder).unwrap_err();
    assert_eq!(error.to_string(), "cannot read the field: not to be read");
}

#[test]
fn invalid_json_is_an_error() {
    for json in [r#"{"a": "#, "", r#"{"a": 1} x"#] {
        assert!(path(".a").values_in_json(json.as_bytes()).is_err());
    }
}

// === Leaving out ===

fn pruned(value: &Value, paths: &[&str]) -> Value {
    let paths: Vec<_> = paths.iter().map(|text| path(text)).collect();
    let json = value.to_string();
    let mut json = serde_json::Deserializer::from_str(&json);
    let dropped = DroppedFields::new(&paths);
    let rules = Rules::new(None, &dropped);
    let from_json = Value::deserialize(Layered::new(&mut json, rules)).unwrap();
    json.end().unwrap();
    let from_value = Value::deserialize(Layered::new(value.clone(), rules)).unwrap();
    assert_eq!(from_json, from_value);
    from_json
}

#[test]
fn only_dropped_fields_are_missing() {
    let object = json!({
        "a": {"b": 1, "c": {"d": 2}},
        "list": [{"x": 1, "y": [1, 2]}, {"x": null}, 3],
        "dotted.key": "v",
    });
    for (paths, expected) in [
        (&[][..], object.clone()),
        (&[".absent", ".a.b.c"], object.clone()),
        (&[".a", ".list"], json!({"dotted.key": "v"})),
        (
            &[".a.b", ".a.c.d", "['dotted.key']", ".list.y"],
            json!({"a": {"c": {}}, "list": [{"x": 1}, {"x": null}, 3]}),
        ),
        (
            &[".a[*].d", ".list[*].x"],
            json!({"a": {"b": 1, "c": {}}, "list": [{"y": [1, 2]}, {}, 3], "dotted.key": "v"}),
        ),
        (
            &[".a[*]", ".list[*]"],
            json!({"a": {}, "list": [], "dotted.key": "v"}),
        ),
    ] {
        assert_eq!(pruned(&object, paths), expected, "{paths:?}");
    }
}

#[test]
fn types_of_the_api_are_decoded_without_what_is_dropped() {
    let json = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a", "managedFields": [{"manager": "x"}], "annotations": {"a/b": "1", "c": "2"}},
        "spec": {"nodeName": "node-1", "containers": [{"name": "x", "image": "y"}], "hostNetwork": null},
    });
    let paths = [
        ".metadata.managedFields",
        ".metadata.annotations['a/b']",
        ".spec.containers.image",
    ];
    let paths = paths.map(path);
    let dropped = DroppedFields::new(&paths);
    let rules = Rules::new(None, &dropped);
    let pod = Pod::deserialize(Layered::new(json.clone(), rules)).unwrap();
    let spec = pod.spec.unwrap();
    assert_eq!(pod.metadata.managed_fields, None);
    let annotations = BTreeMap::from([("c".to_owned(), "2".to_owned())]);
    assert_eq!(pod.metadata.annotations, Some(annotations));
    assert_eq!(
        (spec.node_name.as_deref(), spec.host_network),
        (Some("node-1"), None)
    );
    assert_eq!(
        (&*spec.containers[0].name, &spec.containers[0].image),
        ("x", &None)
    );
    let dynamic = DynamicObject::deserialize(Layered::new(json, rules)).unwrap();
    assert_eq!(dynamic.metadata, pod.metadata);
    assert_eq!(dynamic.data["spec"]["containers"], json!([{"name": "x"}]));
}

// === Against a model ===

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(Value::from(1.5)),
        "[xyz]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[abc.]", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// The names of a path's steps; `None` is `[*]`.
fn any_steps() -> impl Strategy<Value = Vec<Option<String>>> {
    let step = prop_oneof![3 => "[abc.]".prop_map(Some), 1 => Just(None)];
    prop::collection::vec(step, 1..4)
}

fn text_of(steps: &[Option<String>]) -> String {
    let texts = steps.iter().map(|step| match step {
        Some(name) => format!("['{name}']"),
        None => "[*]".to_owned(),
    });
    texts.collect()
}

fn found_in(value: &Value, steps: &[Option<String>], found: &mut Vec<String>) {
    match (value, steps) {
        (Value::Array(elements), [None, rest @ ..]) => {
            for own in elements {
                found_in(own, rest, found);
            }
        }
        (Value::Array(elements), _) => elements.iter().for_each(|own| found_in(own, steps, found)),
        (Value::Object(map), [None, rest @ ..]) => {
            map.values().for_each(|own| found_in(own, rest, found));
        }
        (Value::Object(map), [Some(name), rest @ ..]) => {
            map.get(name)
                .into_iter()
                .for_each(|own| found_in(own, rest, found));
        }
        (Value::String(text), []) => found.push(text.clone()),
        (Value::Bool(_) | Value::Number(_), []) => found.push(value.to_string()),
        _ => {}
    }
}

/// Removes what a path leads to; a list is walked where it is met.
fn remove_from(value: &mut Value, steps: &[Option<String>]) {
    let (step, rest) = steps.split_first().expect("a step");
    match (value, step) {
        (Value::Array(elements), None) if rest.is_empty() => elements.clear(),
        (Value::Array(elements), None) => {
            for own in elements {
                remove_from(own, rest);
            }
        }
        (Value::Array(elements), _) => elements.iter_mut().for_each(|own| remove_from(own, steps)),
        (Value::Object(map), None) if rest.is_empty() => map.clear(),
        (Value::Object(map), None) => map.values_mut().for_each(|own| remove_from(own, rest)),
        (Value::Object(map), Some(name)) if rest.is_empty() => drop(map.remove(name)),
        (Value::Object(map), Some(name)) => {
            map.get_mut(name)
                .into_iter()
                .for_each(|own| remove_from(own, rest));
        }
        _ => {}
    }
}

proptest! {
    /// For all values and paths: dropping fields equals removing them from the tree of values.
    #[test]
    fn leaving_out_equals_removing(value in any_value(), paths in prop::collection::vec(any_steps(), 0..3)) {
        let mut expected = value.clone();
        for steps in &paths {
            remove_from(&mut expected, steps);
        }
        let paths: Vec<_> = paths.iter().map(|steps| text_of(steps)).collect();
        let paths: Vec<_> = paths.iter().map(String::as_str).collect();
        prop_assert_eq!(pruned(&value, &paths), expected);
    }

    /// For all values and paths: both readers find what a walk over the tree of values finds.
    #[test]
    fn both_readers_equal_a_walk_over_values(value in any_value(), steps in any_steps()) {
        let path = path(&text_of(&steps));
        let mut expected = Vec::new();
        found_in(&value, &steps, &mut expected);
        let of_value = path.values_of(&value).unwrap();
        prop_assert!(of_value.iter().map(|text| &**text).eq(expected.iter().map(String::as_str)));
        let json = serde_json::to_vec(&value).unwrap();
        prop_assert_eq!(path.values_in_json(&json).unwrap(), of_value);
        prop_assert_eq!(path.to_string().parse::<FieldPath>().unwrap(), path);
    }
}
