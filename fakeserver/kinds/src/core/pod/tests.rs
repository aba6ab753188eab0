//! Tests of pods: defaults, findings, updates and warnings.

use fakeserver_versions::KubernetesVersion;
use serde_json::{Value, json};

use super::KIND;
use crate::{
    gated_fields::disabled_fields,
    pod_spec::drop_disabled,
    testing::{check, check_update, defaulted, findings, update_findings, warnings},
};

const FIELDS: &str = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,\
                      `spec.tolerations` (only additions to existing tolerations),\
                      `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

fn named(spec: &Value) -> Value {
    json!({"metadata": {"name": "p"}, "spec": spec})
}

/// A pod with one container, and with `spec` merged into its spec.
fn pod(spec: &Value) -> Value {
    let mut pod = named(&json!({"containers": [{"name": "c", "image": "i"}]}));
    json_patch::merge(&mut pod["spec"], spec);
    pod
}

/// A pod with `more` merged into its container.
fn container(more: &Value) -> Value {
    let mut pod = pod(&json!({}));
    json_patch::merge(&mut pod["spec"]["containers"][0], more);
    pod
}

/// A pod with a toleration and a scheduling gate.
fn gated() -> Value {
    pod(&json!({
        "tolerations": [{"key": "k", "operator": "Exists"}],
        "schedulingGates": [{"name": "example.com/gate"}],
    }))
}

#[test]
fn containers_have_an_image_and_a_unique_name() {
    check(&KIND, &pod(&json!({})), &[]);
    check(
        &KIND,
        &json!({"spec": {}}),
        &["spec.containers: Required value"],
    );
    check(
        &KIND,
        &pod(
            &json!({"containers": [{"name": "c", "image": "i"}, {"name": "c", "image": " i"}, {}]}),
        ),
        &[
            "spec.containers[1].name: Duplicate value: \"c\"",
            "spec.containers[2].name: Required value",
            "spec.containers[2].image: Required value",
            "spec.containers[1].image: Invalid value: \" i\": must not have leading or trailing whitespace",
        ],
    );
    check(
        &KIND,
        &container(&json!({"name": "C", "imagePullPolicy": "Sometimes"})),
        &[
            "spec.containers[0].name: Invalid value: \"C\": a lowercase RFC 1123 label must consist of lower case \
             alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  \
             or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
            "spec.containers[0].imagePullPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", \
             \"IfNotPresent\", \"Never\"",
        ],
    );
}

#[test]
fn enums_of_pods_are_checked() {
    check(
        &KIND,
        &pod(&json!({"restartPolicy": "Perhaps", "dnsPolicy": "None"})),
        &[
            "spec.restartPolicy: Unsupported value: \"Perhaps\": supported values: \"Always\", \"OnFailure\", \
             \"Never\"",
            "spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None",
        ],
    );
}

#[test]
fn ports_and_probes_are_checked() {
    check(
        &KIND,
        &container(&json!({
            "ports": [
                {"containerPort": 80, "hostPort": 8080, "name": "http"},
                {"containerPort": 70000, "hostPort": 8080, "name": "http"},
                {"protocol": "ICMP"},
            ],
            "livenessProbe": {"httpGet": {"port": "a--b"}, "exec": {"command": ["x"]}, "successThreshold": 2},
        })),
        &[
            "spec.containers[0].ports[1].name: Duplicate value: \"http\"",
            "spec.containers[0].ports[1].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
            "spec.containers[0].ports[2].containerPort: Required value",
            "spec.containers[0].ports[2].protocol: Unsupported value: \"ICMP\": supported values: \"SCTP\", \"TCP\", \
             \"UDP\"",
            "spec.containers[0].livenessProbe.httpGet: Forbidden: may not specify more than 1 handler type",
            "spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1",
            "spec.containers[0].ports[1].hostPort: Duplicate value: \"TCP//8080\"",
        ],
    );
}

#[test]
fn amounts_are_checked_against_limits() {
    check(
        &KIND,
        &container(&json!({"resources": {
            "limits": {"cpu": "1"},
            "requests": {"cpu": "1500m", "memory": "-1", "bogus": "1"},
        }})),
        &[
            "spec.containers[0].resources.requests[bogus]: Invalid value: \"bogus\": must be a standard resource type \
             or fully qualified",
            "spec.containers[0].resources.requests[bogus]: Invalid value: \"bogus\": must be a standard resource for \
             containers",
            "spec.containers[0].resources.requests: Invalid value: \"1500m\": must be less than or equal to cpu limit \
             of 1",
            "spec.containers[0].resources.requests[memory]: Invalid value: \"-1\": must be greater than or equal to 0",
        ],
    );
    check(
        &KIND,
        &container(
            &json!({"resources": {"limits": {"example.com/gpu": "1.5"}, "requests": {"example.com/gpu": "1"}}}),
        ),
        &[
            "spec.containers[0].resources.limits[example.com/gpu]: Invalid value: \"1.5\": must be an integer",
            "spec.containers[0].resources.requests: Invalid value: \"1\": must be equal to example.com/gpu limit of \
             1500m",
        ],
    );
}

#[test]
fn mounts_need_volumes_and_environments_need_sources() {
    check(
        &KIND,
        &container(&json!({
            "env": [{"name": "A=B"}, {"name": "C", "value": "x", "valueFrom": {"fieldRef": {"fieldPath": "spec.x"}}}],
            "volumeMounts": [{"name": "v", "mountPath": "/a"}, {"name": "v"}],
        })),
        &[
            "spec.containers[0].env[0].name: Invalid value: \"A=B\": a valid environment variable name must consist \
             only of printable ASCII characters other than '='",
            "spec.containers[0].env[1].valueFrom.fieldRef.fieldPath: Invalid value: \"spec.x\": error converting \
             fieldPath: field label not supported: spec.x",
            "spec.containers[0].env[1].valueFrom: Invalid value: \"\": may not be specified when `value` is not empty",
            "spec.containers[0].volumeMounts[0].name: Not found: \"v\"",
            "spec.containers[0].volumeMounts[1].name: Not found: \"v\"",
            "spec.containers[0].volumeMounts[1].mountPath: Required value",
        ],
    );
    check(
        &KIND,
        &pod(&json!({"volumes": [
            {"name": "a", "emptyDir": {}, "hostPath": {"path": "/x"}},
            {"name": "b", "secret": {"items": [{"key": "k", "path": "../x"}]}},
        ]})),
        &[
            "spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type",
            "spec.volumes[1].secret.secretName: Required value",
            "spec.volumes[1].secret.items[0].path: Invalid value: \"../x\": must not contain '..'",
        ],
    );
}

#[test]
fn placement_is_checked() {
    check(
        &KIND,
        &pod(&json!({
            "nodeSelector": {"a b": "c"},
            "tolerations": [{"operator": "Equal", "value": "v"}, {"key": "k", "effect": "Never"}],
            "topologySpreadConstraints": [{"maxSkew": 0, "topologyKey": "zone", "whenUnsatisfiable": "Cry"}],
            "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}},
        })),
        &[
            "spec.nodeSelector: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' \
             or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or \
             '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required \
             value: must have at least one node selector term",
            "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero",
            "spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: \"Cry\": supported values: \
             \"DoNotSchedule\", \"ScheduleAnyway\"",
            "spec.tolerations[0].operator: Invalid value: \"Equal\": operator must be Exists when `key` is empty, \
             which means \"match all values and all keys\"",
            "spec.tolerations[1].effect: Unsupported value: \"Never\": supported values: \"NoSchedule\", \
             \"PreferNoSchedule\", \"NoExecute\"",
        ],
    );
}

#[test]
fn pods_that_are_unusual_but_good_are_not_refused() {
    check(
        &KIND,
        &pod(&json!({"serviceAccountName": "a", "volumes": [{
            "name": "token",
            "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]},
        }]})),
        &[],
    );
    check(
        &KIND,
        &pod(&json!({"dnsConfig": {"searches": [".", "_tcp.example.com.", "a_b"]}})),
        &[],
    );
}

#[test]
fn pods_change_in_few_places() {
    assert_eq!(findings(&KIND, &gated()), [""; 0]);
    check_update(
        &KIND,
        &gated(),
        |pod| {
            pod["spec"]["containers"][0]["image"] = json!("other");
            pod["spec"]["activeDeadlineSeconds"] = json!(5);
            pod["spec"]["tolerations"][0]["tolerationSeconds"] = json!(null);
            pod["spec"]["schedulingGates"] = json!([]);
            pod["spec"]["nodeSelector"] = json!({"zone": "a"});
        },
        &[],
    );
    check_update(
        &KIND,
        &gated(),
        |pod| pod["spec"]["containers"] = json!([]),
        &[
            "spec.containers: Required value",
            "spec.containers: Forbidden: pod updates may not add or remove containers",
        ],
    );
    check_update(
        &KIND,
        &gated(),
        |pod| {
            pod["spec"]["tolerations"] = json!([]);
            pod["spec"]["schedulingGates"][0]["name"] = json!("example.com/new");
        },
        &[
            "spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds",
            "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate \
             'example.com/new'",
        ],
    );
    let found = update_findings(&KIND, "", &gated(), |pod| {
        pod["spec"]["subdomain"] = json!("x");
    });
    let [found] = found.as_slice() else {
        panic!("one finding, not {found:?}");
    };
    let (head, hunk) = found.split_once(" @@\n").unwrap();
    assert!(head.starts_with(&format!(
        "spec: Forbidden: pod updates may not change fields other than {FIELDS}\n@@ -"
    )));
    assert_eq!(
        hunk,
        "  },\n  \"ImagePullSecrets\": null,\n  \"Hostname\": \"\",\n- \"Subdomain\": \"\",\n\
         + \"Subdomain\": \"x\",\n  \"SetHostnameAsFQDN\": null,\n  \"Affinity\": null,\n  \
         \"SchedulerName\": \"default-scheduler\",\n"
    );
}

#[test]
fn ephemeral_containers_are_only_added() {
    let container = json!({
        "name": "e",
        "image": "i",
        "imagePullPolicy": "Always",
        "terminationMessagePolicy": "File",
        "resources": {},
    });
    let mut old = gated();
    old["spec"]["ephemeralContainers"] = json!([container]);
    let add = |pod: &mut Value| {
        let mut second = container.clone();
        second["name"] = json!("f");
        pod["spec"]["ephemeralContainers"]
            .as_array_mut()
            .unwrap()
            .push(second);
    };
    assert_eq!(
        update_findings(&KIND, "ephemeralcontainers", &old, add),
        [""; 0]
    );
    let remove = |pod: &mut Value| pod["spec"]["ephemeralContainers"] = json!([]);
    assert_eq!(
        update_findings(&KIND, "ephemeralcontainers", &old, remove),
        [
            "spec.ephemeralContainers: Forbidden: existing ephemeral containers \"e\" may not be removed\n"
        ]
    );
}

#[test]
fn an_init_container_that_stays_may_run_again() {
    for (restarts, expected) in [(true, 0), (false, 1)] {
        let mut old = gated();
        old["spec"]["restartPolicy"] = json!("Never");
        old["spec"]["initContainers"] = json!([{"name": "i", "image": "i"}]);
        if restarts {
            old["spec"]["initContainers"][0]["restartPolicy"] = json!("Always");
        }
        old["status"]["initContainerStatuses"] =
            json!([{"name": "i", "state": {"terminated": {"exitCode": 0}}}]);
        let found = update_findings(&KIND, "status", &old, |pod| {
            pod["status"]["initContainerStatuses"][0]["state"] = json!({"running": {}});
        });
        assert_eq!(found.len(), expected, "{found:?}");
    }
}

#[test]
fn a_container_that_has_ended_stays_so() {
    let ended = json!({"spec": {"restartPolicy": "Never"}, "status": {"containerStatuses": [
        {"name": "c", "state": {"terminated": {"exitCode": 0}}},
    ]}});
    let runs =
        |pod: &mut Value| pod["status"]["containerStatuses"][0]["state"] = json!({"running": {}});
    assert_eq!(
        update_findings(&KIND, "status", &ended, runs),
        [
            "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"
        ]
    );
}

#[test]
fn pods_are_validated_for_kubelets_and_schedulers() {
    let pod = defaulted(
        &KIND,
        json!({"spec": {"containers": [{"name": "c", "image": "i"}]}}),
    );
    assert_eq!(
        pod["spec"],
        json!({
            "containers": [{
                "name": "c",
                "image": "i",
                "imagePullPolicy": "Always",
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
            }],
            "dnsPolicy": "ClusterFirst",
            "enableServiceLinks": true,
            "restartPolicy": "Always",
            "schedulerName": "default-scheduler",
            "securityContext": {},
            "terminationGracePeriodSeconds": 30,
        })
    );
    let pod = json!({"spec": {
        "containers": [], "dnsPolicy": "None", "enableServiceLinks": false, "restartPolicy": "Never",
        "schedulerName": "own", "securityContext": {"runAsUser": 1}, "terminationGracePeriodSeconds": 0,
    }});
    assert_eq!(defaulted(&KIND, pod.clone()), pod);
}

#[test]
fn images_that_may_change_are_always_pulled() {
    for (image, expected) in [
        ("i", "Always"),
        ("i:latest", "Always"),
        ("host:5000/i", "Always"),
        ("host:5000/i:1", "IfNotPresent"),
        ("i:1", "IfNotPresent"),
        ("i@sha256:00", "IfNotPresent"),
    ] {
        let pod = json!({"spec": {"containers": [{"image": image}]}});
        let pod = defaulted(&KIND, pod);
        assert_eq!(
            pod["spec"]["containers"][0]["imagePullPolicy"], expected,
            "{image}"
        );
    }
}

#[test]
fn containers_and_volumes_get_defaults() {
    let pod = defaulted(
        &KIND,
        json!({"spec": {
            "hostNetwork": true,
            "serviceAccountName": "a",
            "containers": [{
                "image": "i:1",
                "ports": [{"containerPort": 80}],
                "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}],
                "livenessProbe": {"httpGet": {"port": 1}},
                "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "0.5"}},
            }],
            "volumes": [{"name": "e"}, {"name": "s", "secret": {}}, {"name": "h", "hostPath": {"path": "/"}}],
        }}),
    );
    let container = &pod["spec"]["containers"][0];
    let port = json!({"containerPort": 80, "hostPort": 80, "protocol": "TCP"});
    assert_eq!(container["ports"][0], port);
    assert_eq!(
        container["env"][0]["valueFrom"]["fieldRef"]["apiVersion"],
        "v1"
    );
    assert_eq!(
        container["livenessProbe"],
        json!({
            "httpGet": {"port": 1, "path": "/", "scheme": "HTTP"},
            "timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3,
        })
    );
    assert_eq!(
        container["resources"]["requests"],
        json!({"cpu": "0.5", "memory": "1Gi"})
    );
    assert_eq!(
        pod["spec"]["volumes"],
        json!([
            {"name": "e", "emptyDir": {}},
            {"name": "s", "secret": {"defaultMode": 420}},
            {"name": "h", "hostPath": {"path": "/", "type": ""}},
        ])
    );
    assert_eq!(pod["spec"]["serviceAccount"], "a");
}

#[test]
fn a_status_lists_the_address_of_its_pod() {
    let mut pod = json!({"status": {"podIP": "1.1.1.1"}});
    KIND.complete_status(&mut pod);
    assert_eq!(pod["status"]["podIPs"], json!([{"ip": "1.1.1.1"}]));
}

#[test]
fn pods_are_of_the_quality_that_they_ask_for() {
    let containers = |resources: Value| json!([{"name": "c", "resources": resources}]);
    let both = json!({"cpu": "1", "memory": "1Gi"});
    for (resources, expected) in [
        (json!({}), "BestEffort"),
        (json!({"requests": {"cpu": "1"}}), "Burstable"),
        (json!({"limits": {"cpu": "1"}}), "Burstable"),
        (json!({"limits": both}), "Guaranteed"),
        (json!({"limits": both, "requests": both}), "Guaranteed"),
        (
            json!({"limits": both, "requests": {"cpu": "0.5"}}),
            "Burstable",
        ),
    ] {
        let mut pod =
            json!({"metadata": {}, "spec": {"containers": containers(resources.clone())}});
        KIND.prepare_create(KubernetesVersion::DEFAULT, &mut pod);
        let expected = json!({"phase": "Pending", "qosClass": expected});
        assert_eq!(pod["status"], expected, "{resources}");
    }
}

#[test]
fn pods_get_warnings_about_hidden_and_overlapping_parts() {
    let fine = named(&json!({"containers": [{
        "name": "c",
        "env": [{"name": "A", "value": "1"}, {"name": "A", "value": "$(A)2"}],
        "ports": [{"containerPort": 80, "protocol": "TCP"}, {"containerPort": 80, "protocol": "UDP"}],
        "resources": {"requests": {"memory": "1Gi"}},
    }]}));
    assert_eq!(warnings(&KIND, &fine), [""; 0]);
    let odd = json!({
        "nodeSelector": {"beta.kubernetes.io/os": "linux"},
        "imagePullSecrets": [{"name": "a"}, {"name": "a"}, {}],
        "terminationGracePeriodSeconds": -1,
        "containers": [{
            "name": "c",
            "env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}],
            "ports": [{"containerPort": 80}, {"containerPort": 80}, {"containerPort": 80, "hostPort": 81}],
            "resources": {"limits": {"memory": "100m"}},
        }],
    });
    let expected = [
        r#"spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead"#,
        r#"spec.imagePullSecrets[1].name: duplicate name "a""#,
        r#"spec.imagePullSecrets[2].name: invalid empty name """#,
        r#"spec.containers[0].resources.limits[memory]: fractional byte value "100m" is invalid, must be an integer"#,
        r#"spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply"#,
        "spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]",
        "spec.containers[0].ports[2]: overlapping port definition with spec.containers[0].ports[0]",
        "spec.containers[0].ports[2]: overlapping port definition with spec.containers[0].ports[1]",
        "spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1",
    ];
    assert_eq!(warnings(&KIND, &named(&odd)), expected);
}

#[test]
fn fields_of_features_that_are_off_go_unless_they_are_used() {
    let spec = json!({
        "schedulingGroup": {"podGroupName": "g"},
        "containers": [
            {"name": "a", "lifecycle": {"stopSignal": "SIGINT"}},
            {"name": "b", "lifecycle": {"stopSignal": "SIGINT", "preStop": {"sleep": {"seconds": 1}}}},
        ],
        "volumes": [{"name": "v", "projected": {"sources": [{"podCertificate": {}, "secret": {}}]}}],
    });
    let sent = json!({"spec": spec});
    let mut new = sent.clone();
    drop_disabled(KubernetesVersion::DEFAULT, "", &Value::Null, &mut new);
    let left = json!({
        "containers": [{"name": "a"}, {"name": "b", "lifecycle": {"preStop": {"sleep": {"seconds": 1}}}}],
        "volumes": [{"name": "v", "projected": {"sources": [{"secret": {}}]}}],
    });
    assert_eq!(new, json!({"spec": left}));
    let mut kept = sent.clone();
    drop_disabled(KubernetesVersion::DEFAULT, "", &sent, &mut kept);
    assert_eq!(kept, sent);
    let mut pod = json!({"status": {"nodeAllocatableResourceClaimStatuses": []}});
    let disabled = disabled_fields(KubernetesVersion::DEFAULT, "pods").unwrap();
    disabled.drop_from(&Value::Null, &mut pod);
    assert_eq!(pod, json!({"status": {}}));
}

#[test]
fn containers_stay_within_the_resources_of_their_pod() {
    let asking = |resources: &Value| {
        let mut pod =
            container(&json!({"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "3"}}}));
        pod["spec"]["resources"] = resources.clone();
        pod
    };
    check(
        &KIND,
        &asking(&json!({"requests": {"cpu": "2"}, "limits": {"cpu": "4"}})),
        &[],
    );
    check(
        &KIND,
        &asking(&json!({"requests": {"cpu": "1"}, "limits": {"cpu": "1"}})),
        &[
            "spec.resources.requests[cpu]: Invalid value: \"1\": must be greater than or equal to aggregate container \
             requests of 2",
            "spec.resources.containers[0][cpu].limits: Invalid value: \"3\": must be less than or equal to pod limits of 1",
        ],
    );
    check(
        &KIND,
        &asking(&json!({"limits": {"example.com/a": "1"}})),
        &[
            "spec.resources.limits[example.com/a]: Unsupported value: \"example.com/a\": supported values: \"cpu\", \
             \"hugepages-\", \"memory\"",
        ],
    );
    let defaulted = defaulted(
        &KIND,
        asking(&json!({"limits": {"cpu": "4", "memory": "1Gi"}})),
    );
    assert_eq!(
        defaulted["spec"]["resources"]["requests"],
        json!({"cpu": "2", "memory": "1Gi"})
    );
}
