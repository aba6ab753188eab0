//! Filters that look at a pod and a node, and the messages.

use serde_json::{Value, json};

use super::{Fixture, node, pod, requesting};

const UNMATCHED: &str = "1 node(s) didn't match Pod's node affinity/selector";
const TAINTED: &str = "1 node(s) had untolerated taint(s)";
const TAKEN: &str = "1 node(s) didn't have free ports for the requested pod ports";
const HOSTNAME: &str = "kubernetes.io/hostname";

#[test]
fn messages_are_those_of_upstream() {
    let none = Fixture::new(&[]);
    let plain = pod("p", json!({}), json!({}));
    assert_eq!(
        none.place(&plain).unwrap_err(),
        "no nodes available to schedule pods"
    );
    let mut tainted = node("c", json!({}), json!({"cpu": "2", "pods": "3"}));
    tainted["spec"]["taints"] = json!([{"key": "k", "value": "v", "effect": "NoSchedule"}]);
    let mut cluster = Fixture::of_nodes(2);
    let tainted = super::Node::of(&tainted);
    cluster.scheduler.snapshot.set_node(tainted);
    let mut large = requesting("p", json!({"cpu": "3"}));
    assert_eq!(
        cluster.place(&large).unwrap_err(),
        "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu. \
         no new claims to deallocate, preemption: 0/3 nodes are available: \
         3 Preemption is not helpful for scheduling."
    );
    let mut cluster = cluster.on("a", &requesting("q", json!({"cpu": "1500m"})));
    cluster.put("b", &requesting("r", json!({"cpu": "1500m"})));
    large["spec"]["containers"][0]["resources"]["requests"] = json!({"cpu": "1"});
    assert_eq!(
        cluster.place(&large).unwrap_err(),
        "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu. \
         no new claims to deallocate, preemption: 0/3 nodes are available: \
         1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod."
    );
    large["spec"]["preemptionPolicy"] = json!("Never");
    assert_eq!(
        cluster.place(&large).unwrap_err(),
        "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu. \
         no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never."
    );
}

#[test]
fn resources_are_counted_by_name() {
    let large = json!({
        "cpu": "4", "memory": "8Gi", "ephemeral-storage": "1Gi", "pods": "10",
        "example.com/gpu": "2", "hugepages-2Mi": "4Mi",
    });
    let cluster = Fixture::new(&[node("n", json!({}), large)]);
    let used = json!({"cpu": "3500m", "memory": "7Gi", "example.com/gpu": "1"});
    let cluster = cluster.on("n", &requesting("used", used));
    let init = |always: bool| {
        let mut container = json!({"name": "i", "resources": {"requests": {"cpu": "400m"}}});
        if always {
            container["restartPolicy"] = json!("Always");
        }
        let main = json!({"name": "c", "resources": {"requests": {"cpu": "200m"}}});
        pod(
            "p",
            json!({}),
            json!({"initContainers": [container], "containers": [main]}),
        )
    };
    let mut overhead = requesting("p", json!({"cpu": "400m"}));
    overhead["spec"]["overhead"] = json!({"cpu": "200m"});
    let mut whole = requesting("p", json!({"cpu": "100m"}));
    whole["spec"]["resources"] = json!({"requests": {"cpu": "600m"}});
    for (pod, reasons) in [
        (requesting("p", json!({"cpu": "500m", "memory": "1Gi"})), ""),
        (
            requesting("p", json!({"cpu": "501m"})),
            "1 Insufficient cpu",
        ),
        (
            requesting("p", json!({"cpu": "1", "memory": "2Gi"})),
            "1 Insufficient cpu, 1 Insufficient memory",
        ),
        (requesting("p", json!({"example.com/gpu": "1"})), ""),
        (
            requesting("p", json!({"example.com/gpu": "2"})),
            "1 Insufficient example.com/gpu",
        ),
        (
            requesting("p", json!({"example.com/none": "1"})),
            "1 Insufficient example.com/none",
        ),
        (
            requesting("p", json!({"hugepages-2Mi": "8Mi"})),
            "1 Insufficient hugepages-2Mi",
        ),
        (
            requesting("p", json!({"ephemeral-storage": "2Gi"})),
            "1 Insufficient ephemeral-storage",
        ),
        (init(false), ""),
        (init(true), "1 Insufficient cpu"),
        (overhead, "1 Insufficient cpu"),
        (whole, "1 Insufficient cpu"),
    ] {
        match reasons {
            "" => assert_eq!(cluster.place(&pod).unwrap(), "n", "{pod}"),
            reasons => assert_eq!(cluster.reasons(&pod), reasons, "{pod}"),
        }
    }
}

#[test]
fn a_node_takes_the_allocatable_number_of_pods() {
    let cluster = Fixture::new(&[node("n", json!({}), json!({"cpu": "1", "pods": "1"}))]);
    let plain = pod("p", json!({}), json!({}));
    assert_eq!(cluster.place(&plain).unwrap(), "n");
    let cluster = cluster.on("n", &requesting("used", json!({"cpu": "1"})));
    assert_eq!(cluster.reasons(&plain), "1 Too many pods");
    let more = requesting("p", json!({"cpu": "1"}));
    assert_eq!(
        cluster.reasons(&more),
        "1 Insufficient cpu, 1 Too many pods"
    );
    let silent = json!({"metadata": {"name": "m"}, "spec": {}});
    let cluster = Fixture::new(&[silent]);
    assert_eq!(cluster.place(&more).unwrap(), "m");
}

#[test]
fn the_node_with_the_fewest_pods_is_chosen_or_the_one_that_is_preferred() {
    let plain = pod("p", json!({}), json!({}));
    let cluster = Fixture::of_nodes(3).on("a", &pod("q", json!({}), json!({})));
    assert_eq!(cluster.place(&plain).unwrap(), "b");
    let term = json!({"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z0"]}]});
    let preferred = json!([{"weight": 1, "preference": term}]);
    let affinity =
        json!({"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}});
    let picky = pod("p", json!({}), json!({"affinity": affinity}));
    assert_eq!(cluster.place(&picky).unwrap(), "a");
    let mut discouraging = node("b", json!({}), json!({"pods": "3"}));
    discouraging["spec"]["taints"] = json!([{"key": "k", "effect": "PreferNoSchedule"}]);
    let mut cluster = cluster;
    let discouraging = super::Node::of(&discouraging);
    cluster.scheduler.snapshot.set_node(discouraging);
    assert_eq!(cluster.place(&plain).unwrap(), "c");
}

#[test]
fn nodes_are_selected_by_labels_and_names() {
    let labels = json!({"disk": "ssd", "cores": "8"});
    let cluster = Fixture::new(&[node("n", labels, json!({"pods": "3"}))]);
    let of_terms = |terms: Value| {
        let required =
            json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}});
        json!({"affinity": {"nodeAffinity": required}})
    };
    let label = |key: &str, operator: &str, values: Value| {
        let expression = json!({"key": key, "operator": operator, "values": values});
        of_terms(json!([{"matchExpressions": [expression]}]))
    };
    let field = |operator: &str, name: &str| {
        let field = json!({"key": "metadata.name", "operator": operator, "values": [name]});
        of_terms(json!([{"matchFields": [field]}]))
    };
    for (spec, reasons) in [
        (json!({"nodeSelector": {"disk": "ssd"}}), ""),
        (json!({"nodeSelector": {"disk": "hdd"}}), UNMATCHED),
        (label("disk", "In", json!(["hdd", "ssd"])), ""),
        (label("disk", "NotIn", json!(["ssd"])), UNMATCHED),
        (label("gpu", "NotIn", json!(["a"])), ""),
        (label("gpu", "DoesNotExist", json!(null)), ""),
        (label("gpu", "Exists", json!(null)), UNMATCHED),
        (label("cores", "Gt", json!(["4"])), ""),
        (label("cores", "Lt", json!(["4"])), UNMATCHED),
        (label("disk", "Gt", json!(["4"])), UNMATCHED),
        (of_terms(json!([{}])), UNMATCHED),
        (field("In", "n"), ""),
        (
            field("In", "m"),
            "1 node(s) didn't satisfy plugin(s) [NodeAffinity]",
        ),
        (field("NotIn", "n"), UNMATCHED),
    ] {
        let pod = pod("p", json!({}), spec);
        match reasons {
            "" => assert_eq!(cluster.place(&pod).unwrap(), "n", "{pod}"),
            reasons => assert_eq!(cluster.reasons(&pod), reasons, "{pod}"),
        }
    }
    let named = |name: &str| json!({"key": "metadata.name", "operator": "In", "values": [name]});
    let both = of_terms(json!([{"matchFields": [named("n"), named("m")]}]));
    assert_eq!(
        cluster.place(&pod("p", json!({}), both)).unwrap_err(),
        "0/1 nodes are available: pod affinity terms conflict. not found"
    );
}

#[test]
fn taints_are_tolerated_by_key_value_and_effect() {
    let mut tainted = node("n", json!({}), json!({"pods": "3"}));
    let taint = |effect: &str| json!({"key": "k", "value": "v", "effect": effect});
    let tolerating = |tolerations: Value| pod("p", json!({}), json!({"tolerations": tolerations}));
    for (effect, tolerations, reasons) in [
        ("NoSchedule", json!([]), TAINTED),
        ("NoExecute", json!([]), TAINTED),
        ("PreferNoSchedule", json!([]), ""),
        ("NoSchedule", json!([{"operator": "Exists"}]), ""),
        (
            "NoSchedule",
            json!([{"key": "k", "operator": "Exists"}]),
            "",
        ),
        ("NoSchedule", json!([{"key": "k", "value": "v"}]), ""),
        ("NoSchedule", json!([{"key": "k", "value": "w"}]), TAINTED),
        (
            "NoSchedule",
            json!([{"key": "k", "operator": "Exists", "effect": "NoExecute"}]),
            TAINTED,
        ),
        (
            "NoSchedule",
            json!([{"key": "k", "operator": "Lt", "value": "v"}]),
            TAINTED,
        ),
    ] {
        tainted["spec"]["taints"] = json!([taint(effect)]);
        let cluster = Fixture::new(&[tainted.clone()]);
        let pod = tolerating(tolerations);
        match reasons {
            "" => assert_eq!(cluster.place(&pod).unwrap(), "n", "{effect} {pod}"),
            reasons => assert_eq!(cluster.reasons(&pod), reasons, "{effect} {pod}"),
        }
    }
    let mut cordoned = node("n", json!({}), json!({"pods": "3"}));
    cordoned["spec"]["unschedulable"] = json!(true);
    let cluster = Fixture::new(&[cordoned]);
    assert_eq!(
        cluster.reasons(&tolerating(json!([]))),
        "1 node(s) were unschedulable"
    );
    let daemon = json!([{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]);
    assert_eq!(cluster.place(&tolerating(daemon)).unwrap(), "n");
}

#[test]
fn a_port_of_a_node_is_taken_once() {
    let with_port = |name: &str, port: Value| {
        let container = json!({"name": "c", "ports": [port]});
        pod(name, json!({}), json!({"containers": [container]}))
    };
    let taken = with_port("taken", json!({"hostPort": 80, "hostIP": "10.0.0.1"}));
    let cluster = Fixture::of_nodes(1).on("a", &taken);
    for (port, reasons) in [
        (json!({"containerPort": 80}), ""),
        (json!({"hostPort": 81}), ""),
        (json!({"hostPort": 80}), TAKEN),
        (json!({"hostPort": 80, "hostIP": "0.0.0.0"}), TAKEN),
        (json!({"hostPort": 80, "hostIP": "10.0.0.1"}), TAKEN),
        (json!({"hostPort": 80, "hostIP": "10.0.0.2"}), ""),
        (json!({"hostPort": 80, "protocol": "UDP"}), ""),
    ] {
        let pod = with_port("p", port);
        match reasons {
            "" => assert_eq!(cluster.place(&pod).unwrap(), "a", "{pod}"),
            reasons => assert_eq!(cluster.reasons(&pod), reasons, "{pod}"),
        }
    }
    let mut cluster = cluster;
    cluster
        .scheduler
        .snapshot
        .remove(&super::PodInfo::of(&taken).key);
    let pod = with_port("p", json!({"hostPort": 80}));
    assert_eq!(cluster.place(&pod).unwrap(), "a");
}

#[test]
fn a_node_that_comes_finds_the_pods_that_are_on_it() {
    let mut cluster = Fixture::new(&[]);
    cluster.put("a", &requesting("q", json!({"cpu": "2"})));
    let labels = json!({HOSTNAME: "a"});
    let of_two = node("a", labels, json!({"cpu": "2", "pods": "9"}));
    let of_two = super::Node::of(&of_two);
    assert!(cluster.scheduler.snapshot.set_node(of_two.clone()));
    assert!(!cluster.scheduler.snapshot.set_node(of_two.clone()));
    let pod = requesting("p", json!({"cpu": "1"}));
    assert_eq!(cluster.reasons(&pod), "1 Insufficient cpu");
    cluster.scheduler.snapshot.remove_node("a");
    assert_eq!(
        cluster.place(&pod).unwrap_err(),
        "no nodes available to schedule pods"
    );
    cluster.scheduler.snapshot.set_node(of_two);
    assert_eq!(cluster.reasons(&pod), "1 Insufficient cpu");
}
