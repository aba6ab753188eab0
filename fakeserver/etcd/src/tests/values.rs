//! Values, both ways.

use fakeserver_value::{resource::GroupResource, revision::Revision, schema::TypeMeta};
use fakeserver_versions::KubernetesVersion;
use serde_json::{Value, json};

use super::golden::DATABASES;
use crate::{Database, Key, Layout, RecordContent, ValueError, decode, encode};

/// The values that are written otherwise than they were read, in the order of their keys, and why.
const EXPLAINED: [(&str, &str); 4] = [
    (
        "/registry/controllerrevisions/corpus/base-controllerrevision",
        "data of any form are kept as JSON here, and there as the text of the client, with its spaces",
    ),
    (
        "/registry/jobs/defaults/j",
        "labels are defaulted from the template when a job is read, and written with its next change",
    ),
    (
        "/registry/persistentvolumeclaims/corpus/base-pvc",
        "the phase is defaulted when a claim is read, and written with its next change",
    ),
    (
        "/registry/services/specs/corpus/base-service",
        "managed fields are sorted by their texts here, and there by the values in keys: port 80 before 443",
    ),
];

#[test]
fn every_golden_value_is_written_as_it_was_read() {
    let layout = Layout::default();
    for golden in &*DATABASES {
        let database = Database::read(&golden.file).unwrap();
        let mut different = Vec::new();
        for record in &database.records {
            let content = record.content(&layout, golden.kubernetes).unwrap();
            let RecordContent::Object(object) = content else {
                assert!(matches!(layout.parse_key(record.key), Key::Server(_)));
                continue;
            };
            assert_eq!(object.value.kubernetes, golden.kubernetes);
            let encoded = encode(
                golden.kubernetes,
                &object.path.resource,
                &object.value.object,
                Some(&object.value.meta),
            );
            let encoded = encoded.unwrap();
            if encoded != record.value {
                let again = decode(
                    golden.kubernetes,
                    &object.path.resource,
                    &encoded,
                    object.revision,
                );
                assert_eq!(again.unwrap(), object.value);
                different.push(String::from_utf8_lossy(record.key).into_owned());
            }
        }
        let explained = EXPLAINED.iter().filter(|(key, _)| {
            database
                .records
                .iter()
                .any(|record| record.key == key.as_bytes())
        });
        let explained: Vec<&str> = explained.map(|(key, _)| *key).collect();
        assert_eq!(different, explained);
    }
}

/// The answers were given at a revision before the last ones of the database, which are left out.
#[test]
fn golden_values_are_read_as_the_server_listed_them() {
    let layout = Layout::default();
    for golden in &*DATABASES {
        let database = Database::read(&golden.file).unwrap();
        let (mut different, mut count) = (Vec::new(), 0);
        for record in &database.records {
            let RecordContent::Object(object) = record.content(&layout, golden.kubernetes).unwrap()
            else {
                continue;
            };
            let (path, meta) = (&object.path, &object.value.meta);
            let lists = golden.answers.as_object().unwrap().iter();
            let suffix = format!("/{}", path.resource.resource());
            let of_resource = lists.filter(|(list, answer)| {
                list.ends_with(&suffix) && answer["apiVersion"] == meta.api_version
            });
            let mut items = of_resource.flat_map(|(_, answer)| answer["items"].as_array().unwrap());
            let listed = items.find(|item| {
                let metadata = &item["metadata"];
                let namespace = metadata["namespace"].as_str();
                metadata["name"] == path.name && namespace == path.namespace.as_deref()
            });
            let Some(listed) = listed else { continue };
            let mut listed = listed.clone();
            if let Some(fields) = listed.as_object_mut() {
                fields.remove("kind");
                fields.remove("apiVersion");
            }
            let is_same = object.revision.to_string() == listed["metadata"]["resourceVersion"];
            if is_same && object.value.object != listed {
                different.push(format!(
                    "{}:\n{}\n{listed}",
                    record.key.escape_ascii(),
                    object.value.object
                ));
            }
            count += usize::from(is_same);
        }
        assert!(different.is_empty(), "{}", different.join("\n"));
        assert!(count > 200, "{count} objects");
    }
}

fn read(group: &str, resource: &str, value: &[u8]) -> Result<Value, ValueError> {
    let resource = GroupResource::new(group, resource);
    let decoded = decode(
        KubernetesVersion::DEFAULT,
        &resource,
        value,
        Revision::new(7),
    );
    decoded.map(|decoded| decoded.object)
}

#[test]
fn values_that_cannot_be_read_say_why() {
    let error = |value: &[u8]| {
        let error = read("", "secrets", value).unwrap_err();
        error.to_string()
    };
    assert!(error(b"k8s:enc:aescbc:v1:key1:\x01\x02").contains("\"aescbc\""));
    assert!(error(b"\x00\x01").contains("neither protobuf"));
    assert!(error(b"").contains("neither protobuf"));
    assert!(error(b"{\"kind\"").contains("JSON"));
    assert_eq!(error(b"k8s\0\x0a\xff"), "the protobuf is wrong");
    let other = br#"{"kind":"Pod","apiVersion":"v1","metadata":{}}"#;
    assert!(error(other).contains("v1 Pod"));
    let none = br#"{"kind":"Secret","apiVersion":"v1","metadata":3}"#;
    assert!(error(none).contains("JSON"));
}

#[test]
fn kinds_without_a_type_in_the_version_are_read_by_another() {
    let kubernetes: KubernetesVersion = "1.37".parse().unwrap();
    let resource = GroupResource::new("scheduling.k8s.io", "workloads");
    let object = json!({"metadata": {"name": "w", "namespace": "a"}});
    let written = encode(kubernetes, &resource, &object, None).unwrap();
    let decoded = decode(
        KubernetesVersion::DEFAULT,
        &resource,
        &written,
        Revision::new(7),
    )
    .unwrap();
    assert_eq!(decoded.kubernetes, kubernetes);
    assert_eq!(decoded.object["metadata"]["resourceVersion"], "7");
    let written = encode(KubernetesVersion::DEFAULT, &resource, &object, None);
    assert!(written.unwrap_err().is_unknown_kind());
}

#[test]
fn objects_of_earlier_versions_are_read() {
    // `--storage-media-type application/json`, and the version that was stored until 1.25.
    let older = br#"{"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v1","metadata":{"name":"h","namespace":"a"},
        "spec":{"scaleTargetRef":{"kind":"Deployment","name":"d"},"maxReplicas":3,"targetCPUUtilizationPercentage":50},"status":{}}"#;
    let object = read("autoscaling", "horizontalpodautoscalers", older).unwrap();
    assert_eq!(
        object["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"],
        50
    );
    assert_eq!(object.get("kind"), None);
    // Its fields have other names in the version that is stored now.
    let strange =
        br#"{"kind":"Ingress","apiVersion":"networking.k8s.io/v1beta1","metadata":{"name":"i"}}"#;
    let error = read("networking.k8s.io", "ingresses", strange).unwrap_err();
    assert!(error.is_unknown_kind());
}

#[test]
fn definitions_keep_what_their_versions_differ_in() {
    let column = |path: &str| json!({"name": "c", "type": "string", "jsonPath": path});
    let version = |name: &str, schema: &str, path: &str| {
        json!({
            "name": name, "served": true, "storage": name == "v1",
            "schema": {"openAPIV3Schema": {"type": schema}},
            "additionalPrinterColumns": [column(path)],
            "selectableFields": [{"jsonPath": ".spec.a"}],
        })
    };
    let definition = |first: Value, second: Value| {
        json!({
            "metadata": {"name": "ws.example.com"},
            "spec": {
                "group": "example.com",
                "names": {"plural": "ws", "singular": "w", "kind": "W", "listKind": "WList"},
                "scope": "Namespaced",
                "versions": [first, second],
                "conversion": {
                    "strategy": "Webhook",
                    "webhook": {"clientConfig": {"url": "https://a"}, "conversionReviewVersions": ["v1"]},
                },
            },
            "status": {"conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": ["v1"]},
        })
    };
    let resource = GroupResource::new("apiextensions.k8s.io", "customresourcedefinitions");
    for (definition, in_spec) in [
        (
            definition(version("v1", "object", ".a"), version("v2", "object", ".a")),
            [true, true, true],
        ),
        (
            definition(version("v1", "object", ".a"), version("v2", "object", ".b")),
            [true, false, true],
        ),
        // Fields are common only if the schema is.
        (
            definition(version("v1", "object", ".a"), version("v2", "array", ".a")),
            [false, true, false],
        ),
    ] {
        let written = encode(KubernetesVersion::DEFAULT, &resource, &definition, None).unwrap();
        let stored: Value = serde_json::from_slice(&written).unwrap();
        let names = ["validation", "additionalPrinterColumns", "selectableFields"];
        let present = names.map(|name| stored["spec"].get(name).is_some());
        assert_eq!(present, in_spec, "{stored}");
        assert_eq!(stored["spec"]["version"], "v1");
        assert_eq!(
            stored["spec"]["conversion"]["webhookClientConfig"]["url"],
            "https://a"
        );
        let mut served = read(resource.group(), resource.resource(), &written).unwrap();
        served["metadata"]
            .as_object_mut()
            .unwrap()
            .remove("resourceVersion");
        assert_eq!(served, definition);
    }
}

#[test]
fn definitions_without_versions_have_one() {
    let older = br#"{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1beta1","metadata":{"name":"ws.example.com"},
        "spec":{"group":"example.com","version":"v1alpha1","names":{"plural":"ws","kind":"W"},"scope":"Cluster",
        "preserveUnknownFields":true},"status":{"conditions":null,"acceptedNames":{"plural":"ws","kind":"W"},"storedVersions":["v1alpha1"]}}"#;
    let served = read("apiextensions.k8s.io", "customresourcedefinitions", older).unwrap();
    let versions = json!([{"name": "v1alpha1", "served": true, "storage": true}]);
    assert_eq!(served["spec"]["versions"], versions);
    assert_eq!(served["spec"]["preserveUnknownFields"], true);
}

#[test]
fn custom_objects_need_a_kind() {
    let resource = GroupResource::new("example.com", "ws");
    let object = json!({"metadata": {"name": "a", "resourceVersion": "3"}, "spec": {"b": "<&>"}});
    let meta = TypeMeta {
        kind: "W".to_owned(),
        api_version: "example.com/v1".to_owned(),
    };
    let written = encode(KubernetesVersion::DEFAULT, &resource, &object, Some(&meta)).unwrap();
    let text = r#"{"apiVersion":"example.com/v1","kind":"W","metadata":{"name":"a"},"spec":{"b":"\u003c\u0026\u003e"}}"#;
    assert_eq!(String::from_utf8(written).unwrap(), format!("{text}\n"));
    let error = encode(KubernetesVersion::DEFAULT, &resource, &object, None).unwrap_err();
    assert!(error.is_unknown_kind());
}
