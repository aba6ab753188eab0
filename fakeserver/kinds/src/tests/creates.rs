//! New objects that are refused, with the reasons, and new objects that are accepted.

use serde_json::{Value, json};

use super::kind;
use crate::testing;

const DEPLOYMENTS: (&str, &str) = ("apps", "deployments");

/// A deployment, with `more` merged into its spec.
fn deployment(more: &Value) -> Value {
    let mut object = json!({"metadata": {"name": "d"}, "spec": {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        },
    }});
    json_patch::merge(&mut object["spec"], more);
    object
}

#[track_caller]
fn check(of: (&str, &str), object: &Value, expected: &[&str]) {
    testing::check(kind(of), object, expected);
}

#[test]
fn workloads_select_their_own_pods() {
    check(DEPLOYMENTS, &deployment(&json!({})), &[]);
    check(
        DEPLOYMENTS,
        &deployment(&json!({"selector": null, "replicas": -1})),
        &[
            "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
            "spec.selector: Required value",
            "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`",
        ],
    );
    check(
        DEPLOYMENTS,
        &deployment(&json!({
            "selector": {"matchLabels": null},
            "strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "0%"}},
            "template": {"spec": {"restartPolicy": "Never"}},
        })),
        &[
            "spec.selector: Invalid value: {}: empty selector is invalid for deployment",
            "spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: \"Always\"",
            "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: \"0%\": may not be 0 when `maxSurge` is 0",
        ],
    );
    let stateful = deployment(&json!({"podManagementPolicy": "Random"}));
    check(
        ("apps", "statefulsets"),
        &stateful,
        &[
            "spec.podManagementPolicy: Invalid value: \"Random\": must be 'OrderedReady' or 'Parallel'",
        ],
    );
    let daemon = deployment(&json!({"updateStrategy": {"type": "Never"}}));
    check(
        ("apps", "daemonsets"),
        &daemon,
        &[
            "spec.updateStrategy: Unsupported value: {\"Type\":\"Never\",\"RollingUpdate\":null}: supported values: \
             \"RollingUpdate\", \"OnDelete\"",
        ],
    );
}

#[test]
fn data_has_valid_keys_and_secrets_have_the_keys_of_their_type() {
    let key = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or \
               'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
    check(
        ("", "configmaps"),
        &json!({"data": {"a b": "x", "c": "y"}, "binaryData": {"c": "eA=="}}),
        &[
            &format!("data[a b]: Invalid value: \"a b\": {key}"),
            "data[c]: Invalid value: \"c\": duplicate of key present in binaryData",
        ],
    );
    let big = json!({"data": {"a": "x".repeat((1 << 20) + 1)}});
    check(
        ("", "configmaps"),
        &big,
        &[": Too long: may not be more than 1048576 bytes"],
    );
    for (kind, expected) in [
        (
            "kubernetes.io/tls",
            vec![
                "data[tls.crt]: Required value",
                "data[tls.key]: Required value",
            ],
        ),
        (
            "kubernetes.io/dockerconfigjson",
            vec!["data[.dockerconfigjson]: Required value"],
        ),
        (
            "kubernetes.io/ssh-auth",
            vec!["data[ssh-privatekey]: Required value"],
        ),
        (
            "kubernetes.io/service-account-token",
            vec!["metadata.annotations[kubernetes.io/service-account.name]: Required value"],
        ),
        ("example.com/any", vec![]),
    ] {
        check(("", "secrets"), &json!({"type": kind}), &expected);
    }
}

#[test]
fn volumes_and_claims_have_capacity_and_access_modes() {
    check(
        ("", "persistentvolumeclaims"),
        &json!({"spec": {"accessModes": ["ReadWriteTwice"]}}),
        &[
            "spec.accessModes: Unsupported value: \"ReadWriteTwice\": supported values: \"ReadOnlyMany\", \
             \"ReadWriteMany\", \"ReadWriteOnce\", \"ReadWriteOncePod\"",
            "spec.resources[storage]: Required value",
        ],
    );
    check(
        ("", "persistentvolumes"),
        &json!({"spec": {"capacity": {"storage": "0"}}}),
        &[
            "spec.accessModes: Required value",
            "spec.capacity[storage]: Invalid value: \"0\": must be greater than zero",
            "spec: Required value: must specify a volume type",
        ],
    );
    check(
        ("storage.k8s.io", "storageclasses"),
        &json!({"reclaimPolicy": "Recycle"}),
        &[
            "provisioner: Required value",
            "reclaimPolicy: Unsupported value: \"Recycle\": supported values: \"Delete\", \"Retain\"",
        ],
    );
}

#[test]
fn networking_is_checked() {
    check(
        ("networking.k8s.io", "ingresses"),
        &json!({"spec": {"rules": [{"host": "1.2.3.4", "http": {"paths": [
            {"path": "x", "pathType": "Prefix", "backend": {"service": {"name": "s"}}},
            {"path": "/", "backend": {}},
        ]}}]}}),
        &[
            "spec.rules[0].host: Invalid value: \"1.2.3.4\": must be a DNS name, not an IP address",
            "spec.rules[0].http.paths[0].path: Invalid value: \"x\": must be an absolute path",
            "spec.rules[0].http.paths[0].backend: Required value: port name or number is required",
            "spec.rules[0].http.paths[1].pathType: Required value: pathType must be specified",
        ],
    );
    check(
        ("networking.k8s.io", "ingresses"),
        &json!({"spec": {}}),
        &["spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"],
    );
    check(
        ("discovery.k8s.io", "endpointslices"),
        &json!({"addressType": "IPv4", "endpoints": [{"addresses": ["127.0.0.1"]}, {"addresses": []}]}),
        &[
            "endpoints[0].addresses[0]: Invalid value: \"127.0.0.1\": may not be in the loopback range (127.0.0.0/8, \
             ::1/128)",
            "endpoints[1].addresses: Required value: must contain at least 1 address",
        ],
    );
    check(
        ("networking.k8s.io", "networkpolicies"),
        &json!({"spec": {"podSelector": {}, "ingress": [{"from": [{}, {"ipBlock": {"cidr": "10.0.0.0/8", "except": ["11.0.0.0/16"]}}]}]}}),
        &[
            "spec.ingress[0].from[0]: Required value: must specify a peer",
            "spec.ingress[0].from[1].ipBlock.except[0]: Invalid value: \"11.0.0.0/16\": must be a strict subset of \
             `cidr`",
        ],
    );
}

#[test]
fn cluster_kinds_are_checked() {
    check(
        ("", "nodes"),
        &json!({"spec": {"taints": [{"key": "a", "effect": "Go"}]}, "status": {"capacity": {"cpu": "-1"}, "allocatable": {"cpu": "0"}}}),
        &[
            "metadata.taints[0].effect: Unsupported value: \"Go\": supported values: \"NoSchedule\", \
             \"PreferNoSchedule\", \"NoExecute\"",
            "status.capacity.cpu: Invalid value: \"-1\": must be greater than or equal to 0",
        ],
    );
    check(
        ("coordination.k8s.io", "leases"),
        &json!({"spec": {"leaseDurationSeconds": 0, "leaseTransitions": -1}}),
        &[
            "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
            "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
        ],
    );
    check(
        ("", "events"),
        &json!({"metadata": {"namespace": "a"}, "involvedObject": {"namespace": "b"}}),
        &["involvedObject.namespace: Invalid value: \"b\": does not match event.namespace"],
    );
    check(
        ("policy", "poddisruptionbudgets"),
        &json!({"spec": {"minAvailable": "110%", "selector": {}}}),
        &["spec.minAvailable: Invalid value: \"110%\": must not be greater than 100%"],
    );
    check(
        ("rbac.authorization.k8s.io", "roles"),
        &json!({"rules": [{"resources": ["pods"]}, {"verbs": ["get"], "nonResourceURLs": ["/x"]}]}),
        &[
            "rules[0].verbs: Required value: verbs must contain at least one value",
            "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
            "rules[1].nonResourceURLs: Invalid value: [\"/x\"]: namespaced rules cannot apply to non-resource URLs",
        ],
    );
    check(
        ("rbac.authorization.k8s.io", "clusterrolebindings"),
        &json!({"roleRef": {"kind": "Role"}, "subjects": [{"kind": "ServiceAccount", "name": "a"}, {"kind": "Dog", "name": "d"}]}),
        &[
            "roleRef.kind: Unsupported value: \"Role\": supported values: \"ClusterRole\"",
            "roleRef.name: Required value",
            "subjects[0].namespace: Required value",
            "subjects[1].kind: Unsupported value: \"Dog\": supported values: \"ServiceAccount\", \"User\", \"Group\"",
        ],
    );
}
