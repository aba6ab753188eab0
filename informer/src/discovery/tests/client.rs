//! Requests, fall-backs, partial failure and time limits, on the paused clock.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use crate::discovery::{
    DiscoveryClient, DiscoveryError, DiscoveryOptions, GroupVersion, ServerGroup, ServerResources,
    ServerVersion,
};

use super::{
    group,
    server::{Reply, ScriptedServer},
};

fn core() -> ServerGroup {
    group("", &["v1"], &[("pods", "Pod")])
}

fn apps() -> ServerGroup {
    group("apps", &["v1", "v1beta1"], &[("deployments", "Deployment")])
}

fn metrics() -> ServerGroup {
    group("metrics.k8s.io", &["v1beta1"], &[("pods", "PodMetrics")])
}

fn failing_metrics() -> ServerGroup {
    let failed = ServerVersion::failed("v1beta1", DiscoveryError::Stale);
    ServerGroup::new("metrics.k8s.io", [failed]).with_preferred_version("v1beta1")
}

fn client(server: &ScriptedServer) -> DiscoveryClient {
    DiscoveryClient::new(server.client())
}

fn names(resources: &ServerResources) -> Vec<String> {
    let names = resources.resources();
    names.map(|it| it.resource.to_string()).collect()
}

fn failures(resources: &ServerResources) -> Vec<String> {
    resources.failures().map(|it| it.to_string()).collect()
}

const ALL: [&str; 3] = [
    "pods.v1.",
    "deployments.v1.apps",
    "deployments.v1beta1.apps",
];

#[tokio::test(start_paused = true)]
async fn aggregated_discovery_takes_two_requests() {
    let server = ScriptedServer::aggregated_of([core(), apps()]);
    let resources = client(&server).server_resources().await.unwrap();
    assert_eq!(names(&resources), ALL);
    assert!(resources.is_complete());
    let mut requests = server.take_requests();
    requests.sort();
    assert_eq!(requests, ["/api", "/apis"]);
}

#[tokio::test(start_paused = true)]
async fn a_server_without_aggregated_discovery_is_asked_version_by_version() {
    let server = ScriptedServer::of([core(), apps()]);
    let resources = client(&server).server_resources().await.unwrap();
    assert_eq!(names(&resources), ALL);
    let mut requests = server.take_requests();
    requests.sort();
    let expected = [
        "/api",
        "/api/v1",
        "/apis",
        "/apis/apps/v1",
        "/apis/apps/v1beta1",
    ];
    assert_eq!(requests, expected);
}

#[tokio::test(start_paused = true)]
async fn each_endpoint_falls_back_by_itself() {
    let server = ScriptedServer::aggregated_of([core(), apps()]);
    server.remove_aggregated("/api");
    let resources = client(&server).server_resources().await.unwrap();
    assert_eq!(names(&resources), ALL);
    let mut requests = server.take_requests();
    requests.sort();
    assert_eq!(requests, ["/api", "/api/v1", "/apis"]);
}

#[tokio::test(start_paused = true)]
async fn plain_discovery_can_be_asked_for() {
    let server = ScriptedServer::aggregated_of([core(), apps()]);
    let client = client(&server).with_options(DiscoveryOptions::default().with_plain_discovery());
    assert_eq!(names(&client.server_resources().await.unwrap()), ALL);
    assert_eq!(server.take_requests().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_refuses_the_aggregated_form_is_asked_for_the_plain_one() {
    let server = ScriptedServer::of([core(), apps()]);
    server.set_aggregated("/apis", Reply::Status(406, String::new()));
    let resources = client(&server).server_resources().await.unwrap();
    assert_eq!(names(&resources), ALL);
}

#[tokio::test(start_paused = true)]
async fn a_server_without_the_core_group_is_tolerated() {
    let server = ScriptedServer::of([apps()]);
    server.remove("/api");
    let resources = client(&server).server_resources().await.unwrap();
    assert_eq!(names(&resources), ALL[1..]);
}

#[tokio::test(start_paused = true)]
async fn any_other_failure_of_the_roots_is_an_error() {
    for (path, code) in [("/api", 403), ("/api", 500), ("/apis", 403), ("/apis", 404)] {
        let server = ScriptedServer::of([core(), apps()]);
        let status = json!({"kind": "Status", "message": "no", "reason": "Because"});
        server.set(path, Reply::Status(code, status.to_string()));
        let error = client(&server).server_resources().await.unwrap_err();
        let status = error.status().unwrap_or_else(|| panic!("{error}"));
        assert_eq!((status.code, &*status.reason), (code, "Because"));
        assert_eq!(error.to_string(), format!("the server answered {code}: no"));
        assert_eq!(error.is_retryable(), code == 500);
        assert_eq!(error.is_forbidden(), code == 403);
    }
}

#[tokio::test(start_paused = true)]
async fn a_failing_group_version_is_a_failure_beside_the_results() {
    let server = ScriptedServer::of([core(), failing_metrics(), apps()]);
    let resources = client(&server).server_resources().await.unwrap();
    assert_eq!(names(&resources), ALL);
    let reason = "the server answered 503: the server's own knowledge of it is stale";
    let expected = format!("metrics.k8s.io/v1beta1: {reason}");
    assert_eq!(failures(&resources), [expected]);
    let requests = server.take_requests();
    let count = |path: &str| requests.iter().filter(|it| *it == path).count();
    assert_eq!(
        count("/apis/metrics.k8s.io/v1beta1"),
        2,
        "only what failed is asked for twice"
    );
    assert_eq!(count("/apis/apps/v1"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_group_version_that_failed_once_is_found_by_the_second_attempt() {
    let server = ScriptedServer::of([core(), metrics()]);
    let path = "/apis/metrics.k8s.io/v1beta1";
    server.set(
        path,
        Reply::After(Duration::from_secs(1), Box::new(Reply::Reset)),
    );
    let client = client(&server);
    let heal = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        server.serve([core(), metrics()]);
    };
    let (resources, ()) = tokio::join!(client.server_resources(), heal);
    assert!(resources.unwrap().is_complete());
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_not_asked_for_twice() {
    let server = ScriptedServer::of([core(), metrics()]);
    let path = "/apis/metrics.k8s.io/v1beta1";
    server.set(path, Reply::Status(403, "forbidden".to_owned()));
    let resources = client(&server).server_resources().await.unwrap();
    let expected = "metrics.k8s.io/v1beta1: the server answered 403: forbidden";
    assert_eq!(failures(&resources), [expected]);
    let requests = server.take_requests();
    assert_eq!(requests.iter().filter(|it| *it == path).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_stale_version_is_asked_for_by_its_own_path() {
    // The server's document is behind: what is stale in it answers by now.
    let server = ScriptedServer::of([core(), metrics()]);
    server.serve_aggregated(&ServerResources::new([core(), failing_metrics()]));
    let resources = client(&server).server_resources().await.unwrap();
    assert_eq!(
        names(&resources),
        ["pods.v1.", "pods.v1beta1.metrics.k8s.io"]
    );
    // With one attempt it is left at that.
    let once = DiscoveryOptions::default().with_attempts_max(1);
    let resources = client(&server).with_options(once).server_resources().await;
    let expected = "metrics.k8s.io/v1beta1: the server's own knowledge of it is stale";
    assert_eq!(failures(&resources.unwrap()), [expected]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_answer_is_given_up() {
    let server = ScriptedServer::of([core(), apps(), metrics()]);
    server.set("/apis/metrics.k8s.io/v1beta1", Reply::Hang);
    let begin = Instant::now();
    let resources = client(&server).server_resources().await.unwrap();
    assert_eq!(
        begin.elapsed(),
        Duration::from_secs(64),
        "two attempts of 32 s"
    );
    assert_eq!(
        failures(&resources),
        ["metrics.k8s.io/v1beta1: no answer within 32s"]
    );
    assert_eq!(names(&resources), ALL);

    server.set("/apis", Reply::Hang);
    let begin = Instant::now();
    let error = client(&server).server_resources().await.unwrap_err();
    assert!(matches!(error, DiscoveryError::Timeout { .. }), "{error}");
    assert_eq!(begin.elapsed(), Duration::from_secs(32));

    let soon = DiscoveryOptions::default().with_request_timeout(Duration::from_secs(5));
    let begin = Instant::now();
    let outcome = client(&server).with_options(soon).server_resources().await;
    assert!(matches!(outcome, Err(DiscoveryError::Timeout { .. })));
    assert_eq!(begin.elapsed(), Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn requests_run_at_once_within_the_limit_and_give_one_table() {
    let groups: Vec<ServerGroup> = (0..30)
        .map(|at| group(&format!("g{at}.io"), &["v1"], &[("foos", "Foo")]))
        .collect();
    let server = ScriptedServer::of(groups.clone());
    for at in 0..30 {
        // The later, the sooner.
        let delay = Duration::from_millis(100 - at);
        let path = format!("/apis/g{at}.io/v1");
        let list =
            json!({"kind": "APIResourceList", "resources": [{"name": "foos", "kind": "Foo"}]});
        let reply = Reply::Json(list.to_string());
        server.set(&path, Reply::After(delay, Box::new(reply)));
    }
    let options = DiscoveryOptions::default().with_concurrent_requests_max(7);
    let resources = client(&server)
        .with_options(options)
        .server_resources()
        .await;
    let expected: Vec<_> = (0..30).map(|at| format!("foos.v1.g{at}.io")).collect();
    assert_eq!(names(&resources.unwrap()), expected);
    assert_eq!(server.running_max(), 7);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_too_large_is_refused() {
    let server = ScriptedServer::of([core(), apps()]);
    let options = DiscoveryOptions::default().with_body_size_bytes_max(40);
    let error = client(&server)
        .with_options(options)
        .server_resources()
        .await;
    let error = error.unwrap_err();
    assert!(
        matches!(error, DiscoveryError::BodyTooLarge { limit_bytes: 40 }),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn one_group_is_read_by_itself() {
    let server = ScriptedServer::of([core(), apps(), failing_metrics()]);
    let client = client(&server);
    let found = client.server_group("apps").await.unwrap().unwrap();
    assert_eq!(found.resources().count(), 2);
    assert_eq!(found.preferred_version.as_deref(), Some("v1"));
    assert_eq!(
        server.take_requests(),
        ["/apis/apps", "/apis/apps/v1", "/apis/apps/v1beta1"]
    );
    let core = client.server_group("").await.unwrap().unwrap();
    assert_eq!(core.resources().count(), 1);
    assert!(client.server_group("nowhere.io").await.unwrap().is_none());
    let metrics = client
        .server_group("metrics.k8s.io")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(metrics.failures().count(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_invalid_path_is_not_sent() {
    let server = ScriptedServer::of([core()]);
    let client = client(&server);
    for name in ["a/b", "..", "a?b", "a b", "a%2fb", "ä"] {
        assert!(client.server_group(name).await.unwrap().is_none(), "{name}");
        let version = GroupVersion::new("a.io", name);
        let resources = client.server_resources_for(&version).await;
        assert!(resources.unwrap().is_none(), "{name}");
    }
    let none: [&str; 0] = [];
    assert_eq!(server.take_requests(), none);
}

#[tokio::test(start_paused = true)]
async fn one_group_version_is_served_or_not() {
    let server = ScriptedServer::of([core()]);
    let client = client(&server);
    let ask = async |version| {
        let version = GroupVersion::new("", version);
        client.server_resources_for(&version).await.unwrap()
    };
    assert_eq!(ask("v1").await.unwrap().len(), 1);
    assert_eq!(ask("v2").await, None);
}
