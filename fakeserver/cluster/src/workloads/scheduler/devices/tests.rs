//! Devices of slices, and pods whose claims need them.

#![expect(
    clippy::needless_pass_by_value,
    reason = "objects of tests are literals, which read better without references"
)]

use fakeserver_kinds::resource::{device_class, resource_claim, resource_slice};
use serde_json::{Value, json};

use super::{Devices, NoDevices, Reservation};
use crate::workloads::scheduler::{
    Node, PodInfo,
    tests::{Fixture, pod},
};

/// A slice of a pool that is called as its node, with these devices.
fn slice(node: &str, devices: Value) -> Value {
    json!({
        "metadata": {"name": format!("slice-{node}")},
        "spec": {
            "driver": "gpu.example.com", "nodeName": node,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
            "devices": devices,
        },
    })
}

fn gpu(name: &str, model: &str) -> Value {
    json!({"name": name, "attributes": {"model": {"string": model}}})
}

fn class() -> Value {
    json!({"metadata": {"name": "gpu"}, "spec": {
        "selectors": [{"cel": {"expression": "device.driver == 'gpu.example.com'"}}],
        "config": [{"opaque": {"driver": "gpu.example.com", "parameters": {"mode": "shared"}}}],
    }})
}

/// A claim `c` with these requests.
fn claim(requests: Value) -> Value {
    json!({
        "metadata": {"name": "c", "namespace": "default", "uid": "c"},
        "spec": {"devices": {"requests": requests}},
    })
}

fn request(name: &str, fields: Value) -> Value {
    let mut exactly = json!({"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1});
    for (field, value) in fields.as_object().into_iter().flatten() {
        exactly[field] = value.clone();
    }
    json!({"name": name, "exactly": exactly})
}

fn selecting(model: &str) -> Value {
    let expression = format!("device.attributes['gpu.example.com'].model == '{model}'");
    json!([{"cel": {"expression": expression}}])
}

fn user() -> Value {
    let claims = json!([{"name": "own", "resourceClaimName": "c"}]);
    pod("p", json!({}), json!({"resourceClaims": claims}))
}

/// Two nodes: `a` has two devices of model `small`, `b` has one `small` and one `big`.
fn cluster() -> Fixture {
    Fixture::of_nodes(2)
        .with(&device_class::KIND, class())
        .with(
            &resource_slice::KIND,
            slice("a", json!([gpu("g0", "small"), gpu("g1", "small")])),
        )
        .with(
            &resource_slice::KIND,
            slice("b", json!([gpu("g0", "small"), gpu("g1", "big")])),
        )
}

/// The devices of the claim `c` on the node that is chosen for its pod, as `NODE: REQUEST=DEVICE ...`; or the reasons.
fn given(cluster: &Fixture) -> String {
    let node = match cluster.attempt(&user()) {
        Ok(node) => node,
        Err(failure) => return failure.outcome.message,
    };
    let reservations = reserved(cluster, &node).into_iter().map(|reservation| {
        let allocation = reservation.allocation.unwrap_or_default();
        let results = allocation["devices"]["results"].as_array().cloned();
        let results = results.unwrap_or_default().into_iter().map(|result| {
            let text = |field: &str| result[field].as_str().unwrap().to_owned();
            assert_eq!(text("pool"), node);
            format!("{}={}", text("request"), text("device"))
        });
        results.collect::<Vec<_>>().join(" ")
    });
    format!("{node}: {}", reservations.collect::<Vec<_>>().join(" "))
}

fn reserved(cluster: &Fixture, node: &str) -> Vec<Reservation> {
    let devices = Devices::of(&PodInfo::of(&user()), &cluster.objects).unwrap();
    let node = Node::of(&json!({"metadata": {"name": node}}));
    devices.reservations(&node)
}

const NOT_HELPFUL: &str = "still not schedulable, preemption: 0/2 nodes are available: 2 Preemption is not helpful for \
                           scheduling.";

#[test]
fn a_pod_goes_where_its_devices_are() {
    let with = |requests: Value| given(&cluster().with(&resource_claim::KIND, claim(requests)));
    assert_eq!(with(json!([request("r", json!({}))])), "a: r=g0");
    let big = json!({"selectors": selecting("big")});
    assert_eq!(with(json!([request("r", big.clone())])), "b: r=g1");
    let small = json!({"selectors": selecting("small")});
    let both = json!([request("s", small.clone()), request("l", big.clone())]);
    assert_eq!(with(both), "b: s=g0 l=g1");
    assert_eq!(
        with(json!([request("r", json!({"count": 2}))])),
        "a: r=g0 r=g1"
    );
    let all = json!({"allocationMode": "All", "selectors": selecting("big")});
    assert_eq!(with(json!([request("r", all)])), "b: r=g1");
    let message = with(json!([request("r", json!({"count": 3}))]));
    assert_eq!(
        message,
        format!("0/2 nodes are available: 2 cannot allocate all claims. {NOT_HELPFUL}")
    );
    // The first request must not take the only device that the second can have.
    let greedy = json!([request("any", json!({})), request("big", big)]);
    assert_eq!(with(greedy), "b: any=g0 big=g1");
}

#[test]
fn devices_that_others_have_are_not_given_again() {
    let mut other = claim(json!([]));
    other["metadata"]["name"] = json!("other");
    let result = |device: &str| json!({"request": "r", "driver": "gpu.example.com", "pool": "a", "device": device});
    other["status"] = json!({"allocation": {"devices": {"results": [result("g0")]}}});
    let with = |requests: Value| {
        let cluster = cluster().with(&resource_claim::KIND, claim(requests));
        given(&cluster.with(&resource_claim::KIND, other.clone()))
    };
    assert_eq!(with(json!([request("r", json!({}))])), "a: r=g1");
    let small = json!({"allocationMode": "All", "selectors": selecting("small")});
    assert_eq!(
        with(json!([request("r", small)])),
        "b: r=g0",
        "not all of a are free"
    );
    let admin = json!({"adminAccess": true, "count": 2});
    assert_eq!(with(json!([request("r", admin)])), "a: r=g0 r=g1");
}

#[test]
fn alternatives_and_constraints_are_looked_at_in_order() {
    let alternative = |name: &str, count: u64, model: &str| {
        json!({
            "name": name, "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count,
            "selectors": selecting(model),
        })
    };
    let first = json!([
        alternative("two-big", 2, "big"),
        alternative("one", 1, "big")
    ]);
    let requests = json!([{"name": "r", "firstAvailable": first}]);
    let preferred = cluster().with(&resource_claim::KIND, claim(requests));
    assert_eq!(given(&preferred), "b: r/one=g1");
    let mut same = claim(json!([request("r", json!({})), request("s", json!({}))]));
    same["spec"]["devices"]["constraints"] = json!([{"matchAttribute": "gpu.example.com/model"}]);
    let only_b = pod(
        "p",
        json!({}),
        json!({
            "nodeSelector": {"zone": "z1"},
            "resourceClaims": [{"name": "own", "resourceClaimName": "c"}],
        }),
    );
    let constrained = cluster().with(&resource_claim::KIND, same.clone());
    assert_eq!(given(&constrained), "a: r=g0 s=g1");
    assert!(
        constrained
            .reasons(&only_b)
            .contains("1 cannot allocate all claims")
    );
    same["spec"]["devices"]["constraints"] =
        json!([{"matchAttribute": "gpu.example.com/serial", "requests": ["s"]}]);
    let missing = cluster().with(&resource_claim::KIND, same);
    assert_eq!(missing.reasons(&user()), "2 cannot allocate all claims");
}

#[test]
fn an_allocation_describes_its_devices() {
    let mut own = claim(json!([request("r", json!({})), request("s", json!({}))]));
    let opaque = json!({"driver": "gpu.example.com", "parameters": {"x": 1}});
    own["spec"]["devices"]["config"] = json!([{"requests": ["s"], "opaque": opaque}]);
    let cluster = cluster().with(&resource_claim::KIND, own);
    let [reservation] = reserved(&cluster, "a").try_into().unwrap();
    let allocation = reservation.allocation.unwrap();
    let shared = json!({"driver": "gpu.example.com", "parameters": {"mode": "shared"}});
    assert_eq!(
        allocation["devices"]["config"],
        json!([
            {"source": "FromClass", "opaque": shared},
            {"source": "FromClaim", "requests": ["s"], "opaque": opaque},
        ])
    );
    let field = json!({"key": "metadata.name", "operator": "In", "values": ["a"]});
    assert_eq!(
        allocation["nodeSelector"],
        json!({"nodeSelectorTerms": [{"matchFields": [field]}]})
    );
}

#[test]
fn a_claim_with_devices_keeps_its_pod_near_them() {
    let mut own = claim(json!([request("r", json!({}))]));
    let field = json!({"key": "metadata.name", "operator": "In", "values": ["b"]});
    own["status"] = json!({"allocation": {
        "devices": {"results": []},
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [field]}]},
    }});
    let near = cluster().with(&resource_claim::KIND, own.clone());
    assert_eq!(given(&near), "b: ");
    let elsewhere = Fixture::of_nodes(1).with(&resource_claim::KIND, own.clone());
    assert_eq!(
        elsewhere.reasons(&user()),
        "1 resourceclaim not available on the node"
    );
    own["status"]["reservedFor"] = vec![json!({"uid": "x"}); 256].into();
    let full = cluster().with(&resource_claim::KIND, own);
    assert!(given(&full).starts_with("0/2 nodes are available: resourceclaim in use."));
}

#[test]
fn pools_that_change_and_tainted_devices_are_left_alone() {
    let mut partial = slice("a", json!([gpu("g0", "small")]));
    partial["spec"]["pool"]["resourceSliceCount"] = json!(2);
    let one = || claim(json!([request("r", json!({}))]));
    let changing = cluster()
        .with(&resource_slice::KIND, partial.clone())
        .with(&resource_claim::KIND, one());
    assert_eq!(given(&changing), "b: r=g0");
    let all = claim(json!([request("r", json!({"allocationMode": "All"}))]));
    let mut waiting = Fixture::of_nodes(1)
        .with(&device_class::KIND, class())
        .with(&resource_slice::KIND, partial)
        .with(&resource_claim::KIND, all);
    assert_eq!(
        waiting.reasons(&user()),
        "1 claim default/c, request r: asks for all devices, but resource pool gpu.example.com/a is currently being updated"
    );
    let mut newer = slice("a", json!([gpu("g9", "small")]));
    newer["metadata"]["name"] = json!("newer");
    newer["spec"]["pool"]["generation"] = json!(2);
    waiting = waiting
        .with(&resource_slice::KIND, newer)
        .with(&resource_claim::KIND, one());
    assert_eq!(given(&waiting), "a: r=g9");
    let mut tainted = gpu("g0", "small");
    tainted["taints"] = json!([{"key": "broken", "effect": "NoSchedule"}]);
    let mut cluster = Fixture::of_nodes(1)
        .with(&device_class::KIND, class())
        .with(&resource_slice::KIND, slice("a", json!([tainted])))
        .with(&resource_claim::KIND, one());
    assert_eq!(cluster.reasons(&user()), "1 cannot allocate all claims");
    let tolerations = json!([{"key": "broken", "operator": "Exists"}]);
    let tolerant = claim(json!([request("r", json!({"tolerations": tolerations}))]));
    cluster = cluster.with(&resource_claim::KIND, tolerant);
    assert_eq!(given(&cluster), "a: r=g0");
}

#[test]
fn a_pod_waits_for_missing_claims() {
    let nothing = Devices::of(&PodInfo::of(&user()), &cluster().objects);
    assert_eq!(nothing.unwrap_err(), NoDevices::Unmade);
    let mut classless = request("r", json!({}));
    classless["exactly"]["deviceClassName"] = json!("none");
    let cluster = cluster().with(&resource_claim::KIND, claim(json!([classless])));
    assert_eq!(
        given(&cluster),
        "0/2 nodes are available: request r: device class none does not exist. no new claims to deallocate, preemption: 0/2 \
         nodes are available: 2 Preemption is not helpful for scheduling."
    );
}

#[test]
fn failing_expressions_are_reported() {
    let wrong = json!([{"cel": {"expression": "device.attributes['gpu.example.com'].speed > 1"}}]);
    let requests = json!([request("r", json!({"selectors": wrong}))]);
    let cluster = cluster().with(&resource_claim::KIND, claim(requests));
    assert_eq!(
        cluster.reasons(&user()),
        "2 claim default/c: selector #0: CEL runtime error: no such key: speed"
    );
}

#[test]
fn a_search_without_an_end_is_given_up() {
    let names: Vec<Value> = (0..100)
        .map(|number| gpu(&format!("g{number}"), "small"))
        .collect();
    let requests: Vec<Value> = (0..4)
        .map(|number| request(&format!("r{number}"), json!({"count": 5})))
        .chain([request("none", json!({"selectors": selecting("big")}))])
        .collect();
    let cluster = Fixture::of_nodes(1)
        .with(&device_class::KIND, class())
        .with(&resource_slice::KIND, slice("a", names.into()))
        .with(&resource_claim::KIND, claim(requests.into()));
    assert_eq!(
        cluster.reasons(&user()),
        "1 timed out trying to allocate devices"
    );
}
