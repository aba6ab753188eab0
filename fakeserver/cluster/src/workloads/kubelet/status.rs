//! The status of a pod as its kubelet writes it.

use fakeserver_kinds::conditions::{PodCondition, find};
use fakeserver_server::controllers::pods::{Gate, Phase};
use fakeserver_value::read::text;
use serde_json::{Value, json};

use super::{
    container::{CREATING, Container, Role, State, Termination},
    fields::{self, ContainerField},
    life::PodLifecycle,
    resize::Refusal,
};
use crate::workloads::objects::generation;

/// The addresses of a pod.
#[derive(Clone, Copy, Debug)]
pub(super) struct Addresses<'a> {
    /// The addresses of the node, the primary one first.
    pub(super) hosts: &'a [String],
    /// Its own, unless it has those of its node.
    pub(super) pod: &'a [String],
}

/// The message of a pod that has been active for as long as it may.
pub(super) const PAST_DEADLINE: &str =
    "Pod was active on the node longer than the specified deadline";

const RESIZE_PENDING: &str = "PodResizePending";

/// Writes the status of a pod.
pub(super) fn write(
    pod: &mut Value,
    life: &PodLifecycle,
    gates: &[Gate],
    addresses: Addresses<'_>,
    refusal: Option<&Refusal>,
    now: &str,
) {
    let phase = life.phase();
    let specs = pod["spec"].clone();
    let uid = text(&pod["metadata"]["uid"]).to_owned();
    let generation = generation(pod);
    let status = &mut pod["status"];
    for condition in own_conditions(status, life, gates) {
        condition.set(status, generation, now);
    }
    write_resize(status, refusal, generation, now);
    status["phase"] = json!(format!("{phase:?}"));
    if let Some(generation) = generation {
        status["observedGeneration"] = json!(generation);
    }
    let has_inits = fields::containers(&specs).any(|(field, _)| field == ContainerField::Init);
    for field in ContainerField::ALL {
        let all = life.containers.iter();
        let of_field = all.filter(|it| ContainerField::of(it.role) == field);
        let written: Vec<Value> = of_field
            .map(|container| {
                let spec = fields::container(&specs, &container.name);
                let mut written =
                    status_of(container, spec.unwrap_or(&Value::Null), &uid, has_inits);
                // A refused resize is in the specification alone: containers keep the resources that they run with.
                if refusal.is_some() {
                    keep_resources(&status[field.status_name()], &mut written);
                }
                written
            })
            .collect();
        if !written.is_empty() {
            status[field.status_name()] = written.into();
        }
    }
    if status["startTime"].is_null() {
        status["startTime"] = json!(now);
    }
    addresses.write(status, &specs, life.has_sandbox());
    if life.is_past_deadline {
        status["reason"] = json!("DeadlineExceeded");
        status["message"] = json!(PAST_DEADLINE);
    }
}

/// Sets the condition of a resize that the node has no room for, or removes it.
fn write_resize(
    status: &mut Value,
    refusal: Option<&Refusal>,
    observed_generation: Option<i64>,
    now: &str,
) {
    if let Some(Refusal {
        reason, message, ..
    }) = refusal
    {
        let condition = PodCondition {
            kind: RESIZE_PENDING,
            is_true: true,
            reason,
            message,
            observed_generation,
        };
        return condition.renew(status, now);
    }
    if let Some(conditions) = status["conditions"].as_array_mut() {
        conditions.retain(|condition| condition["type"] != RESIZE_PENDING);
    }
}

/// Lets the status of a container tell the resources that it had before.
fn keep_resources(before: &Value, written: &mut Value) {
    let mut all = before.as_array().into_iter().flatten();
    let before = all.find(|status| status["name"] == written["name"]);
    for field in ["resources", "allocatedResources"] {
        if let Some(kept) = before.and_then(|before| before.get(field)) {
            written[field] = kept.clone();
        }
    }
}

// === impl Addresses ===

impl Addresses<'_> {
    /// Sets the addresses in the status of a pod. One of the node's network has that of the node from the beginning.
    fn write(self, status: &mut Value, spec: &Value, has_sandbox: bool) {
        let Self { hosts, pod } = self;
        let list = |addresses: &[String]| -> Value {
            let all = addresses.iter().map(|address| json!({"ip": address}));
            all.collect()
        };
        if let Some(host) = hosts.first() {
            status["hostIP"] = json!(host);
            status["hostIPs"] = list(hosts);
        }
        let addresses = if spec["hostNetwork"] == true {
            hosts
        } else if has_sandbox {
            pod
        } else {
            &[]
        };
        if status["podIP"].is_null()
            && let Some(address) = addresses.first()
        {
            status["podIP"] = json!(address);
            status["podIPs"] = list(addresses);
        }
    }
}

/// Returns the status of a container of the pod of that uid. `has_inits` says whether the pod has init containers.
fn status_of(container: &Container, spec: &Value, uid: &str, has_inits: bool) -> Value {
    let Container { name, image, .. } = container;
    let (image_id, id) = if container.has_started() {
        (format!("fake://{image}"), format!("fake://{uid}/{name}"))
    } else {
        (String::new(), String::new())
    };
    let state = match &container.state {
        State::Waiting {
            reason: CREATING, ..
        } if has_inits => json!({"waiting": {"reason": "PodInitializing"}}),
        State::Waiting { reason, message } if message.is_empty() => {
            json!({"waiting": {"reason": reason}})
        }
        State::Waiting { reason, message } => {
            json!({"waiting": {"reason": reason, "message": message}})
        }
        State::Running { since } => json!({"running": {"startedAt": since}}),
        State::Terminated(ended) => json!({"terminated": terminated(ended, &id)}),
    };
    let last = match &container.last {
        Some(ended) => json!({"terminated": terminated(ended, &id)}),
        None => json!({}),
    };
    let is_running = container.is_running();
    let has_succeeded = container.role == Role::Init
        && matches!(&container.state, State::Terminated(ended) if ended.code == 0);
    let mut status = json!({
        "name": name,
        "image": image,
        "imageID": image_id,
        "ready": container.is_ready || has_succeeded,
        "started": is_running && container.has_started_up,
        "restartCount": container.restart_count,
        "state": state,
        "lastState": last,
    });
    if container.role == Role::Ephemeral
        && let Some(fields) = status.as_object_mut()
    {
        fields.remove("started");
    }
    if !id.is_empty() {
        status["containerID"] = json!(id);
    }
    if is_running && let Some(resources) = spec.get("resources") {
        status["resources"] = resources.clone();
        if let Some(requests) = resources.get("requests") {
            status["allocatedResources"] = requests.clone();
        }
    }
    let mounts = spec["volumeMounts"].as_array();
    if let Some(mounts) = mounts.filter(|mounts| !mounts.is_empty()) {
        status["volumeMounts"] = mounts.iter().map(mounted).collect();
    }
    status
}

/// Returns the status of a mount. Nodes do not say that they can mount read-only in all depth, so that this happens only where
/// it has to.
fn mounted(mount: &Value) -> Value {
    let mut status = json!({"name": mount["name"], "mountPath": mount["mountPath"]});
    if mount["readOnly"] == true {
        let is_deep = mount["recursiveReadOnly"] == "Enabled";
        status["readOnly"] = json!(true);
        status["recursiveReadOnly"] = json!(if is_deep { "Enabled" } else { "Disabled" });
    }
    status
}

fn terminated(ended: &Termination, id: &str) -> Value {
    json!({
        "exitCode": ended.code,
        "reason": ended.reason,
        "startedAt": ended.started,
        "finishedAt": ended.finished,
        "containerID": id,
    })
}

/// A condition, and why it is not true, or why nothing else is to be expected.
struct Condition {
    kind: &'static str,
    is_true: bool,
    reason: &'static str,
    message: String,
}

fn own_conditions(status: &Value, life: &PodLifecycle, gates: &[Gate]) -> [Condition; 5] {
    let phase = life.phase();
    let ended = match phase {
        Phase::Succeeded => "PodCompleted",
        Phase::Failed => "PodFailed",
        _ => "",
    };
    let names = |which: &dyn Fn(&Container) -> bool| {
        let which = life.containers.iter().filter(|container| which(container));
        let names: Vec<&str> = which.map(|container| &*container.name).collect();
        names.join(" ")
    };
    let uninitialized = names(&|it| !it.lets_others_start());
    let unready = names(&|it| !it.is_ready && matches!(it.role, Role::Main | Role::Sidecar));
    let initialized = if uninitialized.is_empty() || phase == Phase::Succeeded {
        Condition::holding(
            "Initialized",
            if phase == Phase::Succeeded { ended } else { "" },
        )
    } else {
        let message = format!("containers with incomplete status: [{uninitialized}]");
        Condition::unmet("Initialized", "ContainersNotInitialized", message)
    };
    let readiness = |kind| match (ended, &*unready) {
        ("", "") => Condition::holding(kind, ""),
        ("", names) => {
            let message = format!("containers with unready status: [{names}]");
            Condition::unmet(kind, "ContainersNotReady", message)
        }
        (ended, _) => Condition::unmet(kind, ended, String::new()),
    };
    // Gates count once all containers are ready: until then the containers are the reason.
    let gate = closed_gate(status, gates).filter(|_| ended.is_empty() && unready.is_empty());
    let ready = match gate {
        Some(message) => Condition::unmet("Ready", "ReadinessGatesNotReady", message),
        None => readiness("Ready"),
    };
    let has_sandbox = Condition {
        is_true: ended.is_empty(),
        ..Condition::holding("PodReadyToStartContainers", "")
    };
    [
        has_sandbox,
        initialized,
        ready,
        readiness("ContainersReady"),
        Condition::holding("PodScheduled", ""),
    ]
}

/// Returns the message about the first readiness gate whose condition is not true.
fn closed_gate(status: &Value, gates: &[Gate]) -> Option<String> {
    gates.iter().find_map(|Gate { condition_type }| {
        match find(status, condition_type).map(|condition| text(&condition["status"])) {
            Some("True") => None,
            Some(status) => Some(format!(
                "the status of pod readiness gate \"{condition_type}\" is not \"True\", but {status}"
            )),
            None => Some(format!(
                "corresponding condition of pod readiness gate \"{condition_type}\" does not exist."
            )),
        }
    })
}

// === impl Condition ===

impl Condition {
    fn holding(kind: &'static str, reason: &'static str) -> Self {
        Self {
            kind,
            is_true: true,
            reason,
            message: String::new(),
        }
    }

    fn unmet(kind: &'static str, reason: &'static str, message: String) -> Self {
        Self {
            kind,
            is_true: false,
            reason,
            message,
        }
    }

    /// Sets the condition in a status as observed at a generation of the pod.
    fn set(&self, status: &mut Value, generation: Option<i64>, now: &str) {
        let condition = PodCondition {
            kind: self.kind,
            is_true: self.is_true,
            reason: self.reason,
            message: &self.message,
            observed_generation: generation,
        };
        condition.renew(status, now);
    }
}
