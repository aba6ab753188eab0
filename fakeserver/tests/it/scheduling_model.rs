//! The scheduler against a model: random nodes and pods come, go and change; no pod is ever placed against a rule, and at
//! rest none waits that would fit.

use std::{collections::BTreeMap, time::Duration};

use fakeserver::{Controllers, Workloads};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Api, PODS, paused, pod};

const NODES: &str = "/api/v1/nodes";

#[derive(Debug, Clone)]
enum Step {
    Node { number: u8, zone: u8, cpu: u8 },
    Cordon { number: u8, is_closed: bool },
    RemoveNode { number: u8 },
    Pod { number: u8, shape: PodShape },
    RemovePod { number: u8 },
    Relabel { number: u8, app: u8 },
    Pass { seconds: u8 },
}

/// The requirements of a pod.
#[derive(Debug, Clone, Copy)]
struct PodShape {
    cpu: u8,
    app: u8,
    priority: u8,
    zone: Option<u8>,
    away: Option<u8>,
    near: Option<u8>,
    is_spread: bool,
}

fn shape() -> impl Strategy<Value = PodShape> {
    let rare = || prop::option::weighted(0.2, 0..3_u8);
    let needs = (
        1..4_u8,
        0..3_u8,
        0..3_u8,
        rare(),
        rare(),
        rare(),
        prop::bool::weighted(0.2),
    );
    needs.prop_map(
        |(cpu, app, priority, zone, away, near, is_spread)| PodShape {
            cpu,
            app,
            priority,
            zone,
            away,
            near,
            is_spread,
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (0..4_u8, 0..3_u8, 2..6_u8).prop_map(|(number, zone, cpu)| Step::Node { number, zone, cpu }),
        1 => (0..4_u8, any::<bool>()).prop_map(|(number, is_closed)| Step::Cordon { number, is_closed }),
        1 => (0..4_u8).prop_map(|number| Step::RemoveNode { number }),
        8 => (0..24_u8, shape()).prop_map(|(number, shape)| Step::Pod { number, shape }),
        4 => (0..24_u8).prop_map(|number| Step::RemovePod { number }),
        1 => (0..24_u8, 0..3_u8).prop_map(|(number, app)| Step::Relabel { number, app }),
        2 => (0..4_u8).prop_map(|seconds| Step::Pass { seconds }),
    ]
}

// === impl Step ===

impl Step {
    /// Does it, if it can be done.
    async fn run(&self, api: &Api) {
        match *self {
            Self::Node { number, zone, cpu } => {
                let node = json!({
                    "metadata": {"name": format!("n{number}"), "labels": {"zone": format!("z{zone}")}},
                    "status": {"allocatable": {"cpu": cpu.to_string(), "pods": "4"}},
                });
                api.post(NODES, &node).await;
            }
            Self::Cordon { number, is_closed } => {
                let change = json!({"spec": {"unschedulable": is_closed}});
                api.merge(&format!("{NODES}/n{number}"), &change).await;
            }
            Self::RemoveNode { number } => {
                api.delete(&format!("{NODES}/n{number}")).await;
            }
            Self::Pod { number, shape } => {
                api.post(PODS, &shape.pod(&format!("p{number}"))).await;
            }
            Self::RemovePod { number } => {
                api.delete(&format!("{PODS}/p{number}")).await;
            }
            Self::Relabel { number, app } => {
                let change = json!({"metadata": {"labels": {"app": format!("a{app}")}}});
                api.merge(&format!("{PODS}/p{number}"), &change).await;
            }
            Self::Pass { seconds } => tokio::time::sleep(Duration::from_secs(seconds.into())).await,
        }
    }
}

// === impl PodShape ===

impl PodShape {
    fn pod(self, name: &str) -> Value {
        let mut pod = pod(name, "");
        pod["metadata"]["labels"] = json!({"app": format!("a{}", self.app)});
        let spec = &mut pod["spec"];
        spec["priorityClassName"] = json!(format!("c{}", self.priority));
        spec["containers"][0]["resources"] = json!({"requests": {"cpu": self.cpu.to_string()}});
        let about = |app: u8| {
            let selector = json!({"matchLabels": {"app": format!("a{app}")}});
            json!([{"labelSelector": selector, "topologyKey": "zone"}])
        };
        let kinds = [("podAntiAffinity", self.away), ("podAffinity", self.near)];
        for (kind, app) in kinds {
            if let Some(app) = app {
                spec["affinity"][kind] =
                    json!({"requiredDuringSchedulingIgnoredDuringExecution": about(app)});
            }
        }
        if let Some(zone) = self.zone {
            spec["nodeSelector"] = json!({"zone": format!("z{zone}")});
        }
        if self.is_spread {
            spec["topologySpreadConstraints"] = json!([{
                "maxSkew": 1,
                "topologyKey": "zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": format!("a{}", self.app)}},
            }]);
        }
        pod
    }
}

/// The nodes and the pods at a time.
#[derive(Default)]
struct World {
    nodes: BTreeMap<String, Value>,
    pods: BTreeMap<String, Value>,
}

// === impl World ===

impl World {
    /// Returns the pods on nodes, but for one.
    fn placed<'a>(&'a self, but: &'a Value) -> impl Iterator<Item = &'a Value> {
        self.pods.values().filter(|pod| {
            pod["spec"]["nodeName"].is_string()
                && !matches!(
                    pod["status"]["phase"].as_str(),
                    Some("Succeeded" | "Failed")
                )
                && pod["metadata"]["uid"] != but["metadata"]["uid"]
        })
    }

    fn zone(&self, pod: &Value) -> Option<&str> {
        let node = self.nodes.get(pod["spec"]["nodeName"].as_str()?)?;
        node["metadata"]["labels"]["zone"].as_str()
    }

    /// Returns the rule that keeps a pod from a node.
    fn broken(&self, pod: &Value, node: &Value) -> Option<&'static str> {
        let name = &node["metadata"]["name"];
        let on = self
            .placed(pod)
            .filter(|other| other["spec"]["nodeName"] == *name);
        let on: Vec<&Value> = on.collect();
        let capacity = node["status"]["allocatable"]["cpu"].as_str()?;
        let used: i64 = on.iter().map(|other| cpu(other)).sum();
        let zone = node["metadata"]["labels"]["zone"].as_str()?;
        let wanted = pod["spec"]["nodeSelector"]["zone"].as_str();
        if used + cpu(pod) > capacity.parse().ok()? {
            return Some("cpu");
        }
        if on.len() >= 4 {
            return Some("pods");
        }
        if node["spec"]["unschedulable"] == true {
            return Some("cordon");
        }
        if wanted.is_some_and(|wanted| wanted != zone) {
            return Some("selector");
        }
        let near: Vec<&Value> = self
            .placed(pod)
            .filter(|other| self.zone(other) == Some(zone))
            .collect();
        let keeps = |one: &Value, other: &Value| term(one, "podAntiAffinity") == Some(app(other));
        if near
            .iter()
            .any(|other| keeps(pod, other) || keeps(other, pod))
        {
            return Some("anti-affinity");
        }
        if let Some(wanted) = term(pod, "podAffinity") {
            let anywhere = self
                .placed(pod)
                .any(|other| app(other) == wanted && self.zone(other).is_some());
            let is_first = !anywhere && app(pod) == wanted;
            if !is_first && !near.iter().any(|other| app(other) == wanted) {
                return Some("affinity");
            }
        }
        self.is_skewed(pod, zone).then_some("spread")
    }

    /// Returns whether a pod in a zone would break its constraint.
    fn is_skewed(&self, pod: &Value, zone: &str) -> bool {
        let constraint = &pod["spec"]["topologySpreadConstraints"][0];
        let selected = constraint["labelSelector"]["matchLabels"]["app"].as_str();
        let Some(selected) = selected else {
            return false;
        };
        let wanted = pod["spec"]["nodeSelector"]["zone"].as_str();
        let zones = self
            .nodes
            .values()
            .filter_map(|node| node["metadata"]["labels"]["zone"].as_str());
        let zones = zones.filter(|zone| wanted.is_none_or(|wanted| wanted == *zone));
        let mut counts: BTreeMap<&str, i64> = zones.map(|zone| (zone, 0)).collect();
        for other in self.placed(pod) {
            let stays = other["metadata"].get("deletionTimestamp").is_none();
            let count = self.zone(other).and_then(|zone| counts.get_mut(zone));
            if let Some(count) = count.filter(|_| stays && app(other) == selected) {
                *count += 1;
            }
        }
        let least = counts.values().min().copied().unwrap_or_default();
        let own = i64::from(app(pod) == selected);
        counts
            .get(zone)
            .is_some_and(|count| count + own - least > 1)
    }
}

fn cpu(pod: &Value) -> i64 {
    let amount = &pod["spec"]["containers"][0]["resources"]["requests"]["cpu"];
    amount.as_str().unwrap().parse().unwrap()
}

fn app(pod: &Value) -> &str {
    pod["metadata"]["labels"]["app"].as_str().unwrap()
}

/// The label of the pods that a required term of a pod is about.
fn term<'a>(pod: &'a Value, kind: &str) -> Option<&'a str> {
    let term = &pod["spec"]["affinity"][kind]["requiredDuringSchedulingIgnoredDuringExecution"][0];
    term["labelSelector"]["matchLabels"]["app"].as_str()
}

/// Repeats everything that was written, and checks each placing by what was there before it.
fn replay(api: &Api) -> World {
    let mut changes = Vec::new();
    for resource in ["nodes", "pods"] {
        for change in api.server.history("", "v1", resource, 0) {
            let name = change
                .after()
                .or(change.before())
                .unwrap()
                .name()
                .to_owned();
            let after = change.after().map(|object| object.to_value());
            changes.push((change.revision(), resource, name, after));
        }
    }
    changes.sort_by_key(|(revision, ..)| *revision);
    let mut world = World::default();
    for (revision, resource, name, after) in changes {
        if let (Some(pod), "pods") = (&after, resource) {
            let node = pod["spec"]["nodeName"].as_str();
            let before = world.pods.get(&name);
            let was = before.and_then(|pod| pod["spec"]["nodeName"].as_str());
            if let (Some(node), None) = (node, was) {
                let broken = world.broken(pod, &world.nodes[node]);
                assert_eq!(broken, None, "{name} on {node} at {revision}");
            }
        }
        let objects = if resource == "nodes" {
            &mut world.nodes
        } else {
            &mut world.pods
        };
        match after {
            Some(object) => objects.insert(name, object),
            None => objects.remove(&name),
        };
    }
    world
}

async fn check(steps: &[Step]) {
    let api = Api::with(Controllers::default().with_workloads(Workloads::default().with_nodes(0)));
    for number in 0..3 {
        let class = json!({"metadata": {"name": format!("c{number}")}, "value": number});
        let path = "/apis/scheduling.k8s.io/v1/priorityclasses";
        api.post(path, &class).await.created();
    }
    for step in steps {
        step.run(&api).await;
    }
    tokio::time::sleep(Duration::from_mins(1)).await;
    let world = replay(&api);
    for pod in world
        .pods
        .values()
        .filter(|pod| pod["spec"]["nodeName"].is_null())
    {
        // A node that is cleared for another pod is not free.
        let cleared = world
            .pods
            .values()
            .any(|pod| !pod["status"]["nominatedNodeName"].is_null());
        for node in world.nodes.values().filter(|_| !cleared) {
            let broken = world.broken(pod, node);
            assert!(broken.is_some(), "waits, and fits: {pod} on {node}");
        }
        assert_eq!(
            pod["status"]["conditions"][0]["reason"], "Unschedulable",
            "{pod}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_rule_is_broken_and_no_pod_waits_that_fits(steps in prop::collection::vec(step(), 1..80)) {
        paused().block_on(check(&steps));
    }
}
