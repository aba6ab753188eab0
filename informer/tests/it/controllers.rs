//! Controllers and managers against a server.

use std::{
    collections::BTreeMap,
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use fakeserver::{
    FakeServer,
    faults::{Fault, FaultRule, Filter, Latency, LostAnswer, ServerError},
};
use http::StatusCode;
use informer::{
    Object, ObjectKey,
    controller::{Context, Controller, Predicate, Runnable, Terminal},
    factory::SharedInformerFactory,
    leader_election::{LeaderElector, LeaseLock},
    manager::{self, Manager, ManagerError, SettleError},
    reflector::ReflectorOptions,
    workqueue::Action,
};
use k8s_openapi::{
    api::{
        apps::v1::{Deployment, DeploymentStatus},
        core::v1::{ConfigMap, Namespace, Pod, Secret},
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    Api, Resource, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use serde_json::json;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

type AnyError = Box<dyn std::error::Error + Send + Sync>;

const FINALIZER: &str = "example.com/copies";

/// The number of calls of each key.
#[derive(Clone, Default)]
struct Calls(Arc<Mutex<BTreeMap<String, usize>>>);

impl Calls {
    fn count(&self, key: &ObjectKey) {
        *self.0.lock().unwrap().entry(key.to_string()).or_default() += 1;
    }

    fn of(&self, key: &str) -> usize {
        self.0.lock().unwrap().get(key).copied().unwrap_or_default()
    }
}

fn server() -> FakeServer {
    FakeServer::builder().with_seed(1).build()
}

fn api<K>(server: &FakeServer) -> Api<K>
where
    K: Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
{
    Api::namespaced(server.client(), "default")
}

fn named(name: &str) -> ObjectMeta {
    ObjectMeta {
        name: Some(name.to_owned()),
        ..ObjectMeta::default()
    }
}

fn map(name: &str, value: &str) -> ConfigMap {
    ConfigMap {
        metadata: named(name),
        data: Some([("value".to_owned(), value.to_owned())].into()),
        ..ConfigMap::default()
    }
}

/// Keeps a secret of the value of a config map.
async fn copy(ctx: &Context<ConfigMap>) -> Result<Action, kube::Error> {
    let Some(original) = ctx.object() else {
        return Ok(Action::AwaitChange);
    };
    let secret = Secret {
        metadata: ObjectMeta {
            owner_references: ctx.owner_reference().map(|owner| vec![owner]),
            ..named(original.key().name())
        },
        string_data: original.get().data.clone(),
        ..Secret::default()
    };
    ctx.apply(&secret).await?;
    Ok(Action::AwaitChange)
}

fn copying(calls: &Calls) -> Runnable {
    let counted = calls.clone();
    Controller::<ConfigMap>::new("copies")
        .owns::<Secret>()
        .reconcile(move |ctx, key| {
            counted.count(&key);
            async move { copy(&ctx).await }
        })
}

#[tokio::test(start_paused = true)]
async fn a_child_is_made_kept_and_restored() -> Result<(), AnyError> {
    let (server, calls) = (server(), Calls::default());
    let manager = Manager::new(server.client())
        .with_controller(copying(&calls))
        .start();
    api(&server)
        .create(&PostParams::default(), &map("web", "1"))
        .await?;
    manager.settle().await?;
    let secrets: Api<Secret> = api(&server);
    let created = secrets.get("web").await?;
    assert_eq!(created.data.as_ref().unwrap()["value"].0, b"1");

    secrets.delete("web", &DeleteParams::default()).await?;
    manager.settle().await?;
    let restored = secrets.get("web").await?;
    assert_ne!(restored.uid(), created.uid());

    let patch = Patch::Merge(json!({"data": {"value": "2"}}));
    let maps: Api<ConfigMap> = api(&server);
    maps.patch("web", &PatchParams::default(), &patch).await?;
    manager.settle().await?;
    assert_eq!(secrets.get("web").await?.data.unwrap()["value"].0, b"2");
    manager.shutdown().await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_written_status_wakes_no_controller_and_an_equal_one_is_not_written()
-> Result<(), AnyError> {
    let (server, calls) = (server(), Calls::default());
    let counted = calls.clone();
    let controller = Controller::<Deployment>::new("status").reconcile(move |ctx, key| {
        counted.count(&key);
        async move {
            let status = DeploymentStatus {
                observed_generation: ctx
                    .object()
                    .and_then(|object| object.get().metadata.generation),
                ..DeploymentStatus::default()
            };
            ctx.set_status(&status).await?;
            Ok::<_, kube::Error>(Action::AwaitChange)
        }
    });
    let manager = Manager::new(server.client())
        .with_controller(controller)
        .start();
    let deployments: Api<Deployment> = api(&server);
    let labels = json!({"app": "web"});
    let web = serde_json::from_value(json!({
        "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": labels}, "template": {
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "web", "image": "web"}]},
        }},
    }))?;
    deployments.create(&PostParams::default(), &web).await?;
    manager.settle().await?;
    assert_eq!(calls.of("default/web"), 1);
    let written = deployments.get("web").await?;
    assert_eq!(written.status.unwrap().observed_generation, Some(1));

    // Another label is a reason to look, and none to write.
    let label = Patch::Merge(json!({"metadata": {"labels": {"tier": "front"}}}));
    deployments
        .patch("web", &PatchParams::default(), &label)
        .await?;
    server.take_requests();
    manager.settle().await?;
    assert_eq!(calls.of("default/web"), 2);
    let writes = server.take_requests();
    assert!(
        writes.iter().all(|request| request.method != "PATCH"),
        "{writes:?}"
    );
    manager.shutdown().await?;
    Ok(())
}

/// Returns a controller whose maps have a secret that only it removes, and counts its clean-ups.
fn with_finalizer(cleanups: &Calls) -> Runnable {
    let counted = cleanups.clone();
    Controller::<ConfigMap>::new("copies")
        .with_finalizer(FINALIZER)
        .reconcile(move |ctx, key| {
            let counted = counted.clone();
            async move {
                let secrets: Api<Secret> = Api::namespaced(ctx.client().clone(), key.namespace());
                if ctx.is_cleanup() {
                    counted.count(&key);
                    secrets
                        .delete(key.name(), &DeleteParams::default())
                        .await
                        .ok();
                } else if let Some(object) = ctx.object() {
                    let finalizers = object.get().metadata.finalizers.clone().unwrap_or_default();
                    assert!(
                        finalizers.iter().any(|name| name == FINALIZER),
                        "{finalizers:?}"
                    );
                    let secret = Secret {
                        metadata: named(key.name()),
                        ..Secret::default()
                    };
                    ctx.apply(&secret).await?;
                }
                Ok::<_, kube::Error>(Action::AwaitChange)
            }
        })
}

#[tokio::test(start_paused = true)]
async fn a_finalizer_is_on_before_anything_is_made_and_off_after_the_cleanup()
-> Result<(), AnyError> {
    let (server, cleanups) = (server(), Calls::default());
    let manager = Manager::new(server.client())
        .with_controller(with_finalizer(&cleanups))
        .start();
    let maps: Api<ConfigMap> = api(&server);
    let mut web = map("web", "1");
    web.metadata.finalizers = Some(vec!["example.com/others".to_owned()]);
    maps.create(&PostParams::default(), &web).await?;
    manager.settle().await?;
    let expected = ["example.com/others", FINALIZER];
    assert_eq!(maps.get("web").await?.finalizers(), expected);

    maps.delete("web", &DeleteParams::default()).await?;
    manager.settle().await?;
    assert_eq!(maps.get("web").await?.finalizers(), ["example.com/others"]);
    assert_eq!(cleanups.of("default/web"), 1);
    assert!(api::<Secret>(&server).get_opt("web").await?.is_none());

    // An object that goes is not held up by one that it does not have.
    let release = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    maps.patch("web", &PatchParams::default(), &release).await?;
    manager.settle().await?;
    assert!(maps.get_opt("web").await?.is_none());
    manager.shutdown().await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_finalizer_survives_lost_answers_conflicts_and_failures() -> Result<(), AnyError> {
    for seed in 0..20 {
        let (server, cleanups) = (server(), Calls::default());
        for (number, rule) in (0..).zip(failures()) {
            let rule = rule.matching(Filter::any().client("operator"));
            let rule = rule
                .with_probability(0.3, 10 * seed + number)
                .lasting(Duration::from_mins(1));
            server.faults().install(rule).detach();
        }
        let client = server.client_named("operator");
        let manager = Manager::new(client)
            .with_controller(with_finalizer(&cleanups))
            .start();
        let maps: Api<ConfigMap> = api(&server);
        for name in ["a", "b", "c"] {
            maps.create(&PostParams::default(), &map(name, "1")).await?;
        }
        sleep(Duration::from_secs(20)).await;
        for name in ["a", "b"] {
            maps.delete(name, &DeleteParams::default()).await?;
        }
        manager
            .settle()
            .await
            .map_err(|error| format!("seed {seed}: {error}"))?;
        let left = maps.list(&ListParams::default()).await?;
        let names: Vec<_> = left.iter().map(ResourceExt::name_any).collect();
        assert_eq!(names, ["c"], "seed {seed}");
        assert_eq!(left.items[0].finalizers(), [FINALIZER], "seed {seed}");
        assert!(
            cleanups.of("default/a") > 0 && cleanups.of("default/c") == 0,
            "seed {seed}"
        );
        manager.shutdown().await?;
    }
    Ok(())
}

fn failures() -> [FaultRule; 4] {
    [
        ServerError::new(StatusCode::INTERNAL_SERVER_ERROR).rule(),
        LostAnswer::default().rule(),
        Fault::Conflict.rule(),
        Fault::ResetMidBody.rule(),
    ]
}

/// Returns a controller that makes three pods for each config map, as a replica set does; with or without the gate.
fn replicas(has_gate: bool) -> Runnable {
    Controller::<ConfigMap>::new("replicas")
        .owns::<Pod>()
        .reconcile(move |ctx, key| async move {
            let Some(owner) = ctx.owner_reference() else {
                return Ok(Action::AwaitChange);
            };
            let pods = ctx.lister::<Pod>()?.namespaced(key.namespace())?;
            let own =
                |pod: &&Object<Pod>| pod.owners().iter().any(|found| *found.uid == *owner.uid);
            let count = pods
                .list(&informer::LabelSelector::everything())?
                .iter()
                .filter(own)
                .count();
            for _ in count..3 {
                let mut pod: Pod = serde_json::from_value(json!({
                    "metadata": {"generateName": format!("{}-", key.name())},
                    "spec": {"containers": [{"name": "web", "image": "web"}]},
                }))?;
                pod.metadata.owner_references = Some(vec![owner.clone()]);
                if has_gate {
                    ctx.create(&pod).await?;
                } else {
                    let api: Api<Pod> = Api::namespaced(ctx.client().clone(), key.namespace());
                    api.create(&PostParams::default(), &pod).await?;
                }
            }
            Ok::<_, AnyError>(Action::AwaitChange)
        })
}

/// Returns the number of pods that were made under a slow watch, while the object changes.
async fn pods_made(seed: u64, has_gate: bool, rules: Vec<FaultRule>) -> Result<usize, AnyError> {
    let server = server();
    for rule in rules {
        server
            .faults()
            .install(rule.lasting(Duration::from_mins(2)))
            .detach();
    }
    let client = server.client_named("operator");
    let options = ReflectorOptions::default().with_seed(seed);
    let factory = SharedInformerFactory::new(client.clone()).with_options(options);
    let manager = Manager::new(client)
        .with_factory(&factory)
        .with_controller(replicas(has_gate))
        .with_sync_limit(Duration::from_hours(1))
        .start();
    let maps: Api<ConfigMap> = api(&server);
    maps.create(&PostParams::default(), &map("web", "0"))
        .await?;
    for value in 1..20 {
        sleep(Duration::from_millis(700)).await;
        let patch = Patch::Merge(json!({"data": {"value": value.to_string()}}));
        maps.patch("web", &PatchParams::default(), &patch).await?;
    }
    manager.settle().await?;
    manager.shutdown().await?;
    factory.shutdown().await;
    Ok(api::<Pod>(&server)
        .list(&ListParams::default())
        .await?
        .items
        .len())
}

fn slow_watch() -> FaultRule {
    let latency = Fault::Latency(Latency {
        frame_ms: 4_000,
        ..Latency::default()
    });
    latency.rule().matching(
        Filter::any()
            .client("operator")
            .resource("pods")
            .verb("watch"),
    )
}

/// kubernetes#129795: a controller whose watch is slow makes its pods again.
#[tokio::test(start_paused = true)]
async fn a_slow_watch_makes_no_pod_twice_behind_the_gate() -> Result<(), AnyError> {
    assert_eq!(pods_made(1, true, vec![slow_watch()]).await?, 3);
    assert!(pods_made(1, false, vec![slow_watch()]).await? > 3);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_makes_no_pod_twice_behind_the_gate() -> Result<(), AnyError> {
    let creates = Filter::any()
        .client("operator")
        .resource("pods")
        .verb("create");
    let loss = || {
        LostAnswer::default()
            .rule()
            .matching(creates.clone())
            .times(2)
    };
    assert_eq!(pods_made(1, true, vec![slow_watch(), loss()]).await?, 3);
    assert!(pods_made(1, false, vec![slow_watch(), loss()]).await? > 3);
    Ok(())
}

/// Returns all faults that a correct client survives, but for the one that undoes writes, each for a minute and with a seed of its own.
fn any_faults(seed: u64) -> Vec<FaultRule> {
    let faults = Fault::all().filter(|fault| fault.entry().can_be_held());
    let faults = faults.filter(|fault| !matches!(fault, Fault::Rollback(_)));
    let seeded = (0..).zip(faults).map(|(number, fault)| {
        let rule = fault.rule().matching(Filter::any().client("operator"));
        rule.with_probability(0.05, 100 * seed + number)
    });
    seeded.chain([slow_watch()]).collect()
}

/// `SEEDS=10000` draws as often, from `FIRST_SEED` on.
#[tokio::test(start_paused = true)]
async fn the_gate_makes_no_pod_twice_whatever_fails() -> Result<(), AnyError> {
    let seeds = std::env::var("SEEDS").map_or(Ok(20), |count| count.parse())?;
    let first = std::env::var("FIRST_SEED").map_or(Ok(0), |seed| seed.parse())?;
    let mut made_twice = 0;
    for seed in first..first + seeds {
        let count = pods_made(seed, true, any_faults(seed)).await;
        assert_eq!(
            count.map_err(|error| format!("seed {seed}: {error}"))?,
            3,
            "seed {seed}"
        );
        made_twice += u64::from(pods_made(seed, false, any_faults(seed)).await? > 3);
    }
    println!("without the gate {made_twice} of {seeds} are wrong");
    assert!(
        made_twice > seeds / 2,
        "without the gate {made_twice} of {seeds} are wrong"
    );
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn an_error_is_tried_again_and_a_terminal_one_is_not() -> Result<(), AnyError> {
    let (server, calls) = (server(), Calls::default());
    let counted = calls.clone();
    let controller = Controller::<ConfigMap>::new("errors").reconcile(move |_, key| {
        counted.count(&key);
        let call = counted.of(&key.to_string());
        async move {
            match key.name() {
                "terminal" => Err(Terminal::new("it never works").into()),
                "panics" if call < 3 => panic!("on purpose"),
                "fails" if call < 3 => Err(AnyError::from(io::Error::other("not yet"))),
                _ => Ok(Action::AwaitChange),
            }
        }
    });
    let manager = Manager::new(server.client())
        .with_controller(controller)
        .start();
    let maps: Api<ConfigMap> = api(&server);
    for name in ["terminal", "panics", "fails"] {
        maps.create(&PostParams::default(), &map(name, "1")).await?;
    }
    manager.settle().await?;
    let counts = ["terminal", "panics", "fails"].map(|name| calls.of(&format!("default/{name}")));
    assert_eq!(counts, [1, 3, 3]);
    // A change is another matter.
    let patch = Patch::Merge(json!({"data": {"value": "2"}}));
    maps.patch("terminal", &PatchParams::default(), &patch)
        .await?;
    manager.settle().await?;
    assert_eq!(calls.of("default/terminal"), 2);
    manager.shutdown().await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn an_apply_that_changes_nothing_is_not_sent() -> Result<(), AnyError> {
    let (server, calls) = (server(), Calls::default());
    let counted = calls.clone();
    let controller = Controller::<ConfigMap>::new("applies")
        .owns::<ConfigMap>()
        .reconcile(move |ctx, key| {
            let counted = counted.clone();
            async move {
                let Some(object) = ctx.object().filter(|object| object.owners().is_empty()) else {
                    return Ok(Action::AwaitChange);
                };
                counted.count(&key);
                let mut copy = map(&format!("{}-copy", key.name()), "same");
                copy.metadata.labels = Some([("of".to_owned(), key.name().to_owned())].into());
                copy.metadata.owner_references = ctx.owner_reference().map(|owner| vec![owner]);
                let applied = ctx.apply(&copy).await?;
                assert_eq!(applied.labels()["of"], object.key().name());
                Ok::<_, kube::Error>(Action::AwaitChange)
            }
        });
    let manager = Manager::new(server.client())
        .with_controller(controller)
        .start();
    let maps: Api<ConfigMap> = api(&server);
    maps.create(&PostParams::default(), &map("web", "0"))
        .await?;
    manager.settle().await?;
    server.take_requests();
    for value in 1..5 {
        let patch = Patch::Merge(json!({"data": {"value": value.to_string()}}));
        maps.patch("web", &PatchParams::default(), &patch).await?;
        manager.settle().await?;
    }
    assert!(calls.of("default/web") >= 5);
    let applies = || {
        let requests = server.take_requests().into_iter();
        requests
            .filter(|request| request.method == "PATCH" && request.path.ends_with("/web-copy"))
            .count()
    };
    assert_eq!(applies(), 0);
    // What somebody else has changed is put right.
    let patch = Patch::Merge(json!({"metadata": {"labels": {"of": "none"}}}));
    maps.patch("web-copy", &PatchParams::default(), &patch)
        .await?;
    manager.settle().await?;
    assert_eq!(applies(), 2);
    assert_eq!(maps.get("web-copy").await?.labels()["of"], "web");
    manager.shutdown().await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn watched_objects_map_to_keys_and_predicates_filter() -> Result<(), AnyError> {
    let (server, calls) = (server(), Calls::default());
    let counted = calls.clone();
    let controller = Controller::<Namespace>::new("namespaces")
        .with_predicate(Predicate::labels_changed())
        .watches_if(
            Predicate::annotations_changed().and(Predicate::new(|notification| {
                !notification.cause().is_initial()
            })),
            |map: &Object<ConfigMap>| [ObjectKey::cluster(map.key().namespace())],
        )
        .reads::<Secret>()
        .with_workers(4)
        .with_timeout(Duration::from_secs(5))
        .reconcile(move |ctx, key| {
            counted.count(&key);
            async move {
                assert!(ctx.object().is_some_and(|found| found.key() == ctx.key()));
                ctx.lister::<Secret>()?;
                let error = ctx.lister::<Pod>().unwrap_err();
                assert!(error.to_string().contains("`reads`"), "{error}");
                Ok::<_, AnyError>(Action::AwaitChange)
            }
        });
    let manager = Manager::new(server.client())
        .with_controller(controller)
        .start();
    manager.settle().await?;
    assert_eq!(calls.of("default"), 1);
    let maps: Api<ConfigMap> = api(&server);
    let params = PatchParams::default();
    maps.create(&PostParams::default(), &map("web", "1"))
        .await?;
    manager.settle().await?;
    assert_eq!(calls.of("default"), 2);
    let data = Patch::Merge(json!({"data": {"value": "2"}}));
    maps.patch("web", &params, &data).await?;
    manager.settle().await?;
    assert_eq!(calls.of("default"), 2);
    let namespaces: Api<Namespace> = Api::all(server.client());
    for (patch, count) in [
        (json!({"metadata": {"annotations": {"a": "b"}}}), 2),
        (json!({"metadata": {"labels": {"a": "b"}}}), 3),
    ] {
        namespaces
            .patch("default", &params, &Patch::Merge(patch))
            .await?;
        manager.settle().await?;
        assert_eq!(calls.of("default"), count);
    }
    manager.shutdown().await?;
    Ok(())
}

fn elector(server: &FakeServer, name: &str) -> LeaderElector {
    let lock = LeaseLock::new(server.client_named(name), "default", "operator");
    LeaderElector::new(lock, name).unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_copy_that_leads_works_and_hands_over_in_good_order() -> Result<(), AnyError> {
    let server = server();
    let calls = [Calls::default(), Calls::default()];
    let [first, second] = ["first", "second"].map(|name| {
        let own = &calls[usize::from(name == "second")];
        Manager::new(server.client_named(name))
            .with_leader_election(elector(&server, name))
            .with_controller(copying(own))
            .start()
    });
    first.settle().await?;
    assert!(first.health().is_leading() && !second.health().is_leading());
    assert!(second.health().is_ready(), "its caches are warm");
    api(&server)
        .create(&PostParams::default(), &map("web", "1"))
        .await?;
    first.settle().await?;
    assert_eq!(
        (calls[0].of("default/web"), calls[1].of("default/web")).1,
        0
    );
    let health = first.health().clone();
    first.shutdown().await?;
    assert!(!health.is_live() && !health.is_ready());
    second.settle().await?;
    assert!(second.health().is_leading());
    assert!(calls[1].of("default/web") > 0);
    second.shutdown().await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_copy_that_leads_no_longer_drops_its_work() -> Result<(), AnyError> {
    let server = server();
    let begun = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&begun);
    let controller = Controller::<ConfigMap>::new("long").reconcile(move |_, _| {
        counted.fetch_add(1, Ordering::Relaxed);
        async {
            sleep(Duration::from_hours(1)).await;
            Ok::<_, AnyError>(Action::AwaitChange)
        }
    });
    let manager = Manager::new(server.client_named("first"))
        .with_leader_election(elector(&server, "first"))
        .with_controller(controller);
    let stop = CancellationToken::new();
    let story = async {
        api(&server)
            .create(&PostParams::default(), &map("web", "1"))
            .await?;
        while begun.load(Ordering::Relaxed) == 0 {
            sleep(Duration::from_millis(100)).await;
        }
        let refusal = ServerError::new(StatusCode::INTERNAL_SERVER_ERROR).rule();
        server
            .faults()
            .install(refusal.matching(Filter::any().resource("leases")))
            .detach();
        Ok::<_, AnyError>(())
    };
    let (ended, story) = tokio::join!(Box::pin(manager.run(stop)), story);
    story?;
    assert!(
        matches!(ended, Err(ManagerError::LeadershipLost)),
        "{ended:?}"
    );
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_manager_that_cannot_start_stop_or_rest_says_why() -> Result<(), AnyError> {
    let server = server();
    let refusal = ServerError::new(StatusCode::INTERNAL_SERVER_ERROR).rule();
    let refusal = refusal.matching(Filter::any().client("unlucky").resource("secrets"));
    server.faults().install(refusal).detach();
    let manager = Manager::new(server.client_named("unlucky"))
        .with_controller(copying(&Calls::default()))
        .with_sync_limit(Duration::from_secs(30));
    let error = Box::pin(manager.run(CancellationToken::new()))
        .await
        .unwrap_err();
    let message = whole(&error);
    assert!(
        message.contains("the controllers cannot start: 1 of 2 informers not synced"),
        "{message}"
    );
    assert!(message.contains("secrets"), "{message}");

    let busy = Controller::<Namespace>::new("busy").reconcile(async |_, _| {
        sleep(Duration::from_mins(10)).await;
        Ok::<_, AnyError>(Action::RequeueAfter(Duration::from_secs(1)))
    });
    let manager = Manager::new(server.client())
        .with_controller(busy)
        .with_stop_limit(Duration::from_secs(3))
        .start();
    let error = manager.settle().await.unwrap_err();
    assert!(error.to_string().contains("\"busy\""), "{error}");
    let error = manager.shutdown().await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("[\"busy\"] did not end within 3s"),
        "{error}"
    );

    let manager = Manager::new(server.client_named("unlucky"))
        .with_controller(copying(&Calls::default()))
        .with_sync_limit(Duration::from_secs(1))
        .start();
    assert!(matches!(manager.settle().await, Err(SettleError::Ended)));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn probes_report_whether_a_manager_is_live_and_ready() -> Result<(), AnyError> {
    let server = server();
    let manager = Manager::new(server.client()).with_controller(copying(&Calls::default()));
    let paths = manager::endpoints(&manager.health());
    let paths = paths.merge(manager::metrics_endpoint(|| "up 1\n".to_owned()));
    let ask = async |path: &str| {
        let request = http::Request::get(path).body(axum::body::Body::empty())?;
        let answer = paths.clone().oneshot(request).await?;
        let code = answer.status().as_u16();
        let body = axum::body::to_bytes(answer.into_body(), 1_000).await?;
        Ok::<_, AnyError>((code, String::from_utf8(body.to_vec())?))
    };
    assert_eq!(ask("/healthz").await?, (200, "live\n".to_owned()));
    assert_eq!(ask("/readyz").await?, (503, "not ready\n".to_owned()));
    let manager = manager.start();
    manager.settle().await?;
    assert_eq!(ask("/readyz").await?, (200, "ready\n".to_owned()));
    assert_eq!(ask("/metrics").await?, (200, "up 1\n".to_owned()));
    manager.shutdown().await?;
    assert_eq!(ask("/healthz").await?, (503, "not live\n".to_owned()));
    Ok(())
}

fn whole(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
