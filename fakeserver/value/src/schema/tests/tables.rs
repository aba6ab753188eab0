//! The two tables, and the schemas of custom resources.

use serde_json::json;

use crate::schema::{ListType, Schemas, prune, schemas, type_of_kind, types, unknown_fields};

#[test]
fn the_kinds_that_all_groups_share_are_found_in_each() {
    for (group, version) in [("", "v1"), ("policy", "v1"), ("meta.k8s.io", "v1")] {
        let id = type_of_kind(group, version, "DeleteOptions").unwrap();
        assert_eq!(types().get(id).go_name(), "DeleteOptions");
    }
    assert_eq!(type_of_kind("", "v1", "Widget"), None);
}

#[test]
fn schemas_have_the_merge_types_of_lists_and_maps() {
    let pod = schemas().of_kind("", "v1", "Pod").unwrap();
    let containers = pod
        .property("spec")
        .and_then(|spec| spec.property("containers"))
        .unwrap();
    assert_eq!(containers.list_type(), ListType::Map);
    assert_eq!(containers.list_map_keys(), ["name"]);
    assert_eq!(containers.merge_key(), Some("name"));
    assert!(containers.patch_strategy().merge);
    let container = containers.items().unwrap();
    assert_eq!(
        container.definition_name(),
        Some("io.k8s.api.core.v1.Container")
    );
    assert_eq!(container.required(), ["name"]);
    let ports = container.property("ports").unwrap();
    assert_eq!(ports.list_map_keys(), ["containerPort", "protocol"]);
    assert_eq!(ports.merge_key(), Some("containerPort"));
    let protocol = ports.items().unwrap().property("protocol").unwrap();
    assert_eq!(protocol.default(), Some(&json!("TCP")));
    assert_eq!(
        protocol.enum_values(),
        [json!("SCTP"), json!("TCP"), json!("UDP")]
    );
    assert!(
        pod.property("spec")
            .unwrap()
            .property("nodeSelector")
            .unwrap()
            .is_atomic_map()
    );
    assert!(
        pod.property("spec")
            .unwrap()
            .property("volumes")
            .unwrap()
            .patch_strategy()
            .retain_keys
    );
}

#[test]
fn every_kind_has_a_schema_and_a_type_that_agree() {
    for (group, version, kind) in schemas().kinds() {
        let schema = schemas().of_kind(group, version, kind).unwrap();
        let id = type_of_kind(group, version, kind).unwrap_or_else(|| panic!("{kind} has no type"));
        // An event of a watch stands in no envelope of its own.
        assert_eq!(
            types().get(id).has_type_meta,
            kind != "WatchEvent",
            "{kind}"
        );
        for field in types().json_fields(id) {
            assert!(
                schema.property(&field.name).is_some(),
                "{kind}.{}",
                field.name
            );
        }
    }
    for (name, schema) in schemas().definitions() {
        let Some(id) = types().find(name) else {
            assert_eq!(name, "io.k8s.apimachinery.pkg.version.Info");
            continue;
        };
        for (property, _) in schema.properties() {
            let is_meta =
                matches!(property, "kind" | "apiVersion") && types().get(id).has_type_meta;
            assert!(
                is_meta || types().field(id, property).is_some(),
                "{name}.{property}"
            );
        }
    }
}

#[test]
fn custom_resources_are_pruned_by_their_own_schema() {
    let (arena, root) = Schemas::of_custom_resource(&json!({
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": {
                "replicas": {"type": "integer", "default": 1},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "items": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}},
                "template": {"type": "object", "x-kubernetes-embedded-resource": true, "properties": {}},
            }},
        },
    }));
    let schema = arena.get(root);
    let mut object = json!({
        "apiVersion": "x/v1", "kind": "X", "metadata": {"name": "x"}, "status": {},
        "spec": {"replicas": 1, "bogus": 1, "free": {"y": 1}, "labels": {"q": "r"}, "items": [{"a": "", "b": 1}],
            "template": {"kind": "Y", "metadata": {}, "other": 1}},
    });
    assert_eq!(
        unknown_fields(&object["spec"], schema.property("spec").unwrap()),
        ["bogus", "items[0].b", "template.kind", "template.other"],
    );
    assert_eq!(
        prune(&mut object, schema, true),
        [
            "spec.bogus",
            "spec.items[0].b",
            "spec.template.other",
            "status"
        ]
    );
    assert_eq!(
        object,
        json!({
            "apiVersion": "x/v1", "kind": "X", "metadata": {"name": "x"},
            "spec": {"replicas": 1, "free": {"y": 1}, "labels": {"q": "r"}, "items": [{"a": ""}],
                "template": {"kind": "Y", "metadata": {}}},
        })
    );
    assert_eq!(prune(&mut object, schema, true), Vec::<String>::new());
    assert_eq!(
        schema
            .property("spec")
            .unwrap()
            .property("replicas")
            .unwrap()
            .default(),
        Some(&json!(1))
    );
}
