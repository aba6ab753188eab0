//! The shape of a cluster of a given size: numbers, sizes, ages and names of its objects.

use rand::RngExt;

use super::{
    options::ClusterOptions,
    prototypes::{ENDPOINTS_PER_SLICE, PodPhase, Profile},
    world::{App, Cron, Daemon, Job, Machine, Namespace, Node, Owner, ReplicaSet, Slice, World},
};

const TEAMS: [&str; 16] = [
    "checkout",
    "search",
    "payments",
    "catalog",
    "identity",
    "shipping",
    "pricing",
    "media",
    "support",
    "fraud",
    "mobile",
    "analytics",
    "ads",
    "growth",
    "partners",
    "platform",
];
const ENVIRONMENTS: [&str; 3] = ["prod", "staging", "dev"];
const THINGS: [&str; 24] = [
    "cart", "order", "invoice", "user", "session", "product", "price", "stock", "image", "review",
    "coupon", "address", "parcel", "report", "audit", "feed", "mail", "push", "ranking", "basket",
    "account", "ledger", "quote", "tax",
];
const ROLES: [&str; 6] = ["api", "web", "worker", "gateway", "indexer", "sync"];
const DAEMONS: [&str; 4] = ["node-exporter", "log-agent", "cni-agent", "csi-node"];
const ZONES: [&str; 3] = ["eu-central-1a", "eu-central-1b", "eu-central-1c"];
const APPS_PER_NAMESPACE: usize = 10;
/// The number of runs of a cron job that are kept.
pub(super) const JOBS_KEPT: usize = 3;
const DAY: i64 = 86_400;
/// The purposes of the daemon sets of every cluster whose nodes have this many pods each.
const PODS_PER_DAEMON: u32 = 8;

/// The world of these options at `now`, in seconds.
pub(super) fn found(options: &ClusterOptions, seed: u64, now: i64) -> World {
    let average = options.pods.div_ceil(options.nodes);
    let at_most = average + average / 2;
    let machine = Machine::with_room_for(at_most);
    let mut world = World::empty(seed, 110.max(at_most), machine);
    // Some more are there while deployments are rolled out.
    world
        .pods
        .reserve((options.pods + options.pods / 8) as usize);
    let daemons = (options.pods / options.nodes / PODS_PER_DAEMON).min(4);
    let jobs = options.pods / 50;
    let in_apps = options.pods - daemons * options.nodes - jobs;
    let sizes = app_sizes(&mut world, in_apps);
    let namespaces = sizes.len().div_ceil(APPS_PER_NAMESPACE).max(1);
    for number in 0..namespaces {
        add_namespace(&mut world, number, now);
    }
    for number in 0..options.nodes {
        add_node(&mut world, number, now);
    }
    for name in &DAEMONS[..daemons as usize] {
        add_daemon(&mut world, name, now);
    }
    for (number, replicas) in sizes.into_iter().enumerate() {
        add_app(&mut world, number, replicas, now);
    }
    let kept = u32::try_from(JOBS_KEPT).unwrap_or(1);
    for number in 0..jobs.div_ceil(kept) {
        let runs = kept.min(jobs - number * kept);
        add_cron(&mut world, number, runs, now);
    }
    world
}

/// Deployments of usual sizes, most of them small, that have `pods` together.
fn app_sizes(world: &mut World, pods: u32) -> Vec<u32> {
    let mut sizes = Vec::new();
    let mut left = pods;
    while left > 0 {
        let range = match world.random.random_range(0..100) {
            0..50 => 2..=6,
            50..80 => 7..=20,
            80..95 => 21..=60,
            _ => 61..=240,
        };
        let size = world.random.random_range(range).min(left);
        left -= size;
        sizes.push(size);
    }
    sizes
}

/// A time some days ago.
fn before(world: &mut World, now: i64, days: i64) -> i64 {
    now - world.random.random_range(3_600..days * DAY)
}

fn add_namespace(world: &mut World, number: usize, now: i64) {
    let team = TEAMS[number % TEAMS.len()];
    let environment = ENVIRONMENTS[number / TEAMS.len() % ENVIRONMENTS.len()];
    let round = number / (TEAMS.len() * ENVIRONMENTS.len());
    let name = match round {
        0 => format!("{team}-{environment}"),
        round => format!("{team}-{environment}-{round}"),
    };
    let namespace = Namespace {
        name: name.into(),
        team,
        environment,
        uid: world.uid(),
        created: before(world, now, 400),
    };
    world.namespaces.push(namespace);
}

fn add_node(world: &mut World, number: u32, now: i64) {
    let uids = [world.uid(), world.uid()];
    let created = before(world, now, 90);
    let zone = ZONES[number as usize % ZONES.len()];
    let node = Node::new(format!("node-{number:05}"), zone, uids, (created, now));
    world.nodes.push(node);
}

fn add_daemon(world: &mut World, name: &'static str, now: i64) {
    let daemon = Daemon {
        name,
        uid: world.uid(),
        created: before(world, now, 200),
        pods: Vec::new(),
    };
    let number = count(world.daemons.len());
    world.daemons.push(daemon);
    for node in 0..count(world.nodes.len()) {
        let pod = world.add_pod(Owner::Daemon(number), now);
        world.place(pod, Some(node));
        settle(world, pod, now, 30);
    }
}

fn add_app(world: &mut World, number: usize, replicas: u32, now: i64) {
    let thing = THINGS[number % THINGS.len()];
    let role = ROLES[(number / THINGS.len() + number) % ROLES.len()];
    let created = before(world, now, 200);
    let app = App {
        namespace: count(number / APPS_PER_NAMESPACE),
        name: format!("{thing}-{role}").into(),
        profile: Profile::ALL[number % 3],
        uid: world.uid(),
        service: world.uid(),
        number: count(number),
        created,
        changed: created,
        replicas,
        size: replicas,
        generation: 1,
        sets: [].into(),
        slices: Vec::new(),
        is_due: false,
    };
    world.apps.push(app);
    let number = count(number);
    // Most deployments have been rolled out before, and keep old replica sets.
    let rollouts = world.random.random_range(1..=3);
    for _ in 0..rollouts {
        add_set(world, number, created);
    }
    let app = world.app_mut(number);
    app.generation = rollouts;
    let Some(newest) = app.sets.back_mut() else {
        return;
    };
    newest.wanted = replicas;
    let revision = newest.revision;
    for _ in 0..replicas {
        let owner = Owner::Set {
            app: number,
            revision,
        };
        let pod = world.add_pod(owner, now);
        world.place(pod, None);
        settle(world, pod, now, 14);
        add_endpoint(world, number, pod);
    }
    for slice in &mut world.app_mut(number).slices {
        slice.generation = 1;
        slice.is_changed = false;
    }
}

/// Gives a deployment its next replica set, of which nothing is wanted yet.
pub(super) fn add_set(world: &mut World, number: u32, now: i64) {
    let uid = world.uid();
    let app = world.app_mut(number);
    let revision = app.sets.back().map_or(1, |last| last.revision + 1);
    let set = ReplicaSet {
        revision,
        hash: super::print::template_hash(app, revision).into(),
        uid,
        created: now,
        wanted: 0,
        generation: 1,
        pods: Vec::new(),
    };
    app.sets.push_back(set);
}

/// Puts a pod into the first endpoint slice that has room.
pub(super) fn add_endpoint(world: &mut World, number: u32, pod: u32) {
    let (suffix, uid) = (world.suffix(), world.uid());
    let slices = &mut world.app_mut(number).slices;
    let free = slices
        .iter_mut()
        .find(|slice| slice.pods.len() < ENDPOINTS_PER_SLICE);
    if let Some(slice) = free {
        slice.pods.push(pod);
        slice.is_changed = true;
        return;
    }
    slices.push(Slice {
        suffix,
        uid,
        generation: 0,
        pods: vec![pod],
        is_changed: true,
    });
}

fn add_cron(world: &mut World, number: u32, runs: u32, now: i64) {
    let namespace = number as usize % world.namespaces.len();
    let thing = THINGS[number as usize % THINGS.len()];
    let cron = Cron {
        namespace: count(namespace),
        name: format!("{thing}-cleanup-{number}").into(),
        uid: world.uid(),
        created: before(world, now, 100),
        last: now - 300,
        next: runs,
        jobs: [].into(),
    };
    world.crons.push(cron);
    for run in 0..runs {
        let created = now - 300 * i64::from(runs - run);
        let job = add_job(world, number, run, created);
        let Some(pod) = world.jobs.get(job).map(|job| job.pod) else {
            continue;
        };
        world.place(pod, None);
        if let Some(pod) = world.pods.get_mut(pod) {
            pod.phase = PodPhase::Succeeded;
            pod.started = created + 2;
            pod.ended = created + 62;
        }
        if let Some(job) = world.jobs.get_mut(job) {
            job.ended = Some(created + 63);
        }
    }
}

/// Begins a run of a cron job, with its pod.
pub(super) fn add_job(world: &mut World, cron: u32, number: u32, now: i64) -> u32 {
    let job = Job {
        cron,
        number,
        uid: world.uid(),
        created: now,
        ended: None,
        pod: u32::MAX,
    };
    let job = world.jobs.add(job);
    world.add_pod(Owner::Job(job), now);
    world.crons[cron as usize].jobs.push_back(job);
    job
}

/// Makes a pod one that runs for some time already.
fn settle(world: &mut World, pod: u32, now: i64, days: i64) {
    let created = before(world, now, days);
    let restarts = match world.random.random_range(0..100) {
        0..90 => 0,
        other => other - 89,
    };
    if let Some(pod) = world.pods.get_mut(pod) {
        pod.phase = PodPhase::Running;
        pod.created = created;
        pod.started = created + 4;
        pod.ended = created + 9;
        pod.restarts = restarts;
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).expect("there are as many as a number of 32 bits says")
}
