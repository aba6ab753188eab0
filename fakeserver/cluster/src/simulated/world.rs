//! The state of a simulated cluster: the minimum from which every object can be printed.

use std::collections::VecDeque;

use fakeserver_kinds::core::service::range::ServiceRange;
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use uuid::Uuid;

use super::prototypes::{PodPhase, Profile};

/// The stream of the seed from which a cluster follows. Others are those of the server's own generators.
const STREAM: u64 = 16;
/// The characters of generated names: neither vowels nor look-alikes.
const NAME_ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
/// The number of nodes that are examined for a pod.
const PLACES_TRIED: usize = 16;

/// Everything that a cluster is made of. What is stored of it follows from this.
#[derive(Debug)]
pub(super) struct World {
    /// The ranges of services, whose families are those of the cluster.
    pub(super) services: ServiceRange,
    pub(super) namespaces: Vec<Namespace>,
    pub(super) nodes: Vec<Node>,
    pub(super) apps: Vec<App>,
    pub(super) daemons: Vec<Daemon>,
    pub(super) crons: Vec<Cron>,
    pub(super) jobs: Slots<Job>,
    pub(super) pods: Slots<Pod>,
    /// The number of pods that fit on a node.
    pub(super) pods_per_node: u32,
    pub(super) machine: Machine,
    pub(super) random: ChaCha8Rng,
}

/// The size of all machines of a cluster: a number of machines of the smallest size, each with 16 processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Machine(u32);

/// Values under numbers; the number of a removed value is reused.
#[derive(Debug)]
pub(super) struct Slots<T> {
    places: Vec<Option<T>>,
    free: Vec<u32>,
}

#[derive(Debug)]
pub(super) struct Namespace {
    pub(super) name: Box<str>,
    pub(super) team: &'static str,
    pub(super) environment: &'static str,
    pub(super) uid: Uuid,
    pub(super) created: i64,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) name: Box<str>,
    pub(super) uid: Uuid,
    pub(super) lease: Uuid,
    pub(super) zone: &'static str,
    pub(super) created: i64,
    /// The time of its last report.
    pub(super) reported: i64,
    /// True if it neither renews nor reports.
    pub(super) is_silent: bool,
    pub(super) lost: Option<i64>,
    pub(super) pods: Vec<u32>,
    /// The last part of the next pod's address.
    octet: u8,
}

/// A deployment, with the service in front of it.
#[derive(Debug)]
pub(super) struct App {
    pub(super) namespace: u32,
    pub(super) name: Box<str>,
    pub(super) profile: Profile,
    pub(super) uid: Uuid,
    pub(super) service: Uuid,
    pub(super) number: u32,
    pub(super) created: i64,
    pub(super) changed: i64,
    pub(super) replicas: u32,
    /// The number of pods at the beginning: it is scaled around that.
    pub(super) size: u32,
    pub(super) generation: u32,
    /// The replica sets, the oldest first. The last one is the current revision.
    pub(super) sets: VecDeque<ReplicaSet>,
    pub(super) slices: Vec<Slice>,
    /// True if a check of it is queued.
    pub(super) is_due: bool,
}

#[derive(Debug)]
pub(super) struct ReplicaSet {
    pub(super) revision: u32,
    pub(super) hash: Box<str>,
    pub(super) uid: Uuid,
    pub(super) created: i64,
    pub(super) wanted: u32,
    pub(super) generation: u32,
    pub(super) pods: Vec<u32>,
}

#[derive(Debug)]
pub(super) struct Slice {
    pub(super) suffix: [u8; 5],
    pub(super) uid: Uuid,
    pub(super) generation: u32,
    pub(super) pods: Vec<u32>,
    pub(super) is_changed: bool,
}

#[derive(Debug)]
pub(super) struct Daemon {
    pub(super) name: &'static str,
    pub(super) uid: Uuid,
    pub(super) created: i64,
    pub(super) pods: Vec<u32>,
}

#[derive(Debug)]
pub(super) struct Cron {
    pub(super) namespace: u32,
    pub(super) name: Box<str>,
    pub(super) uid: Uuid,
    pub(super) created: i64,
    pub(super) last: i64,
    /// The number of the next run.
    pub(super) next: u32,
    /// The oldest first.
    pub(super) jobs: VecDeque<u32>,
}

#[derive(Debug)]
pub(super) struct Job {
    pub(super) cron: u32,
    pub(super) number: u32,
    pub(super) uid: Uuid,
    pub(super) created: i64,
    pub(super) ended: Option<i64>,
    pub(super) pod: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// The replica set of that revision.
    Set {
        app: u32,
        revision: u32,
    },
    Daemon(u32),
    Job(u32),
}

#[derive(Debug)]
pub(super) struct Pod {
    pub(super) owner: Owner,
    pub(super) suffix: [u8; 5],
    pub(super) uid: Uuid,
    pub node: Option<u32>,
    pub(super) octet: u8,
    pub phase: PodPhase,
    pub(super) created: i64,
    pub started: i64,
    pub(super) ended: i64,
    pub(super) restarts: u32,
}

// === impl World ===

impl World {
    /// A world with nothing in it.
    pub(super) fn empty(seed: u64, pods_per_node: u32, machine: Machine) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(STREAM);
        Self {
            services: ServiceRange::DEFAULT,
            namespaces: Vec::new(),
            nodes: Vec::new(),
            apps: Vec::new(),
            daemons: Vec::new(),
            crons: Vec::new(),
            jobs: Slots::default(),
            pods: Slots::default(),
            pods_per_node,
            machine,
            random,
        }
    }

    pub(super) fn uid(&mut self) -> Uuid {
        let mut bytes = [0; 16];
        self.random.fill(&mut bytes);
        uuid::Builder::from_random_bytes(bytes).into_uuid()
    }

    /// Returns the suffix that `generateName` appends.
    pub(super) fn suffix(&mut self) -> [u8; 5] {
        std::array::from_fn(|_| NAME_ALPHABET[self.random.random_range(0..NAME_ALPHABET.len())])
    }

    pub(super) fn node(&self, number: u32) -> &Node {
        &self.nodes[number as usize]
    }

    pub(super) fn app(&self, number: u32) -> &App {
        &self.apps[number as usize]
    }

    pub(super) fn app_mut(&mut self, number: u32) -> &mut App {
        &mut self.apps[number as usize]
    }

    /// Adds a pod that has no node yet.
    pub(super) fn add_pod(&mut self, owner: Owner, now: i64) -> u32 {
        let pod = Pod {
            owner,
            suffix: self.suffix(),
            uid: self.uid(),
            node: None,
            octet: 0,
            phase: PodPhase::Pending,
            created: now,
            started: now,
            ended: now,
            restarts: 0,
        };
        let number = self.pods.add(pod);
        match owner {
            Owner::Set { app, revision } => {
                if let Some(set) = self.app_mut(app).set_mut(revision) {
                    set.pods.push(number);
                }
            }
            Owner::Daemon(daemon) => self.daemons[daemon as usize].pods.push(number),
            Owner::Job(job) => {
                if let Some(job) = self.jobs.get_mut(job) {
                    job.pod = number;
                }
            }
        }
        number
    }

    /// Gives a pod a node: `node`, or the emptier one of two.
    pub(super) fn place(&mut self, pod: u32, node: Option<u32>) {
        let number = node.unwrap_or_else(|| self.choose());
        let node = &mut self.nodes[number as usize];
        node.pods.push(pod);
        // The first two addresses and the last one of a range are not assigned.
        node.octet = if node.octet >= 254 { 2 } else { node.octet + 1 };
        let octet = node.octet;
        if let Some(pod) = self.pods.get_mut(pod) {
            pod.node = Some(number);
            pod.octet = octet;
        }
    }

    /// Takes a pod away, from its owner and its node too.
    pub(super) fn remove_pod(&mut self, number: u32) -> Option<Pod> {
        let pod = self.pods.remove(number)?;
        if let Some(node) = pod.node {
            forget(&mut self.nodes[node as usize].pods, number);
        }
        match pod.owner {
            Owner::Set { app, revision } => {
                let app = self.app_mut(app);
                if let Some(set) = app.set_mut(revision) {
                    forget(&mut set.pods, number);
                }
            }
            Owner::Daemon(daemon) => forget(&mut self.daemons[daemon as usize].pods, number),
            Owner::Job(_) => {}
        }
        Some(pod)
    }

    /// Returns the kind of program of a pod.
    pub(super) fn profile(&self, pod: &Pod) -> Profile {
        match pod.owner {
            Owner::Set { app, .. } => self.app(app).profile,
            Owner::Daemon(_) => Profile::Agent,
            Owner::Job(_) => Profile::Batch,
        }
    }

    /// A number below `end`, which is not 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.random.random_range(0..end)
    }

    /// Chooses the emptier of two random nodes that take a pod, or any node if none does.
    fn choose(&mut self) -> u32 {
        let count = self.nodes.len();
        let mut best: Option<usize> = None;
        for tried in 0..PLACES_TRIED {
            let number = self.below(count);
            let node = &self.nodes[number];
            let takes = node.lost.is_none() && node.pods.len() < self.pods_per_node as usize;
            if takes && best.is_none_or(|best| node.pods.len() < self.nodes[best].pods.len()) {
                best = Some(number);
            }
            if tried > 0 && best.is_some() {
                break;
            }
        }
        let number = best.unwrap_or_else(|| self.below(count));
        u32::try_from(number).expect("there are as many nodes as a number of 32 bits says")
    }
}

// === impl Machine ===

impl Machine {
    /// The processor time that every pod requests, in thousandths of a processor.
    const POD_CPU: u64 = 350;
    /// The processor time that a machine of the smallest size has for pods, in the same unit.
    const ALLOCATABLE_CPU: u64 = 15_890;

    /// Returns the size of machines that have room for `pods` pods each.
    pub(super) fn with_room_for(pods: u32) -> Self {
        let needed = u64::from(pods) * Self::POD_CPU;
        let count = needed.div_ceil(Self::ALLOCATABLE_CPU).next_power_of_two();
        Self(u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// Returns the name of the size.
    pub(super) fn name(self) -> String {
        format!("m6i.{}xlarge", u64::from(self.0) * 4)
    }

    /// Returns the processors and the memory of a machine, and those of them that are for pods.
    pub(super) fn resources(self) -> [[String; 2]; 2] {
        let count = u64::from(self.0);
        let (cpu, memory) = (count * 16, count * 64_930_124);
        [
            [cpu.to_string(), format!("{memory}Ki")],
            [
                format!("{}m", cpu * 1_000 - 110),
                format!("{}Ki", memory - 2_096_640),
            ],
        ]
    }
}

// === impl Node ===

impl Node {
    pub(super) fn new(name: String, zone: &'static str, uids: [Uuid; 2], now: (i64, i64)) -> Self {
        let [uid, lease] = uids;
        let (created, reported) = now;
        Self {
            name: name.into(),
            uid,
            lease,
            zone,
            created,
            reported,
            is_silent: false,
            lost: None,
            pods: Vec::new(),
            octet: 1,
        }
    }
}

// === impl App ===

impl App {
    pub(super) fn set(&self, revision: u32) -> Option<&ReplicaSet> {
        self.sets.iter().find(|set| set.revision == revision)
    }

    pub(super) fn set_mut(&mut self, revision: u32) -> Option<&mut ReplicaSet> {
        self.sets.iter_mut().find(|set| set.revision == revision)
    }

    /// The replica set that is wanted.
    pub(super) fn newest(&self) -> &ReplicaSet {
        self.sets.back().expect("a deployment has a replica set")
    }
}

// === impl Pod ===

impl Pod {
    pub(super) fn is_ready(&self) -> bool {
        self.phase == PodPhase::Running
    }

    /// Returns whether it is not being deleted.
    pub(super) fn is_active(&self) -> bool {
        !matches!(self.phase, PodPhase::Terminating | PodPhase::Succeeded)
    }
}

// === impl Slots ===

impl<T> Slots<T> {
    pub(super) fn add(&mut self, thing: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.places[number as usize] = Some(thing);
            return number;
        }
        self.places.push(Some(thing));
        u32::try_from(self.places.len() - 1).expect("memory ends before that")
    }

    pub(super) fn get(&self, number: u32) -> Option<&T> {
        self.places.get(number as usize)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.places.get_mut(number as usize)?.as_mut()
    }

    pub(super) fn remove(&mut self, number: u32) -> Option<T> {
        let thing = self.places.get_mut(number as usize)?.take()?;
        self.free.push(number);
        Some(thing)
    }

    /// Reserves room for exactly `count` more entries.
    pub(super) fn reserve(&mut self, count: usize) {
        self.places.reserve_exact(count);
    }

    /// Returns the number of pods.
    pub(super) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// One more than the highest number in use so far.
    pub(super) fn end(&self) -> usize {
        self.places.len()
    }
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            free: Vec::new(),
        }
    }
}

/// Takes a number out of a list. The order of the others stays, since the output follows it.
pub(super) fn forget(list: &mut Vec<u32>, number: u32) {
    list.retain(|other| *other != number);
}
