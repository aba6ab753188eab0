//! Printed cells of pods.

use fakeserver_value::read::{items, number, text};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::table::{
    age::{parse, since},
    cell::{Cells, NONE, age, name, text_or},
};

/// The sums over the containers.
#[derive(Default)]
struct Tally {
    ready: usize,
    restarts: i64,
    /// The time of the last restart of any of them.
    last_restart: Option<Timestamp>,
    reason: String,
}

/// The cells of a pod.
pub(super) fn cells(pod: &Value, now: Timestamp) -> Cells {
    let (spec, status) = (&pod["spec"], &pod["status"]);
    let tally = Tally::of(pod);
    let restartable = items(&spec["initContainers"])
        .iter()
        .filter(|container| is_restartable(container));
    let total = items(&spec["containers"]).len() + restartable.count();
    let restarts = match tally.last_restart {
        Some(last) if tally.restarts > 0 => {
            let ago = since(&json!(last.to_string()), now);
            format!("{} ({ago} ago)", tally.restarts)
        }
        _ => tally.restarts.to_string(),
    };
    vec![
        json!(name(pod)),
        json!(format!("{}/{total}", tally.ready)),
        json!(tally.reason),
        json!(restarts),
        json!(age(pod, now)),
        json!(text_or(&status["podIPs"][0]["ip"], NONE)),
        json!(text_or(&spec["nodeName"], NONE)),
        json!(text_or(&status["nominatedNodeName"], NONE)),
        json!(readiness_gates(pod)),
    ]
}

/// Says of a pod that has ended that it has.
pub(super) fn conditions(pod: &Value) -> Option<Value> {
    let (reason, message) = match pod["status"]["phase"].as_str()? {
        "Succeeded" => ("Succeeded", "The pod has completed successfully."),
        "Failed" => ("Failed", "The pod failed."),
        _ => return None,
    };
    Some(json!([{"type": "Completed", "status": "True", "reason": reason, "message": message}]))
}

impl Tally {
    fn of(pod: &Value) -> Self {
        let status = &pod["status"];
        let mut tally = Self {
            reason: text_or(&status["reason"], text(&status["phase"])).to_owned(),
            ..Self::default()
        };
        let is_gated = items(&status["conditions"]).iter().any(|condition| {
            condition["type"] == "PodScheduled" && condition["reason"] == "SchedulingGated"
        });
        if is_gated {
            "SchedulingGated".clone_into(&mut tally.reason);
        }
        let sidecars = tally.initialize(pod);
        if let Some(sidecars) = sidecars {
            tally.restarts = sidecars.restarts;
            tally.last_restart = sidecars.last_restart;
            tally.run(pod);
        }
        let is_terminal = matches!(text(&status["phase"]), "Succeeded" | "Failed");
        if !pod["metadata"]["deletionTimestamp"].is_null() {
            if status["reason"] == "NodeLost" {
                "Unknown".clone_into(&mut tally.reason);
            } else if !is_terminal {
                "Terminating".clone_into(&mut tally.reason);
            }
        }
        tally
    }

    /// Evaluates the init containers. If all are done, returns the tally of the sidecars, which keep running.
    fn initialize(&mut self, pod: &Value) -> Option<Self> {
        let declared = items(&pod["spec"]["initContainers"]);
        let mut sidecars = Self::default();
        let mut is_initializing = false;
        for (index, status) in items(&pod["status"]["initContainerStatuses"])
            .iter()
            .enumerate()
        {
            let is_sidecar = declared
                .iter()
                .any(|container| container["name"] == status["name"] && is_restartable(container));
            self.count(status);
            if is_sidecar {
                sidecars.count(status);
            }
            let state = &status["state"];
            let terminated = &state["terminated"];
            if !terminated.is_null() && number(&terminated["exitCode"]) == 0 {
                continue;
            }
            if is_sidecar && status["started"] == true {
                self.ready += usize::from(status["ready"] == true);
                continue;
            }
            let waiting = text(&state["waiting"]["reason"]);
            self.reason = if !terminated.is_null() {
                format!("Init:{}", ended(terminated))
            } else if !waiting.is_empty() && waiting != "PodInitializing" {
                format!("Init:{waiting}")
            } else {
                format!("Init:{index}/{}", declared.len())
            };
            is_initializing = true;
            break;
        }
        (!is_initializing || has_condition(pod, "Initialized")).then_some(sidecars)
    }

    /// Looks at the containers, the last one first: the first one has the last word.
    fn run(&mut self, pod: &Value) {
        let mut has_running = false;
        for status in items(&pod["status"]["containerStatuses"]).iter().rev() {
            self.count(status);
            let state = &status["state"];
            let waiting = text(&state["waiting"]["reason"]);
            if !waiting.is_empty() {
                waiting.clone_into(&mut self.reason);
            } else if !state["terminated"].is_null() {
                self.reason = ended(&state["terminated"]);
            } else if status["ready"] == true && !state["running"].is_null() {
                has_running = true;
                self.ready += 1;
            }
        }
        if self.reason == "Completed" && has_running {
            let reason = if has_condition(pod, "Ready") {
                "Running"
            } else {
                "NotReady"
            };
            reason.clone_into(&mut self.reason);
        }
    }

    fn count(&mut self, status: &Value) {
        self.restarts += number(&status["restartCount"]);
        let ended = parse(&status["lastState"]["terminated"]["finishedAt"]);
        self.last_restart = self.last_restart.max(ended);
    }
}

/// Returns the reason why a container has ended.
fn ended(terminated: &Value) -> String {
    let signal = number(&terminated["signal"]);
    match text(&terminated["reason"]) {
        "" if signal != 0 => format!("Signal:{signal}"),
        "" => format!("ExitCode:{}", number(&terminated["exitCode"])),
        reason => reason.to_owned(),
    }
}

fn is_restartable(container: &Value) -> bool {
    container["restartPolicy"] == "Always"
}

fn has_condition(pod: &Value, kind: &str) -> bool {
    items(&pod["status"]["conditions"])
        .iter()
        .any(|condition| condition["type"] == kind && condition["status"] == "True")
}

fn readiness_gates(pod: &Value) -> String {
    let gates = items(&pod["spec"]["readinessGates"]);
    if gates.is_empty() {
        return NONE.to_owned();
    }
    let is_open = |gate: &&Value| has_condition(pod, text(&gate["conditionType"]));
    format!("{}/{}", gates.iter().filter(is_open).count(), gates.len())
}
