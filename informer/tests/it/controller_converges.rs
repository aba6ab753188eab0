//! Informer, queue and workers together reach the desired state after any faults.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
    time::Duration,
};

use fakeserver::{
    FakeServer,
    faults::{Fault, Filter, RuleGuard, ServerError},
};
use http::StatusCode;
use informer::{
    HandlerFuncs, Lister, ObjectKey, Scope, SharedInformer,
    http::HttpListWatch,
    workqueue::{Action, DrainResult, WorkQueue, Workers, WorkersOptions},
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{DeleteParams, PostParams},
};
use proptest::prelude::*;
use tokio::time::sleep;

use crate::support::{ConfigMaps, number_of, numbered};

const SOURCE: &str = "default";
const TARGET: &str = "kube-public";
const WORKERS: usize = 3;

#[derive(Clone, Copy, Debug)]
enum Event {
    Put {
        name: u8,
        number: u64,
    },
    Delete {
        name: u8,
    },
    Disconnect,
    Expire,
    /// The next frames of watches, as many as this, end their streams.
    Ends(u64),
    /// The next writes, as many as this, fail.
    Fails(u64),
    /// The server answers nothing for this long.
    Outage {
        seconds: u64,
    },
}

fn event() -> impl Strategy<Value = (Event, u64)> {
    let event = prop_oneof![
        4 => (0..5_u8, 0..100_u64).prop_map(|(name, number)| Event::Put { name, number }),
        2 => (0..5_u8).prop_map(|name| Event::Delete { name }),
        2 => Just(Event::Disconnect),
        1 => Just(Event::Expire),
        1 => (1..4_u64).prop_map(Event::Ends),
        1 => (1..4_u64).prop_map(Event::Fails),
        1 => (1..60_u64).prop_map(|seconds| Event::Outage { seconds }),
    ];
    (event, 0..3_000_u64)
}

/// Keeps a copy of every source in another namespace.
struct Mirror {
    sources: Lister<ConfigMap>,
    copies: Api<ConfigMap>,
    in_work: Mutex<BTreeSet<ObjectKey>>,
}

// === impl Mirror ===

impl Mirror {
    async fn reconcile(&self, key: ObjectKey) -> Result<Action, kube::Error> {
        let is_first = self.in_work.lock().unwrap().insert(key.clone());
        assert!(is_first, "two workers hold {key}");
        let outcome = self.copy(&key).await;
        self.in_work.lock().unwrap().remove(&key);
        outcome.map(|()| Action::AwaitChange)
    }

    async fn copy(&self, key: &ObjectKey) -> Result<(), kube::Error> {
        let name = key.name();
        let copy = self.copies.get_opt(name).await?;
        // Read last, so that nothing is written that was out of date when it was decided.
        let source = self.sources.namespaced(SOURCE).get(name).ok();
        let wanted = source.map(|source| numbered(name, number_of(&source)));
        match (copy, wanted) {
            (None, None) => {}
            (Some(copy), Some(wanted)) if copy.data == wanted.data => {}
            (Some(mut copy), Some(wanted)) => {
                copy.data = wanted.data;
                self.copies
                    .replace(name, &PostParams::default(), &copy)
                    .await?;
            }
            (None, Some(wanted)) => {
                self.copies.create(&PostParams::default(), &wanted).await?;
            }
            (Some(_), None) => {
                self.copies.delete(name, &DeleteParams::default()).await?;
            }
        }
        Ok(())
    }
}

/// The names and contents of a namespace's config maps, as the server has them.
async fn on_server(server: &FakeServer, namespace: &str) -> BTreeMap<String, Option<String>> {
    let api: Api<ConfigMap> = Api::namespaced(server.client(), namespace);
    let list = api.list(&kube::api::ListParams::default()).await.unwrap();
    let items = list.items.into_iter().map(|object| {
        let number = object.data.unwrap_or_default().remove("number");
        (object.metadata.name.unwrap(), number)
    });
    items.collect()
}

/// Lets `event` happen; what it puts in force stays so until the guards are dropped.
async fn happen(server: &FakeServer, event: Event, guards: &mut Vec<RuleGuard>) {
    let sources = ConfigMaps::of(server, SOURCE);
    let subject = || Filter::any().client("subject");
    match event {
        Event::Put { name, number } => sources.put(&format!("c{name}"), number).await,
        Event::Delete { name } => sources.delete(&format!("c{name}")).await,
        Event::Disconnect => server.disconnect(),
        Event::Expire => server.expire(),
        Event::Ends(times) => {
            let rule = Fault::CleanEnd.rule().matching(subject().verb("watch"));
            guards.push(server.faults().install(rule.times(times)));
        }
        Event::Fails(times) => {
            let code = StatusCode::INTERNAL_SERVER_ERROR;
            let rule = ServerError::new(code)
                .rule()
                .matching(subject().namespace(TARGET));
            guards.push(server.faults().install(rule.times(times)));
        }
        Event::Outage { seconds } => {
            let code = StatusCode::SERVICE_UNAVAILABLE;
            let rule = ServerError::new(code).rule().matching(subject());
            let guard = server.faults().install(rule);
            server.disconnect();
            sleep(Duration::from_secs(seconds)).await;
            drop(guard);
        }
    }
}

async fn run(events: Vec<(Event, u64)>) {
    let server = FakeServer::builder().build();
    let client = server.client_named("subject");
    let scope = Scope::Namespace(SOURCE.to_owned());
    let list_watch = HttpListWatch::<ConfigMap>::new(client.clone(), scope);
    let informer = SharedInformer::builder(list_watch).build().unwrap();
    let queue = WorkQueue::new();
    let (added, updated, deleted) = (queue.clone(), queue.clone(), queue.clone());
    let handler = HandlerFuncs::new()
        .with_add(move |object, _| added.add(object.key().clone()))
        .with_update(move |_, object| updated.add(object.key().clone()))
        .with_delete(move |object| deleted.add(object.key().clone()));
    let registration = informer.add_handler(handler);
    let mirror = Arc::new(Mirror {
        sources: informer.lister(),
        copies: Api::namespaced(client, TARGET),
        in_work: Mutex::default(),
    });
    let workers = Workers::start(&queue, WorkersOptions::new(WORKERS), move |key| {
        let mirror = Arc::clone(&mirror);
        async move { mirror.reconcile(key).await }
    });
    informer.start();

    let mut guards = Vec::new();
    for (event, pause_ms) in events {
        happen(&server, event, &mut guards).await;
        sleep(Duration::from_millis(pause_ms)).await;
    }
    // Peace: the longest delay of a retry after so few failures is well below this.
    guards.clear();
    sleep(Duration::from_mins(20)).await;
    let (wanted, found) = (
        on_server(&server, SOURCE).await,
        on_server(&server, TARGET).await,
    );
    assert_eq!(found, wanted);
    // And nothing is left to do.
    let left = (queue.len(), queue.delayed_len(), queue.processing_len());
    assert_eq!(left, (0, 0, 0));
    let reads = || server.stats().requests["configmaps"].get("get").copied();
    let before = reads();
    sleep(Duration::from_hours(1)).await;
    assert_eq!(reads(), before);
    registration.remove().await;
    assert_eq!(workers.shutdown().await, DrainResult::All);
    informer.shutdown().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn every_copy_is_as_its_source_in_the_end(events in prop::collection::vec(event(), 1..25)) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(run(events));
    }
}
