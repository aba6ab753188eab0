//! Tests of whom a change wakes, when a key is reconciled again, and how a manager ends, each compared with a model.

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    future::ready,
    sync::{Arc, Mutex},
    time::Duration,
};

use fakeserver::FakeServer;
use fastrand::Rng;
use futures::FutureExt;
use informer::{
    Deleted, Notification, NotificationCause, Object, ObjectKey,
    controller::{
        Context, Controller, ControllerKind, ExternalSource, Predicate, Runnable, Terminal,
    },
    leader_election::{LeaderElector, LeaseLock},
    manager::{Manager, ManagerError},
    workqueue::{Action, limiters::ItemExponentialFailure},
};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::controllers::{object, server};

type AnyError = Box<dyn Error + Send + Sync>;
const BRIEF: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_hours(1);
const OURS: &str = "example.com/ours";

/// The reconciles since the last look: the key, and the version of the object that was shown.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<ReconciledKey>>>);

type ReconciledKey = (String, Option<String>);

// === impl Log ===

impl Log {
    fn reconcile<K: ControllerKind>(&self, controller: Controller<K>) -> Runnable {
        let log = self.clone();
        controller.reconcile(move |ctx: Context<K>, key| {
            assert_eq!((ctx.key(), ctx.is_cleanup()), (&key, false));
            let version = ctx
                .object()
                .map(|own| own.resource_version().as_str().to_owned());
            log.0.lock().unwrap().push((key.to_string(), version));
            ready(Ok::<_, AnyError>(Action::AwaitChange))
        })
    }

    /// Returns them in the order of keys, each once: two sources may lead to one.
    async fn take(&self) -> Vec<ReconciledKey> {
        sleep(BRIEF).await;
        let mut taken = std::mem::take(&mut *self.0.lock().unwrap());
        taken.sort();
        taken.dedup();
        taken
    }
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::new("default", name)
}

/// Draws other metadata of an object.
fn changed_meta(old: &Value, random: &mut Rng) -> Value {
    let mut meta = old.clone();
    for field in ["labels", "annotations"] {
        match random.u8(0..6) {
            0 => meta[field] = json!({"a": random.bool().to_string()}),
            1 => drop(meta.as_object_mut().unwrap().remove(field)),
            _ => {}
        }
    }
    match random.u8(0..8) {
        0 | 1 => meta["generation"] = random.u8(1..3).into(),
        2 => meta["finalizers"] = json!([OURS]),
        3 => meta["deletionTimestamp"] = format!("2026-01-0{}T00:00:00Z", random.u8(1..3)).into(),
        _ => {}
    }
    meta["resourceVersion"] = random.u8(1..3).to_string().into();
    meta
}

/// Returns whether the predicates hold for an update, by their documentation.
fn expected_holds(old: &Value, new: &Value, is_resync: bool) -> [bool; 6] {
    let differs = |field: &str| old[field] != new[field];
    let [generation, labels, annotations, version] =
        ["generation", "labels", "annotations", "resourceVersion"].map(differs);
    let is_doomed = old["deletionTimestamp"].is_null() && !new["deletionTimestamp"].is_null();
    let deletion = is_doomed || differs("finalizers");
    let has_none = old["generation"].is_null() && new["generation"].is_null();
    let spec = generation || labels || annotations || deletion || (has_none && version);
    let spec = spec || is_resync;
    [generation, labels, annotations, version, deletion, spec]
}

#[test]
fn a_predicate_holds_for_the_updates_it_names_and_for_all_adds_and_deletions() {
    let predicates = || {
        [
            Predicate::<ConfigMap>::generation_changed(),
            Predicate::labels_changed(),
            Predicate::annotations_changed(),
            Predicate::resource_version_changed(),
            Predicate::deletion_or_finalizers_changed(),
            Predicate::spec_changed(),
        ]
    };
    let made = |meta: &Value| {
        let map = object("ConfigMap", "a", meta);
        Object::new(serde_json::from_value::<ConfigMap>(map).unwrap())
    };
    for seed in 0..300 {
        let mut random = Rng::with_seed(seed);
        let old = changed_meta(&json!({}), &mut random);
        let cause = random.choice([NotificationCause::Live, NotificationCause::Resync]);
        let cause = cause.unwrap();
        let new = match cause {
            NotificationCause::Live => changed_meta(&old, &mut random),
            _ => old.clone(),
        };
        let notification = Notification::Update {
            old: made(&old),
            new: made(&new),
            cause,
        };
        let expected = expected_holds(&old, &new, cause.is_resync());
        let holds = predicates().map(|predicate| predicate.holds(&notification));
        assert_eq!(holds, expected, "seed {seed}: {notification:?}");
        let [place, other] = [random.usize(0..6), random.usize(0..6)];
        let (first, second) = (expected[place], expected[other]);
        let take = |place: usize| predicates()[place].clone();
        assert_eq!(
            take(place).not().holds(&notification),
            !first,
            "seed {seed}"
        );
        // The second is asked only if it decides.
        let unless = |is_decided: bool| {
            let never = Predicate::new(|_| panic!("it is asked"));
            if is_decided { never } else { take(other) }
        };
        let and = take(place).and(unless(!first)).holds(&notification);
        let or = take(place).or(unless(first)).holds(&notification);
        assert_eq!((and, or), (first && second, first || second), "seed {seed}");
        let (object, cause) = (made(&new), NotificationCause::Live);
        let others = [
            Notification::Delete {
                deleted: Deleted::Object(object.clone()),
                cause,
            },
            Notification::Add { object, cause },
        ];
        for notification in others {
            assert!(
                predicates().iter().all(|own| own.holds(&notification)),
                "{notification:?}"
            );
        }
    }
}

/// Draws references to owners, of which one controls the object or none.
fn drawn_owners(random: &mut Rng) -> Value {
    let owners = [
        ("v1", "ConfigMap", "a"),
        ("v1", "ConfigMap", "b"),
        ("apps/v1", "ConfigMap", "c"),
        ("v1", "Namespace", "default"),
        ("v1", "Namespace", "gone"),
        ("v1", "Service", "a"),
    ];
    let controls = random.usize(0..8);
    let owners = owners.iter().enumerate().filter_map(|(place, own)| {
        let is_controller = place == controls;
        let owner = json!({"apiVersion": own.0, "kind": own.1, "name": own.2, "uid": place.to_string(), "controller": is_controller});
        (is_controller || random.bool()).then_some(owner)
    });
    owners.collect()
}

/// Returns the names of the owner of a kind that controls one of two states of an object.
fn controllers_of(kind: &str, states: &[Option<Value>; 2]) -> BTreeSet<String> {
    let states = states.iter().flatten();
    let owners = states.flat_map(|meta| meta["ownerReferences"].as_array().unwrap());
    let ours = owners.filter(|owner| {
        owner["controller"] == true && owner["kind"] == kind && owner["apiVersion"] == "v1"
    });
    ours.map(|owner| owner["name"].as_str().unwrap().to_owned())
        .collect()
}

/// Returns the keys that a label names.
fn named_keys(secret: &Object<Secret>) -> Vec<ObjectKey> {
    let names = secret.labels().get("wakes").unwrap_or_default();
    names.split('.').map(key).collect()
}

/// Changes or deletes a secret; returns its metadata before and after.
fn change_secret(
    server: &FakeServer,
    random: &mut Rng,
    held: &mut BTreeMap<String, Value>,
) -> [Option<Value>; 2] {
    let name = format!("s{}", random.u8(0..3));
    let old = held.remove(&name);
    if old.is_some() && random.u8(0..4) == 0 {
        server.delete(&object("Secret", &name, &json!({}))).unwrap();
        return [old, None];
    }
    let label = random.choice(["a", "b.a", "c.b"]).unwrap();
    let meta = json!({
        "annotations": {"a": random.bool().to_string()}, "labels": {"wakes": label},
        "ownerReferences": drawn_owners(random),
    });
    let mut secret = object("Secret", &name, &meta);
    secret["stringData"] = json!({"at": server.revision().to_string()});
    server.apply(&secret).unwrap();
    held.insert(name, meta.clone());
    [old, Some(meta)]
}

#[tokio::test(start_paused = true)]
async fn a_change_wakes_the_controlling_owners_and_the_mapped_keys_of_both_states() {
    for seed in 0..3 {
        let (server, maps, spaces) = (server(), Log::default(), Log::default());
        let owners = Controller::<ConfigMap>::new("maps").owns::<Secret>();
        let mapped = owners.watches_if(Predicate::labels_changed(), named_keys);
        let cluster_wide = Controller::<Namespace>::new("spaces")
            .owns_if::<Secret>(Predicate::annotations_changed());
        let manager = Manager::new(server.client())
            .with_controller(maps.reconcile(mapped))
            .with_controller(spaces.reconcile(cluster_wide))
            .start();
        assert_eq!(maps.take().await, []);
        assert!(spaces.take().await.iter().any(|(key, _)| key == "default"));
        let (mut random, mut held) = (Rng::with_seed(seed), BTreeMap::new());
        for step in 0..30 {
            let mut woken = [BTreeSet::new(), BTreeSet::new()];
            if random.u8(0..4) == 0 {
                let name = random.choice(["a", "b", "c"]).unwrap();
                let labels = json!({"labels": {"at": server.revision().to_string()}});
                let map = object("ConfigMap", name, &labels);
                if random.bool() || server.delete(&map).is_err() {
                    server.apply(&map).unwrap();
                }
                woken[0].insert(name.to_owned());
            } else {
                let states = change_secret(&server, &mut random, &mut held);
                let is_changed = |field: &str| match &states {
                    [Some(old), Some(new)] => old[field] != new[field],
                    _ => true,
                };
                woken[0] = controllers_of("ConfigMap", &states);
                if is_changed("labels") {
                    let texts = states.iter().flatten();
                    let texts = texts.map(|meta| meta["labels"]["wakes"].as_str().unwrap());
                    woken[0].extend(texts.flat_map(|text| text.split('.')).map(str::to_owned));
                }
                if is_changed("annotations") {
                    woken[1] = controllers_of("Namespace", &states);
                }
            }
            let expected = woken[0].iter().map(|name| {
                let map: Option<ConfigMap> = server.get(Some("default"), name).unwrap();
                let version = map.map(|map| map.metadata.resource_version.unwrap());
                (format!("default/{name}"), version)
            });
            let expected: Vec<ReconciledKey> = expected.collect();
            assert_eq!(maps.take().await, expected, "seed {seed}, {step}");
            let reconciled = spaces.take().await;
            let reconciled: Vec<_> = reconciled
                .iter()
                .map(|(key, own)| (&**key, own.is_some()))
                .collect();
            let expected: Vec<_> = woken[1]
                .iter()
                .map(|name| (&**name, name == "default"))
                .collect();
            assert_eq!(reconciled, expected, "seed {seed}, {step}");
        }
        manager.shutdown().await.unwrap();
    }
}

/// Returns the time since the start, in milliseconds, and the key of each reconcile.
type ReconcileTimes = Arc<Mutex<Vec<(u64, String)>>>;

fn begin(begins: &ReconcileTimes, start: Instant, key: &ObjectKey) -> usize {
    let mut begins = begins.lock().unwrap();
    let number = begins.iter().filter(|(_, of)| *of == key.name()).count();
    let at = u64::try_from(start.elapsed().as_millis()).unwrap();
    begins.push((at, key.name().to_owned()));
    number
}

/// Ends a reconcile in the way that a letter says.
async fn end(letter: Option<u8>) -> Result<Action, AnyError> {
    match letter {
        Some(b'r') => Ok(Action::RequeueAfter(Duration::from_millis(700))),
        Some(b'f') => Err("on purpose".into()),
        Some(b'p') => panic!("on purpose"),
        Some(b't') => Err(Terminal::new("for ever").into()),
        Some(b'h') => {
            sleep(HOUR).await;
            unreachable!("it is dropped before")
        }
        _ => Ok(Action::AwaitChange),
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_is_reconciled_again_when_its_outcome_has_an_error() {
    // Failures wait 5 ms, 10 ms and so on, or 40 ms and then 100 ms; a success forgets them.
    let scripts: [(&str, [&[u64]; 2]); 6] = [
        ("a", [&[0], &[0]]),
        ("t", [&[0], &[0]]),
        ("rfr", [&[0, 700, 705, 1_405], &[0, 700, 740, 1_440]]),
        ("fpff", [&[0, 5, 15, 35, 75], &[0, 40, 120, 220, 320]]),
        ("ffrf", [&[0, 5, 15, 715, 720], &[0, 40, 120, 820, 860]]),
        ("hf", [&[0, 120_005, 120_015], &[0, 7_040, 7_120]]),
    ];
    for way in 0..2 {
        let (server, source, begins) = (server(), ExternalSource::new(), ReconcileTimes::default());
        let mut controller = Controller::<ConfigMap>::new("it").woken_by(&source);
        controller = controller.with_workers(scripts.len());
        if way == 1 {
            let limiter = ItemExponentialFailure::new(40 * BRIEF, 100 * BRIEF);
            controller = controller
                .with_rate_limiter(limiter)
                .with_timeout(7 * SECOND);
        }
        let (own, start) = (Arc::clone(&begins), Instant::now());
        let controller = controller.reconcile(move |ctx, key| {
            assert!(ctx.object().is_none() && ctx.owner_reference().is_none());
            let number = begin(&own, start, &key);
            end(key.name().as_bytes().get(number).copied())
        });
        let running = controller.run_in(server.client());
        sleep(BRIEF).await;
        for (script, _) in scripts {
            source.enqueue(&key(script));
        }
        sleep(5 * HOUR / 60).await;
        for (script, expected) in &scripts {
            let begins = begins.lock().unwrap();
            let own = begins.iter().filter(|(_, of)| of == script);
            let own: Vec<u64> = own.map(|(at, _)| *at).collect();
            let late = own
                .iter()
                .zip(expected[way])
                .map(|(at, expected)| at.wrapping_sub(*expected));
            let is_prompt =
                late.max().is_some_and(|late| late < 4) && own.len() == expected[way].len();
            assert!(is_prompt, "{script}: {own:?} {expected:?}");
        }
        running.shutdown().await.unwrap();
        source.enqueue(&key("late"));
    }
}

/// Returns a manager of a controller whose reconciles take a second each, while it leads.
fn slow(server: &FakeServer, name: &str, workers: usize, begins: &ReconcileTimes) -> Manager {
    let (own, start) = (Arc::clone(begins), Instant::now());
    let controller = Controller::<ConfigMap>::new(name).with_workers(workers);
    let controller = controller.reconcile(move |_, key| {
        begin(&own, start, &key);
        sleep(SECOND).map(|()| Ok::<_, AnyError>(Action::AwaitChange))
    });
    let lock = LeaseLock::new(server.client(), "default", "it");
    Manager::new(server.client())
        .with_leader_election(LeaderElector::new(lock, name).unwrap())
        .with_controller(controller)
}

#[tokio::test(start_paused = true)]
async fn a_stop_works_off_what_is_queued_within_its_limit_and_then_another_copy_leads() {
    for seed in 0..8 {
        let mut random = Rng::with_seed(seed);
        let (server, begins) = (server(), ReconcileTimes::default());
        let (count, workers) = (random.usize(8..16), random.usize(1..4));
        let write = |number: usize, text: &str| {
            let map = object(
                "ConfigMap",
                &format!("m{number}"),
                &json!({"labels": {"at": text}}),
            );
            server.apply(&map).unwrap();
        };
        (0..count).for_each(|number| write(number, "0"));
        let limit = SECOND * random.u32(1..12);
        let manager = |name: &str| slow(&server, name, workers, &begins).with_stop_limit(limit);
        let first = manager("first");
        let health = first.health();
        let stages = || (health.is_live(), health.is_ready(), health.is_leading());
        assert_eq!(stages(), (true, false, false));
        let (first, second) = (first.start(), manager("second").start());
        sleep(SECOND / 2).await;
        assert_eq!(stages(), (true, true, true));
        assert!(second.health().is_ready() && !second.health().is_leading());
        // The initial state gives way to a change.
        write(count - 1, "1");
        sleep(SECOND).await;
        let begun = begins.lock().unwrap().clone();
        assert_eq!(
            (begun.len(), &*begun[workers].1),
            (2 * workers, &*format!("m{}", count - 1)),
            "seed {seed}"
        );
        let rounds = 2 * u32::try_from(count.div_ceil(workers)).unwrap();
        let needed = SECOND / 2 * (rounds - 3);
        let stop = Instant::now();
        let ended = first.shutdown().await;
        let took = stop.elapsed();
        assert!(
            took.abs_diff(limit.min(needed)) < SECOND / 10,
            "seed {seed}: {took:?}"
        );
        match ended {
            Err(ManagerError::NotDrained {
                controllers,
                limit: notification,
            }) => {
                assert!(
                    needed > limit && notification == limit && *controllers[0] == *"first",
                    "seed {seed}"
                );
            }
            ended => assert!(ended.is_ok() && needed < limit, "seed {seed}: {ended:?}"),
        }
        let begun = begins.lock().unwrap().len();
        let rounds = usize::try_from(limit.min(needed).as_secs()).unwrap() + 2;
        assert_eq!(
            (begun, stages()),
            (count.min(rounds * workers), (false, false, false)),
            "seed {seed}"
        );
        sleep(10 * SECOND).await;
        assert!(second.health().is_leading() && begins.lock().unwrap().len() > begun);
        drop(second);
    }
}
