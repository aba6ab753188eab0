//! Prints the world's objects into the store.

mod text;
mod pods;
mod workloads;

use fakeserver_kinds::{coordination, core};
use fakeserver_server::store::{ObjectKey, Stencil, Transaction};
use uuid::Uuid;

use self::text::{derived, hex, node_address, pod_range, time};
use super::{
    hole::{Placeholder, Values},
    prototypes::Prototypes,
    world::{Node, Pod, World},
};

pub(super) use self::{
    pods::{PodStrings, about},
    text::template_hash,
};

/// The effect of a write on an existing object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Creates the object, unless one of the same name exists.
    Create,
    /// Updates the object, unless it is gone.
    Update,
}

/// The object that an event is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventSubject<'a> {
    pub(super) kind: &'a str,
    pub(super) api_version: &'a str,
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    pub(super) uid: Uuid,
    pub(super) node: &'a str,
}

/// Prints objects in a transaction.
pub(super) struct Printer<'a, 't> {
    pub(super) tx: &'a mut Transaction<'t>,
    pub(super) prototypes: &'a Prototypes,
    /// The number of its writes.
    pub(super) written: u32,
}

// === impl Printer ===

impl Printer<'_, '_> {
    /// A namespace, and what each one has.
    pub(super) fn namespace(&mut self, world: &World, number: usize) {
        let namespace = &world.namespaces[number];
        let (uid, created) = (namespace.uid.to_string(), time(namespace.created));
        let values = Values::new().with_all([
            (Placeholder::Name, &*namespace.name),
            (Placeholder::Namespace, &namespace.name),
            (Placeholder::Uid, &uid),
            (Placeholder::Created, &created),
            (Placeholder::App, namespace.team),
            (Placeholder::Kind, namespace.environment),
        ]);
        let key = ObjectKey::cluster(core::namespace::KIND.storage().clone(), &namespace.name);
        let prototypes = self.prototypes;
        self.put(&key, &prototypes.namespace, &values, Mode::Create);
        let others = [
            (
                core::service_account::KIND.storage(),
                "default",
                &prototypes.service_account,
            ),
            (
                core::config_map::KIND.storage(),
                "kube-root-ca.crt",
                &prototypes.root_certificate,
            ),
        ];
        for (index, (resource, name, stencil)) in others.into_iter().enumerate() {
            let uid = derived(namespace.uid, index).to_string();
            let values = values.clone().with(Placeholder::Uid, &uid);
            let key = ObjectKey::namespaced(resource.clone(), &namespace.name, name);
            self.put(&key, stencil, &values, Mode::Create);
        }
    }

    pub(super) fn node(&mut self, world: &World, number: u32, mode: Mode) -> bool {
        let node = world.node(number);
        let uids = [node.uid.to_string(), derived(node.uid, 0).to_string()];
        let [created, reported] = [time(node.created), time(node.reported)];
        let ready = time(node.created + 20);
        let lost = time(node.lost.unwrap_or_default());
        let mut addresses = <[[String; 2]; 2]>::default();
        for (place, family) in world.services.families().enumerate() {
            addresses[place] = [node_address(family, number), pod_range(family, number)];
        }
        let [[host, range], [second_host, second_range]] = addresses;
        let (id, digest) = (format!("{number:017x}"), hex(node.uid, 1));
        let pods = world.pods_per_node.to_string();
        let machine = world.machine.name();
        let [[cpu, memory], [for_pods, memory_for_pods]] = world.machine.resources();
        let values = Values::new().with_all([
            (Placeholder::Name, &*node.name),
            (Placeholder::Uid, &uids[0]),
            (Placeholder::OwnerUid, &uids[1]),
            (Placeholder::Created, &created),
            (Placeholder::Ready, &ready),
            (Placeholder::Ended, &lost),
            (Placeholder::Renewed, &reported),
            (Placeholder::Zone, node.zone),
            (Placeholder::HostIp, &host),
            (Placeholder::PodIp, &range),
            (Placeholder::SecondHostIp, &second_host),
            (Placeholder::SecondPodIp, &second_range),
            (Placeholder::Number, &id),
            (Placeholder::Digest, &digest),
            (Placeholder::Pods, &pods),
            (Placeholder::InstanceType, &machine),
            (Placeholder::Cpu, &cpu),
            (Placeholder::Memory, &memory),
            (Placeholder::AllocatableCpu, &for_pods),
            (Placeholder::AllocatableMemory, &memory_for_pods),
        ]);
        let key = ObjectKey::cluster(core::node::KIND.storage().clone(), &node.name);
        let stencil = match node.lost {
            None => &self.prototypes.node,
            Some(_) => &self.prototypes.lost_node,
        };
        self.put(&key, stencil, &values, mode)
    }

    /// Prints the lease of a node. `now` is its renewal: the second, and the milliseconds after it.
    pub(super) fn lease(&mut self, node: &Node, now: (i64, u32), mode: Mode) -> bool {
        let uids = [node.lease.to_string(), node.uid.to_string()];
        let (second, millisecond) = now;
        let created = time(node.created);
        let renewed = time(second);
        let precise = format!("{}.{millisecond:03}000Z", renewed.trim_end_matches('Z'));
        let values = Values::new().with_all([
            (Placeholder::Name, &*node.name),
            (Placeholder::Namespace, "kube-node-lease"),
            (Placeholder::Uid, &uids[0]),
            (Placeholder::OwnerUid, &uids[1]),
            (Placeholder::Created, &created),
            (Placeholder::Ready, &renewed),
            (Placeholder::Renewed, &precise),
        ]);
        let leases = coordination::lease::KIND.storage().clone();
        let key = ObjectKey::namespaced(leases, "kube-node-lease", &node.name);
        self.put(&key, &self.prototypes.lease, &values, mode)
    }

    pub(super) fn pod(&mut self, world: &World, pod: &Pod, mode: Mode) -> bool {
        let strings = PodStrings::of(world, pod);
        let stencil = self.prototypes.pod(world.profile(pod), pod.phase);
        self.put(&strings.key(), stencil, &strings.values(), mode)
    }

    pub(super) fn delete_pod(&mut self, world: &World, pod: &Pod) {
        self.delete(&PodStrings::of(world, pod).key());
    }

    /// Prints an event.
    pub(super) fn event(
        &mut self,
        about: EventSubject<'_>,
        (component, reason, message): (&str, &str, &str),
        now: i64,
    ) {
        let revision = self.tx.revision().to_string();
        let name = format!("{}.{:016x}", about.name, self.tx.revision());
        let namespace = if about.namespace.is_empty() {
            "default"
        } else {
            about.namespace
        };
        let uid = derived(about.uid, usize::try_from(self.tx.revision()).unwrap_or(0)).to_string();
        let (owner, created) = (about.uid.to_string(), time(now));
        let values = Values::new().with_all([
            (Placeholder::Name, &*name),
            (Placeholder::Namespace, namespace),
            (Placeholder::Uid, &uid),
            (Placeholder::Created, &created),
            (Placeholder::ApiVersion, about.api_version),
            (Placeholder::Kind, about.kind),
            (Placeholder::App, about.namespace),
            (Placeholder::Owner, about.name),
            (Placeholder::OwnerUid, &owner),
            (Placeholder::ObjectVersion, &revision),
            (Placeholder::Reason, reason),
            (Placeholder::Message, message),
            (Placeholder::Component, component),
            (Placeholder::Node, about.node),
        ]);
        let key = ObjectKey::namespaced(core::event::KIND.storage().clone(), namespace, &name);
        self.put(&key, &self.prototypes.event, &values, Mode::Create);
    }

    fn put(&mut self, key: &ObjectKey, stencil: &Stencil, values: &Values<'_>, mode: Mode) -> bool {
        if self.tx.get(key).is_some() != (mode == Mode::Update) {
            return false;
        }
        self.tx.print(key, stencil, values.slice());
        self.written += 1;
        true
    }

    fn delete(&mut self, key: &ObjectKey) {
        if self.tx.delete(key).is_some() {
            self.written += 1;
        }
    }
}
