//! Discovery of the fake server, in the aggregated form and in the plain one, with partial failures.

use std::time::Duration;

use fakeserver::FakeServer;
use informer::discovery::{
    Availability, CachedDiscovery, DiscoveryClient, DiscoveryOptions, GroupVersion, ServerResources,
};
use tokio::time::sleep;

use crate::support::Front;

const NOTHING: [&str; 0] = [];

fn front() -> Front {
    Front::new(&FakeServer::builder().build())
}

/// Returns options for both forms, in which the same must hold.
fn both_forms() -> [DiscoveryOptions; 2] {
    let plain = DiscoveryOptions::default().with_plain_discovery();
    [DiscoveryOptions::default(), plain]
}

fn client(front: &Front, options: DiscoveryOptions) -> DiscoveryClient {
    DiscoveryClient::new(front.client()).with_options(options)
}

/// `pods.v1. Pod po verbs: …`, a line a resource, sorted.
fn in_words(resources: &ServerResources) -> Vec<String> {
    let words = |text: &[String]| {
        let mut sorted = text.to_vec();
        sorted.sort();
        sorted.join(",")
    };
    let lines = resources.resources().map(|it| {
        format!(
            "{} {} {} {} short: {} verbs: {} categories: {}",
            it.resource,
            it.kind,
            it.singular_name,
            if it.is_namespaced() {
                "namespaced"
            } else {
                "cluster"
            },
            words(&it.short_names),
            words(&it.verbs),
            words(&it.categories),
        )
    });
    let mut lines: Vec<_> = lines.collect();
    lines.sort();
    lines
}

#[tokio::test(start_paused = true)]
async fn both_forms_report_the_same() {
    let front = front();
    let [aggregated, plain] = both_forms();
    let aggregated = client(&front, aggregated).server_resources().await.unwrap();
    assert_eq!(front.take_seen(), ["/api", "/apis"]);
    let plain = client(&front, plain).server_resources().await.unwrap();
    let version_count: usize = plain.groups().map(|group| group.versions.len()).sum();
    assert_eq!(front.take_seen().len(), 2 + version_count);
    assert!(aggregated.is_complete() && plain.is_complete());
    let words = in_words(&aggregated);
    assert!(words.len() > 50, "{}", words.len());
    assert_eq!(words, in_words(&plain));
    let order = |resources: &ServerResources| -> Vec<_> {
        resources.groups().map(|group| group.name.clone()).collect()
    };
    assert_eq!(order(&aggregated), order(&plain));
}

#[tokio::test(start_paused = true)]
async fn a_group_that_fails_leaves_the_rest_and_its_reason() {
    for options in both_forms() {
        let front = front();
        front.fail_version("apps", "v1");
        let client = client(&front, options);
        let resources = client.server_resources().await.unwrap();
        let failures: Vec<_> = resources.failures().map(|it| it.to_string()).collect();
        assert_eq!(
            failures,
            ["apps/v1: the server answered 503: told by the test"]
        );
        let has = |name: &str| resources.resources().any(|it| it.resource.resource == name);
        assert!(has("pods") && has("jobs") && !has("deployments"));
        let apps = resources.group_version(&GroupVersion::new("apps", "v1"));
        assert!(
            apps.is_unknown(),
            "not to be taken for a group that is not served"
        );
        let others = resources.group_version(&GroupVersion::new("example.com", "v1"));
        assert!(others.is_not_served());

        front.heal();
        assert!(client.server_resources().await.unwrap().is_complete());
    }
}

#[tokio::test(start_paused = true)]
async fn only_a_failing_list_of_groups_is_an_error() {
    for options in both_forms() {
        let front = front();
        let client = client(&front, options);
        front.fail("/apis", 503);
        let error = client.server_resources().await.unwrap_err();
        assert!(error.is_retryable(), "{error}");
        front.fail("/apis", 403);
        let error = client.server_resources().await.unwrap_err();
        assert!(error.is_forbidden() && !error.is_retryable(), "{error}");
        // A server of extensions only has no core group.
        front.heal();
        front.fail("/api", 404);
        let resources = client.server_resources().await.unwrap();
        assert!(resources.group("").is_none() && resources.group("apps").is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn a_cache_reads_a_missing_group_again_and_nothing_else() {
    for options in both_forms() {
        let front = front();
        front.hide_group("batch");
        let cache = CachedDiscovery::new(client(&front, options));
        let batch = GroupVersion::new("batch", "v1");
        assert!(cache.group_version(&batch).await.is_not_served());
        front.heal();
        front.take_seen();
        // The miss is cached for a while.
        assert!(cache.group_version(&batch).await.is_not_served());
        assert_eq!(front.take_seen(), NOTHING);

        sleep(Duration::from_secs(10)).await;
        let Availability::Found(resources) = cache.group_version(&batch).await else {
            panic!("batch/v1 is not found");
        };
        assert!(resources.iter().any(|it| it.resource.resource == "jobs"));
        assert_eq!(front.take_seen(), ["/apis/batch", "/apis/batch/v1"]);
        assert!(cache.group_version(&batch).await.found().is_some());
        assert_eq!(
            front.take_seen(),
            NOTHING,
            "a cached answer sends no request"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_cache_gets_over_a_failure_and_keeps_what_it_knew() {
    let front = front();
    let cache = CachedDiscovery::new(client(&front, DiscoveryOptions::default()));
    front.fail("/apis", 503);
    assert!(cache.server_resources().await.is_err());
    front.take_seen();
    assert!(cache.server_resources().await.is_err());
    assert_eq!(front.take_seen(), NOTHING, "the failure is remembered");
    front.heal();
    sleep(Duration::from_secs(2)).await;
    assert!(cache.server_resources().await.unwrap().is_complete());

    // A later outage does not clear the cache.
    front.fail("/api", 503);
    front.fail("/apis", 503);
    sleep(Duration::from_mins(11)).await;
    let known = cache.server_resources().await.unwrap();
    assert!(known.group("apps").is_some());
}
