//! New objects that are refused, and why; and that what is good is not refused.

#![expect(
    clippy::needless_pass_by_value,
    reason = "objects are written where they are given"
)]

use serde_json::{Value, json};

use super::findings;

const PODS: (&str, &str) = ("", "pods");
const DEPLOYMENTS: (&str, &str) = ("apps", "deployments");
const JOBS: (&str, &str) = ("batch", "cronjobs");
const SERVICES: (&str, &str) = ("", "services");

fn pod(spec: Value) -> Value {
    let mut pod = json!({
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    });
    json_patch::merge(&mut pod["spec"], &spec);
    pod
}

/// A pod whose container says this as well.
fn container(more: Value) -> Value {
    let mut pod = pod(json!({}));
    json_patch::merge(&mut pod["spec"]["containers"][0], &more);
    pod
}

fn deployment(more: Value) -> Value {
    let mut object = json!({"metadata": {"name": "d"}, "spec": {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        },
    }});
    json_patch::merge(&mut object["spec"], &more);
    object
}

fn service(spec: Value) -> Value {
    let mut object = json!({"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}});
    json_patch::merge(&mut object["spec"], &spec);
    object
}

#[track_caller]
fn check(kind: (&str, &str), object: &Value, expected: &[&str]) {
    assert_eq!(findings(kind, object), expected, "{object}");
}

#[test]
fn containers_say_what_they_run_and_under_which_name() {
    check(PODS, &pod(json!({})), &[]);
    check(
        PODS,
        &json!({"spec": {}}),
        &["spec.containers: Required value"],
    );
    check(
        PODS,
        &pod(
            json!({"containers": [{"name": "c", "image": "i"}, {"name": "c", "image": " i"}, {}]}),
        ),
        &[
            "spec.containers[1].name: Duplicate value: \"c\"",
            "spec.containers[2].name: Required value",
            "spec.containers[2].image: Required value",
            "spec.containers[1].image: Invalid value: \" i\": must not have leading or trailing whitespace",
        ],
    );
    check(
        PODS,
        &container(json!({"name": "C", "imagePullPolicy": "Sometimes"})),
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
        PODS,
        &pod(json!({"restartPolicy": "Perhaps", "dnsPolicy": "None"})),
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
        PODS,
        &container(json!({
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
        PODS,
        &container(json!({"resources": {
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
        PODS,
        &container(
            json!({"resources": {"limits": {"example.com/gpu": "1.5"}, "requests": {"example.com/gpu": "1"}}}),
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
        PODS,
        &container(json!({
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
        PODS,
        &pod(json!({"volumes": [
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
        PODS,
        &pod(json!({
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
fn workloads_select_what_they_make() {
    check(DEPLOYMENTS, &deployment(json!({})), &[]);
    check(
        DEPLOYMENTS,
        &deployment(json!({"selector": null, "replicas": -1})),
        &[
            "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
            "spec.selector: Required value",
            "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`",
        ],
    );
    check(
        DEPLOYMENTS,
        &deployment(json!({
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
    let stateful = deployment(json!({"podManagementPolicy": "Random"}));
    check(
        ("apps", "statefulsets"),
        &stateful,
        &[
            "spec.podManagementPolicy: Invalid value: \"Random\": must be 'OrderedReady' or 'Parallel'",
        ],
    );
    let daemon = deployment(json!({"updateStrategy": {"type": "Never"}}));
    check(
        ("apps", "daemonsets"),
        &daemon,
        &[
            "spec.updateStrategy.type: Unsupported value: \"Never\": supported values: \"RollingUpdate\", \"OnDelete\"",
        ],
    );
}

#[test]
fn cron_jobs_have_schedules() {
    let cron_job = |schedule: &str, policy: &str| {
        json!({"metadata": {"name": "c"}, "spec": {
            "schedule": schedule,
            "jobTemplate": {"spec": {"template": {"spec": {
                "restartPolicy": policy,
                "containers": [{"name": "c", "image": "i"}],
            }}}},
        }})
    };
    for schedule in [
        "*/5 * * * *",
        "0 0 1 jan mon-fri",
        "@daily",
        "@every 5m",
        "1,2 3-4 ? * 0",
    ] {
        check(JOBS, &cron_job(schedule, "Never"), &[]);
    }
    for (schedule, problem) in [
        ("* * *", "expected exactly 5 fields, found 3: [* * *]"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        (
            "5-1 * * * *",
            "beginning of range (5) beyond end of range (1): 5-1",
        ),
        ("@often", "unrecognized descriptor: @often"),
        (
            "x * * * *",
            "failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax",
        ),
    ] {
        let expected = format!("spec.schedule: Invalid value: {schedule:?}: {problem}");
        check(JOBS, &cron_job(schedule, "Never"), &[&expected]);
    }
    for (zone, problem) in [
        ("Europe/Berlin", None),
        ("Nowhere/City", Some("unknown time zone Nowhere/City")),
        ("europe/berlin", Some("unknown time zone europe/berlin")),
    ] {
        let mut job = cron_job("@daily", "Never");
        job["spec"]["timeZone"] = json!(zone);
        let problem = problem.map(|why| format!("spec.timeZone: Invalid value: {zone:?}: {why}"));
        let expected: Vec<&str> = problem.iter().map(String::as_str).collect();
        check(JOBS, &job, &expected);
    }
    check(
        JOBS,
        &cron_job("@daily", "Always"),
        &[
            "spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", \"Never\"",
        ],
    );
}

#[test]
fn services_have_ports_types_and_names() {
    check(SERVICES, &service(json!({})), &[]);
    check(
        SERVICES,
        &service(json!({"ports": []})),
        &["spec.ports: Required value"],
    );
    check(
        SERVICES,
        &service(json!({"type": "Magic", "externalTrafficPolicy": "Local"})),
        &[
            "spec.type: Unsupported value: \"Magic\": supported values: \"ClusterIP\", \"ExternalName\", \
             \"LoadBalancer\", \"NodePort\"",
            "spec.externalTrafficPolicy: Invalid value: \"Local\": may only be set for externally-accessible services",
        ],
    );
    check(
        SERVICES,
        &service(
            json!({"ports": [{"port": 80}, {"port": 80, "name": "b", "nodePort": 30000}, {"port": 0, "name": "b"}]}),
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
        SERVICES,
        &json!({"spec": {"type": "ExternalName", "clusterIPs": ["10.0.0.1"]}}),
        &[
            "spec.clusterIPs: Forbidden: may not be set for ExternalName services",
            "spec.externalName: Required value",
        ],
    );
}

#[test]
fn data_has_keys_and_secrets_have_what_their_type_needs() {
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
fn volumes_and_claims_say_how_much_and_how() {
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

#[test]
fn what_is_unusual_but_good_is_not_refused() {
    check(
        SERVICES,
        &service(json!({"externalIPs": ["192.0.2.1"]})),
        &[],
    );
    check(
        SERVICES,
        &service(json!({"sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 5}}})),
        &[],
    );
    check(
        PODS,
        &pod(json!({"volumes": [{
            "name": "token",
            "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]},
        }]})),
        &[],
    );
    check(
        PODS,
        &pod(json!({"dnsConfig": {"searches": [".", "_tcp.example.com.", "a_b"]}})),
        &[],
    );
}

#[test]
fn limits_of_a_range_are_in_order() {
    let range = |limits: Value| json!({"metadata": {"name": "r"}, "spec": {"limits": limits}});
    let ranges = ("", "limitranges");
    let good = json!([
        {"type": "Container", "min": {"cpu": "1"}, "defaultRequest": {"cpu": "1"}, "default": {"cpu": "2"}, "max": {"cpu": "2"}},
        {"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}},
    ]);
    check(ranges, &range(good), &[]);
    let bad = json!([
        {"type": "Container", "default": {"cpu": "1"}, "max": {"cpu": "500m"}, "maxLimitRequestRatio": {"cpu": "0"}},
        {"type": "Pod", "default": {"cpu": "1"}},
        {"type": "Pod", "min": {"cpu": "2"}, "max": {"cpu": "1"}},
        {"type": "PersistentVolumeClaim"},
        {"type": "Tree"},
    ]);
    check(
        ranges,
        &range(bad),
        &[
            "spec.limits[0].defaultRequest[cpu]: Invalid value: \"1\": default request value 1 is greater than max value 500m",
            "spec.limits[0].default[cpu]: Invalid value: \"500m\": default value 1 is greater than max value 500m",
            "spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: \"0\": ratio 0 is less than 1",
            "spec.limits[1].default: Forbidden: may not be specified when `type` is 'Pod'",
            "spec.limits[2].type: Duplicate value: \"Pod\"",
            "spec.limits[2].min[cpu]: Invalid value: \"2\": min value 2 is greater than max value 1",
            "spec.limits[3].limits: Required value: either minimum or maximum storage value is required, but neither was provided",
            "spec.limits[4].type: Invalid value: \"Tree\": must be a standard limit type or fully qualified",
        ],
    );
}
