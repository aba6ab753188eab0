//! Tests of services: defaults, findings and updates.

mod families;

use serde_json::{Value, json};

use super::KIND;
use crate::testing::{check, check_update, defaulted, findings};

/// A service with a port, and with `spec` merged into its spec.
fn service(spec: &Value) -> Value {
    let mut object = json!({"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}});
    json_patch::merge(&mut object["spec"], spec);
    object
}

#[test]
fn services_have_ports_types_and_names() {
    check(&KIND, &service(&json!({})), &[]);
    check(
        &KIND,
        &service(&json!({"ports": []})),
        &["spec.ports: Required value"],
    );
    check(
        &KIND,
        &service(&json!({"type": "Magic", "externalTrafficPolicy": "Local"})),
        &[
            "spec.type: Unsupported value: \"Magic\": supported values: \"ClusterIP\", \"ExternalName\", \
             \"LoadBalancer\", \"NodePort\"",
            "spec.externalTrafficPolicy: Invalid value: \"Local\": may only be set for externally-accessible services",
        ],
    );
    check(
        &KIND,
        &service(
            &json!({"ports": [{"port": 80}, {"port": 80, "name": "b", "nodePort": 30000}, {"port": 0, "name": "b"}]}),
        ),
        &[
            "spec.ports[0].name: Required value",
            "spec.ports[2].name: Duplicate value: \"b\"",
            "spec.ports[2].port: Invalid value: 0: must be between 1 and 65535, inclusive",
            "spec.ports[2].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive",
            "spec.ports[1].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
            "spec.ports[1]: Duplicate value: {\"Name\":\"\",\"Protocol\":\"TCP\",\"AppProtocol\":null,\"Port\":80,\
             \"TargetPort\":0,\"NodePort\":0}",
        ],
    );
    check(
        &KIND,
        &json!({"spec": {"type": "ExternalName", "clusterIPs": ["10.0.0.1"]}}),
        &[
            "spec.clusterIPs: Forbidden: may not be set for ExternalName services",
            "spec.externalName: Required value",
        ],
    );
}

#[test]
fn services_that_are_unusual_but_good_are_not_refused() {
    check(&KIND, &service(&json!({"externalIPs": ["192.0.2.1"]})), &[]);
    check(
        &KIND,
        &service(&json!({"sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 5}}})),
        &[],
    );
}

#[test]
fn services_keep_their_address() {
    let service = json!({"spec": {
        "ports": [{"port": 80}],
        "clusterIP": "10.0.0.1",
        "clusterIPs": ["10.0.0.1"],
        "ipFamilies": ["IPv4"],
        "ipFamilyPolicy": "SingleStack",
    }});
    assert_eq!(findings(&KIND, &service), [""; 0]);
    check_update(
        &KIND,
        &service,
        |service| {
            service["spec"]["clusterIP"] = json!("10.0.0.2");
            service["spec"]["clusterIPs"] = json!(["10.0.0.2"]);
        },
        &["spec.clusterIPs[0]: Invalid value: [\"10.0.0.2\"]: may not change once set"],
    );
}

#[test]
fn the_second_address_goes_only_with_the_policy() {
    let service = json!({"spec": {
        "ports": [{"port": 80}],
        "clusterIP": "10.0.0.1",
        "clusterIPs": ["10.0.0.1", "fd00::1"],
        "ipFamilies": ["IPv4", "IPv6"],
        "ipFamilyPolicy": "PreferDualStack",
    }});
    let shortened = |policy: &'static str| {
        move |service: &mut Value| {
            service["spec"]["clusterIPs"] = json!(["10.0.0.1"]);
            service["spec"]["ipFamilies"] = json!(["IPv4"]);
            service["spec"]["ipFamilyPolicy"] = json!(policy);
        }
    };
    check_update(&KIND, &service, shortened("SingleStack"), &[]);
    check_update(
        &KIND,
        &service,
        shortened("PreferDualStack"),
        &[
            "spec.ipFamilyPolicy: Invalid value: \"PreferDualStack\": must be set to 'SingleStack' when releasing the secondary \
             clusterIP",
            "spec.ipFamilyPolicy: Invalid value: \"PreferDualStack\": must be set to 'SingleStack' when releasing the secondary \
             ipFamily",
        ],
    );
    check_update(
        &KIND,
        &service,
        |service| {
            service["spec"]["clusterIP"] = json!("fd00::1");
            service["spec"]["clusterIPs"] = json!(["fd00::1", "10.0.0.1"]);
            service["spec"]["ipFamilies"] = json!(["IPv6", "IPv4"]);
        },
        &[
            "spec.clusterIPs[0]: Invalid value: [\"fd00::1\",\"10.0.0.1\"]: may not change once set",
            "spec.clusterIPs[1]: Invalid value: [\"fd00::1\",\"10.0.0.1\"]: may not change once set",
            "spec.ipFamilies[0]: Invalid value: [\"IPv6\",\"IPv4\"]: may not change once set",
            "spec.ipFamilies[0]: Invalid value: [\"IPv6\",\"IPv4\"]: may not change once set",
        ],
    );
}

#[test]
fn a_service_keeps_its_addresses_and_ports() {
    let mut service = defaulted(
        &KIND,
        json!({
            "spec": {"type": "NodePort", "ports": [{"port": 80}]},
        }),
    );
    assert_eq!(
        service["spec"]["ports"][0],
        json!({"port": 80, "protocol": "TCP", "targetPort": 80})
    );
    assert_eq!(service["spec"]["externalTrafficPolicy"], "Cluster");
    service["spec"]["clusterIP"] = json!("10.0.0.9");
    service["spec"]["ports"][0]["nodePort"] = json!(30_009);

    let mut sent = json!({"spec": {"type": "NodePort", "ports": [{"port": 80, "protocol": "TCP"}, {"port": 81, "protocol": "TCP"}]}});
    KIND.keep_on_update(&service, &mut sent);
    assert_eq!(sent["spec"]["clusterIP"], "10.0.0.9");
    assert_eq!(sent["spec"]["ports"][0]["nodePort"], 30_009);
    assert!(sent["spec"]["ports"][1].get("nodePort").is_none());
}
