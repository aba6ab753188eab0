//! Conversions between forms, and back.

use fakeserver_value::schema::{arbitrary::arbitrary, type_of_kind};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{Kind, core, events};

fn drawn(group: &str, version: &str, kind: &str, seed: u64) -> Value {
    let mut object = arbitrary(type_of_kind(group, version, kind).unwrap(), seed);
    object["kind"] = kind.into();
    object["apiVersion"] = fakeserver_value::resource::api_version(group, version).into();
    object
}

#[test]
fn an_event_has_other_names_in_the_other_group() {
    let core = json!({
        "kind": "Event", "apiVersion": "v1",
        "metadata": {"name": "e", "namespace": "n", "managedFields": [{"apiVersion": "v1"}]},
        "involvedObject": {"kind": "Pod", "name": "p"},
        "reason": "Pulled", "message": "it was pulled", "source": {"component": "kubelet"},
        "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": null, "count": 3, "type": "Normal",
        "eventTime": null, "reportingComponent": "kubelet", "reportingInstance": "node",
    });
    let expected = json!({
        "kind": "Event", "apiVersion": "events.k8s.io/v1",
        "metadata": {"name": "e", "namespace": "n", "managedFields": [{"apiVersion": "v1"}]},
        "regarding": {"kind": "Pod", "name": "p"},
        "reason": "Pulled", "note": "it was pulled", "deprecatedSource": {"component": "kubelet"},
        "deprecatedFirstTimestamp": "2026-01-01T00:00:00Z", "deprecatedLastTimestamp": null,
        "deprecatedCount": 3, "type": "Normal", "eventTime": null,
        "reportingController": "kubelet", "reportingInstance": "node",
    });
    let converted = event::EVENTS.convert(core.clone());
    assert_eq!(converted, expected);
    assert_eq!(to_stored(converted), core);
    assert_eq!(to_stored(core.clone()), core, "it is stored as it is");
}

#[test]
fn the_older_version_keeps_missing_fields_in_annotations() {
    let v2 = json!({
        "kind": "HorizontalPodAutoscaler", "apiVersion": "autoscaling/v2",
        "metadata": {"name": "a", "annotations": {"mine": "1"}},
        "spec": {
            "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"},
            "minReplicas": 1, "maxReplicas": 5,
            "metrics": [
                {"type": "Pods", "pods": {
                    "metric": {"name": "rps", "selector": {"matchLabels": {"a": "b"}}},
                    "target": {"type": "AverageValue", "averageValue": "1k"},
                }},
                {"type": "Resource", "resource": {
                    "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70},
                }},
            ],
            "behavior": {"scaleUp": {
                "stabilizationWindowSeconds": 0, "selectPolicy": "Max",
                "policies": [{"type": "Pods", "value": 4, "periodSeconds": 15}],
            }},
        },
        "status": {
            "desiredReplicas": 2,
            "currentMetrics": [{"type": "Resource", "resource": {
                "name": "cpu", "current": {"averageUtilization": 60, "averageValue": "300m"},
            }}],
            "conditions": [{
                "type": "AbleToScale", "status": "True", "lastTransitionTime": null, "reason": "R", "message": "m",
            }],
        },
    });
    let v1 = autoscaler::V1.convert(v2.clone());
    let annotations = json!({
        "mine": "1",
        "autoscaling.alpha.kubernetes.io/metrics": concat!(
            r#"[{"type":"Pods","pods":{"metricName":"rps","targetAverageValue":"1k","#,
            r#""selector":{"matchLabels":{"a":"b"}}}}]"#,
        ),
        "autoscaling.alpha.kubernetes.io/current-metrics": concat!(
            r#"[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":60,"#,
            r#""currentAverageValue":"300m"}}]"#,
        ),
        "autoscaling.alpha.kubernetes.io/conditions":
            r#"[{"type":"AbleToScale","status":"True","lastTransitionTime":null,"reason":"R","message":"m"}]"#,
        "autoscaling.alpha.kubernetes.io/behavior": concat!(
            r#"{"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max","#,
            r#""Policies":[{"Type":"Pods","Value":4,"PeriodSeconds":15}],"Tolerance":null},"ScaleDown":null}"#,
        ),
    });
    assert_eq!(v1["metadata"]["annotations"], annotations);
    assert_eq!(v1["spec"]["targetCPUUtilizationPercentage"], 70);
    assert_eq!(v1["status"]["currentCPUUtilizationPercentage"], 60);
    for field in ["metrics", "behavior"] {
        assert!(v1["spec"].get(field).is_none(), "{field}");
    }
    assert_eq!(to_stored(v1), v2);
}

#[test]
fn an_autoscaler_without_a_metric_means_the_use_of_the_cpu() {
    let v1 = json!({
        "kind": "HorizontalPodAutoscaler", "apiVersion": "autoscaling/v1",
        "metadata": {"name": "a", "annotations": {"autoscaling.alpha.kubernetes.io/metrics": "[nonsense"}},
        "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "d"}, "maxReplicas": 5},
    });
    let v2 = to_stored(v1);
    let target = json!({"type": "Utilization", "averageUtilization": 80});
    let cpu = json!([{"type": "Resource", "resource": {"name": "cpu", "target": target}}]);
    assert_eq!(v2["spec"]["metrics"], cpu);
    assert!(v2["metadata"].get("annotations").is_none(), "{v2}");
}

#[test]
fn annotations_of_the_older_version_are_not_stored() {
    let v2 = json!({
        "kind": "HorizontalPodAutoscaler", "apiVersion": "autoscaling/v2",
        "metadata": {"annotations": {"autoscaling.alpha.kubernetes.io/behavior": "{}", "b": "c"}},
    });
    assert_eq!(to_stored(v2)["metadata"]["annotations"], json!({"b": "c"}));
}

#[test]
fn other_kinds_are_not_converted() {
    let pod = json!({"kind": "Pod", "apiVersion": "v1", "note": "n"});
    assert_eq!(to_stored(pod.clone()), pod);
    let unnamed = json!({"regarding": {}});
    assert_eq!(to_stored(unnamed.clone()), unnamed);
    assert_eq!(events::event::KIND.storage(), core::event::KIND.storage());
    let stored = |kind: &Kind, label| kind.stored_field(label).to_owned();
    assert_eq!(
        stored(&events::event::KIND, "regarding.name"),
        "involvedObject.name"
    );
    assert_eq!(
        stored(&core::event::KIND, "regarding.name"),
        "regarding.name"
    );
    assert_eq!(stored(&core::pod::KIND, "spec.host"), "spec.nodeName");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_event_survives_the_other_group(seed: u64) {
        let core = drawn("", "v1", "Event", seed);
        prop_assert_eq!(&to_stored(event::EVENTS.convert(core.clone())), &core);
        let event = drawn("events.k8s.io", "v1", "Event", seed);
        prop_assert_eq!(&event::EVENTS.convert(to_stored(event.clone())), &event);
    }

    /// The first conversion may change the order of metrics, and targets of the CPU other than its utilization. A
    /// client that then reads the older version and sends it back changes no field of that version.
    #[test]
    fn any_autoscaler_is_the_same_after_a_reader_sends_it_back(seed: u64) {
        let mut v2 = drawn("autoscaling", "v2", "HorizontalPodAutoscaler", seed);
        if v2["spec"]["metrics"].is_null() {
            v2["spec"]["metrics"] = json!([{"type": "Pods"}]);
        }
        let read = autoscaler::V1.convert(v2);
        let sent_back = to_stored(read.clone());
        prop_assert_eq!(&autoscaler::V1.convert(sent_back.clone()), &read);
        let again = to_stored(autoscaler::V1.convert(sent_back.clone()));
        prop_assert_eq!(&again, &sent_back);
    }

    /// Any annotation of a client is read or ignored.
    #[test]
    fn any_annotation_is_read_or_ignored(text in "\\PC{0,40}|[\\[{\"a:0,\\]}]{0,30}") {
        for name in ["metrics", "current-metrics", "conditions", "behavior"] {
            let v1 = json!({
                "kind": "HorizontalPodAutoscaler", "apiVersion": "autoscaling/v1",
                "metadata": {"annotations": {format!("autoscaling.alpha.kubernetes.io/{name}"): text}},
            });
            let v2 = to_stored(v1);
            prop_assert_eq!(&v2["apiVersion"], "autoscaling/v2");
            prop_assert!(v2["metadata"].get("annotations").is_none());
        }
    }
}
