//! The pods of a cluster's own components, as a cluster that kubeadm made has them: names, labels, owners, priorities.
//!
//! A deployment, a daemon set and a service are created when the controllers start, and are the user's from then on. The pods
//! of the control plane are static: they come back when they are deleted, as kubelets mirror them, and go with their node.

use std::{net::IpAddr, time::Duration};

use fakeserver_kinds::{apps, core};
use fakeserver_server::{
    controllers::{
        cluster::{Actor, Cluster},
        controller::Controller,
        index::{Index, ObjectChange},
        queue::KeyQueue,
    },
    store::{ObjectKey, StoredObject},
    write,
};
use fakeserver_value::read::text;
use fakeserver_versions::KubernetesVersion;
use serde_json::{Value, json};

use super::{nodes::CONTROL_PLANE, objects::hash};

const KUBELET: Actor = Actor::new("kubelet");
const KUBEADM: Actor = Actor::new("kubeadm");
const NAMESPACE: &str = "kube-system";
/// The label of the pods of the control plane.
const TIER: &str = "tier";
/// The time after which a static pod that was deleted comes back.
const MIRRORED_AFTER: Duration = Duration::from_secs(1);
/// The components of the control plane, and the processor time that each asks for.
const STATIC: [(&str, &str); 4] = [
    ("etcd", "100m"),
    ("kube-apiserver", "250m"),
    ("kube-controller-manager", "200m"),
    ("kube-scheduler", "100m"),
];

/// Creates the objects of `kube-system`, and keeps the static pods.
#[derive(Debug, Default)]
pub(super) struct SystemPods {
    /// True once the objects of the start have been created.
    has_begun: bool,
}

impl Controller for SystemPods {
    fn name(&self) -> &'static str {
        "system pods"
    }

    fn started(&mut self, due: &mut KeyQueue<'_>) {
        self.has_begun = false;
        due.add(write::namespace_key(NAMESPACE), Duration::ZERO);
    }

    fn observe(&mut self, change: &ObjectChange<'_>, _index: &Index, due: &mut KeyQueue<'_>) {
        let key = change.key();
        let is_gone = change.after.is_none();
        let namespace = write::namespace_key(NAMESPACE);
        if *key == namespace || (change.is_of(&core::node::KIND) && change.before.is_none()) {
            due.add(namespace, Duration::ZERO);
        } else if is_gone
            && (change.is_of(&core::node::KIND)
                || (change.is_of(&core::pod::KIND) && key.namespace() == Some(NAMESPACE)))
        {
            due.add(namespace, MIRRORED_AFTER);
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        _due: &mut KeyQueue<'_>,
    ) {
        if cluster.get(key).is_none() {
            return;
        }
        if !self.has_begun {
            self.has_begun = true;
            cluster.create(apps::deployment::KIND.storage(), KUBEADM, dns());
            let address = cluster.service_range().of_dns();
            let address = address.filter(|address| !cluster.has_service_at(*address));
            let service = dns_service(address);
            cluster.create(core::service::KIND.storage(), KUBEADM, service);
            cluster.create(
                apps::daemon_set::KIND.storage(),
                KUBEADM,
                proxy(cluster.kubernetes()),
            );
        }
        let nodes = cluster.tx.list(core::node::KIND.storage(), None);
        let Some(node) = control_plane(nodes.iter().map(|node| &**node)) else {
            return;
        };
        let node = node.to_value();
        let now = cluster.now_text();
        for (component, cpu) in STATIC {
            let pod = static_pod(cluster.kubernetes(), component, cpu, &node, &now);
            cluster.create(core::pod::KIND.storage(), KUBELET, pod);
        }
    }
}

/// Chooses the node of the control plane: the first with its role, or else the first.
fn control_plane<'a>(
    nodes: impl Iterator<Item = &'a StoredObject> + Clone,
) -> Option<&'a StoredObject> {
    let has_role = |node: &&StoredObject| node.labels().get(CONTROL_PLANE).is_some();
    let mut all = nodes.clone();
    nodes.into_iter().find(has_role).or_else(|| all.next())
}

fn static_pod(
    kubernetes: KubernetesVersion,
    component: &str,
    cpu: &str,
    node: &Value,
    now: &str,
) -> Value {
    let name = text(&node["metadata"]["name"]);
    let image = match component {
        "etcd" => "etcd:3.6.6-0".to_owned(),
        _ => format!("{component}:{}", kubernetes.git_version()),
    };
    let spec = json!({
        "containers": [{
            "name": component,
            "image": image,
            "command": [component],
            "resources": {"requests": {"cpu": cpu}},
        }],
        "hostNetwork": true,
        "nodeName": name,
        "priorityClassName": "system-node-critical",
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        "tolerations": [{"operator": "Exists", "effect": "NoExecute"}],
    });
    let hash = hash(&spec, 0);
    json!({
        "metadata": {
            "name": format!("{component}-{name}"),
            "namespace": NAMESPACE,
            "labels": {"component": component, TIER: "control-plane"},
            "annotations": {
                "kubernetes.io/config.hash": hash,
                "kubernetes.io/config.mirror": hash,
                "kubernetes.io/config.seen": now,
                "kubernetes.io/config.source": "file",
            },
            "ownerReferences": [{
                "apiVersion": "v1",
                "kind": "Node",
                "name": name,
                "uid": node["metadata"]["uid"],
                "controller": true,
            }],
        },
        "spec": spec,
    })
}

fn dns() -> Value {
    json!({
        "metadata": {"name": "coredns", "namespace": NAMESPACE, "labels": {"k8s-app": "kube-dns"}},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"k8s-app": "kube-dns"}},
            "strategy": {"rollingUpdate": {"maxUnavailable": 1}},
            "template": {
                "metadata": {"labels": {"k8s-app": "kube-dns"}},
                "spec": {
                    "containers": [{
                        "name": "coredns",
                        "image": "coredns/coredns:v1.13.1",
                        "ports": [
                            {"name": "dns", "containerPort": 53, "protocol": "UDP"},
                            {"name": "dns-tcp", "containerPort": 53, "protocol": "TCP"},
                            {"name": "metrics", "containerPort": 9153, "protocol": "TCP"},
                        ],
                        "resources": {
                            "limits": {"memory": "170Mi"},
                            "requests": {"cpu": "100m", "memory": "70Mi"},
                        },
                    }],
                    "dnsPolicy": "Default",
                    "nodeSelector": {"kubernetes.io/os": "linux"},
                    "priorityClassName": "system-cluster-critical",
                    "tolerations": [
                        {"key": "CriticalAddonsOnly", "operator": "Exists"},
                        {"key": CONTROL_PLANE, "effect": "NoSchedule"},
                    ],
                },
            },
        },
    })
}

/// Returns the service of the name server. Without an address it gets any.
fn dns_service(address: Option<IpAddr>) -> Value {
    let mut service = json!({
        "metadata": {
            "name": "kube-dns",
            "namespace": NAMESPACE,
            "labels": {
                "k8s-app": "kube-dns",
                "kubernetes.io/cluster-service": "true",
                "kubernetes.io/name": "CoreDNS",
            },
        },
        "spec": {
            "selector": {"k8s-app": "kube-dns"},
            "ports": [
                {"name": "dns", "port": 53, "protocol": "UDP", "targetPort": 53},
                {"name": "dns-tcp", "port": 53, "protocol": "TCP", "targetPort": 53},
                {"name": "metrics", "port": 9153, "protocol": "TCP", "targetPort": 9153},
            ],
        },
    });
    if let Some(address) = address {
        service["spec"]["clusterIP"] = json!(address.to_string());
    }
    service
}

fn proxy(kubernetes: KubernetesVersion) -> Value {
    json!({
        "metadata": {
            "name": "kube-proxy",
            "namespace": NAMESPACE,
            "labels": {"k8s-app": "kube-proxy"},
        },
        "spec": {
            "selector": {"matchLabels": {"k8s-app": "kube-proxy"}},
            "template": {
                "metadata": {"labels": {"k8s-app": "kube-proxy"}},
                "spec": {
                    "containers": [{
                        "name": "kube-proxy",
                        "image": format!("kube-proxy:{}", kubernetes.git_version()),
                        "command": ["kube-proxy"],
                    }],
                    "hostNetwork": true,
                    "nodeSelector": {"kubernetes.io/os": "linux"},
                    "priorityClassName": "system-node-critical",
                    "tolerations": [{"operator": "Exists"}],
                },
            },
        },
    })
}
