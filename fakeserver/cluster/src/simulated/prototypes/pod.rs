//! Pods, in every phase of their lives.

use fakeserver_kinds::{core, registry::Registry};
use serde_json::{Value, json};

use super::{
    PodPhase,
    draft::{CONTROLLER_MANAGER, Draft, KUBELET},
    template::{Profile, image, sidecar_image, sidecar_name, template},
};
use crate::simulated::hole::Placeholder;

/// A pod of a profile in a phase.
pub(super) fn pod(
    registry: &Registry,
    profile: Profile,
    phase: PodPhase,
    is_dual: bool,
) -> Draft<'_> {
    let draft = Draft::create(
        registry,
        &core::pod::KIND,
        CONTROLLER_MANAGER,
        pending(profile),
    )
    .set(|pod| admit(&mut pod["spec"], profile));
    if phase == PodPhase::Pending {
        return draft;
    }
    // A binding sets these fields without an owner.
    let draft = draft.set(|pod| {
        pod["spec"]["nodeName"] = json!(Placeholder::Node.text());
        let conditions = json!([condition(
            "PodScheduled",
            "True",
            Placeholder::Created,
            None
        )]);
        pod["status"]["conditions"] = conditions;
    });
    if phase == PodPhase::Scheduled {
        return draft;
    }
    let draft = draft.update(KUBELET.of_status(), Placeholder::Ready, |pod| {
        run(pod, profile);
        set_addresses(&mut pod["status"], is_dual);
    });
    match phase {
        PodPhase::Crashed => draft.update(KUBELET.of_status(), Placeholder::Ended, crash),
        PodPhase::Terminating => draft.set(|pod| {
            pod["metadata"]["deletionTimestamp"] = json!(Placeholder::Ended.text());
            pod["metadata"]["deletionGracePeriodSeconds"] = json!(30);
        }),
        PodPhase::Succeeded => draft.update(KUBELET.of_status(), Placeholder::Ended, finish),
        PodPhase::Lost => {
            let actor = CONTROLLER_MANAGER.of_status();
            draft.update(actor, Placeholder::Ended, |pod| {
                set_ready(pod, "False", Placeholder::Ended, Some("NodeNotReady"));
            })
        }
        _ => draft,
    }
}

/// A pod as its controller makes it.
fn pending(profile: Profile) -> Value {
    let mut pod = template(profile);
    let (api_version, kind) = match profile {
        Profile::Agent => ("apps/v1", "DaemonSet"),
        Profile::Batch => ("batch/v1", "Job"),
        _ => ("apps/v1", "ReplicaSet"),
    };
    let owner = Placeholder::Owner.text();
    let metadata = &mut pod["metadata"];
    metadata["generateName"] = json!(format!("{owner}-"));
    metadata["ownerReferences"] = json!([{
        "apiVersion": api_version,
        "kind": kind,
        "name": owner,
        "uid": Placeholder::OwnerUid.text(),
        "controller": true,
        "blockOwnerDeletion": true,
    }]);
    match profile {
        Profile::Agent => {
            metadata["labels"]["controller-revision-hash"] = json!(Placeholder::Hash.text());
            metadata["labels"]["pod-template-generation"] = json!("1");
        }
        Profile::Batch => {
            metadata["labels"]["batch.kubernetes.io/job-name"] = json!(owner);
            metadata["labels"]["batch.kubernetes.io/controller-uid"] =
                json!(Placeholder::OwnerUid.text());
        }
        _ => metadata["labels"]["pod-template-hash"] = json!(Placeholder::Hash.text()),
    }
    pod
}

/// Adds the fields of admission, which have no owner: the token, and the tolerations of a lost node.
fn admit(spec: &mut Value, profile: Profile) {
    let token = json!({
        "name": "kube-api-access-7t5xq",
        "projected": {"defaultMode": 420, "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {
                "name": "kube-root-ca.crt",
                "items": [{"key": "ca.crt", "path": "ca.crt"}],
            }},
            {"downwardAPI": {"items": [{
                "path": "namespace",
                "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
            }]}},
        ]},
    });
    if let Some(volumes) = spec["volumes"].as_array_mut() {
        volumes.push(token);
    }
    for container in spec["containers"].as_array_mut().into_iter().flatten() {
        let mount = json!({
            "name": "kube-api-access-7t5xq",
            "readOnly": true,
            "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
        });
        match container["volumeMounts"].as_array_mut() {
            Some(mounts) => mounts.push(mount),
            None => container["volumeMounts"] = json!([mount]),
        }
    }
    if profile != Profile::Agent {
        spec["tolerations"] = ["not-ready", "unreachable"]
            .map(|state| {
                json!({
                    "key": format!("node.kubernetes.io/{state}"),
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": 300,
                })
            })
            .into();
    }
}

/// Sets the addresses of a running pod and of its node.
fn set_addresses(status: &mut Value, is_dual: bool) {
    let fields = [
        ("hostIP", Placeholder::HostIp, Placeholder::SecondHostIp),
        ("podIP", Placeholder::PodIp, Placeholder::SecondPodIp),
    ];
    for (field, first, second) in fields {
        let mut all = vec![json!({"ip": first.text()})];
        if is_dual {
            all.push(json!({"ip": second.text()}));
        }
        status[field] = json!(first.text());
        status[format!("{field}s")] = json!(all);
    }
}

/// Sets the status that the kubelet reports of a running pod.
fn run(pod: &mut Value, profile: Profile) {
    let app = container_status(
        "app",
        &image(),
        Placeholder::ContainerA,
        &Placeholder::Digest.text(),
    );
    let digest = "4f8e1c3b9d2a7065e1f4c8b3a9d07e625b1c4f8a3d9e07621b5c8f4a3e9d0762";
    let name = sidecar_name(profile);
    let sidecar = container_status(
        name,
        &sidecar_image(profile),
        Placeholder::ContainerB,
        digest,
    );
    let status = &mut pod["status"];
    status["phase"] = json!("Running");
    status["conditions"] = json!([
        condition(
            "PodReadyToStartContainers",
            "True",
            Placeholder::Started,
            None
        ),
        condition("Initialized", "True", Placeholder::Created, None),
        condition("Ready", "True", Placeholder::Ready, None),
        condition("ContainersReady", "True", Placeholder::Ready, None),
        condition("PodScheduled", "True", Placeholder::Created, None),
    ]);
    status["containerStatuses"] = json!([app, sidecar]);
    status["startTime"] = json!(Placeholder::Created.text());
}

fn container_status(name: &str, image: &str, container: Placeholder, digest: &str) -> Value {
    let (repository, _) = image.rsplit_once(':').unwrap_or((image, ""));
    let restarts = match container {
        Placeholder::ContainerA => Placeholder::Restarts.number(),
        _ => 0,
    };
    json!({
        "name": name,
        "image": image,
        "imageID": format!("{repository}@sha256:{digest}"),
        "containerID": format!("containerd://{}", container.text()),
        "ready": true,
        "started": true,
        "restartCount": restarts,
        "state": {"running": {"startedAt": Placeholder::Started.text()}},
        "lastState": {},
    })
}

/// The program has ended, and the kubelet waits before it starts it again.
fn crash(pod: &mut Value) {
    let status = &mut pod["status"]["containerStatuses"][0];
    status["ready"] = json!(false);
    status["started"] = json!(false);
    status["state"] = json!({"waiting": {
        "reason": "CrashLoopBackOff",
        "message": "back-off 10s restarting failed container=app",
    }});
    status["lastState"] = json!({"terminated": {
        "exitCode": 1,
        "reason": "Error",
        "startedAt": Placeholder::Started.text(),
        "finishedAt": Placeholder::Ended.text(),
        "containerID": status["containerID"],
    }});
    set_ready(pod, "False", Placeholder::Ended, Some("ContainersNotReady"));
}

/// All containers have ended well.
fn finish(pod: &mut Value) {
    let status = &mut pod["status"];
    status["phase"] = json!("Succeeded");
    let containers = status["containerStatuses"].as_array_mut();
    for container in containers.into_iter().flatten() {
        container["ready"] = json!(false);
        container["started"] = json!(false);
        container["state"] = json!({"terminated": {
            "exitCode": 0,
            "reason": "Completed",
            "startedAt": Placeholder::Started.text(),
            "finishedAt": Placeholder::Ended.text(),
            "containerID": container["containerID"],
        }});
    }
    set_ready(pod, "False", Placeholder::Ended, Some("PodCompleted"));
}

/// Sets the two conditions that say whether a pod serves.
fn set_ready(pod: &mut Value, truth: &str, since: Placeholder, reason: Option<&str>) {
    let conditions = pod["status"]["conditions"].as_array_mut();
    for present in conditions.into_iter().flatten() {
        if let Some(kind @ ("Ready" | "ContainersReady")) = present["type"].as_str() {
            let renewed = condition(kind, truth, since, reason);
            *present = renewed;
        }
    }
}

fn condition(kind: &str, truth: &str, since: Placeholder, reason: Option<&str>) -> Value {
    let mut condition = json!({
        "type": kind,
        "status": truth,
        "lastProbeTime": null,
        "lastTransitionTime": since.text(),
    });
    if let Some(reason) = reason {
        condition["reason"] = json!(reason);
    }
    condition
}
