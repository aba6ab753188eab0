//! A controller: one of two copies leads, and keeps a copy of some config maps in another namespace.
//!
//! ```text
//! cargo run -p examples --example 04_work_queue_controller
//! ```
//!
//! The controller is `mirror`; `run_copy` runs it in one copy of the program, and `main` tells what happens to the two of them. The
//! server is a simulated one in this process. On a real cluster the client would come from
//! `informer::http::client(kube::Config::infer().await?)?`, and nothing else would change.

use std::{convert::Infallible, error::Error, time::Duration};

use fakeserver::{
    FakeServer,
    faults::{Filter, ServerError},
};
use http::StatusCode;
use informer::{
    Scope,
    controller::{Context, Controller, Runnable},
    factory::{Selectors, SharedInformerFactory},
    leader_election::{LeaderElector, LeaseLock},
    manager::Manager,
    watch::{self, ObjectState},
    workqueue::Action,
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
/// Nothing in this example takes longer.
const LIMIT: Duration = Duration::from_mins(1);

type AnyError = Box<dyn Error + Send + Sync>;

/// Returns a controller that keeps each copy as its source is.
///
/// It follows sources and copies: a source that was deleted while no controller ran is missed by its copy, and a copy that somebody else
/// has deleted comes back. Both have the same name, and whichever has changed, the source's content is what counts.
fn mirror(identity: &'static str) -> Runnable {
    Controller::<ConfigMap>::new("mirror")
        .with_workers(3)
        .reconcile(move |ctx, key| async move { reconcile(&ctx, identity, key.name()).await })
}

async fn reconcile(
    ctx: &Context<ConfigMap>,
    identity: &str,
    name: &str,
) -> Result<Action, AnyError> {
    let maps = ctx.lister::<ConfigMap>()?;
    let Ok(source) = maps.namespaced(SOURCE)?.get(name) else {
        // What has the name and none of both labels is somebody else's: it is not in the cache.
        if maps.namespaced(TARGET)?.get(name).is_ok() {
            let copies: Api<ConfigMap> = Api::namespaced(ctx.client().clone(), TARGET);
            copies.delete(name, &DeleteParams::default()).await?;
        }
        return Ok(Action::AwaitChange);
    };
    let mut copy = config_map(name, source.get().data.clone().into_iter().flatten());
    copy.metadata.namespace = Some(TARGET.to_owned());
    copy.metadata.labels = Some([("mirror".to_owned(), "copy".to_owned())].into());
    ctx.apply(&copy).await?;
    println!("{identity}: {name} is in place");
    Ok(Action::AwaitChange)
}

/// Waits until this copy leads, works until `stop` or until it leads no longer, and leaves in good order.
async fn run_copy(
    client: Client,
    identity: &'static str,
    stop: CancellationToken,
) -> Result<(), AnyError> {
    // Of all copies of the program the one that holds the Lease `default/mirror` works. The others wait with warm caches.
    let lock = LeaseLock::new(client.clone(), SOURCE, "mirror");
    let labelled = Selectors::everything().with_labels(&"mirror in (yes, copy)".parse()?);
    let factory = SharedInformerFactory::new(client.clone())
        .with_namespaces([SOURCE, TARGET])
        .with_selectors(labelled);
    Manager::new(client)
        .with_factory(&factory)
        .with_leader_election(LeaderElector::new(lock, identity)?)
        .with_controller(mirror(identity))
        .run(stop)
        .await?;
    println!("{identity}: has left");
    Ok(())
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

    // The server fails the first two applies of a copy. The only effect is a retry.
    let rule = ServerError::new(StatusCode::INTERNAL_SERVER_ERROR)
        .rule()
        .matching(Filter::any().verb("patch").namespace(TARGET));
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

#[cfg(test)]
mod tests {
    use serde_json::json;
    use survive::{Subject, Workload};

    use super::*;

    const A: &str = "v1 ConfigMap default/a";
    const COPY: &str = "v1 ConfigMap kube-public/a";
    const QUIET: Duration = Duration::from_secs(1);

    #[test]
    fn copies_are_as_their_sources_whatever_happens() {
        let copies = Subject::replica_function(|client, replica| {
            run_copy(
                client,
                ["copy-1", "copy-2"][replica],
                CancellationToken::new(),
            )
        });
        let metadata =
            |name: &str| json!({"name": name, "namespace": "default", "labels": {"mirror": "yes"}});
        let map = |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata(name), "data": {"value": "1"}});
        let workload = Workload::new()
            .with_replicas(2)
            .apply(&map("a"))
            .apply(&map("b"))
            .wait(COPY, "object.data.value == '1'")
            .quiet(QUIET)
            .patch(A, json!({"data": {"value": "2"}}))
            .wait(COPY, "object.data.value == '2'")
            .quiet(QUIET)
            .delete(A)
            .wait(COPY, "object == null")
            .quiet(QUIET);
        survive::check(copies).steps(workload).plans(40).run();
    }
}
