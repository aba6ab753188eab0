//! Servers that change their version of Kubernetes, both ways: informers converge and lose nothing.
//!
//! `CONFORMANCE_SEEDS=2000 cargo test -p conformance` runs as many seeds.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    sync::{Arc, Mutex},
    time::Duration,
};

use conformance::{
    participants::InformerPlan,
    plan::{Action, Incident, IncidentKind, Operation, Profile, Resource, Tier},
    seed::Seed,
    sim::{self, Plan, RunOptions},
    trace::{Ending, Observation},
};
use fakeserver::{Controllers, FakeServer, KubernetesVersion};
use fastrand::Rng;
use informer::{
    Deleted, EventHandler, Object, Scope, SharedInformer,
    discovery::{Availability, CacheOptions, CachedDiscovery, DiscoveryClient, GroupVersion},
    http::HttpListWatch,
};
use kube::api::{ApiResource, DynamicObject};
use serde_json::{Value, json};
use tokio::time::sleep;

/// The number of seeds where `CONFORMANCE_SEEDS` does not say another.
const SEED_COUNT: u64 = 16;
/// Longer than any run.
const FOR_EVER: Duration = Duration::from_hours(1_000_000);

fn seed_count() -> u64 {
    match env::var("CONFORMANCE_SEEDS") {
        Ok(text) => text.parse().expect("CONFORMANCE_SEEDS is a number"),
        Err(_) => SEED_COUNT,
    }
}

// === Plans ===

#[test]
fn plans_with_upgrades_keep_every_promise() {
    for seed in 0..seed_count() {
        let plan = Plan::draw_upgraded(Seed::new(seed), Profile::Small);
        assert!(plan.is_valid(Profile::Small), "{}", plan.to_text());
        let outcome = sim::run(&plan, &RunOptions::default());
        assert!(
            outcome.is_good(),
            "seed {seed}: {:#?}\n{}",
            outcome.violations,
            plan.to_text()
        );
    }
}

#[test]
fn connections_break_at_both_ends_of_a_rolling_upgrade_and_of_no_other() {
    for is_rolling in [false, true] {
        let mut plan = Plan::empty(Seed::new(9));
        plan.safety_ms = 60_000;
        plan.informers = vec![InformerPlan::of(Resource::Pods)];
        let created =
            |at_ms, slot| Operation::new(at_ms, Resource::Pods, slot, Action::Create(Tier::Web));
        plan.workload = vec![created(0, 0), created(15_000, 1), created(50_000, 2)];
        let kind = IncidentKind::Upgrade {
            version: "1.31".parse().unwrap(),
            is_rolling,
        };
        plan.incidents = vec![Incident::new(9_000, 20_000, kind)];
        let outcome = sim::run(&plan, &RunOptions::default());
        assert!(
            outcome.is_good(),
            "{:#?}\n{}",
            outcome.violations,
            outcome.trace
        );
        let broken: Vec<u128> = outcome
            .trace
            .records()
            .iter()
            .filter(|record| {
                matches!(
                    &record.observation,
                    Observation::Ended {
                        ending: Ending::Broken,
                        ..
                    }
                )
            })
            .map(|record| record.at.as_millis())
            .collect();
        let expected: &[u128] = if is_rolling { &[9_000, 29_000] } else { &[] };
        assert_eq!(broken, expected);
        assert_eq!(Plan::from_text(&plan.to_text()).unwrap(), plan);
    }
}

#[test]
fn servers_are_upgraded_in_some_of_the_runs() {
    let is_upgrade = |incident: &Incident| matches!(incident.kind, IncidentKind::Upgrade { .. });
    let plans: Vec<Plan> = (0..600).map(|seed| Plan::draw(Seed::new(seed))).collect();
    let upgraded = plans
        .iter()
        .filter(|plan| plan.incidents.iter().any(is_upgrade));
    assert!((25..90).contains(&upgraded.count()));
    for plan in plans.iter().take(60) {
        assert!(plan.is_valid(Profile::default()), "{}", plan.to_text());
    }
}

// === Clients that find resources by discovery ===

/// The resources that clients follow: a group, a version, a plural name and a kind. All versions serve the first one; the
/// others come with 1.34, 1.36 and 1.37.
const FOLLOWED: [[&str; 4]; 4] = [
    ["", "v1", "configmaps", "ConfigMap"],
    [
        "storage.k8s.io",
        "v1",
        "volumeattributesclasses",
        "VolumeAttributesClass",
    ],
    [
        "admissionregistration.k8s.io",
        "v1",
        "mutatingadmissionpolicybindings",
        "MutatingAdmissionPolicyBinding",
    ],
    [
        "certificates.k8s.io",
        "v1",
        "clustertrustbundles",
        "ClusterTrustBundle",
    ],
];

/// The versions of objects, by namespace and name.
type Versions = BTreeMap<String, String>;

/// The objects of which a handler knows.
#[derive(Clone, Default)]
struct HandledObjects(Arc<Mutex<Versions>>);

/// A client that starts an informer for each resource that its discovery knows.
struct Client {
    server: FakeServer,
    discovery: CachedDiscovery,
    informers: BTreeMap<usize, (SharedInformer<DynamicObject>, HandledObjects)>,
}

// === impl HandledObjects ===

impl HandledObjects {
    fn set(&self, object: &Object<DynamicObject>) {
        let version = object.resource_version().as_str().to_owned();
        self.0
            .lock()
            .unwrap()
            .insert(object.key().to_string(), version);
    }
}

impl EventHandler<DynamicObject> for HandledObjects {
    fn on_add(&mut self, object: &Object<DynamicObject>, _in_initial_list: bool) {
        self.set(object);
    }

    fn on_update(&mut self, _old: &Object<DynamicObject>, new: &Object<DynamicObject>) {
        self.set(new);
    }

    fn on_delete(&mut self, deleted: &Deleted<DynamicObject>) {
        self.0.lock().unwrap().remove(&deleted.key().to_string());
    }
}

// === impl Client ===

impl Client {
    fn new(server: &FakeServer, options: CacheOptions) -> Self {
        let discovery = DiscoveryClient::new(server.client());
        Self {
            server: server.clone(),
            discovery: CachedDiscovery::with_options(discovery, options),
            informers: BTreeMap::new(),
        }
    }

    /// Starts informers of the resources that it has found now.
    async fn look(&mut self) {
        for (place, [group, version, plural, kind]) in FOLLOWED.into_iter().enumerate() {
            if self.informers.contains_key(&place) {
                continue;
            }
            let wanted = GroupVersion::new(group, version);
            let Availability::Found(resources) = self.discovery.group_version(&wanted).await else {
                continue;
            };
            if !resources.iter().any(|found| found.kind.kind == kind) {
                // As a mapper does, which takes it for missing, and not for absent for ever.
                continue;
            }
            let resource = ApiResource {
                group: group.to_owned(),
                version: version.to_owned(),
                api_version: api_version(group, version),
                kind: kind.to_owned(),
                plural: plural.to_owned(),
            };
            let list_watch = HttpListWatch::<DynamicObject>::new_with(
                self.server.client(),
                Scope::All,
                &resource,
            );
            let informer = SharedInformer::builder(list_watch).build().unwrap();
            let handled = HandledObjects::default();
            informer.add_handler(handled.clone()).detach();
            informer.start();
            self.informers.insert(place, (informer, handled));
        }
    }

    /// Returns how it differs from the server in a resource that this serves, if it does.
    async fn difference(&self) -> Option<String> {
        let served = DiscoveryClient::new(self.server.client());
        let served = served.server_resources().await.unwrap();
        for (place, [group, version, plural, kind]) in FOLLOWED.into_iter().enumerate() {
            let wanted = GroupVersion::new(group, version);
            let Availability::Found(resources) = served.group_version(&wanted) else {
                continue;
            };
            if !resources.iter().any(|found| found.kind.kind == kind) {
                continue;
            }
            let Some((informer, handled)) = self.informers.get(&place) else {
                return Some(format!("{plural} are served, and there is no informer"));
            };
            let objects = self.server.objects(group, version, plural);
            let objects: Versions = objects
                .iter()
                .map(|object| {
                    let key = match object.namespace() {
                        Some(namespace) => format!("{namespace}/{}", object.name()),
                        None => object.name().to_owned(),
                    };
                    (key, object.revision().to_string())
                })
                .collect();
            let cached = informer.indexer().list();
            let cached: Versions = cached
                .iter()
                .map(|object| {
                    let version = object.resource_version().as_str().to_owned();
                    (object.key().to_string(), version)
                })
                .collect();
            let handled = handled.0.lock().unwrap().clone();
            if cached != objects || handled != objects {
                return Some(format!(
                    "{plural}: the server has {objects:?}, the cache {cached:?}, a handler {handled:?}"
                ));
            }
        }
        None
    }

    async fn shutdown(self) {
        for (informer, _) in self.informers.into_values() {
            informer.shutdown().await;
        }
    }
}

fn api_version(group: &str, version: &str) -> String {
    match group {
        "" => version.to_owned(),
        group => format!("{group}/{version}"),
    }
}

/// Returns an object of a followed resource.
fn object(place: usize, name: &str, number: u32) -> Value {
    let [group, version, _, kind] = FOLLOWED[place];
    let mut object = json!({
        "apiVersion": api_version(group, version),
        "kind": kind,
        "metadata": {"name": name, "labels": {"number": number.to_string()}},
    });
    match kind {
        "VolumeAttributesClass" => object["driverName"] = json!("driver.example.com"),
        "MutatingAdmissionPolicyBinding" => object["spec"] = json!({"policyName": "policy"}),
        "ClusterTrustBundle" => object["spec"] = json!({"trustBundle": "none"}),
        _ => {}
    }
    object
}

/// Runs a client against a server that changes its version, and returns how it has not converged, with the resources that it
/// follows in the end.
async fn upgraded(seed: u64, options: CacheOptions) -> (Option<String>, BTreeSet<usize>) {
    let mut rng = Rng::with_seed(seed);
    let all: Vec<KubernetesVersion> = KubernetesVersion::all().collect();
    let server = FakeServer::builder()
        .with_seed(seed)
        .with_bootstrap(false)
        .with_controllers(Controllers::none())
        .with_kubernetes_version(all[rng.usize(..all.len())])
        .build();
    let mut client = Client::new(&server, options);
    for number in 0..40 {
        match rng.u8(0..10) {
            0..=2 => drop(server.upgrade(all[rng.usize(..all.len())])),
            3 => server.disconnect(),
            4 => server.expire(),
            _ => {
                let place = rng.usize(..FOLLOWED.len());
                let object = object(place, ["a", "b", "c"][rng.usize(..3)], number);
                // One that is not served now, or was deleted before, is refused.
                let _ = if rng.u8(0..4) == 0 {
                    server.delete(&object)
                } else {
                    server.apply(&object).map(drop)
                };
            }
        }
        client.look().await;
        sleep(Duration::from_millis(rng.u64(0..15_000))).await;
    }
    server.upgrade(all[rng.usize(..all.len())]);
    let mut difference = None;
    // Longer than any backoff, and than the pause of an informer whose resource is not served.
    for _ in 0..240 {
        client.look().await;
        sleep(Duration::from_secs(5)).await;
        difference = client.difference().await;
        if difference.is_none() {
            break;
        }
    }
    let followed = client.informers.keys().copied().collect();
    client.shutdown().await;
    server.shutdown().await;
    (difference, followed)
}

#[tokio::test(start_paused = true)]
async fn informers_that_are_found_by_discovery_lose_nothing() {
    let mut followed = BTreeSet::new();
    for seed in 0..seed_count() {
        let (difference, found) = upgraded(seed, CacheOptions::default()).await;
        assert_eq!(difference, None, "seed {seed}");
        followed.extend(found);
    }
    assert_eq!(
        followed.len(),
        FOLLOWED.len(),
        "each resource was found at times"
    );
}

#[tokio::test(start_paused = true)]
async fn discovery_that_is_cached_for_ever_is_caught() {
    let for_ever = CacheOptions::default()
        .with_max_age(FOR_EVER)
        .with_miss_ttl(FOR_EVER);
    let mut caught = None;
    for seed in 0..SEED_COUNT {
        caught = upgraded(seed, for_ever.clone()).await.0;
        if caught.is_some() {
            break;
        }
    }
    let caught = caught.expect("a client that never asks again misses what comes later");
    assert!(caught.ends_with("there is no informer"), "{caught}");
}
