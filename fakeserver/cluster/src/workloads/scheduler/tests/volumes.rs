//! Claims and volumes.

use fakeserver_kinds::{
    core::{persistent_volume, persistent_volume_claim},
    storage::storage_class,
};
use serde_json::{Value, json};

use super::{Fixture, UnscheduledPod, pod};
use crate::workloads::scheduler::volumes::Binding;

fn using(claim: &str) -> Value {
    let volume = json!({"name": "v", "persistentVolumeClaim": {"claimName": claim}});
    pod("p", json!({}), json!({"volumes": [volume]}))
}

fn claim(spec: Value) -> Value {
    json!({"metadata": {"name": "c", "namespace": "default", "uid": "c"}, "spec": spec})
}

fn bound(volume: &str) -> Value {
    let mut claim = claim(json!({"volumeName": volume}));
    claim["metadata"]["annotations"] = json!({"pv.kubernetes.io/bind-completed": "yes"});
    claim
}

fn volume(name: &str, spec: Value) -> Value {
    json!({"metadata": {"name": name}, "spec": spec})
}

fn in_zone(zone: &str) -> Value {
    let expression = json!({"key": "zone", "operator": "In", "values": [zone]});
    json!({"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}})
}

fn class(mode: &str, provisioner: &str) -> Value {
    json!({"metadata": {"name": "class"}, "provisioner": provisioner, "volumeBindingMode": mode})
}

#[test]
fn a_pod_waits_for_its_claims() {
    let mut lost = claim(json!({"volumeName": "v"}));
    lost["status"] = json!({"phase": "Lost"});
    let mut going = bound("v");
    going["metadata"]["deletionTimestamp"] = json!(super::NOW);
    for (claim, why) in [
        (None, "persistentvolumeclaim \"c\" not found"),
        (
            Some(lost),
            "persistentvolumeclaim \"c\" bound to non-existent persistentvolume \"v\"",
        ),
        (Some(going), "persistentvolumeclaim \"c\" is being deleted"),
        (
            Some(claim(json!({}))),
            "pod has unbound immediate PersistentVolumeClaims",
        ),
        (
            Some(claim(json!({"volumeName": "v"}))),
            "pod has unbound immediate PersistentVolumeClaims",
        ),
        (Some(bound("v")), "persistentvolume \"v\" not found"),
    ] {
        let mut cluster = Fixture::of_nodes(2);
        if let Some(claim) = claim {
            cluster = cluster.with(&persistent_volume_claim::KIND, claim);
        }
        let message = cluster.place(&using("c")).unwrap_err();
        assert_eq!(
            message,
            format!("0/2 nodes are available: {why}. not found")
        );
    }
    let mut ephemeral = pod("p", json!({}), json!({}));
    ephemeral["spec"]["volumes"] = json!([{"name": "v", "ephemeral": {}}]);
    let message = Fixture::of_nodes(1).place(&ephemeral).unwrap_err();
    assert!(message.contains(
        "waiting for ephemeral volume controller to create the persistentvolumeclaim \"p-v\""
    ));
}

#[test]
fn a_bound_volume_restricts_the_nodes_of_its_pod() {
    let of_volume = |volume: Value| {
        Fixture::of_nodes(2)
            .with(&persistent_volume_claim::KIND, bound("v"))
            .with(&persistent_volume::KIND, volume)
    };
    let cluster = of_volume(volume("v", json!({"nodeAffinity": in_zone("z1")})));
    assert_eq!(cluster.place(&using("c")).unwrap(), "b");
    let cluster = of_volume(volume("v", json!({"nodeAffinity": in_zone("z9")})));
    assert_eq!(
        cluster.reasons(&using("c")),
        "2 node(s) didn't match PersistentVolume's node affinity"
    );
    let mut labelled = volume("v", json!({}));
    labelled["metadata"]["labels"] = json!({"failure-domain.beta.kubernetes.io/zone": "x__y"});
    let mut cluster = of_volume(labelled);
    assert_eq!(
        cluster.place(&using("c")).unwrap(),
        "a",
        "no node says its zone"
    );
    for (name, zone) in [("a", "w"), ("b", "y")] {
        let labels = json!({"topology.kubernetes.io/zone": zone});
        let node = super::node(name, labels, json!({"pods": "3"}));
        cluster.scheduler.snapshot.set_node(super::Node::of(&node));
    }
    assert_eq!(cluster.place(&using("c")).unwrap(), "b");
}

#[test]
fn a_claim_for_a_single_pod_is_used_once() {
    let mut single = bound("v");
    single["spec"]["accessModes"] = json!(["ReadWriteOncePod"]);
    let mut other = using("c");
    other["metadata"]["name"] = json!("q");
    let cluster = Fixture::of_nodes(1)
        .with(&persistent_volume_claim::KIND, single)
        .with(&persistent_volume::KIND, volume("v", json!({})));
    assert_eq!(cluster.place(&using("c")).unwrap(), "a");
    let cluster = cluster.on("a", &other);
    assert_eq!(
        cluster.reasons(&using("c")),
        "1 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
    );
}

#[test]
fn a_claim_that_waits_gets_a_volume_that_is_there_or_a_new_one() {
    let waiting = claim(json!({
        "storageClassName": "class", "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    }));
    let offered = |name: &str, size: &str, zone: &str| {
        let spec = json!({
            "storageClassName": "class", "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": size}, "nodeAffinity": in_zone(zone),
        });
        volume(name, spec)
    };
    let by_hand = class("WaitForFirstConsumer", "kubernetes.io/no-provisioner");
    let cluster = Fixture::of_nodes(2)
        .with(&persistent_volume_claim::KIND, waiting.clone())
        .with(&storage_class::KIND, by_hand);
    assert_eq!(
        cluster.reasons(&using("c")),
        "2 node(s) didn't find available persistent volumes to bind"
    );
    let mut golden = offered("golden", "1Gi", "z1");
    golden["spec"]["volumeAttributesClassName"] = json!("gold");
    let cluster = cluster
        .with(&persistent_volume::KIND, golden)
        .with(&persistent_volume::KIND, offered("small", "1Mi", "z0"))
        .with(&persistent_volume::KIND, offered("large", "9Gi", "z1"))
        .with(&persistent_volume::KIND, offered("right", "2Gi", "z1"));
    let bindings = |cluster: &Fixture| {
        let pod = UnscheduledPod::of(&using("c"));
        let placed = cluster.scheduler.place(&pod, &cluster.objects, super::NOW);
        let placed = placed.map_err(|failure| failure.outcome.message);
        let placed = placed.unwrap();
        (placed.node.to_string(), placed.claims.bindings)
    };
    let right = Binding::Volume {
        volume: "right".to_owned(),
        claim: waiting,
    };
    assert_eq!(bindings(&cluster), ("b".to_owned(), vec![right]));
    let mut made = class("WaitForFirstConsumer", "example.com/disk");
    made["allowedTopologies"] =
        json!([{"matchLabelExpressions": [{"key": "zone", "values": ["z0"]}]}]);
    let cluster = cluster.with(&storage_class::KIND, made);
    let new = Binding::New {
        claim: "c".to_owned(),
    };
    assert_eq!(bindings(&cluster), ("a".to_owned(), vec![new]));
}
