//! Clusters of IPv6, and of both address families.

use std::time::Duration;

use fakeserver::{ClusterOptions, Controllers, FakeServer, Snapshot, Workloads};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::support::{Api, PODS};

const SERVICES: &str = "/api/v1/namespaces/default/services";
const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const ENDPOINTS: &str = "/api/v1/namespaces/default/endpoints";
const ADDRESSES: &str = "/apis/networking.k8s.io/v1/ipaddresses";
const KUBERNETES: &str = "/apis/networking.k8s.io/v1/servicecidrs/kubernetes";
const DUAL: &str = "10.1.0.0/16,fd00::/112";

fn api(range: &str) -> Api {
    let range = range.parse().unwrap();
    let server = FakeServer::builder().with_service_range(range).build();
    Api { server }
}

/// A cluster with a node.
fn cluster(range: &str) -> Api {
    let workloads = Workloads::default().with_nodes(2).with_system_pods(true);
    let server = FakeServer::builder()
        .with_service_range(range.parse().unwrap())
        .with_controllers(Controllers::default().with_workloads(workloads))
        .build();
    Api { server }
}

fn service(name: &str, spec: &Value) -> Value {
    let mut service = json!({
        "metadata": {"name": name},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]},
    });
    for (field, value) in spec.as_object().unwrap() {
        service["spec"][field] = value.clone();
    }
    service
}

fn pod(name: &str, host_network: bool) -> Value {
    json!({
        "metadata": {"name": name, "labels": {"app": "web"}},
        "spec": {"hostNetwork": host_network, "containers": [{"name": "c", "image": "i"}]},
    })
}

/// The items of a list.
async fn items(api: &Api, path: &str) -> Vec<Value> {
    api.get(path).await.ok()["items"]
        .as_array()
        .unwrap()
        .clone()
}

/// The names of the address objects, with their families.
async fn addresses(api: &Api) -> Vec<String> {
    let all = items(api, ADDRESSES).await;
    let names = all.iter().map(|address| {
        let metadata = &address["metadata"];
        let family = &metadata["labels"]["ipaddress.kubernetes.io/ip-family"];
        let managed = &metadata["labels"]["ipaddress.kubernetes.io/managed-by"];
        assert_eq!(managed, "ipallocator.k8s.io");
        format!(
            "{} {}",
            family.as_str().unwrap(),
            metadata["name"].as_str().unwrap()
        )
    });
    names.collect()
}

fn texts(list: &Value, field: &str) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    let texts = list.map(|entry| match field {
        "" => entry.as_str(),
        field => entry[field].as_str(),
    });
    texts.map(|text| text.unwrap().to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn the_ranges_of_a_cluster_are_in_its_objects() {
    for (range, cidrs, first, family) in [
        (
            DUAL,
            json!(["10.1.0.0/16", "fd00::/112"]),
            "10.1.0.1",
            "IPv4",
        ),
        (
            "fd00::/112,10.1.0.0/16",
            json!(["fd00::/112", "10.1.0.0/16"]),
            "fd00::1",
            "IPv6",
        ),
        ("fd00::/112", json!(["fd00::/112"]), "fd00::1", "IPv6"),
    ] {
        let api = api(range);
        assert_eq!(api.get(KUBERNETES).await.ok()["spec"]["cidrs"], cidrs);
        let path = format!("{SERVICES}/kubernetes");
        let before = api.get(&path).await.ok();
        assert_eq!(before["spec"]["clusterIPs"], json!([first]));
        assert_eq!(before["spec"]["ipFamilies"], json!([family]));
        assert_eq!(before["spec"]["ipFamilyPolicy"], "SingleStack");
        let slice = api.get(&format!("{SLICES}/kubernetes")).await.ok();
        assert_eq!(slice["addressType"], family);
        // What is deleted comes back with the same address.
        api.delete(&path).await.ok();
        sleep(Duration::from_secs(9)).await;
        assert_eq!(api.get(&path).await.ok()["spec"], before["spec"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_gets_and_releases_a_second_address() {
    let api = cluster(DUAL);
    // Controllers work from the first request on.
    api.get(ADDRESSES).await.ok();
    api.settle().await;
    let before = addresses(&api).await;
    let path = format!("{SERVICES}/s");
    // A dry run shows both addresses, and allocates none.
    let dry = format!("{SERVICES}?dryRun=All");
    let wanted = service("s", &json!({"ipFamilyPolicy": "PreferDualStack"}));
    let found = api.post(&dry, &wanted).await.created();
    assert_eq!(found["spec"]["ipFamilies"], json!(["IPv4", "IPv6"]));
    assert_eq!(texts(&found["spec"]["clusterIPs"], "").len(), 2);
    assert_eq!(addresses(&api).await, before);

    let created = api
        .post(SERVICES, &service("s", &json!({})))
        .await
        .created();
    assert_eq!(created["spec"]["ipFamilyPolicy"], "SingleStack");
    let first = created["spec"]["clusterIP"].as_str().unwrap().to_owned();
    let change = json!({"spec": {"ipFamilyPolicy": "RequireDualStack", "clusterIPs": [first, "fd00::AB"], "ipFamilies": ["IPv4", "IPv6"]}});
    let both = api.merge(&path, &change).await.ok();
    assert_eq!(both["spec"]["clusterIPs"], json!([first, "fd00::AB"]));
    assert_eq!(both["spec"]["ipFamilies"], json!(["IPv4", "IPv6"]));
    api.settle().await;
    let own = |all: Vec<String>| -> Vec<String> {
        let new = all.into_iter().filter(|name| !before.contains(name));
        new.collect()
    };
    // Objects have the canonical text.
    let expected = vec![format!("IPv4 {first}"), "IPv6 fd00::ab".to_owned()];
    assert_eq!(own(addresses(&api).await), expected);
    let thief = service("t", &json!({"clusterIP": "fd00::ab"}));
    let why = api.post(SERVICES, &thief).await.refused(422);
    assert!(why.contains("provided IP is already allocated"), "{why}");

    // A client that leaves the fields out keeps them; one that shortens a list has to say so.
    let kept = api
        .put(&path, &service("s", &json!({"ports": [{"port": 81}]})))
        .await
        .ok();
    assert_eq!(kept["spec"]["clusterIPs"], both["spec"]["clusterIPs"]);
    assert_eq!(kept["spec"]["ipFamilyPolicy"], "RequireDualStack");
    let change = json!({"spec": {"clusterIPs": [first]}});
    let why = api.merge(&path, &change).await.refused(422);
    assert!(
        why.contains("must be 'SingleStack' to release the secondary cluster IP"),
        "{why}"
    );
    let change = json!({"spec": {"ipFamilyPolicy": "SingleStack"}});
    let single = api.merge(&path, &change).await.ok();
    assert_eq!(single["spec"]["clusterIPs"], json!([first]));
    assert_eq!(single["spec"]["ipFamilies"], json!(["IPv4"]));
    api.settle().await;
    assert_eq!(own(addresses(&api).await), [format!("IPv4 {first}")]);
    api.post(SERVICES, &thief).await.created();
    for name in ["s", "t"] {
        api.delete(&format!("{SERVICES}/{name}")).await.ok();
    }
    api.settle().await;
    assert_eq!(addresses(&api).await, before);
}

#[tokio::test(start_paused = true)]
async fn a_service_that_becomes_external_gives_its_addresses_back() {
    let api = api(DUAL);
    let wanted = service(
        "s",
        &json!({"ipFamilyPolicy": "RequireDualStack", "clusterIP": "10.1.0.9", "clusterIPs": ["10.1.0.9", "fd00::9"]}),
    );
    let created = api.post(SERVICES, &wanted).await.created();
    assert_eq!(
        created["spec"]["clusterIPs"],
        json!(["10.1.0.9", "fd00::9"])
    );
    let path = format!("{SERVICES}/s");
    let change = json!({"spec": {"type": "ExternalName", "externalName": "a.example"}});
    let external = api.merge(&path, &change).await.ok();
    for field in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
        assert_eq!(external["spec"].get(field), None, "{field}");
    }
    let other = service("t", &json!({"clusterIP": "fd00::9"}));
    api.post(SERVICES, &other).await.created();
    let change = json!({"spec": {"type": "ClusterIP", "externalName": null, "ipFamilyPolicy": "PreferDualStack"}});
    let back = api.merge(&path, &change).await.ok();
    assert_eq!(back["spec"]["ipFamilies"], json!(["IPv4", "IPv6"]));
    assert_ne!(back["spec"]["clusterIPs"][1], "fd00::9");
}

#[tokio::test(start_paused = true)]
async fn a_cluster_of_one_family_refuses_the_other() {
    let api = Api::new();
    for (spec, why) in [
        (
            json!({"ipFamilyPolicy": "RequireDualStack"}),
            "Service \"s\" is invalid: spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not \
             configured for dual-stack services",
        ),
        (
            json!({"ipFamilies": ["IPv6"]}),
            "Service \"s\" is invalid: spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on this cluster",
        ),
        (
            json!({"clusterIP": "fd00::5"}),
            "Service \"s\" is invalid: spec.clusterIPs[0]: Invalid value: [\"fd00::5\"]: IPv6 is not configured on this cluster",
        ),
    ] {
        let answer = api.post(SERVICES, &service("s", &spec)).await;
        assert_eq!(answer.refused(422), why);
    }
    // A headless service without pods of its own may be of both.
    let mut headless = service("s", &json!({"clusterIP": "None"}));
    headless["spec"]["selector"] = Value::Null;
    let created = api.post(SERVICES, &headless).await.created();
    assert_eq!(created["spec"]["ipFamilyPolicy"], "RequireDualStack");
    assert_eq!(created["spec"]["ipFamilies"], json!(["IPv4", "IPv6"]));
    assert_eq!(created["spec"]["clusterIPs"], json!(["None"]));
}

#[tokio::test(start_paused = true)]
async fn nodes_pods_and_endpoints_have_addresses_of_each_family() {
    for (range, families) in [
        (DUAL, vec!["IPv4", "IPv6"]),
        ("fd00::/112,10.1.0.0/16", vec!["IPv6", "IPv4"]),
        ("fd00::/112", vec!["IPv6"]),
    ] {
        let api = cluster(range);
        let wanted = service("s", &json!({"ipFamilyPolicy": "PreferDualStack"}));
        api.post(SERVICES, &wanted).await.created();
        api.settle().await;
        for (name, host_network) in [("a", false), ("b", false), ("h", true)] {
            api.post(PODS, &pod(name, host_network)).await.created();
        }
        api.settle().await;
        let is_of = |addresses: &[String]| -> Vec<&str> {
            let families = addresses.iter();
            families
                .map(|address| {
                    if address.contains(':') {
                        "IPv6"
                    } else {
                        "IPv4"
                    }
                })
                .collect()
        };
        let mut seen = std::collections::BTreeSet::new();
        for node in items(&api, "/api/v1/nodes").await {
            let ranges = texts(&node["spec"]["podCIDRs"], "");
            assert_eq!(is_of(&ranges), families);
            assert_eq!(node["spec"]["podCIDR"], ranges[0]);
            assert!(seen.insert(ranges[0].clone()), "{ranges:?} twice");
            let addresses = texts(&node["status"]["addresses"], "address");
            assert_eq!(is_of(&addresses[..families.len()]), families);
            assert!(seen.insert(addresses[0].clone()), "{addresses:?} twice");
        }
        let mut of_pods = Vec::new();
        for name in ["a", "b", "h"] {
            let pod = api.get(&format!("{PODS}/{name}")).await.ok();
            let status = &pod["status"];
            let [own, hosts] = ["podIPs", "hostIPs"].map(|field| texts(&status[field], "ip"));
            assert_eq!(
                (is_of(&own), is_of(&hosts)),
                (families.clone(), families.clone())
            );
            assert_eq!(status["podIP"], own[0]);
            assert_eq!(status["hostIP"], hosts[0]);
            if name == "h" {
                assert_eq!(own, hosts);
            } else {
                let node = api
                    .get(&format!(
                        "/api/v1/nodes/{}",
                        pod["spec"]["nodeName"].as_str().unwrap()
                    ))
                    .await
                    .ok();
                let range = node["spec"]["podCIDR"].as_str().unwrap();
                assert!(fakeserver_contains(range, &own[0]), "{} in {range}", own[0]);
                assert!(seen.insert(own[0].clone()), "{own:?} twice");
            }
            of_pods.push(own);
        }
        let slices = format!("{SLICES}?labelSelector=kubernetes.io/service-name=s");
        let slices = items(&api, &slices).await;
        assert_eq!(slices.len(), families.len());
        for (place, family) in families.iter().enumerate() {
            let mut of_family = slices
                .iter()
                .filter(|slice| slice["addressType"] == **family);
            let slice = of_family.next().unwrap();
            assert!(
                slice["metadata"]["name"]
                    .as_str()
                    .unwrap()
                    .starts_with("s-")
            );
            let mut found: Vec<String> = slice["endpoints"]
                .as_array()
                .unwrap()
                .iter()
                .flat_map(|endpoint| texts(&endpoint["addresses"], ""))
                .collect();
            let mut expected: Vec<String> = of_pods.iter().map(|own| own[place].clone()).collect();
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected);
        }
        let endpoints = api.get(&format!("{ENDPOINTS}/s")).await.ok();
        let older = texts(&endpoints["subsets"][0]["addresses"], "ip");
        assert_eq!(is_of(&older), vec![families[0]; 3]);
        check_dns(&api, families[0]).await;
    }
}

/// Checks that the name service is of the primary family alone.
async fn check_dns(api: &Api, family: &str) {
    let dns = "/api/v1/namespaces/kube-system/services/kube-dns";
    let dns = api.get(dns).await.ok();
    assert_eq!(dns["spec"]["ipFamilies"], json!([family]));
    let address = if family == "IPv6" {
        "fd00::a"
    } else {
        "10.1.0.10"
    };
    assert_eq!(dns["spec"]["clusterIP"], address);
}

/// Returns whether a `/24` of IPv4 or a `/64` of IPv6 has an address.
fn fakeserver_contains(range: &str, address: &str) -> bool {
    let net = range.trim_end_matches("0/24").trim_end_matches(":/64");
    address.starts_with(net)
}

#[tokio::test(start_paused = true)]
async fn slices_follow_the_families_of_a_service() {
    let api = cluster(DUAL);
    api.post(PODS, &pod("a", false)).await.created();
    api.post(SERVICES, &service("s", &json!({})))
        .await
        .created();
    api.settle().await;
    let types = async || -> Vec<String> {
        let slices = format!("{SLICES}?labelSelector=kubernetes.io/service-name=s");
        let all = items(&api, &slices).await;
        let mut types: Vec<String> = all
            .iter()
            .map(|slice| slice["addressType"].as_str().unwrap().to_owned())
            .collect();
        types.sort_unstable();
        types
    };
    assert_eq!(types().await, ["IPv4"]);
    for (policy, expected) in [
        ("RequireDualStack", &["IPv4", "IPv6"][..]),
        ("SingleStack", &["IPv4"]),
    ] {
        let change = json!({"spec": {"ipFamilyPolicy": policy}});
        api.merge(&format!("{SERVICES}/s"), &change).await.ok();
        api.settle().await;
        assert_eq!(types().await, expected);
    }
    // Endpoints that a user has written are mirrored in each of their families.
    let mut other = service("t", &json!({}));
    other["spec"]["selector"] = Value::Null;
    api.post(SERVICES, &other).await.created();
    let written = json!({
        "metadata": {"name": "t"},
        "subsets": [{"addresses": [{"ip": "10.9.9.9"}, {"ip": "fd09::9"}], "ports": [{"port": 80}]}],
    });
    api.post(ENDPOINTS, &written).await.created();
    api.settle().await;
    let slices = format!("{SLICES}?labelSelector=kubernetes.io/service-name=t");
    let mut found: Vec<String> = (items(&api, &slices).await.iter())
        .map(|slice| {
            format!(
                "{} {}",
                slice["addressType"], slice["endpoints"][0]["addresses"]
            )
        })
        .collect();
    found.sort_unstable();
    assert_eq!(found, ["\"IPv4\" [\"10.9.9.9\"]", "\"IPv6\" [\"fd09::9\"]"]);
}

#[tokio::test(start_paused = true)]
async fn a_loaded_state_keeps_its_families_and_can_get_a_second_one() {
    let before = api(DUAL);
    let snapshot: Snapshot = before.server.snapshot();
    let wanted = service("s", &json!({"ipFamilyPolicy": "RequireDualStack"}));
    let server = FakeServer::builder().with_snapshot(snapshot).build();
    Api { server }.post(SERVICES, &wanted).await.created();

    let snapshot: Snapshot = api("10.1.0.0/16").server.snapshot();
    let server = FakeServer::builder()
        .with_snapshot(snapshot)
        .with_service_range(DUAL.parse().unwrap())
        .build();
    let api = Api { server };
    assert_eq!(
        api.get(KUBERNETES).await.ok()["spec"]["cidrs"],
        json!(["10.1.0.0/16", "fd00::/112"])
    );
    api.post(SERVICES, &wanted).await.created();
}

#[tokio::test(start_paused = true)]
async fn a_simulated_cluster_has_the_families_too() {
    for (range, families) in [
        (DUAL, vec!["IPv4", "IPv6"]),
        ("fd00::/112,10.1.0.0/16", vec!["IPv6", "IPv4"]),
        ("fd00::/112", vec!["IPv6"]),
    ] {
        let server = FakeServer::builder()
            .with_service_range(range.parse().unwrap())
            .with_cluster(ClusterOptions::new(3, 60))
            .build();
        let api = Api { server };
        let family = |text: &str| if text.contains(':') { "IPv6" } else { "IPv4" };
        let check = |list: &Value, field: &str, what: &Value| {
            let texts = texts(list, field);
            let found: Vec<&str> = texts.iter().map(|text| family(text)).collect();
            assert_eq!(found, families, "{what}");
            for text in texts {
                let (address, _) = text.split_once('/').unwrap_or((&text, ""));
                let canonical: std::net::IpAddr = address.parse().unwrap();
                assert_eq!(canonical.to_string(), address);
            }
        };
        for node in items(&api, "/api/v1/nodes").await {
            check(&node["spec"]["podCIDRs"], "", &node["spec"]);
            assert_eq!(node["spec"]["podCIDR"], node["spec"]["podCIDRs"][0]);
            let mut internal = node["status"]["addresses"].clone();
            internal
                .as_array_mut()
                .unwrap()
                .retain(|address| address["type"] == "InternalIP");
            check(&internal, "address", &node["status"]["addresses"]);
        }
        let mut running = 0;
        for pod in items(&api, "/api/v1/pods").await {
            let status = &pod["status"];
            if status["podIP"].is_null() {
                continue;
            }
            running += 1;
            check(&status["podIPs"], "ip", status);
            check(&status["hostIPs"], "ip", status);
            assert_eq!(status["podIP"], status["podIPs"][0]["ip"]);
        }
        assert!(running > 30, "{running} pods run");
        let slices = items(&api, "/apis/discovery.k8s.io/v1/endpointslices").await;
        for service in items(&api, "/api/v1/services").await {
            let spec = &service["spec"];
            if service["metadata"]["name"] == "kubernetes" {
                continue;
            }
            assert_eq!(spec["ipFamilyPolicy"], "SingleStack");
            assert_eq!(spec["ipFamilies"], json!([families[0]]));
            let address = spec["clusterIP"].as_str().unwrap();
            assert_eq!(family(address), families[0]);
            for family in &families[..1] {
                let mut own = slices.iter().filter(|slice| {
                    let labels = &slice["metadata"]["labels"];
                    labels["kubernetes.io/service-name"] == service["metadata"]["name"]
                        && slice["metadata"]["namespace"] == service["metadata"]["namespace"]
                        && slice["addressType"] == **family
                });
                assert!(own.next().is_some(), "{family} {}", service["metadata"]);
            }
        }
        for slice in &slices {
            let endpoints = slice["endpoints"].as_array().into_iter().flatten();
            for endpoint in endpoints {
                let address = endpoint["addresses"][0].as_str().unwrap();
                assert_eq!(slice["addressType"], family(address));
            }
        }
    }
}
