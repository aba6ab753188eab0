//! Tests of API services, local and remote.

use serde_json::{Value, json};

use super::{
    api_service::KIND,
    availability::{Availability, ServiceAddress, mirrored, places},
    remote::{self, RemoteApi},
};
use crate::testing::check;

#[test]
fn api_services_are_checked() {
    let service = |spec: Value| json!({"metadata": {"name": "v1.g"}, "spec": spec});
    check(
        &KIND,
        &service(json!({
            "group": "g", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1,
            "service": {"name": "s", "namespace": "n"},
        })),
        &[],
    );
    check(
        &KIND,
        &service(
            json!({"version": "v2", "groupPriorityMinimum": 20001, "versionPriority": 1, "caBundle": "AAEC"}),
        ),
        &[
            "metadata.name: Invalid value: \"v1.g\": must be `spec.version+\".\"+spec.group`: \"v2.\"",
            "spec.group: Required value: only v1 may have an empty group and it better be legacy kube",
            "spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000",
            "spec.caBundle: Invalid value: \"3 bytes\": local APIServices may not have a caBundle",
        ],
    );
}

fn remote(name: &str) -> RemoteApi {
    let (version, group) = name.split_once('.').unwrap();
    let service = json!({
        "metadata": {"name": name},
        "spec": {
            "group": group, "version": version, "groupPriorityMinimum": 5, "versionPriority": 7,
            "service": {"name": "s", "namespace": "n"}, "caBundle": "AAEC",
        },
    });
    RemoteApi::parse(&service).unwrap()
}

#[test]
fn an_api_is_served_elsewhere_if_its_service_is_named() {
    let api = remote("v1.g");
    assert_eq!(api.service.host(), "s.n.svc");
    assert_eq!(api.service.port, 443);
    assert_eq!(api.ca_bundle, [0, 1, 2]);
    assert_eq!((api.priorities.group, api.priorities.version), (5, 7));
    assert_eq!(RemoteApi::parse(&json!({"spec": {"group": "g"}})), None);
    for (path, is_served) in [
        ("/apis/g/v1", true),
        ("/apis/g/v1/", true),
        ("/apis/g/v1/things/a/status", true),
        ("/apis/g/v11/things", false),
        ("/apis/g/v2", false),
        ("/apis/g", false),
        ("/apis", false),
        ("/api/v1", false),
    ] {
        assert_eq!(api.serves(path), is_served, "{path}");
    }
    let legacy = remote("v1.");
    assert!(legacy.serves("/api") && legacy.serves("/api/v1/pods"));
    assert!(!legacy.serves("/apis"));
    assert!(!remote("v1.apiregistration.k8s.io").serves("/apis/apiregistration.k8s.io/v1"));
}

fn service(kind: &str) -> Value {
    json!({"spec": {"type": kind, "ports": [{"port": 80}, {"port": 443, "name": "https"}]}})
}

fn slice(ready: &Value, port: &Value) -> Value {
    json!({
        "endpoints": [{"addresses": ["10.0.0.1"], "conditions": {"ready": ready}}],
        "ports": [port],
    })
}

#[test]
fn an_api_is_checked_if_its_service_has_the_port_and_a_ready_endpoint() {
    let api = remote("v1.g");
    let https = json!({"name": "https", "port": 6443});
    let reason = |service: Option<&Value>, slices: Option<&[Value]>| {
        Availability::unreachable(&api, service, slices).map_or("", |found| found.reason)
    };
    let own = service("ClusterIP");
    assert_eq!(reason(None, None), "ServiceNotFound");
    assert_eq!(reason(Some(&own), Some(&[])), "EndpointsNotFound");
    assert_eq!(reason(Some(&own), None), "", "another way is known");
    for (ready, port, expected) in [
        (json!(true), https.clone(), ""),
        (json!(null), https.clone(), ""),
        (json!(false), https.clone(), "MissingEndpoints"),
        (
            json!(true),
            json!({"name": "http", "port": 1}),
            "MissingEndpoints",
        ),
        (json!(true), json!({"name": "https"}), "MissingEndpoints"),
    ] {
        let slices = [slice(&ready, &port)];
        assert_eq!(
            reason(Some(&own), Some(&slices)),
            expected,
            "{ready} {port}"
        );
    }
    let without = json!({"spec": {"type": "ClusterIP", "ports": [{"port": 80}]}});
    assert_eq!(reason(Some(&without), None), "ServicePortError");
    for kind in ["NodePort", "LoadBalancer", "ExternalName"] {
        assert_eq!(reason(Some(&service(kind)), Some(&[])), "", "{kind}");
    }
}

#[test]
fn places_are_ready_endpoints_or_the_name_outside() {
    let api = remote("v1.g");
    let host = |host: &str, port| ServiceAddress::Host {
        host: host.to_owned(),
        port,
    };
    let external = json!({"spec": {"type": "ExternalName", "externalName": "example.org"}});
    assert_eq!(places(&api, &external, &[]), [host("example.org", 443)]);
    let mut pods = slice(&json!(true), &json!({"name": "https", "port": 1}));
    pods["endpoints"][0]["targetRef"] = json!({"kind": "Pod", "name": "p"});
    let slices = [
        slice(&json!(false), &json!({"name": "https", "port": 1})),
        slice(&json!(true), &json!({"name": "https", "port": 6443})),
        slice(&json!(true), &json!({"name": "other", "port": 2})),
        pods,
    ];
    let own = service("ClusterIP");
    let expected = [host("10.0.0.1", 6443), ServiceAddress::Pod("p".to_owned())];
    assert_eq!(places(&api, &own, &slices), expected);
    assert!(places(&api, &json!({"spec": {"ports": []}}), &slices).is_empty());

    let endpoints = json!({"subsets": [{
        "addresses": [{"ip": "10.0.0.7"}],
        "notReadyAddresses": [{"ip": "10.0.0.8"}],
        "ports": [{"name": "https", "port": 6443}],
    }]});
    let slices = mirrored(&endpoints);
    assert_eq!(places(&api, &own, &slices), [host("10.0.0.7", 6443)]);
    assert!(mirrored(&json!({})).is_empty());
}

#[test]
fn a_condition_keeps_the_time_of_its_last_transition() {
    let passed = Availability::passed();
    let first = passed.applied(&json!(null), "t1");
    let condition = json!({
        "type": "Available", "status": "True", "lastTransitionTime": "t1",
        "reason": "Passed", "message": "all checks passed",
    });
    assert_eq!(first, json!({"conditions": [condition]}));
    assert!(remote::is_available(&json!({"status": first})));
    let local = Availability::local().applied(&first, "t2");
    assert_eq!(local["conditions"][0]["lastTransitionTime"], "t1");
    assert_eq!(local["conditions"][0]["reason"], "Local");
    let failed = Availability::failed_discovery("why".to_owned()).applied(&local, "t3");
    assert_eq!(failed["conditions"][0]["lastTransitionTime"], "t3");
    assert!(!remote::is_available(&json!({"status": failed})));
    let others = json!({"conditions": [{"type": "Other", "status": "True"}], "more": 1});
    let with_others = passed.applied(&others, "t4");
    assert_eq!(with_others["conditions"].as_array().unwrap().len(), 2);
    assert_eq!(with_others["more"], 1);
}
