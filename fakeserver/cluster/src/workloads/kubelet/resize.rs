//! In-place resizes: the resources that running containers request, whether their node has them, and which containers start
//! again for it.
//!
//! Upstream: the package `kubelet/allocation`; KEP-1287. A resize that a node has no room for is tried again when another pod of
//! the node ends, or when the node changes.

use fakeserver_kinds::{
    core,
    usage::{Amounts, Side, declared, effective},
};
use fakeserver_server::{
    controllers::correlation::EventText,
    controllers::{cluster::Cluster, pods::Pod},
    store::ObjectKey,
};
use fakeserver_value::read::text;
use serde_json::Value;

use super::{
    Kubelet, POD,
    fields::{ContainerField, containers},
    life::{ContainerEvent, CurrentTime, PodLifecycle},
};
use crate::workloads::objects::generation;

/// The resources that a resize can change, and the power of ten in which each is counted. If several are missing, messages
/// name the first one.
const RESIZED: [(&str, i64); 2] = [("memory", 0), ("cpu", -3)];
const RESTART: &str = "RestartContainer";

/// The reason for which a node has no room for a resize.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// The reason of the condition: `Infeasible`, or `Deferred` if other pods have the missing resources.
    pub(super) reason: &'static str,
    pub(super) message: String,
    /// The resource that is missing.
    resource: &'static str,
}

/// A container that runs with other resources than it requests.
struct ResizedContainer<'a> {
    container: &'a Value,
    /// True if the container has to restart for the resize.
    restarts: bool,
}

// === impl Kubelet ===

impl Kubelet {
    /// Performs a requested resize if the node has room for it. Then returns the events of the containers that are stopped for
    /// a restart.
    pub(super) fn resize(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        pod: &Pod,
        value: &Value,
        life: &mut PodLifecycle,
        now: CurrentTime<'_>,
    ) -> Option<Vec<ContainerEvent>> {
        let key = pod.key();
        let changed: Vec<ResizedContainer<'_>> = changed(value, life).collect();
        let refusal = if changed.is_empty() {
            None
        } else {
            refusal(cluster, pod, value)
        };
        if let Some(refusal) = refusal {
            // The status shows a refusal for as long as it lasts; an event is recorded when it is another one.
            if self.resizes.get(key) != Some(&refusal) {
                let word = match refusal.reason {
                    "Deferred" => format!("OutOf{}", refusal.resource),
                    reason => reason.to_owned(),
                };
                let reason = format!("Resize{}", refusal.reason);
                let message = message(value, &word, Some(&refusal.message));
                let event = EventText::warning(&reason, &message);
                cluster.correlated_event(&mut self.events, &POD, value, &event);
            }
            self.resizes.insert(key.clone(), refusal);
            return None;
        }
        self.resizes.remove(key);
        if changed.is_empty() {
            return None;
        }
        let event = message(value, "started", None);
        let event = EventText::normal("ResizeStarted", &event);
        cluster.correlated_event(&mut self.events, &POD, value, &event);
        let restarted = changed.iter().filter(|it| it.restarts);
        let events = restarted.flat_map(|it| life.restart(text(&it.container["name"]), now));
        Some(events.collect())
    }

    /// Records that the containers of a pod have the requested resources.
    pub(super) fn record_resize(&mut self, cluster: &mut Cluster<'_, '_>, pod: &Value) {
        let event = message(pod, "completed", None);
        let event = EventText::normal("ResizeCompleted", &event);
        cluster.correlated_event(&mut self.events, &POD, pod, &event);
    }
}

/// Returns the containers that run with other resources than they ask for.
fn changed<'a>(pod: &'a Value, life: &PodLifecycle) -> impl Iterator<Item = ResizedContainer<'a>> {
    containers(&pod["spec"]).filter_map(|(field, container)| {
        let given = &status_of(pod, field, container)?["resources"];
        let requested = &container["resources"];
        let mut all = life.containers.iter();
        let is_running = all.any(|it| *it.name == container["name"] && it.is_running());
        if given == requested || !is_running {
            return None;
        }
        let differs = |resource: &str| {
            [Side::Requests, Side::Limits].into_iter().any(|side| {
                let [given, requested] = [given, requested].map(|it| side.of(it));
                given.get(resource) != requested.get(resource)
            })
        };
        let restarts = |(resource, policy)| policy == RESTART && differs(resource);
        RESIZED
            .iter()
            .any(|(name, _)| differs(name))
            .then(|| ResizedContainer {
                container,
                restarts: policies(container).any(restarts),
            })
    })
}

fn status_of<'a>(pod: &'a Value, field: ContainerField, container: &Value) -> Option<&'a Value> {
    let mut all = pod["status"][field.status_name()].as_array()?.iter();
    all.find(|status| status["name"] == container["name"] && status["resources"].is_object())
}

/// Returns the resources of a container for which it has a policy, and these.
fn policies(container: &Value) -> impl Iterator<Item = (&str, &str)> {
    let all = container["resizePolicy"].as_array().into_iter().flatten();
    all.map(|policy| {
        (
            text(&policy["resourceName"]),
            text(&policy["restartPolicy"]),
        )
    })
}

/// Returns why the node of a pod has no room for the requested resources.
fn refusal(cluster: &Cluster<'_, '_>, pod: &Pod, value: &Value) -> Option<Refusal> {
    let node = ObjectKey::cluster(core::node::KIND.storage().clone(), &pod.node);
    let node = cluster.get(&node)?.to_value();
    let offered = Amounts::of(&node["status"]["allocatable"]);
    let requested = declared(value, Side::Requests);
    let mut used = Amounts::default();
    for other in cluster.index.pods.assigned_to(&pod.node) {
        if other.key() != pod.key() && !other.is_finished() {
            used.add(&effective(&other.stored.to_value(), Side::Requests));
        }
    }
    room(&requested, &used, &offered)
}

/// Compares a request with the free resources of a node: `offered` without those that other pods have `used`.
fn room(requested: &Amounts, used: &Amounts, offered: &Amounts) -> Option<Refusal> {
    let count = |amounts: &Amounts, name: &str, scale: i64| {
        amounts
            .get(name)
            .map_or(0, |amount| amount.in_units_of(scale))
    };
    let lacking = |others: Option<&Amounts>| {
        RESIZED.into_iter().find_map(|(name, scale)| {
            let [requested, offered] =
                [requested, offered].map(|amounts| count(amounts, name, scale));
            let used = others.map_or(0, |others| count(others, name, scale));
            (requested > offered.saturating_sub(used)).then_some((name, requested, used, offered))
        })
    };
    // First without other pods: what the whole node does not have is not there when they end, either.
    if let Some((resource, requested, _, offered)) = lacking(None) {
        return Some(Refusal {
            reason: "Infeasible",
            message: format!(
                "Node didn't have enough capacity: {resource}, requested: {requested}, capacity: {offered}"
            ),
            resource,
        });
    }
    let (resource, requested, used, offered) = lacking(Some(used))?;
    Some(Refusal {
        reason: "Deferred",
        message: format!(
            "Node didn't have enough resource: {resource}, requested: {requested}, used: {used}, capacity: {offered}"
        ),
        resource,
    })
}

/// Returns the message of an event: the requested resources, the generation of the pod, and the error, if any.
fn message(pod: &Value, word: &str, error: Option<&str>) -> String {
    let mut parts = Vec::new();
    for field in [ContainerField::Init, ContainerField::Main] {
        let of_field = containers(&pod["spec"]).filter(|(of, _)| *of == field);
        let entries: Vec<String> = of_field
            .filter(|(_, it)| field == ContainerField::Main || it["restartPolicy"] == "Always")
            .map(|(_, it)| {
                format!(
                    r#"{{"name":{},"resources":{}}}"#,
                    it["name"], it["resources"]
                )
            })
            .collect();
        if !entries.is_empty() {
            parts.push(format!(r#""{}":[{}]"#, field.name(), entries.join(",")));
        }
    }
    parts.push(format!(
        r#""generation":{}"#,
        generation(pod).unwrap_or_default()
    ));
    if let Some(error) = error {
        parts.push(format!(r#""error":{}"#, Value::from(error)));
    }
    format!("Pod resize {word}: {{{}}}", parts.join(","))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn amounts(cpu: &str, memory: &str) -> Amounts {
        Amounts::of(&json!({"cpu": cpu, "memory": memory}))
    }

    #[test]
    fn a_node_has_room_for_unused_resources() {
        let offered = amounts("8", "4Gi");
        let used = amounts("3950m", "1Gi");
        assert_eq!(room(&amounts("4", "3Gi"), &used, &offered), None);
        let deferred = room(&amounts("6", "1Gi"), &used, &offered).unwrap();
        assert_eq!((deferred.reason, deferred.resource), ("Deferred", "cpu"));
        assert_eq!(
            deferred.message,
            "Node didn't have enough resource: cpu, requested: 6000, used: 3950, capacity: 8000"
        );
        let infeasible = room(&amounts("5", "4500Mi"), &used, &offered).unwrap();
        assert_eq!(infeasible.reason, "Infeasible");
        assert_eq!(
            infeasible.message,
            "Node didn't have enough capacity: memory, requested: 4718592000, capacity: 4294967296"
        );
    }

    #[test]
    fn events_show_the_requested_resources() {
        let pod = json!({
            "metadata": {"generation": 2},
            "spec": {
                "initContainers": [{"name": "first"}, {"name": "beside", "restartPolicy": "Always", "resources": {}}],
                "containers": [{"name": "app", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}}],
            },
        });
        assert_eq!(
            message(&pod, "started", None),
            r#"Pod resize started: {"initContainers":[{"name":"beside","resources":{}}],"containers":[{"name":"app","resources":{"limits":{"cpu":"2"},"requests":{"cpu":"1"}}}],"generation":2}"#
        );
        let refused = message(&pod, "OutOfcpu", Some("too \"small\""));
        assert!(
            refused.ends_with(r#","generation":2,"error":"too \"small\""}"#),
            "{refused}"
        );
    }
}
