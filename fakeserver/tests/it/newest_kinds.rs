//! Kinds and answers that only the newest version has.

use fakeserver::{Controllers, FakeServer, Feature, KubernetesVersion, Workloads};
use http::StatusCode;
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use serde_json::{Value, json};

use crate::support::Api;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const MIGRATIONS: &str = "/apis/storagemigration.k8s.io/v1/storageversionmigrations";
const BUNDLES: &str = "/apis/certificates.k8s.io/v1/clustertrustbundles";
const REQUESTS: &str = "/apis/certificates.k8s.io/v1/namespaces/default/podcertificaterequests";
const TAINTS: &str = "/apis/resource.k8s.io/v1/devicetaintrules";
const TABLE: &str = "application/json;as=Table;g=meta.k8s.io;v=v1";

fn newest() -> Api {
    Api::of_version("latest")
}

/// A server of the newest version with the controllers of a cluster.
fn with_controllers() -> Api {
    let controllers = Controllers::default().with_workloads(Workloads::default());
    Api {
        server: FakeServer::builder()
            .with_kubernetes_version(KubernetesVersion::LATEST)
            .with_controllers(controllers)
            .build(),
    }
}

/// A definition of widgets, of which `stored` is the version that is stored.
fn widgets(stored: &str) -> Value {
    let version = |name: &str| {
        json!({
            "name": name, "served": true, "storage": name == stored,
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
        })
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.x.io"},
        "spec": {
            "group": "x.io", "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd", "wdg"]},
            "versions": [version("v1"), version("v2")],
        },
    })
}

async fn cells(api: &Api, path: &str) -> (Vec<String>, Vec<Value>) {
    let table = api.send("GET", path, &[("accept", TABLE)], "").await.ok();
    let columns = table["columnDefinitions"].as_array().unwrap().iter();
    let columns = columns.map(|column| column["name"].as_str().unwrap().to_owned());
    let cells = table["rows"][0]["cells"].as_array().unwrap().clone();
    (columns.collect(), cells)
}

#[tokio::test(start_paused = true)]
async fn definitions_are_printed_with_their_scope_and_versions() {
    let api = newest();
    api.post(DEFINITIONS, &widgets("v2")).await.created();
    api.settle().await;
    let (columns, mut row) = cells(&api, DEFINITIONS).await;
    assert_eq!(
        columns,
        [
            "Name",
            "Scope",
            "Versions",
            "Created At",
            "Group",
            "Kind",
            "ShortNames",
            "Established"
        ]
    );
    row.remove(3);
    let expected = json!([
        "widgets.x.io",
        "Namespaced",
        "v1,v2(storage)",
        "x.io",
        "Widget",
        "wd,wdg",
        true
    ]);
    assert_eq!(Value::from(row), expected);
    let older = Api::of_version("1.36");
    older.post(DEFINITIONS, &widgets("v2")).await.created();
    assert_eq!(cells(&older, DEFINITIONS).await.0, ["Name", "Created At"]);
}

fn migration(name: &str, resource: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {"resource": {"group": "x.io", "resource": resource}}})
}

/// The conditions of a migration: type, status and message.
async fn conditions(api: &Api, name: &str) -> Vec<String> {
    let migration = api.get(&format!("{MIGRATIONS}/{name}")).await.ok();
    let conditions = migration["status"]["conditions"].as_array();
    let conditions = conditions.into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    conditions
        .map(|it| {
            [&it["type"], &it["status"], &it["message"]]
                .map(text)
                .join(" ")
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_migration_writes_the_objects_that_are_stored_in_another_version() {
    let api = with_controllers();
    api.post(DEFINITIONS, &widgets("v1")).await.created();
    api.settle().await;
    let widgets_of = "/apis/x.io/v1/namespaces/default/widgets";
    let widget =
        json!({"apiVersion": "x.io/v1", "kind": "Widget", "metadata": {"name": "w"}, "a": 1});
    let before = api.post(widgets_of, &widget).await.created();
    let change = json!({"spec": {"versions": widgets("v2")["spec"]["versions"]}});
    api.merge(&format!("{DEFINITIONS}/widgets.x.io"), &change)
        .await
        .ok();
    api.settle().await;
    api.post(MIGRATIONS, &migration("m", "widgets"))
        .await
        .created();
    api.settle().await;
    assert_eq!(
        conditions(&api, "m").await,
        ["Running False ", "Succeeded True "]
    );
    let after = api.get(&format!("{widgets_of}/w")).await.ok();
    assert_ne!(
        before["metadata"]["resourceVersion"],
        after["metadata"]["resourceVersion"]
    );
    assert_eq!(after["a"], 1);
    // A second one finds nothing to write.
    api.post(MIGRATIONS, &migration("again", "widgets"))
        .await
        .created();
    api.settle().await;
    let again = api.get(&format!("{widgets_of}/w")).await.ok();
    assert_eq!(
        again["metadata"]["resourceVersion"],
        after["metadata"]["resourceVersion"]
    );
    let (_, row) = cells(&api, MIGRATIONS).await;
    assert_eq!(row, ["again", "widgets", "Succeeded"]);
}

#[tokio::test(start_paused = true)]
async fn a_migration_of_a_resource_that_does_not_come_fails_after_a_minute() {
    let api = with_controllers();
    api.post(MIGRATIONS, &migration("m", "gadgets"))
        .await
        .created();
    api.settle().await;
    assert_eq!(conditions(&api, "m").await, [""; 0]);
    tokio::time::sleep(std::time::Duration::from_mins(1)).await;
    assert_eq!(
        conditions(&api, "m").await,
        ["Failed True resource not found"]
    );
    let message = api.post(MIGRATIONS, &migration("n", "")).await.refused(422);
    assert!(
        message.contains("spec.resource.resource: Required value: resource is required"),
        "{message}"
    );
    let change = json!({"spec": {"resource": {"resource": "others"}}});
    let message = api
        .merge(&format!("{MIGRATIONS}/m"), &change)
        .await
        .refused(422);
    assert!(message.contains("field is immutable"), "{message}");
}

/// The certificate of an authority.
fn authority() -> String {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    params.self_signed(&key).unwrap().pem()
}

#[tokio::test(start_paused = true)]
async fn trust_bundles_are_named_by_their_signers_and_hold_certificates() {
    let api = newest();
    let bundle = |name: &str, signer: &str, bundle: &str| json!({"metadata": {"name": name}, "spec": {"signerName": signer, "trustBundle": bundle}});
    let authority = authority();
    let name = "example.com:s:a";
    api.post(BUNDLES, &bundle(name, "example.com/s", &authority))
        .await
        .created();
    for (refused, expected) in [
        (
            bundle("a", "example.com/s", &authority),
            "ClusterTrustBundle for signerName example.com/s must be named with prefix example.com:s:",
        ),
        (
            bundle("a:b", "", &authority),
            "must not have \":\" in its name",
        ),
        (
            bundle("a", "", ""),
            "at least one trust anchor must be provided",
        ),
        (
            bundle("a", "", &format!("{authority}{authority}")),
            "duplicate trust anchor (indices [0 1])",
        ),
        (
            bundle("a", "", "-----BEGIN X-----\nAAAA\n-----END X-----\n"),
            "entry 0 has bad block type: X",
        ),
    ] {
        let message = api.post(BUNDLES, &refused).await.refused(422);
        assert!(message.contains(expected), "{message}");
    }
    let selected = api
        .get(&format!(
            "{BUNDLES}?fieldSelector=spec.signerName=example.com/s"
        ))
        .await
        .ok();
    assert_eq!(selected["items"].as_array().unwrap().len(), 1);
    assert_eq!(cells(&api, BUNDLES).await.1, [name, "example.com/s"]);
}

#[tokio::test(start_paused = true)]
async fn pod_certificate_requests_are_checked_and_decided_once() {
    let api = newest();
    let request = json!({
        "metadata": {"name": "r"},
        "spec": {
            "signerName": "kubernetes.io/s", "podName": "p", "podUID": "1", "serviceAccountName": "a",
            "serviceAccountUID": "2", "nodeName": "n", "nodeUID": "", "maxExpirationSeconds": 90000,
            "stubPKCS10Request": "AAAA", "unverifiedUserAnnotations": {"plain": "x"},
        },
    });
    let message = api.post(REQUESTS, &request).await.refused(422);
    for expected in [
        "spec.nodeUID: Invalid value: \"\": must not be empty",
        "spec.maxExpirationSeconds: Invalid value: 90000: must be in the range [3600, 86400]",
        "must be a domain-prefixed key",
        "spec.stubPKCS10Request: Invalid value",
    ] {
        assert!(message.contains(expected), "{expected}: {message}");
    }
}

#[tokio::test(start_paused = true)]
async fn rules_of_device_taints_are_checked_and_know_since_when_they_hold() {
    let api = newest();
    let rule = |effect: &str| {
        json!({
            "metadata": {"name": "t"},
            "spec": {"deviceSelector": {"driver": "d.io"}, "taint": {"key": "k.io/a", "effect": effect}},
        })
    };
    let message = api.post(TAINTS, &rule("Never")).await.refused(422);
    assert!(
        message.contains("spec.taint.effect: Unsupported value: \"Never\""),
        "{message}"
    );
    let created = api.post(TAINTS, &rule("NoSchedule")).await.created();
    let since = |rule: &Value| {
        rule["spec"]["taint"]["timeAdded"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    tokio::time::sleep(std::time::Duration::from_mins(1)).await;
    let path = format!("{TAINTS}/t");
    let labelled = json!({"metadata": {"labels": {"a": "b"}}});
    let same = api.merge(&path, &labelled).await.ok();
    assert_eq!(since(&same), since(&created));
    let change = json!({"spec": {"taint": {"effect": "NoExecute"}}});
    let changed = api.merge(&path, &change).await.ok();
    assert_ne!(since(&changed), since(&created));
    assert_eq!(changed["metadata"]["generation"], 2);
}

#[tokio::test(start_paused = true)]
async fn usage_is_served_in_its_stable_version_too() {
    let api = with_controllers();
    let group = api.get("/apis/metrics.k8s.io").await.ok();
    assert_eq!(group["preferredVersion"]["version"], "v1");
    let nodes = api.get("/apis/metrics.k8s.io/v1/nodes").await.ok();
    assert_eq!(nodes["apiVersion"], "metrics.k8s.io/v1");
    api.get("/apis/metrics.k8s.io/v1beta1/nodes").await.ok();
}

#[tokio::test(start_paused = true)]
async fn discovery_is_cbor_where_objects_are() {
    let aggregated = "application/cbor;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let media_type = async |version: &str, path: &str, accept: &str| {
        let version: KubernetesVersion = version.parse().unwrap();
        let api = Api {
            server: FakeServer::builder()
                .with_kubernetes_version(version)
                .with_cbor(true)
                .build(),
        };
        let answer = api.send("GET", path, &[("accept", accept)], "").await;
        let headers = answer.headers;
        headers["content-type"].to_str().unwrap().to_owned()
    };
    let either = "application/cbor,application/json";
    for path in ["/apis", "/api", "/apis/apps"] {
        assert_eq!(
            media_type("latest", path, either).await,
            "application/cbor",
            "{path}"
        );
        assert_eq!(
            media_type("1.36", path, either).await,
            "application/json",
            "{path}"
        );
    }
    let both = format!("{aggregated},application/json");
    assert_eq!(media_type("latest", "/apis", &both).await, aggregated);
    assert_eq!(media_type("1.36", "/apis", &both).await, "application/json");
    let plain = Api::of_version("latest");
    let answer = plain.send("GET", "/apis", &[("accept", either)], "").await;
    assert_eq!(answer.code, StatusCode::OK);
    assert_eq!(answer.headers["content-type"], "application/json");
}

#[tokio::test(start_paused = true)]
async fn kinds_behind_gates_are_served_with_their_gates() {
    const WORKLOADS: &str = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/workloads";
    const GROUPS: &str = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups";
    const EVICTIONS: &str = "/apis/lifecycle.k8s.io/v1alpha1/namespaces/default/evictionrequests";
    let server = |version: KubernetesVersion| Api {
        server: FakeServer::builder()
            .with_kubernetes_version(version)
            .with_feature(Feature::GenericWorkload, true)
            .with_feature(Feature::EvictionRequestApi, true)
            .build(),
    };
    let older = server("1.36".parse().unwrap());
    for api in [newest(), older] {
        for path in [WORKLOADS, GROUPS, EVICTIONS] {
            let answer = api.get(path).await;
            assert_eq!(answer.code, StatusCode::NOT_FOUND, "{path}");
        }
    }
    let api = server(KubernetesVersion::LATEST);
    api.get("/apis/scheduling.k8s.io/v1/priorityclasses")
        .await
        .ok();
    let gang = |count: i64| json!({"gang": {"minCount": count}});
    let workload = |policy: Value| {
        json!({
            "metadata": {"name": "w"},
            "spec": {"podGroupTemplates": [{"name": "workers", "schedulingPolicy": policy}]},
        })
    };
    let both = json!({"basic": {}, "gang": {"minCount": 1}});
    let refused = api.post(WORKLOADS, &workload(both)).await.refused(422);
    assert!(
        refused.contains(
            "Invalid value: \"{basic, gang}\": must specify exactly one of: `basic`, `gang`"
        ),
        "{refused}"
    );
    api.post(WORKLOADS, &workload(gang(2))).await.created();
    let mut grown = api.get(&format!("{WORKLOADS}/w")).await.ok();
    grown["spec"]["podGroupTemplates"][0]["schedulingPolicy"] = gang(3);
    let grown = api.put(&format!("{WORKLOADS}/w"), &grown).await.ok();
    assert_eq!(grown["metadata"]["generation"], 2);
    let group = json!({"metadata": {"name": "g"}, "spec": {"schedulingPolicy": gang(3)}});
    let made = api.post(GROUPS, &group).await.created();
    assert_eq!(made["spec"]["disruptionMode"], json!({"single": {}}));

    let request = |uid: &str| {
        json!({
            "metadata": {"name": "e"},
            "spec": {
                "target": {"pod": {"name": "p", "uid": uid}},
                "requester": "drain.x.io/operator", "intent": "Eviction",
            },
        })
    };
    let refused = api.post(EVICTIONS, &request("P-1")).await.refused(422);
    assert!(
        refused.contains("Invalid value: \"P-1\": must be a lowercase UUID in 8-4-4-4-12 format"),
        "{refused}"
    );
    let uid = "6f1e2e0c-6c3e-4a37-9a10-3a5d6f0f7a11";
    api.post(EVICTIONS, &request(uid)).await.created();
    let (columns, _) = cells(&api, EVICTIONS).await;
    assert_eq!(columns, ["Name", "Created At"]);
}
