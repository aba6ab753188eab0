//! Admission plugins that read other objects, protection of volumes and claims, and warnings.

use serde_json::{Value, json};

use crate::support::{Api, CONFIG_MAPS, DEPLOYMENTS, deployment, warnings};

const PODS: &str = "/api/v1/namespaces/default/pods";
const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const CLASSES: &str = "/apis/scheduling.k8s.io/v1/priorityclasses";

fn pod_with(name: &str, field: &str, value: &Value) -> Value {
    let mut pod = json!({
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    });
    pod["spec"][field] = value.clone();
    pod
}

fn claim(name: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    })
}

#[tokio::test]
async fn pods_have_the_priority_of_their_class() {
    let api = Api::new();
    let named = pod_with("p", "priorityClassName", &json!("high"));
    assert_eq!(
        api.post(PODS, &named).await.refused(403),
        "pods \"p\" is forbidden: no PriorityClass with name high was found"
    );
    let class = json!({"metadata": {"name": "high"}, "value": 7, "preemptionPolicy": "Never"});
    api.post(CLASSES, &class).await.created();
    let made = api.post(PODS, &named).await.created();
    assert_eq!(made["spec"]["priority"], 7);
    assert_eq!(made["spec"]["preemptionPolicy"], "Never");
    let plain = pod_with("q", "priority", &json!(5));
    assert_eq!(
        api.post(PODS, &plain).await.refused(403),
        "pods \"q\" is forbidden: the integer value of priority (5) must not be provided in pod spec; priority admission \
         controller computed 0 from the given PriorityClass name"
    );
    let class = json!({"metadata": {"name": "usual"}, "value": 3, "globalDefault": true});
    api.post(CLASSES, &class).await.created();
    let made = api
        .post(PODS, &pod_with("r", "priorityClassName", &Value::Null))
        .await
        .created();
    assert_eq!(made["spec"]["priorityClassName"], "usual");
    assert_eq!(made["spec"]["priority"], 3);
    let system = pod_with("s", "priorityClassName", &json!("system-node-critical"));
    let made = api.post(PODS, &system).await.created();
    assert_eq!(made["spec"]["priority"], 2_000_001_000);
}

#[tokio::test]
async fn classes_that_pods_claims_and_ingresses_get_or_have_to_have() {
    let api = Api::new();
    let pod = pod_with("p", "runtimeClassName", &json!("small"));
    assert_eq!(
        api.post(PODS, &pod).await.refused(403),
        "pods \"p\" is forbidden: pod rejected: RuntimeClass \"small\" not found"
    );
    let class = json!({
        "metadata": {"name": "small"}, "handler": "h", "overhead": {"podFixed": {"cpu": "10m"}},
    });
    let classes = "/apis/node.k8s.io/v1/runtimeclasses";
    api.post(classes, &class).await.created();
    let made = api.post(PODS, &pod).await.created();
    assert_eq!(made["spec"]["overhead"], json!({"cpu": "10m"}));

    let made = api.post(CLAIMS, &claim("before")).await.created();
    assert_eq!(made["spec"]["storageClassName"], Value::Null);
    let class = json!({
        "metadata": {
            "name": "fast",
            "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
        },
        "provisioner": "example.com/p",
    });
    let classes = "/apis/storage.k8s.io/v1/storageclasses";
    api.post(classes, &class).await.created();
    let made = api.post(CLAIMS, &claim("after")).await.created();
    assert_eq!(made["spec"]["storageClassName"], "fast");

    let ingress = |name: &str| {
        json!({"metadata": {"name": name}, "spec": {"defaultBackend": {
            "service": {"name": "s", "port": {"number": 80}},
        }}})
    };
    let ingresses = "/apis/networking.k8s.io/v1/namespaces/default/ingresses";
    let classes = "/apis/networking.k8s.io/v1/ingressclasses";
    // Of two of one age, the first by name counts.
    for class in ["one", "two"] {
        let annotations = json!({"ingressclass.kubernetes.io/is-default-class": "true"});
        let object = json!({
            "metadata": {"name": class, "annotations": annotations},
            "spec": {"controller": "example.com/c"},
        });
        api.post(classes, &object).await.created();
        let made = api.post(ingresses, &ingress(class)).await.created();
        assert_eq!(made["spec"]["ingressClassName"], "one");
    }
}

#[tokio::test(start_paused = true)]
async fn a_claim_stays_while_a_pod_on_a_node_uses_it() {
    let api = Api::new();
    let made = api.post(CLAIMS, &claim("c")).await.created();
    let finalizers = json!(["kubernetes.io/pvc-protection"]);
    assert_eq!(made["metadata"]["finalizers"], finalizers);
    let volumes = json!([{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]);
    let mut user = pod_with("p", "volumes", &volumes);
    user["spec"]["nodeName"] = json!("n");
    api.post(PODS, &user).await.created();
    let path = format!("{CLAIMS}/c");
    let marked = api.delete(&path).await.ok();
    assert_eq!(marked["metadata"]["finalizers"], finalizers);
    api.settle().await;
    assert_eq!(
        api.get(&path).await.ok()["metadata"]["finalizers"],
        finalizers
    );
    api.delete(&format!("{PODS}/p?gracePeriodSeconds=0"))
        .await
        .ok();
    api.settle().await;
    api.get(&path).await.refused(404);

    let volume = json!({
        "metadata": {"name": "v"},
        "spec": {
            "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/x"},
        },
    });
    let volumes = "/api/v1/persistentvolumes";
    let made = api.post(volumes, &volume).await.created();
    assert_eq!(
        made["metadata"]["finalizers"],
        json!(["kubernetes.io/pv-protection"])
    );
    let since = &made["status"]["lastPhaseTransitionTime"];
    assert_eq!(since, &made["metadata"]["creationTimestamp"]);
    let path = format!("{volumes}/v");
    api.merge(
        &format!("{path}/status"),
        &json!({"status": {"phase": "Bound"}}),
    )
    .await
    .ok();
    api.delete(&path).await.ok();
    api.settle().await;
    api.get(&path).await.ok();
    api.merge(
        &format!("{path}/status"),
        &json!({"status": {"phase": "Released"}}),
    )
    .await
    .ok();
    api.settle().await;
    api.get(&path).await.refused(404);
}

#[tokio::test]
async fn warnings_accompany_accepted_and_rejected_writes() {
    let api = Api::new();
    let mut odd = deployment("a.b");
    odd["bogus"] = json!(1);
    let hostname = "299 - \"metadata.name: this is used in Pod names and hostnames, which can result in surprising \
                    behavior; a DNS label is recommended: [must not contain dots]\"";
    let expected = ["299 - \"unknown field \\\"bogus\\\"\"", hostname];
    let first = api.post(DEPLOYMENTS, &odd).await;
    assert_eq!(warnings(&first), expected);
    first.created();
    let again = api.post(DEPLOYMENTS, &odd).await;
    assert_eq!(warnings(&again), expected);
    again.refused(409);
    odd["spec"]["replicas"] = json!(-1);
    let invalid = api.post(DEPLOYMENTS, &odd).await;
    assert_eq!(warnings(&invalid), expected[..1]);
    invalid.refused(422);

    let owner = json!({"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"});
    let twice = json!({"metadata": {"name": "o", "ownerReferences": [owner, owner]}});
    let answer = api.post(CONFIG_MAPS, &twice).await;
    assert!(
        warnings(&answer)[0].contains(".metadata.ownerReferences contains duplicate entries; ")
    );
    assert_eq!(
        answer.created()["metadata"]["ownerReferences"],
        json!([owner])
    );
    let plain = api
        .post(CONFIG_MAPS, &json!({"metadata": {"name": "a.b"}}))
        .await;
    assert_eq!(warnings(&plain), [""; 0]);
}

#[tokio::test]
async fn metadata_is_looked_at_as_often_as_the_rules_of_the_kind_do() {
    let api = Api::new();
    api.config_map("c").await;
    api.post(DEPLOYMENTS, &deployment("d")).await.created();
    let change = json!({"metadata": {"labels": {"a b": "c"}}});
    for (path, times) in [
        (format!("{CONFIG_MAPS}/c"), 4),
        (format!("{DEPLOYMENTS}/d"), 3),
    ] {
        let answer = api.merge(&path, &change).await;
        let causes = answer.json()["details"]["causes"].as_array().unwrap().len();
        assert_eq!(causes, times, "{path}");
        assert_eq!(
            answer
                .refused(422)
                .matches("name part must consist")
                .count(),
            1
        );
    }
}

const SERVICES: &str = "/api/v1/namespaces/default/services";

fn service(name: &str, kind: &str, spec: &Value) -> Value {
    let mut service = json!({"metadata": {"name": name}, "spec": spec});
    service["spec"]["type"] = json!(kind);
    service
}

#[tokio::test]
async fn services_get_unique_addresses_and_ports() {
    let api = Api::new();
    let mut addresses = std::collections::BTreeSet::new();
    for number in 0..20 {
        let two = json!({"ports": [
            {"name": "a", "port": 53, "protocol": "UDP"},
            {"name": "b", "port": 53, "protocol": "TCP"},
            {"name": "c", "port": 54},
        ]});
        let sent = service(&format!("s{number}"), "NodePort", &two);
        let made = api.post(SERVICES, &sent).await.created();
        let address = made["spec"]["clusterIP"].as_str().unwrap().to_owned();
        let parsed: std::net::Ipv4Addr = address.parse().unwrap();
        assert!(parsed.is_private(), "{address}");
        assert_eq!(made["spec"]["clusterIPs"], json!([address]));
        assert!(addresses.insert(address));
        let ports = made["spec"]["ports"].as_array().unwrap();
        let number = |at: usize| ports[at]["nodePort"].as_u64().unwrap();
        assert_eq!(number(0), number(1), "one port for both protocols");
        for port in [number(0), number(2)] {
            assert!((30_000..32_768).contains(&port), "{port}");
            assert!(addresses.insert(port.to_string()));
        }
    }
    let headless = service("h", "ClusterIP", &json!({"clusterIP": "None"}));
    let made = api.post(SERVICES, &headless).await.created();
    assert_eq!(made["spec"]["clusterIPs"], json!(["None"]));
}

#[tokio::test]
async fn a_service_may_request_free_addresses_and_ports() {
    let api = Api::new();
    let port =
        |number: u64| json!({"clusterIP": "10.0.0.9", "ports": [{"port": 80, "nodePort": number}]});
    let first = service("first", "NodePort", &port(30_080));
    api.post(SERVICES, &first).await.created();
    assert_eq!(
        api.post(
            SERVICES,
            &service("second", "ClusterIP", &json!({"clusterIP": "10.0.0.9"}))
        )
        .await
        .refused(422),
        "Service \"second\" is invalid: spec.clusterIPs: Invalid value: [\"10.0.0.9\"]: failed to allocate IP 10.0.0.9: \
         provided IP is already allocated"
    );
    let outside = service("second", "ClusterIP", &json!({"clusterIP": "1.2.3.4"}));
    assert!(
        api.post(SERVICES, &outside)
            .await
            .refused(422)
            .ends_with("the provided network does not match the current range")
    );
    let taken = json!({"ports": [{"port": 80, "nodePort": 30_080}]});
    assert_eq!(
        api.post(SERVICES, &service("second", "NodePort", &taken))
            .await
            .refused(422),
        "Service \"second\" is invalid: spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated"
    );
    let low = json!({"ports": [{"port": 80, "nodePort": 80}]});
    assert_eq!(
        api.post(SERVICES, &service("second", "NodePort", &low))
            .await
            .refused(422),
        "Service \"second\" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. \
         The range of valid ports is 30000-32767"
    );
}

#[tokio::test]
async fn a_service_that_changes_its_type_gets_missing_addresses() {
    let api = Api::new();
    let sent = service(
        "s",
        "ExternalName",
        &json!({"externalName": "a.example", "ports": [{"port": 80}]}),
    );
    let made = api.post(SERVICES, &sent).await.created();
    assert!(made["spec"].get("clusterIP").is_none());
    let path = format!("{SERVICES}/s");
    let patched = api
        .merge(
            &path,
            &json!({"spec": {"type": "NodePort", "externalName": null}}),
        )
        .await
        .ok();
    let address = patched["spec"]["clusterIP"].as_str().unwrap();
    assert!(address.starts_with("10."), "{address}");
    let port = patched["spec"]["ports"][0]["nodePort"].as_u64().unwrap();
    assert!((30_000..32_768).contains(&port), "{port}");
    let local = json!({"spec": {"type": "LoadBalancer", "externalTrafficPolicy": "Local"}});
    let local = api.merge(&path, &local).await.ok();
    assert_eq!(local["spec"]["clusterIP"], address);
    assert_eq!(local["spec"]["ports"][0]["nodePort"], port);
    let health = local["spec"]["healthCheckNodePort"].as_u64().unwrap();
    assert!(
        (30_000..32_768).contains(&health) && health != port,
        "{health}"
    );
}
