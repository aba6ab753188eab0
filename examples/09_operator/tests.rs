//! The tests of the operator: on a server in the process, on a paused clock, without and with faults.

// ANCHOR: set-up
use std::{convert::Infallible, future::Future, time::Duration};

use fakeserver::{
    Controllers, FakeServer, Workloads,
    faults::{Fault, FaultRule, Filter, LostAnswer, ServerError},
};
use http::StatusCode;
use informer::{
    Scope,
    manager::{Manager, ManagerError},
    watch::{self, ObjectState},
};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Service},
};
use kube::{
    Api, Resource,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::{
    AnyError, operator,
    website::{Website, WebsiteSpec},
};

/// The longest wait for a state. The clock is paused, so that it takes no time.
const LIMIT: Duration = Duration::from_mins(10);
/// The name of the operator's client, by which faults find it.
const OPERATOR: &str = "operator";

/// Starts a server that knows websites, and runs deployments.
fn server(seed: u64) -> FakeServer {
    let workloads = Controllers::default().with_workloads(Workloads::default());
    let builder = FakeServer::builder().with_seed(seed);
    builder
        .with_crd::<Website>()
        .with_controllers(workloads)
        .build()
}

/// Runs the operator for as long as `story` lasts.
async fn beside_the_operator(
    server: &FakeServer,
    story: impl Future<Output = Result<(), AnyError>>,
) -> Result<(), AnyError> {
    let stop = CancellationToken::new();
    let operator = async {
        loop {
            let manager = Manager::new(server.client_named(OPERATOR));
            let manager = manager.with_controller(operator::controller());
            match manager.run(stop.clone()).await {
                // As a pod that has failed, it is started again.
                Err(ManagerError::Sync(error)) => println!("{error}"),
                ended => break ended,
            }
        }
    };
    let story = async {
        let result = story.await;
        stop.cancel();
        result
    };
    let (operator, story) = tokio::join!(Box::pin(operator), Box::pin(story));
    story?;
    Ok(operator?)
}

/// Waits until the status of the website `blog` says that `count` replicas are ready.
async fn await_ready(server: &FakeServer, count: i32) -> Result<(), AnyError> {
    let is_ready = |state: &ObjectState<Website>| {
        let status = state.object().and_then(|found| found.get().status.clone());
        Ok(status.is_some_and(|status| status.ready_replicas == count))
    };
    await_blog(server, is_ready).await
}

/// Waits until the object `blog` is as `condition` says.
async fn await_blog<K>(
    server: &FakeServer,
    condition: impl FnMut(&ObjectState<K>) -> Result<bool, Infallible>,
) -> Result<(), AnyError>
where
    K: Resource<DynamicType: Default> + DeserializeOwned + Send + Sync + 'static,
{
    let scope = Scope::Namespace("default".to_owned());
    let wait = watch::until(server.client(), scope, "blog", LIMIT, condition);
    Box::pin(wait).await?;
    Ok(())
}

fn websites(server: &FakeServer) -> Api<Website> {
    Api::namespaced(server.client(), "default")
}

fn blog(replicas: i32) -> Website {
    let image = "example.com/blog:1".to_owned();
    Website::new("blog", WebsiteSpec { image, replicas })
}
// ANCHOR_END: set-up

// ANCHOR: first
#[tokio::test(start_paused = true)]
async fn a_website_is_deployed_scaled_and_removed() -> Result<(), AnyError> {
    let server = server(7);
    beside_the_operator(&server, async {
        let api = websites(&server);
        api.create(&PostParams::default(), &blog(2)).await?;
        await_ready(&server, 2).await?;

        let more = Patch::Merge(json!({"spec": {"replicas": 5}}));
        api.patch("blog", &PatchParams::default(), &more).await?;
        await_ready(&server, 5).await?;

        let directory: Api<ConfigMap> = Api::namespaced(server.client(), operator::DIRECTORY);
        let entry = directory.get("default.blog").await?;
        assert_eq!(
            entry.data.unwrap_or_default()["url"],
            "http://blog.default.svc"
        );

        api.delete("blog", &DeleteParams::default()).await?;
        await_blog(&server, watch::deleted::<Website>).await?;
        assert!(directory.get_opt("default.blog").await?.is_none());
        await_blog(&server, watch::deleted::<Deployment>).await?;
        await_blog(&server, watch::deleted::<Service>).await
    })
    .await
}

#[tokio::test(start_paused = true)]
async fn the_server_refuses_a_website_with_too_many_replicas() {
    let server = server(7);
    let result = websites(&server)
        .create(&PostParams::default(), &blog(99))
        .await;
    let error = result.expect_err("99 is more than 10");
    assert!(error.to_string().contains("spec.replicas"), "{error}");
}
// ANCHOR_END: first

// ANCHOR: fault
#[tokio::test(start_paused = true)]
async fn a_failing_server_delays_the_deployment_only() -> Result<(), AnyError> {
    let server = server(7);
    let applies = Filter::any().client(OPERATOR).resource("deployments");
    // Two applies fail; the third takes effect, but its answer is lost.
    let failure = ServerError::new(StatusCode::SERVICE_UNAVAILABLE).rule();
    let loss = LostAnswer::default().rule();
    let _failure = server
        .faults()
        .install(failure.matching(applies.clone().verb("patch")).times(2));
    let _loss = server
        .faults()
        .install(loss.matching(applies.verb("patch")).times(1));
    beside_the_operator(&server, async {
        websites(&server)
            .create(&PostParams::default(), &blog(2))
            .await?;
        await_ready(&server, 2).await
    })
    .await?;
    let fired = server.faults().fired();
    assert_eq!(fired.get("server_error"), Some(&2));
    assert_eq!(fired.get("lost_answer"), Some(&1));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_change_during_an_outage_of_the_watch_is_noticed() -> Result<(), AnyError> {
    let server = server(7);
    beside_the_operator(&server, async {
        let api = websites(&server);
        api.create(&PostParams::default(), &blog(2)).await?;
        await_ready(&server, 2).await?;

        // For a minute no watch can be opened, and what happened meanwhile is forgotten.
        let watches = Filter::any().client(OPERATOR).verb("watch");
        let refusal = ServerError::new(StatusCode::INTERNAL_SERVER_ERROR).rule();
        let refusal = refusal.matching(watches).lasting(Duration::from_mins(1));
        let _refusal = server.faults().install(refusal);
        server.disconnect();
        let more = Patch::Merge(json!({"spec": {"replicas": 3}}));
        api.patch("blog", &PatchParams::default(), &more).await?;
        server.expire();
        await_ready(&server, 3).await
    })
    .await
}
// ANCHOR_END: fault

// ANCHOR: seeds
#[tokio::test(start_paused = true)]
async fn the_cluster_converges_whatever_fails() -> Result<(), AnyError> {
    let count = std::env::var("SEEDS").map_or(Ok(20), |count| count.parse())?;
    let mut fired_count = 0;
    for seed in 0..count {
        let server = server(seed);
        // For a minute each of them hits a twentieth of the requests and frames that it can affect.
        for (number, rule) in (0..).zip(faults()) {
            let rule = rule.matching(Filter::any().client(OPERATOR));
            let rule = rule.lasting(Duration::from_mins(1));
            let rule = rule.with_probability(0.05, 100 * seed + number);
            server.faults().install(rule).detach();
        }
        let story = async {
            let api = websites(&server);
            api.create(&PostParams::default(), &blog(1)).await?;
            for replicas in 2..=6 {
                tokio::time::sleep(Duration::from_secs(10)).await;
                let more = Patch::Merge(json!({"spec": {"replicas": replicas}}));
                api.patch("blog", &PatchParams::default(), &more).await?;
            }
            await_ready(&server, 6).await?;
            api.delete("blog", &DeleteParams::default()).await?;
            await_blog(&server, watch::deleted::<Website>).await?;
            let directory: Api<ConfigMap> = Api::namespaced(server.client(), operator::DIRECTORY);
            match directory.get_opt("default.blog").await? {
                Some(_) => Err("the entry in the directory is left".into()),
                None => await_blog(&server, watch::deleted::<Deployment>).await,
            }
        };
        let result = beside_the_operator(&server, story).await;
        result.map_err(|error| format!("seed {seed}: {error}"))?;
        fired_count += server.faults().fired().values().sum::<u64>();
    }
    assert!(fired_count > 15 * count, "{fired_count} faults are few");
    Ok(())
}

/// Returns all faults of the server that a correct client survives, but for the one that undoes what the test has written.
fn faults() -> impl Iterator<Item = FaultRule> {
    let faults = Fault::all().filter(|fault| fault.entry().can_be_held());
    let faults = faults.filter(|fault| !matches!(fault, Fault::Rollback(_)));
    faults.map(Fault::rule)
}
// ANCHOR_END: seeds
