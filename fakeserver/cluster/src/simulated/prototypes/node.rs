//! Nodes and their leases.

use fakeserver_kinds::{coordination, core, registry::Registry};
use fakeserver_versions::KubernetesVersion;
use serde_json::{Value, json};

use super::draft::{CONTROLLER_MANAGER, Draft, KUBELET};
use crate::simulated::hole::Placeholder;

/// The number of images in a node's status.
const IMAGES: u32 = 12;

/// A node that runs pods.
pub(super) fn ready(registry: &Registry, is_dual: bool) -> Draft<'_> {
    let name = Placeholder::Name.text();
    let node = json!({
        "metadata": {
            "labels": {
                "beta.kubernetes.io/arch": "amd64",
                "beta.kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "node.kubernetes.io/instance-type": Placeholder::InstanceType.text(),
                "topology.kubernetes.io/region": "eu-central-1",
                "topology.kubernetes.io/zone": Placeholder::Zone.text(),
            },
            "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
        },
        "spec": {"providerID": format!("aws:///{}/i-{}", Placeholder::Zone.text(), Placeholder::Number.text())},
    });
    Draft::create(registry, &core::node::KIND, KUBELET, node)
        .update(CONTROLLER_MANAGER, Placeholder::Created, |node| {
            let mut ranges = vec![Placeholder::PodIp.text()];
            if is_dual {
                ranges.push(Placeholder::SecondPodIp.text());
            }
            node["metadata"]["annotations"]["node.alpha.kubernetes.io/ttl"] = json!("0");
            node["spec"]["podCIDR"] = json!(ranges[0]);
            node["spec"]["podCIDRs"] = json!(ranges);
        })
        .update(KUBELET.of_status(), Placeholder::Ready, |node| {
            report(node, registry.kubernetes(), is_dual);
        })
        .update(CONTROLLER_MANAGER, Placeholder::Ready, |node| {
            // The taint of nodes that are not ready, which all have at first.
            if let Some(spec) = node["spec"].as_object_mut() {
                spec.remove("taints");
            }
        })
}

/// A node whose kubelet is not heard of any more.
pub(super) fn lost(registry: &Registry, is_dual: bool) -> Draft<'_> {
    let unreachable = |effect: &str| {
        json!({
            "key": "node.kubernetes.io/unreachable",
            "effect": effect,
            "timeAdded": Placeholder::Ended.text(),
        })
    };
    ready(registry, is_dual)
        .update(CONTROLLER_MANAGER.of_status(), Placeholder::Ended, |node| {
            let conditions = node["status"]["conditions"].as_array_mut();
            for condition in conditions.into_iter().flatten() {
                condition["status"] = json!("Unknown");
                condition["reason"] = json!("NodeStatusUnknown");
                condition["message"] = json!("Kubelet stopped posting node status.");
                condition["lastTransitionTime"] = json!(Placeholder::Ended.text());
            }
        })
        .update(CONTROLLER_MANAGER, Placeholder::Ended, |node| {
            node["spec"]["taints"] = json!([unreachable("NoSchedule"), unreachable("NoExecute")]);
        })
}

/// The lease that a kubelet renews.
pub(super) fn lease(registry: &Registry) -> Draft<'_> {
    let name = Placeholder::Name.text();
    let lease = json!({
        "metadata": {
            "ownerReferences": [{
                "apiVersion": "v1",
                "kind": "Node",
                "name": name,
                "uid": Placeholder::OwnerUid.text(),
            }],
        },
        "spec": {
            "holderIdentity": name,
            "leaseDurationSeconds": 40,
            "renewTime": Placeholder::Renewed.text(),
        },
    });
    let kind = &coordination::lease::KIND;
    Draft::create(registry, kind, KUBELET, lease).update(KUBELET, Placeholder::Ready, |lease| {
        // The creator of the lease renews it, so only the time of its managed fields entry changes.
        lease["spec"]["leaseTransitions"] = json!(0);
    })
}

/// Sets the status that the kubelet reports of its node.
fn report(node: &mut Value, kubernetes: KubernetesVersion, is_dual: bool) {
    let status = &mut node["status"];
    status["capacity"] = sizes(Placeholder::Cpu, Placeholder::Memory);
    status["allocatable"] = sizes(Placeholder::AllocatableCpu, Placeholder::AllocatableMemory);
    let pressures = [
        (
            "MemoryPressure",
            "KubeletHasSufficientMemory",
            "kubelet has sufficient memory available",
        ),
        (
            "DiskPressure",
            "KubeletHasNoDiskPressure",
            "kubelet has no disk pressure",
        ),
        (
            "PIDPressure",
            "KubeletHasSufficientPID",
            "kubelet has sufficient PID available",
        ),
    ];
    let mut conditions: Vec<Value> = pressures
        .iter()
        .map(|(kind, reason, message)| condition(kind, "False", reason, message))
        .collect();
    let message = "kubelet is posting ready status";
    conditions.push(condition("Ready", "True", "KubeletReady", message));
    status["conditions"] = conditions.into();
    let mut addresses = vec![("InternalIP", Placeholder::HostIp)];
    if is_dual {
        addresses.push(("InternalIP", Placeholder::SecondHostIp));
    }
    addresses.push(("Hostname", Placeholder::Name));
    let addresses = addresses.into_iter();
    status["addresses"] = addresses
        .map(|(kind, address)| json!({"type": kind, "address": address.text()}))
        .collect();
    status["daemonEndpoints"] = json!({"kubeletEndpoint": {"Port": 10250}});
    status["nodeInfo"] = json!({
        "architecture": "amd64",
        "bootID": Placeholder::OwnerUid.text(),
        "containerRuntimeVersion": "containerd://2.1.4",
        "kernelVersion": "6.12.35-cloud-amd64",
        "kubeProxyVersion": "",
        "kubeletVersion": kubernetes.git_version(),
        "machineID": Placeholder::Digest.text(),
        "operatingSystem": "linux",
        "osImage": "Debian GNU/Linux 13 (trixie)",
        "systemUUID": Placeholder::Uid.text(),
    });
    let images = (0..IMAGES).map(|number| {
        let repository = format!("registry.example.com/apps/service-{number}");
        // Sixty-four digits that differ from image to image.
        let digest = format!("{:064x}", u128::from(number + 1) * 0x9e37_79b9_7f4a_7c15_f39c);
        json!({
            "names": [format!("{repository}@sha256:{digest}"), format!("{repository}:v1.{number}.0")],
            "sizeBytes": 48_213_511 + 1_048_573 * i64::from(number),
        })
    });
    status["images"] = images.collect();
}

fn sizes(cpu: Placeholder, memory: Placeholder) -> Value {
    json!({
        "cpu": cpu.text(),
        "ephemeral-storage": "101430960Ki",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "memory": memory.text(),
        "pods": Placeholder::Pods.text(),
    })
}

fn condition(kind: &str, truth: &str, reason: &str, message: &str) -> Value {
    json!({
        "type": kind,
        "status": truth,
        "lastHeartbeatTime": Placeholder::Renewed.text(),
        "lastTransitionTime": Placeholder::Ready.text(),
        "reason": reason,
        "message": message,
    })
}
