//! A controller: one of two copies leads, and keeps a copy of some config maps in another namespace.
//!
//! ```text
//! cargo run -p examples --example 04_work_queue_controller
//! ```
//!
//! From top to bottom: what the controller does (`Mirror`), how one copy of the program runs (`run_copy`), and what happens
//! to the two of them (`main`). The server is a simulated one in this process. On a real cluster the client would come from
//! `informer::http::client(kube::Config::infer().await?)?`, and nothing else would change.

use std::{convert::Infallible, error::Error, sync::Arc, time::Duration};

use fakeserver::{
    FakeServer,
    faults::{Filter, ServerError},
};
use http::StatusCode;
use informer::{
    HandlerFuncs, Lister, ObjectKey, Scope, SharedInformer,
    http::HttpListWatch,
    leader_election::{LeaderElector, LeaseLock},
    watch::{self, ObjectState},
    workqueue::{Action, WorkQueue, Workers, WorkersOptions},
};
use k8s_openapi::{
    api::{coordination::v1::Lease, core::v1::ConfigMap},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    Api, Client,
    api::{DeleteParams, PostParams},
};
use tokio_util::sync::CancellationToken;

/// The namespace of the config maps that are copied: those with the label `mirror=yes`.
const SOURCE: &str = "default";
/// The namespace of their copies.
const TARGET: &str = "kube-public";
/// The number of config maps that are worked on at once.
const WORKERS: usize = 3;
/// Nothing in this example takes longer.
const LIMIT: Duration = Duration::from_mins(1);

type AnyError = Box<dyn Error + Send + Sync>;

// What the controller does.

/// Keeps each copy as its source is.
struct Mirror {
    /// The informer's cache: reading from it costs no request.
    sources: Lister<ConfigMap>,
    /// The server, for writing.
    copies: Api<ConfigMap>,
}

impl Mirror {
    /// Brings the copy of `key` to its desired state. If this fails, the item is retried after a delay.
    async fn reconcile(&self, key: ObjectKey) -> Result<Action, AnyError> {
        let source = match self.sources.namespaced(SOURCE).get(key.name()) {
            Ok(source) => source,
            Err(error) if error.is_not_found() => return self.remove(key.name()).await,
            // A cache that cannot answer says nothing about what exists.
            Err(error) => return Err(error.into()),
        };
        let wanted = source.get().data.clone();
        match self.copies.get_opt(key.name()).await? {
            Some(copy) if copy.data == wanted => {}
            Some(mut copy) => {
                copy.data = wanted;
                // The request has its version, so that a concurrent change is a conflict and is not overwritten.
                let params = PostParams::default();
                self.copies.replace(key.name(), &params, &copy).await?;
            }
            None => {
                let copy = config_map(key.name(), wanted.into_iter().flatten());
                self.copies.create(&PostParams::default(), &copy).await?;
            }
        }
        Ok(Action::AwaitChange)
    }

    async fn remove(&self, name: &str) -> Result<Action, AnyError> {
        if self.copies.get_opt(name).await?.is_some() {
            self.copies.delete(name, &DeleteParams::default()).await?;
        }
        Ok(Action::AwaitChange)
    }
}

// How one copy of the program runs.

/// Waits until this copy leads, works until `stop` or until it leads no longer, and leaves in good order.
async fn run_copy(
    client: Client,
    identity: &'static str,
    stop: CancellationToken,
) -> Result<(), AnyError> {
    // Of all copies of the program the one that holds the Lease `default/mirror` works. The others wait here.
    let lock = LeaseLock::new(client.clone(), SOURCE, "mirror");
    let elector = LeaderElector::new(lock, identity)?;
    let Some(leadership) = stop.run_until_cancelled(elector.acquire()).await else {
        return Ok(());
    };
    println!("{identity}: leads");

    // The informer keeps a local copy of the sources, and reports every change.
    let scope = Scope::Namespace(SOURCE.to_owned());
    let labelled = HttpListWatch::<ConfigMap>::new(client.clone(), scope).with_labels("mirror=yes");
    let informer = SharedInformer::builder(labelled).build()?;

    // The queue holds the keys to look at, each once. What changed, and how often, does not matter: reconcile looks at the
    // state as it is when its turn comes.
    let queue = WorkQueue::new();
    let registration = informer.add_handler(queue_keys(&queue));
    informer.start();
    informer.wait_for_cache_sync(LIMIT).await?;

    // The workers take keys from the queue, retry what fails after growing delays, and forget the failures of what succeeds.
    let mirror = Arc::new(Mirror {
        sources: informer.lister(),
        copies: Api::namespaced(client, TARGET),
    });
    let workers = Workers::start(
        &queue,
        WorkersOptions::new(WORKERS),
        move |key: ObjectKey| {
            let mirror = Arc::clone(&mirror);
            async move {
                let outcome = mirror.reconcile(key.clone()).await;
                match &outcome {
                    Ok(_) => println!("{identity}: {key} is in place"),
                    Err(error) => println!("{identity}: {key} is tried again: {error}"),
                }
                outcome
            }
        },
    );

    tokio::select! {
        biased;
        // Another replica may lead already: running reconciles are dropped.
        () = leadership.lost() => {
            println!("{identity}: leads no longer");
            workers.abort().await;
        }
        // Nothing new is heard, what is queued is worked off, and only then is the lease given back.
        () = stop.cancelled() => {
            registration.remove().await;
            tokio::select! {
                biased;
                // What is still under way is dropped with the workers.
                () = leadership.lost() => println!("{identity}: leads no longer"),
                _ = workers.shutdown() => {}
            }
        }
    }
    informer.shutdown().await;
    leadership.release().await;
    println!("{identity}: has left");
    Ok(())
}

/// Adds the key of each object that was added, changed or deleted.
fn queue_keys(queue: &WorkQueue<ObjectKey>) -> HandlerFuncs<ConfigMap> {
    let (added, updated, deleted) = (queue.clone(), queue.clone(), queue.clone());
    HandlerFuncs::new()
        .with_add(move |object, _| added.add(object.key().clone()))
        .with_update(move |_, object| updated.add(object.key().clone()))
        .with_delete(move |object| deleted.add(object.key().clone()))
}

// What happens to the two copies.

// On a paused clock, time stands still while any task works and jumps ahead when all wait, so that this takes no time.
// A program of yours leaves `start_paused` out.
#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), AnyError> {
    let server = FakeServer::builder().build();
    let client = server.client();
    let (stop_first, stop_second) = (CancellationToken::new(), CancellationToken::new());
    // If the story ends early, by an error, so does the program.
    tokio::try_join!(
        run_copy(server.client(), "copy-1", stop_first.clone()),
        run_copy(server.client(), "copy-2", stop_second.clone()),
        story(&server, &client, &stop_first, &stop_second),
    )?;
    server.shutdown().await;
    println!("done: every copy was as its source");
    Ok(())
}

/// Changes sources, and asserts that their copies follow.
async fn story(
    server: &FakeServer,
    client: &Client,
    stop_first: &CancellationToken,
    stop_second: &CancellationToken,
) -> Result<(), AnyError> {
    let sources: Api<ConfigMap> = Api::namespaced(client.clone(), SOURCE);
    let params = PostParams::default();

    // The server fails the first two creates of a copy. The only effect is a retry.
    let rule = ServerError::new(StatusCode::INTERNAL_SERVER_ERROR)
        .rule()
        .matching(Filter::any().verb("create").namespace(TARGET));
    let fault = server.faults().install(rule.times(2));
    sources.create(&params, &source("a", "1")).await?;
    let mut b = sources.create(&params, &source("b", "1")).await?;
    await_copy(client, "a", Some("1")).await?;
    await_copy(client, "b", Some("1")).await?;
    assert_eq!(server.faults().fired().get("server_error"), Some(&2));
    drop(fault);

    b.data = source("b", "2").data;
    sources.replace("b", &params, &b).await?;
    await_copy(client, "b", Some("2")).await?;
    sources.delete("a", &DeleteParams::default()).await?;
    await_copy(client, "a", None).await?;

    // The first copy leaves; the second leads at its next attempt, and finds what was created meanwhile.
    assert_eq!(leader(client).await?, (Some("copy-1".to_owned()), Some(0)));
    stop_first.cancel();
    sources.create(&params, &source("c", "1")).await?;
    await_copy(client, "c", Some("1")).await?;
    assert_eq!(leader(client).await?, (Some("copy-2".to_owned()), Some(1)));
    stop_second.cancel();
    Ok(())
}

/// Waits until the copy `name` has `value`, or until there is none.
async fn await_copy(client: &Client, name: &str, value: Option<&str>) -> Result<(), AnyError> {
    let is_as_wanted = |state: &ObjectState<ConfigMap>| {
        let data = state.object().and_then(|copy| copy.get().data.as_ref());
        let found = data.and_then(|data| data.get("value"));
        Ok::<_, Infallible>(found.map(String::as_str) == value)
    };
    let scope = Scope::Namespace(TARGET.to_owned());
    watch::until(client.clone(), scope, name, LIMIT, is_as_wanted).await?;
    Ok(())
}

/// Returns the holder of the lease, and the number of times that it changed hands.
async fn leader(client: &Client) -> Result<(Option<String>, Option<i32>), AnyError> {
    let leases: Api<Lease> = Api::namespaced(client.clone(), SOURCE);
    let spec = leases.get("mirror").await?.spec.unwrap_or_default();
    Ok((spec.holder_identity, spec.lease_transitions))
}

fn source(name: &str, value: &str) -> ConfigMap {
    let mut source = config_map(name, [("value".to_owned(), value.to_owned())]);
    let labels = [("mirror".to_owned(), "yes".to_owned())];
    source.metadata.labels = Some(labels.into());
    source
}

fn config_map(name: &str, data: impl IntoIterator<Item = (String, String)>) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        },
        data: Some(data.into_iter().collect()),
        ..ConfigMap::default()
    }
}
