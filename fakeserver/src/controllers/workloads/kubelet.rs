//! The kubelets of all nodes: start the pods of their nodes, complete those that are to end, and stop deleted ones.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    objects::{ReconciledKind, text},
    pods::{Phase, Pod},
};
use crate::{
    controllers::{
        Workloads,
        cluster::{Actor, Cluster},
        controller::Controller,
        index::{Index, Observed},
        queue::Due,
    },
    kinds::core,
    store::ObjectKey,
    write::deletion::Wanted,
};

const ACTOR: Actor = Actor::new("kubelet");
/// The kind that a kubelet's events are about.
const POD: ReconciledKind = ReconciledKind {
    kind: &core::pod::KIND,
    name: "Pod",
    api_version: "v1",
    component: "kubelet",
};
/// The annotation that says with which code the containers of a pod end, if not with 0.
const EXIT_CODE: &str = "fakeserver/exit-code";
/// The code of a container that did not end when it was told to.
const KILLED: i64 = 137;
/// The time between the end of a deleted pod's containers and the pod's own.
const REMOVED_AFTER: Duration = Duration::from_millis(100);

/// Runs pods.
#[derive(Debug)]
pub(super) struct Kubelet {
    options: Workloads,
    /// The number of pods that were started: the last part of their addresses.
    started: u32,
}

/// The next event of a pod, and the delay before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Nothing,
    Start(Duration),
    /// Its containers end by themselves.
    Finish(Duration),
    /// Its containers are told to end.
    Stop(Duration),
    /// It goes.
    Remove(Duration),
}

// === impl Kubelet ===

impl Kubelet {
    pub(super) fn new(options: Workloads) -> Self {
        Self {
            options,
            started: 0,
        }
    }

    fn step(&self, pod: &Pod) -> Step {
        if pod.node.is_empty() {
            Step::Nothing
        } else if pod.is_deleted {
            let stop = self.options.pod_stop.min(pod.grace);
            match pod.phase {
                Phase::Running => Step::Stop(stop),
                Phase::Pending => Step::Remove(stop),
                _ => Step::Remove(REMOVED_AFTER),
            }
        } else {
            match pod.phase {
                Phase::Pending => Step::Start(self.options.pod_start),
                Phase::Running if pod.ends => Step::Finish(self.options.pod_run),
                _ => Step::Nothing,
            }
        }
    }
}

impl Controller for Kubelet {
    fn name(&self) -> &'static str {
        "kubelet"
    }

    fn observe(&mut self, change: &Observed<'_>, index: &Index, due: &mut Due<'_>) {
        if !change.is_of(&core::pod::KIND) {
            return;
        }
        let Some(pod) = index.pods.get(change.key()) else {
            return;
        };
        match self.step(pod) {
            Step::Nothing => {}
            Step::Start(after) | Step::Finish(after) | Step::Stop(after) | Step::Remove(after) => {
                due.add(change.key().clone(), after);
            }
        }
    }

    fn reconcile(&mut self, cluster: &mut Cluster<'_, '_>, key: &ObjectKey, _due: &mut Due<'_>) {
        let Some(pod) = cluster.index.pods.get(key) else {
            return;
        };
        let now = cluster.now_text();
        let status = ACTOR.of_status();
        match self.step(pod) {
            Step::Nothing => {}
            Step::Start(_) => {
                self.started = self.started.wrapping_add(1);
                let address = address(self.started);
                let value = pod.stored.to_value();
                for container in list(&value["spec"]["containers"]) {
                    let message = format!("Started container {}", text(&container["name"]));
                    cluster.event(&POD, &value, "Started", &message);
                }
                cluster.update(key, status, |pod| start(pod, &address, &now));
            }
            Step::Finish(_) => {
                cluster.update(key, status, |pod| {
                    let code = &pod["metadata"]["annotations"][EXIT_CODE];
                    let code = text(code).parse().unwrap_or_default();
                    finish(pod, code, &now);
                });
            }
            Step::Stop(_) => {
                // One that was to end by itself has not done its work.
                let is_killed = pod.ends || self.options.pod_stop > pod.grace;
                let code = if is_killed { KILLED } else { 0 };
                cluster.update(key, status, |pod| finish(pod, code, &now));
            }
            Step::Remove(_) => {
                let wanted = Wanted {
                    grace_period_seconds: Some(0),
                    ..Wanted::default()
                };
                cluster.delete(key, wanted);
            }
        }
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The address of the pod that was started as that one.
fn address(number: u32) -> String {
    let [_, b, c, d] = number.to_be_bytes();
    format!("10.{}.{c}.{d}", 128 | (b & 127))
}

/// The conditions of a pod that comes to this phase, with the one that the scheduler has set.
fn conditions(pod: &Value, phase: &str, now: &str) -> Value {
    let present = list(&pod["status"]["conditions"]);
    let mut conditions: Vec<Value> = present
        .filter(|condition| condition["type"] == "PodScheduled")
        .cloned()
        .collect();
    for kind in ["Initialized", "ContainersReady", "Ready"] {
        let is_true = phase == "Running" || kind == "Initialized";
        let reason = match phase {
            "Succeeded" => Some("PodCompleted"),
            "Failed" if !is_true => Some("PodFailed"),
            _ => None,
        };
        let mut condition = json!({
            "type": kind,
            "status": if is_true { "True" } else { "False" },
            "lastProbeTime": null,
            "lastTransitionTime": now,
        });
        if let Some(reason) = reason {
            condition["reason"] = json!(reason);
        }
        conditions.push(condition);
    }
    conditions.into()
}

/// The pod runs, and is ready.
fn start(pod: &mut Value, address: &str, now: &str) {
    let containers = list(&pod["spec"]["containers"]).map(|container| {
        json!({
            "name": container["name"],
            "image": container["image"],
            "imageID": format!("fake://{}", text(&container["image"])),
            "containerID": format!("fake://{}/{}", text(&pod["metadata"]["uid"]), text(&container["name"])),
            "ready": true,
            "started": true,
            "restartCount": 0,
            "state": {"running": {"startedAt": now}},
            "lastState": {},
        })
    });
    let containers: Value = containers.collect();
    let conditions = conditions(pod, "Running", now);
    let status = &mut pod["status"];
    status["phase"] = json!("Running");
    status["conditions"] = conditions;
    status["containerStatuses"] = containers;
    status["hostIP"] = json!("10.0.0.1");
    status["hostIPs"] = json!([{"ip": "10.0.0.1"}]);
    status["podIP"] = json!(address);
    status["podIPs"] = json!([{"ip": address}]);
    status["startTime"] = json!(now);
}

/// The containers of the pod have ended with this code.
fn finish(pod: &mut Value, code: i64, now: &str) {
    let (phase, reason) = if code == 0 {
        ("Succeeded", "Completed")
    } else {
        ("Failed", "Error")
    };
    let conditions = conditions(pod, phase, now);
    let status = &mut pod["status"];
    let containers = status["containerStatuses"].as_array_mut();
    for container in containers.into_iter().flatten() {
        let started = container["state"]["running"]["startedAt"].clone();
        container["ready"] = json!(false);
        container["started"] = json!(false);
        container["state"] = json!({"terminated": {
            "exitCode": code,
            "reason": reason,
            "startedAt": started,
            "finishedAt": now,
            "containerID": container["containerID"],
        }});
    }
    status["phase"] = json!(phase);
    status["conditions"] = conditions;
}
