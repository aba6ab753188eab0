//! The values of a pod's placeholders: they follow from the pod, its owner and its node.

use fakeserver_kinds::core;
use fakeserver_server::store::ObjectKey;
use uuid::Uuid;

use super::{
    EventSubject,
    text::{digest, hex, job_name, node_address, pod_address, text, time, version},
};
use crate::simulated::{
    hole::{Placeholder, Values},
    prototypes::PodPhase,
    world::{Owner, Pod, World},
};

/// The values of a pod's placeholders.
#[derive(Debug)]
pub(in crate::simulated) struct PodStrings<'a> {
    pub(in crate::simulated) name: String,
    pub(in crate::simulated) namespace: &'a str,
    app: &'a str,
    owner: String,
    hash: &'a str,
    node: &'a str,
    zone: &'a str,
    uids: [String; 2],
    addresses: [String; 2],
    /// Those of the second family, empty in a cluster of one.
    second_addresses: [String; 2],
    times: [String; 4],
    version: String,
    digest: String,
    containers: [String; 2],
    restarts: String,
}

// === impl PodStrings ===

impl<'a> PodStrings<'a> {
    pub(in crate::simulated) fn of(world: &'a World, pod: &Pod) -> Self {
        let (namespace, app, owner, owner_uid, hash, revision) = match pod.owner {
            Owner::Set { app, revision } => {
                let app = world.app(app);
                let namespace = &*world.namespaces[app.namespace as usize].name;
                let set = app.set(revision);
                let (hash, uid) = set.map_or(("", Uuid::nil()), |set| (&*set.hash, set.uid));
                let owner = format!("{}-{hash}", app.name);
                (namespace, &*app.name, owner, uid, hash, revision)
            }
            Owner::Daemon(daemon) => {
                let daemon = &world.daemons[daemon as usize];
                let owner = daemon.name.to_owned();
                (
                    "kube-system",
                    daemon.name,
                    owner,
                    daemon.uid,
                    "7c9f5d6b84",
                    1,
                )
            }
            Owner::Job(job) => {
                let job = world.jobs.get(job).expect("a pod goes before its job");
                let cron = &world.crons[job.cron as usize];
                let namespace = &*world.namespaces[cron.namespace as usize].name;
                (namespace, &*cron.name, job_name(cron, job), job.uid, "", 1)
            }
        };
        let mut addresses = <[[String; 2]; 2]>::default();
        let (node, zone) = match pod.node {
            None => ("", ""),
            Some(number) => {
                for (place, family) in world.services.families().enumerate() {
                    let host = node_address(family, number);
                    let own = match pod.owner {
                        Owner::Daemon(_) => host.clone(),
                        _ => pod_address(family, number, pod.octet),
                    };
                    addresses[place] = [own, host];
                }
                let node = world.node(number);
                (&*node.name, node.zone)
            }
        };
        let [addresses, second_addresses] = addresses;
        let digest = match pod.owner {
            Owner::Set { app, revision } => digest(world.app(app), revision),
            _ => hex(owner_uid, 1),
        };
        Self {
            name: format!("{owner}-{}", text(&pod.suffix)),
            namespace,
            app,
            owner,
            hash,
            node,
            zone,
            uids: [pod.uid.to_string(), owner_uid.to_string()],
            addresses,
            second_addresses,
            times: [pod.created, pod.started, pod.started + 5, pod.ended].map(time),
            version: version(revision),
            digest,
            containers: [hex(pod.uid, 2 + pod.restarts), hex(pod.uid, 1)],
            restarts: pod.restarts.to_string(),
        }
    }

    pub(in crate::simulated) fn values(&self) -> Values<'_> {
        Values::new().with_all([
            (Placeholder::Name, &*self.name),
            (Placeholder::Namespace, self.namespace),
            (Placeholder::Uid, &self.uids[0]),
            (Placeholder::OwnerUid, &self.uids[1]),
            (Placeholder::Owner, &self.owner),
            (Placeholder::App, self.app),
            (Placeholder::Hash, self.hash),
            (Placeholder::Node, self.node),
            (Placeholder::Zone, self.zone),
            (Placeholder::PodIp, &self.addresses[0]),
            (Placeholder::HostIp, &self.addresses[1]),
            (Placeholder::SecondPodIp, &self.second_addresses[0]),
            (Placeholder::SecondHostIp, &self.second_addresses[1]),
            (Placeholder::Created, &self.times[0]),
            (Placeholder::Started, &self.times[1]),
            (Placeholder::Ready, &self.times[2]),
            (Placeholder::Ended, &self.times[3]),
            (Placeholder::Version, &self.version),
            (Placeholder::Digest, &self.digest),
            (Placeholder::ContainerA, &self.containers[0]),
            (Placeholder::ContainerB, &self.containers[1]),
            (Placeholder::Restarts, &self.restarts),
        ])
    }

    pub(super) fn key(&self) -> ObjectKey {
        ObjectKey::namespaced(
            core::pod::KIND.storage().clone(),
            self.namespace,
            &self.name,
        )
    }
}

/// Returns the subject of an event about a pod.
pub(in crate::simulated) fn about<'a>(strings: &'a PodStrings<'a>, pod: &Pod) -> EventSubject<'a> {
    EventSubject {
        kind: "Pod",
        api_version: "v1",
        namespace: strings.namespace,
        name: &strings.name,
        uid: pod.uid,
        node: match pod.phase {
            PodPhase::Pending => "",
            _ => strings.node,
        },
    }
}
